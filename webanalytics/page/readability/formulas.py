"""The readability formulas, from counts to numbers and to what their authors call them.

Each is computed as the textstat package computes it.
"""

from __future__ import annotations

from dataclasses import dataclass

from webanalytics.page.readability.counts import Counts
from webanalytics.thresholds import GRADE_BANDS


@dataclass(frozen=True, slots=True)
class LanguageFormulas:
    """What is known about the formulas in one language, None where it has no constants of its own.

    Base, weight of the sentence length and weight of the syllables per word of the Flesch reading ease; and
    the syllables of a complex word in the Gunning fog index.
    """

    flesch: tuple[float, float, float] | None = None
    complex_from: int | None = None


# Flesch 1948 (en), Amstad 1978 (de), Fernandez Huerta 1959 (es), Franchina and Vacca 1986 (it),
# Douma 1960 (nl), Oborneva 2006 (ru); fog thresholds, fr and hu as in textstat.
LANGUAGES = {
    "en": LanguageFormulas((206.835, 1.015, 84.6), 3),
    "de": LanguageFormulas((180, 1, 58.5)),
    "es": LanguageFormulas((206.84, 1.02, 60.0)),
    "fr": LanguageFormulas((207, 1.015, 73.6)),
    "hu": LanguageFormulas((206.835, 1.015, 58.5), 5),
    "it": LanguageFormulas((217, 1.3, 60.0)),
    "nl": LanguageFormulas((206.835, 0.93, 77)),
    "pl": LanguageFormulas(None, 4),
    "ru": LanguageFormulas((206.835, 1.3, 60.1)),
}
# The Flesch reading ease where textstat has no constants, so that an answer of the service has none, or not
# those of the source: Kandel and Moles 1958 (fr), Martins et al. 1996 (pt), Atesman 1997 (tr).
OTHER_FLESCH = {
    "fr": (209, 1.15, 68),
    "pt": (248.835, 1.015, 84.6),
    "tr": (198.825, 2.610, 40.175),
}

EASE_TEXTS = (
    (90, "Very Easy"),
    (80, "Easy"),
    (70, "Fairly Easy"),
    (60, "Standard"),
    (50, "Fairly Difficult"),
    (30, "Difficult"),
)
DALE_CHALL_TEXTS = (
    (6, "average 5th or 6th-grade student"),
    (7, "average 7th or 8th-grade student"),
    (8, "average 9th or 10th-grade student"),
    (9, "average 11th or 12th-grade student"),
)


def flesch_reading_ease(counts: Counts, constants: tuple[float, float, float]) -> float:
    """Return the Flesch reading ease, not limited to 0..100 (Flesch 1948 and its national forms)."""
    if not counts.words or not counts.syllables:
        return 0.0
    base, sentence_weight, syllable_weight = constants
    sentence_length = counts.words / counts.sentences
    return base - sentence_weight * sentence_length - syllable_weight * (counts.syllables / counts.words)


def flesch_kincaid_grade(counts: Counts) -> float:
    """Return the Flesch-Kincaid grade (Kincaid et al. 1975)."""
    if not counts.words or not counts.syllables:
        return 0.0
    return (0.39 * (counts.words / counts.sentences)) + (11.8 * (counts.syllables / counts.words)) - 15.59


def gunning_fog(counts: Counts) -> float:
    """Return the Gunning fog index (Gunning 1952), a complex word being hard and of many syllables."""
    if not counts.words:
        return 0.0
    return 0.4 * (counts.words / counts.sentences + 100 * counts.complex_words / counts.words)


def coleman_liau_index(counts: Counts) -> float:
    """Return the Coleman-Liau index (Coleman and Liau 1975)."""
    if not counts.words:
        return 0.0
    letters = counts.letters / counts.words * 100
    sentences = counts.sentences / counts.words * 100
    return (0.058 * letters) - (0.296 * sentences) - 15.8


def smog_index(counts: Counts) -> float:
    """Return the SMOG index (McLaughlin 1969), also for texts of fewer than thirty sentences."""
    if not counts.sentences:
        return 0.0
    return float((1.043 * (30 * (counts.polysyllables / counts.sentences)) ** 0.5) + 3.1291)


