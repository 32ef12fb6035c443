"""Sitemaps -> a frame of URLs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from webanalytics.backends.local import fetch_settings
from webanalytics.errors import ParameterError
from webanalytics.fetching import Fetcher, read_sitemap
from webanalytics.frames.schema import ERROR_COLUMNS, STATUS, as_frame, make_series
from webanalytics.messages import Message, told
from webanalytics.operations import Field

SITEMAP_FIELDS = (
    Field("url", str, "Address of the page."),
    Field("lastmod", str, "Date of the last change, as the sitemap gives it."),
    Field("changefreq", str, "How often the page changes, as the sitemap says."),
    Field("priority", float, "Priority within the site, 0 to 1."),
    Field("sitemap", str, "The file that lists the page."),
    STATUS,
    *ERROR_COLUMNS,
)


def _empty(url: str) -> dict[str, Any]:
    empty = Message("empty_sitemap", {"parameter": "url"})
    failure = {"error": str(empty), "error_type": empty.error_type, "error_key": empty.key}
    return {"sitemap": url, "status": "error", **failure}


def _said(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its failure in the words of frames."""
    error = row.get("error")
    return row if error is None else {**row, "error": told(row["error_key"], error, "sitemap")}


async def sitemap_frame(urls: str | Iterable[str], options: Mapping[str, Any]) -> pd.DataFrame:
    """Read sitemaps, indexes followed, into a frame."""
    if isinstance(urls, Mapping) or not isinstance(urls, Iterable):
        urls = ()
    given = [urls] if isinstance(urls, str) else list(urls)
    if not given or not all(isinstance(url, str) and url.strip() for url in given):
        raise ParameterError("The `url` parameter must be the URL of a sitemap, or a list of them.", "url")
    rows: list[dict[str, Any]] = []
    async with Fetcher(fetch_settings(options)) as fetcher:
        for url in given:
            found = await read_sitemap(fetcher, url)
            rows.extend(map(_said, found or [_empty(url)]))
    index = pd.RangeIndex(len(rows))
    columns = {
        field.name: make_series([row.get(field.name) for row in rows], field.dtype, index)
        for field in SITEMAP_FIELDS
    }
    return as_frame(columns, index, "sitemap")
