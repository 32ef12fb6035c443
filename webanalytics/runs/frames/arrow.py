"""Frames -> Arrow tables by the declarations, and back to equal frames.

Every declared column has one Arrow type, whatever its rows hold: strings are ``large_string``, keywords are a
``map<string, int64>``, lists of objects have all their keys, and free JSON such as JSON-LD is JSON text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.core.operations.types import Shape, shape_of
from webanalytics.operations import AUDIT_PAGES, OPERATIONS, RENDERING, Field
from webanalytics.page.keywords.keyness import PLACES
from webanalytics.runs.frames.schema import PANDAS_3, SITEMAP_FIELDS, About, frame_fields, make_series

LAYOUT = b"webanalytics"
"""Key of a schema's metadata that describes its frame: dtypes, index and attrs."""

_PLAIN = re.compile(
    r"(U?Int|u?int)(8|16|32|64)|[Ff]loat(32|64)|bool|boolean"
    r"|(datetime64|timedelta64)\[(s|ms|us|ns)(, [A-Za-z0-9_+:/-]{1,60})?\]"
)


class Unstorable(Exception):  # noqa: N818 - becomes a ParameterError
    """A frame holds something that no table can represent exactly."""


class Unreadable(Exception):  # noqa: N818 - becomes a ParameterError
    """A table or a file is not one that this package writes."""


def declared(name: str) -> Mapping[str, Field]:
    """Return the declared columns of the frames that a function makes, by name: "audit", "dane", ..."""
    if name == "sitemap":
        return {field.column_name: field for field in SITEMAP_FIELDS}
    operations = AUDIT_PAGES if name == "audit" else (OPERATIONS[name],) if name in OPERATIONS else ()
    fields = {field.column_name: field for field in frame_fields(operations)} if operations else {}
    return fields | {field.name: field for field in ADDED.get(name, ())}


ADDED = {
    "audit": (
        Field("image_bytes", dict[str, int], "Size of each image of the page."),
        Field(
            "broken_resources",
            list[dict[str, str]],
            "Images, scripts and style sheets of the page that do not answer: `url`, `kind`, `reason`.",
        ),
        *RENDERING.fields,
    ),
    "dane": (Field("matches_certificate", bool, "Whether the record matches its certificate."),),
    "keywords": (
        Field("keyword", str, "The word or words."),
        Field("frequency", int, "How often they stand on the page."),
        Field("density", float, "Share of all words of the page."),
        Field("distinctiveness", float, "How much it belongs to this page rather than to the others."),
        Field("rank", int, "1 for the most frequent of the page."),
        *(
            Field(f"in_{place}", bool, f"Whether it stands in the page's {place.replace('_', ' ')}.")
            for place in PLACES
        ),
    ),
}
"""Columns that functions add to the frames of their operations, or replace."""


def declared_of(frame: pd.DataFrame) -> Mapping[str, Field]:
    """Return the declared columns of a frame of this package; of any other, none."""
    made = frame.attrs.get("webanalytics")
    name = made.get("operation") if isinstance(made, Mapping) else None
    return declared(name) if isinstance(name, str) else {}


def is_free(shape: Shape) -> bool:
    """Return whether a shape is, or contains, free JSON."""
    if shape.members is not None:
        return any(is_free(member) for member, _ in shape.members.values())
    return shape.kind == "json" or (shape.items is not None and is_free(shape.items))


def arrow_type(shape: Shape, text: str = "large_string") -> Any:
    """Return the Arrow type of a declared shape; below a map pyarrow 23 reads no large strings again."""
    import pyarrow as pa

    if is_free(shape):
        return pa.type_for_alias(text)
    if shape.members is not None:
        members = shape.members.items()
        return pa.struct([(name, arrow_type(member, text)) for name, (member, _) in members])
    if shape.items is not None and shape.kind == "map":
        return pa.map_(pa.string(), arrow_type(shape.items, "string"))
    if shape.items is not None:
        return pa.list_(pa.field("element", arrow_type(shape.items, text)))
    scalars = {"integer": "int64", "number": "float64", "boolean": "bool", "bytes": "large_binary"}
    return pa.type_for_alias(scalars.get(shape.kind, text))


