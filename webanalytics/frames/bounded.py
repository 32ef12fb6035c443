"""Parts of Parquet whose size as Python objects is known before there are any: small files hold gigabytes.

Repeated values take no room in a file. Texts are read as dictionaries of distinct values, so that they stay
small until they are counted; `webanalytics.frames.store` asks for the batches here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from webanalytics.frames.arrow import Unreadable
from webanalytics.frames.footers import chunks_of

_CELL, _VALUE, _TEXT, _LIST, _DICT = 24, 40, 64, 72, 240
"""Bytes of an empty cell while a column is made, a number, an empty text, an empty list, a small dict."""
_WORST = 104
"""Most bytes that become of one byte of JSON text: of `{},`, three."""
_PLAIN = ("primitive", "null", "decimal", "fixed_size_binary")
"""Types whose values take what they take in the file: no views of lists, no runs, no unions."""
_WRITTEN = (("{", _DICT), ("[", _LIST), (",", _TEXT))
"""Signs of JSON text and what they become: many columns hold such text."""


LARGEST_GROWTH = 2_000
"""How many times larger than its file a table may be as Python objects; hostile files grow more."""
GROWTH_ALLOWED = 256_000_000
"""Bytes that any table may take."""


def room_for(size: int) -> int:
    """Return how many bytes the rows of a file of a size may take as Python objects."""
    return LARGEST_GROWTH * size + GROWTH_ALLOWED


def batches_within(
    source: Any, rows: int, room: int, schema: Any = None, columns: list[str] | None = None
) -> Iterator[Any]:
    """Yield an open Parquet file's record batches of at most so many rows.

    Parameters
    ----------
    source : file
        Open for reading bytes.
    rows : int
        Most rows of a batch.
    room : int
        Bytes that its cells may take together as Python objects.
    schema : pyarrow.Schema, optional
        Which schema it must have.
    columns : list of str, optional
        Names of the columns that are read; by default all.

    Raises
    ------
    Unreadable
        For another schema, and where the cells would take more.
    pyarrow.ArrowException, OSError, ValueError
        For what is no Parquet file.
    """
    import pyarrow as pa
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(source) as file:
        plain = file.schema_arrow
        if schema is not None and not plain.equals(schema):
            raise Unreadable
        repeated = repeating_columns(file, source, room)
    source.seek(0)
    with parquet.ParquetFile(source, read_dictionary=repeated) as file:
        for batch in checked_batches(file, rows, room, columns):
            table = pa.Table.from_batches([batch])
            wanted = pa.schema([plain.field(name) for name in batch.schema.names], plain.metadata)
            yield from table.cast(wanted).to_batches() if repeated else [batch]


def checked_batches(file: Any, rows: int, room: int, columns: list[str] | None = None) -> Iterator[Any]:
    """Yield the batches of an open `ParquetFile`, of all columns or some, within so many bytes as objects."""
    groups = range(file.num_row_groups)  # no batch of several: pyarrow cannot join lists of dictionaries
    return within(
        (batch for group in groups for batch in file.iter_batches(rows, row_groups=[group], columns=columns)),
        room,
    )


def within(batches: Iterable[Any], room: int) -> Iterator[Any]:
    """Yield record batches that are valid, and take no more than so many bytes together as objects."""
    for batch in batches:
        batch.validate(full=True)  # texts that are no UTF-8 would fail where they are used
        room -= sum(map(cost_of, batch.columns))
        if room < 0:
            raise Unreadable
        yield batch


def repeating_columns(file: Any, source: Any, room: int) -> list[str]:
    """Return the paths of columns of texts that may repeat; refuse what the file's own figures forbid.

    Parameters
    ----------
    file : pyarrow.parquet.ParquetFile
        The file.
    source : file
        The same, open for reading bytes.
    room : int
        Bytes that its cells may take together as Python objects.
    """
    repeated: dict[str, None] = {}
    named = {file.schema.column(place).path for place in range(len(file.schema))}
    for chunk in chunks_of(source):
        room -= _CELL * chunk.values + chunk.size
        if room < 0:
            raise Unreadable
        if chunk.path not in named:  # damaged: what a chunk says of itself is another matter
            raise Unreadable
        if chunk.is_repeating:
            repeated[chunk.path] = None
    return list(repeated)


def cost_of(array: Any) -> int:
    """Return about how many bytes an array takes as Python objects.

    Raises
    ------
    Unreadable
        For a type that may hold a value more often than its bytes say.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    held: int = len(array) - array.null_count
    total = _CELL * len(array)
    if pa.types.is_dictionary(kind):
        sizes = pc.take(_sizes(array.dictionary), array.indices)
        return total + int(pc.sum(sizes).as_py() or 0)
    if _is_text(kind):
        return total + int(pc.sum(_sizes(array)).as_py() or 0)
    if pa.types.is_struct(kind):
        return total + _DICT * held + sum(cost_of(part) for part in array.flatten())
    if pa.types.is_map(kind):
        start: int = array.offsets[0].as_py()
        count: int = array.offsets[-1].as_py() - start
        inner = [
            part if len(part) == count else part.slice(start, count) for part in (array.keys, array.items)
        ]
        return total + _DICT * held + _LIST * count + sum(map(cost_of, inner))
    if any(check(kind) for check in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)):
        return total + _LIST * held + cost_of(array.flatten())
    if not any(getattr(pa.types, f"is_{name}")(kind) for name in _PLAIN):
        raise Unreadable
    return total + _VALUE * held + int(array.nbytes)


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    flat = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return _is_view(kind) or any(check(kind) for check in flat)


def _is_view(kind: Any) -> bool:
    return str(kind) in ("string_view", "binary_view")


def _sizes(texts: Any) -> Any:
    """Return for each text how many bytes it, or the JSON that it may be, takes as objects."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if _is_view(texts.type):  # a text may be in the file once, and a million rows may show it
        begun = np.frombuffer(texts.buffers()[1] or b"", np.int32)[::4]
        there = texts.is_valid().to_numpy(zero_copy_only=False)
        lengths = np.where(there, begun[texts.offset : texts.offset + len(texts)].astype(np.int64), 0)
        if lengths.sum() > GROWTH_ALLOWED:
            return pa.array(lengths * _WORST + _TEXT, mask=~there)
        # not by a cast, which follows the views of missing texts too, wherever they point to
        texts = pa.array(texts.to_pylist(), pa.large_binary())
    sizes = pc.add(pc.cast(pc.binary_length(texts), pa.int64()), _TEXT)
    for sign, cost in _WRITTEN:
        found = pc.cast(pc.count_substring(texts, sign), pa.int64())
        sizes = pc.add(sizes, pc.multiply(found, cost))
    return sizes
