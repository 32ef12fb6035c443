"""The readability operation: a page's main text by the usual formulas, on the scale that its language has.

Each formula, from counts to numbers and to what its authors call them, is computed as the textstat package
computes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from webanalytics.page.page import Page
from webanalytics.page.readability.counts import Counts, count_text, count_unspaced, count_words, is_unspaced
from webanalytics.page.readability.syllables import primary
from webanalytics.page.text.main import main_language, main_text
from webanalytics.thresholds import GRADE_BANDS, SCALES, Unjudged, not_prose


@dataclass(frozen=True, slots=True)
class LanguageFormulas:
    """What is known about the formulas in one language, None where it has no constants of its own."""

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
OTHER_FLESCH = {"fr": (209, 1.15, 68), "pt": (248.835, 1.015, 84.6), "tr": (198.825, 2.610, 40.175)}

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


_BY_SYLLABLES = LANGUAGES.keys() | OTHER_FLESCH.keys()
_NO_COUNTS = Counts(0, 0, 0, 0, 0)


def score(text: str, language: str = "en", words_per_minute: float = 238) -> dict[str, Any]:
    """Score the readability of a plain text; a language tag with a region takes that region's hyphenation.

    The usual reading speed of 238 words is the mean for silent reading of English non-fiction
    (Brysbaert 2019); Chinese is read at 255 characters a minute and Japanese at 357 (Trauzettel-Klosinski and
    Dietz 2012, whose readers read 228 English words).

    The answer has the keys of ``page/declarations/readability.py``; ``language`` is empty where it is
    undetermined, and then no formula is used. Numbers have at most two decimals.

    Notes
    -----
    Counts and formulas are those of textstat 0.7.13 with ``set_lang(language)`` (its default, ``en_US``, for
    English) of the text with plain apostrophes, but for the syllables of English words that the dictionary
    lacks, which are counted by their vowels. The grade indices and the Dale-Chall score were fitted to
    American schools and English texts, so other languages get None for them. The Flesch reading ease is given
    in the languages with constants of their own: en, de, es, fr, hu, it, nl, ru; the Gunning fog index in
    those with a threshold of their own for complex words: en, hu, pl. Elsewhere they are None too, and so are
    all of them for a text without a word.

    ``averageGradeLevel`` is the mean of the five unrounded grade indices, rounded at the end; None
    unless all five are known. The texts and the audience follow from the numbers as shown.

    ``readability_score`` is the value on the scale of the language, `webanalytics.thresholds.SCALES`, and
    ``audience`` follows from it. Texts that are no prose, of fewer than three sentences or of more than forty
    words a sentence, have neither: ``readability_note`` says why.

    Languages written without spaces have the words that a segmenter finds (extra ``cjk``), None without one.

    Examples
    --------
    >>> result = score("The cat sat on the mat. It was a very sunny day and the cat slept.")
    >>> result["wordCount"], result["sentenceCount"], result["fleschReadingEase"]
    (16, 2, 100.0)
    >>> result = score("Der Hund schläft im Garten. Die Katze sitzt im Baum. Es regnet den ganzen Tag.", "de")
    >>> result["averageGradeLevel"], result["audience"], result["readability_scale"]
    (None, 'elementary', 'Flesch reading ease (Amstad 1978, German)')
    """
    root = primary(language)
    if is_unspaced(root, text):
        counts = _NO_COUNTS
        found = count_unspaced(text, root, words_per_minute)
        words, sentences, minutes = found.words, found.sentences, found.minutes
    else:
        counts = _counts(text, language, root)
        words, sentences, minutes = counts.words, counts.sentences, counts.words / words_per_minute
    given = _api_fields(counts, root)
    grade = given.pop("averageGradeLevel")
    value = grade if root == "en" else _on_scale(counts, root, given)
    note = _unjudged(root, words, sentences, value)
    scale = SCALES.get(root)
    judged = note is None
    return {
        **given,
        "wordCount": words,
        "sentenceCount": sentences,
        "readingTimeMinutes": shown(minutes),
        "averageGradeLevel": grade,
        "targetAudience": target_audience(grade),
        "language": root,
        "audience": scale.audience(value) if scale and judged and value is not None else None,
        "readability_score": value if judged else None,
        "readability_scale": scale.name if scale else None,
        "readability_note": note,
        "wiener_sachtextformel": shown(wiener_sachtextformel(counts)) if root == "de" and judged else None,
    }


def _counts(text: str, tag: str, language: str) -> Counts:
    if language not in _BY_SYLLABLES:
        return count_words(text)
    text = text.replace("’", "'")  # or don’t would be no easy word, and couldn’t have one syllable
    return count_text(text, tag, LANGUAGES.get(language, LanguageFormulas()).complex_from or 3)


def _api_fields(counts: Counts, language: str) -> dict[str, Any]:
    """Return the indices that the service answers with too."""
    exact = indices(counts, LANGUAGES.get(language, LanguageFormulas()), language == "en")
    grade = shown(average_grade(exact))
    rounded = {name: shown(value) for name, value in exact.items()}
    ease = _limited(rounded.pop("fleschReadingEase"))
    return {
        "fleschReadingEase": ease,
        "fleschReadingEaseText": ease_text(ease),
        **rounded,
        "daleChallReadabilityScoreText": dale_chall_text(rounded["daleChallReadabilityScore"]),
        "averageGradeLevel": grade,
    }


def _limited(ease: float | None) -> float | None:
    return None if ease is None else min(100.0, max(0.0, ease))


def _on_scale(counts: Counts, language: str, given: dict[str, Any]) -> float | None:
    """Return the value on the scale of a language other than English."""
    if language in OTHER_FLESCH:
        return _limited(shown(flesch_reading_ease(counts, OTHER_FLESCH[language]))) if counts.words else None
    if language in LANGUAGES:
        ease, fog = given["fleschReadingEase"], given["gunningFog"]
        return fog if ease is None else ease  # type: ignore[no-any-return]
    return shown(lix(counts)) if language in SCALES and counts.words else None


def _unjudged(language: str, words: int | None, sentences: int, value: float | None) -> Unjudged | None:
    """Return why a text is not judged."""
    if words is None:
        return "no word segmenter"
    if not words:
        return "no words"
    if not language:
        return "language undetermined"
    if value is None:
        return "no scale for the language"
    return not_prose(words, sentences)


def analyse(page: Page, words_per_minute: float = 238) -> dict[str, Any]:
    """Score the readability of a page's main text: the fields of `score`, and its address as submitted."""
    return {**score(main_text(page), main_language(page), words_per_minute), "url": page.url}
