"""Frames -> tables of plain columns with a layout, and back to equal frames."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.frames.schema import ERROR_COLUMNS, PANDAS_3, STATUS, audit_fields, make_series

MOST_COLUMNS = 5_000
MOST_LEVELS = 50
"""Levels of a row's label."""
DEEPEST = 250
"""Levels of lists and dicts in a cell; pages are never read as deep."""

_PLAIN = re.compile(
    r"(U?Int|u?int)(8|16|32|64)|[Ff]loat(32|64)|bool|boolean"
    r"|(datetime64|timedelta64)\[(s|ms|us|ns)(, [A-Za-z0-9_+:/-]{1,60})?\]"
)


class Unstorable(Exception):  # noqa: N818 - becomes a ParameterError
    """A frame holds something that the files cannot."""


class Unreadable(Exception):  # noqa: N818 - becomes a ParameterError
    """A folder holds something that this package does not write."""


def pack(frame: pd.DataFrame) -> tuple[Any, dict[str, Any]]:
    """Return a frame as an Arrow table, and the layout that `unpack` needs.

    Raises
    ------
    Unstorable
        For a column that no file keeps exactly.
    """
    import pyarrow as pa

    names = list(frame.columns)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise Unstorable("its columns must have names of their own")
    index, labels = _pack_index(frame.index)
    kinds: dict[str, str] = {}
    arrays: dict[str, Any] = {}
    for place, name in enumerate(names):
        kind = _kind(name, frame[name])
        kinds[name], arrays[f"c{place}"] = kind, _array(frame[name], kind, f"column `{name}`")
    for place, (kind, values) in enumerate(labels):
        arrays[f"i{place}"] = _array(values, kind, "index")
    layout = {
        "rows": len(frame),
        "columns": [[name, kinds[name]] for name in names],
        "index": index,
        "attrs": _plain_attrs(frame.attrs),
    }
    return pa.table(arrays), layout


def unpack(table: Any, layout: Mapping[str, Any]) -> pd.DataFrame:
    """Return the frame of a table and its layout.

    Raises
    ------
    Unreadable, ValueError, KeyError, TypeError
        For something that `pack` does not make.
    """
    rows, named, index = layout["rows"], layout["columns"], layout["index"]
    if type(rows) is not int or table.num_rows != rows or len(named) > MOST_COLUMNS:
        raise Unreadable
    labels = index.get("levels", [])
    wanted = [f"c{place}" for place in range(len(named))] + [f"i{place}" for place in range(len(labels))]
    if table.column_names != wanted or len({name for name, _ in named}) < len(named):
        raise Unreadable
    made = _index(table, index, rows)
    columns = {
        name: _series(table.column(place), kind, made).rename(name)
        for place, (name, kind) in enumerate(named)
        if _is_text(name)
    }
    frame = pd.DataFrame(columns, index=made)
    if not isinstance(layout["attrs"], dict) or len(frame.columns) < len(named):
        raise Unreadable
    _check_known(frame)
    frame.attrs = dict(layout["attrs"])
    return frame


def _is_text(name: Any) -> bool:
    if not isinstance(name, str):
        raise Unreadable
    return True


def _plain_attrs(attrs: Mapping[Any, Any]) -> dict[str, Any]:
    try:
        kept = json.loads(json.dumps(dict(attrs), allow_nan=False))
    except (TypeError, ValueError):
        kept = None
    if kept != dict(attrs):
        raise Unstorable("its attrs must be what JSON can hold")
    return dict(kept)


_KNOWN = {field.audit_name: field for _, field in audit_fields()}
_TEXTS = frozenset(
    [name for name, field in _KNOWN.items() if field.dtype == "string"]
    + [field.name for field in (STATUS, *ERROR_COLUMNS)]
    + ["url", "final_url", "content_type", "x_robots_tag", "lastmod", "changefreq", "sitemap"]
)
"""Columns of strings, which pandas before 3 cannot tell from columns of objects."""


def _kind(name: str, column: pd.Series) -> str:
    dtype = str(column.dtype)
    if dtype == "str" or (not PANDAS_3 and name in _TEXTS and column.dtype == object and _all_text(column)):
        return "string"
    if dtype == "object":
        return "json"
    if _PLAIN.fullmatch(dtype):
        return dtype
    raise Unstorable(f"column `{name}` has the dtype {dtype}")


def _all_text(column: pd.Series) -> bool:
    return all(isinstance(value, str) or (isinstance(value, float) and value != value) for value in column)


