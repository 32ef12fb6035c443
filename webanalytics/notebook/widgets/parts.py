"""Shared by the small widgets: running their work, reporting how it went, and composing HTML.

Text becomes HTML through `as_text` and MarkupSafe, so nothing a widget is given is ever read as markup.
The colours are those of the notebook's theme where it has one.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

import ipywidgets as w
import pandas as pd
from ipywidgets.widgets.widget_description import DescriptionWidget
from markupsafe import Markup

from webanalytics import loops
from webanalytics.errors import WebAnalyticsError
from webanalytics.runs.frames.schema import is_missing

INK = "var(--jp-ui-font-color1, #222222)"
MUTED = "var(--jp-ui-font-color2, #5f6368)"
TONES = {"good": "#1a7f37", "fair": "#0072b2", "warning": "#8a5a00", "bad": "#b3261e", "plain": "#5f6368"}
"""Backgrounds on which white text is legible; their meaning is always given in words, too."""

_LABEL_CELL = f"padding:3px 16px 3px 0;vertical-align:top;white-space:nowrap;color:{MUTED}"
_VALUE_CELL = f"padding:3px 0;vertical-align:top;overflow-wrap:anywhere;color:{INK}"
_CODE = "font-family:var(--jp-code-font-family, monospace);font-size:0.95em;overflow-wrap:anywhere"
_LINK = (
    "display:inline-block;padding:5px 14px;border-radius:3px;background:#0069a3;color:#ffffff;"
    "text-decoration:none;font-weight:600;overflow-wrap:anywhere"
)
LONGEST_TEXT = 2000
"""Characters shown of one value; a notebook is no place for a megabyte of hexadecimal digits."""


def as_text(value: object, missing: str = "\u2014") -> Markup:
    """Return a value as HTML that shows exactly its text.

    Examples
    --------
    >>> print(as_text("<img onerror=alert(1)>"), as_text(float("nan")))
    <bdi>&lt;img onerror=alert(1)&gt;</bdi> <bdi>—</bdi>
    """
    text = missing if is_missing(value) else str(value)
    if len(text) > LONGEST_TEXT:
        text = f"{text[:LONGEST_TEXT]}\u2026 ({len(text):,} characters)"
    return Markup("<bdi>{}</bdi>").format(text)


def code(value: object) -> Markup:
    """Return a value as HTML in a fixed-width font, selected whole by one click."""
    return Markup('<code style="{};user-select:all">{}</code>').format(_CODE, as_text(value))


def badge(text: object, tone: str) -> Markup:
    """Return a short verdict on a coloured background, as HTML."""
    style = f"background:{TONES[tone]};color:#ffffff;padding:2px 10px;border-radius:10px;font-weight:600"
    return Markup('<span style="{}">{}</span>').format(style, as_text(text))


def paragraph(content: str, style: str = "") -> Markup:
    """Return text or HTML as a paragraph."""
    return Markup('<p style="margin:6px 0;line-height:1.5;color:{};{}">{}</p>').format(INK, style, content)


def heading(text: str) -> Markup:
    """Return a small heading as HTML."""
    return Markup('<div style="margin:12px 0 2px;font-weight:600;color:{}">{}</div>').format(
        INK, as_text(text)
    )


def facts(rows: Iterable[tuple[str, str]]) -> Markup:
    """Return labels and values (text or HTML) as a table of two columns."""
    cells = Markup().join(
        Markup(
            '<tr style="background:none"><th scope="row" style="{};text-align:left;font-weight:400">{}</th>'
            '<td style="{};text-align:left">{}</td></tr>'
        ).format(_LABEL_CELL, as_text(label), _VALUE_CELL, value)
        for label, value in rows
    )
    table = Markup('<table style="border-collapse:collapse;line-height:1.45;font-size:inherit">{}</table>')
    return table.format(cells)


def panel(content: str) -> str:
    """Return HTML for a widget's text, in which dollar signs do not start a formula."""
    inside = "mathjax_ignore tex2jax_ignore"
    return Markup('<div class="{}" style="color:{}">{}</div>').format(inside, INK, content) if content else ""


def status_line(text: str, tone: str) -> str:
    """Return a sentence as HTML, which screen readers say unless it is plain: how far the work is."""
    mark = f"border-left:4px solid {TONES[tone]};padding-left:8px" if tone != "plain" else ""
    role = {"plain": "none", "bad": "alert"}.get(tone, "status")
    return panel(Markup('<div role="{}">{}</div>').format(role, paragraph(as_text(text), mark)))


def download_link(name: str, content: bytes, mime_type: str) -> Markup:
    """Return an HTML link that saves the content under a file name, without a server."""
    data = base64.b64encode(content).decode("ascii")
    # JupyterLab opens a link without `download` in a new tab
    link = Markup('<a download="{}" href="data:{};base64,{}" style="{}">Download {}</a>')
    return link.format(name, mime_type, data, _LINK, as_text(name))


