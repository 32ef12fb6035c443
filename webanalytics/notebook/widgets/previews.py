"""The previews of a page in search results and on social cards, and links that download files."""

from __future__ import annotations

import io
import tempfile
from bisect import bisect
from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pandas as pd

from webanalytics.audits.content.pixels import DESCRIPTION_SIZE, TITLE_SIZE, text_width, text_widths
from webanalytics.errors import choice
from webanalytics.notebook.explorer.summary import cell
from webanalytics.notebook.explorer.table import as_text, clean, label
from webanalytics.runs.frames.output_files import write_csv, write_frame
from webanalytics.runs.frames.schema import is_missing
from webanalytics.thresholds import DESCRIPTION_PIXELS, TITLE_PIXELS
from webanalytics.urls import is_web

CARD_TITLE_LIMIT = 70
LONGEST_FIELD = 2_000
LONGEST_TEXT = 6_000
"""Characters of a page's text that are shown."""
MOST_HEADINGS = 60
LONGEST_MEASURED = 2_000
"""Characters of a title or description that are measured; far more than any result shows."""

_FACTS = (
    ("http_status", "HTTP"),
    ("indexability", ""),
    ("wordCount", "words"),
    ("averageGradeLevel", "Grade"),
    ("audience", ""),
    ("language", "Language"),
    ("elapsed", "s"),
)
_BEFORE = ("HTTP", "Grade", "Language")
_ELSEWHERE = ("headings", "keywords", "text")


