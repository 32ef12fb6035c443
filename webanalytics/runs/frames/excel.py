"""Frames -> workbooks with one sheet each: the only writer of Excel files."""

from __future__ import annotations

import errno
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from webanalytics.core.strings import encodable, for_xml
from webanalytics.errors import MissingExtraError

MOST_ROWS = 1_048_575
"""Rows of a sheet below its heading, by Excel's published limits."""
LONGEST_CELL = 32_767
"""Characters of a cell, by the same limits."""
WIDEST = 60
_SAMPLE = 200
_NUMBERS = (int, float, Decimal, np.integer, np.floating)
_TIMES = (date, time, timedelta)


def write_sheets(path: Path, sheets: Mapping[str, pd.DataFrame]) -> None:
    """Write flat frames to a workbook; one with more rows than a sheet can have continues in a second sheet.

    Text is text: what starts with "=" is never a formula. Control characters that a workbook cannot hold are
    left out, and a text of over 32,767 characters is cut.
    """
    try:
        from openpyxl import Workbook
    except ImportError:
        raise MissingExtraError("excel", "openpyxl", "writing Excel files") from None
    book = Workbook(write_only=True)
    try:
        for name, frame in sheets.items():
            for number, start in enumerate(range(0, max(1, len(frame)), MOST_ROWS), 1):
                title = name if number == 1 else f"{name} {number}"
                _sheet(book.create_sheet(title), frame.iloc[start : start + MOST_ROWS])
        _save(book, path)
    except Exception as error:
        code = str(error)
        if not code.startswith("IO_E"):  # as libxml2 names what the system said of a temporary file
            raise
        raise OSError(getattr(errno, code[3:], errno.EIO), "a temporary file could not be written") from None
    finally:
        for sheet in book.worksheets:
            with suppress(Exception):  # it is closed already if all went well
                sheet.close()


def _save(book: Any, path: Path) -> None:
    """Write a workbook as its `save` does, and close the file also where the disk is full."""
    from openpyxl.writer.excel import ExcelWriter

    archive = ZipFile(path, "w", ZIP_DEFLATED, allowZip64=True)
    try:
        ExcelWriter(book, archive).save()
    except BaseException:
        with suppress(OSError, ValueError):  # it cannot be ended either
            archive.close()
        raise


def _sheet(sheet: Any, table: pd.DataFrame) -> None:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    sheet.freeze_panes = "B2"
    for place in range(table.shape[1]):  # by place, because a name may occur twice
        width = _width(str(table.columns[place]), table.iloc[:, place])
        sheet.column_dimensions[get_column_letter(place + 1)].width = width
    if table.shape[1]:
        sheet.auto_filter.ref = f"A1:{get_column_letter(table.shape[1])}{len(table) + 1}"
    headings = [WriteOnlyCell(sheet, value=_storable(str(name))) for name in table.columns]
    for cell in headings:
        cell.font, cell.data_type = Font(bold=True), "s"
    sheet.append(headings)
    for row in _rows(table):
        sheet.append([_cell(sheet, value) for value in row])


def _rows(table: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    return iter(table.astype(object).itertuples(index=False, name=None))


def _width(name: str, column: pd.Series) -> int:
    """Return about how many characters wide a column should be."""
    shortest = 6 if is_numeric_dtype(column) else 10
    sample = column.head(_SAMPLE).dropna()
    return min(WIDEST, max([shortest, len(name) + 3, *(len(str(value)) + 1 for value in sample)]))


def _cell(sheet: Any, value: Any) -> Any:
    """Return a value as a sheet can hold it."""
    from openpyxl.cell import WriteOnlyCell

    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if not isinstance(value, str):
        if pd.isna(value):
            return None
        if isinstance(value, _NUMBERS) and math.isfinite(value):
            return value
        if isinstance(value, (datetime, time)) and value.tzinfo is not None:
            value = value.isoformat()  # a sheet has no time zones
        elif isinstance(value, _TIMES):
            return value
    text = _storable(str(value))
    if text[:1] not in ("=", "#"):
        return text
    cell = WriteOnlyCell(sheet, value=text)
    cell.data_type = "s"  # a page's text is never a formula, nor the code of an error
    return cell


def _storable(text: str) -> str:
    """Return a text without characters that no workbook can hold, cut to the length of a cell."""
    return for_xml(encodable(text, "?"))[:LONGEST_CELL]
