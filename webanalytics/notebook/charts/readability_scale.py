"""Which pages of a frame are judged, on which scale, and why others are not: for charts of readability."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from webanalytics.notebook.drawing import data
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
    """Return how many pages that were read are not judged, by reason."""
    lacking = ~good & ~data.has_failed(pages)
    pairs = zip(_strings(pages, "readability_note"), lacking, strict=True)
    counts = Counter(_WORDED.get(note or "", "without a grade") for note, lacks in pairs if lacks)
    return data.joined(*(f"{count:,} {reason}" for reason, count in counts.most_common()))
