"""The readability operation: a page's main text by the usual formulas, on the scale that its language has."""

from __future__ import annotations

from typing import Any

from webanalytics.page.page import Page
from webanalytics.page.readability.counts import Counts, count_text, count_unspaced, count_words, is_unspaced
from webanalytics.page.readability.formulas import (
    LANGUAGES,
    OTHER_FLESCH,
    LanguageFormulas,
    average_grade,
    dale_chall_text,
    ease_text,
    flesch_reading_ease,
    indices,
    lix,
    shown,
    target_audience,
    wiener_sachtextformel,
)
from webanalytics.page.readability.syllables import primary
from webanalytics.page.text.text import main_language, main_text
from webanalytics.thresholds import SCALES, Unjudged, not_prose

_BY_SYLLABLES = LANGUAGES.keys() | OTHER_FLESCH.keys()
_NO_COUNTS = Counts(0, 0, 0, 0, 0)


def score(text: str, language: str = "en", words_per_minute: float = 238) -> dict[str, Any]:
    """Score the readability of a plain text; a language tag with a region takes that region's hyphenation.

    The usual reading speed of 238 words is the mean for silent reading of English non-fiction
    (Brysbaert 2019); Chinese is read at 255 characters a minute and Japanese at 357 (Trauzettel-Klosinski and
    Dietz 2012, whose readers read 228 English words).

    Parameters
    ----------
    text
        Plain text.
    language
        Code of its language; empty where it is undetermined, and then no formula is used.
    words_per_minute
        Reading speed.

    Returns
    -------
    dict
        ``fleschReadingEase`` (0 to 100), ``fleschReadingEaseText``, ``fleschKincaidGrade``,
        ``gunningFog``, ``colemanLiauIndex``, ``smogIndex``, ``automatedReadabilityIndex``,
        ``daleChallReadabilityScore``, ``daleChallReadabilityScoreText``, ``wordCount``,
        ``sentenceCount``, ``readingTimeMinutes``, ``averageGradeLevel``, ``targetAudience``;
        ``language``, ``audience``, ``readability_score``, ``readability_scale``, ``readability_note`` and
        ``wiener_sachtextformel``. Numbers have at most two decimals.

    Notes
    -----
    Counts and formulas are those of textstat 0.7.13 with ``set_lang(language)`` (its default, ``en_US``,
    for English), but for the syllables of English words that the dictionary lacks, which are counted by
    their vowels. The grade indices and the Dale-Chall score were fitted to American schools and
    English texts, so other languages get None for them. The Flesch reading ease is given in the
    languages with constants of their own: en, de, es, fr, hu, it, nl, ru; the Gunning fog index in
    those with a threshold of their own for complex words: en, hu, pl. Elsewhere they are None too, and
    so are all of them for a text without a word.

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
