"""A frame of pages -> columns of plain, short cells that a browser can hold."""

from __future__ import annotations

import functools
import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from pandas.api import types

from webanalytics.core.strings import encodable
from webanalytics.runs.frames import output_files
from webanalytics.runs.frames.arrow import ADDED
from webanalytics.runs.frames.schema import is_missing

MOST_ROWS = 100_000
"""Most rows sent to the browser; the frame itself keeps them all."""

MANY_PAGES = 5_000
"""Of more rows, issues are looked for and the table's columns are sent only when somebody asks for them."""

FIRST_ROWS = 200
"""Rows of so long a table that the browser has at once."""

LONGEST_CELL = 300
FEW_VALUES = 15
"""A column with no more distinct values than this is filtered by choosing one."""

PAGES: tuple[str, ...] = (
    *("url", "status", "score", "high", "medium", "low", "title", "description", "h1", "indexable"),
    *("page_type", "wordCount", "averageGradeLevel", "audience", "language", "http_status", "elapsed"),
    "error",
)
METADATA: tuple[str, ...] = (
    *("url", "title", "title_pixels", "title_length", "description", "description_pixels"),
    *("description_length", "h1", "h1_count", "images_without_alt_count", "robots", "canonical"),
    *("og:title", "og:image"),
)
READABILITY: tuple[str, ...] = (
    *("url", "audience", "readability_score", "readability_scale", "readability_note"),
    *("averageGradeLevel", "fleschReadingEase", "fleschReadingEaseText"),
    *("fleschKincaidGrade", "gunningFog", "colemanLiauIndex", "smogIndex"),
    *("automatedReadabilityIndex", "daleChallReadabilityScore", "wordCount", "sentenceCount"),
    *("readingTimeMinutes", "language"),
)
KEYWORDS: tuple[str, ...] = ("url", "keywords", "language", "note")
VIEWS = {"pages": PAGES, "readability": READABILITY, "keywords": KEYWORDS, "metadata": METADATA}
"""The columns of each tab's table by use; those that neither the frame nor the rules have are left out."""

FIRST_COLUMNS = 12
"""How many columns of a frame of another kind are shown."""

LABELS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("labels.toml").read_text("utf-8")
)
"""What columns are called on the screen, by the kind of table."""

Cell = str | float | bool | None
T = TypeVar("T", str, list[Any])


def clean(text: str, longest: int = LONGEST_CELL) -> str:
    """Return text cut to a length, without characters that no encoding can store.

    Examples
    --------
    >>> clean("tea for two", 8)
    'tea for…'
    """
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return encodable(cut, "?")


def label(name: str) -> str:
    """Return what a column is called on the screen."""
    return LABELS["pages"].get(name, clean(str(name), 40))


OF_KEYWORDS = frozenset(("words", *(field.name for field in ADDED["keywords"])))
"""Columns of a tidy frame that are about one keyword, not about the page."""


