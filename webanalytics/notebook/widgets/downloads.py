"""A frame -> the bytes of a file to download, with no live formulas; used by the explorer."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import pandas as pd

from webanalytics.errors import ParameterError
from webanalytics.runs.frames.output_files import write_csv, write_frame

TYPES = {
    "csv": "text/csv;charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""Formats of a download and their media types."""


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
    A text that a spreadsheet would evaluate gets an apostrophe in the CSV
    (`webanalytics.runs.frames.formulas`); Excel files mark it as text. The CSV begins with a byte order
    mark, by which Excel recognises UTF-8.

    Examples
    --------
    >>> file_bytes(pd.DataFrame({"title": ["=1+1", "Tea"]}), "csv").decode("utf-8-sig").split()
    ['title', "'=1+1", 'Tea']
    """
    if kind not in TYPES:
        raise ParameterError.one_of("format", TYPES)
    if kind == "csv":
        text = io.StringIO(newline="")
        write_csv(frame, text)
        return text.getvalue().encode("utf-8-sig", "replace")
    with tempfile.TemporaryDirectory(prefix="webanalytics-") as folder:  # openpyxl needs a disk in any case
        return write_frame(frame, Path(folder) / f"download.{kind}").read_bytes()
