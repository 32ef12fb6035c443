"""Which pages of a frame are judged, on which scale, and why others are not: for charts of readability."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from webanalytics.notebook.drawing import captions, data, style
from webanalytics.thresholds import ANY_FLESCH, AUDIENCES, ENGLISH_SCALE, SCALES_BY_NAME, Scale

OPTIONAL = ("readability_score", "readability_scale", "readability_note", "fleschReadingEase")
"""Columns that are read where a frame has them."""

_WORDED = {
    "no scale for the language": "without a scale",
    "language undetermined": "of unknown language",
    "fewer than 3 sentences": "under 3 sentences",
    "over 40 words a sentence": "over 40 words a sentence",
    "no words": "without words",
    "no word segmenter": "without a segmenter",
}


@dataclass(frozen=True)
class Judged:
    """The judged pages, hardest first: their rows, values, scales and places among the audiences (0 to 5)."""

    pages: pd.DataFrame
    values: list[float]
    scales: list[Scale]
    places: NDArray[np.float64]
    missing: str
    """How many pages are missing and why, in words."""

    @property
    def audiences(self) -> list[int]:
        """How many pages each audience has."""
        pairs = zip(self.values, self.scales, strict=True)
        counts = Counter(scale.audience(value) for value, scale in pairs)
        return [counts[audience] for audience in AUDIENCES]

    @property
    def in_years(self) -> bool:
        """Whether all values are English school grades."""
        return all(scale is ENGLISH_SCALE for scale in self.scales)


def judge(pages: pd.DataFrame) -> Judged:
    """Return the judged pages of a frame of distinct pages with ``averageGradeLevel``."""
    grades = data.numbers(pages["averageGradeLevel"])
    if "readability_score" in pages:
        scores = data.numbers(pages["readability_score"])
    elif "fleschReadingEase" in pages:
        scores = np.where(np.isnan(grades), data.numbers(pages["fleschReadingEase"]), grades)
    else:
        scores = grades
    scales = [
        SCALES_BY_NAME.get(name or "", ANY_FLESCH if np.isnan(grade) else ENGLISH_SCALE)
        for name, grade in zip(_strings(pages, "readability_scale"), grades, strict=True)
    ]
    good = ~np.isnan(scores) & ~data.has_failed(pages)
    places = np.array([scale.place(score) for scale, score in zip(scales, scores, strict=True)], dtype=float)

    def hardest_first(row: int) -> tuple[float, float]:
        return -places[row], -scores[row] if scales[row].rises else scores[row]

    rows = sorted(np.flatnonzero(good).tolist(), key=hardest_first)
    return Judged(
        pages.iloc[rows],
        scores[rows].tolist(),
        [scales[row] for row in rows],
        places[rows],
        data.joined(_reasons(pages, good), data.failures(pages)),
    )


def _strings(pages: pd.DataFrame, name: str) -> list[str | None]:
    return data.strings(pages[name]) if name in pages else [None] * len(pages)


def _reasons(pages: pd.DataFrame, good: NDArray[np.bool_]) -> str:
    lacking = ~good & ~data.has_failed(pages)
    pairs = zip(_strings(pages, "readability_note"), lacking, strict=True)
    counts = Counter(_WORDED.get(note or "", "without a grade") for note, lacks in pairs if lacks)
    return data.joined(*(f"{count:,} {reason}" for reason, count in counts.most_common()))


HEIGHT = 38
"""Height in points of the names above the axes."""


def paint(
    ax: Axes,
    limits: Sequence[float],
    names: Sequence[str],
    tints: Sequence[str],
    values: NDArray[np.float64] | None,
) -> None:
    """Paint the bands between the limits, name each, and scale the horizontal axis to them.

    Values beyond the outer limits count as inside; without `values` the bands are only named.
    """
    low, high = limits[0], limits[-1]
    counts: Sequence[int | None] = [None] * len(names)
    if values is not None:
        counts = np.histogram(values, bins=[-math.inf, *limits[1:-1], math.inf])[0].tolist()
    for (left, right), name, count, tint in zip(pairwise(limits), names, counts, tints, strict=True):
        ax.axvspan(left, right, facecolor=tint, edgecolor=style.CARD, linewidth=1, zorder=0)
        centre = ((left + right) / 2 - low) / (high - low)
        two_lines = "\n".join(name.replace("post-graduate", "post- graduate").split(" ", 1))
        up = 4 if count is None else 18
        captions.outer_text(ax, two_lines, (centre, 1), (0, up), ha="center", va="bottom", fontsize=8.5)
        if count is not None and values is not None:
            share = (
                f"{count:,}" if count == 0 or len(values) < 100 else f"{count:,} ({count / len(values):.0%})"
            )
            captions.outer_text(ax, share, (centre, 1), (0, 4), ha="center", va="bottom", fontsize=8.5)
    ax.set_xlim(low, high)


def tints(number: int, *, darkest_first: bool = False) -> list[str]:
    """Return the given number of tints from the style's sequence.

    >>> tints(3) == [*style.SEQUENCE[::2]]
    True
    """
    places = np.linspace(0, len(style.SEQUENCE) - 1, number).round().astype(int).tolist()
    chosen = [style.SEQUENCE[place] for place in places]
    return chosen[::-1] if darkest_first else chosen
