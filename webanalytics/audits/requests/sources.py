"""What an audit fetches besides its pages: sitemaps, each origin's robots.txt, and the sizes of images."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import pandas as pd

from webanalytics.audits.directives.robots import robots_problems
from webanalytics.audits.origin import Origin
from webanalytics.core.access import Access
from webanalytics.core.access_by_host import access_for, without_logins
from webanalytics.core.messages import REFUSALS
from webanalytics.errors import ParameterError
from webanalytics.fetching import Fetcher, FetchError
from webanalytics.fetching.response import refusal
from webanalytics.fetching.robots import MOST_ORIGINS, RobotsCopy, RobotsKept, copy_of
from webanalytics.operations import METADATA
from webanalytics.runs.backends.local import fetch_settings
from webanalytics.runs.frames.inputs import Inputs, has_archives, read_values
from webanalytics.runs.frames.schema import make_series
from webanalytics.runs.frames.sitemap import sitemap_frame
from webanalytics.urls import parts_of

LARGEST_ROBOTS = 600_000
"""Bytes of a robots.txt that are read: more than RFC 9309 section 2.5 asks for."""
MOST_IMAGES = 10_000
"""Most distinct images whose size is requested; those on the most pages first."""
LARGEST_IMAGE = 2_000_000
"""Most bytes of an image that are read; a larger one is known to have at least so many."""

Sitemaps = str | Iterable[str]


@dataclass(frozen=True)
class Listed:
    """The inputs of an audit made from sitemaps."""

    inputs: pd.Series  # addresses: the given ones, then the sitemap's
    sitemap: pd.DataFrame  # what `webanalytics.sitemap` answers
    robots: dict[str, list[str]]  # what is wrong with each origin's robots.txt
    robots_files: dict[str, RobotsCopy]  # each origin's robots.txt as it was read
    logins: dict[str, Access]  # what user names in the given addresses open, by host


async def listed(
    sitemap: Sitemaps, urls: Inputs | None, column: str | None, options: Mapping[str, Any]
) -> Listed:
    """Read sitemaps, and robots.txt of each origin that is in them.

    Raises
    ------
    ParameterError
        For pages that are here already together with a sitemap, or without any page.
    """
    if (isinstance(urls, pd.DataFrame) and "html" in urls.columns) or has_archives(urls):
        raise ParameterError.must_be(
            "urls",
            "addresses where a `sitemap` is given: pages with their HTML and archives are audited on their "
            "own",
        )
    given = [] if urls is None else read_values(urls, METADATA, "urls", column).tolist()
    return await _with_robots(given, await _sitemap(sitemap, options), "sitemap", options)


def is_sitemap(urls: object) -> TypeGuard[pd.DataFrame]:
    """Return whether inputs are rows of a frame that `webanalytics.sitemap` returned."""
    if not isinstance(urls, pd.DataFrame) or not {"url", "sitemap", "status", "error"} <= set(urls.columns):
        return False
    made = urls.attrs.get("webanalytics")
    return isinstance(made, Mapping) and made.get("operation") == "sitemap"


async def listed_in(found: pd.DataFrame, options: Mapping[str, Any]) -> Listed:
    """Return the pages of a sitemap that was read before, and read robots.txt of each origin in it.

    Raises
    ------
    ParameterError
        For a sitemap without a page.
    """
    return await _with_robots([], found.reset_index(drop=True), "urls", options)


async def _with_robots(
    given: list[Any], found: pd.DataFrame, parameter: str, options: Mapping[str, Any]
) -> Listed:
    given, logins = without_logins(given)
    options = access_for(options, given, logins)
    pages = found["url"].dropna().tolist()
    known = {url for url in given if isinstance(url, str)}
    addresses = [*given, *(url for url in dict.fromkeys(pages) if url not in known)]
    if not addresses:
        raise _no_page(found, parameter)
    origins = origins_of([*addresses, *found["sitemap"].dropna().tolist()])
    files = await read_robots(origins, options)
    robots = await asyncio.to_thread(all_problems, files)
    return Listed(pd.Series(addresses, dtype=object, name="url"), found, robots, files, logins)


def _no_page(found: pd.DataFrame, parameter: str) -> ParameterError:
    """Return the error for sitemaps without a page, with the reason of the first."""
    failed = found.dropna(subset=["error"])
    reason = str(failed["error"].iloc[0]).removesuffix(".") if len(failed) else "It has no row"
    hint = " `webanalytics.crawl` finds the pages of a site without one."
    if len(failed) and "error_key" in failed and failed["error_key"].iloc[0] == "not_sitemap":
        hint = ""  # its sentence says so
    sentence = f"The `{parameter}` parameter must be a sitemap that lists pages. {reason}.{hint}"
    return ParameterError(sentence, parameter)


async def _sitemap(sitemap: Sitemaps, options: Mapping[str, Any]) -> pd.DataFrame:
    try:
        return await sitemap_frame(sitemap, options)
    except ParameterError as error:
        raise error.of("sitemap") from None


def origins_of(urls: Iterable[Any]) -> list[str]:
    """Return the origins of addresses, the most frequent first.

    Examples
    --------
    >>> origins_of(["http://b.example/", "https://A.example/x", "https://a.example/y", "mailto:x", None])
    ['https://a.example', 'http://b.example']
    """
    counts = Counter(filter(None, (_origin(url) for url in urls if isinstance(url, str))))
    return [origin for origin, _ in counts.most_common(MOST_ORIGINS)]


def _origin(url: str) -> str | None:
    parts = parts_of(url.strip())
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return None
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}"


async def read_robots(origins: Iterable[str], options: Mapping[str, Any]) -> dict[str, RobotsCopy]:
    """Return the robots.txt of each origin."""
    async with Fetcher(fetch_settings({**options, "robots": False})) as fetcher:

        async def read(origin: str) -> RobotsCopy:
            try:
                answer = await fetcher.fetch(f"{origin}/robots.txt", accept="any", max_bytes=LARGEST_ROBOTS)
            except FetchError as error:
                return RobotsCopy(http_status=error.http_status, error_type=str(error.error_type))
            return copy_of(answer.content, answer.http_status)

        named = list(dict.fromkeys(origins))
        return dict(zip(named, await asyncio.gather(*map(read, named)), strict=True))


def all_problems(files: Mapping[str, RobotsCopy]) -> dict[str, list[str]]:
    """Return what is wrong with the robots.txt of each origin; an empty list for a valid one."""
    return {origin: problems_of(copy) for origin, copy in files.items()}


def problems_of(copy: RobotsCopy) -> list[str]:
    """Return what is wrong with a robots.txt; that there is none is no fault (RFC 9309 section 2.3.1.3)."""
    too_large = "It is larger than 500 KiB; search engines ignore what comes after that."
    status = copy.http_status
    challenged = copy.text is not None and refusal(status or 200, {}, copy.text.encode("utf-8", "replace"))
    if status in REFUSALS or copy.error_type == "refused" or challenged:
        return []  # it was refused to us: what others get is not known
    if copy.text is not None:
        return [too_large] * (not copy.whole) + robots_problems(copy.text)
    if copy.error_type == "too_large":
        return [too_large]
    if status is not None and status >= 500:
        return [f"It answers HTTP {status}: search engines may stop reading the whole site."]
    if status is not None or copy.error_type in ("dns", "connection", "tls", "blocked"):
        return []  # there is none, or no host, which the pages say, or it was not asked
    return [f"It cannot be read ({copy.error_type}): search engines may stop reading the whole site."]


def with_listed(origin: Origin, found: Listed) -> Origin:
    """Return what an audit knows, with its sitemaps and robots.txt."""
    return replace(origin, sitemap=found.sitemap, robots=found.robots, robots_files=found.robots_files)


def with_robots(origin: Origin, kept: RobotsKept, origins: Collection[str] | None = None) -> Origin:
    """Return what an audit knows, with what its run has read of robots.txt, all of it or that of origins."""
    known = (
        kept.copies
        if origins is None
        else {name: kept.copies[name] for name in origins if name in kept.copies}
    )
    new = {name: copy for name, copy in known.items() if name not in origin.robots_files}
    if not new:
        return origin
    return replace(
        origin, robots={**origin.robots, **all_problems(new)}, robots_files={**origin.robots_files, **new}
    )


async def with_image_sizes(frame: pd.DataFrame, options: Mapping[str, Any]) -> pd.DataFrame:
    """Return the frame with a column ``image_bytes``: the sizes of each page's images, as far as known.

    Returns
    -------
    pandas.DataFrame
        A new frame; a cell maps the address of an image to its bytes, at most `LARGEST_IMAGE`.
    """
    read = (frame["status"] == "ok").tolist()
    sources = [_sources(tags) if good else [] for tags, good in zip(frame["imgTags"], read, strict=True)]
    counts: dict[str, int] = {}
    for source in (source for page in sources for source in page):
        counts[source] = counts.get(source, 0) + 1
    wanted = sorted(counts, key=lambda source: -counts[source])[:MOST_IMAGES]
    sizes = await _sizes(wanted, options)
    cells = [
        {source: sizes[source] for source in page if source in sizes} if good else None
        for page, good in zip(sources, read, strict=True)
    ]
    return frame.assign(image_bytes=make_series(cells, "object", frame.index))


def _sources(tags: Any) -> list[str]:
    """Return the distinct addresses of a page's images, except embedded ones."""
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
