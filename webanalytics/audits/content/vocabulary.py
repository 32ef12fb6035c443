"""The terms of pages as numbers of a vocabulary, by hashes that are the same in every process."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]
"""Whole numbers, as small as they can be: terms of all pages are kept."""

LEAST = 2
"""How often a phrase must occur on a page to be a term of it."""

LONGEST = 3
"""Most words of a term."""

# The hash of a phrase is a polynomial of those of its words, modulo 2**64; an odd number without a pattern.
STEP, _MASK = 0x9E3779B97F4A7C15, 2**64 - 1


def word_hash(word: str) -> int:
    """Return a hash of a word of 64 bits that is the same in every process."""
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def term_hash(*words: int) -> int:
    """Return the hash of a word or a phrase, by those of its words."""
    found = 0
    for word in words:
        found = (found + word) * STEP & _MASK
    return found


class Vocabulary(dict[int, int]):
    """Terms and their numbers, which are found by the terms' hashes; a new one gets the next number.

    Examples
    --------
    >>> known = Vocabulary(["tea"])
    >>> known.of("green tea"), known.of("tea"), known.names
    (1, 0, ['tea', 'green tea'])
    """

    def __init__(self, terms: Iterable[str] = ()) -> None:
        super().__init__()
        self.names: list[str] = []
        self._hashes = array("Q")
        for term in terms:
            self.of(term)

    def of(self, term: str) -> int:
        """Return the number of a term."""
        return self.number(term, term_hash(*map(word_hash, term.split(" "))))

    def number(self, term: str, known: int) -> int:
        """Return the number of a term whose hash is known."""
        number = self.setdefault(known, len(self.names))
        if number == len(self.names):
            self.names.append(term)
            self._hashes.append(known)
        return number

    def numbers(self, terms: Iterable[str], hashes: Numbers) -> Numbers:
        """Return the numbers of terms whose hashes are known."""
        known = hashes.tolist()
        numbers = zip(map(self.get, known), terms, known, strict=True)
        found = [self.number(term, of) if number is None else number for number, term, of in numbers]
        return np.array(found, np.int32)

    @property
    def hashes(self) -> Numbers:
        """The hashes of the terms by their numbers."""
        return np.array(self._hashes, np.uint64)


class PageTerms(NamedTuple):
    """The terms of one page: its words, and the phrases that it has twice or more."""

    terms: Numbers  # their numbers in a vocabulary: by falling frequency, then first appearance
    counts: Numbers  # how often each occurs
    words: Numbers  # how many words each has
    whole: npt.NDArray[np.bool_]  # whether each stands for itself, and not only within one longer phrase
    totals: Numbers  # by words of a term: all words of the page, all runs of two, and so on; the first is 0
    once: Numbers  # hashes of the phrases that the page has once: they are terms of other pages only
    # whether each term stands in a place, which is missing where that is not known
    places: dict[str, npt.NDArray[np.bool_]]
    row: int = 0  # of the page in the audit
    name: str = ""  # its address
    language: str = ""  # that its text was read in

    @property
    def sizes(self) -> Numbers:
        """Of how many words or phrases each term is one."""
        return self.totals[self.words]

    def only(self, keep: npt.NDArray[np.bool_]) -> PageTerms:
        """Return some of its terms."""
        if keep.all():
            return self
        terms, counts, words, whole = (column[keep] for column in self[:4])
        places = {place: known[keep] for place, known in self.places.items()}
        return self._replace(terms=terms, counts=counts, words=words, whole=whole, places=places)
