"""A frame of pages -> columns of plain, short cells that a browser can hold."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

from webanalytics.core.strings import encodable
from webanalytics.runs.frames import output_files
from webanalytics.runs.frames.arrow import ADDED
from webanalytics.runs.frames.schema import is_missing

MOST_ROWS = 50_000
"""Most rows sent to the browser; the frame itself keeps them all."""

MOST_CHARACTERS = 20_000_000
"""Characters of text sent to the browser for one table, roughly."""

LONGEST_CELL = 300
SHORTEST_CUT = 60
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


def texts(frame: pd.DataFrame, name: str) -> list[str]:
    """Return a column as text, empty where a value is missing or not text, or the column is missing."""
    if list(frame.columns).count(name) != 1:
        return [""] * len(frame)
    return [value if isinstance(value, str) else "" for value in frame[name].tolist()]


def lists(frame: pd.DataFrame, name: str) -> list[list[Any]]:
    """Return a column of lists, empty where a value is not a list."""
    if list(frame.columns).count(name) != 1:
        return [[] for _ in range(len(frame))]
    return [value if isinstance(value, list) else [] for value in frame[name].tolist()]


def with_derived(frame: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the columns that the explorer adds: lengths and counts that a page audit asks for."""
    derived: dict[str, list[Any]] = {}
    read = [status != "error" for status in texts(frame, "status")]
    for name in ("title", "description"):
        if name in frame.columns:
            lengths = [len(text.strip()) for text in texts(frame, name)]
            derived[f"{name}_length"] = [
                length if ok else None for length, ok in zip(lengths, read, strict=True)
            ]
    if "title" in frame.columns:
        titles = [text.strip() for text in texts(frame, "title")]
        uses = pd.Series(titles, dtype=object).value_counts().to_dict()
        derived["title_repeated"] = [bool(text) and uses[text] > 1 for text in titles]
    if "headings" in frame.columns:
        found = [_first_headings(items) for items in lists(frame, "headings")]
        derived["h1"] = [clean(texts[0]) if texts else None for texts in found]
        derived["h1_count"] = [len(texts) if ok else None for texts, ok in zip(found, read, strict=True)]
    if "images_without_alt" in frame.columns:
        bare = [len(items) for items in lists(frame, "images_without_alt")]
        derived["images_without_alt_count"] = [
            count if ok else None for count, ok in zip(bare, read, strict=True)
        ]
    elif "imgTags" in frame.columns:
        bare = [sum(not _get(item, "alt") for item in items) for items in lists(frame, "imgTags")]
        derived["images_without_alt_count"] = [
            count if ok else None for count, ok in zip(bare, read, strict=True)
        ]
    return derived


def _first_headings(items: list[Any]) -> list[str]:
    found = (_get(item, "text") for item in items if _get(item, "level") == "h1")
    return [" ".join(text.split()) for text in found if isinstance(text, str) and text.strip()]


def _get(item: Any, key: str) -> Any:
    return item.get(key) if isinstance(item, Mapping) else None


def table(pages: pd.DataFrame) -> dict[str, Any]:
    """Return the table that goes to the browser, and the columns that each tab shows of it."""
    shown = pages.iloc[:MOST_ROWS]
    derived = with_derived(shown)
    uses = Counter(map(str, pages.columns))
    names = [name for name, count in uses.items() if count == 1]
    known = {key for keys in VIEWS.values() for key in keys} | {
        "title_repeated",
        "meta_keywords",
        "error_type",
    }
    is_pages = bool(known & set(names) - {"url", "status", "error", "error_type", "title"})
    views = {view: list(keys) for view, keys in VIEWS.items()}
    if not is_pages:
        views["pages"] = names[:FIRST_COLUMNS]
    loaded = [key for key in (*names, *derived) if key in known or key in views["pages"]]
    cut = max(SHORTEST_CUT, min(LONGEST_CELL, MOST_CHARACTERS // max(1, len(shown) * len(loaded))))
    return {
        "length": len(shown),
        "total": len(pages),
        "columns": [column(shown, derived, key, cut) for key in loaded],
        "others": [{"key": key, "label": label(key)} for key in names if key not in loaded],
        "views": views,
    }


def column(
    pages: pd.DataFrame, derived: Mapping[str, list[Any]], key: str, longest: int = LONGEST_CELL
) -> dict[str, Any]:
    """Return one column of the table: key, label, kind (text, number, boolean), cells and choices."""
    if key in derived:
        values = derived[key]
        kind = {"title_repeated": "boolean", "h1": "text"}.get(key, "number")
    else:
        values, kind = _plain(pages[_name(pages, key)], key, longest)
    called = label("meta_keywords" if key == "keywords" and not has_keyword_maps(pages) else key)
    made: dict[str, Any] = {"key": key, "label": called, "kind": kind, "cells": values}
    if kind == "number" and any(isinstance(value, float) for value in values):
        made["decimals"] = 3 if key == "elapsed" else 2
    choices = _choices(key, values) if kind == "text" else []
    if choices:
        made["choices"] = choices
    return made


def _name(pages: pd.DataFrame, key: str) -> Any:
    return next(name for name in pages.columns if str(name) == key)


def _plain(series: pd.Series[Any], key: str, longest: int) -> tuple[list[Cell], str]:
    if is_bool_dtype(series.dtype):
        return [None if pd.isna(value) else bool(value) for value in series.tolist()], "boolean"
    if is_numeric_dtype(series.dtype) and not is_complex_dtype(series.dtype):
        return [_number(value) for value in series.tolist()], "number"
    values = series.tolist()
    present = [value for value in values if not is_missing(value)]
    if present and all(isinstance(value, list) for value in present):
        return [len(value) if isinstance(value, list) else None for value in values], "number"
    return [_text(value, key, longest) for value in values], "text"


def _number(value: Any) -> float | None:
    if pd.isna(value) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return round(value, 4) if isinstance(value, float) else int(value)


def _text(value: Any, key: str, longest: int) -> str | None:
    if is_missing(value):
        return None
    if isinstance(value, str):
        return clean(value, longest)
    if key == "keywords" and isinstance(value, Mapping):
        return clean(", ".join(str(word) for word in list(value)[:8]), longest)
    return clean(as_text(value), longest)


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
