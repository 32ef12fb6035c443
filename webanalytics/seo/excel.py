"""Audits and comparisons as workbooks: one sheet for each part."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from webanalytics.errors import MissingExtraError, ParameterError
from webanalytics.frames.writing import flat

MOST_ROWS = 1_048_575
"""Rows of a sheet beside its heading, by Excel's published limits."""
LONGEST_CELL = 32_767
"""Characters of a cell, by the same limits."""
LEFT_OUT = frozenset(("responseBody",))
"""Columns that no sheet has: the page itself."""
WIDEST = 60
_SAMPLE = 200


def write_workbook(path: str | os.PathLike[str], parts: Mapping[str, pd.DataFrame]) -> Path:
    """Write frames to a workbook, one sheet for each, whole or not at all.

    Parameters
    ----------
    path : str or path
        File to write, with the suffix .xlsx.
    parts : mapping of str to DataFrame
        Frames by the name of their sheet. One of more rows than a sheet can have goes on in a second.

    Returns
    -------
    pathlib.Path
        The file written.

    Raises
    ------
    ParameterError
        For another suffix, or a folder that cannot be written to.
    MissingExtraError
        Where openpyxl is not installed.

    Notes
    -----
    Text is text: what starts with "=" is never a formula. Lists and dicts are JSON text. Control characters
    that a workbook cannot hold are left out, and a text of over 32,767 characters is cut.
    """
    try:
        from openpyxl import Workbook
    except ImportError:
        raise MissingExtraError("excel", "openpyxl", "writing Excel files") from None
    path = Path(path)
    if path.suffix.lower() != ".xlsx":
        raise ParameterError("The `path` parameter must be a file with the suffix .xlsx.", "path")
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".webanalytics-")
        os.close(handle)
    except OSError as error:
        raise ParameterError(
            f"The `path` parameter must be a file that can be written: {error.strerror}.", "path"
        ) from None
    book = Workbook(write_only=True)
    try:
        for name, frame in parts.items():
            for number, start in enumerate(range(0, max(1, len(frame)), MOST_ROWS), 1):
                sheet = name if number == 1 else f"{name} {number}"
                _sheet(book, sheet, frame.iloc[start : start + MOST_ROWS])
        book.save(temporary)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    finally:
        for open_sheet in book.worksheets:
            with suppress(Exception):  # it is closed already, where all went well
                open_sheet.close()
        Path(temporary).unlink(missing_ok=True)
    return path


def _sheet(book: Any, name: str, frame: pd.DataFrame) -> None:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    sheet = book.create_sheet(name)
    table = flat(frame[[column for column in frame.columns if column not in LEFT_OUT]])
    sheet.freeze_panes = "B2"
    for place, column in enumerate(table.columns, 1):
        sheet.column_dimensions[get_column_letter(place)].width = _width(table[column])
    if len(table.columns):
        sheet.auto_filter.ref = f"A1:{get_column_letter(len(table.columns))}{len(table) + 1}"
    heading = Font(bold=True)
    cells = [WriteOnlyCell(sheet, value=_plain(str(column))) for column in table.columns]
    for cell in cells:
        cell.font, cell.data_type = heading, "s"
    sheet.append(cells)
    for row in _rows(table):
        sheet.append([_cell(sheet, value) for value in row])


def _rows(table: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    return iter(table.astype(object).itertuples(index=False, name=None))


def _width(column: pd.Series) -> int:
    """Return about how many characters wide a column is to be."""
    longest = 6 if is_numeric_dtype(column) else 10
    sample = column.head(_SAMPLE).dropna()
    return min(WIDEST, max([longest, len(str(column.name)) + 3, *(len(str(value)) + 1 for value in sample)]))


def _cell(sheet: Any, value: Any) -> Any:
    """Return a value as a sheet takes it."""
    if isinstance(value, str):
        return _text(sheet, value)
    if pd.isna(value):
        return None
    if isinstance(value, (bool, int)) or (isinstance(value, float) and abs(value) != float("inf")):
        return value
    return _text(sheet, str(value))


def _text(sheet: Any, text: str) -> Any:
    from openpyxl.cell import WriteOnlyCell

    text = _plain(text)
    if text[:1] not in ("=", "#"):
        return text
    made = WriteOnlyCell(sheet, value=text)
    made.data_type = "s"  # a page's text is never a formula, nor the code of an error
    return made


def _plain(text: str) -> str:
    """Return a text without the characters that no workbook can hold, and no longer than a cell."""
    if not text.isprintable():  # what cannot be stored is not printable either
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

        text = ILLEGAL_CHARACTERS_RE.sub("", text.encode("utf-8", "replace").decode())
    return text[:LONGEST_CELL]
