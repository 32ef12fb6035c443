"""Syllables of single words: a dictionary and a rule of vowels for English, else hyphenation.

The places of hyphens come from pyphen's pattern files, counted fast enough to do so for every word of a page.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import resources
from zlib import crc32

import ahocorasick
from pyphen import LANGUAGES, language_fallback

from webanalytics.core.strings import normalized

DATA = resources.files("webanalytics.page").joinpath("data")

# Patterns of American English: what textstat starts with ("en_US"); pyphen's plain "en" is British.
_DEFAULT_TAGS = {"en": "en_US"}
# Turkish has no patterns and needs none: each of its syllables has one vowel.
_BY_VOWELS = {"tr": re.compile("[aeıioöuüâîû]")}
# English words that the dictionary lacks have a syllable for each group of vowels (of the half of the
# dictionary that the rule was not made on, 0.918 are right), but for these silent ones,
_VOWELS = re.compile("[aeiouy]+")
_SILENT = re.compile(
    "[^aeiouyl]e$|[^aeiouydt]ed$|[^aeiouysxzcg]es$|[aeiouy]le$|[^aeiouy]e(?:ly|ness|ment|ful|less)"
)
# and these groups of two.
_DIVIDED = re.compile("(?<![tcsgx])i[ao]|eo(?!u)|[aeiouy]ing|[^gq]u[ao]|[aeiou]y[aeiou]|^mc|[^aeiouy]les$")
_ACCENTS = re.compile("[\u0300-\u036f]")
_NOT_IN_WORDS = re.compile(r"[^\w']")
# Lines of a pattern file that are no patterns: comments and settings of the hyphenation library.
_SETTINGS = re.compile(rb"\n[ \t]*(?:[%#]|(?:COMPOUND)?(?:LEFT|RIGHT)HYPHENMIN).*")
_HEX_CHARACTER = re.compile(r"\^{2}([0-9a-f]{2})")

# A pattern that pyphen's file lacks: its "ur8in" keeps Urin whole, as Duden does, but also the beginning of
# Ur-in-stinkt, which Duden divides.
_ADDED = {"de": b"\n.ur9instink"}

# Of a number that the automaton keeps for a pattern, the bits for its length.
_LENGTH_BITS = 8
_LENGTH = (1 << _LENGTH_BITS) - 1

# Bits for a level, which is a digit: nine ones at most, and a zero that parts it from the next.
_FIELD = 10
_ODD_LEVELS = 0b0101010101
_ONES = {str(level): (1 << level) - 1 for level in range(10)}


def patterns_name(tag: str) -> str:
    """Return the name of the pattern file that serves a language tag.

    Raises `LookupError` for a language without hyphenation patterns.

    >>> patterns_name("en-US"), patterns_name("de_CH"), patterns_name("es-MX")
    ('en_US', 'de_CH', 'es')
    """
    name = language_fallback(tag)
    if name is None:
        raise LookupError(f"no hyphenation patterns for the language {tag!r}")
    return str(name)


def _read_patterns(name: str) -> tuple[list[str], list[str]]:
    """Return the letters of all patterns of one file, such as ``hyph``, and the patterns: ``hy3ph``."""
    encoding, _, content = LANGUAGES[name].read_bytes().partition(b"\n")
    declared = encoding.decode("ascii").strip().lower()
    charset = "cp1251" if declared == "microsoft-cp1251" else declared
    content = _SETTINGS.sub(b"", b"\n" + content)
    if b"^^" in content:
        text = _HEX_CHARACTER.sub(lambda match: chr(int(match[1], 16)), content.decode(charset))
        content = text.encode(charset := "utf-8")
    if b"=" in content:  # A change of spelling at the hyphen follows the pattern: omaa1tje./=,2,1
        content = re.sub(rb"/.*=.*", b"", content)
    content = content.translate(None, b" \t\r") + _ADDED.get(name[:2], b"")
    patterns = content.decode(charset).split("\n")
    # The digits are taken from the whole file at once: one call instead of one for each pattern.
    return content.translate(None, b"0123456789").decode(charset).split("\n"), patterns


def mask_of(pattern: str) -> int:
    """Return the levels of a pattern as an integer: ten bits per place, a level as that many ones.

    Of two levels at one place the higher counts, and with ones in a row that is what ``|`` does.

    >>> bin(mask_of("3a")), bin(mask_of("a2b"))
    ('0b111', '0b110000000000')
    """
    mask = place = 0
    for letter in pattern:
        if letter in _ONES:
            mask |= _ONES[letter] << place
        else:
            place += _FIELD
    return mask


@lru_cache(maxsize=128)
def _odd_levels(places: int) -> int:
    """Return a mask of the odd levels at so many places in a row."""
    return _ODD_LEVELS * (((1 << _FIELD * places) - 1) // ((1 << _FIELD) - 1))


class Hyphenation:
    """The places where the words of one language may be hyphenated (Liang 1983).

    Finds the places that ``pyphen.Pyphen`` finds. pyphen takes 0.4 s to read the German patterns and
    about 20 microseconds a word, which would be most of the time of a German page. Here one automaton finds
    all patterns of a word, and a pattern is taken apart only when a word has it.
    """

    def __init__(self, name: str) -> None:
        listed, self._patterns = _read_patterns(name)
        self._masks: list[int | None] = [None] * len(listed)
        automaton = ahocorasick.Automaton(ahocorasick.STORE_INTS)
        add = automaton.add_word
        for number, (letters, pattern) in enumerate(zip(listed, self._patterns, strict=True)):
            # A line without a digit raises no level, and takes the place of none with the same letters.
            if letters and letters != pattern:
                add(letters, number << _LENGTH_BITS | len(letters) - 1)
        automaton.make_automaton()
        self._found_in = automaton.iter

    def _levels(self, word: str) -> int:
        """Return the highest level at each place of a word between dots, as `mask_of` packs them."""
        masks = self._masks
        levels = 0
        for end, found in self._found_in(word):
            mask = masks[found >> _LENGTH_BITS]
            if mask is None:
                number = found >> _LENGTH_BITS
                mask = masks[number] = mask_of(self._patterns[number])
            levels |= mask << _FIELD * (end - (found & _LENGTH))
        return levels

    def _hyphens(self, word: str, left: int, right: int) -> int:
        """Return a bit wherever a hyphen may stand: an odd level allows it, an even one forbids it."""
        places = len(word) - right - left + 1
        if places <= 0:
            return 0
        levels = self._levels(f".{word}.") >> _FIELD * (left + 1)
        highest = levels & ~(levels >> 1)
        return highest & _odd_levels(places)

    def count(self, word: str, left: int = 2, right: int = 2) -> int:
        """Return in how many places a lower-case word may be hyphenated.

        At least `left` and `right` letters stay together at its ends.

        >>> Hyphenation("en_US").count("hyphenation")
        2
        """
        return self._hyphens(word, left, right).bit_count()


@cache
def hyphenation(name: str) -> Hyphenation:
    """Return the patterns of that name, read on first use."""
    return Hyphenation(name)


class PronouncingDictionary:
    """Number of syllables of English words, from the CMU Pronouncing Dictionary.

    The file is a hash table searched in place: one bytes object of 1.3 MB instead of a Python dict of
    126,000 strings, which costs ten times the memory and twenty times the time to load in each worker.

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
    """Return the dictionary, read on first use."""
    return PronouncingDictionary()


