"""Files of inputs -> frames, for the command line."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pandas as pd

from webanalytics.errors import MissingExtraError, ParameterError
from webanalytics.runs.frames.arrow import Unreadable
from webanalytics.runs.frames.foreign import frame_of_arrow
from webanalytics.runs.storage.store import opened_parquet

_ADDRESS = re.compile(r"\s*(?a:https?)://", re.I)
_INPUT = re.compile(
    rf"{_ADDRESS.pattern}|\s*(\+[\d ().-]{{6}}|(\S+\s.*)?\bTLSA\s+\d|[0-3]\s+[01]\s+[0-2]\s+[\da-f]{{16}})",
    re.I,
)
_DIGITS = re.compile(r"\s*\(?\d[\d ().-]{6,}$")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
"""How workbooks write control characters, which openpyxl leaves as it is: `_x000D_` is a carriage return."""
_SEPARATORS = ",;\t"
MOST_COLUMNS = 1000
"""Columns of a CSV file that is read."""
MOST_OF_SHEET = 100
"""Columns of a sheet that are read."""
MOST_BYTES = 1_000_000_000
"""Bytes of a file that is read, without compression."""
LEAST_INFLATED, MOST_TIMES = 20_000_000, 100
"""What may become of a file that is compressed: so many bytes, and so many times its size."""

SUFFIXES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".parquet", ".arrow", ".xlsx")


def read_frame(path: str | Path) -> pd.DataFrame:
    """Read a table of inputs: CSV, TSV, JSON, JSON Lines, Parquet, Arrow IPC, Excel, or lines of text."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ParameterError.must_be("input", f"a file with one of the suffixes: {', '.join(SUFFIXES)}")
    try:
        return _read(path, suffix)
    except ParameterError:
        raise
    except ImportError:
        extra, package = ("excel", "openpyxl") if suffix == ".xlsx" else ("parquet", "pyarrow")
        raise MissingExtraError(extra, package, f"reading {suffix} files") from None
    except OSError as error:
        raise ParameterError.must_be("input", f"a file that can be read: {error.strerror}") from None
    except (ValueError, EOFError, RuntimeError, KeyError, zlib.error, zipfile.BadZipFile, Unreadable):
        raise ParameterError.must_be("input", f"a well-formed {suffix} file") from None


def read_csv(file: IO[str], separator: str = ",") -> pd.DataFrame:
    """Read a table from an open text file; every cell stays text."""
    frame = pd.read_csv(file, sep=separator, dtype=str, keep_default_na=False, header=None)
    if frame.shape[1] > MOST_COLUMNS:
        raise _too_wide()
    return _headed(frame)


def read_table(content: bytes, separators: str = _SEPARATORS) -> pd.DataFrame:
    """Read the bytes of a CSV file as spreadsheets write it: with the separator that its first line has."""
    text = decoded(content, spreadsheet=True)
    if named := re.match(r'"?sep=([,;\t])"?(\r?\n|\r)', text, re.I):  # a line for Excel alone
        separators, text = named[1], text[named.end() :]
    first = next(filter(str.strip, io.StringIO(text, newline="")), "")
    if _ADDRESS.match(first):  # a semicolon may be a part of an address
        separators = separators.replace(";", "") or separators
    outside = re.sub(r'"[^"]*"?', "", first)
    separator = max(separators, key=outside.count)
    if outside.count(separator) >= MOST_COLUMNS:  # a row this wide takes long to read
        raise _too_wide()
    try:
        return read_csv(io.StringIO(text, newline=""), separator)
    except ParameterError:
        raise
    except ValueError:
        raise ParameterError.must_be("input", "a well-formed CSV file") from None


