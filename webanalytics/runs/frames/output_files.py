"""Frames -> files: CSV, TSV, JSON, JSON Lines, Parquet, Arrow IPC and Excel.

A spreadsheet treats text that begins with ``=``, ``+``, ``-`` or ``@`` as a formula, and the text comes
from pages that anyone may have written. In CSV such a cell gets a leading apostrophe (OWASP, *CSV
injection*), unless it is a number, a phone number or a signature in base64. Invisible characters before the
sign are skipped, and the full-width forms of the signs count too.
"""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from pandas.api.types import is_complex_dtype, is_object_dtype

from webanalytics.core.operations.types import shape_of
from webanalytics.errors import MissingExtraError, ParameterError, WriteError, choice
from webanalytics.files import written_whole
from webanalytics.operations import Field
from webanalytics.runs.frames.arrow import arrow_type, declared_of, typed_array
from webanalytics.runs.frames.excel import write_sheets
from webanalytics.runs.frames.schema import is_missing
from webanalytics.runs.storage.lazy_columns import held, parts_of
from webanalytics.runs.storage.parts import FRAME_ROWS

_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"  # a spreadsheet takes the wide ones for the others
_FORMULA = re.compile(rf"[{_SIGNS}\t\r\n]")
_SIGNED_NUMBER = re.compile(r"[+-]?[\d .,()-]+%?$")
# A signature in base64 may begin with a sign, and must stay as it is: without brackets, quotes and further
# signs it calls nothing.
_DIGEST = re.compile(r"[+-][A-Za-z0-9+/_-]{20,}={0,2}$")


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with an apostrophe before every text that a spreadsheet would evaluate."""
    result = frame.copy()
    for place in _text_columns(frame):
        put_cells(result, place, map(harmless, frame.iloc[:, place].tolist()))
    result.columns = [harmless(name) for name in frame.columns]
    return result


def _text_columns(frame: pd.DataFrame) -> list[int]:
    kinds = ("object", "str", "string", "category")
    return [place for place, dtype in enumerate(frame.dtypes) if str(dtype).startswith(kinds)]


def begins_after_semicolon(frame: pd.DataFrame) -> bool:
    """Return whether a cell would begin with a sign of a formula where semicolons separate cells."""
    columns = (frame.iloc[:, place].tolist() for place in _text_columns(frame))
    texts = (text for column in (frame.columns.tolist(), *columns) for text in column)
    return any(
        _FORMULA.match(_visible(part))
        for text in texts
        if isinstance(text, str) and ";" in text
        for part in text.split(";")[1:]
    )


def _visible(text: str) -> str:
    """Return the text from its first visible character: not a space, control, mark or format character."""
    for place, character in enumerate(text):
        if unicodedata.category(character)[0] not in "CZM":
            return text[place:]
    return ""


def harmless(value: object) -> object:
    """Return text that no spreadsheet treats as a formula; anything else unchanged.

    >>> [harmless(value) for value in ("=cmd()", "-5.2", "+1 208 581", "- a dash", 7)]
    ["'=cmd()", '-5.2', '+1 208 581', "'- a dash", 7]
    """
    if not isinstance(value, str):
        return value
    text = _without_returns(value)
    risky = _FORMULA.match(text) or _FORMULA.match(_visible(text))
    known = _SIGNED_NUMBER.match(text) or _DIGEST.match(text)
    return f"'{text}" if risky and not known else text


_KEPT = (str, bool, int, float, Decimal, date, time, timedelta, np.bool_, np.integer, np.floating)
"""Types of cells that every format supports; datetime is a date, and Timestamp a datetime."""


def as_text(value: Any) -> str:
    """Return any value as text: JSON for lists and dicts, and the type's name if it has no text form."""
    if isinstance(value, (list, dict, tuple)):
        try:
            return json.dumps(value, ensure_ascii=False, default=_own_text)
        except (ValueError, TypeError, RecursionError):  # it contains itself, or its keys are not text
            pass
    return _own_text(value)


def _own_text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # a foreign class, which may raise anything
        return f"<{type(value).__name__}>"


def as_plain(value: Any) -> Any:
    """Return a cell as text where it is an object: JSON for lists and dicts."""
    return value if isinstance(value, _KEPT) or is_missing(value) else as_text(value)


