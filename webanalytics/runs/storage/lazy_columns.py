"""Columns of frames that hold no values: places of rows in Parquet parts, read when asked for.

A frame over `storage.parts` has such columns. They are columns as pandas knows them: rows are selected,
sorted and joined without reading, and whatever needs values gets those of an ordinary column.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray, ExtensionDtype

from webanalytics.runs.frames.schema import as_frame, make_series
from webanalytics.runs.storage.parts import Places, RowParts

HELD = frozenset(("integer", "float", "boolean"))
"""Dtypes of columns that a frame over parts has in memory."""
HELD_NAMES = frozenset(("status", "error_type", "error_key"))
"""Names of further ones, which have few different values."""


LARGEST_LIST = 32_000_000
"""Most bytes of a column that is a list while rules read it; a larger one is read anew each time."""
LISTS_BYTES = 64_000_000
"""Most bytes of all such lists."""


class StoredDtype(ExtensionDtype):
    """The dtype of a column whose values are in the parts of a folder."""

    na_value = np.nan

    def __init__(self, parts: RowParts, column: str) -> None:
        self.parts, self.column = parts, column

    @property
    def type(self) -> Any:  # type: ignore[override]
        """The type of its values."""
        return object

    @property
    def kind(self) -> Any:
        """The kind of its values as NumPy names it: U lets pandas offer `.str`, as for texts and lists."""
        return "U"

    @property
    def name(self) -> str:  # type: ignore[override]
        """What pandas shows."""
        return f"stored[{'str' if self.parts.dtype(self.column) == 'string' else 'object'}]"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StoredDtype):
            return isinstance(other, str) and other == self.name
        return self.parts is other.parts and self.column == other.column

    def __hash__(self) -> int:
        return hash((id(self.parts), self.column))

    @classmethod
    def construct_array_type(cls) -> Any:
        """Return the class of its arrays."""
        return StoredArray

    @classmethod
    def construct_from_string(cls, string: str) -> StoredDtype:
        """Refuse: no string says where the values are."""
        raise TypeError(f"a column cannot be made of the dtype {string!r}")


class StoredArray(ExtensionArray):
    """Rows of one column of `RowParts`; a place below 0 is that of a missing value."""

    def __init__(self, dtype: StoredDtype, places: Places) -> None:
        self._dtype, self._places = dtype, places

    @property
    def dtype(self) -> StoredDtype:
        """Where the values are."""
        return self._dtype

    def __len__(self) -> int:
        return len(self._places)

    @property
    def places(self) -> Places:
        """Which rows of the parts they are."""
        return self._places

    @property
    def nbytes(self) -> int:
        """Bytes in memory: those of the places."""
        return int(self._places.nbytes)

    @property
    def cost(self) -> int:
        """About how many bytes the values would take."""
        rows = max(1, len(self._dtype.parts))
        return self._dtype.parts.bytes_of(self._dtype.column) * len(self) // rows

    def values(self) -> Iterator[Any]:
        """Yield the values, a bounded number in memory at once; None for missing ones."""
        for block in self._dtype.parts.blocks(self._dtype.column, self._places):
            yield from block

    def value(self, row: int) -> Any:
        """Return one value, None for a missing one."""
        place = int(self._places[row])
        return None if place < 0 else self._dtype.parts.value(self._dtype.column, place)

    def in_memory(self) -> Any:
        """Return the ordinary array with the same values."""
        index = pd.RangeIndex(len(self))
        return make_series(list(self.values()), self._dtype.parts.dtype(self._dtype.column), index).array

    def __iter__(self) -> Iterator[Any]:
        return (np.nan if value is None else value for value in self.values())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        made = np.fromiter(self, object, len(self))
        return made if dtype is None else made.astype(dtype)

    def isna(self) -> Any:
        """Return which values are missing."""
        return np.fromiter((value is None for value in self.values()), bool, len(self))

    def astype(self, dtype: Any, copy: bool = True) -> Any:  # noqa: ARG002 - of pandas
        """Return an ordinary array of another dtype."""
        if isinstance(dtype, StoredDtype):
            return self
        return np.asarray(self, dtype=object) if dtype == np.dtype(object) else self.in_memory().astype(dtype)

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, (int, np.integer)):
            value = self.value(int(item))
            return np.nan if value is None else value
        checked = pd.api.indexers.check_array_indexer(self, item)
        return StoredArray(self._dtype, self._places[checked])

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None) -> StoredArray:  # noqa: ARG002
        """Return the rows at some places."""
        chosen = np.asarray(indices, dtype=np.intp)
        if not allow_fill:
            return StoredArray(self._dtype, self._places[chosen])
        if (chosen < -1).any() or (len(chosen) and not len(self) and (chosen >= 0).any()):
            raise (ValueError if (chosen < -1).any() else IndexError)("places of rows must be -1 or above")
        made = np.full(len(chosen), -1, dtype=np.int32)
        made[chosen >= 0] = self._places[chosen[chosen >= 0]]
        return StoredArray(self._dtype, made)

    def copy(self) -> StoredArray:
        """Return an equal array; the values are never changed."""
        return StoredArray(self._dtype, self._places)

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[StoredArray]) -> StoredArray:
        return cls(to_concat[0]._dtype, np.concatenate([part._places for part in to_concat]))

    @classmethod
    def _from_sequence(cls, scalars: Any, *, dtype: Any = None, copy: bool = False) -> Any:  # noqa: ARG003
        values = [None if isinstance(value, float) and value != value else value for value in scalars]
        kind = (
            "object"
            if dtype is None or not isinstance(dtype, StoredDtype)
            else dtype.parts.dtype(dtype.column)
        )
        return make_series(values, kind, pd.RangeIndex(len(values))).array

    @classmethod
    def _from_factorized(cls, values: Any, original: StoredArray) -> Any:
        return cls._from_sequence(values, dtype=original._dtype)

    def _values_for_factorize(self) -> tuple[Any, Any]:
        return np.asarray(self, dtype=object), np.nan

    def _values_for_argsort(self) -> Any:
        return self.in_memory()._values_for_argsort()

    def argsort(self, **options: Any) -> Any:
        """Return the order of the values."""
        return self.in_memory().argsort(**options)

    def fillna(self, *args: Any, **options: Any) -> Any:
        """Return an ordinary array without missing values."""
        return self.in_memory().fillna(*args, **options)

    def _where(self, mask: Any, value: Any) -> Any:
        kept = np.asarray(mask, dtype=bool)
        if pd.api.types.is_scalar(value) and pd.isna(value):
            return StoredArray(self._dtype, np.where(kept, self._places, np.int32(-1)))
        made = np.asarray(self, dtype=object)
        made[~kept] = value if pd.api.types.is_scalar(value) else np.asarray(value, dtype=object)[~kept]
        return self._from_sequence(made, dtype=self._dtype)

    def _reduce(self, name: str, **options: Any) -> Any:
        return self.in_memory()._reduce(name, **options)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(
            f"The column `{self._dtype.column}` is in a folder; assign a whole column to change its values."
        )

    def _explode(self) -> tuple[Any, Any]:  # what `explode` calls
        items = pd.Series(self.in_memory()).explode()
        return items.array, np.bincount(items.index, minlength=len(self))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_str_"):  # what the accessor `.str` calls
            return getattr(self.in_memory(), name)
        raise AttributeError(name)


def _compared(name: str) -> Callable[[StoredArray, Any], Any]:
    operation = getattr(operator, name)

    def method(self: StoredArray, other: Any) -> Any:
        if isinstance(other, (pd.Series, pd.Index, pd.DataFrame)):
            return NotImplemented
        return operation(self.in_memory(), other.in_memory() if isinstance(other, StoredArray) else other)

    return method


for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__add__"):
    setattr(StoredArray, _name, _compared(_name))


class _Values(Sequence[Any]):
    """The values of a column as rules see them: None for missing ones, few of them held at a time."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, row: int | slice) -> Any:
        return self._part(row) if isinstance(row, slice) else self._value(range(len(self))[row])

    def _part(self, rows: slice) -> list[Any]:
        raise NotImplementedError

    def _value(self, row: int) -> Any:
        raise NotImplementedError


