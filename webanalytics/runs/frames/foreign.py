"""Tables and columns of other libraries, and dicts -> pandas, without importing those libraries.

A table of polars or Arrow has no index and no attrs, maps may be pairs, and free JSON is text: names and
values say what a column was. The way back is `frames.kinds`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from webanalytics.core.operations.model import Dtype
from webanalytics.core.operations.types import Shape, shape_of
from webanalytics.errors import ParameterError
from webanalytics.operations import AUDIT_PAGES, OPERATIONS, Field
from webanalytics.runs.frames.arrow import ADDED, LAYOUT, Unreadable, declared, frame_of, is_free
from webanalytics.runs.frames.schema import ERROR_COLUMNS, STATUS, frame_fields, make_series

ROW = Field("row", int, "Which row of the inputs it belongs to, from 0: what pandas has in the index.")
"""First column of frames with several rows for an input, outside of pandas."""
SEVERAL = frozenset(("keywords",))
"""Functions whose frames have several rows for an input."""


def fields_by_name() -> dict[str, list[Field]]:
    """Return the declared columns of all functions by name: `keywords` is a text or a map."""
    found: dict[str, list[Field]] = {}
    for name in ("audit", "sitemap", *OPERATIONS):
        for key, field in declared(name).items():
            known = found.setdefault(key, [])
            if field.type not in (one.type for one in known):
                known.append(field)
    return found


def read_cells(cells: list[Any], field: Field) -> list[Any]:
    """Return plain values of a table as those of a declared column.

    >>> read_cells([[("tea", 2)], {"tea": 2}, None], Field("keywords", dict[str, int], "Words."))
    [{'tea': 2}, {'tea': 2}, None]
    """
    shape = shape_of(field.type)
    code = json.loads if is_free(shape) else _reader(shape)
    return [None if cell is None else code(cell) for cell in cells]


def _reader(shape: Shape) -> Callable[[Any], Any]:
    """Return the way back of `cell_coder`, for one value of any library; `decoded` reads Arrow by columns."""
    if shape.members is not None:
        inner = [(name, _reader(member), required) for name, (member, required) in shape.members.items()]

        def members(value: Any) -> Any:
            if not isinstance(value, dict):
                return value
            found = ((name, read(value[name]), required) for name, read, required in inner)
            return {name: item for name, item, required in found if required or item is not None}

        return members
    if shape.items is None:
        return lambda value: value
    read = _reader(shape.items)
    if shape.kind == "map":
        return lambda value: None if value is None else {key: read(item) for key, item in _pairs(value)}
    return lambda value: [read(item) for item in value] if isinstance(value, list) else value


def _pairs(entries: Any) -> list[tuple[Any, Any]]:
    """Return the entries of a map: pairs of pyarrow, a dict of polars, records of what knows no maps."""
    if isinstance(entries, dict):
        return list(entries.items())
    return [(item["key"], item["value"]) if isinstance(item, dict) else item for item in entries]


def made_by(names: Collection[str]) -> str | None:
    """Return the function whose frames have these columns, maybe among others.

    >>> made_by(["message", "status", "hmac", "algorithm", "encoding", "error", "error_type"])
    'hmac'
    """
    there = set(names)
    state = {field.name for field in (STATUS, *ERROR_COLUMNS)}
    if not state <= there:
        return None
    if {field.column_name for field in frame_fields(AUDIT_PAGES)} <= there:
        return "audit"
    for name in ("sitemap", *OPERATIONS):
        if {field.column_name for field in _own(name) if not field.extra} <= there:
            return name
    return None


def _own(name: str) -> Sequence[Field]:
    """Return the columns by which the frames of a function are known."""
    if name in SEVERAL:
        return ADDED[name][:3]
    return tuple(OPERATIONS[name].columns if name in OPERATIONS else declared(name).values())


def attrs_of(table: Any) -> dict[str, Any]:
    """Return the attrs of the frame that an Arrow table, or the one whose rows it has, was made of."""
    text = (table.schema.metadata or {}).get(LAYOUT, b"")
    return dict(json.loads(text)["attrs"]) if text else {}


def with_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame without an index: what only the index said is in a column."""
    index = frame.index
    numbered = index.nlevels == 1 and index.name is None and pd.api.types.is_integer_dtype(index.dtype)
    if numbered and frame.attrs.get("webanalytics", {}).get("operation") not in SEVERAL:
        return frame.reset_index(drop=True)
    return frame.reset_index(names=ROW.name) if numbered else frame.reset_index()


