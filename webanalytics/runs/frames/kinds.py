"""Frames -> tables of polars and pyarrow, with the declared types; the last step of calls.

Each library is used for its own tables alone: neither needs the other, and pandas needs none of them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import pandas as pd

from webanalytics.core.operations.types import Shape
from webanalytics.errors import MissingExtraError, ParameterError
from webanalytics.operations import Field
from webanalytics.runs.frames.arrow import (
    Unstorable,
    arrow_table,
    as_json,
    declared_of,
    is_free,
    storage_kind,
    typed,
)
from webanalytics.runs.frames.foreign import Kind, as_pandas, is_table, kind_of, read_cells, with_rows
from webanalytics.runs.frames.schema import make_series
from webanalytics.runs.storage.lazy_columns import held

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

P = ParamSpec("P")
T = TypeVar("T")


def to_arrow(frame: pd.DataFrame) -> pa.Table:
    """Return a frame as a pyarrow Table in which every column has its declared type, whatever its rows hold.

    Parameters
    ----------
    frame : DataFrame
        What a function of webanalytics returned, or a table of an audit, such as its ``pages``.

    Returns
    -------
    pyarrow.Table
        Texts are ``large_string``, keywords a ``map<string, int64>``, lists and dicts are lists and structs,
        and free JSON such as ``jsonld`` is JSON text. The index is a column where it holds more than the
        numbers of the rows; in tables of keywords it is ``row``. What the frame knows of its making is in
        the metadata.

    Raises
    ------
    ParameterError
        For a frame that no table can hold, as one with two columns of a name.
    MissingExtraError
        Where pyarrow is not installed.

    Examples
    --------
    >>> import webanalytics as wa
    >>> table = wa.to_arrow(wa.hmac(["one"], secret="key"))
    >>> table.column_names[:3], table.schema.field("hmac").type
    (['message', 'status', 'hmac'], DataType(large_string))
    """
    _installed("pyarrow")
    return _converted(frame, arrow_table)


def to_polars(frame: pd.DataFrame) -> pl.DataFrame:
    """Return a frame as a polars DataFrame in which every column has its declared type.

    Parameters
    ----------
    frame : DataFrame
        As for `to_arrow`.

    Returns
    -------
    polars.DataFrame
        The columns of `to_arrow`; keywords are a ``Map``, or a list of key and value where polars has no
        maps. pyarrow need not be installed.

    Raises
    ------
    ParameterError
        For a frame that no table can hold, as one with two columns of a name.
    MissingExtraError
        Where polars is not installed.

    Examples
    --------
    >>> import webanalytics as wa
    >>> wa.to_polars(wa.hmac(["one"], secret="key")).schema["hmac"]
    String
    """
    _installed("polars")
    made: pl.DataFrame = _converted(frame, _polars_table)
    return made


def as_kind(made: T, kind: Kind | None) -> T:
    """Return a frame as a table of a library; an audit, which is more than a table, stays what it is."""
    if kind is None or type(made) is not pd.DataFrame:
        return made
    table: Any = _converted(made, _polars_table if kind == "polars" else arrow_table)
    return cast("T", table)


def kind_of_call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Kind | None:
    """Return the library of the table that a function is given, as its first argument or as ``texts``."""
    first = next(iter(inspect.signature(function).parameters), "")
    given = (args[0] if args else kwargs.get(first), kwargs.get("texts"))
    kind = next((kind for kind in map(kind_of, given) if kind is not None), None)
    if kind is not None:
        _installed(kind)
    return kind


def in_kind(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function of a frame that takes and returns tables of other libraries, too."""
    first = next(iter(inspect.signature(function).parameters))

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        if not is_table(args[0] if args else kwargs.get(first)):
            return function(*args, **kwargs)
        kind = kind_of_call(function, args, kwargs)
        given = as_pandas(args[0] if args else kwargs.pop(first), first)
        return as_kind(function(given, *args[1:], **kwargs), kind)  # type: ignore[arg-type]

    return wrapper


def _installed(package: Kind) -> None:
    try:
        __import__(package)
    except ImportError:
        extra = "parquet" if package == "pyarrow" else package
        raise MissingExtraError(extra, package, f"making tables of {package}") from None


