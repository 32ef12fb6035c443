"""Columns besides ``url`` and ``html`` -> page records: what a frame of saved pages says about their fetches.

Cells of an unexpected form count as missing: a crawl's table may hold anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.core.outcomes import Fetched, PageRecord, Source, read_certificate
from webanalytics.fetching.response import LONGEST_HEADER, header_block, header_lines
from webanalytics.urls import without_user

COLUMNS = (
    "http_status",
    "status",
    "headers",
    "final_url",
    "redirects",
    "redirect_kinds",
    "content_type",
    "x_robots_tag",
    "elapsed",
    "fetched_at",
    "source",
    "certificate",
)
"""Columns that are read; ``status`` only without ``http_status``, and only its numbers."""


def page_records(frame: pd.DataFrame, urls: list[Any]) -> list[Any]:
    """Return a record for each row with HTML; a row without it is a URL to fetch like any other."""
    names = list(frame.columns)
    known = [name for name in COLUMNS if names.count(name) == 1]
    cells = [frame[name].astype(object).tolist() for name in known]
    rows = zip(*cells, strict=True) if cells else iter([()] * len(frame))
    return [
        PageRecord(_text(url) or "", html, _fetched(_text(url), dict(zip(known, row, strict=True))))
        if isinstance(html, (str, bytes))
        else url
        for url, html, row in zip(urls, frame["html"].tolist(), rows, strict=True)
    ]


def _fetched(url: str | None, cells: Mapping[str, Any]) -> Fetched:
    headers = _headers(cells.get("headers"))
    final, passed = _text(cells.get("final_url")), cells.get("redirects")
    way = _texts(passed)
    redirects = way if way is not None else (url,) if final and url and final != url else ()
    status = _status(cells.get("http_status"))
    source: Source = next((known for known in _SOURCES if known == cells.get("source")), "saved")
    return Fetched(
        final_url=final,
        redirects=redirects,
        http_status=_status(cells.get("status")) if status is None else status,
        elapsed=_seconds(cells.get("elapsed")),
        content_type=_said(cells.get("content_type"), headers, "content-type"),
        x_robots_tag=_said(cells.get("x_robots_tag"), headers, "x-robots-tag"),
        redirect_kinds=_kinds(
            cells.get("redirect_kinds"), len(redirects), way is not None or final is not None
        ),
        headers=None if headers is None else header_block(headers),
        fetched_at=_time(cells.get("fetched_at")),
        source=source,
        certificate=read_certificate(cells.get("certificate")),
    )


_SOURCES: tuple[Source, ...] = ("archive", "rendered")


def _kinds(cell: Any, hops: int, known: bool) -> tuple[str, ...] | None:
    """Return the kind of each redirect, empty where only the way is known, None where nothing is."""
    kinds = _texts(cell)
    if kinds and len(kinds) == hops:
        return tuple(kind[:10] for kind in kinds)
    return () if known else None


def _texts(cell: Any) -> tuple[str, ...] | None:
    is_list = isinstance(cell, (list, tuple, np.ndarray))
    return tuple(map(without_user, cell)) if is_list and all(isinstance(item, str) for item in cell) else None


def _text(cell: Any) -> str | None:
    return without_user(cell.strip()) or None if isinstance(cell, str) else None


def _status(cell: Any) -> int | None:
    number = isinstance(cell, (int, float, np.integer)) and not isinstance(cell, bool)
    return int(cell) if number and cell == cell and 100 <= cell <= 599 and cell == int(cell) else None


def _seconds(cell: Any) -> float | None:
    return float(cell) if isinstance(cell, (int, float)) and 0 <= cell < 1e9 else None


def _time(cell: Any) -> str | None:
    if isinstance(cell, datetime):
        return None if pd.isna(cell) else cell.isoformat(timespec="seconds")
    return cell[:40] if isinstance(cell, str) and cell else None


def _headers(cell: Any) -> list[tuple[str, str]] | None:
    """Return headers given as a mapping, as pairs, or as the lines of a response."""
    if isinstance(cell, str):
        return header_lines(cell)
    pairs = cell.items() if isinstance(cell, Mapping) else cell
    if not isinstance(cell, (Mapping, list, tuple)) or not all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs
    ):
        return None
    several = ((name, value if isinstance(value, (list, tuple)) else (value,)) for name, value in pairs)
    return [(str(name), str(value)) for name, values in several for value in values]


def _said(cell: Any, headers: list[tuple[str, str]] | None, name: str) -> str | None:
    """Return a header from its own column, else from the headers; "" if they are known to lack it."""
    if isinstance(cell, str):
        return cell[:LONGEST_HEADER]
    if headers is None:
        return None
    return "\n".join(value for own, value in headers if own.lower() == name)[:LONGEST_HEADER]