def details(row: Mapping[str, Any], limits: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Return what the explorer shows about one page besides its issues, by name."""
    has_metadata = "title" in row and ("description" in row or "og:title" in row)
    text = row.get("text")
    shown = text if isinstance(text, str) else ""
    return {
        "facts": _facts(row),
        "search": search_result(row, limits) if has_metadata else None,
        "card": social_card(row) if has_metadata else None,
        "headings": _headings(row.get("headings")),
        "keywords": _keywords(row.get("keywords")),
        "text": clean(shown, LONGEST_TEXT),
        "cut": len(shown) > LONGEST_TEXT,
        "fields": [
            [label(str(name)), clean(as_text(value), LONGEST_FIELD)]
            for name, value in row.items()
            if not _empty(value) and not (name in _ELSEWHERE and _shown(name, value))
        ],
    }


def search_result(row: Mapping[str, Any], limits: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Return the parts of a search result: where, title and description, each with its measures and limits.

    Examples
    --------
    >>> page = {"url": "https://tea.example/green/sencha", "title": "Sencha", "description": ""}
    >>> preview = search_result(page)
    >>> preview["host"], preview["trail"], preview["title"]["text"], preview["description"]["state"]
    ('tea.example', ['green', 'sencha'], 'Sencha', 'missing')
    >>> [preview["title"][key] for key in ("pixels", "limits", "characters", "state")]
    [68, [200, 561], 6, 'short']
    """
    canonical = _first(row, "canonical")
    address = canonical if is_web(canonical) else _first(row, "final_url", "url")
    host, trail = _address(address)
    known = limits or {}
    return {
        "url": clean(address, LONGEST_FIELD),
        "host": host,
        "trail": trail,
        "site": clean(_first(row, "og:site_name", "application-name"), 80),
        "title": _measured(row, "title", TITLE_SIZE, _limits(known, "title", TITLE_PIXELS)),
        "description": _measured(
            row, "description", DESCRIPTION_SIZE, _limits(known, "description", DESCRIPTION_PIXELS)
        ),
    }


def social_card(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a social card, which fall back from card tags to Open Graph to the page."""
    image = _first(row, "card:image", "og:image:secure_url", "og:image", "image")
    large = _first(row, "card:card").strip().lower() != "summary"
    host, _ = _address(_first(row, "og:url", "final_url", "url"))
    title = _first(row, "card:title", "og:title", "title")
    return {
        "host": host,
        "title": clean(title, CARD_TITLE_LIMIT),
        "description": clean(_first(row, "card:description", "og:description", "description"), 200),
        "image": image if is_web(image) and len(image) <= LONGEST_FIELD else "",
        "alt": clean(_first(row, "card:image:alt", "og:image:alt"), 200),
        "large": large,
        "missing": [
            name for name in ("og:title", "og:description", "og:image", "card:card") if not _first(row, name)
        ],
    }


def _limits(known: Mapping[str, float], name: str, usual: tuple[int, int]) -> list[float]:
    ends = (known.get(f"{name}_too_short", usual[0]), known.get(f"{name}_too_long", usual[1]))
    return [int(end) if float(end).is_integer() else end for end in ends]


def _measured(row: Mapping[str, Any], name: str, size: float, limits: list[float]) -> dict[str, Any]:
    given = row.get(name)
    text = given[:LONGEST_MEASURED] if isinstance(given, str) else ""
    folded = " ".join(text.split())
    pixels = text_widths([text], size=size)[0] or 0
    if not folded:
        state = "missing"
    elif pixels > limits[1]:
        state = "long"
    else:
        state = "short" if 0 < pixels < limits[0] else "good"
    return {
        "text": clean(_fitted(folded, size, limits[1]), LONGEST_MEASURED),
        "pixels": pixels,
        "characters": len(given) if isinstance(given, str) else 0,
        "limits": limits,
        "state": state,
    }


def _fitted(text: str, size: float, most: float) -> str:
    if text_width(text, size) <= most:
        return text
    room = most - text_width(" …", size)
    end = bisect(range(1, len(text)), room, key=lambda end: text_width(text[:end], size))
    words = text[: end + 1].rpartition(" ")[0] or text[:end]
    return f"{words.rstrip()} …"


def _facts(row: Mapping[str, Any]) -> list[str]:
    found = []
    for name, unit in _FACTS:
        value = row.get(name)
        if is_missing(value) or not isinstance(value, (str, Real)) or value == "":
            continue
        if isinstance(value, str):
            shown = value
        else:
            counted = float(value).is_integer() and name != "http_status"
            shown = f"{value:,.0f}" if counted else cell(float(value))
        text = f"{unit} {shown}" if unit in _BEFORE else f"{shown} {unit}"
        found.append(clean(text.strip(), 60))
    return found


def _address(url: str) -> tuple[str, list[str]]:
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return clean(url, 80), []
    trail = [clean(unquote(part), 40) for part in parts.path.split("/") if part]
    return clean(host, 80), trail if len(trail) <= 4 else [trail[0], "…", *trail[-2:]]


def _first(row: Mapping[str, Any], *names: str) -> str:
    found = map(row.get, names)
    return next((value for value in found if isinstance(value, str) and value.strip()), "")


def _empty(value: Any) -> bool:
    return not value if isinstance(value, (list, dict, tuple, str)) else is_missing(value)


def _shown(name: str, value: Any) -> bool:
    if name == "text":
        return isinstance(value, str) and len(value) <= LONGEST_TEXT
    return isinstance(value, (list, Mapping)) or name != "keywords"


def _headings(found: Any) -> list[list[Any]]:
    items = found if isinstance(found, list) else []
    levels = {f"h{number}": number for number in range(1, 7)}
    return [
        [levels[item["level"]], clean(str(item.get("text", "")), 200)]
        for item in items[:MOST_HEADINGS]
        if isinstance(item, Mapping) and item.get("level") in levels
    ]


def _keywords(found: Any) -> list[list[Any]]:
    words = found if isinstance(found, Mapping) else {}
    return [[clean(str(word), 80), int(count)] for word, count in list(words.items())[:50]]


TYPES = {
    "csv": "text/csv;charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""Formats of a download and their media types."""


def file_bytes(frame: pd.DataFrame, kind: str) -> bytes:
    """Return a frame as the bytes of a CSV, Parquet or Excel file; lists and dicts become JSON text.

    Notes
    -----
    A text that a spreadsheet would evaluate gets an apostrophe in the CSV
    (`webanalytics.runs.frames.output_files`); Excel files mark it as text. The CSV begins with a byte order
    mark, by which Excel recognises UTF-8.

    Examples
    --------
    >>> file_bytes(pd.DataFrame({"title": ["=1+1", "Tea"]}), "csv").decode("utf-8-sig").split()
    ['title', "'=1+1", 'Tea']
    """
    choice("format", kind, TYPES)
    if kind == "csv":
        text = io.StringIO(newline="")
        write_csv(frame, text)
        return text.getvalue().encode("utf-8-sig", "replace")
    with tempfile.TemporaryDirectory(prefix="webanalytics-") as folder:  # a workbook needs a disk in any case
        return write_frame(frame, Path(folder) / f"download.{kind}").read_bytes()
