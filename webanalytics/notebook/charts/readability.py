"""Pages against the audiences that can read them, by school grades or the scale of each page's language."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from webanalytics.core.strings import counted
from webanalytics.notebook.charts import readability_scale, ridges
from webanalytics.notebook.charts.readability_scale import OPTIONAL, Judged, judge
from webanalytics.notebook.drawing import captions, data, style
from webanalytics.notebook.drawing.labels import path_labels
from webanalytics.thresholds import AUDIENCES, GRADE_BANDS, Scale


@style.chart
def readability(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    max_pages: int = 40,
    max_grade: float = 22,
    title: str | None = None,
) -> Axes:
    """Draw how hard the pages are to read, against the audiences that can read them.

    Up to `max_pages` pages have a row each, the hardest at the top; more are drawn as histograms, one for
    each language. Each band's name says how many pages it holds. A page that is in the frame twice counts
    once. The title says how many pages are drawn, and the line below it why others are not: they failed,
    their language is undetermined or has no scale, or their text is no prose.

    Pages in English alone stand on an axis of school grades. Those of other languages have no grade:
    each page then stands among the audiences where the scale of its language puts it, with its own value.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.readability` or `webanalytics.audit` returned: ``url``, ``averageGradeLevel``
        and, if there, ``readability_score``, ``readability_scale``, ``readability_note``,
        ``fleschReadingEase``, ``status``, ``error_type``.
    max_pages : int
        The most pages that have a row of their own.
    max_grade : float
        Right end of the axis of school grades; a page beyond it is drawn at the end, with its true number.
    title : str, optional
        Title of the chart, instead of the number of pages.

    Raises
    ------
    ParameterError
        When `max_pages` is not from 0 to 200, when `max_grade` is not above 16, or when the frame lacks
        the columns.

    Notes
    -----
    The bands are those of the ``audience`` field, of equal width where there are several scales. The average
    grade level is the mean of Flesch-Kincaid, Gunning Fog, Coleman-Liau, SMOG and the Automated
    Readability Index, all of them in years of United States schooling.

    Examples
    --------
    >>> frame = pd.DataFrame({"url": ["https://a.example/terms"], "averageGradeLevel": [14.2]})
    >>> readability(frame).get_title(loc="left")
    'Readability of /terms'
    """
    max_pages = data.row_count("max_pages", max_pages, 0)
    max_grade = data.real_number(max_grade, "max_grade", above=GRADE_BANDS[-2][0])
    picked = data.pick(frame, ["url", "averageGradeLevel"], ("readability", "audit"), optional=OPTIONAL)
    pages = data.distinct(picked)
    judged = judge(pages)
    if judged.values:
        ax = _drawn(ax, judged, max_pages, max_grade)
    else:
        ax = style.start(ax, style.row_height(0, 1.9))
        captions.message(ax, _reason(pages))
    note = judged.missing if len(pages) > 1 else ""
    if judged.in_years and len(judged.values) > max_pages:
        note = data.joined(ridges.beyond(np.array(judged.values), max_grade), note)
    lift = readability_scale.HEIGHT if judged.values else 0
    heading = captions.title_of("Readability", pages["url"], drawn_of(len(judged.values), len(pages)))
    captions.headline(ax, title or heading, note, lift=lift)
    return ax


def _drawn(ax: Axes | None, judged: Judged, max_pages: int, max_grade: float) -> Axes:
    rows = len(judged.values) <= max_pages
    height = style.row_height(len(judged.values), 1.9)
    if not judged.in_years:
        each = len(scales_shown(judged))
        ax = style.start(ax, height if rows else style.row_height(each, 1.9, each=0.52))
        (audience_rows if rows else audience_distributions)(ax, judged)
        return ax
    ax = style.start(ax, height if rows else 4.6)
    grades = np.array(judged.values)
    grade_bands(ax, grades, max_grade, counts=True)
    (_rows if rows else _histogram)(ax, judged.pages.assign(averageGradeLevel=grades), max_grade)
    return ax


def drawn_of(drawn: int, pages: int) -> str:
    """Return how many pages of how many are drawn.

    >>> drawn_of(3, 3), drawn_of(11, 99), drawn_of(0, 99)
    ('3 pages', '11 of 99 pages', '99 pages')
    """
    return counted(pages, "page") if drawn in (0, pages) else f"{drawn:,} of {counted(pages, 'page')}"


def _reason(pages: pd.DataFrame) -> str:
    return data.why_empty(
        pages, "No pages, so no grades.", "This page has no grade.", "None of these pages has a grade."
    )


def grade_bands(ax: Axes, grades: NDArray[np.float64], max_grade: float, *, counts: bool) -> None:
    """Draw the bands of grades with their audiences and, given grades, how many each band holds."""
    lowest = float(np.min(grades))
    left = math.floor(lowest) - 1.0 if lowest < 0 else 0.0
    limits = [left, *(limit for limit, _ in GRADE_BANDS[:-1]), max_grade]
    names = [audience for _, audience in GRADE_BANDS]
    readability_scale.paint(ax, limits, names, style.SEQUENCE, grades if counts else None)


def _rows(ax: Axes, scored: pd.DataFrame, max_grade: float) -> None:
    grades: list[float] = scored["averageGradeLevel"].tolist()
    places = [min(grade, max_grade) for grade in grades]
    left = ax.get_xlim()[0]
    ax.hlines(range(len(places)), left, places, color=style.BLUE, linewidth=1.2, alpha=0.45)
    for marker, beyond in (("o", False), (">", True)):
        marked = [row for row, grade in enumerate(grades) if (grade > max_grade) is beyond]
        if marked:  # an empty line that is not clipped would take up space in the corner of the figure
            ax.plot([places[row] for row in marked], marked, marker, color=style.BLUE, ms=6.5, clip_on=False)
    for row, (grade, place) in enumerate(zip(grades, places, strict=True)):
        ground = {"facecolor": style.SEQUENCE[-1]} if place > max_grade - 2.2 else None
        _beside(ax, f"{grade:,.1f}", (place, row), ground)
    if "fleschReadingEase" in scored.columns:
        eases = data.numbers(scored["fleschReadingEase"]).tolist()
        captions.side_column(
            ax, "Flesch\nease", ["–" if math.isnan(ease) else f"{ease:,.0f}" for ease in eases]
        )
    captions.row_labels(ax, path_labels(scored["url"]))
    grade_axis(ax, max_grade)


def _beside(ax: Axes, text: str, at: tuple[float, float], ground: dict[str, Any] | None) -> None:
    """Write a value on the right of its dot, or where it has no room there, on the left and on a ground."""
    box = ground and {"edgecolor": "none", "pad": 0.5, **ground}
    side = "right" if ground else "left"
    captions.inner_text(ax, text, at, (-7 if ground else 7, 0), ha=side, color=style.INK, bbox=box)


def _histogram(ax: Axes, scored: pd.DataFrame, max_grade: float) -> None:
    low, high = ax.get_xlim()
    low = max(low, -10.0)
    ax.set_xlim(low, high)
    edges = np.append(np.arange(math.floor(low), high), high)
    counts, _ = np.histogram(scored["averageGradeLevel"].clip(low, high), bins=edges)
    ax.bar(edges[:-1], counts, np.diff(edges) * 0.9, align="edge", color=style.BLUE, linewidth=0)
    captions.finish_count_axis(ax, "pages", max(counts))
    grade_axis(ax, max_grade)


def grade_axis(ax: Axes, max_grade: float, label: str = "average grade level (years of schooling)") -> None:
    """Put ticks at the limits of the bands."""
    ends = [limit for limit, _ in GRADE_BANDS[:-1]]
    low = ax.get_xlim()[0]
    captions.finish_value_axis(ax, label, sorted({low, 0.0, *ends, max_grade}))


MOST_SCALES = 12
"""Most scales that have a row of their own, those of the most pages."""

_EDGES = np.arange(len(AUDIENCES) + 1, dtype=float)


def scales_shown(judged: Judged) -> list[Scale]:
    """Return the scales that have a row, the one of the most pages first."""
    return [scale for scale, _ in Counter(judged.scales).most_common(MOST_SCALES)]


def audience_rows(ax: Axes, judged: Judged) -> None:
    """Draw a dot for each page, with its value, and the scale that it is on where most are on another."""
    _bands(ax, judged)
    places = judged.places.tolist()
    ax.hlines(range(len(places)), 0, places, color=style.BLUE, linewidth=1.2, alpha=0.45)
    ax.plot(places, range(len(places)), "o", color=style.BLUE, ms=6.5, clip_on=False)
    alone = len(set(judged.scales)) == 1
    most, times = Counter(judged.scales).most_common(1)[0]
    common = most if 2 * times > len(places) else None
    for row, (place, value, scale) in enumerate(zip(places, judged.values, judged.scales, strict=True)):
        inside = place > len(AUDIENCES) - (0.5 if alone else 1.4)
        text = f"{value:,.1f}" if scale == common else f"{value:,.1f} {named(scale)}"
        _beside(ax, text, (place, row), {"facecolor": style.CARD, "alpha": 0.75} if inside else None)
    captions.row_labels(ax, path_labels(judged.pages["url"]))
    _axis(ax, judged, "" if alone or common is None else f"; without a name: {named(common)}")


def audience_distributions(ax: Axes, judged: Judged) -> None:
    """Draw one small histogram for each scale, with its median and the number of pages."""
    _bands(ax, judged)
    shown = scales_shown(judged)
    of_each = [[row for row, scale in enumerate(judged.scales) if scale == wanted] for wanted in shown]
    edges = np.linspace(0, len(AUDIENCES), 5 * len(AUDIENCES) + 1)
    for number, (scale, found) in enumerate(zip(shown, of_each, strict=True)):
        ridges.ridge(ax, number, judged.places[found], edges, style.BLUE)
        median = float(np.median([judged.values[row] for row in found]))
        ridges.median_mark(ax, number, scale.place(median), f"{median:,.1f}")
    captions.row_labels(ax, [named(scale) for scale in shown])
    captions.side_column(ax, "pages", [f"{len(found):,}" for found in of_each])
    _axis(ax, judged, "; the orange mark is the median")


def named(scale: Scale) -> str:
    """Return what a scale is called beside other ones, such as ``German, Flesch ease``."""
    return f"{scale.language}, {scale.short}" if scale.language else scale.short


def _bands(ax: Axes, judged: Judged) -> None:
    # counted by audience: a value at a limit is the easier one's on one scale, the harder one's on another
    middles = np.repeat(_EDGES[:-1] + 0.5, judged.audiences)
    readability_scale.paint(ax, _EDGES.tolist(), AUDIENCES, style.SEQUENCE, middles)


def _axis(ax: Axes, judged: Judged, said: str = "") -> None:
    """Name the axis: by the limits of the one scale, or by the audiences where there are several."""
    scales = list(dict.fromkeys(judged.scales))
    names = [""] * len(_EDGES)
    label = "audience, by the scale of each page's language"
    if len(scales) == 1:
        (scale,) = scales
        names = [f"{limit:g}" for limit in (scale.ends[0], *scale.limits, scale.ends[1])]
        label = scale.name
    captions.finish_value_axis(ax, f"{label}{said}", _EDGES.tolist(), names)
