"""Frames as tables to read on a terminal."""

from __future__ import annotations

import shutil
import unicodedata
from collections import Counter
from typing import IO, Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

MOST_ROWS = 60
"""Rows shown of a longer frame, half from each end."""
MOST_ERRORS = 5
"""Different sentences of errors shown under a table."""
_GAP = "  "
_SMALLEST = 8


_PAGE, _FAILED = (("url", "page"),), (("error_type", "failed"),)
TABLES: dict[str, tuple[tuple[str, str], ...]] = {
    "audit": (
        *_PAGE,
        ("title", "title"),
        ("language", "lang"),
        ("wordCount", "words"),
        ("fleschReadingEase", "Flesch"),
        ("averageGradeLevel", "grade"),
        ("keywords", "keywords"),
        *_FAILED,
    ),
    "metadata": (*_PAGE, ("title", "title"), ("description", "description"), ("robots", "robots"), *_FAILED),
    "text": (*_PAGE, ("title", "title"), ("language", "lang"), ("text", "text"), *_FAILED),
    "readability": (
        *_PAGE,
        ("fleschReadingEase", "Flesch"),
        ("fleschReadingEaseText", "in words"),
        ("averageGradeLevel", "grade"),
        ("targetAudience", "audience"),
        ("wordCount", "words"),
        ("readingTimeMinutes", "minutes"),
        *_FAILED,
    ),
    "keywords": (
        *_PAGE,
        ("rank", "rank"),
        ("keyword", "keyword"),
        ("frequency", "frequency"),
        ("density", "density"),
        ("note", "note"),
        *_FAILED,
    ),
    "dane": (
        ("raw_record", "record"),
        ("hostname", "host"),
        ("port", "port"),
        ("usage", "usage"),
        ("selector", "selector"),
        ("matching", "matching"),
        ("is_valid", "valid"),
        ("security_level", "security"),
        ("matches_certificate", "matches"),
        *_FAILED,
    ),
    "hmac": (("message", "message"), ("hmac", "hmac"), *_FAILED),
    "phone": (
        ("input", "input"),
        ("phone", "phone"),
        ("isDisposable", "disposable"),
        ("firstSeen", "first seen"),
        ("country", "country"),
        ("line_type", "line"),
        ("valid", "valid"),
        *_FAILED,
    ),
    "convert": (
        ("image", "image"),
        ("inputSize", "bytes in"),
        ("outputSize", "bytes out"),
        ("saved_share", "saved"),
        ("width", "width"),
        ("height", "height"),
        ("path", "file"),
        *_FAILED,
    ),
    "sitemap": (
        ("url", "page"),
        ("lastmod", "changed"),
        ("priority", "priority"),
        ("sitemap", "sitemap"),
        *_FAILED,
    ),
}
"""Columns that a table shows with their headings, by operation; one that is empty throughout is left out."""


def _cells(column: pd.Series) -> list[str]:
    return [_cell(value) for value in column.tolist()]


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        value = ", ".join(str(key) for key in list(value)[:5])
    elif isinstance(value, list):
        value = f"{len(value)} items"
    elif isinstance(value, float):
        value = "" if value != value else f"{value:.2f}"
    elif value is None or value is pd.NA:
        value = ""
    # control characters of a page would act on the terminal
    return " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())


def width(text: str) -> int:
    """Return how many terminal cells a text takes (Unicode Standard Annex 11)."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def _fitted(text: str, size: int, right: bool = False) -> str:
    if width(text) > size:
        while text and width(text) > size - 1:
            text = text[:-1]
        text += "…"
    space = " " * (size - width(text))
    return space + text if right else text + space


def _sizes(columns: dict[str, list[str]], room: int) -> dict[str, int]:
    """Return the columns' widths: the widest gives way until the line fits."""
    sizes = {name: max([width(name), *map(width, cells)]) for name, cells in columns.items()}
    while sum(sizes.values()) + len(_GAP) * (len(sizes) - 1) > room:
        widest = max(sizes, key=lambda name: sizes[name])
        if sizes[widest] <= _SMALLEST:
            break
        sizes[widest] -= 1
    return sizes


def table(frame: pd.DataFrame, room: int) -> str:
    """Return the main columns of a frame as text of at most ``room`` cells a line."""
    operation = frame.attrs.get("webanalytics", {}).get("operation", "")
    wanted = TABLES.get(operation) or tuple((str(name), str(name)) for name in list(frame.columns)[:8])
    left_out = len(frame) - MOST_ROWS
    shown = frame if left_out <= 0 else pd.concat([frame.head(MOST_ROWS // 2), frame.tail(MOST_ROWS // 2)])
    columns = {heading: _cells(shown[name]) for name, heading in wanted if name in shown}
    columns = {heading: cells for heading, cells in columns.items() if any(cells) or not len(shown)}
    numbers = {heading for name, heading in wanted if name in shown and is_numeric_dtype(shown[name])}
    while len(columns) > 1 and (_SMALLEST + len(_GAP)) * len(columns) > room:
        columns.popitem()
    sizes = _sizes(columns, room)
    lines = [_GAP.join(_fitted(name, sizes[name], name in numbers) for name in columns).rstrip()]
    lines.append(_GAP.join("-" * sizes[name] for name in columns))
    for number, row in enumerate(zip(*columns.values(), strict=True)):
        if left_out > 0 and number == MOST_ROWS // 2:
            lines.append(f"... {left_out} more rows ...")
        lines.append(
            _GAP.join(
                _fitted(cell, sizes[name], name in numbers) for name, cell in zip(columns, row, strict=True)
            ).rstrip()
        )
    failed = int((frame["status"] != "ok").sum()) if "status" in frame else 0
    lines.append(f"\n{len(frame)} rows, {failed} failed")
    return "\n".join(lines)


def print_table(frame: pd.DataFrame, file: IO[str]) -> None:
    """Print the main columns of a frame, as wide as the terminal."""
    print(table(frame, shutil.get_terminal_size((110, 40)).columns), file=file)


def print_errors(frame: pd.DataFrame, file: IO[str]) -> None:
    """Print the most frequent sentences of failed rows, each with how many rows it is of."""
    if "error" not in frame.columns:
        return
    sentences = Counter(_cell(value) for value in frame["error"].tolist())
    del sentences[""]
    for sentence, count in sentences.most_common(MOST_ERRORS):
        print(f"{count} x {sentence}", file=file)
    if len(sentences) > MOST_ERRORS:
        print(f"... {len(sentences) - MOST_ERRORS} more errors ...", file=file)