def cell_coder(shape: Shape) -> Callable[[Any], Any]:
    """Return the conversion of a cell to what Arrow takes; it raises `TypeError` for what does not fit."""
    if shape.members is not None:
        inner = {name: cell_coder(member) for name, (member, _) in shape.members.items()}

        def members(value: Any) -> Any:
            if not isinstance(value, dict):
                return value
            known = {name: code(value[name]) for name, code in inner.items() if name in value}
            if len(known) < len(value):
                raise TypeError
            return known

        return members
    if shape.items is None:
        return lambda value: value
    code = cell_coder(shape.items)
    if shape.kind == "map":

        def pairs(value: Any) -> Any:
            if value is None:
                return None
            if not isinstance(value, dict):
                raise TypeError
            return [{"key": key, "value": code(item)} for key, item in value.items()]

        return pairs
    return lambda value: [code(item) for item in value] if isinstance(value, list) else value


def typed_array(column: pd.Series, field: Field) -> Any:
    """Return a column of objects as an array of its declared type; None if its values do not fit it."""
    import pyarrow as pa

    def make(cells: list[Any], shape: Shape) -> Any:
        return pa.array(cells, arrow_type(shape))

    return typed(column, field, make, decoded, pa.ArrowException)


def typed(
    column: pd.Series,
    field: Field,
    make: Callable[[list[Any], Shape], Any],
    read: Callable[[Any, Shape], list[Any]],
    error: type[Exception],
) -> Any:
    """Return a column of objects as a library makes it of coded cells; None if they do not fit."""
    shape = shape_of(field.type)
    if is_free(shape):
        return None
    cells = _values(column)
    code = cell_coder(shape)
    try:
        made = make([code(cell) for cell in cells], shape)
        # where an optional key holds None or an integer is a float the way back would differ
        return made if read(made, shape) == cells else None
    except (TypeError, ValueError, OverflowError, error):
        return None


def arrow_table(frame: pd.DataFrame, fields: Mapping[str, Field] | None = None) -> Any:
    """Return a frame as an Arrow table, from which `frame_of` makes an equal frame.

    The columns of its index come last. Columns that are not declared are kept by their dtype, objects as JSON
    text; so is a declared one whose values are not of its type, as a foreign service may send them. Raises
    `Unstorable` for a column that no table keeps exactly.
    """
    import pyarrow as pa

    names = list(frame.columns)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise Unstorable("its columns must have names of their own")
    known = declared_of(frame) if fields is None else fields
    index, labels = _pack_index(frame.index)
    kinds: list[list[str]] = []
    arrays: dict[str, Any] = {}
    for name in names:
        kind, arrays[name] = _packed(name, frame[name], known.get(name))
        kinds.append([name, kind])
    for place, (kind, values) in enumerate(labels):
        label = _label(place)
        if label in arrays:
            raise Unstorable(f"column `{label}` has the name of the index")
        arrays[label] = _array(values, kind, "index")
    attrs = _plain_attrs(frame.attrs)
    layout = {"rows": len(frame), "columns": kinds, "index": index, "attrs": attrs}
    return pa.table(arrays).replace_schema_metadata({LAYOUT: json.dumps(layout)})


def frame_of(table: Any, fields: Mapping[str, Field] | None = None) -> pd.DataFrame:
    """Return the frame that `arrow_table` made a table of."""
    layout = json.loads((table.schema.metadata or {}).get(LAYOUT, b""))
    rows, named, index, attrs = layout["rows"], layout["columns"], layout["index"], layout["attrs"]
    labels = index.get("levels", [])
    wanted = [*(name for name, _ in named), *(_label(place) for place in range(len(labels)))]
    if table.num_rows != rows or table.column_names != wanted:  # rows or columns of it were taken
        raise Unreadable
    if fields is None:
        made = attrs.get("webanalytics", {}).get("operation")
        fields = declared(made) if isinstance(made, str) else {}
    made_index = _index(table, index, rows)
    columns = {name: unpacked(table.column(name), kind, fields.get(name), made_index) for name, kind in named}
    frame = pd.DataFrame({name: column.rename(name) for name, column in columns.items()}, index=made_index)
    frame.attrs = {key: About(value) if isinstance(value, dict) else value for key, value in attrs.items()}
    return frame