def flat(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with JSON text instead of lists and dicts, and without columns of bytes."""
    result = _without_bytes(frame)
    for place, dtype in enumerate(result.dtypes):  # by position, as a name may occur twice
        if is_object_dtype(dtype) or is_complex_dtype(dtype):
            put_cells(result, place, (as_plain(value) for value in result.iloc[:, place]))
        elif isinstance(dtype, pd.SparseDtype):
            sparse: Any = result.iloc[:, place]
            result.isetitem(place, sparse.sparse.to_dense())
    return result


def put_cells(frame: pd.DataFrame, place: int, cells: Iterable[Any]) -> None:
    """Replace the cells of the column at a position, unchanged: their type is never inferred."""
    column: Any = pd.Series(list(cells), index=frame.index, dtype=object)
    frame.isetitem(place, column)


def _without_bytes(frame: pd.DataFrame) -> pd.DataFrame:
    frame = held(frame)
    kept = [place for place in range(frame.shape[1]) if not _holds_bytes(frame.iloc[:, place])]
    return frame.iloc[:, kept].copy()


def _holds_bytes(column: pd.Series) -> bool:
    return column.dtype == object and any(isinstance(value, bytes) for value in column)


def _with_each_name_once(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with numbers after duplicated names, which some formats do not allow."""
    if frame.columns.is_unique:
        return frame
    names: dict[str, None] = {}
    for name in map(str, frame.columns):
        numbered, number = name, 2
        while numbered in names:
            numbered, number = f"{name}.{number}", number + 1
        names[numbered] = None
    return frame.set_axis(list(names), axis=1)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    rows = _with_each_name_once(_without_bytes(frame)).astype(object).to_dict("records")
    return [{str(key): None if is_missing(value) else value for key, value in row.items()} for row in rows]


def write_csv(frame: pd.DataFrame, file: IO[str], separator: str = ",", *, raw: bool = False) -> None:
    """Write a frame as CSV of which a spreadsheet evaluates no text; ``raw`` writes texts as they are."""
    table = flat(frame) if raw else without_formulas(flat(frame))
    for place in _text_columns(table) if raw else ():
        put_cells(table, place, map(_without_returns, table.iloc[:, place]))
    quoted = not raw and separator == "," and begins_after_semicolon(table)
    quoting: Any = csv.QUOTE_NONNUMERIC if quoted else csv.QUOTE_MINIMAL
    table.to_csv(file, index=False, sep=separator, lineterminator="\n", quoting=quoting)


def _without_returns(value: Any) -> Any:  # a lone one ends a row for some readers
    return value.replace("\r\n", "\n").replace("\r", "\n") if isinstance(value, str) else value


def _json(frame: pd.DataFrame, file: IO[str]) -> None:
    json.dump(_records(frame), file, ensure_ascii=False, indent=1, default=_own_text)
    file.write("\n")


def _json_lines(frame: pd.DataFrame, file: IO[str]) -> None:
    for row in _records(frame):
        file.write(json.dumps(row, ensure_ascii=False, default=_own_text) + "\n")


def arrow_of(frame: pd.DataFrame) -> Any:
    """Return a frame without its index as an Arrow table with the declared types; what is mixed is text."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("parquet", "pyarrow", "writing Parquet and Arrow files") from None
    whole = _with_each_name_once(_without_bytes(frame))
    typed = {
        name: typed_array(whole[name], field)
        for name, field in declared_of(frame).items()
        if name in whole and is_object_dtype(whole[name]) and field.dtype == "object"
    }
    table = flat(whole)
    for place, dtype in enumerate(table.dtypes):
        if is_object_dtype(dtype):
            column = table.iloc[:, place]
            try:
                pa.array(column, from_pandas=True)
            except (pa.ArrowException, OverflowError):  # numbers among texts: a column has one type
                put_cells(table, place, (None if is_missing(v) else as_text(v) for v in column))
    made = pa.Table.from_pandas(table, preserve_index=False)
    for name, array in typed.items():
        if array is not None:  # lists and dicts of a declared type need not be text
            made = made.set_column(made.schema.get_field_index(name), name, array)
    return made


def arrow_parts(frame: pd.DataFrame) -> Iterator[Any]:
    """Yield a frame as Arrow tables of one schema; one over parts on the disk a few rows at a time."""
    plain = pd.DataFrame(frame)
    plain.attrs = dict(frame.attrs)
    stored = parts_of(plain) is not None
    first = arrow_of(held(plain.iloc[:FRAME_ROWS]) if stored else plain)
    schema = _with_types(first.schema, declared_of(plain))
    yield first.cast(schema)
    for start in range(FRAME_ROWS, len(plain) if stored else 0, FRAME_ROWS):
        yield arrow_of(held(plain.iloc[start : start + FRAME_ROWS])).cast(schema)


def _with_types(schema: Any, fields: Mapping[str, Field]) -> Any:
    """Return a schema of some rows as that of any: missing values alone do not say what a column is."""
    import pyarrow as pa

    for place, field in enumerate(schema):
        if field.name not in fields:
            continue
        kind = arrow_type(shape_of(fields[field.name].type))
        if pa.types.is_null(field.type) or (pa.types.is_string(field.type) and kind == pa.large_string()):
            schema = schema.set(place, field.with_type(kind))
    return schema


def _in_parts(frame: pd.DataFrame, path: Path, kind: str) -> None:
    """Write a frame part by part, or whole where its parts are not of one schema."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    # all readers can map an Arrow file without compression
    opened: Any = parquet.ParquetWriter if kind == "parquet" else pa.ipc.new_file

    def write(tables: Iterator[Any]) -> None:
        first = next(tables)
        with opened(path, first.schema) as file:
            for table in chain([first], tables):
                file.write_table(table)

    try:
        write(arrow_parts(frame))
    except pa.ArrowInvalid:  # of a foreign service: values that are not of the declared types
        write(iter([arrow_of(held(pd.DataFrame(frame)))]))


_SEPARATORS = {"csv": ",", "tsv": "\t"}
_JSON: dict[str, Callable[[pd.DataFrame, IO[str]], None]] = {"json": _json, "jsonl": _json_lines}
_TEXT = (*_SEPARATORS, *_JSON)

IN_PARTS = ("parquet", "arrow")
"""Formats whose files are written some rows at a time."""
FORMATS = (*_TEXT, *IN_PARTS, "xlsx")
"""The file formats, each the suffix of its files."""


def write_text(frame: pd.DataFrame, file: IO[str], kind: str, *, raw: bool = False) -> None:
    """Write a frame to an open text file in one of the text formats; for ``raw`` see `write_frame`."""
    if choice("format", kind, _TEXT) in _SEPARATORS:
        write_csv(frame, file, _SEPARATORS[kind], raw=raw)
    else:
        _JSON[kind](frame, file)


def write_frame(frame: pd.DataFrame, path: str | Path, *, raw: bool = False) -> Path:
    """Write a frame to a file whose suffix names the format, whole or not at all.

    CSV and TSV files hold texts as they are only with `raw`: by default those that a spreadsheet would
    evaluate begin with an apostrophe. Raises `ParameterError` for another suffix, or a folder that cannot be
    written to, and `MissingExtraError` where a package for the format is not installed.
    """
    path = Path(path)
    kind = path.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise wrong_suffix(path)
    with new_file(path, "output") as temporary:
        if kind in _TEXT:
            # surrogates cannot be stored in any encoding; they come out as "?"
            with temporary.open("w", encoding="utf-8", errors="replace", newline="") as file:
                write_text(frame, file, kind, raw=raw)
        elif kind in IN_PARTS:
            _in_parts(frame, temporary, kind)
        else:
            write_sheets(temporary, {"webanalytics": flat(frame)})
    return path


def wrong_suffix(path: Path) -> ParameterError:
    """Return the error about a file to write in a format that is not known."""
    known = ", ".join(FORMATS)
    had = f"not `{path.suffix}`" if path.suffix else f"and `{path.name}` has none"
    return ParameterError.must_be("output", f"a file with one of the suffixes {known}, {had}")


@contextmanager
def new_file(path: Path, parameter: str) -> Iterator[Path]:
    """Yield a temporary file that finally replaces ``path``; name the parameter if it cannot be written."""
    try:
        with written_whole(path) as temporary:
            yield temporary
    except OSError as error:
        raise WriteError.at(parameter, "a file that can be written", error) from None
