"""The pieces of texts, what stands between two spaces: texts repeat them, and each is looked at once."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]
Look = Callable[[str], tuple[Iterable[int], tuple[int, ...]]]

_MOST_KNOWN = 2**23  # characters, of which each piece counts as some more
_OVERHEAD = 16


class Read(NamedTuple):
    """What is known of the pieces of a text."""

    values: Numbers  # those of all pieces in order, of 64 bits without a sign
    sizes: Numbers  # how many of them each piece has
    facts: list[Numbers]  # for each fact that of each piece


class Pieces(dict[str, int]):
    """Pieces by number. ``look`` returns for one its values, as many as it has, and so many ``facts``.

    Examples
    --------
    >>> known = Pieces(lambda piece: ([ord(sign) for sign in piece], (len(piece),)), 1)
    >>> values, sizes, [lengths] = known.read("tea to a".split())
    >>> bytes(values.tolist()), sizes.tolist(), lengths.tolist()
    (b'teatoa', [3, 2, 1], [3, 2, 1])
    """

    def __init__(self, look: Look, facts: int) -> None:
        super().__init__()
        self._look, self._count = look, facts
        self._begin()

    def _begin(self) -> None:
        self.clear()
        self._values, self._ends = array("Q"), array("q", [0])
        self._facts = [array("q") for _ in range(self._count)]
        self._size = 0

    def __missing__(self, piece: str) -> int:
        values, facts = self._look(piece)
        self._values.extend(values)
        self._ends.append(len(self._values))
        for column, fact in zip(self._facts, facts, strict=True):
            column.append(fact)
        self._size += len(piece) + _OVERHEAD
        number = self[piece] = len(self)
        return number

    def read(self, pieces: list[str]) -> Read:
        """Return what is known of the pieces of a text."""
        if self._size > _MOST_KNOWN:  # texts that repeat little
            self._begin()
        numbers = np.fromiter(map(self.__getitem__, pieces), np.intp, len(pieces))
        ends = np.frombuffer(self._ends, np.int64)
        starts = ends[numbers]
        sizes = ends[numbers + 1] - starts
        places = np.repeat(starts + sizes - np.cumsum(sizes), sizes)
        places += np.arange(len(places))
        # an empty array has no buffer
        facts = [np.frombuffer(column or self._ends, np.int64)[numbers] for column in self._facts]
        return Read(np.frombuffer(self._values or array("Q", [0]), np.uint64)[places], sizes, facts)