def automated_readability_index(counts: Counts) -> float:
    """Return the automated readability index (Smith and Senter 1967)."""
    if not counts.words:
        return 0.0
    characters = counts.characters / counts.pieces
    return (4.71 * characters) + (0.5 * (counts.words / counts.sentences)) - 21.43


def dale_chall_readability_score(counts: Counts) -> float:
    """Return the Dale-Chall score (Dale and Chall 1948); inflected forms of easy words count as hard."""
    if not counts.words:
        return 0.0
    hard = 100 * counts.hard_words / counts.words
    score = (0.1579 * hard) + (0.0496 * (counts.words / counts.sentences))
    return score + 3.6365 if hard > 5 else score


def lix(counts: Counts) -> float:
    """Return the readability index LIX: words a sentence plus the share of long words (Björnsson 1968)."""
    if not counts.words:
        return 0.0
    return counts.words / counts.sentences + 100 * counts.long_words / counts.words


def wiener_sachtextformel(counts: Counts) -> float:
    """Return the first Wiener Sachtextformel, a German school grade (Bamberger and Vanecek 1984)."""
    if not counts.words:
        return 0.0
    share = 100 / counts.words
    return (
        0.1935 * share * counts.polysyllables
        + 0.1672 * counts.words / counts.sentences
        + 0.1297 * share * counts.long_words
        - 0.0327 * share * counts.monosyllables
        - 0.875
    )


def indices(counts: Counts, language: LanguageFormulas, english: bool) -> dict[str, float | None]:
    """Return every index, unrounded; None where the language has no such formula or the text no word."""
    ease = fog = None
    if counts.words and language.flesch:
        ease = flesch_reading_ease(counts, language.flesch)
    if counts.words and language.complex_from:
        fog = gunning_fog(counts)
    given = bool(counts.words) and english
    return {
        "fleschReadingEase": ease,
        "fleschKincaidGrade": flesch_kincaid_grade(counts) if given else None,
        "gunningFog": fog,
        "colemanLiauIndex": coleman_liau_index(counts) if given else None,
        "smogIndex": smog_index(counts) if given else None,
        "automatedReadabilityIndex": automated_readability_index(counts) if given else None,
        "daleChallReadabilityScore": dale_chall_readability_score(counts) if given else None,
    }


def shown(value: float | None) -> float | None:
    """Return a number with two decimals, as answers show it; never a negative zero."""
    return None if value is None else round(value, 2) + 0.0


def ease_text(ease: float | None) -> str | None:
    """Return the verbal rating of a Flesch reading ease (Flesch's own table)."""
    if ease is None:
        return None
    return next((text for least, text in EASE_TEXTS if ease >= least), "Very Confusing")


def dale_chall_text(score: float | None) -> str | None:
    """Return the verbal rating of a Dale-Chall score (Dale and Chall's own table)."""
    if score is None:
        return None
    if score <= 4.9:
        return "average 4th-grade student or lower"
    college = "average 13th to 15th-grade (college) student"
    return next((text for below, text in DALE_CHALL_TEXTS if score < below), college)


def target_audience(grade: float | None) -> str:
    """Return the audience of a grade level; without a grade, the general public.

    Examples
    --------
    >>> target_audience(5.99), target_audience(6.0), target_audience(16.0), target_audience(None)
    ('elementary', 'middle school', 'post-graduate', 'general public')
    """
    if grade is None:
        return "general public"
    return next((name for below, name in GRADE_BANDS if grade < below), "post-graduate")


def average_grade(values: dict[str, float | None]) -> float | None:
    """Return the mean of the five grade indices, or None unless all five are known."""
    grades = [
        values[name]
        for name in (
            "fleschKincaidGrade",
            "gunningFog",
            "colemanLiauIndex",
            "smogIndex",
            "automatedReadabilityIndex",
        )
    ]
    known = [grade for grade in grades if grade is not None]
    return sum(known) / len(known) if len(known) == len(grades) else None