def all_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame, each by column."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def first_row(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the first row of a frame by column."""
    return all_rows(frame.head(1))[0]


def discard(widgets: Iterable[w.Widget]) -> None:
    """Close widgets no longer shown, with their contents; a saved notebook would keep them."""
    for widget in widgets:
        discard(getattr(widget, "children", ()))
        widget.close()


NOT_IN_MARIMO = (
    "marimo does not show this form, which is made of ipywidgets: open it in Jupyter. "
    "Audits, charts and wa.explore work here."
)


def named(name: str, purpose: str, how: str = "Run the cell to use it.") -> str:
    """Return a widget's name, purpose and what to do, as HTML for pages that cannot run it."""
    return str(Markup("<p><strong>{}</strong>: {} <em>{}</em></p>").format(name, purpose, how))


class Tool(w.VBox):  # type: ignore[misc]
    """Base of the small widgets: a form above, a status line, results below.

    Work is a task on the running loop, so that the kernel stays free for other cells; without a loop
    (in a script or a test) it runs at once. Name and purpose are for a static view.
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
        self.backend, self.button, self.results = backend, button, results
        self.status = w.HTML()
        self.task: asyncio.Task[None] | None = None
        super().__init__([*form, self.status, results], layout=w.Layout(max_width="880px", padding="4px"))

    @property
    def options(self) -> dict[str, Any]:
        """Options passed on to the functions that do the work."""
        chosen = {} if self.backend is None else {"backend": self.backend}
        return {"progress": False, **chosen}

    message = ""
    """The status line as plain text."""

    def say(self, text: str, tone: str = "plain") -> None:
        """Show a sentence in the status line."""
        self.message = text
        self.status.value = status_line(text, tone) if text else ""

    def clear(self) -> None:
        """Remove the last results."""

    def start(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Start work, cancelling any still under way."""
        if self.task is not None and not self.task.done():
            self.task.cancel()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.task = None
            loops.run(self._watched(work))
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
        bundle: dict[str, Any] = super()._repr_mimebundle_(**arguments) or {}
        return {**bundle, "text/plain": repr(self), "text/html": named(self._name, self._purpose)}

    def _mime_(self) -> tuple[str, str]:
        return "text/html", named(self._name, self._purpose, NOT_IN_MARIMO)


class OneAnswer(Tool):
    """Base of the tools that ask for one input and show one answer."""

    answer: Mapping[str, Any] | None = None  # the row of the last answer

    def clear(self) -> None:
        """Remove the last answer."""
        self.answer = None
        self.results.value = ""

    def show(self, answer: Mapping[str, Any], describe: Callable[[Mapping[str, Any]], Markup]) -> None:
        """Show an answer, or why there is none."""
        if answer["status"] != "ok":
            self.say(str(answer["error"]), "bad")
            return
        self.answer = answer
        self.results.value = panel(describe(answer))
        self.say("")


def button(description: str) -> w.Button:
    """Return the button that starts a tool's work."""
    return w.Button(description=description, button_style="primary", layout=w.Layout(width="auto"))


_LABELLED = f"""
.wa-labelled {{ height: auto; flex-direction: column; align-items: stretch; }}
.wa-labelled > .widget-label {{ flex: none; width: auto; text-align: start; color: {MUTED}; }}
.wa-labelled.widget-hslider {{ flex-flow: row wrap; }}
.wa-labelled.widget-hslider > .widget-label {{ flex: 0 0 100%; }}
.wa-labelled > :is(input, select) {{ flex: none; height: var(--jp-widgets-inline-height, 28px); }}
"""


def labelled(label: str, field: w.Widget) -> w.VBox:
    """Return a field with its label above it, where a long label is not cut off."""
    if (
        isinstance(field, DescriptionWidget) and not field.description
    ):  # its own label is the one that screen readers speak
        field.description = label
        field.add_class("wa-labelled")
        if field.layout.width is not None and field.layout.width.endswith("px"):  # the label may need more
            field.layout.min_width, field.layout.width = field.layout.width, "auto"
        return w.VBox([w.HTML(f"<style>{_LABELLED}</style>", layout=w.Layout(display="none")), field])
    return w.VBox(
        [w.HTML(panel(Markup('<span style="color:{}">{}</span>').format(MUTED, as_text(label)))), field]
    )


def row(*widgets: w.Widget, align: str = "flex-end") -> w.Box:
    """Return widgets side by side, on several lines where the window is narrow."""
    layout = w.Layout(flex_flow="row wrap", align_items=align, grid_gap="4px 16px")
    return w.Box(list(widgets), layout=layout)


def text_area(rows: int, placeholder: str = "") -> w.Textarea:
    """Return a field for text, as wide as the widget."""
    return w.Textarea(rows=rows, placeholder=placeholder, layout=w.Layout(width="auto"))
