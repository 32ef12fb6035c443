"""Charts of one number per page: reading time or words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from webanalytics.notebook.charts import ridges
from webanalytics.notebook.drawing import captions, data, style
from webanalytics.notebook.drawing.labels import path_labels


class _Measure(NamedTuple):
    """How one number is drawn: its column, names, how it is written, and whether it is a count."""

    column: str
    name: str
    axis: str
    form: str
    whole: bool


_READING_TIME = _Measure("readingTimeMinutes", "Reading time", "minutes to read", "{:,.1f} min", False)
_WORDS = _Measure("wordCount", "Words", "words of the main text", "{:,.0f}", True)


@style.chart
def reading_time(
    frame: pd.DataFrame, *, ax: Axes | None = None, max_pages: int = 40, title: str | None = None
) -> Axes:
    """Draw how many minutes it takes to read each page, the longest at the top.

    Up to `max_pages` pages have a bar each; more are drawn as a histogram. A page that is in the frame twice
    counts once; pages that failed are left out and counted.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.readability` or `webanalytics.audit` returned: ``url``, ``readingTimeMinutes``.
    max_pages : int
        The most pages that have a bar of their own.
    title : str, optional
        Title of the chart, in place of the page or the number of pages.

    Raises
    ------
    ParameterError
        When `max_pages` is not from 0 to 200, or when the frame lacks the columns.

    Notes
    -----
    The time is that of a silent reader of 238 words a minute (Brysbaert 2019).

    Examples
    --------
    >>> frame = pd.DataFrame({"url": ["https://a.example/", "https://a.example/b"],
    ...                       "readingTimeMinutes": [1.5, 4.0]})
    >>> [float(bar.get_width()) for bar in reading_time(frame).patches]
    [4.0, 1.5]
    """
    return _draw(frame, _READING_TIME, ax, max_pages, title)


@style.chart
def words(
    frame: pd.DataFrame, *, ax: Axes | None = None, max_pages: int = 40, title: str | None = None
) -> Axes:
    """Draw how many words the main text of each page has, the longest at the top.

    Up to `max_pages` pages have a bar each; more are drawn as a histogram. A page that is in the frame twice
    counts once; pages that failed are left out and counted.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.readability` or `webanalytics.audit` returned: ``url``, ``wordCount``.
    max_pages : int
        The most pages that have a bar of their own.
    title : str, optional
        Title of the chart, in place of the page or the number of pages.

    Raises
    ------
    ParameterError
        When `max_pages` is not from 0 to 200, or when the frame lacks the columns.

    Examples
    --------
    >>> frame = pd.DataFrame({"url": ["https://a.example/", "https://a.example/b"], "wordCount": [120, 950]})
    >>> ax = words(frame)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['/b', '/']
    """
    return _draw(frame, _WORDS, ax, max_pages, title)


def _draw(frame: pd.DataFrame, measure: _Measure, ax: Axes | None, max_pages: int, title: str | None) -> Axes:
    max_pages = data.row_count("max_pages", max_pages, 0)
    pages = data.distinct(data.pick(frame, ["url", measure.column], ("readability", "audit")))
    pages = pages.assign(value=data.numbers(pages[measure.column]))
    usable = (pages["value"] >= 0).to_numpy() & ~data.has_failed(pages)
    found = pages[usable].sort_values("value", ascending=False, kind="stable")
    values = found["value"].to_numpy()
    rows = len(found) <= max_pages
    notes = [data.left_out(pages, usable, "without a count")] if len(pages) > 1 else []
    ax = style.start(ax, style.row_height(len(found), 1.3, each=0.26) if rows else 4.2)
    if found.empty:
        one, several = "This page has no text.", "None of these pages has a text."
        captions.message(ax, data.why_empty(pages, "No pages.", one, several))
    elif rows:
        captions.row_labels(ax, path_labels(found["url"]))
        _bars(ax, values, measure.form)
        captions.finish_value_axis(ax, measure.axis)
    else:
        notes.append(_histogram(ax, values, measure.whole))
        captions.finish_value_axis(ax, measure.axis)
    if len(found) > 1:
        _median(ax, values)
        notes.insert(0, f"median {measure.form.format(np.median(values))} (dashed)")
    captions.headline(ax, title or captions.title_of(measure.name, pages["url"]), data.joined(*notes))
    return ax


def _bars(ax: Axes, values: NDArray[np.float64], form: str) -> None:
    bars = ax.barh(range(len(values)), values, height=0.72, color=style.BLUE)
    captions.label_bars(ax, bars, [form.format(value) for value in values], float(values[0]))
    captions.grid(ax, "x")


def _histogram(ax: Axes, values: NDArray[np.float64], whole: bool) -> str:
    edges = ridges.steps(0, ridges.reach(values), 30, whole)
    counts, _ = np.histogram(values.clip(edges[0], edges[-1]), bins=edges)
    ax.bar(
        edges[:-1], counts, np.diff(edges), align="edge", color=style.BLUE, linewidth=1, edgecolor=style.CARD
    )
    ax.set_xlim(edges[0], edges[-1])
    captions.grid(ax, "y")
    captions.finish_count_axis(ax, "pages", max(counts))
    return ridges.beyond(values, edges[-1])


def _median(ax: Axes, values: NDArray[np.float64]) -> None:
    ax.axvline(float(np.median(values)), color=style.ORANGE, linewidth=1.6, dashes=(4, 2), zorder=2.5)
    for label in ax.texts:  # of the bars: the line runs behind them
        label.set_bbox({"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1.2})
