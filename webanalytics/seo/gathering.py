"""What an audit fetches beside its pages: sitemaps, each origin's robots.txt, and the sizes of images."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pandas as pd

from webanalytics.backends.local import fetch_settings
from webanalytics.errors import ParameterError
from webanalytics.fetching import Fetcher, FetchError
from webanalytics.frames.inputs import Inputs, read_values
from webanalytics.frames.schema import make_series
from webanalytics.frames.sitemap import sitemap_frame
from webanalytics.operations import METADATA
from webanalytics.seo.robots import robots_problems

MOST_ORIGINS = 100
"""Origins whose robots.txt is read."""
LARGEST_ROBOTS = 600_000
"""Bytes of a robots.txt that are read: more than RFC 9309 section 2.5 asks for."""
MOST_IMAGES = 10_000
"""Distinct images that are asked for their size; those that most pages have come first."""
LARGEST_IMAGE = 2_000_000
"""Bytes of an image that are read; of a larger one it is known that it has at least so many."""

Sitemaps = str | Iterable[str]


@dataclass(frozen=True)
class Listed:
    """The inputs of an audit made from sitemaps.

    Attributes
    ----------
    inputs : Series
        Addresses: those that were given, then the sitemap's.
    sitemap : pandas.DataFrame
        What `webanalytics.sitemap` answers.
    robots : dict
        For each origin what is wrong with its robots.txt, in sentences.
    """

    inputs: pd.Series
    sitemap: pd.DataFrame
    robots: dict[str, list[str]]


async def listed(
    sitemap: Sitemaps, urls: Inputs | None, column: str | None, options: Mapping[str, Any]
) -> Listed:
    """Read sitemaps, and robots.txt of each origin that is in them.

    Parameters
    ----------
    sitemap : str or iterable of str
        URL of a sitemap, or several.
    urls : str, iterable, Series, Index or DataFrame, optional
        Further pages.
    column : str, optional
        Column of a DataFrame that holds the further pages.
    options : mapping
        All options of the call.

    Raises
    ------
    ParameterError
        For pages with their HTML beside a sitemap, or where there is no page at all.
    """
    if isinstance(urls, pd.DataFrame) and "html" in urls.columns:
        raise ParameterError(
            "The `urls` parameter must be addresses where a `sitemap` is given: pages with their HTML "
            "are audited on their own.",
            "urls",
        )
    given = [] if urls is None else read_values(urls, METADATA, "urls", column).tolist()
    found = await _sitemap(sitemap, options)
    pages = found["url"].dropna().tolist()
    known = {url for url in given if isinstance(url, str)}
    addresses = [*given, *(url for url in dict.fromkeys(pages) if url not in known)]
    if not addresses:
        raise ParameterError(str(found["error"].dropna().iloc[0]).replace("`url`", "`sitemap`"), "sitemap")
    origins = _origins([*addresses, *found["sitemap"].dropna().tolist()])
    robots = await read_robots(origins, options)
    return Listed(pd.Series(addresses, dtype=object, name="url"), found, robots)


async def _sitemap(sitemap: Sitemaps, options: Mapping[str, Any]) -> pd.DataFrame:
    try:
        return await sitemap_frame(sitemap, options)
    except ParameterError as error:
        raise ParameterError(str(error).replace("`url`", "`sitemap`"), "sitemap") from None


def _origins(urls: Iterable[Any]) -> list[str]:
    """Return the origins of addresses, those of most addresses first.

    Examples
    --------
    >>> _origins(["http://b.example/", "https://A.example/x", "https://a.example/y", "mailto:x", None])
    ['https://a.example', 'http://b.example']
    """
    counts: dict[str, int] = {}
    for url in urls:
        origin = _origin(url) if isinstance(url, str) else None
        if origin is not None:
            counts[origin] = counts.get(origin, 0) + 1
    return sorted(counts, key=lambda origin: -counts[origin])[:MOST_ORIGINS]


def _origin(url: str) -> str | None:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return None
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}"


async def read_robots(origins: Iterable[str], options: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return for each origin what is wrong with its robots.txt; an empty list where nothing is.

    Parameters
    ----------
    origins : iterable of str
        Such as ``https://example.org``.
    options : mapping
        All options of the call.
    """
    async with Fetcher(fetch_settings({**options, "robots": False})) as fetcher:

        async def read(origin: str) -> list[str]:
            try:
                answer = await fetcher.fetch(f"{origin}/robots.txt", accept="any", max_bytes=LARGEST_ROBOTS)
            except FetchError as error:
                return _unread(error)
            return await asyncio.to_thread(robots_problems, answer.content)

        named = list(dict.fromkeys(origins))
        return dict(zip(named, await asyncio.gather(*map(read, named)), strict=True))


def _unread(error: FetchError) -> list[str]:
    """Return what a robots.txt that cannot be read means (RFC 9309 section 2.3.1)."""
    status = error.http_status
    if error.error_type == "too_large":
        return ["It is larger than 500 KiB; search engines ignore what comes after that."]
    if status in (404, 410):
        return ["It is missing: search engines may read every page, and find no sitemap there."]
    if status is not None and 400 <= status < 500 and status != 429:
        return [f"It answers HTTP {status}: search engines take it as if there were none."]
    if status is not None and (status >= 500 or status == 429):
        return [f"It answers HTTP {status}: search engines may stop reading the whole site."]
    return [f"It cannot be read ({error.error_type}): search engines may stop reading the whole site."]


async def with_image_sizes(frame: pd.DataFrame, options: Mapping[str, Any]) -> pd.DataFrame:
    """Return the frame with a column ``imageBytes``: of each image of a page, its size where it was had.

    Parameters
    ----------
    frame : pandas.DataFrame
        The pages, with the column ``imgTags``.
    options : mapping
        All options of the call.

    Returns
    -------
    pandas.DataFrame
        A new frame; a cell maps the address of an image to its bytes, at most `LARGEST_IMAGE`.
    """
    sources = [_sources(tags) for tags in frame["imgTags"]]
    counts: dict[str, int] = {}
    for source in (source for page in sources for source in page):
        counts[source] = counts.get(source, 0) + 1
    wanted = sorted(counts, key=lambda source: -counts[source])[:MOST_IMAGES]
    sizes = await _sizes(wanted, options)
    read = (frame["status"] == "ok").tolist()
    cells = [
        {source: sizes[source] for source in page if source in sizes} if good else None
        for page, good in zip(sources, read, strict=True)
    ]
    return frame.assign(imageBytes=make_series(cells, "object", frame.index))


def _sources(tags: Any) -> list[str]:
    """Return the distinct addresses of a page's images, without those that the page holds itself."""
    found = (tag.get("src") for tag in tags) if isinstance(tags, list) else ()
    return list(dict.fromkeys(src for src in found if isinstance(src, str) and _origin(src) is not None))


async def _sizes(urls: Iterable[str], options: Mapping[str, Any]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    queue = iter(urls)
    async with Fetcher(fetch_settings(options)) as fetcher:

        async def work() -> None:
            for url in queue:  # shared by all workers: no task waits for each of thousands of images
                try:
                    answer = await fetcher.fetch(url, accept="image", max_bytes=LARGEST_IMAGE)
                    sizes[url] = len(answer.content)
                except FetchError as error:
                    if error.error_type == "too_large":
                        sizes[url] = LARGEST_IMAGE

        await asyncio.gather(*(work() for _ in range(options["concurrency"])))
    return sizes
