"""Words, sentences and reading time of texts in languages that are written without spaces between words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from webanalytics.page.keywords.segmentation import UNSPACED_LANGUAGES, segment

CHARACTERS_PER_MINUTE = {"zh": 255, "ja": 357}
"""Characters read in a minute (Trauzettel-Klosinski and Dietz 2012, IReST)."""

# What ends a sentence in Chinese and Japanese, Burmese and Khmer, besides the marks of Latin script.
_END = re.compile("[\u3002\uff0e\uff61\uff01\uff1f\u2026!?\u104b\u17d4\u17d5]+|\\.(?!\\d)")
# Thai and Lao mark no sentence: a line is the smallest part that is.
_BY_LINES = frozenset(("th", "lo"))

SHORTEST_SENTENCE = 4
"""Letters from which on a stretch up to an end mark counts as a sentence."""


@dataclass(frozen=True, slots=True)
class Unspaced:
    """Counts over such a text; None for what only a word segmenter could tell."""

    words: int | None
    sentences: int
    minutes: float | None


def is_unspaced(language: str, text: str) -> bool:
    """Return whether a text is written without spaces; one of unknown language, for the most part.

    Examples
    --------
    >>> is_unspaced("ja", "Tokyo"), is_unspaced("", "天地玄黄"), is_unspaced("", "Tokyo")
    (True, True, False)
    """
    if language or text.isascii():
        return language in UNSPACED_LANGUAGES
    found = segment(text)
    unspaced = found.unread + sum(len(word) for run in found.runs if not run.separator for word in run.words)
    return 2 * unspaced > unspaced + sum(
        len(word) for run in found.runs if run.separator for word in run.words
    )


def count_unspaced(text: str, language: str, words_per_minute: float) -> Unspaced:
    """Count words by the segmentation that keywords use, and sentences by their end marks.

    The reading time is by characters where a speed in characters is known, else by words; words of scripts
    with spaces in between are added by their number.
    """
    found = segment(text, language)
    sentences = count_sentences(text, language)
    if found.unread:
        return Unspaced(None, sentences, None)
    words = spaced = characters = 0
    for run in found.runs:
        words += len(run.words)
        if run.separator:
            spaced += len(run.words)
        else:
            characters += sum(map(len, run.words))
    speed = CHARACTERS_PER_MINUTE.get(language)
    minutes = characters / speed + spaced / words_per_minute if speed else words / words_per_minute
    return Unspaced(words, sentences if words else 0, minutes)


def count_sentences(text: str, language: str) -> int:
    """Return the number of sentences, at least one where there is any letter.

    Examples
    --------
    >>> count_sentences("今日は雨です。傘を持って行きましょう！はい。", "ja")
    2
    """
    parts = text.split("\n") if language in _BY_LINES else _END.split(text)
    long_enough = sum(sum(map(str.isalpha, part)) >= SHORTEST_SENTENCE for part in parts)
    return max(long_enough, int(any(map(str.isalpha, text))))
