"""The rows of a run in Parquet parts of one folder: written part by part, read column by column.

`row_folder` writes them while a run goes on. `lazy_columns` makes columns of frames of them that hold no
values, and `audits.storage` opens them for a saved audit.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.core.operations.model import Dtype, Field
from webanalytics.core.operations.types import shape_of
from webanalytics.errors import reason
from webanalytics.runs.frames.arrow import (
    LAYOUT,
    Unreadable,
    arrow_table,
    declared,
    decoded,
    plain_values,
    unpacked,
)
from webanalytics.runs.frames.schema import is_missing
from webanalytics.runs.storage.store import (
    NAMED_DIGITS,
    DamagedPartError,
    Store,
    opened_parquet,
    refusal,
)

PART = re.compile(rf"rows-(\d{{6,}})-[0-9a-f]{{{NAMED_DIGITS}}}\.parquet")
"""Names of parts: later ones have higher numbers."""
KEY = "input_digest"
"""Column of the digests of inputs, by which a resumed run knows what it has."""
PART_ROWS = 2_048
"""Rows of a part."""
FRAME_ROWS = 512
"""Rows that are a frame at once while a part is made or read."""
BLOCK_BYTES = 32_000_000
"""About how many bytes of values are decoded at once."""
CACHED_BYTES = 48_000_000
"""Bytes of columns of parts that are kept for the next row that is asked for."""

Places: TypeAlias = npt.NDArray[np.int32]


class _Part(NamedTuple):
    """One part: its name and first row, what is known of its columns, and what its file says of itself."""

    name: str
    start: int
    rows: int
    kinds: Mapping[str, str]
    metadata: Any
    schema: Any


class RowParts:
    """The parts of one folder, in the order in which they were written."""

    def __init__(self, folder: Path, operation: str, names: Sequence[str] | None = None) -> None:
        self.folder, self.operation = folder, operation
        self._fields = declared(operation)
        self._store = Store(folder, "", PART)
        self._parts: list[_Part] = []
        self._chunks: OrderedDict[tuple[int, str], list[Any]] = OrderedDict()
        self._held = 0
        self._costs: dict[str, float] = {}
        for name in sorted(self._store.parts(), key=order_of) if names is None else names:
            try:
                self._open(name)
            except Unreadable:
                raise DamagedPartError(folder, name) from None

    def __reduce__(self) -> Any:
        return RowParts, (self.folder, self.operation, self.names)

    def __len__(self) -> int:
        return self._parts[-1].start + self._parts[-1].rows if self._parts else 0

    @property
    def names(self) -> list[str]:
        """Names of the parts."""
        return [part.name for part in self._parts]

    @property
    def starts(self) -> npt.NDArray[np.int64]:
        """Of each part the place of its first row."""
        return np.array([part.start for part in self._parts], dtype=np.int64)

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in the order of the frame."""
        return [name for name in self._parts[0].kinds if name != KEY] if self._parts else []

    def dtype(self, column: str) -> Dtype:
        """Return the dtype of a column in frames; a user's own is one of texts where all of it are."""
        field = self._fields.get(column)
        if field is not None:
            return field.dtype
        return "string" if all(part.kinds[column] == "string" for part in self._parts) else "object"

    def bytes_of(self, column: str) -> int:
        """Return about how many bytes a column takes as Python objects, judged by the first part."""
        if column not in self._costs and self._parts:
            sample = self._chunk(0, column, keep=False)
            self._costs[column] = sum(map(_object_bytes, sample)) / max(1, self._parts[0].rows)
        return int(self._costs.get(column, 0) * len(self))

    def table(self, frame: pd.DataFrame, keys: Sequence[str]) -> Any:
        """Return finished rows as an Arrow table: the frame's columns and the digests of their inputs."""
        return table_of_rows(frame, keys, self._fields)

    def write(self, tables: Sequence[Any]) -> None:
        """Write tables as the next part, or as several where their columns are of different types."""
        for table in joined(tables):
            number = 1 + max((order_of(name)[0] for name in self._store.parts()), default=0)
            name = self._store.write_part(f"rows-{number:06}", table)
            self._open(name)

    def _open(self, name: str) -> None:
        """Read what a part says of itself, and check it before any of its values are read."""
        with self._store.opened_part(name) as file, opened_parquet(file) as opened:
            text = (opened.schema_arrow.metadata or {}).get(LAYOUT, b"")
            try:
                kinds = {str(column): str(kind) for column, kind in json.loads(text)["columns"]}
            except (ValueError, KeyError, TypeError, RecursionError):
                raise Unreadable from None
            known = opened.schema_arrow.names
            if (
                list(kinds) != known
                or KEY not in kinds
                or (self._parts and set(kinds) != set(self._parts[0].kinds))
            ):
                raise Unreadable
            rows = opened.metadata.num_rows
            part = _Part(name, len(self), rows, kinds, opened.metadata, opened.schema_arrow)
        self._parts.append(part)

    def inputs(self) -> Iterator[tuple[str | None, str | None, str | None]]:
        """Yield the digest of each row's input, its status and the type of its error."""
        for number in range(len(self._parts)):
            columns = (self._chunk(number, name, keep=False) for name in (KEY, "status", "error_type"))
            yield from zip(*([v for a in chunk for v in plain_values(a)] for chunk in columns), strict=True)

    def lacking(self) -> list[str]:
        """Return the facts that no row has, as the frames of the parts say."""
        return _lacking([json.loads(part.metadata.metadata[LAYOUT]) for part in self._parts])

    def blocks(self, column: str, places: Places) -> Iterator[list[Any]]:
        """Yield the values at some rows in the order of these, a bounded number at once; None for missing."""
        size = self._block(column) if len(places) > FRAME_ROWS else FRAME_ROWS  # no sample for a few
        for start in range(0, len(places), size):
            yield self._gathered(column, places[start : start + size])

    def portions(self, places: Places) -> list[list[int]]:
        """Return which of the places are in one part after the other, in order; small parts together."""
        order = np.argsort(places, kind="stable")
        ends = np.searchsorted(places[order], [part.start + part.rows for part in self._parts])
        found: list[list[int]] = []
        start = 0
        for end in [*ends[:-1].tolist(), len(order)]:
            if end - start >= PART_ROWS or (end == len(order) and end > start):
                found.append(order[start:end].tolist())
                start = end
        return found

    def _block(self, column: str) -> int:
        a_row = max(1, self.bytes_of(column) // max(1, len(self)))
        return max(FRAME_ROWS, BLOCK_BYTES // a_row)

    def _gathered(self, column: str, places: Places) -> list[Any]:
        made = np.full(len(places), None, dtype=object)
        owners = np.searchsorted(self.starts, places, side="right") - 1
        numbers = np.unique(owners[places >= 0]).tolist()
        for number in numbers:
            mine = np.flatnonzero((owners == number) & (places >= 0))
            chunk = self._chunk(number, column, keep=False)
            self._fill(made, column, number, chunk, mine, places[mine] - self._parts[number].start)
        values: list[Any] = made.tolist()
        return values

    def _fill(
        self, made: Any, column: str, number: int, chunk: list[Any], targets: Any, offsets: Any
    ) -> None:
        import pyarrow as pa

        begin = 0
        for array in chunk:
            here = (offsets >= begin) & (offsets < begin + len(array))
            wanted = offsets[here] - begin
            if len(wanted):
                whole = len(wanted) == len(array) and bool((np.diff(wanted) == 1).all())
                chosen = array if whole else array.take(pa.array(wanted))
                for target, value in zip(
                    targets[here].tolist(), self._decoded(column, number, chosen), strict=True
                ):
                    made[target] = value
            begin += len(array)

    def value(self, column: str, place: int) -> Any:
        """Return the value of one row; None for a missing one."""
        number = int(np.searchsorted(self.starts, place, side="right")) - 1
        offset = place - self._parts[number].start
        for array in self._chunk(number, column, keep=True):
            if offset < len(array):
                return self._decoded(column, number, array.slice(offset, 1))[0]
            offset -= len(array)
        raise IndexError(place)

    def _decoded(self, column: str, number: int, array: Any) -> list[Any]:
        kind, field = self._parts[number].kinds[column], self._fields.get(column)
        try:
            if kind == "declared" and field is not None and field.dtype == "object":
                return decoded(array, shape_of(field.type))
            if kind == "string":
                return plain_values(array)
            cells = unpacked(array, kind, field, pd.RangeIndex(len(array)))
            return [None if is_missing(cell) else cell for cell in cells.tolist()]
        except (Unreadable, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise DamagedPartError(self.folder, self._parts[number].name) from None

    def _chunk(self, number: int, column: str, *, keep: bool) -> list[Any]:
        """Return one column of a part as arrays of at most `FRAME_ROWS`."""
        known = self._chunks.get((number, column))
        if known is not None:
            self._chunks.move_to_end((number, column))
            return known
        arrays = list(self._read(self._parts[number], column))
        if keep:
            self._chunks[number, column] = arrays
            self._held += sum(array.nbytes for array in arrays)
            while self._held > CACHED_BYTES and len(self._chunks) > 1:
                _, oldest = self._chunks.popitem(last=False)
                self._held -= sum(array.nbytes for array in oldest)
        return arrays

    def _read(self, part: _Part, column: str) -> Iterator[Any]:
        """Yield a column of a part, at most `FRAME_ROWS` at once."""
        read = 0
        try:
            with (
                self._store.opened_part(part.name, known=True) as file,
                opened_parquet(file, part.metadata) as opened,
            ):
                for batch in opened.iter_batches(FRAME_ROWS, columns=[column], use_threads=False):
                    read += len(batch)
                    yield batch.column(0)
        except OSError as error:
            raise refusal("folder", f"whose parts can be read: {reason(error)}") from None
        except Unreadable:
            raise DamagedPartError(self.folder, part.name) from None
        if read != part.rows:
            raise DamagedPartError(self.folder, part.name)


def table_of_rows(frame: pd.DataFrame, keys: Sequence[str], fields: Mapping[str, Field]) -> Any:
    """Return rows as an Arrow table of declared columns and the digests of their inputs."""
    rows = frame.reset_index(drop=True).assign(**{KEY: list(keys)})
    return arrow_table(rows, {**fields, KEY: Field(KEY, str, "Digest of a row's input.")})


def joined(tables: Sequence[Any]) -> Iterator[Any]:
    """Yield tables as one, or as several in their order where their columns are of different types."""
    import pyarrow as pa

    groups: list[list[Any]] = []
    for table in tables:
        if groups and _are_alike(groups[-1][0], table):
            groups[-1].append(table)
        else:
            groups.append([table])
    for group in groups:
        layouts = [_layout(table) for table in group]
        whole = layouts[0] | {"rows": sum(table.num_rows for table in group)}
        whole["attrs"] = {"webanalytics": {"lacking": _lacking(layouts)}}
        yield pa.concat_tables(group).replace_schema_metadata({LAYOUT: json.dumps(whole)})


def order_of(name: str) -> tuple[int, str]:
    """Return what parts are in the order of: that in which they were begun."""
    found = PART.fullmatch(name)
    return (int(found[1]) if found else 0), name


def _layout(table: Any) -> dict[str, Any]:
    layout: dict[str, Any] = json.loads(table.schema.metadata[LAYOUT])
    return layout


def _are_alike(first: Any, second: Any) -> bool:
    """Return whether the columns of two tables are stored in the same ways."""
    return (
        bool(first.schema.equals(second.schema)) and _layout(first)["columns"] == _layout(second)["columns"]
    )


def _lacking(layouts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the facts that no row of tables has."""
    found = [set(layout["attrs"].get("webanalytics", {}).get("lacking", ())) for layout in layouts]
    return sorted(set.intersection(*found)) if found else []


def _object_bytes(array: Any) -> int:
    """Return about how many bytes an array takes as Python objects."""
    return 64 * len(array) + 4 * int(array.nbytes)
