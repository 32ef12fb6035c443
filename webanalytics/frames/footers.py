"""What the end of a Parquet file says of its columns, read before pyarrow looks at them.

pyarrow ends the whole process where these figures contradict each other, as one flipped bit can make them:
its `FileMetaData.row_group` lets errors of C++ through. Reading values with pyarrow raises as it should, so
that only the figures are read here.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader
from typing import NamedTuple

from webanalytics.frames.arrow import Unreadable

LARGEST_FOOTER = 16_000_000
"""Most bytes of a footer; those of 200 columns take 50 kB."""
_MAGIC = b"PAR1"
_BYTE_ARRAY = 6
_DICTIONARIES = frozenset((2, 8))
"""PLAIN_DICTIONARY and RLE_DICTIONARY of ``Encoding``."""
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = range(1, 14)
_INTEGERS = frozenset((_I16, _I32, _I64))
_WIDTHS = {_TRUE: 0, _FALSE: 0, _BYTE: 1, _DOUBLE: 8, _UUID: 16}
_DEEPEST = 16


class Chunk(NamedTuple):
    """The values of one column in one row group, as a file describes them.

    Attributes
    ----------
    path : str
        Where the column is in the schema.
    values : int
        How many there are.
    size : int
        Bytes before compression.
    is_repeating : bool
        Whether they are texts that are stored once each.
    """

    path: str
    values: int
    size: int
    is_repeating: bool


def chunks_of(source: BufferedReader) -> Iterator[Chunk]:
    """Yield the column chunks of an open Parquet file, one in memory at a time.

    Raises
    ------
    Unreadable
        For what is no footer, or one that is too large.

    Notes
    -----
    The end of a file: https://parquet.apache.org/docs/file-format/; its structures: ``parquet.thrift`` of the
    format; their bytes: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
    """
    reader = _Reader(_footer(source))
    try:
        for number, kind in reader.fields():
            if (number, kind) == (4, _LIST):
                for _ in reader.structs():
                    yield from _row_group(reader)
            else:
                reader.skip(kind)
    except (IndexError, UnicodeDecodeError):
        raise Unreadable from None


def _footer(source: BufferedReader) -> bytes:
    size = source.seek(0, 2)
    if size < 12:
        raise Unreadable
    source.seek(size - 8)
    end = source.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != _MAGIC or length > min(size - 12, LARGEST_FOOTER):
        raise Unreadable
    source.seek(size - 8 - length)
    return source.read(length)


def _row_group(reader: _Reader) -> Iterator[Chunk]:
    for number, kind in reader.fields():
        if (number, kind) == (1, _LIST):
            for _ in reader.structs():
                yield _chunk(reader)
        else:
            reader.skip(kind)


def _chunk(reader: _Reader) -> Chunk:
    chunk = None
    for number, kind in reader.fields():
        if (number, kind) == (3, _STRUCT):
            chunk = _figures(reader)
        else:
            reader.skip(kind)
    if chunk is None:
        raise Unreadable
    return chunk


def _figures(reader: _Reader) -> Chunk:
    """Return what a ``ColumnMetaData`` says."""
    numbers: dict[int, int] = {}
    encodings: frozenset[int] = frozenset()
    path: list[str] = []
    for number, kind in reader.fields():
        if number in (1, 5, 6) and kind in _INTEGERS:
            numbers[number] = reader.integer()
        elif (number, kind) == (2, _LIST):
            encodings = frozenset(reader.integer() for _ in reader.items(_I32))
        elif (number, kind) == (3, _LIST):
            path = [reader.text() for _ in reader.items(_BINARY)]
        else:
            reader.skip(kind)
    if len(numbers) != 3 or numbers[5] < 0 or numbers[6] < 0:
        raise Unreadable
    repeating = numbers[1] == _BYTE_ARRAY and bool(encodings & _DICTIONARIES)
    return Chunk(".".join(path), numbers[5], numbers[6], repeating)


class _Reader:
    """Thrift's compact protocol: a place in the bytes, which every method moves on."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0
        self._depth = 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield the number and the type of each field of a structure; the caller reads or skips its value."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Unreadable
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self.integer()
            yield number, head & 15
        self._depth -= 1

    def structs(self) -> Iterator[int]:
        """Yield once for each structure of a list; the caller reads it."""
        return self.items(_STRUCT)

    def items(self, kind: int) -> Iterator[int]:
        """Yield once for each value of a list of a type; the caller reads it."""
        size, found = self._list()
        if size and found != kind:
            raise Unreadable
        yield from range(size)

    def integer(self) -> int:
        """Read a number: the sign is its lowest bit."""
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

    def text(self) -> str:
        """Read a text."""
        start = self._move(self._unsigned())
        return self._content[start : self._at].decode()

    def skip(self, kind: int) -> None:
        """Go past a value."""
        if kind in _WIDTHS:
            self._move(_WIDTHS[kind])
        elif kind in _INTEGERS:
            self._unsigned()
        elif kind == _BINARY:
            self._move(self._unsigned())
        elif kind in (_LIST, _SET):
            self._skip_list()
        elif kind == _STRUCT:
            for _, inner in self.fields():
                self.skip(inner)
        else:  # a map: the format has none
            raise Unreadable

    def _skip_list(self) -> None:
        size, kind = self._list()
        if kind in _WIDTHS:
            self._move(size * (_WIDTHS[kind] or 1))  # within a list a truth value takes a byte
            return
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Unreadable
        for _ in range(size):
            self.skip(kind)
        self._depth -= 1

    def _list(self) -> tuple[int, int]:
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._unsigned()
        if size > len(self._content) - self._at:  # each item takes a byte
            raise Unreadable
        return size, head & 15

    def _unsigned(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise Unreadable

    def _byte(self) -> int:
        byte = self._content[self._at]
        self._at += 1
        return byte

    def _move(self, count: int) -> int:
        """Go on by so many bytes, and return where they begin."""
        start, self._at = self._at, self._at + count
        if self._at > len(self._content):
            raise Unreadable
        return start
