"""The keywords operation: the most frequent words and phrases of a page's visible text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, TypedDict

from webanalytics.analysis.keywords.segmentation import (
    UNSPACED_LANGUAGES,
    Segmented,
    bare,
    letters,
    segment,
    text_language,
)
from webanalytics.analysis.keywords.stopwords import chosen_stop_words
from webanalytics.analysis.page.page import Page
from webanalytics.errors import ParameterError


class KeywordTable(TypedDict):
    """Keywords of one text, most frequent first; the three lists run parallel."""

    keywords: list[str]
    frequency: list[int]
    density: list[float]
    total_words: int
    note: str


def count_keywords(
    text: str,
    language: str = "en",
    *,
    ngrams: int = 1,
    top: int = 50,
    min_length: int = 4,
    stop_words: Iterable[str] | str | None = None,
    max_length: int = 100,
) -> KeywordTable:
    """Count the keywords of a text.

    Parameters
    ----------
    text
        Plain text; a line break ends a block.
    language
        Code of ISO 639-1 of the text.
    ngrams
        Words in a keyword: exactly 1, 2 or 3.
    top
        Most keywords given.
    min_length
        Fewest letters of a keyword, spaces not counted.
    stop_words
        None for the stop words of the language; a language code for those of another; ``"none"`` or an
        empty list for no stop words; otherwise the words to leave out, in place of the language's.
    max_length
        Most characters of a keyword; anything longer is not a word but encoded data.

    Returns
    -------
    dict
        ``keywords``, ``frequency``, ``density`` (three parallel lists, by falling frequency, then first
        appearance), ``total_words`` and ``note`` (why there is no keyword, or what was not read).

    Raises
    ------
    ParameterError
        For a parameter out of its range.

    Notes
    -----
    A word is letters with their marks, in lower case and in Unicode's composed form. Digits and hyphens
    separate words, an apostrophe does not; then an English possessive (``people's``) and an elided
    article (``l'homme``) are taken off. A word of a script without spaces has two characters or more,
    each worth two letters; so is each syllable of Korean.

    Words of an n-gram stand side by side, with nothing but a space or a hyphen between them: it never
    crosses punctuation, a digit or the edge of a block. It neither starts nor ends with a stop word or a
    single letter; stop words inside it stay ("terms of service").

    The density is a share from 0 to 1: the frequency divided by the number of all words of the text, stop
    words and short ones included (``total_words``); for n-grams, by the number of all n-grams.

    Examples
    --------
    >>> count_keywords("Green tea is tea. Green tea keeps.", top=2, min_length=3)["keywords"]
    ['tea', 'green']
    >>> count_keywords("Green tea is tea. Green tea keeps.", ngrams=2)["frequency"]
    [2]
    """
    _check("ngrams", ngrams, 1, 3)
    _check("top", top, 1)
    _check("min_length", min_length, 1)
    left_out = chosen_stop_words(stop_words, language)
    segmented = segment(text, language, in_runs=ngrams > 1)
    total_words = sum(len(run.words) for run in segmented.runs)
    if ngrams == 1:
        counts, total = _count_words(segmented, language, left_out, min_length), total_words
    else:
        counts, total = _count_ngrams(segmented, language, left_out, min_length, ngrams)
    readable = [item for item in counts.items() if len(item[0]) <= max_length]
    ranked = sorted(readable, key=lambda item: -item[1])[:top]
    return {
        "keywords": [keyword for keyword, _ in ranked],
        "frequency": [times for _, times in ranked],
        "density": [times / total for _, times in ranked],
        "total_words": total_words,
        "note": _note(segmented, language, total_words, bool(ranked), ngrams, min_length),
    }


def _check(parameter: str, value: object, low: int, high: int | None = None) -> None:
    good = isinstance(value, int) and not isinstance(value, bool)
    if good and low <= value and (high is None or value <= high):  # type: ignore[operator]
        return
    limits = f"from {low} to {high}" if high else f"of at least {low}"
    raise ParameterError(f"The `{parameter}` parameter must be an integer {limits}.", parameter)


def _count_words(
    segmented: Segmented, language: str, left_out: frozenset[str], min_length: int
) -> dict[str, int]:
    """Return keyword to frequency, in order of first appearance."""
    counts: dict[str, int] = {}
    for word, times in Counter(segmented.words).items():
        if word in left_out:
            continue
        if "'" in word:
            word = bare(word, language)
            if word in left_out:
                continue
        elif len(word) >= min_length > 1:
            counts[word] = counts.get(word, 0) + times
            continue
        if letters(word) >= min_length:
            counts[word] = counts.get(word, 0) + times
    return counts


def _count_ngrams(
    segmented: Segmented, language: str, left_out: frozenset[str], min_length: int, size: int
) -> tuple[dict[str, int], int]:
    """Return n-gram to frequency, in order of first appearance, and the number of all n-grams."""
    bare_words: dict[str, str] = {}
    at_an_end: dict[str, bool] = {}
    for word in set(segmented.words):
        short = bare_words[word] = bare(word, language)
        at_an_end[word] = word not in left_out and short not in left_out and letters(short) > 1
    counts: Counter[str] = Counter()
    total = 0
    for run in segmented.runs:
        last = len(run.words) - size + 1
        total += max(0, last)
        for start in range(last):
            gram = run.words[start : start + size]
            if at_an_end[gram[0]] and at_an_end[gram[-1]]:
                counts[run.separator.join(bare_words[word] for word in gram)] += 1
    long_enough = {
        gram: times for gram, times in counts.items() if sum(map(letters, gram.split())) >= min_length
    }
    return long_enough, total


def _note(
    segmented: Segmented, language: str, total_words: int, found: bool, ngrams: int, min_length: int
) -> str:
    """Return why a text has no keywords, or that a large part of it was not read."""
    read = sum(map(len, segmented.words))
    if segmented.unread * 10 >= segmented.unread + read > 0:
        text = f"{UNSPACED_LANGUAGES.get(language, 'This')} text"
        return f'{text} needs a word segmenter: pip install "webanalytics[cjk]"'
    if found:
        return ""
    if not total_words:
        return "The page has no visible text with letters."
    if ngrams > 1:
        return f"No {ngrams} words stand side by side that begin and end with other than stop words."
    return f"Every word of the text is a stop word or has fewer than {min_length} letters."


def table(
    page: Page,
    *,
    ngrams: int = 1,
    top: int = 50,
    min_length: int = 4,
    stop_words: Iterable[str] | str | None = None,
) -> KeywordTable:
    """Count the keywords of a page's visible text; the parameters are those of `count_keywords`."""
    return count_keywords(
        page.visible_text,
        text_language(page),
        ngrams=ngrams,
        top=top,
        min_length=min_length,
        stop_words=stop_words,
    )


def analyse(
    page: Page,
    *,
    ngrams: int = 1,
    top: int = 50,
    min_length: int = 4,
    stop_words: Iterable[str] | str | None = None,
) -> dict[str, Any]:
    """Count the keywords of a page's visible text; the parameters are those of `count_keywords`.

    Returns
    -------
    dict
        ``url`` (as submitted), ``keywords`` (keyword to frequency, by falling frequency, then first
        appearance), ``density`` (keyword to share of the text's words, 0 to 1) and ``note``.

    Raises
    ------
    ParameterError
        For a parameter out of its range.
    """
    found = table(page, ngrams=ngrams, top=top, min_length=min_length, stop_words=stop_words)
    return {
        "url": page.url,
        "keywords": dict(zip(found["keywords"], found["frequency"], strict=True)),
        "density": dict(zip(found["keywords"], found["density"], strict=True)),
        "note": found["note"],
    }
