"""Terms by number, so that what pages say can be kept and compared as numbers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
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
STEP, MASK = 0x9E3779B97F4A7C15, 2**64 - 1


def term_hash(term: str) -> int:
    """Return the hash of a word or a phrase in this process."""
    found = 0
    for word in term.split(" "):
        found = (found + hash(word)) * STEP & MASK
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
        self._hashes = array("Q")
        for term in terms:
            self[term]

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        self._hashes.append(term_hash(term))
        return number

    @property
    def hashes(self) -> Numbers:
        """The hashes of the terms by their numbers."""
        return np.array(self._hashes, np.uint64)
