"""Sitemaps -> a frame of URLs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice, repeat
from typing import Any

import pandas as pd

from webanalytics.core.access_by_host import access_for, without_logins
from webanalytics.core.messages import Message, row_sentence
from webanalytics.errors import ParameterError
from webanalytics.fetching import Fetcher, SitemapTree, read_sitemap
from webanalytics.fetching.sitemap import COUNTED, SitemapFile
from webanalytics.operations import Field
from webanalytics.runs.backends.local import fetch_settings
from webanalytics.runs.frames.inputs import addresses_of
from webanalytics.runs.frames.kinds import in_kind
from webanalytics.runs.frames.schema import SITEMAP_FIELDS, as_frame, make_series
from webanalytics.urls import without_user

_COUNTS = {plural: kind for kind, plural in COUNTED.items()}
BLOCK_ROWS = 50_000
"""Rows whose cells are objects at once while a column is made."""
_FAILED = ("sitemap", "status", "error", "error_type", "error_key")


def _failure(url: str, key: str, sentence: str, error_type: Any) -> dict[str, Any]:
    cells = (without_user(url), "error", row_sentence(key, sentence, "sitemap"), error_type, key)
    return dict(zip(_FAILED, cells, strict=True))


def _entry_cells(file: SitemapFile, name: str) -> Iterable[Any]:
    entries, count = file.entries, len(file.entries)
    match name:
        case "url":
            return entries.urls
        case "lastmod":
            return (text or None for text in entries.lastmods)
        case "changefreq":
            return (text or None for text in entries.changefreqs)
        case "priority":
            return (None if math.isnan(value) else value for value in entries.priorities)
        case "alternates":
            return ([one._asdict() for one in entries.alternates.get(place, ())] for place in range(count))
        case "extension_faults":
            return (entries.faults.get(place, "") for place in range(count))
        case _ if name in _COUNTS:
            return entries.counts[_COUNTS[name]]
    return repeat({"sitemap": file.url, "status": "ok"}.get(name), count)


def _cells(trees: Sequence[tuple[str, SitemapTree]], name: str) -> Iterator[Any]:
    for given, tree in trees:
        is_empty = True
        for file in tree:
            is_empty = is_empty and not (len(file.entries) or file.failures)
            yield from _entry_cells(file, name)
            for error in file.failures:
                yield _failure(file.url, error.key, error.sentence, error.error_type).get(name)
        if is_empty:
            empty = Message("empty_sitemap", {"parameter": "url"})
            yield _failure(given, empty.key, str(empty), empty.error_type).get(name)


def _column(trees: Sequence[tuple[str, SitemapTree]], field: Field, index: pd.Index) -> pd.Series:
    """Return one column of all trees; a bounded number of its cells are objects at once."""
    pieces = []
    cells = _cells(trees, field.name)
    for start in range(0, max(1, len(index)), BLOCK_ROWS):
        block = list(islice(cells, BLOCK_ROWS))
        pieces.append(make_series(block, field.dtype, index[start : start + BLOCK_ROWS]))
    return pieces[0] if len(pieces) == 1 else pd.concat(pieces)


def _facts(file: SitemapFile) -> dict[str, Any]:
    return {
        "url": without_user(file.url),
        "source": file.source,
        "entries": len(file.entries),
        "sitemaps": file.children,
        "bytes": file.size,
        "error_key": file.failures[0].key if file.failures else None,
    }


async def sitemap_frame(urls: str | Iterable[str], options: Mapping[str, Any]) -> pd.DataFrame:
    """Read sitemaps, indexes followed, into a frame."""
    urls = addresses_of(urls, "url")
    if isinstance(urls, Mapping) or not isinstance(urls, Iterable):
        urls = ()
    given = [urls] if isinstance(urls, str) else list(urls)
    if not given or not all(isinstance(url, str) and url.strip() for url in given):
        raise ParameterError.must_be("url", "the URL of a sitemap, or a list of them")
    given, logins = without_logins(given)
    async with Fetcher(fetch_settings(access_for(options, given, logins))) as fetcher:
        trees = [(url, await read_sitemap(fetcher, url)) for url in given]
    files = [_facts(file) for _, tree in trees for file in tree]
    index = pd.RangeIndex(sum(1 for _ in _cells(trees, "status")))
    series = {field.name: _column(trees, field, index) for field in SITEMAP_FIELDS}
    trees.clear()  # the frame copies its columns: not beside what they were made of
    frame = as_frame(series, index, "sitemap")
    frame.attrs["webanalytics"] |= {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "sitemaps": files,
    }
    return frame


SITEMAP_FILES = {
    "url": "string",
    "source": "string",
    "entries": "integer",
    "sitemaps": "integer",
    "bytes": "integer",
    "error_key": "string",
}
"""Columns of `sitemap_files`: address, what named it (given, index or robots.txt), pages and sitemaps that it
lists, its size after decompression, and the key of what kept it from being read to its end."""


@in_kind
def sitemap_files(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each file that `webanalytics.sitemap` read, with its size and what it lists.

    >>> sitemap_files(pd.DataFrame({"url": ["https://a.example/"]})).columns.tolist()
    ['url', 'source', 'entries', 'sitemaps', 'bytes', 'error_key']
    """
    made = frame.attrs.get("webanalytics")
    known = made.get("sitemaps") if isinstance(made, Mapping) else None
    rows = [row for row in known if isinstance(row, Mapping)] if isinstance(known, list) else []
    index = pd.RangeIndex(len(rows))
    return pd.DataFrame(
        {
            name: make_series([row.get(name) for row in rows], dtype, index)  # type: ignore[arg-type]
            for name, dtype in SITEMAP_FILES.items()
        },
        index=index,
    )