def _label(place: int) -> str:
    return f"__index_{place}__"


def _packed(name: str, column: pd.Series, field: Field | None) -> tuple[str, Any]:
    """Return how a column is stored, and its array."""
    if (read := getattr(column.array, "in_memory", None)) is not None:  # its values are in a folder
        column = pd.Series(read(), index=column.index)
    if field is not None and column.dtype == object and field.dtype == "object":
        array = typed_array(column, field)
        if array is not None:
            return "declared", array
    kind = storage_kind(name, column, is_text=field is not None and field.dtype == "string")
    return kind, _array(column, kind, f"column `{name}`")


def unpacked(column: Any, kind: str, field: Field | None, index: pd.Index) -> pd.Series:
    """Return a stored column as a Series; raises the errors of `frame_of`."""
    if kind != "declared":
        made = _series(column, kind, index)
        if kind == "json" and field is not None and not all(map(field.holds, _values(made))):
            raise Unreadable  # rules and charts rely on what is declared
        return made
    if field is None or field.dtype != "object":
        raise Unreadable
    shape = shape_of(field.type)
    if column.type != arrow_type(shape):
        raise Unreadable
    return make_series(decoded(column, shape), "object", index)


def _values(column: pd.Series) -> list[Any]:
    return [None if is_nan(cell) else cell for cell in column.tolist()]


def is_nan(cell: Any) -> bool:
    """Return whether a cell of objects is missing."""
    return isinstance(cell, float) and cell != cell


def _plain_attrs(attrs: Mapping[Any, Any]) -> dict[str, Any]:
    try:
        kept = json.loads(json.dumps(dict(attrs), allow_nan=False))
    except (TypeError, ValueError):
        kept = None
    if kept != dict(attrs):
        raise Unstorable("its attrs must be what JSON can hold")
    return dict(kept)


def storage_kind(name: str, column: pd.Series, *, is_text: bool = False) -> str:
    """Return how a column is stored: as a string, as JSON text, or by the name of its dtype."""
    dtype = str(column.dtype)
    # before pandas 3 a column of strings looks like one of objects
    if dtype == "str" or (not PANDAS_3 and is_text and column.dtype == object and _all_text(column)):
        return "string"
    if dtype == "object":
        return "json"
    if _PLAIN.fullmatch(dtype):
        return dtype
    raise Unstorable(f"column `{name}` has the dtype {dtype}")


def _all_text(column: pd.Series) -> bool:
    return all(isinstance(value, str) or is_nan(value) for value in column)


def _array(values: pd.Series, kind: str, where: str) -> Any:
    import pyarrow as pa

    try:
        if kind == "json":
            return pa.array([as_json(value) for value in values.tolist()], pa.large_string())
        if kind == "string":
            cells = [value if isinstance(value, str) else None for value in values.tolist()]
            return pa.array(cells, pa.large_string())
        return pa.array(values, from_pandas=True)
    except (TypeError, ValueError, RecursionError, pa.ArrowException):
        raise Unstorable(f"its {where} holds values that JSON cannot") from None


def as_json(value: Any) -> str | None:
    """Return a cell as JSON text, None for a missing one."""
    if is_nan(value):
        return None
    if isinstance(value, tuple):
        raise TypeError
    return json.dumps(value)  # escaped: text of a page may hold what UTF-8 cannot encode


def _series(column: Any, kind: Any, index: pd.Index) -> pd.Series:
    import pyarrow as pa

    if kind in ("json", "string"):
        if not pa.types.is_large_string(column.type):
            raise Unreadable
        if kind == "string" and PANDAS_3:
            texts: pd.Series = column.to_pandas()
            return texts.set_axis(index)
        cells = column.to_pylist()
        if kind == "string":
            return make_series(cells, "string", index)
        read = (np.nan if cell is None else json.loads(cell) for cell in cells)
        return pd.Series(np.fromiter(read, object, len(cells)), index=index, dtype=object)
    if not isinstance(kind, str) or not _PLAIN.fullmatch(kind) or not pa.types.is_primitive(column.type):
        raise Unreadable
    if kind[0] in "UI" or kind == "boolean":
        return pd.Series(pd.array(column.to_pylist(), dtype=kind), index=index)
    found: pd.Series = column.to_pandas().astype(kind)
    return found.set_axis(index)


