"""How the readability indices of many pages are distributed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from webanalytics.errors import choice
from webanalytics.notebook.charts import readability_scale, ridges
from webanalytics.notebook.charts.readability import drawn_of, grade_axis, grade_bands
from webanalytics.notebook.drawing import captions, data, style
from webanalytics.thresholds import GRADE_BANDS


class Index(NamedTuple):
    """How one index is drawn: its name and, if it has its own scale, the limits and names of its bands."""

    name: str
    limits: tuple[float, ...] = ()
    bands: tuple[str, ...] = ()
    harder_up: bool = True


_EASE = ("very confusing", "difficult", "fairly difficult", "standard", "fairly easy", "easy", "very easy")
_DALE_CHALL = ("4th grade", "5th–6th grade", "7th–8th grade", "9th–10th grade", "11th–12th grade", "college")

INDICES = {
    "averageGradeLevel": Index("average grade"),
    "fleschKincaidGrade": Index("Flesch-Kincaid grade"),
    "gunningFog": Index("Gunning fog index"),
    "colemanLiauIndex": Index("Coleman-Liau index"),
    "smogIndex": Index("SMOG index"),
    "automatedReadabilityIndex": Index("Automated readability index"),
    "fleschReadingEase": Index("Flesch reading ease", (0, 30, 50, 60, 70, 80, 90, 100), _EASE, False),
    "daleChallReadabilityScore": Index("Dale-Chall score", (3, 4.9, 6, 7, 8, 9, 12), _DALE_CHALL),
}
"""The indices by column; those without limits are school grades."""

MAX_GRADE = 22.0
_GRADES = [column for column, index in INDICES.items() if not index.limits]


@style.chart
def readability_distribution(
    frame: pd.DataFrame, *, ax: Axes | None = None, index: str | None = None, title: str | None = None
) -> Axes:
    """Draw how the readability indices of pages are distributed.

    Without `index` the six that are school grades are drawn one below the other on their common scale,
    in front of the audiences. The Flesch reading ease and the Dale-Chall score have scales of their own:
    name one of them, or any other, to see it alone, in front of the bands defined by its authors.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.readability` or `webanalytics.audit` returned. Pages that failed or have no
        index, and duplicates, are left out; the first two are counted.
    index : str, optional
        Column of the one index to draw, such as ``"fleschReadingEase"``.

    Raises
    ------
    ParameterError
        When `index` is not an index, or when the frame lacks the columns.

    Notes
    -----
    Values beyond the ends of a scale are in its first or last bar; medians are of the true values. Each row
    is scaled to its own maximum: rows show shapes, and the column on the right the number of pages.

    Examples
    --------
    >>> frame = pd.DataFrame({"url": ["a", "b", "c"], "fleschReadingEase": [40.0, 65.0, 72.0]})
    >>> ax = readability_distribution(frame, index="fleschReadingEase")
    >>> ax.get_title(loc="left")
    'Flesch reading ease of 3 pages'
    """
    makers = ("readability", "audit")
    if index is None:
        frame = data.pages(frame, columns=[])
        present = [name for name in _GRADES if isinstance(frame, pd.DataFrame) and name in frame.columns]
        columns = present or ["averageGradeLevel"]
    else:
        columns = [choice("index", index, INDICES)]
    pages = data.distinct(data.pick(frame, ["url", *columns], makers))
    good = ~data.has_failed(pages)
    values = {name: np.where(good, data.numbers(pages[name]), np.nan) for name in columns}
    usable = np.any([~np.isnan(found) for found in values.values()], axis=0)
    found = {name: column[~np.isnan(column)] for name, column in values.items() if not np.isnan(column).all()}
    ax = style.start(ax, 4.6 if index else style.row_height(len(found), 1.7, each=0.52))
    beyond = ""
    if not found:
        captions.message(ax, _reason(pages))
    elif index is None:
        _grade_rows(ax, found)
    else:
        beyond = _alone(ax, index, found[index])
    name = INDICES[index].name if index else "Readability indices"
    of = f" of {drawn_of(int(usable.sum()), len(pages))}" if len(pages) else ""
    note = data.left_out(pages, usable, _lacking(index))
    lift = readability_scale.HEIGHT - (0 if index else 14)
    captions.headline(ax, title or f"{name}{of}", data.joined(note, beyond), lift=lift if found else 0)
    return ax


def _lacking(index: str | None) -> str:
    if index == "fleschReadingEase":
        return "in languages without constants for it"
    return "without it" if index else "without a grade, which only English has"


def _reason(pages: pd.DataFrame) -> str:
    return data.why_empty(
        pages,
        "No pages, so no indices.",
        "This page has no such index.",
        "None of these pages has such an index.",
    )


def _grade_rows(ax: Axes, found: dict[str, NDArray[np.float64]]) -> None:
    low = max(min(float(np.min(column)) for column in found.values()), -8.0)
    grade_bands(ax, np.array([low]), MAX_GRADE, counts=False)
    edges = np.arange(np.floor(ax.get_xlim()[0]), MAX_GRADE + 1)
    for row, column in enumerate(found.values()):
        ridges.ridge(ax, row, column, edges, style.BLUE)
        median = float(np.median(column))
        ridges.median_mark(ax, row, min(max(median, edges[0]), MAX_GRADE), f"{median:,.1f}")
    captions.row_labels(ax, [INDICES[name].name for name in found])
    captions.side_column(ax, "pages", [f"{len(column):,}" for column in found.values()])
    grade_axis(ax, MAX_GRADE, "grade level (years of schooling); the orange mark is the median")


def _alone(ax: Axes, name: str, values: NDArray[np.float64]) -> str:
    index = INDICES[name]
    if index.limits:
        tints = readability_scale.tints(len(index.bands), darkest_first=not index.harder_up)
        readability_scale.paint(ax, index.limits, index.bands, tints, values)
        ticks = list(index.limits)
    else:
        grade_bands(ax, values.clip(-8), MAX_GRADE, counts=True)
        ticks = [ax.get_xlim()[0], *(limit for limit, _ in GRADE_BANDS[:-1]), MAX_GRADE]
    low, high = ax.get_xlim()
    edges = ridges.between(low, high, tuple(ticks), 24)
    counts, _ = np.histogram(values.clip(low, high), bins=edges)
    ax.bar(
        edges[:-1], counts, np.diff(edges), align="edge", color=style.BLUE, linewidth=1, edgecolor=style.CARD
    )
    captions.finish_count_axis(ax, "pages", max(counts))
    median = float(np.median(values))
    ax.axvline(min(max(median, low), high), color=style.ORANGE, linewidth=2)
    way = "higher is harder" if index.harder_up else "higher is easier"
    captions.finish_value_axis(
        ax, f"{index.name} ({way}); the orange line is the median, {median:,.1f}", ticks
    )
    sides = (int((values < low).sum()), "below"), (int((values > high).sum()), "above")
    beyond = [f"{number:,} {side}" for number, side in sides if number]
    return f"{' and '.join(beyond)} the scale, in its end bars" if beyond else ""