def _array(values: pd.Series, kind: str, where: str) -> Any:
    import pyarrow as pa

    try:
        if kind == "json":
            return pa.array([_as_json(value) for value in values.tolist()], pa.large_string())
        if kind == "string":
            cells = [value if isinstance(value, str) else None for value in values.tolist()]
            return pa.array(cells, pa.large_string())
        return pa.array(values, from_pandas=True)
    except (TypeError, ValueError, RecursionError, pa.ArrowException):
        raise Unstorable(f"its {where} holds values that JSON cannot") from None


def _as_json(value: Any) -> str | None:
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, tuple):
        raise TypeError
    return json.dumps(value)  # escaped: text of a page may hold what UTF-8 cannot


def _series(column: Any, kind: str, index: pd.Index) -> pd.Series:
    import pyarrow as pa

    if kind in ("json", "string"):
        if not pa.types.is_large_string(column.type):
            raise Unreadable
        cells = column.to_pylist()
        if kind == "json":
            cells = [np.nan if cell is None else _from_json(cell) for cell in cells]
            made = np.empty(len(cells), dtype=object)
            for place, value in enumerate(cells):
                made[place] = value
            return pd.Series(made, index=index, dtype=object)
        return make_series(cells, "string", index)
    if not isinstance(kind, str) or not _PLAIN.fullmatch(kind):
        raise Unreadable
    if not pa.types.is_primitive(column.type):
        raise Unreadable
    if kind[0] in "UI" or kind == "boolean":
        return pd.Series(pd.array(column.to_pylist(), dtype=kind), index=index)
    found: pd.Series = column.to_pandas().astype(kind)
    return found.set_axis(index)


def _from_json(text: str) -> Any:
    value = json.loads(text)
    if text.count("[") + text.count("{") > DEEPEST and _depth(value) > DEEPEST:
        raise Unreadable
    return value


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        inner = (
            item.values() if isinstance(item, dict) else item
            for item in level
            if isinstance(item, (dict, list))
        )
        level = [found for items in inner for found in items if isinstance(found, (dict, list))]
        depth += 1
    return depth


def _pack_index(index: pd.Index) -> tuple[dict[str, Any], list[tuple[str, pd.Series]]]:
    names = list(index.names)
    if not all(name is None or isinstance(name, (str, int)) for name in names):
        raise Unstorable("its index must have a name of text")
    if isinstance(index, pd.RangeIndex):
        return {"range": [index.start, index.stop, index.step], "names": names}, []
    levels = [index.get_level_values(place) for place in range(index.nlevels)]
    labels = []
    for level in levels:
        values = pd.Series(level)
        # what is text of objects before pandas 3 is text with it
        as_text = not PANDAS_3 and values.dtype == object and _all_text(values)
        labels.append(("string" if as_text else _kind("index", values), values))
    return {
        "levels": [kind for kind, _ in labels],
        "several": isinstance(index, pd.MultiIndex),
        "names": names,
    }, labels


def _index(table: Any, layout: Mapping[str, Any], rows: int) -> pd.Index:
    names = layout["names"]
    if not all(name is None or isinstance(name, (str, int)) for name in names):
        raise Unreadable
    if "range" in layout:
        start, stop, step = layout["range"]
        if any(type(number) is not int or abs(number) >= 2**62 for number in (start, stop, step)):
            raise Unreadable
        (name,) = names
        made: pd.Index = pd.RangeIndex(start, stop, step, name=name)
    else:
        kinds = layout["levels"]
        if not 0 < len(kinds) <= MOST_LEVELS or len(names) != len(kinds):
            raise Unreadable
        first, plain = table.num_columns - len(kinds), pd.RangeIndex(rows)
        levels = [
            pd.Index(_series(table.column(first + place), kind, plain)) for place, kind in enumerate(kinds)
        ]
        several = layout["several"] is True
        made = pd.MultiIndex.from_arrays(levels, names=names) if several else levels[0].rename(names[0])
    if len(made) != rows:
        raise Unreadable
    return made


def _check_known(frame: pd.DataFrame) -> None:
    """Refuse columns of an audit that hold other values than declared: rules and charts rely on them."""
    for name in frame.columns:
        field = _KNOWN.get(name)
        if field is not None and field.dtype == "object":
            values = [value for value in frame[name] if not (isinstance(value, float) and value != value)]
            _checker(name).validate_python(values, strict=True)


@cache
def _checker(name: str) -> Any:
    from pydantic import TypeAdapter

    kind: Any = list
    return TypeAdapter(kind[_KNOWN[name].type])