def _pack_index(index: pd.Index) -> tuple[dict[str, Any], list[tuple[str, pd.Series]]]:
    names = list(index.names)
    if not all(name is None or isinstance(name, (str, int)) for name in names):
        raise Unstorable("its index must have a name of text")
    if isinstance(index, pd.RangeIndex):
        return {"range": [index.start, index.stop, index.step], "names": names}, []
    levels = [pd.Series(index.get_level_values(place)) for place in range(index.nlevels)]
    labels = [(storage_kind("index", values, is_text=True), values) for values in levels]
    several = isinstance(index, pd.MultiIndex)
    return {"levels": [kind for kind, _ in labels], "several": several, "names": names}, labels


def _index(table: Any, layout: Mapping[str, Any], rows: int) -> pd.Index:
    names = layout["names"]
    if "range" in layout:
        start, stop, step = layout["range"]
        return pd.RangeIndex(start, stop, step, name=names[0])
    plain = pd.RangeIndex(rows)
    levels = [
        pd.Index(_series(table.column(_label(place)), kind, plain))
        for place, kind in enumerate(layout["levels"])
    ]
    several = layout["several"]
    return pd.MultiIndex.from_arrays(levels, names=names) if several else levels[0].rename(names[0])


def decoded(array: Any, shape: Shape) -> list[Any]:
    """Return an array's values as the declared shape has them, None for a missing one."""
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        return [value for chunk in array.chunks for value in decoded(chunk, shape)]
    if shape.members is not None:
        return _objects(array, shape)
    if shape.items is not None and shape.kind == "map":
        return _maps(array, shape.items)
    if shape.items is not None:
        return _lists(array, shape.items)
    return plain_values(array)


def plain_values(array: Any) -> list[Any]:
    """Return the values of texts, numbers or flags; what is said again is one string."""
    from pyarrow import types

    if not types.is_large_string(array.type) and not types.is_string(array.type):
        return list(array.to_pylist())
    coded = array.dictionary_encode()
    known = np.array([*coded.dictionary.to_pylist(), None], dtype=object)  # none is at -1
    return list(known[coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)])


def _edges(array: Any) -> tuple[Any, int, list[tuple[int, int, bool]]]:
    """Return where the values of lists begin among all, and the edges of each among its own."""
    offsets = array.offsets.to_numpy()
    first = int(offsets[0])
    own = (offsets - first).tolist()
    valid = array.is_valid().to_numpy(zero_copy_only=False).tolist()
    return first, int(offsets[-1]) - first, list(zip(own, own[1:], valid, strict=False))


def _lists(array: Any, items: Shape) -> list[Any]:
    first, count, edges = _edges(array)
    flat = decoded(array.values.slice(first, count), items)
    return [flat[start:end] if valid else None for start, end, valid in edges]


def _maps(array: Any, items: Shape) -> list[Any]:
    first, count, edges = _edges(array)
    own = [part if len(part) == count else part.slice(first, count) for part in (array.keys, array.items)]
    keys, values = plain_values(own[0]), decoded(own[1], items)
    return [
        dict(zip(keys[start:end], values[start:end], strict=True)) if valid else None
        for start, end, valid in edges
    ]


def _objects(array: Any, shape: Shape) -> list[Any]:
    members = shape.members or {}
    names = list(members)
    columns = [
        decoded(child, member) for child, (member, _) in zip(array.flatten(), members.values(), strict=True)
    ]
    optional = {name for name, (_, required) in members.items() if not required}
    rows = zip(*columns, strict=True) if columns else ((),) * len(array)
    made: list[Any]
    if optional:
        made = [
            {
                name: value
                for name, value in zip(names, row, strict=True)
                if value is not None or name not in optional
            }
            for row in rows
        ]
    else:
        made = [dict(zip(names, row, strict=True)) for row in rows]
    if array.null_count:
        valid = array.is_valid().to_numpy(zero_copy_only=False).tolist()
        made = [value if known else None for value, known in zip(made, valid, strict=True)]
    return made
