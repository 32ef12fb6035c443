"""Parts that vouch for themselves: digests of their blocks stand in front of the footer, and one of the end.

Whoever reads a few columns compares the blocks that these are in and no others. Readers of Parquet go to
values by their places, so that none of them looks at what is between the values and the footer.
"""

from __future__ import annotations

import hashlib
import os
import struct
from io import BufferedReader
from typing import Any, NamedTuple

from webanalytics.frames.arrow import Unreadable
from webanalytics.frames.footers import LARGEST_FOOTER
from webanalytics.frames.spans import Spans

BLOCK = 16_384
"""Bytes that have one digest."""
USUAL_END = 98_304
"""Bytes at the end of a file that are read at once: the seal and footer of 2,048 rows take about 70,000."""
MARK = b"webanalytics:sealed"
"""Ends a seal, and is a key in the footer behind it: one without the other is damage."""
_DIGEST = 16
"""Bytes of a SHA-256 that are kept."""
_CLOSING = struct.Struct(f"<I{_DIGEST}s{len(MARK)}s")
"""How many digests, the digest of the end, and the mark."""
_TAIL = 8
"""Bytes behind a footer: its length and the name of the format."""


class Seal(NamedTuple):
    """What a part vouches for.

    Attributes
    ----------
    start : int
        Bytes of values, which are in front of the seal.
    size : int
        Bytes of the file.
    blocks : bytes
        Digests of the blocks of values.
    end : bytes
        Digest of these digests and of what follows the seal.
    """

    start: int
    size: int
    blocks: bytes
    end: bytes


def marked(table: Any) -> Any:
    """Return a table whose file will say that it is sealed."""
    return table.replace_schema_metadata({**(table.schema.metadata or {}), MARK: b""})


def sealed(content: memoryview) -> bytes:
    """Return a Parquet file of a marked table with its seal."""
    start = len(content) - _TAIL - _length(content)
    blocks = b"".join(_digest(content[at : min(at + BLOCK, start)]) for at in range(0, start, BLOCK))
    end = content[start:]
    closing = _CLOSING.pack(len(blocks) // _DIGEST, _digest(blocks, end), MARK)
    return b"".join((content[:start], blocks, closing, end))


def seal_of(source: BufferedReader) -> tuple[Seal | None, bytes]:
    """Return the seal of an open file and what begins with it; no seal for files of earlier versions.

    Raises
    ------
    Unreadable
        For a file whose end is not as it was written, and what is no Parquet file.
    """
    size = source.seek(0, os.SEEK_END)
    end = _last(source, size, min(size, USUAL_END))
    behind = _TAIL + _length(end)
    if not _TAIL < behind <= min(size, LARGEST_FOOTER):
        raise Unreadable
    with_closing = behind + _CLOSING.size
    if with_closing > len(end):
        end = _last(source, size, min(size, with_closing))
    closing = end[-with_closing:-behind]
    if not closing.endswith(MARK):
        if MARK in end:
            raise Unreadable
        return None, b""
    count, digest, _ = _CLOSING.unpack(closing)
    whole = with_closing + count * _DIGEST
    start = size - whole
    if start < 0 or count != -(-start // BLOCK):
        raise Unreadable
    end = _last(source, size, whole) if whole > len(end) else end[-whole:]
    seal = Seal(start, size, end[: count * _DIGEST], digest)
    if _digest(seal.blocks, end[-behind:]) != digest:
        raise Unreadable
    return seal, end


class Sealed(Spans):
    """A sealed file of which every byte that is read is as it was written.

    Parameters
    ----------
    source : file
        The file, open for reading bytes.
    seal : Seal
        Its seal.
    end : bytes, optional
        What begins with the seal, where it has been read and compared.

    Raises
    ------
    Unreadable
        While it is read, for what was changed.
    """

    def __init__(self, source: BufferedReader, seal: Seal, end: bytes = b"") -> None:
        super().__init__(seal.size)
        self._source, self._seal, self._end = source, seal, end
        self._read = 0, memoryview(b"")

    def span(self, start: int, end: int) -> bytes | memoryview:
        """Return the bytes from one place to another, or those of them that are values."""
        if start < self._seal.start:
            return self._values(start, min(end, self._seal.start))
        if not self._end:
            found, self._end = seal_of(self._source)
            if found != self._seal:
                raise Unreadable
        return self._end[start - self._seal.start : end - self._seal.start]

    def _values(self, start: int, end: int) -> memoryview:
        first, content = self._read
        if not first <= start < end <= first + len(content):
            first, content = self._read = self._blocks(start // BLOCK, end // BLOCK + 1)
        return content[start - first : end - first]

    def _blocks(self, first: int, behind: int) -> tuple[int, memoryview]:
        """Return where blocks begin and what is in them."""
        start = first * BLOCK
        self._source.seek(start)
        content = memoryview(self._source.read(min(behind * BLOCK, self._seal.start) - start))
        digests = memoryview(self._seal.blocks)[first * _DIGEST : behind * _DIGEST]
        for number in range(len(digests) // _DIGEST):
            block = content[number * BLOCK : (number + 1) * BLOCK]
            if _digest(block) != digests[number * _DIGEST : (number + 1) * _DIGEST]:
                raise Unreadable
        return start, content


def _length(end: bytes | memoryview) -> int:
    """Return the bytes of the footer of a file, from its end."""
    return int.from_bytes(end[-_TAIL:-4], "little")


def _last(source: BufferedReader, size: int, count: int) -> bytes:
    source.seek(size - count)
    return source.read(count)


def _digest(*content: bytes | memoryview) -> bytes:
    made = hashlib.sha256()
    for piece in content:
        made.update(piece)
    return made.digest()[:_DIGEST]
