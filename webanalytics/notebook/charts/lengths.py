"""Lengths of titles and descriptions against what search results show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from webanalytics.audits.content.pixels import DESCRIPTION_SIZE, TITLE_SIZE, text_widths
from webanalytics.core.strings import counted
from webanalytics.errors import ParameterError, choice
from webanalytics.notebook.charts import ridges
from webanalytics.notebook.drawing import captions, data, style
from webanalytics.notebook.drawing.labels import path_labels
from webanalytics.thresholds import DESCRIPTION_CHARACTERS, DESCRIPTION_PIXELS, TITLE_CHARACTERS, TITLE_PIXELS

_LIMITS = {
    "pixels": {"title": TITLE_PIXELS, "description": DESCRIPTION_PIXELS},
    "characters": {"title": TITLE_CHARACTERS, "description": DESCRIPTION_CHARACTERS},
}
_SIZES = {"title": TITLE_SIZE, "description": DESCRIPTION_SIZE}


class _Text(NamedTuple):
    """One of the two texts: its column, unit, limits and looks."""

    column: str
    unit: str
    limits: tuple[int, int]
    colour: str
    tint: str
    marker: str

    @property
    def look(self) -> dict[str, Any]:
        """Return how its marks look, in the chart and in its key."""
        return {
            "ls": "",
            "marker": self.marker,
            "color": self.colour,
            "ms": 6.5 if self.marker == "o" else 5.8,
        }

    def lengths(self, values: Sequence[str | None]) -> NDArray[np.float64]:
        """Return how long the texts are, 0 for a missing one."""
        if self.unit == "characters":
            return np.array([len(value or "") for value in values], dtype=float)
        return np.array([width or 0 for width in text_widths(values, _SIZES[self.column])], dtype=float)


@style.chart
def text_lengths(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    unit: Literal["pixels", "characters"] = "pixels",
    title_limits: tuple[int, int] | None = None,
    description_limits: tuple[int, int] | None = None,
    max_pages: int = 40,
    title: str | None = None,
) -> Axes:
    """Draw how long the titles and meta descriptions of pages are, against the recommended lengths.

    Up to `max_pages` pages have a row each, those furthest from the limits at the top, with a filled mark for
    a text within its limits, a hollow one for a text outside, and one at 0 for a missing text.
    More pages, or more than fit small axes of your own, are drawn as two histograms, whose bars end at the
    limits: they are filled between the limits and hollow below and above. A page that is in the frame twice
    counts once; pages that failed are left out and counted.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.metadata` or `webanalytics.audit` returned: ``url``, ``title``, ``description``.
    unit : {"pixels", "characters"}
        What is measured: the width in search results, by which the rules of an audit judge, or the number
        of characters.
    title_limits, description_limits : tuple of int, optional
        Least and most recommended: 200 to 561 and 400 to 985 pixels, as in the rules of an audit; or 30 to
        60 and 70 to 155 characters.
    max_pages : int
        The most pages that have a row of their own.

    Raises
    ------
    ParameterError
        When `unit` is another, when limits are not two increasing integers, when `max_pages` is not from 0
        to 200, or when the frame lacks the columns.

    Notes
    -----
    Texts are measured after runs of white space are collapsed. Search engines cut titles and descriptions by
    their width on the screen, here that of an Arial-like font at 20 and 14 pixels, so any limit in characters
    is a rule of thumb.

    Examples
    --------
    >>> frame = pd.DataFrame({"url": ["https://a.example/"], "title": ["Lamps"], "description": [None]})
    >>> text_lengths(frame).get_title(loc="left")
    'Title and description of 1 page'
    """
    choice("unit", unit, _LIMITS)
    of_title, of_description = (
        _limits(_LIMITS[unit][name] if given is None else given, f"{name}_limits")
        for name, given in (("title", title_limits), ("description", description_limits))
    )
    texts = (
        _Text("title", unit, of_title, style.BLUE, style.BLUE_TINT, "o"),
        _Text("description", unit, of_description, style.ORANGE, style.ORANGE_TINT, "D"),
    )
    max_pages = data.row_count("max_pages", max_pages, 0)
    pages = data.distinct(data.pick(frame, ["url", "title", "description"], ("metadata", "audit")))
    usable = ~data.has_failed(pages)
    found = _measured(pages[usable], texts)
    rows = len(found) <= captions.rows_that_fit(ax, max_pages)
    ax = style.start(ax, style.row_height(len(found), 1.7, each=0.26) if rows else 3.9)
    if found.empty:
        one, several = "This page failed.", "All of these pages failed."
        captions.message(ax, data.why_empty(pages, "No pages, so no texts.", one, several))
    elif rows:
        _rows(ax, found, texts)
    else:
        _histograms(ax, found, texts)
    heading = title or f"Title and description of {counted(len(pages), 'page')}"
    note = data.joined(*(_verdict(found, text) for text in texts)) if len(found) else ""
    failed = data.failures(pages) if len(pages) > 1 else ""
    # above the heading of the column beside histograms
    captions.headline(ax, heading, data.joined(note, failed), lift=0 if rows or found.empty else 12)
    return ax


def _limits(limits: Any, parameter: str) -> tuple[int, int]:
    values = list(limits) if isinstance(limits, (tuple, list)) else []
    right = all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in values)
    if len(values) != 2 or not right or not 0 <= values[0] < values[1]:
        raise ParameterError.must_be(parameter, "two rising integers from 0, such as (30, 60)")
    return int(values[0]), int(values[1])


def _measured(pages: pd.DataFrame, texts: Sequence[_Text]) -> pd.DataFrame:
    found = pages[["url"]].copy()
    off = np.zeros(len(pages))
    for text in texts:
        found[text.column] = lengths = text.lengths(data.strings(pages[text.column]))
        low, high = text.limits
        off += np.maximum(low - lengths, 0) / low if low else 0
        off += np.maximum(lengths - high, 0) / high
    return found.iloc[np.argsort(-off, kind="stable")]


def _within(lengths: NDArray[np.float64], text: _Text) -> NDArray[np.bool_]:
    return (lengths >= text.limits[0]) & (lengths <= text.limits[1])


def _verdict(found: pd.DataFrame, text: _Text) -> str:
    right = int(_within(found[text.column].to_numpy(), text).sum())
    return f"{counted(right, text.column)} within {text.limits[0]}–{text.limits[1]} {text.unit}"


def _scale(found: pd.DataFrame, texts: Sequence[_Text]) -> float:
    """Return the right end of the scale; a few very long texts beyond it are drawn at the end."""
    longest = max(float(found[text.column].max()) for text in texts)
    return min(max(longest, max(text.limits[1] for text in texts)) * 1.06, 2.2 * texts[1].limits[1] + 60)


def _rows(ax: Axes, found: pd.DataFrame, texts: Sequence[_Text]) -> None:
    end = _scale(found, texts)
    ax.set_xlim(-end * 0.015, end)
    for text in texts:
        ax.axvspan(*text.limits, facecolor=text.tint, alpha=0.75, linewidth=0, zorder=0)
        lengths = found[text.column].to_numpy()
        right = _within(lengths, text)
        for kept, fill in ((right, text.colour), (~right, style.CARD)):
            if kept.any():  # an unclipped empty line would take up space in the corner of the figure
                look = text.look | {"markerfacecolor": fill, "markeredgewidth": 1.6}
                ax.plot(lengths[kept].clip(0, end), np.flatnonzero(kept), clip_on=False, zorder=3, **look)
    for row, page in enumerate(found.to_dict("records")):
        beyond = [f"{text.column} {page[text.column]:,.0f}" for text in texts if page[text.column] > end]
        captions.inner_text(ax, ", ".join(beyond), (end, row), (-8, 0), ha="right", color=style.INK)
    ax.hlines(range(len(found)), 0, end, color=style.GRID, linewidth=0.7, zorder=1)
    captions.row_labels(ax, path_labels(found["url"]))
    _finish(ax, texts, end)
    captions.legend_below(ax, _keys(texts))


def _keys(texts: Sequence[_Text]) -> list[Any]:
    names = (f"{text.column} ({text.limits[0]} to {text.limits[1]})" for text in texts)
    marks = [Line2D([], [], label=name, **text.look) for name, text in zip(names, texts, strict=True)]
    hollow: Any = {"marker": "o", "color": style.MUTED, "markerfacecolor": "none", "ms": 6}
    return [*marks, Line2D([], [], ls="", label="hollow: outside", **hollow)]


def _histograms(ax: Axes, found: pd.DataFrame, texts: Sequence[_Text]) -> None:
    end = _scale(found, texts)
    ax.set_xlim(-0.5, end)
    notes, most = [], []
    for row, text in enumerate(texts):
        lengths = found[text.column].to_numpy()
        low, high = text.limits
        ax.fill_betweenx(
            [row - 0.42, row + 0.42], low - 0.5, high + 0.5, color=text.tint, linewidth=0, zorder=0
        )
        # whole numbers lie in the middle of their bars, so that both limits count as inside
        edges = ridges.between(-0.5, np.floor(end) + 0.5, (low - 0.5, high + 0.5), 40, whole=True)
        most.append(ridges.ridge(ax, row, lengths, edges, text.colour, (low - 0.5, high + 0.5)))
        none, short = int((lengths == 0).sum()), int(((lengths > 0) & (lengths < low)).sum())
        notes.append(f"{none:,} none\n{short:,} short\n{int((lengths > high).sum()):,} long")
    captions.row_labels(ax, [text.column for text in texts])
    ax.set_ylim(len(texts) - 0.45, -0.5)
    captions.side_column(ax, "outside", notes, offset=34)
    width = round(end / 40)
    ridges.count_axes(ax, most, width)
    _finish(ax, texts, end, f"; height of a bar: pages in {width} {texts[0].unit}")


def _finish(ax: Axes, texts: Sequence[_Text], end: float, more: str = "") -> None:
    ends = sorted({0, *(limit for text in texts for limit in text.limits)})
    step = 100 if end < 1_000 else 500
    further = [tick for tick in range(step, int(end) + 1, step) if tick - ends[-1] > end * 0.08]
    apart = max(0.035, 34 / captions.points_wide(ax))
    captions.finish_value_axis(ax, texts[0].unit + more, _apart([*ends, *further], end * apart))


def _apart(ticks: Sequence[float], least: float) -> list[float]:
    kept: list[float] = []
    for tick in ticks:
        if not kept or tick - kept[-1] >= least:
            kept.append(tick)
    return kept