def primary(language: str) -> str:
    """Return the primary subtag of a language tag, in lower case (``en`` of ``en-GB`` and ``en_GB``)."""
    return re.split("[-_]", language.strip().lower(), maxsplit=1)[0]


def patterns_of(language: str) -> str:
    """Return the name of the hyphenation patterns that serve a language, or of the language without any."""
    root = primary(language)
    return root if root in _BY_VOWELS else patterns_name(_DEFAULT_TAGS.get(language.lower(), language))


def syllable_counter(language: str) -> Callable[[str], int]:
    """Return the function that counts the syllables of a lower-case word of the language."""
    return _counter(patterns_of(language))


@cache
def _counter(patterns: str, max_length: int = 1000) -> Callable[[str], int]:
    if vowels := _BY_VOWELS.get(patterns):
        return lambda word: max(1, len(vowels.findall(word)))
    if primary(patterns) == "en":
        return _english
    hyphens = hyphenation(patterns).count

    def by_patterns(word: str) -> int:
        if len(word) <= max_length:
            return hyphens(word) + 1
        # No word, but an encoded picture, say: estimated from its beginning, so that its cost is bounded.
        return round((hyphens(word[:max_length]) + 1) * len(word) / max_length)

    return by_patterns


def _english(word: str) -> int:
    if not word.isascii():
        word = _ACCENTS.sub("", normalized(word, "NFD"))
    listed = pronouncing_dictionary().get(word)
    return by_vowels(word) if listed is None else listed


def by_vowels(word: str) -> int:
    """Return the syllables of a lower-case English word by its vowels alone.

    >>> by_vowels("webpage"), by_vowels("blockchain"), by_vowels("mcbride"), by_vowels("xyz"), by_vowels("4k")
    (2, 2, 2, 1, 1)
    """
    heard, silent, divided = (len(found.findall(word)) for found in (_VOWELS, _SILENT, _DIVIDED))
    return max(1, heard - silent + divided)


def syllables(word: str, language: str = "en") -> int:
    """Return the number of syllables of one word.

    For English the vowels of the word's first pronunciation in the CMU Pronouncing Dictionary (zero for
    "hmm"), and for words that it lacks the groups of vowels that are heard; for other languages the
    hyphenation places plus one, as textstat counts them. Punctuation other than the
    apostrophe is not heard.

    >>> syllables("rhythm"), syllables("Analytics"), syllables("Lesbarkeit", "de")
    (2, 4, 3)
    """
    # Lower case of the dotted capital I brings a combining dot, which is no part of a word to textstat.
    heard = _NOT_IN_WORDS.sub("", word.lower())
    return syllable_counter(language)(heard) if heard else 0
