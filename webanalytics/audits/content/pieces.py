"""The pieces of texts, what stands between two spaces: texts repeat them, and each is looked at once."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]
Look = Callable[[str], tuple[Iterable[int], tuple[int, ...]]]

WHITE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""White space as `str.split` knows it."""

_MOST_KNOWN = 2**23  # characters, of which each piece counts as some more
_OVERHEAD = 16
_BLOCK = 2**16  # bytes that are looked at together
_LONG = 2**8  # bytes from which on a piece has a hash that nobody can write another one for
_MASK = 2**64 - 1

# The hash of a piece is a polynomial of its bytes, modulo 2**64: sums of the powers of an odd number.
_STEP = 0x9E3779B97F4A7C15
_BYTES = np.random.default_rng().integers(1, 2**64, 256, np.uint64)  # what each byte counts as


def _powers(base: int) -> Numbers:
    powers = np.full(_BLOCK, base, np.uint64)
    powers[0] = 1
    return np.cumprod(powers)


_UP, _DOWN = _powers(_STEP), _powers(pow(_STEP, -1, 2**64))


def folded(text: str, blanks: str = WHITE) -> bytes:
    r"""Return a text in UTF-8 with one space between its pieces, and none around them.

    Examples
    --------
    >>> folded(" tea\n\u2003to  a "), folded("a\n\tb", "\t")
    (b'tea to a', b'a\n b')
    """
    table = np.arange(256, dtype=np.uint8)
    for blank in blanks:
        if blank.isascii():
            table[ord(blank)] = ord(" ")
        elif not text.isascii():
            text = text.replace(blank, " ")
    data = table[np.frombuffer(text.encode("utf-8", "replace"), np.uint8)]
    blank_at = data == ord(" ")
    blank_at[1:] &= blank_at[:-1]  # all but the first one of a row
    once: bytes = data[~blank_at].tobytes()
    return once.strip(b" ")


class Read(NamedTuple):
    """What is known of the pieces of a text."""

    values: Numbers  # those of all pieces in order, of 64 bits without a sign
    sizes: Numbers  # how many of them each piece has
    facts: list[Numbers]  # for each fact that of each piece


class Pieces(dict[int, int]):
    """The numbers of pieces by their hashes; ``look`` returns the values and ``facts`` facts of a new one.

    Examples
    --------
    >>> known = Pieces(lambda piece: ([ord(sign) for sign in piece], (len(piece),)), 1)
    >>> values, sizes, [lengths] = known.read(b"tea to a")
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
        self._spread(14)

    def _spread(self, bits: int) -> None:
        """Have so many places, by the first bits of hashes, of which each shows one that is known."""
        self._shift = np.uint64(64 - bits)
        self._hash_at, self._number_at = np.zeros(2**bits, np.uint64), np.zeros(2**bits, np.int32)
        hashes = np.fromiter(self, np.uint64, len(self))
        places = hashes >> self._shift
        self._hash_at[places] = hashes
        self._number_at[places] = np.arange(len(self))

    def _number(self, known: int, piece: bytes) -> int:
        number = self.get(known)
        if number is None:
            values, facts = self._look(piece.decode())
            self._values.extend(values)
            self._ends.append(len(self._values))
            for column, fact in zip(self._facts, facts, strict=True):
                column.append(fact)
            self._size += len(piece) + _OVERHEAD
            number = self[known] = len(self)
        return number

    def _numbers(self, block: bytes) -> Numbers:
        """Return the numbers of the pieces of a block."""
        if len(block) >= _BLOCK:  # which is one piece
            return np.array([self._number(hash(block) & _MASK, block)], np.int32)
        data = np.frombuffer(block, np.uint8)
        gaps = np.flatnonzero(data == ord(" "))
        starts, ends = np.concatenate(([0], gaps + 1)), np.concatenate((gaps, [len(data)]))
        sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(_BYTES[data] * _UP[: len(data)])))
        hashes = (sums[ends] - sums[starts]) * _DOWN[starts]
        for place in np.flatnonzero(ends - starts > _LONG).tolist():
            hashes[place] = hash(block[starts[place] : ends[place]]) & _MASK
        places = hashes >> self._shift
        numbers: Numbers = self._number_at[places]
        for place in np.flatnonzero(self._hash_at[places] != hashes).tolist():
            known = int(hashes[place])
            numbers[place] = self._number(known, block[starts[place] : ends[place]])
            self._hash_at[places[place]], self._number_at[places[place]] = known, numbers[place]
        if 4 * len(self) > len(self._hash_at):
            self._spread(len(self._hash_at).bit_length() + 1)
        return numbers

    def read(self, text: bytes) -> Read:
        """Return what is known of the pieces of a `folded` text."""
        if self._size > _MOST_KNOWN:  # texts that repeat little
            self._begin()
        numbers = np.concatenate([np.empty(0, np.int32), *map(self._numbers, _blocks(text))])
        ends = np.frombuffer(self._ends, np.int64)
        starts = ends[numbers]
        sizes = ends[numbers + 1] - starts
        places = np.repeat(starts + sizes - np.cumsum(sizes), sizes)
        places += np.arange(len(places))
        # an empty array has no buffer
        facts = [np.frombuffer(column or self._ends, np.int64)[numbers] for column in self._facts]
        return Read(np.frombuffer(self._values or array("Q", [0]), np.uint64)[places], sizes, facts)


def _blocks(text: bytes) -> Iterator[bytes]:
    """Yield the parts of a text, of whole pieces; a part that is not short is one piece."""
    start = 0
    while start < len(text):
        end = len(text) if len(text) - start < _BLOCK else text.rfind(b" ", start, start + _BLOCK)
        if end < 0:
            end = text.find(b" ", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1
