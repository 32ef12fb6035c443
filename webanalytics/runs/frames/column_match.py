"""Columns of tables that came by other libraries -> what they are in the frames of this package.

A table of polars or Arrow has no index and no attrs, maps may be pairs, and free JSON is text: names and
values say what a column was.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from webanalytics.core.operations.types import Shape, shape_of
from webanalytics.operations import AUDIT_PAGES, OPERATIONS, Field
from webanalytics.runs.frames.arrow import (
    ADDED,
    LARGEST_LAYOUT,
    LAYOUT,
    declared,
    from_json,
    is_free,
)
from webanalytics.runs.frames.schema import ERROR_COLUMNS, STATUS, frame_fields

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

    Raises
    ------
    Unreadable, ValueError, KeyError, TypeError, RecursionError
        For values that are not of its type.

    Examples
    --------
    >>> read_cells([[("tea", 2)], {"tea": 2}, None], Field("keywords", dict[str, int], "Words."))
    [{'tea': 2}, {'tea': 2}, None]
    """
    shape = shape_of(field.type)
    code = from_json if is_free(shape) else _reader(shape)
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

    Examples
    --------
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
    attrs = from_json(text.decode())["attrs"] if 0 < len(text) <= LARGEST_LAYOUT else {}
    return dict(attrs) if isinstance(attrs, Mapping) else {}


def with_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame without an index: what only the index said is in a column.

    Names of rows, and the numbers of inputs that have several rows, are kept; other numbers are not.
    """
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
