"""Titles that break into lines as wide as their chart is when it is drawn."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from webanalytics.notebook.drawing.labels import shorten

MOST_LINES = 3
NARROWEST = 90.0
"""Points that a title has even above narrower axes."""

Measure = Callable[[str], float]


class WrappedText(Text):
    """A text that keeps to the width of its axes, whatever a layout makes of them before it is drawn."""

    room: Callable[[], float]
    measure: Measure

    def _get_wrapped_text(self) -> str:
        return "\n".join(lines(self.get_text(), self.room(), self.measure))


def wrap(text: Text, ax: Axes, indent: float) -> None:
    """Make a text above the axes, which begins `indent` points to their left, end where they end."""
    text.__class__ = WrappedText
    wrapped: Any = text
    look = (float(text.get_fontsize()), tuple(text.get_fontfamily()), str(text.get_fontweight()))
    wrapped.measure = functools.partial(_measured, ax, *look)
    wrapped.room = functools.partial(_room, ax, indent)
    wrapped.set_wrap(True)


def _room(ax: Axes, indent: float) -> float:
    figure: Any = ax.figure
    return max(NARROWEST, float(ax.bbox.width / figure.dpi * 72) + indent)


def _measured(ax: Axes, size: float, families: Sequence[str], weight: str, text: str) -> float:
    return width_of(text, size, tuple(families), weight, float(ax.figure.dpi))


@functools.lru_cache(maxsize=2000)
def width_of(text: str, size: Any, families: tuple[str, ...], weight: str, dpi: float) -> float:
    """Return the width of a text in points, at a figure's own resolution.

    Glyphs are hinted to the pixel grid, so the same text is wider or narrower at another resolution.
    """
    scratch = Figure(figsize=(1, 1), dpi=dpi)
    renderer = FigureCanvasAgg(scratch).get_renderer()  # type: ignore[no-untyped-call]
    look: Any = {"fontsize": size, "fontfamily": list(families), "fontweight": weight}
    drawn = scratch.text(0, 0, text, parse_math=False, **look)
    return float(drawn.get_window_extent(renderer).width) * 72 / dpi


def lines(text: str, room: float, measure: Measure, most: int = MOST_LINES) -> list[str]:
    """Return a text in lines that are no wider than the room, broken between words; the last one is cut.

    Examples
    --------
    >>> lines("three words here", 11, len), lines("a-word-that-is-too-wide", 11, len)
    (['three words', 'here'], ['a-wor…-wide'])
    >>> lines("one two three four five", 9, len, most=2)
    ['one two', 'thre…five']
    """
    made: list[str] = []
    words = text.split(" ")
    while words:
        count = 1
        while count < len(words) and measure(" ".join(words[: count + 1])) <= room:
            count += 1
        if len(made) == most - 1:
            count = len(words)
        made.append(cut(" ".join(words[:count]), room, measure))
        words = words[count:]
    return made


def cut(text: str, room: float, measure: Measure) -> str:
    """Return the text, shortened in the middle until it fits the width."""
    width = measure(text)
    letters = len(text)
    while width > room and letters > 1:
        letters = max(1, min(letters - 1, int(letters * room / width)))
        text = shorten(text, letters)
        width = measure(text)
    return text
