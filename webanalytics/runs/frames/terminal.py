"""Frames as tables to read on a terminal."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from webanalytics.core.strings import GAP, NARROWEST, one_line, table_lines
from webanalytics.operations import OPERATIONS

MOST_ROWS = 60
"""Rows shown of a longer frame, half from each end."""
MOST_ERRORS = 5
"""Distinct error messages shown under a table."""

_FAILED = ("error_type", "failed")
TABLES: dict[str, tuple[tuple[str, str], ...]] = {
    "audit": (
        ("url", "page"),
        ("title", "title"),
        ("language", "lang"),
        ("wordCount", "words"),
        ("fleschReadingEase", "Flesch"),
        ("averageGradeLevel", "grade"),
        ("keywords", "keywords"),
    ),
    "sitemap": (("url", "page"), ("lastmod", "changed"), ("priority", "priority"), ("sitemap", "sitemap")),
}
"""Columns and headings of the tables of frames that no single operation makes."""


def _main_columns(frame: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    """Return the columns of a frame to show, with their headings: those that its operation declares."""
    name = frame.attrs.get("webanalytics", {}).get("operation", "")
    declared = TABLES.get(name) or (OPERATIONS[name].table if name in OPERATIONS else ())
    if declared:
        return (*declared, _FAILED)
    return tuple((str(column), str(column)) for column in list(frame.columns)[:8])


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        value = ", ".join(str(key) for key in list(value)[:5])
    elif isinstance(value, list):
        value = f"{len(value)} items"
    elif isinstance(value, float):
        value = "" if value != value else f"{value:.2f}"
    elif value is None or value is pd.NA:
        value = ""
    return one_line(str(value))


def table(frame: pd.DataFrame, room: int) -> str:
    """Return the main columns of a frame as text, at most ``room`` characters wide."""
    wanted = _main_columns(frame)
    left_out = len(frame) - MOST_ROWS
    shown = frame if left_out <= 0 else pd.concat([frame.head(MOST_ROWS // 2), frame.tail(MOST_ROWS // 2)])
    columns = {heading: [*map(_cell, shown[name].tolist())] for name, heading in wanted if name in shown}
    columns = {heading: cells for heading, cells in columns.items() if any(cells) or not len(shown)}
    numbers = {heading for name, heading in wanted if name in shown and is_numeric_dtype(shown[name])}
    while len(columns) > 1 and (NARROWEST + len(GAP)) * len(columns) > room:
        columns.popitem()
    rows = zip(*columns.values(), strict=True)
    lines = table_lines([*columns], rows, numbers=numbers, width=room, rule=True)
    if left_out > 0:
        lines.insert(2 + MOST_ROWS // 2, f"... {left_out} more rows ...")
    lines.append(f"\n{counted_rows(frame)}, {int(_failed(frame).sum())} failed")
    return "\n".join(lines)


def counted_rows(frame: pd.DataFrame) -> str:
    """Return how many rows a frame has, in words."""
    return f"{len(frame)} row{'s' * (len(frame) != 1)}"


def _failed(frame: pd.DataFrame) -> NDArray[np.bool_]:
    if "status" not in frame:
        return np.zeros(len(frame), dtype=bool)
    return np.asarray(frame["status"] != "ok", dtype=bool)


def failures(frame: pd.DataFrame, worded: Callable[[str], str] = str) -> str:
    """Return how many rows failed and why the first of them, as ``worded`` says it; "" where none did.

    >>> failures(pd.DataFrame({"status": ["ok", "error"], "error": [None, "The host does not exist."]}))
    '1 failed: The host does not exist.'
    """
    rows = np.flatnonzero(_failed(frame))
    if not len(rows):
        return ""
    first = _cell(frame["error"].iloc[rows[0]]) if "error" in frame else ""
    count = f"{len(rows)} failed{', the first' * (len(rows) > 1)}"
    return f"{count}: {worded(first)}" if first else f"{len(rows)} failed"


def print_table(frame: pd.DataFrame, file: IO[str]) -> None:
    """Print the main columns of a frame, as wide as the terminal."""
    print(table(frame, shutil.get_terminal_size((110, 40)).columns), file=file)


def print_errors(frame: pd.DataFrame, file: IO[str], worded: Callable[[str], str] = str) -> None:
    """Print the most frequent errors of failed rows, each with its number of rows, as ``worded`` says it."""
    if "error" not in frame.columns:
        return
    sentences = Counter(_cell(value) for value in frame["error"].tolist())
    del sentences[""]
    for sentence, count in sentences.most_common(MOST_ERRORS):
        print(f"{count} x {worded(sentence)}", file=file)
    if len(sentences) > MOST_ERRORS:
        print(f"... {len(sentences) - MOST_ERRORS} more errors ...", file=file)
