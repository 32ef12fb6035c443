"""Pages against bands of school grades, with the audience each band stands for."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from webanalytics.charts import style
from webanalytics.errors import ParameterError

BANDS: tuple[tuple[float, str], ...] = (
    (6, "elementary"),
    (9, "middle school"),
    (13, "high school"),
    (16, "college"),
    (math.inf, "post-graduate"),
)
"""Upper limit of the average grade level (not included), and the audience below it."""


def readability(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    max_pages: int = 40,
    max_grade: float = 22,
    title: str | None = None,
) -> Axes:
    """Draw how hard the pages are to read, against the audience that reads that well.

    Up to `max_pages` pages have a row each, the hardest at the top; more are drawn as a histogram. Each
    band's name says how many pages it holds. A page that is in the frame twice counts once.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.readability` or `webanalytics.audit` returned: ``url``, ``averageGradeLevel``
        and, if there, ``fleschReadingEase``, ``status``, ``error_type``.
    ax : Axes, optional
        Where to draw; a new figure otherwise.
    max_pages : int
        The most pages that have a row of their own.
    max_grade : float
        Right end of the scale; a page beyond it stands at the end, with its true number.
    title : str, optional
        Title of the chart, in place of the number of pages.

    Returns
    -------
    Axes
        ``ax.figure.savefig(path)`` writes the chart to a file.

    Raises
    ------
    ParameterError
        When `max_pages` or `max_grade` is too small, or when the frame lacks the columns.

    Notes
    -----
    The bands are those of the ``targetAudience`` field. The average grade level is the mean of
    Flesch-Kincaid, Gunning Fog, Coleman-Liau, SMOG and the Automated Readability Index, all of them
    in years of United States schooling.

    Examples
    --------
    >>> frame = pd.DataFrame({"url": ["https://a.example/terms"], "averageGradeLevel": [14.2]})
    >>> readability(frame).get_title(loc="left")
    'Readability of /terms'
    """
    if max_pages < 0:
        raise ParameterError("The `max_pages` parameter must be an integer from 0.", parameter="max_pages")
    if max_grade <= BANDS[-2][0]:
        raise ParameterError(
            f"The `max_grade` parameter must be above {BANDS[-2][0]}.", parameter="max_grade"
        )
    style.require_columns(frame, ["url", "averageGradeLevel"])
    pages = frame.drop_duplicates("url")
    grades = pd.to_numeric(pages["averageGradeLevel"], errors="coerce").astype("Float64").astype(float)
    scored = pages.assign(averageGradeLevel=grades)[np.isfinite(grades.to_numpy())]
    scored = scored.sort_values("averageGradeLevel", ascending=False, kind="stable")
    rows = len(scored) <= max_pages
    with style.context():
        if ax is None:
            ax = style.new_axes(height=1.9 + 0.27 * max(len(scored), style.FEWEST_ROWS) if rows else 4.6)
        has_bands = not scored.empty
        style.headline(ax, title or _title(pages), _subtitle(pages, scored), lift=38 if has_bands else 0)
        if not has_bands:
            style.message(ax, _reason(pages))
        else:
            _bands(ax, scored["averageGradeLevel"], max_grade)
            (_rows if rows else _histogram)(ax, scored, max_grade)
    return ax


def _title(pages: pd.DataFrame) -> str:
    if len(pages) == 1:
        (label,) = style.path_labels(pages["url"])
        return f"Readability of {style.shorten(label, 40)}"
    return f"Readability of {style.counted(len(pages), 'page')}" if len(pages) else "Readability"


def _subtitle(pages: pd.DataFrame, scored: pd.DataFrame) -> str:
    failed = style.failures(pages) if len(pages) > 1 else ""
    number_failed = int(pages["status"].eq("error").sum()) if failed else 0
    ungraded = len(pages) - len(scored) - number_failed
    no_grade = f"{ungraded:,} without a grade" if ungraded > 0 and len(pages) > 1 else ""
    return " · ".join(part for part in (no_grade, failed) if part)


def _reason(pages: pd.DataFrame) -> str:
    """Say why there is nothing to draw."""
    if pages.empty:
        return "No pages, so no grades."
    if len(pages) == 1:
        error = pages["error"].iloc[0] if "error" in pages.columns else None
        return style.shorten(error, 90) if isinstance(error, str) and error else "This page has no grade."
    return "None of these pages has a grade."


def _bands(ax: Axes, grades: pd.Series[Any], max_grade: float) -> None:
    """Paint the bands and name the audience of each, with the number of its pages."""
    lowest = float(grades.min())
    limits = [math.floor(lowest) - 1.0 if lowest < 0 else 0.0, *(limit for limit, _ in BANDS[:-1]), max_grade]
    counts = np.histogram(grades, bins=[-math.inf, *(limit for limit, _ in BANDS)])[0]
    width = limits[-1] - limits[0]
    for (left, right), (_, audience), count, tint in zip(
        pairwise(limits), BANDS, counts.tolist(), style.SEQUENCE, strict=True
    ):
        ax.axvspan(left, right, facecolor=tint, edgecolor=style.CARD, linewidth=1, zorder=0)
        centre = ((left + right) / 2 - limits[0]) / width
        two_lines = "\n".join(audience.replace("post-graduate", "post- graduate").split(" "))
        share = f"{count:,}" if count == 0 or len(grades) < 100 else f"{count:,} ({count / len(grades):.0%})"
        style.outer_text(ax, two_lines, (centre, 1), (0, 18), ha="center", va="bottom", fontsize=8.5)
        style.outer_text(ax, share, (centre, 1), (0, 4), ha="center", va="bottom", fontsize=8.5)
    ax.set_xlim(limits[0], limits[-1])


def _rows(ax: Axes, scored: pd.DataFrame, max_grade: float) -> None:
    """Draw a dot for each page, with its grade and its reading ease."""
    grades: list[float] = scored["averageGradeLevel"].tolist()
    places = [min(grade, max_grade) for grade in grades]
    left = ax.get_xlim()[0]
    ax.hlines(range(len(places)), left, places, color=style.BLUE, linewidth=1.2, alpha=0.45)
    for marker, beyond in (("o", False), (">", True)):
        marked = [row for row, grade in enumerate(grades) if (grade > max_grade) is beyond]
        ax.plot([places[row] for row in marked], marked, marker, color=style.BLUE, ms=6.5, clip_on=False)
    for row, (grade, place) in enumerate(zip(grades, places, strict=True)):
        inside = place > max_grade - 2.2  # no room on the right of the dot
        ax.annotate(
            f"{grade:,.1f}",
            (place, row),
            (-7 if inside else 7, 0),
            textcoords="offset points",
            ha="right" if inside else "left",
            va="center",
            fontsize=9,
            color=style.INK,
            bbox={"facecolor": style.SEQUENCE[-1], "edgecolor": "none", "pad": 0.5} if inside else None,
        )
    _reading_ease(ax, scored)
    style.row_labels(ax, style.path_labels(scored["url"]))
    _grade_axis(ax, max_grade)


def _reading_ease(ax: Axes, scored: pd.DataFrame) -> None:
    """Write each page's Flesch reading ease in a column on the right."""
    if "fleschReadingEase" not in scored.columns:
        return
    eases = pd.to_numeric(scored["fleschReadingEase"], errors="coerce").astype("Float64").astype(float)
    style.outer_text(ax, "Flesch\nease", (1, 1), (26, 4), ha="center", va="bottom", fontsize=8.5)
    for row, ease in enumerate(eases.tolist()):
        ax.annotate(
            "–" if math.isnan(ease) else f"{ease:.0f}",
            (1, row),
            (26, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=9,
            color=ax.xaxis.label.get_color(),
            annotation_clip=False,
        )


def _histogram(ax: Axes, scored: pd.DataFrame, max_grade: float) -> None:
    """Draw how many pages have each grade; the first and the last bar hold what lies beyond."""
    low, high = ax.get_xlim()
    edges = np.append(np.arange(math.floor(low), high), high)
    counts, _ = np.histogram(scored["averageGradeLevel"].clip(low, high), bins=edges)
    ax.bar(edges[:-1], counts, np.diff(edges) * 0.9, align="edge", color=style.BLUE, linewidth=0)
    ax.set_ylim(0, max(counts) * 1.06)
    style.count_axis(ax.yaxis)
    bottom, top = ax.get_ylim()
    ticks = [tick for tick in ax.get_yticks() if bottom <= tick <= top]
    ax.set_yticks(ticks, labels=[f"{tick:,.0f}" for tick in ticks])
    ax.set_ylabel("pages")
    ax.tick_params(axis="y", length=0)
    _grade_axis(ax, max_grade)


def _grade_axis(ax: Axes, max_grade: float) -> None:
    ends = [limit for limit, _ in BANDS[:-1]]
    low = ax.get_xlim()[0]
    style.finish_value_axis(
        ax, "average grade level (years of schooling)", sorted({low, 0.0, *ends, max_grade})
    )