def with_row_labels(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of `with_rows` with the numbers of its inputs in the index again."""
    made = frame.attrs.get("webanalytics")
    several = isinstance(made, Mapping) and made.get("operation") in SEVERAL
    if not several or list(frame.columns).count(ROW.name) != 1 or not frame[ROW.name].notna().all():
        return frame
    if not pd.api.types.is_integer_dtype(frame[ROW.name].dtype):
        return frame
    rows = pd.Index(frame[ROW.name].astype("int64").to_numpy())
    return frame.drop(columns=ROW.name).set_axis(rows, axis=0)


Kind: TypeAlias = Literal["polars", "pyarrow"]
"""Libraries whose tables a call that is given them returns."""

_ARROW = ("__arrow_c_stream__", "__arrow_c_array__")
_FAR_AWAY = ("compute", "collect", "toPandas")
"""Methods of tables that are on a cluster or not computed yet: whoever has one should know what it costs."""
_WRONG = (Unreadable, TypeError, ValueError, KeyError, AttributeError, OverflowError, RecursionError)
"""What reading a table raises that is not one of this package."""
_DTYPES: dict[type, Dtype] = {str: "string", int: "integer", float: "float", bool: "boolean"}


_PLAIN = (type(None), str, bytes, bytearray, list, set, Path, pd.DataFrame, pd.Series, pd.Index)
"""What Python and pandas have: nothing else is asked about it."""


def is_plain(inputs: Any) -> bool:
    """Return whether inputs are texts, a list of Python or a frame of pandas.

    >>> is_plain(["https://a.example/"]), is_plain(pd.DataFrame()), is_plain({"a": "https://a.example/"})
    (True, True, False)
    """
    return type(inputs) is tuple or isinstance(inputs, _PLAIN)  # a parsed address is a tuple of its parts


def kind_of(inputs: Any) -> Kind | None:
    """Return the library in whose tables a caller works; None for pandas, and for what is no table."""
    if isinstance(inputs, (pd.DataFrame, pd.Series, pd.Index, str, bytes, list, tuple, dict)):
        return None
    if not any(_has(inputs, name) for name in _ARROW) or isinstance(inputs, type):
        return None
    return "polars" if type(inputs).__module__.partition(".")[0] == "polars" else "pyarrow"


def as_pandas(inputs: Any, parameter: str) -> Any:
    """Return a table as a DataFrame, a column or a dict of label to input as a Series, all else unchanged."""
    if isinstance(inputs, (pd.DataFrame, pd.Series, pd.Index, str, bytes, list, tuple)):
        return inputs
    if isinstance(inputs, Mapping):
        return labelled(inputs)
    if isinstance(inputs, np.ndarray) and inputs.ndim != 1:
        raise ParameterError.must_be(parameter, f"an array of one dimension, not of {inputs.ndim}")
    if _is_column(inputs):
        return pd.Series(_objects(_listed(inputs)), dtype=object)
    if is_table(inputs):
        return _as_frame(inputs, parameter)
    return inputs


def labelled(inputs: Mapping[Any, Any]) -> pd.Series:
    """Return a dict of label to input as a Series."""
    return pd.Series(_objects(inputs.values()), index=pd.Index(list(inputs)), dtype=object)


def plain_value(value: Any) -> Any:
    """Return a value as Python has it: scalars of pyarrow and parsed URLs unpacked."""
    for unpack in ("as_py", "geturl"):
        method = getattr(value, unpack, None)
        if callable(method):
            return method()
    return value


def _objects(values: Iterable[Any]) -> np.ndarray[Any, Any]:
    return np.fromiter(values, dtype=object)  # `np.array` would make a matrix of a list of lists


def is_table(inputs: Any) -> bool:
    """Return whether it has named columns, in any library."""
    names = ("columns", "column_names", "__dataframe__", *_ARROW)
    return not isinstance(inputs, type) and any(_has(inputs, name) for name in names)


def _has(value: Any, name: str) -> bool:
    """Return whether a value has an attribute, without computing a property, which may take long."""
    return inspect.getattr_static(value, name, None) is not None


def _is_column(inputs: Any) -> bool:
    """Return whether it is a column of Arrow or polars: those have a list of their values, and no columns."""
    if _has(inputs, "columns") or _has(inputs, "column_names") or isinstance(inputs, type):
        return False
    return _has(inputs, "to_pylist") or (_has(inputs, "to_list") and _has(inputs, "dtype"))


def _listed(column: Any) -> list[Any]:
    method = getattr(column, "to_pylist", None) or column.to_list
    return list(method())


def _as_frame(table: Any, parameter: str) -> pd.DataFrame | pd.Series:
    kind = f"{type(table).__module__.partition('.')[0]}'s {type(table).__name__}"
    far = next((name for name in _FAR_AWAY if _has(table, name)), None)
    if far is not None:
        raise ParameterError.must_be(
            parameter, f"a table on this machine, not {kind}: call its `{far}()` first"
        )
    for convert in (_by_columns, _by_arrow, _by_method):
        with suppress(Exception):  # another library's code: the next way may work
            found = convert(table)
            if isinstance(found, (pd.DataFrame, pd.Series)):
                return found
    raise ParameterError.must_be(
        parameter, f"a pandas DataFrame where it is a table: {kind} cannot be converted here"
    )


def _by_columns(table: Any) -> Any:
    """Return a frame of a polars table, which needs pyarrow for its own way."""
    columns = table.to_dict(as_series=False)
    return frame_of_cells(list(columns), list(columns.values()))


def _by_arrow(table: Any) -> Any:
    import pyarrow as pa

    try:
        whole = pa.table(table)
    except (TypeError, ValueError):  # not the columns of a table but one column
        return pd.Series(_objects(pa.chunked_array(table).to_pylist()), dtype=object)
    return frame_of_arrow(whole)


def _by_method(table: Any) -> Any:
    name = next(name for name in ("to_pandas", "read_pandas", "df") if _has(table, name))
    return getattr(table, name)()


def frame_of_arrow(table: Any) -> pd.DataFrame:
    """Return a frame of a pyarrow Table: of one that `to_arrow` made, an equal one."""
    attrs: dict[str, Any] = {}
    if LAYOUT in (table.schema.metadata or {}):
        with suppress(*_WRONG):  # else rows or columns of it were taken
            return with_row_labels(frame_of(table))
        with suppress(*_WRONG):
            attrs = attrs_of(table)
    return frame_of_cells(table.column_names, [column.to_pylist() for column in table.columns], attrs)


def frame_of_cells(
    names: Sequence[str], columns: Sequence[list[Any]], attrs: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Return a frame of plain values; columns that this package declares are as its functions make them."""
    index = pd.RangeIndex(len(columns[0]) if columns else 0)
    known = fields_by_name()
    series = {
        place: _column(cells, known.get(name, []), index)
        for place, (name, cells) in enumerate(zip(names, columns, strict=True))
    }
    frame = pd.DataFrame(series, index=index).set_axis(list(names), axis=1)  # a name may occur twice
    made = None if attrs else made_by(names)
    frame.attrs.update(attrs or ({"webanalytics": {"operation": made}} if made else {}))
    return with_row_labels(frame)


def _column(cells: list[Any], fields: Sequence[Field], index: pd.Index) -> pd.Series:
    for field in fields:
        with suppress(*_WRONG):
            found = read_cells(cells, field)
            if all(map(field.holds, found)):
                return make_series(found, field.dtype, index)
    kinds = {type(cell) for cell in cells if cell is not None}
    dtype = _DTYPES.get(next(iter(kinds))) if len(kinds) == 1 else None
    if dtype is not None:
        with suppress(OverflowError):
            return make_series(cells, dtype, index)
    return pd.Series(_objects(cells), index=index, dtype=object)
