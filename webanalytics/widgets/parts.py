"""What the small widgets share: starting work, saying how it went, and showing text as text.

Everything shown comes through `as_text`, so that nothing a widget was given is ever read as markup. The
colours are those of the notebook's theme where it has one.
"""

from __future__ import annotations

import asyncio
import base64
import html
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

import ipywidgets as w
import pandas as pd

from webanalytics.errors import WebAnalyticsError

LINE = "var(--jp-border-color2, #d9dde1)"
INK = "var(--jp-ui-font-color1, #222222)"
MUTED = "var(--jp-ui-font-color2, #5f6368)"
TONES = {"good": "#1a7f37", "fair": "#0072b2", "warning": "#8a5a00", "bad": "#b3261e", "plain": "#5f6368"}
"""Backgrounds on which white text can be read; what they mean is always said in words, too."""

_LABEL_CELL = f"padding:3px 16px 3px 0;vertical-align:top;white-space:nowrap;color:{MUTED}"
_VALUE_CELL = f"padding:3px 0;vertical-align:top;overflow-wrap:anywhere;color:{INK}"
_CODE = "font-family:var(--jp-code-font-family, monospace);font-size:0.95em;overflow-wrap:anywhere"
_LINK = (
    "display:inline-block;padding:5px 14px;border-radius:3px;background:#0069a3;color:#ffffff;"
    "text-decoration:none;font-weight:600;overflow-wrap:anywhere"
)
_UNITS = ("bytes", "kB", "MB", "GB")
LONGEST_TEXT = 2000
"""Characters shown of one value; a notebook is no place for a megabyte of hexadecimal digits."""


def as_text(value: object, missing: str = "\u2014") -> str:
    """Return a value as HTML that shows exactly its text.

    Examples
    --------
    >>> as_text("<img onerror=alert(1)>")
    '<bdi>&lt;img onerror=alert(1)&gt;</bdi>'
    >>> as_text(float("nan"))
    '<bdi>—</bdi>'
    """
    text = missing if is_missing(value) else str(value)
    if len(text) > LONGEST_TEXT:
        text = f"{text[:LONGEST_TEXT]}\u2026 ({len(text):,} characters)"
    return f"<bdi>{html.escape(text)}</bdi>"


def is_missing(value: object) -> bool:
    """Tell whether a frame has no value here: None, NaN or NA."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)


def code(value: object) -> str:
    """Return a value as HTML in a fixed-width font, selected whole by one click."""
    return f'<code style="{_CODE};user-select:all">{as_text(value)}</code>'


def badge(text: object, tone: str) -> str:
    """Return a short verdict on a coloured ground, as HTML."""
    style = f"background:{TONES[tone]};color:#ffffff;padding:2px 10px;border-radius:10px;font-weight:600"
    return f'<span style="{style}">{as_text(text)}</span>'


def paragraph(content: str, style: str = "") -> str:
    """Return HTML as a paragraph."""
    return f'<p style="margin:6px 0;line-height:1.5;color:{INK};{style}">{content}</p>'


def heading(text: str) -> str:
    """Return a small heading as HTML."""
    return f'<div style="margin:12px 0 2px;font-weight:600;color:{INK}">{as_text(text)}</div>'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return labels (text) and values (HTML) as a table of two columns."""
    cells = "".join(
        f'<tr style="background:none"><th scope="row" style="{_LABEL_CELL};text-align:left;font-weight:400">'
        f'{as_text(label)}</th><td style="{_VALUE_CELL};text-align:left">{value}</td></tr>'
        for label, value in rows
    )
    return f'<table style="border-collapse:collapse;line-height:1.45;font-size:inherit">{cells}</table>'


def panel(content: str) -> str:
    """Return HTML for a widget's text, in which dollar signs are no formula."""
    inside = "mathjax_ignore tex2jax_ignore"
    return f'<div class="{inside}" style="color:{INK}">{content}</div>' if content else ""


def download_link(name: str, content: bytes, mime_type: str) -> str:
    """Return HTML of a link that saves the content under a name, without a server."""
    data = base64.b64encode(content).decode("ascii")
    address = f"data:{html.escape(mime_type)};base64,{data}"
    # a link without download is what JupyterLab opens in a tab of its own
    return f'<a download="{html.escape(name)}" href="{address}" style="{_LINK}">Download {as_text(name)}</a>'