class StoredValues(_Values):
    """Those of an array in a folder, one by one."""

    def __iter__(self) -> Iterator[Any]:
        yield from self._column.values()

    def _part(self, rows: slice) -> list[Any]:
        return list(self._column[rows].values())

    def _value(self, row: int) -> Any:
        return self._column.value(row)


class TextValues(_Values):
    """Those of a column of texts in memory, of which a thousand at a time are Python's."""

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), 1_000):
            yield from self._part(slice(start, start + 1_000))

    def _part(self, rows: slice) -> list[Any]:
        return cells(self._column.iloc[rows])

    def _value(self, row: int) -> Any:
        found = self._column.array[row]
        return found if isinstance(found, str) else None


def cells(column: pd.Series) -> list[Any]:
    """Return the values of a column in memory, None for missing ones."""
    found = column.to_numpy(object, copy=True)
    found[column.array.isna()] = None
    return found.tolist()


class ColumnValues:
    """Values of columns as rules see them: small ones as lists, within a budget, large ones one by one."""

    def __init__(self, budget: int | None = None) -> None:
        self._budget = LISTS_BYTES if budget is None else budget
        self._lists: OrderedDict[str, tuple[int, list[Any]]] = OrderedDict()
        self._held = 0

    def of(self, name: str, array: StoredArray) -> Sequence[Any]:
        """Return the values of a stored column."""
        if (known := self._lists.get(name)) is not None:
            self._lists.move_to_end(name)
            return known[1]
        cost = array.cost
        if cost > LARGEST_LIST:
            return StoredValues(array)
        values = list(array.values())
        self._lists[name] = cost, values
        self._held += cost
        while self._held > self._budget:
            _, (freed, _) = self._lists.popitem(last=False)
            self._held -= freed
        return values


