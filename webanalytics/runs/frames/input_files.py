"""Files of inputs -> frames, for the command line."""

from __future__ import annotations

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

_INPUT = re.compile(r"\s*((?a:https?)://|\+\d{6})", re.I)
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
        raise ParameterError.on("input", f"must have at most {MOST_COLUMNS:,} columns")
    if frame.empty or any(_INPUT.match(cell) for cell in frame.iloc[0]):
        return frame.rename(columns=str)
    headed = frame.iloc[1:].reset_index(drop=True)
    headed.columns = pd.Index(frame.iloc[0].tolist())
    return headed


def _read(path: Path, suffix: str) -> pd.DataFrame:
    if suffix in (".csv", ".tsv"):
        with path.open(encoding="utf-8-sig", newline="") as file:
            return read_csv(file, "," if suffix == ".csv" else "\t")
    if suffix == ".txt":
        lines = path.read_text("utf-8-sig").splitlines()
        return pd.DataFrame({"input": [line for line in lines if line.strip()]}, dtype=object)
    if suffix in (".json", ".jsonl"):
        text = path.read_text("utf-8-sig")
        rows = (
            [json.loads(line) for line in text.splitlines() if line]
            if suffix == ".jsonl"
            else json.loads(text)
        )
        return pd.DataFrame(rows if isinstance(rows, list) else [rows])
    if suffix in (".parquet", ".arrow"):
        return frame_of_arrow(_table(path, suffix))
    return next(sheets(path), pd.DataFrame()).astype(str)


def sheets(path: Path) -> Iterator[pd.DataFrame]:
    """Yield the table of each sheet; a cell far away makes no sheet of millions of empty ones."""
    from openpyxl import load_workbook

    with bounded_zip(path), path.open("rb") as file:
        for sheet in load_workbook(file, read_only=True, data_only=True).worksheets:
            rows = sheet.iter_rows(max_col=MOST_OF_SHEET, values_only=True)
            names = next(rows, ())
            width = max((place for place, name in enumerate(names, 1) if name is not None), default=0)
            cells = [
                ["" if cell is None else cell for cell in row[:width]] for row in rows if any(row[:width])
            ]
            yield pd.DataFrame(cells, columns=["" if name is None else str(name) for name in names[:width]])


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