def size_in_words(size: int) -> str:
    """Return a number of bytes as people say it, in decimal units.

    Examples
    --------
    >>> [size_in_words(size) for size in (1, 999, 12_000, 999_999, 3_456_789)]
    ['1 byte', '999 bytes', '12 kB', '1 MB', '3.5 MB']
    """
    if size < 1000:
        return "1 byte" if size == 1 else f"{size} bytes"
    value, unit = float(size), 0
    while value >= 999.95 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.1f}".removesuffix(".0") + f" {_UNITS[unit]}"


def all_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame, each by column."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def first_row(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the first row of a frame by column."""
    return all_rows(frame.head(1))[0]


def discard(widgets: Iterable[w.Widget]) -> None:
    """Close widgets that are shown no more, with what is in them; a saved notebook would keep it."""
    for widget in widgets:
        discard(getattr(widget, "children", ()))
        widget.close()


class Tool(w.VBox):  # type: ignore[misc]
    """Base of the small widgets: a form above, a line that says how it went, results below.

    Work is a task on the running loop, so that the kernel stays free for other cells; without a loop
    (in a script or a test) it is done at once.

    Parameters
    ----------
    name : str
        What the widget is called in a static view.
    purpose : str
        One sentence for a static view.
    form : list of ipywidgets.Widget
        The widget's inputs.
    button : ipywidgets.Button
        Starts the work.
    results : ipywidgets.Widget
        Shows what came out.
    backend : Hosted, optional
        Where the work is done; None for the session's.
    """

    def __init__(
        self,
        name: str,
        purpose: str,
        form: list[w.Widget],
        button: w.Button,
        results: w.Widget,
        backend: Any = None,
    ) -> None:
        self._name, self._purpose = name, purpose
        self.backend = backend
        self.button, self.results = button, results
        self.status = w.HTML()
        self.task: asyncio.Task[None] | None = None
        super().__init__([*form, self.status, results], layout=w.Layout(max_width="880px", padding="4px"))

    @property
    def options(self) -> dict[str, Any]:
        """Options passed on to the functions that do the work."""
        chosen = {} if self.backend is None else {"backend": self.backend}
        return {"progress": False, **chosen}

    @property
    def message(self) -> str:
        """What the status line says, as plain text."""
        return self._message

    _message = ""

    def say(self, text: str, tone: str = "plain") -> None:
        """Show a sentence in the status line."""
        self._message = text
        colour = f"border-left:4px solid {TONES[tone]};padding-left:8px" if tone != "plain" else ""
        self.status.value = panel(paragraph(as_text(text), colour)) if text else ""

    def clear(self) -> None:
        """Take the results of the last work away."""

    def start(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Start work; what was still under way is given up."""
        if self.task is not None and not self.task.done():
            self.task.cancel()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.task = None
            asyncio.run(self._watched(work))
        else:
            self.task = loop.create_task(self._watched(work))

    async def _watched(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self.button.disabled = True
        self.clear()
        self.say("Working \u2026")
        try:
            await work()
        except WebAnalyticsError as error:
            self.say(str(error), "bad")
        except Exception as error:  # its text may hold what was typed, a secret included
            self.say(f"This could not be done ({type(error).__name__}).", "bad")
        finally:
            if self.task is None or self.task is asyncio.current_task():
                self.button.disabled = False

    def __repr__(self) -> str:
        return f"{self._name}: {self._purpose} Run the cell to use it."

    def _repr_mimebundle_(self, **arguments: Any) -> dict[str, Any]:
        """Return the widget for notebooks that run, and a sentence for pages that only show them."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**arguments) or {}
        sentence = f"<strong>{html.escape(self._name)}</strong>: {html.escape(self._purpose)}"
        return {
            **bundle,
            "text/plain": repr(self),
            "text/html": f"<p>{sentence} <em>Run the cell to use it.</em></p>",
        }


def button(description: str) -> w.Button:
    """Return the button that starts a tool's work."""
    return w.Button(description=description, button_style="primary", layout=w.Layout(width="auto"))


def labelled(label: str, field: w.Widget) -> w.VBox:
    """Return a field with its label above it, where no length of label is cut off."""
    return w.VBox([w.HTML(panel(f'<span style="color:{MUTED}">{as_text(label)}</span>')), field])


def row(*widgets: w.Widget, align: str = "flex-end") -> w.Box:
    """Return widgets side by side, on several lines where the window is narrow."""
    layout = w.Layout(flex_flow="row wrap", align_items=align, grid_gap="4px 16px")
    return w.Box(list(widgets), layout=layout)


def text_area(rows: int, placeholder: str = "") -> w.Textarea:
    """Return a field for text, as wide as the widget."""
    return w.Textarea(rows=rows, placeholder=placeholder, layout=w.Layout(width="auto"))