def _converted(frame: Any, convert: Callable[[pd.DataFrame, Mapping[str, Field]], Any]) -> Any:
    given = as_pandas(frame, "frame")
    if not isinstance(given, pd.DataFrame):
        raise ParameterError.must_be("frame", f"a DataFrame, not {type(frame).__name__}")
    plain = pd.DataFrame(given)
    plain.attrs = dict(given.attrs)
    try:
        rows = with_rows(held(plain) if plain.columns.is_unique else plain)
        return convert(*_with_texts(rows))
    except (Unstorable, ValueError) as error:
        raise ParameterError.must_be("frame", f"one that a table can hold: {error}") from None


def _with_texts(frame: pd.DataFrame) -> tuple[pd.DataFrame, Mapping[str, Field]]:
    """Return a frame with texts for categories and for undeclared objects that are all texts; its fields."""
    known = declared_of(frame)
    if not frame.columns.is_unique:
        return frame, known
    kinds = {
        name: column.cat.categories.dtype for name, column in frame.items() if column.dtype == "category"
    }
    frame = frame.astype(kinds)
    texts = {
        name: make_series(column.tolist(), "string", frame.index)
        for name, column in frame.items()
        if column.dtype == object
        and name not in known
        and pd.api.types.infer_dtype(column, skipna=True) == "string"
    }
    if not texts:
        return frame, known
    fields = {str(name): Field(str(name), str, "Texts of one's own.") for name in texts}
    return frame.assign(**{str(name): column for name, column in texts.items()}), {**known, **fields}


def _polars_table(frame: pd.DataFrame, known: Mapping[str, Field]) -> pl.DataFrame:
    import polars as pl

    if not frame.columns.is_unique or not all(isinstance(name, str) for name in frame.columns):
        raise Unstorable("its columns must have names of their own")
    return pl.DataFrame(
        [_polars_series(str(name), column, known.get(str(name))) for name, column in frame.items()]
    )


def _polars_series(name: str, column: pd.Series, field: Field | None) -> pl.Series:
    import polars as pl

    if field is not None and column.dtype == object and field.dtype == "object":
        typed = _typed_series(name, column, field)
        if typed is not None:
            return typed
    kind = storage_kind(name, column, is_text=field is not None and field.dtype == "string")
    if kind[:4] in ("date", "time"):
        return pl.Series(name, column)
    if kind not in ("json", "string"):
        plain = kind.replace("uint", "UInt").replace("int", "Int").replace("float", "Float")
        dtype = pl.Boolean if kind in ("bool", "boolean") else getattr(pl, plain)
        return pl.Series(name, column.astype(object).where(column.notna(), None).tolist(), dtype=dtype)
    try:
        texts = [
            as_json(cell) if kind == "json" else cell if isinstance(cell, str) else None
            for cell in column.tolist()
        ]
        return pl.Series(name, texts, dtype=pl.String)
    except (TypeError, ValueError, RecursionError):
        raise Unstorable(f"its column `{name}` holds values that JSON cannot") from None


def _typed_series(name: str, column: pd.Series, field: Field) -> pl.Series | None:
    """Return a column of objects with its declared type; None if its values do not fit it."""
    import polars as pl

    def make(cells: list[Any], shape: Shape) -> pl.Series:
        return pl.Series(name, cells, dtype=polars_type(shape))

    def read(made: pl.Series, _: Shape) -> list[Any]:
        return read_cells(made.to_list(), field)

    made: pl.Series | None = typed(column, field, make, read, pl.exceptions.PolarsError)
    return made


def polars_type(shape: Shape) -> Any:
    """Return the polars type of a declared shape: that of `arrow_type`, as polars reads it."""
    import polars as pl

    if is_free(shape):
        return pl.String()
    if shape.members is not None:
        return pl.Struct({name: polars_type(member) for name, (member, _) in shape.members.items()})
    if shape.items is not None and shape.kind == "map":
        entry = polars_type(shape.items)
        if hasattr(pl, "Map"):
            return pl.Map(pl.String(), entry)
        return pl.List(pl.Struct({"key": pl.String(), "value": entry}))
    if shape.items is not None:
        return pl.List(polars_type(shape.items))
    scalars: dict[str, Any] = {
        "integer": pl.Int64,
        "number": pl.Float64,
        "boolean": pl.Boolean,
        "bytes": pl.Binary,
    }
    return scalars.get(shape.kind, pl.String)()
