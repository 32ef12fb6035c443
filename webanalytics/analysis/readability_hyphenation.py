"""Hyphenation places by pyphen's pattern files, counted fast enough to do so for every word of a page."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from operator import itemgetter

from pyphen import LANGUAGES, language_fallback

# Lines of a pattern file that are no patterns: comments and settings of the hyphenation library.
_SETTINGS = re.compile(rb"^[ \t]*(?:[%#]|(?:COMPOUND)?(?:LEFT|RIGHT)HYPHENMIN).*\n?", re.MULTILINE)
_LEVELS = re.compile(r"(\d?)(\D?)")
_HEX_CHARACTER = re.compile(r"\^{2}([0-9a-f]{2})")

# Patterns up to this length are looked up together; longer ones only where their first letters stand.
_WINDOW = 4

# Most windows kept in memory: the German words of a hundred pages have about 20,000.
_MAX_WINDOWS = 60_000

# Bits for a level, which is a digit: nine ones at most, and a zero that parts it from the next.
_FIELD = 10
_ODD_LEVELS = 0b0101010101


def patterns_name(tag: str) -> str:
    """Return the name of the pattern file that serves a language tag.

    Raises
    ------
    LookupError
        For a language without hyphenation patterns.

    Examples
    --------
    >>> patterns_name("en-US"), patterns_name("de_CH"), patterns_name("es-MX")
    ('en_US', 'de_CH', 'es')
    """
    name = language_fallback(tag)
    if name is None:
        raise LookupError(f"no hyphenation patterns for the language {tag!r}")
    return str(name)


def _read_patterns(name: str) -> dict[str, str]:
    """Return letters to pattern for one file, such as ``hyph`` to ``hy3ph``."""
    encoding, _, content = LANGUAGES[name].read_bytes().partition(b"\n")
    declared = encoding.decode("ascii").strip().lower()
    charset = "cp1251" if declared == "microsoft-cp1251" else declared
    content = _SETTINGS.sub(b"", content)
    if b"^^" in content:
        text = _HEX_CHARACTER.sub(lambda match: chr(int(match[1], 16)), content.decode(charset))
        content = text.encode(charset := "utf-8")
    if b"=" in content:  # A change of spelling at the hyphen follows the pattern: omaa1tje./=,2,1
        content = re.sub(rb"/.*=.*", b"", content)
    content = content.translate(None, b" \t\r")
    patterns = content.decode(charset).split("\n")
    # The digits are taken from the whole file at once: one call instead of one for each pattern.
    letters = content.translate(None, b"0123456789").decode(charset).split("\n")
    # Lines without a digit are in it too: they raise no level.
    return dict(zip(letters, patterns, strict=True))


def levels_of(pattern: str) -> list[tuple[int, int]]:
    """Return the places between the letters of a pattern that have a level above zero, with that level.

    Examples
    --------
    >>> levels_of("hy3ph"), levels_of("4a1b")
    ([(2, 3)], [(0, 4), (1, 1)])
    """
    levels = [digit for digit, _ in _LEVELS.findall(pattern)]
    return [(offset, int(digit)) for offset, digit in enumerate(levels) if digit > "0"]


def mask_of(pattern: str) -> int:
    """Return the levels of a pattern as an integer, ten bits for each place, a level as so many ones.

    Of two levels at one place the higher counts, and with ones in a row that is what ``|`` does.

    Examples
    --------
    >>> bin(mask_of("3a")), bin(mask_of("a2b"))
    ('0b111', '0b110000000000')
    """
    return sum(((1 << level) - 1) << (_FIELD * offset) for offset, level in levels_of(pattern))


@lru_cache(maxsize=128)
def _odd_levels(places: int) -> int:
    """Return a mask of the odd levels at so many places in a row."""
    return _ODD_LEVELS * (((1 << _FIELD * places) - 1) // ((1 << _FIELD) - 1))


class _Masks(dict[str, int]):
    """Patterns taken apart, each when a word first has it."""

    def __init__(self, patterns: dict[str, str]) -> None:
        super().__init__()
        self._patterns = patterns

    def __missing__(self, letters: str) -> int:
        mask = self[letters] = mask_of(self._patterns[letters])
        return mask


class _Windows(dict[str, int]):
    """All patterns that begin at one place of a word and fit into the few letters that stand there."""

    def __init__(self, patterns: dict[str, str], masks: _Masks) -> None:
        super().__init__()
        self._patterns = patterns
        self._masks = masks

    def find(self, letters: str) -> int:
        """Return the mask of letters that were not met before, and keep it."""
        mask = 0
        for end in range(1, len(letters) + 1):
            if letters[:end] in self._patterns:
                mask |= self._masks[letters[:end]]
        if len(self) < _MAX_WINDOWS:
            self[letters] = mask
        return mask


class Hyphenation:
    """The places where the words of one language may be hyphenated (Liang 1983).

    Gives the positions that ``pyphen.Pyphen`` gives. pyphen takes 0.4 s to read the German patterns and
    about 20 microseconds a word, which would be most of the time of a German page. Here a pattern is
    taken apart only when a word has it, and all the short patterns at one place of a word are one
    look-up, for the same few letters stand in many words.

    Parameters
    ----------
    name
        Name of the patterns, as `patterns_name` gives it.
    """

    def __init__(self, name: str) -> None:
        self.patterns = _read_patterns(name)
        self._masks = _Masks(self.patterns)
        self._windows = _Windows(self.patterns, self._masks)
        # Sets of beginnings, made without a Python loop: reading 30,000 patterns must stay quick.
        self._starts = set(map(itemgetter(slice(_WINDOW + 1)), self.patterns))
        self._longer_starts = set(map(itemgetter(slice(_WINDOW + 2)), self.patterns))
        self._longest = max(map(len, self.patterns))

    def _levels(self, word: str) -> int:
        """Return the highest level at each place of a word between dots, as `mask_of` packs them."""
        known, starts = self._windows.get, self._starts
        levels = 0
        for start in range(len(word) - 1, -1, -1):
            beginning = word[start : start + _WINDOW + 1]
            mask = known(beginning[:_WINDOW])
            if mask is None:
                mask = self._windows.find(beginning[:_WINDOW])
            levels = levels << _FIELD | mask
            if beginning in starts and len(beginning) > _WINDOW:
                levels |= self._long_at(word, start, beginning)
        return levels

    def _long_at(self, word: str, start: int, beginning: str) -> int:
        patterns, masks = self.patterns, self._masks
        levels = masks[beginning] if beginning in patterns else 0
        if word[start : start + _WINDOW + 2] in self._longer_starts:
            for end in range(start + _WINDOW + 2, min(start + self._longest, len(word)) + 1):
                if (letters := word[start:end]) in patterns:
                    levels |= masks[letters]
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
        """Return how many places `positions` would name.

        Examples
        --------
        >>> Hyphenation("en_US").count("hyphenation")
        2
        """
        return self._hyphens(word, left, right).bit_count()

    def positions(self, word: str, left: int = 2, right: int = 2) -> list[int]:
        """Return where a lower-case word may be hyphenated.

        Parameters
        ----------
        word
            The word.
        left, right
            Letters that stay together at the beginning and at the end.

        Examples
        --------
        >>> Hyphenation("en_US").positions("hyphenation")
        [2, 6]
        """
        hyphens = self._hyphens(word, left, right)
        field = (1 << _FIELD) - 1
        return [
            place
            for place in range(left, len(word) - right + 1)
            if hyphens >> _FIELD * (place - left) & field
        ]


@cache
def hyphenation(name: str) -> Hyphenation:
    """Return the patterns of that name, read when they are first asked for."""
    return Hyphenation(name)
