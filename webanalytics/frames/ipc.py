"""Arrow IPC files (Feather version 2), read within the room that their size allows.

Compressed buffers say how large they become, and memory for it is taken before they are read: what they say
is added up first. Arrow's own readers have no such limit.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from webanalytics.frames.arrow import Unreadable
from webanalytics.frames.bounded import within

_MAGIC = b"ARROW1"
_BLOCK, _BUFFER = 24, 16
"""Bytes of a block in the footer and of a buffer in a message: File.fbs and Message.fbs of Arrow."""


def ipc_batches_within(content: bytes, room: int) -> Iterator[Any]:
    """Yield the record batches of an IPC file; the first item is its schema.

    Parameters
    ----------
    content : bytes
        The whole file.
    room : int
        Bytes that its buffers, and its cells as Python objects, may take.

    Raises
    ------
    Unreadable
        Where they would take more, and for types that could.
    pyarrow.ArrowException, OSError, ValueError
        For what is no IPC file.
    """
    import pyarrow as pa

    try:
        if _grown(content, room) > room:
            raise Unreadable
    except (struct.error, IndexError, OverflowError, EOFError):
        raise Unreadable from None
    with pa.ipc.open_file(pa.py_buffer(content)) as file:
        yield file.schema
        yield from within(map(file.get_batch, range(file.num_record_batches)), room)


def write_ipc(tables: Iterable[Any], path: Path) -> None:
    """Write tables of one schema to an IPC file without compression, which all readers can map."""
    import pyarrow as pa

    rest = iter(tables)
    first = next(rest)
    with pa.ipc.new_file(path, first.schema) as file:
        for table in chain([first], rest):
            file.write_table(table)


class _Table:
    """A table of FlatBuffers, whose fields are found by their numbers."""

    def __init__(self, data: bytes, place: int) -> None:
        self._data, self._place = data, place
        self._fields = place - self._number("<i", place)

    def _number(self, kind: str, place: int) -> int:
        if place < 0:
            raise Unreadable
        (found,) = struct.unpack_from(kind, self._data, place)
        return int(found)

    def _field(self, number: int) -> int | None:
        entry = 4 + 2 * number
        if entry >= self._number("<H", self._fields):
            return None
        offset = self._number("<H", self._fields + entry)
        return self._place + offset if offset else None

    def table(self, number: int) -> _Table | None:
        """Return the table in a field."""
        place = self._field(number)
        return None if place is None else _Table(self._data, place + self._number("<I", place))

    def pairs(self, number: int, size: int, layout: str) -> Iterator[tuple[int, ...]]:
        """Yield the structs of a size in a field, as numbers."""
        place = self._field(number)
        if place is None:
            return
        start = place + self._number("<I", place)
        for item in range(self._number("<I", start)):
            yield struct.unpack_from(layout, self._data, start + 4 + item * size)


def _grown(content: bytes, room: int) -> int:
    """Return how many bytes the buffers of a file take when they are decompressed; some, where too many."""
    import pyarrow as pa

    if content[:6] != _MAGIC or content[-6:] != _MAGIC or len(content) < 16:
        raise Unreadable
    (size,) = struct.unpack_from("<i", content, len(content) - 10)
    start = len(content) - 10 - size
    if not 8 <= start <= len(content) - 10:
        raise Unreadable
    footer = content[start:-10]
    root = _Table(footer, *struct.unpack_from("<I", footer))
    whole = pa.py_buffer(content)
    total = 0
    for field in (2, 3):  # dictionaries, record batches
        for offset, _, _, _ in root.pairs(field, _BLOCK, "<qiiq"):
            if not 0 <= offset < len(content):
                raise Unreadable
            total += _decompressed(pa.ipc.read_message(whole.slice(offset)))
            if total > room:
                return total
    return total


def _decompressed(message: Any) -> int:
    """Return how many bytes the buffers of a message take when they are decompressed."""
    data = message.metadata.to_pybytes()
    header = _Table(data, *struct.unpack_from("<I", data)).table(2)
    batch = header.table(1) if header is not None and message.type == "dictionary" else header
    body = message.body
    if batch is None or body is None or batch.table(3) is None:
        return 0 if body is None else int(body.size)
    view = memoryview(body)
    total = 0
    for offset, length in batch.pairs(2, _BUFFER, "<qq"):
        if not 0 <= offset <= offset + length <= len(view):
            raise Unreadable
        (becomes,) = struct.unpack_from("<q", view, offset) if length >= 8 else (0,)
        total += max(becomes, length)
    return total
