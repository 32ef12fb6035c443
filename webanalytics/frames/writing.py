"""Frames -> files: CSV, TSV, JSON, JSON Lines, Parquet and Excel."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pandas as pd

from webanalytics.errors import MissingExtraError, ParameterError

_EXCEL_CELL = 32_767
"""Longest text of a cell, by Excel's published limits."""


def as_plain(value: Any) -> Any:
    """Return a cell as text where it is an object: JSON for lists and dicts."""
    if isinstance(value, (list, dict, tuple)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value


def flat(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with JSON text in the place of lists and dicts, and without columns of bytes."""
    names = [name for name in frame.columns if not _holds_bytes(frame[name])]
    result = frame[names].copy()
    for name in names:
        if result[name].dtype == object:
            cells = [as_plain(value) for value in result[name]]
            result[name] = pd.Series(cells, index=result.index, dtype=object)  # as text, never guessed at
    return result


def _holds_bytes(column: pd.Series) -> bool:
    return column.dtype == object and any(isinstance(value, bytes) for value in column)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    names = [name for name in frame.columns if not _holds_bytes(frame[name])]
    rows = frame[names].astype(object).to_dict("records")
    return [{str(key): _json_value(value) for key, value in row.items()} for row in rows]


def _json_value(value: Any) -> Any:
    return None if not isinstance(value, (list, dict)) and pd.isna(value) else value


def _csv(frame: pd.DataFrame, file: IO[str], separator: str = ",") -> None:
    table = flat(frame)
    for name in table.columns:  # a lone carriage return would end the row for some readers
        if any(isinstance(value, str) and "\r" in value for value in table[name]):
            table[name] = table[name].map(_without_returns)
    table.to_csv(file, index=False, sep=separator, lineterminator="\n")


def _without_returns(value: Any) -> Any:
    return value.replace("\r\n", "\n").replace("\r", "\n") if isinstance(value, str) else value


def _json(frame: pd.DataFrame, file: IO[str]) -> None:
    json.dump(_records(frame), file, ensure_ascii=False, indent=1, default=str)
    file.write("\n")


def _json_lines(frame: pd.DataFrame, file: IO[str]) -> None:
    for row in _records(frame):
        file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")


def _parquet(frame: pd.DataFrame, path: Path) -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError("parquet", "pyarrow", "writing Parquet files") from None
    flat(frame).to_parquet(path, index=False, engine="pyarrow")


def _excel(frame: pd.DataFrame, path: Path) -> None:
    try:
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    except ImportError:
        raise MissingExtraError("excel", "openpyxl", "writing Excel files") from None
    book = Workbook(write_only=True)
    sheet = book.create_sheet("webanalytics")

    def cell(value: Any) -> Any:
        if pd.isna(value):
            return None
        if not isinstance(value, str):
            return value
        made = WriteOnlyCell(sheet, value=ILLEGAL_CHARACTERS_RE.sub("", value)[:_EXCEL_CELL])
        made.data_type = "s"  # a page's text that starts with "=" is text, never a formula
        return made

    table = flat(frame)
    sheet.append([cell(str(name)) for name in table.columns])
    for row in table.astype(object).itertuples(index=False, name=None):
        sheet.append([cell(value) for value in row])
    book.save(path)


_TEXT: dict[str, Callable[[pd.DataFrame, IO[str]], None]] = {
    "csv": _csv,
    "tsv": lambda frame, file: _csv(frame, file, "\t"),
    "json": _json,
    "jsonl": _json_lines,
}
_BINARY: dict[str, Callable[[pd.DataFrame, Path], None]] = {"parquet": _parquet, "xlsx": _excel}

FORMATS = (*_TEXT, *_BINARY)
"""The file formats, each the suffix of its files."""


def write_text(frame: pd.DataFrame, file: IO[str], kind: str) -> None:
    """Write a frame to an open text file in one of the text formats."""
    if kind not in _TEXT:
        raise ParameterError.one_of("format", _TEXT)
    _TEXT[kind](frame, file)


def write_frame(frame: pd.DataFrame, path: str | Path) -> Path:
    """Write a frame to a file whose suffix names the format, whole or not at all.

    Parameters
    ----------
    frame : pandas.DataFrame
        Any frame of webanalytics; lists and dicts become JSON text (real JSON in .json and .jsonl).
    path : str or path
        File with the suffix .csv, .tsv, .json, .jsonl, .parquet or .xlsx.

    Returns
    -------
    pathlib.Path
        The file written.

    Raises
    ------
    ParameterError
        For another suffix, or a folder that cannot be written to.
    MissingExtraError
        Where Parquet or Excel needs a package that is not installed.
    """
    path = Path(path)
    kind = path.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise ParameterError(
            f"The `output` parameter must be a file with one of the suffixes: {', '.join(FORMATS)}.", "output"
        )
    temporary = _temporary(path)
    try:
        if kind in _TEXT:
            # surrogates cannot be stored in any encoding; they come out as "?"
            with temporary.open("w", encoding="utf-8", errors="replace", newline="") as file:
                _TEXT[kind](frame, file)
        else:
            _BINARY[kind](frame, temporary)
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def _temporary(path: Path) -> Path:
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".webanalytics-")
    except OSError as error:
        raise ParameterError(
            f"The `output` parameter must be a file that can be written: {error.strerror}.", "output"
        ) from None
    os.close(handle)
    return Path(name)
