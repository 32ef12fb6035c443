"""Files of inputs -> frames, for the command line."""

from __future__ import annotations

import json
import re
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

SUFFIXES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".parquet", ".arrow", ".xlsx")


def read_frame(path: str | Path) -> pd.DataFrame:
    """Read a table of inputs: CSV, TSV, JSON, JSON Lines, Parquet, Arrow IPC, Excel, or lines of text."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ParameterError(
            f"The `input` parameter must be a file with one of the suffixes: {', '.join(SUFFIXES)}.", "input"
        )
    try:
        return _read(path, suffix)
    except ParameterError:
        raise
    except ImportError:
        extra, package = ("excel", "openpyxl") if suffix == ".xlsx" else ("parquet", "pyarrow")
        raise MissingExtraError(extra, package, f"reading {suffix} files") from None
    except OSError as error:
        raise ParameterError(
            f"The `input` parameter must be a file that can be read: {error.strerror}.", "input"
        ) from None
    except (ValueError, Unreadable):
        raise ParameterError(f"The `input` parameter must be a well-formed {suffix} file.", "input") from None


def read_csv(file: IO[str], separator: str = ",") -> pd.DataFrame:
    """Read a table from an open text file; every cell stays text."""
    frame = pd.read_csv(file, sep=separator, dtype=str, keep_default_na=False, header=None)
    if frame.shape[1] > MOST_COLUMNS:
        raise ParameterError(f"The `input` parameter must have at most {MOST_COLUMNS:,} columns.", "input")
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
    return pd.read_excel(path, dtype=str, keep_default_na=False)


def _table(path: Path, suffix: str) -> Any:
    """Return the table of a Parquet or Arrow file."""
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