def pages_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per page; the rows of a page in a tidy frame of keywords become one.

    Columns whose name occurs twice are left out, because the name is ambiguous.

    Examples
    --------
    >>> tidy = pd.DataFrame({"url": ["a", "a"], "keyword": ["tea", "leaf"], "frequency": [3, 1]})
    >>> pages_of(tidy)["keywords"].tolist()
    [{'tea': 3, 'leaf': 1}]
    """
    uses = Counter(map(str, frame.columns))
    frame = frame.loc[:, [uses[str(name)] == 1 for name in frame.columns]]
    if not {"url", "keyword", "frequency"} <= set(frame.columns):
        return frame
    maps: dict[Any, dict[str, int]] = {}
    for url, word, count in zip(frame["url"], frame["keyword"], frame["frequency"], strict=True):
        words = maps.setdefault(url, {})
        if isinstance(word, str) and word and not pd.isna(count):
            words[word] = int(count)
    tidy = [name for name in frame.columns if name in OF_KEYWORDS]
    pages = frame.drop_duplicates("url").drop(columns=tidy)
    pages["keywords"] = pd.Series([maps[url] for url in pages["url"]], index=pages.index, dtype=object)
    return pages


def has_keyword_maps(pages: pd.DataFrame) -> bool:
    """Return whether the column ``keywords`` holds maps of frequencies, not meta keywords."""
    if list(pages.columns).count("keywords") != 1:
        return False
    return not any(isinstance(value, str) for value in pages["keywords"].tolist())


def _all_of(kind: type[T], frame: pd.DataFrame, name: str) -> list[T]:
    """Return a column as values of one type, empty where a value is of another or the column is missing."""
    values = frame[name].tolist() if list(frame.columns).count(name) == 1 else [None] * len(frame)
    return [value if isinstance(value, kind) else kind() for value in values]


texts = functools.partial(_all_of, str)
lists = functools.partial(_all_of, list)


def _of_read(pages: pd.DataFrame, cells: Iterable[Cell]) -> list[Cell]:
    statuses = texts(pages, "status")
    return [None if status == "error" else cell for cell, status in zip(cells, statuses, strict=True)]


def _lengths(pages: pd.DataFrame, name: str) -> list[Cell]:
    return _of_read(pages, [len(text.strip()) for text in texts(pages, name)])


def _repeated(pages: pd.DataFrame) -> list[Cell]:
    titles = [text.strip() for text in texts(pages, "title")]
    uses = Counter(titles)
    return [bool(text) and uses[text] > 1 for text in titles]


def _h1(pages: pd.DataFrame) -> list[Cell]:
    found = (_first_headings(items) for items in lists(pages, "headings"))
    return [clean(texts[0]) if texts else None for texts in found]


def _h1_count(pages: pd.DataFrame) -> list[Cell]:
    return _of_read(pages, [len(_first_headings(items)) for items in lists(pages, "headings")])


def _without_alt(pages: pd.DataFrame) -> list[Cell]:
    if "images_without_alt" in pages.columns:
        return _of_read(pages, [len(items) for items in lists(pages, "images_without_alt")])
    images = lists(pages, "imgTags")
    return _of_read(pages, [sum(not _get(item, "alt") for item in items) for items in images])


_DERIVED: Mapping[str, tuple[set[str], str, Callable[[pd.DataFrame], list[Cell]]]] = {
    "title_length": ({"title"}, "number", lambda pages: _lengths(pages, "title")),
    "description_length": ({"description"}, "number", lambda pages: _lengths(pages, "description")),
    "title_repeated": ({"title"}, "boolean", _repeated),
    "h1": ({"headings"}, "text", _h1),
    "h1_count": ({"headings"}, "number", _h1_count),
    "images_without_alt_count": ({"images_without_alt", "imgTags"}, "number", _without_alt),
}
"""Columns that the explorer adds: of which ones they are made, their kind, and how."""


def keys_of(pages: pd.DataFrame) -> list[str]:
    """Return the columns that a table can have: the frame's, and the lengths and counts made of them.

    Examples
    --------
    >>> keys_of(pd.DataFrame({"url": ["https://a.example/"], "title": ["Tea"]}))
    ['url', 'title', 'title_length', 'title_repeated']
    """
    uses = Counter(map(str, pages.columns))
    own = [name for name, count in uses.items() if count == 1]
    return own + [key for key, (needs, *_) in _DERIVED.items() if key not in uses and needs & set(own)]


def _first_headings(items: list[Any]) -> list[str]:
    found = (_get(item, "text") for item in items if _get(item, "level") == "h1")
    return [" ".join(text.split()) for text in found if isinstance(text, str) and text.strip()]


def _get(item: Any, key: str) -> Any:
    return item.get(key) if isinstance(item, Mapping) else None


def table(pages: pd.DataFrame) -> dict[str, Any]:
    """Return the table that goes to the browser, and the columns that each tab shows of it.

    The cells of a long one are those of its first rows; the browser asks for the columns that a tab shows.
    """
    shown = pages.iloc[:MOST_ROWS]
    keys = keys_of(shown)
    of_views = {key for view in VIEWS.values() for key in view}
    known = of_views | {"title_repeated", "meta_keywords", "error_type"}
    is_pages = bool(known & set(map(str, pages.columns)) - {"url", "status", "error", "error_type", "title"})
    views = {view: list(of_view) for view, of_view in VIEWS.items()}
    if not is_pages:
        views["pages"] = [key for key in keys if key not in _DERIVED][:FIRST_COLUMNS]
    is_long = len(shown) > MANY_PAGES
    wanted = {*(of_views if is_long else known), *views["pages"]}
    loaded = [key for key in keys if key in wanted]
    first = shown.head(FIRST_ROWS) if is_long else shown
    return {
        "length": len(shown),
        "total": len(pages),
        "columns": [column(first, key) for key in loaded],
        "others": [{"key": key, "label": label(key)} for key in keys if key not in loaded],
        "views": views,
    }


def column(pages: pd.DataFrame, key: str) -> dict[str, Any]:
    """Return one column of the table: key, label, kind (text, number, boolean), cells and choices."""
    own = [name for name in pages.columns if str(name) == key]
    if own:
        values, kind = _plain(pages[own[0]], key)
    else:
        _, kind, made_of = _DERIVED[key]
        values = made_of(pages)
    called = label("meta_keywords" if key == "keywords" and not has_keyword_maps(pages) else key)
    made: dict[str, Any] = {"key": key, "label": called, "kind": kind, "cells": values}
    if kind == "number" and any(isinstance(value, float) and value % 1 for value in values):
        made["decimals"] = 3 if key == "elapsed" else 2
    choices = _choices(key, values) if kind == "text" else []
    if choices:
        made["choices"] = choices
    return made


def _plain(series: pd.Series[Any], key: str) -> tuple[list[Cell], str]:
    if types.is_object_dtype(series.dtype) and types.infer_dtype(series) in _PLAIN:
        series = series.convert_dtypes()
    if types.is_bool_dtype(series.dtype):
        return [None if pd.isna(value) else bool(value) for value in series.tolist()], "boolean"
    is_real = types.is_numeric_dtype(series.dtype) and not types.is_complex_dtype(series.dtype)
    # a browser would round so long an integer
    if is_real and not (types.is_integer_dtype(series.dtype) and (series.dropna().abs() > 2**53).any()):
        return [_number(value) for value in series.tolist()], "number"
    values = series.tolist()
    present = [value for value in values if not is_missing(value)]
    if present and all(isinstance(value, list) for value in present):
        return [len(value) if isinstance(value, list) else None for value in values], "number"
    return [_text(value, key) for value in values], "text"


_PLAIN = frozenset(("boolean", "integer", "floating", "mixed-integer-float"))
"""What objects of a column may be, besides None, to be shown as numbers or booleans."""


def _number(value: Any) -> float | None:
    if pd.isna(value) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value if isinstance(value, float) else int(value)


def _text(value: Any, key: str) -> str | None:
    if is_missing(value):
        return None
    if isinstance(value, str):
        return clean(value)
    if key == "keywords" and isinstance(value, Mapping):
        return clean(", ".join(str(word) for word in list(value)[:8]))
    return clean(as_text(value))


def as_text(value: Any) -> str:
    """Return any value as text: JSON for lists and dicts, the size of bytes."""
    if isinstance(value, (bytes, bytearray)):
        return f"<{len(value):,} bytes>"
    return output_files.as_text(value)


def _choices(key: str, values: Iterable[Cell]) -> list[str]:
    if key in ("url", "final_url", "title", "description", "h1", "error"):
        return []
    counts = pd.Series([value for value in values if value], dtype=object).value_counts()
    if not 0 < len(counts) <= FEW_VALUES or any(len(str(value)) > 60 for value in counts.index):
        return []
    return [str(value) for value in counts.index]
