"""A frame -> the bytes of a file to download, with no live formulas; used by the explorer."""

from __future__ import annotations

import io
import re
import tempfile
import unicodedata
from pathlib import Path

import pandas as pd

from webanalytics.errors import ParameterError
from webanalytics.frames.writing import flat, put_cells, write_csv, write_frame

TYPES = {
    "csv": "text/csv;charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""Formats of a download and their media types."""

_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"  # a spreadsheet takes the wide ones for the others
_FORMULA = re.compile(rf"[{_SIGNS}\t\r\n]")
_SIGNED_NUMBER = re.compile(r"[+-]?[\d .,()-]+%?$")


def file_bytes(frame: pd.DataFrame, kind: str) -> bytes:
    """Return a frame as the bytes of a CSV, Parquet or Excel file.

    Parameters
    ----------
    frame : pandas.DataFrame
        Any frame; lists and dicts become JSON text.
    kind : {"csv", "parquet", "xlsx"}
        Format of the file.

    Raises
    ------
    ParameterError
        For another format.
    MissingExtraError
        Where Parquet or Excel needs a package that is not installed.

    Notes
    -----
    A spreadsheet treats text that begins with ``=``, ``+``, ``-`` or ``@`` as a formula, and the text comes
    from pages that anyone may have written. Such a cell gets a leading apostrophe in the CSV (OWASP, *CSV
    injection*), unless it is a number or a phone number; Excel files mark it as text. Invisible characters
    before the sign are skipped, and the full-width forms of the signs count too. Where a semicolon separates
    cells, ``;=`` within a text could begin one, so all texts of such a file are quoted. The CSV begins with a
    byte order mark, by which Excel recognises UTF-8.

    Examples
    --------
    >>> file_bytes(pd.DataFrame({"title": ["=1+1", "Tea"]}), "csv").decode("utf-8-sig").split()
    ['title', "'=1+1", 'Tea']
    """
    if kind not in TYPES:
        raise ParameterError.one_of("format", TYPES)
    if kind == "csv":
        text = io.StringIO(newline="")
        table = without_formulas(flat(frame))
        write_csv(table, text, quoted=_begins_after_semicolon(table))
        return text.getvalue().encode("utf-8-sig", "replace")
    with tempfile.TemporaryDirectory(prefix="webanalytics-") as folder:  # openpyxl needs a disk in any case
        return write_frame(frame, Path(folder) / f"download.{kind}").read_bytes()


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


def _begins_after_semicolon(frame: pd.DataFrame) -> bool:
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

    Examples
    --------
    >>> [harmless(value) for value in ("=cmd()", "-5.2", "+1 208 581", "- a dash", 7)]
    ["'=cmd()", '-5.2', '+1 208 581', "'- a dash", 7]
    """
    if not isinstance(value, str):
        return value
    # a lone carriage return ends a row for some readers
    text = value.replace("\r\n", "\n").replace("\r", "\n")
    risky = _FORMULA.match(text) or _FORMULA.match(_visible(text))
    return f"'{text}" if risky and not _SIGNED_NUMBER.match(text) else text