def stored(column: pd.Series) -> StoredArray | None:
    """Return the array of a column whose values are in a folder, None for any other column."""
    array = column.array
    return array if isinstance(array, StoredArray) else None


def values_of_column(column: pd.Series) -> Iterator[Any]:
    """Yield the values of any column; of one in a folder a bounded number are in memory at once."""
    array = stored(column)
    return iter(column.astype(object).tolist()) if array is None else iter(array)


def frame_over(
    parts: RowParts, places: Places, index: pd.Index, given: pd.Series, lacking: Sequence[str] = ()
) -> pd.DataFrame:
    """Return a frame of some rows of parts, with the inputs as given, and the facts that no row has."""
    columns: dict[str, pd.Series] = {}
    for name in parts.columns:
        dtype = parts.dtype(name)
        if name == given.name:
            columns[name] = given
        elif dtype in HELD or name in HELD_NAMES:
            values = [value for block in parts.blocks(name, places) for value in block]
            columns[name] = make_series(values, dtype, index)
        else:
            columns[name] = stored_column(parts, name, places, index)
    frame = as_frame(columns, index, parts.operation)
    if lacking:
        frame.attrs["webanalytics"]["lacking"] = list(lacking)
    return frame


def stored_column(parts: RowParts, name: str, places: Places, index: pd.Index) -> pd.Series:
    """Return a column of some rows of parts, of which nothing is read."""
    return pd.Series(StoredArray(StoredDtype(parts, name), places), index=index, name=name)


def parts_of(frame: pd.DataFrame) -> RowParts | None:
    """Return the parts that columns of a frame are read from, None for a frame in memory."""
    for dtype in frame.dtypes:
        if isinstance(dtype, StoredDtype):
            return dtype.parts
    return None


def rows_by_part(frame: pd.DataFrame) -> list[list[int]]:
    """Return the rows of a frame part by part, small parts together; none of a frame in memory."""
    for name, dtype in frame.dtypes.items():
        if isinstance(dtype, StoredDtype):
            array: Any = frame[name].array
            return dtype.parts.portions(array.places)
    return []


def held(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with all its values in memory; one that has them is returned as it is."""
    places = [place for place, dtype in enumerate(frame.dtypes) if isinstance(dtype, StoredDtype)]
    if not places:
        return frame
    made = frame.copy()
    for place in places:  # by position, as a name may occur twice
        column: Any = frame.iloc[:, place]
        made.isetitem(place, column.array.in_memory())
    return made
