"""Frames -> workbooks with one sheet each: the only writer of Excel files."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from webanalytics.core.strings import encodable, for_xml
from webanalytics.errors import MissingExtraError
from webanalytics.runs.boundary import watched

MOST_ROWS = 1_048_575
"""Rows of a sheet below its heading, by Excel's published limits."""
LONGEST_CELL = 32_767
"""Characters of a cell, by the same limits."""
WIDEST = 60
DECIMALS: Mapping[str, str] = {
    **{"share": "0.0%", "density": "0.0%", "link_score": "0.0"},
    **{"position": "0.0", "similarity": "0.00", "elapsed": "0.000"},
}
"""How numbers of a column are shown, which a cell holds in full."""
PRIORITY_COLOURS: Mapping[str, str] = {"high": "#B3261E", "medium": "#8A5A00", "low": "#5F6368"}
LINKED = "url"
"""The column of addresses that are links, as long as a sheet may have so many."""
_MOST_LINKS, _LONGEST_LINK = 65_530, 2_079
_SAMPLE = 200
_NUMBERS = (int, float, Decimal, np.integer, np.floating)
_TIMES = (date, time, timedelta)
_OPTIONS = {
    **{"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False},
    **{"strings_to_numbers": False, "use_zip64": True, "default_date_format": "yyyy-mm-dd hh:mm:ss"},
}


def write_sheets(path: Path, sheets: Mapping[str, pd.DataFrame]) -> None:
    """Write flat frames to a workbook; one with more rows than a sheet can have continues in a second sheet.

    Text is text: what starts with "=" is never a formula. Control characters that a workbook cannot hold are
    left out, and a text of over 32,767 characters is cut.
    """
    try:
        from xlsxwriter import Workbook
        from xlsxwriter.exceptions import FileCreateError
    except ImportError:
        raise MissingExtraError("excel", "xlsxwriter", "writing Excel files") from None
    with TemporaryDirectory() as folder:  # what it writes row by row goes, whatever happens
        book = Workbook(path, {**_OPTIONS, "tmpdir": folder})
        try:
            _fill(book, sheets)
            book.close()
        except FileCreateError as error:
            raise OSError(*getattr(error.args[0], "args", error.args)) from None
        finally:
            for sheet in book.worksheets():
                with suppress(AttributeError, OSError):
                    sheet.row_data_fh.close()


def _fill(book: Any, sheets: Mapping[str, pd.DataFrame]) -> None:
    for name, frame in sheets.items():
        for number, start in enumerate(range(0, max(1, len(frame)), MOST_ROWS), 1):
            title = name if number == 1 else f"{name} {number}"
            _write(book, book.add_worksheet(title), frame.iloc[start : start + MOST_ROWS])


def _write(book: Any, sheet: Any, table: pd.DataFrame) -> None:
    """Write a table to a sheet, row by row: no sheet is held in memory."""
    for place in range(table.shape[1]):  # by place, because a name may occur twice
        width = _width(str(table.columns[place]), table.iloc[:, place])
        sheet.set_column(place, place, width)
    sheet.freeze_panes(1, 1)
    if table.shape[1]:
        sheet.autofilter(0, 0, len(table), table.shape[1] - 1)
    bold = book.add_format({"bold": True})
    decimals = {name: book.add_format({"num_format": form}) for name, form in DECIMALS.items()}
    coloured = {name: book.add_format({"font_color": it}) for name, it in PRIORITY_COLOURS.items()}
    for place, name in enumerate(table.columns):
        sheet.write_string(0, place, _storable(str(name)), bold)
    styles: list[Callable[[Any], Any]] = [
        coloured.get if name == "priority" else functools.partial(lambda it, _: it, decimals.get(name))
        for name in table.columns
    ]
    links = [name == LINKED and len(table) <= _MOST_LINKS for name in table.columns]
    rows = iter(table.astype(object).itertuples(index=False, name=None))
    for row, values in enumerate(watched(rows, len(table), sheet.name, "row"), 1):
        for place, value in enumerate(values):
            if links[place] and _is_link(value):
                sheet.write_url(row, place, value, string=value)
            else:
                _write_cell(sheet, row, place, value, styles[place])


def _is_link(value: Any) -> bool:
    """Return whether a value is the address of a page that a sheet can link to."""
    web = isinstance(value, str) and value.startswith(("http://", "https://"))
    return web and len(value) <= _LONGEST_LINK and value.isascii() and value.isprintable()


def _width(name: str, column: pd.Series) -> int:
    """Return about how many characters wide a column should be."""
    shortest = 6 if is_numeric_dtype(column) else 10
    sample = (
        f"{value:g}" if isinstance(value, float) else str(value) for value in column.head(_SAMPLE).dropna()
    )
    return min(WIDEST, max([shortest, len(name) + 3, *(len(text) + 1 for text in sample)]))


def _write_cell(sheet: Any, row: int, place: int, value: Any, style: Callable[[Any], Any]) -> None:
    """Write a value as a sheet can hold it; a page's text is never a formula."""
    if not isinstance(value, str):
        if isinstance(value, (bool, np.bool_)):
            sheet.write_boolean(row, place, bool(value))
            return
        if isinstance(value, _NUMBERS) and math.isfinite(value):
            sheet.write_number(row, place, value, style(value))
            return
        if pd.isna(value):
            return
        if isinstance(value, (datetime, time)) and value.tzinfo is not None:
            value = value.isoformat()  # a sheet has no time zones
        elif isinstance(value, _TIMES):
            sheet.write_datetime(row, place, value)
            return
    sheet.write_string(row, place, _storable(str(value)), style(value))


def _storable(text: str) -> str:
    """Return a text without characters that no workbook can hold, cut to the length of a cell."""
    text = for_xml(encodable(text, "?")).replace("\r\n", "\n").replace("\r", "\n")[:LONGEST_CELL]
    marked_up = text.startswith("<r>") and text.endswith("</r>")  # which would be written as it stands
    return f"{text[: LONGEST_CELL - 1]} " if marked_up else text
