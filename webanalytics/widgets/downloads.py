"""A frame -> the bytes of a file to download."""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path

import pandas as pd

from webanalytics.errors import ParameterError
from webanalytics.frames.writing import flat, write_frame, write_text

TYPES = {
    "csv": "text/csv;charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""Formats of a download and their media types."""

_FORMULA = re.compile(r"[=+\-@\t\r\n]|\s+[=+\-@]")
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
    A spreadsheet takes text that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, and the text comes
    from pages that anybody may have written. Such a cell gets a leading apostrophe in the CSV (OWASP, *CSV
    injection*), unless it is a number or a phone number; Excel files say that it is text. The CSV begins with
    a byte order mark, by which Excel knows that it is UTF-8.

    Examples
    --------
    >>> file_bytes(pd.DataFrame({"title": ["=1+1", "Tea"]}), "csv").decode("utf-8-sig").split()
    ['title', "'=1+1", 'Tea']
    """
    if kind not in TYPES:
        raise ParameterError.one_of("format", TYPES)
    if kind == "csv":
        text = io.StringIO(newline="")
        write_text(without_formulas(flat(frame)), text, "csv")
        return text.getvalue().encode("utf-8-sig", "replace")
    with tempfile.TemporaryDirectory(prefix="webanalytics-") as folder:  # openpyxl needs a disk in any case
        return write_frame(frame, Path(folder) / f"download.{kind}").read_bytes()


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with an apostrophe before every text that a spreadsheet would compute."""
    result = frame.copy()
    for name in [name for name, dtype in frame.dtypes.items() if str(dtype) in ("object", "str", "string")]:
        cells = [harmless(value) for value in frame[name].tolist()]
        result[name] = pd.Series(cells, index=frame.index, dtype=object)
    result.columns = [harmless(name) for name in frame.columns]
    return result


def harmless(value: object) -> object:
    """Return text that no spreadsheet takes for a formula; anything else as it is.

    Examples
    --------
    >>> [harmless(value) for value in ("=cmd()", "-5.2", "+1 208 581", "- a dash", 7)]
    ["'=cmd()", '-5.2', '+1 208 581', "'- a dash", 7]
    """
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n").replace(
        "\r", "\n"
    )  # a lone carriage return ends a row for some readers
    return f"'{text}" if _FORMULA.match(text) and not _SIGNED_NUMBER.match(text) else text
