"""Sitemaps -> a frame of URLs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypedDict

import pandas as pd

from webanalytics.backends.local import fetch_settings
from webanalytics.errors import ParameterError
from webanalytics.fetching import Fetcher, SitemapTree, read_sitemap
from webanalytics.fetching.sitemap import COUNTED, SitemapFile
from webanalytics.frames.schema import ERROR_COLUMNS, STATUS, as_frame, make_series
from webanalytics.messages import Message, told
from webanalytics.operations import Field


class LanguageVersion(TypedDict):
    """One language version of a page, as its sitemap names it."""

    lang: str
    url: str


SITEMAP_FIELDS = (
    Field("url", str, "Address of the page."),
    Field("lastmod", str, "Date of the last change, as the sitemap gives it."),
    Field("changefreq", str, "How often the page changes, as the sitemap says."),
    Field("priority", float, "Priority within the site, 0 to 1."),
    Field("sitemap", str, "The file that lists the page."),
    Field("alternates", list[LanguageVersion], "Language versions that the entry names (hreflang)."),
    Field("images", int, "Images that the entry names."),
    Field("videos", int, "Videos that the entry names."),
    Field("news", int, "News articles that the entry names."),
    Field("extension_faults", str, "What images, videos and articles of the entry lack."),
    STATUS,
    *ERROR_COLUMNS,
)
_COUNTS = {plural: kind for kind, plural in COUNTED.items()}


class _Columns:
    """The columns of a frame as they grow; of an entry no object of its own is made."""

    def __init__(self) -> None:
        self.cells: dict[str, list[Any]] = {field.name: [] for field in SITEMAP_FIELDS}
        self.files: list[dict[str, Any]] = []

    def add(self, tree: SitemapTree, given: str) -> None:
        """Append all rows of a tree of sitemaps."""
        before = len(self.cells["url"])
        for file in tree:
            self._add_entries(file)
            for error in file.failures:
                self._fail(file.url, told(error.key, error.sentence, "sitemap"), error.error_type, error.key)
            self.files.append(_facts(file))
        if len(self.cells["url"]) == before:
            empty = Message("empty_sitemap", {"parameter": "url"})
            self._fail(given, told(empty.key, str(empty), "sitemap"), empty.error_type, empty.key)

    def _add_entries(self, file: SitemapFile) -> None:
        entries, cells, count = file.entries, self.cells, len(file.entries)
        cells["url"] += entries.urls
        cells["lastmod"] += entries.lastmods
        cells["changefreq"] += entries.changefreqs
        cells["priority"] += (None if math.isnan(value) else value for value in entries.priorities)
        cells["sitemap"] += [file.url] * count
        cells["status"] += ["ok"] * count
        cells["alternates"] += (
            [one._asdict() for one in entries.alternates.get(place, ())] for place in range(count)
        )
        cells["extension_faults"] += (entries.faults.get(place, "") for place in range(count))
        for name, kind in _COUNTS.items():
            cells[name] += entries.counts[kind]
        self._fill()

    def _fail(self, url: str, error: str, error_type: Any, key: str) -> None:
        row = {"sitemap": url, "status": "error", "error": error, "error_type": error_type, "error_key": key}
        for name, value in row.items():
            if name in self.cells:
                self.cells[name].append(value)
        self._fill()

    def _fill(self) -> None:
        size = len(self.cells["status"])
        for cells in self.cells.values():
            cells += [None] * (size - len(cells))


def _facts(file: SitemapFile) -> dict[str, Any]:
    """Return what is known of one file, in plain values."""
    return {
        "url": file.url,
        "source": file.source,
        "entries": len(file.entries),
        "sitemaps": file.children,
        "bytes": file.size,
        "error_key": file.failures[0].key if file.failures else None,
    }


async def sitemap_frame(urls: str | Iterable[str], options: Mapping[str, Any]) -> pd.DataFrame:
    """Read sitemaps, indexes followed, into a frame."""
    if isinstance(urls, Mapping) or not isinstance(urls, Iterable):
        urls = ()
    given = [urls] if isinstance(urls, str) else list(urls)
    if not given or not all(isinstance(url, str) and url.strip() for url in given):
        raise ParameterError("The `url` parameter must be the URL of a sitemap, or a list of them.", "url")
    columns = _Columns()
    async with Fetcher(fetch_settings(options)) as fetcher:
        for url in given:
            columns.add(await read_sitemap(fetcher, url), url)
    index = pd.RangeIndex(len(columns.cells["url"]))
    series = {
        field.name: make_series(columns.cells.pop(field.name), field.dtype, index) for field in SITEMAP_FIELDS
    }
    frame = as_frame(series, index, "sitemap")
    frame.attrs["webanalytics"] |= {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "sitemaps": columns.files,
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


def sitemap_files(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each file that `webanalytics.sitemap` read, with its size and what it lists.

    Examples
    --------
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