def decoded(content: bytes, *, spreadsheet: bool = False) -> str:
    """Return the text of a file in UTF-8 or marked UTF-16; of a spreadsheet in Windows-1252, too."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        if not spreadsheet:
            raise ParameterError.must_be("input", "text in UTF-8") from None
        return content.decode("cp1252", "replace")  # what Excel writes as CSV in western Europe


def lines_of(content: bytes) -> list[str]:
    """Return the lines of a text that are not blank; only line feeds and carriage returns end one."""
    lines = io.StringIO(decoded(content), newline=None).read().split("\n")
    return [line for line in lines if line.strip()]


def _headed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose first row names the columns, unless it holds an input itself."""
    first = [] if frame.empty else frame.iloc[0].tolist()
    if not first or any(map(_INPUT.match, first)) or (len(first) == 1 and _DIGITS.match(first[0])):
        return frame.rename(columns=str)
    return frame.iloc[1:].reset_index(drop=True).set_axis(pd.Index(first), axis=1)


def _too_wide() -> ParameterError:
    return ParameterError.on("input", f"must have at most {MOST_COLUMNS:,} columns")


def _read(path: Path, suffix: str) -> pd.DataFrame:
    if suffix in (".csv", ".tsv"):
        return read_table(path.read_bytes(), _SEPARATORS if suffix == ".csv" else "\t")
    if suffix == ".txt":
        return pd.DataFrame({"input": lines_of(path.read_bytes())}, dtype=object)
    if suffix in (".json", ".jsonl"):
        content = path.read_bytes()
        rows = json.loads(decoded(content)) if suffix == ".json" else [*map(json.loads, lines_of(content))]
        # objects: an escape may be half a character, which no column of text holds
        return pd.DataFrame(rows if isinstance(rows, list) else [rows], dtype=object)
    if suffix in (".parquet", ".arrow"):
        return frame_of_arrow(_table(path, suffix))
    first = next((table for table in sheets(path) if table.shape[1]), pd.DataFrame())
    names, cells = [*first.columns], first.astype(str).to_numpy().tolist()
    return _headed(pd.DataFrame([names, *cells]) if names else first)


def sheets(path: Path) -> Iterator[pd.DataFrame]:
    """Yield the table of each sheet; a cell far away makes no sheet of millions of empty ones."""
    from openpyxl import load_workbook

    with bounded_zip(path), path.open("rb") as file:
        for sheet in load_workbook(file, read_only=True, data_only=True).worksheets:
            rows = filter(_holds, sheet.iter_rows(max_col=MOST_OF_SHEET, values_only=True))
            names = next(rows, ())
            width = max((place for place, name in enumerate(names, 1) if name is not None), default=0)
            cells = [[_cell(cell) for cell in row[:width]] for row in rows if _holds(row[:width])]
            columns = [str(_cell(name)) for name in names[:width]]
            # objects: else a fraction makes all numbers of its column floats
            yield pd.DataFrame(cells, columns=columns, dtype=object)


def _holds(row: tuple[Any, ...]) -> bool:
    return any(cell not in (None, "") for cell in row)


def _cell(value: Any) -> Any:
    """Return what a cell shows: nothing as no text, and a whole number without the point some tools write."""
    if isinstance(value, str):
        return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return "" if value is None else int(value) if whole else value


def most_inflated(path: Path) -> int:
    """Return how many bytes may become of a file."""
    return min(MOST_BYTES, LEAST_INFLATED + MOST_TIMES * path.stat().st_size)


def bounded_zip(path: Path) -> zipfile.ZipFile:
    """Return an archive, which reads no more of a member than it says now."""
    with zipfile.ZipFile(path) as archive:
        in_bounds(sum(member.file_size for member in archive.infolist()), most_inflated(path))
    return zipfile.ZipFile(path)


def in_bounds(size: int, most: int) -> None:
    """Raise `ParameterError` for more bytes than may become of a file."""
    if size > most:
        raise ParameterError.must_be("input", f"a file of at most {most:,} bytes without compression")


def _table(path: Path, suffix: str) -> Any:
    import pyarrow as pa

    try:
        with path.open("rb") as file:
            if suffix == ".arrow":
                table = pa.ipc.open_file(file).read_all()
            else:
                with opened_parquet(file) as opened:
                    table = opened.read()
        table.validate(full=True)  # texts that are no UTF-8 would fail where they are used
    except pa.ArrowException:
        raise Unreadable from None
    # what pandas keeps of an index
    return table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")])
