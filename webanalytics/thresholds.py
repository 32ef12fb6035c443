"""Limits, priorities and audiences that rules, reports, charts and widgets share.

Lengths of titles and meta descriptions are the fewest and the most that search results show whole: the
usual limits of SEO tools, what a result's line held when they were set. The pixels are those of a title at
20 pixels and a description at 14 pixels in an Arial-like font. Profiles of an audit may set others.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

TITLE_CHARACTERS: Final = (30, 60)
TITLE_PIXELS: Final = (200, 561)
DESCRIPTION_CHARACTERS: Final = (70, 155)
DESCRIPTION_PIXELS: Final = (400, 985)

Priority = Literal["high", "medium", "low"]

PRIORITIES: Final[tuple[Priority, ...]] = ("high", "medium", "low")
"""Priorities of rules, the most urgent first."""

GRADE_BANDS: Final[tuple[tuple[float, str], ...]] = (
    (6, "elementary"),
    (9, "middle school"),
    (13, "high school"),
    (16, "college"),
    (math.inf, "post-graduate"),
)
"""Upper limit of the average grade level (not included), and the audience that reads up to it."""

AUDIENCES: Final[tuple[str, ...]] = tuple(audience for _, audience in GRADE_BANDS)
"""Audiences, the youngest readers first."""

Unjudged = Literal[
    "no words",
    "no word segmenter",
    "language undetermined",
    "no scale for the language",
    "fewer than 3 sentences",
    "over 40 words a sentence",
]
"""Why a text's difficulty is not judged."""


MIN_SENTENCES: Final = 3
MAX_SENTENCE_WORDS: Final = 40


def not_prose(words: int | None, sentences: int | None) -> Unjudged | None:
    """Return why a text with these counts is no prose that a formula can judge, None if it is, or unknown.

    Examples
    --------
    >>> not_prose(0, 0), not_prose(100, 2), not_prose(200, 4), not_prose(100, 5)
    ('no words', 'fewer than 3 sentences', 'over 40 words a sentence', None)
    """
    if words == 0:
        return "no words"
    if words is None or sentences is None:
        return None
    if sentences < MIN_SENTENCES:
        return "fewer than 3 sentences"
    return "over 40 words a sentence" if words / sentences > MAX_SENTENCE_WORDS else None


@dataclass(frozen=True)
class Scale:
    """A scale of difficulty with the limits of its audiences, from the easiest texts to the hardest."""

    name: str  # short: formula, source, language
    # Where elementary, middle school, high school and college end; a value at a limit is the harder one's on
    # a scale that rises with difficulty, the easier one's on one that falls.
    limits: tuple[float, float, float, float]
    ends: tuple[float, float]  # usual values of the easiest and of the hardest texts: the ends of an axis
    language: str  # in English; empty where any is meant
    short: str  # what a chart calls it beside the language

    @property
    def rises(self) -> bool:
        """Whether higher is harder."""
        return self.ends[0] < self.ends[1]

    def audience(self, value: float) -> str:
        """Return the audience of a value.

        Examples
        --------
        >>> SCALES["de"].audience(50), SCALES["de"].audience(49.99), SCALES["sv"].audience(50)
        ('high school', 'college', 'college')
        """
        if self.rises:
            return AUDIENCES[bisect_right(self.limits, value)]
        return AUDIENCES[sum(value < limit for limit in self.limits)]

    def place(self, value: float) -> float:
        """Return where a value lies among the audiences: 0 to 1 elementary, ..., 4 to 5 post-graduate.

        Examples
        --------
        >>> SCALES["de"].place(40), SCALES["sv"].place(55), SCALES["sv"].place(99)
        (3.5, 3.5, 5.0)
        """
        edges = (self.ends[0], *self.limits, self.ends[1])
        return _along(value, edges, tuple(map(float, range(len(edges)))))

    def ease(self, value: float) -> float:
        """Return the Flesch reading ease that stands at the same place among the audiences.

        Examples
        --------
        >>> SCALES["de"].ease(42.5), SCALES["sv"].ease(55), SCALES["pl"].ease(16)
        (42.5, 40.0, 30.0)
        """
        if (self.limits, self.ends) == (EASE_LIMITS, EASE_ENDS):
            return value
        edges = (self.ends[0], *self.limits, self.ends[1])
        return _along(value, edges, (EASE_ENDS[0], *EASE_LIMITS, EASE_ENDS[1]))


