"""Terms by number, so that what pages say can be kept and compared as numbers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]
"""Whole numbers, as small as they can be: terms of all pages are kept."""

LONGEST = 3
"""Most words of a term."""

LEAST = 2
"""How often a phrase must occur on a page to be a term of it."""

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


class Vocabulary(dict[str, int]):
    """Terms and their numbers; one that is asked for gets the next number.

    Examples
    --------
    >>> known = Vocabulary(["tea"])
    >>> known["green tea"], known["tea"], len(known.hashes)
    (1, 0, 2)
    """

    def __init__(self, terms: Iterable[str] = ()) -> None:
        super().__init__()
        self.names: list[str] = []
        self._hashes = array("Q")
        for term in terms:
            self[term]

    def __missing__(self, term: str) -> int:
        return self.number(term, term_hash(*map(word_hash, term.split(" "))))

    def number(self, term: str, known: int) -> int:
        """Return the number of a term whose hash is known."""
        number = self.setdefault(term, len(self.names))
        if number == len(self.names):
            self.names.append(term)
            self._hashes.append(known)
        return number

    @property
    def hashes(self) -> Numbers:
        """The hashes of the terms by their numbers."""
        return np.array(self._hashes, np.uint64)
