"""Syllables of single words: a pronouncing dictionary for English, hyphenation for every language."""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable
from functools import cache
from importlib import resources
from zlib import crc32

from webanalytics.analysis.readability_hyphenation import hyphenation, patterns_name

DATA = resources.files("webanalytics.analysis").joinpath("data")

# Patterns of American English: what textstat starts with ("en_US"); pyphen's plain "en" is British.
_DEFAULT_TAGS = {"en": "en_US"}
_NOT_IN_WORDS = re.compile(r"[^\w']")


class PronouncingDictionary:
    """Number of syllables of English words, from the CMU Pronouncing Dictionary.

    The file is a hash table searched in place: one bytes object of 1.3 MB instead of a Python dict of
    126,000 strings, which costs ten times the memory and twenty times the time to load in each worker.

    Examples
    --------
    >>> dictionary = PronouncingDictionary()
    >>> dictionary.get("readability"), dictionary.get("webanalytics")
    (5, None)
    """

    def __init__(self) -> None:
        self._table = DATA.joinpath("cmudict-syllables.bin").read_bytes()
        end = int.from_bytes(self._table[:4], "little")
        self._offsets = array("I", self._table[:end])
        if sys.byteorder == "big":
            self._offsets.byteswap()
        self._buckets = len(self._offsets) - 1

    def get(self, word: str) -> int | None:
        """Return the syllables of a lower-case word, or None where the dictionary does not have it."""
        if not word.isascii():
            return None
        key = word.encode()
        bucket = crc32(key) % self._buckets
        entry = b"\n%b " % key
        found = self._table.find(entry, self._offsets[bucket], self._offsets[bucket + 1])
        return None if found < 0 else self._table[found + len(entry)] - 65

    def items(self) -> list[tuple[str, int]]:
        """Return every word with its syllables."""
        lines = self._table[self._offsets[0] :].decode("ascii").split("\n")[1:]
        return [(line[:-2], ord(line[-1]) - 65) for line in lines]


@cache
def pronouncing_dictionary() -> PronouncingDictionary:
    """Return the dictionary, read when it is first asked for."""
    return PronouncingDictionary()


def primary(language: str) -> str:
    """Return the primary subtag of a language tag, in lower case (``en`` of ``en-GB`` and ``en_GB``)."""
    return re.split("[-_]", language.strip().lower(), maxsplit=1)[0]


def patterns_of(language: str) -> str:
    """Return the name of the hyphenation patterns that serve a language.

    Raises
    ------
    LookupError
        For a language without hyphenation patterns.
    """
    return patterns_name(_DEFAULT_TAGS.get(language.lower(), language))


def syllable_counter(language: str) -> Callable[[str], int]:
    """Return the function that counts the syllables of a lower-case word of the language.

    Raises
    ------
    LookupError
        For a language without hyphenation patterns.
    """
    return _counter(patterns_of(language))


@cache
def _counter(patterns: str, max_length: int = 1000) -> Callable[[str], int]:
    hyphens = hyphenation(patterns).count

    def by_patterns(word: str) -> int:
        if len(word) <= max_length:
            return hyphens(word) + 1
        # No word, but an encoded picture, say: estimated from its beginning, so that its cost is bounded.
        return round((hyphens(word[:max_length]) + 1) * len(word) / max_length)

    if primary(patterns) != "en":
        return by_patterns
    look_up = pronouncing_dictionary().get

    def count(word: str) -> int:
        listed = look_up(word)
        return by_patterns(word) if listed is None else listed

    return count


def syllables(word: str, language: str = "en") -> int:
    """Return the number of syllables of one word, as textstat counts it.

    Parameters
    ----------
    word
        A word, without white space; punctuation other than the apostrophe is not heard.
    language
        Language tag.

    Returns
    -------
    int
        For English the vowels of the word's first pronunciation in the CMU Pronouncing Dictionary
        (zero for "hmm"); for other words and languages the hyphenation places plus one.

    Examples
    --------
    >>> syllables("rhythm"), syllables("Analytics"), syllables("Lesbarkeit", "de")
    (2, 4, 3)
    """
    # Lower case of the dotted capital I brings a combining dot, which is no part of a word to textstat.
    heard = _NOT_IN_WORDS.sub("", word.lower())
    return syllable_counter(language)(heard) if heard else 0