def _along(value: float, edges: tuple[float, ...], places: tuple[float, ...]) -> float:
    """Return the place of a value between edges that rise or fall, each edge having a place of its own."""
    for (low, high), (start, end) in zip(pairwise(edges), pairwise(places), strict=True):
        share = (value - low) / (high - low)
        if share < 0:
            return start
        if share <= 1:
            return start + share * (end - start)
    return places[-1]


GRADE_LIMITS: Final = (6.0, 9.0, 13.0, 16.0)
GRADE_ENDS: Final = (0.0, 22.0)
EASE_LIMITS: Final = (90.0, 60.0, 50.0, 30.0)
"""Flesch (How to Write Plain English, 1979): 5th grade from 90 on, 6th to 9th grade from 60, 10th to 12th
from 50, college from 30."""
EASE_ENDS: Final = (100.0, 0.0)


def _flesch(source: str, language: str, limits: tuple[float, float, float, float] = EASE_LIMITS) -> Scale:
    name = f"Flesch reading ease ({source}, {language})"
    return Scale(name, limits, EASE_ENDS, language, "Flesch ease")


def _lix(language: str) -> Scale:
    # Bjornsson's kinds of text: children's books, fiction, newspapers, official texts, what is harder.
    name = f"LIX (Björnsson 1968, {language})"
    return Scale(name, (30.0, 40.0, 50.0, 60.0), (20.0, 70.0), language, "LIX")


ENGLISH_SCALE: Final = Scale(
    "average of five grade indices (English)", GRADE_LIMITS, GRADE_ENDS, "English", "school grade"
)
SCALES: Final[dict[str, Scale]] = {
    "en": ENGLISH_SCALE,
    "de": _flesch("Amstad 1978", "German"),
    "es": _flesch("Fernández Huerta 1959", "Spanish"),
    "fr": _flesch("Kandel & Moles 1958", "French"),
    "hu": _flesch("textstat's constants", "Hungarian"),
    "it": _flesch("Franchina & Vacca 1986", "Italian"),
    "nl": _flesch("Douma 1960", "Dutch"),
    "pt": _flesch("Martins et al. 1996", "Portuguese"),
    "ru": _flesch("Oborneva 2006", "Russian"),
    # Atesman's own limits: easy from 70 on, of medium difficulty from 50.
    "tr": _flesch("Ateşman 1997", "Turkish", (90.0, 70.0, 50.0, 30.0)),
    "pl": Scale(
        "Gunning fog index (words of four syllables, Polish)", GRADE_LIMITS, GRADE_ENDS, "Polish", "fog index"
    ),
    "sv": _lix("Swedish"),
    "da": _lix("Danish"),
    "no": _lix("Norwegian"),
    "nb": _lix("Norwegian"),
    "nn": _lix("Norwegian"),
}
"""The scale of each language that has one, by ISO 639-1 code."""

ANY_FLESCH: Final = Scale(
    "Flesch reading ease (of the page's language)", EASE_LIMITS, EASE_ENDS, "", "Flesch ease"
)
"""What an answer that names no language was scored by, where it has a reading ease and no grade."""

SCALES_BY_NAME: Final[dict[str, Scale]] = {
    **{scale.name: scale for scale in SCALES.values()},
    ANY_FLESCH.name: ANY_FLESCH,
}


TOP_LEVEL: Final = "(top level)"
"""How the section of pages that lie in no folder is called."""
