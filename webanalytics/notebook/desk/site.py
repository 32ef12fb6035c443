"""What one types as "Site or sitemap" -> the sitemaps to read, found by robots.txt or at the usual places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from webanalytics.audits.origin import Origin
from webanalytics.audits.requests.sources import listed, with_listed
from webanalytics.core.run_options import resolve
from webanalytics.core.strings import one_line, shortened
from webanalytics.errors import ParameterError
from webanalytics.fetching import Fetcher, FetchError
from webanalytics.fetching.response import Problem
from webanalytics.fetching.sitemap import parse_sitemap
from webanalytics.runs.backends.local import fetch_settings
from webanalytics.urls import parts_of

USUAL_PLACES = ("/sitemap.xml", "/sitemap_index.xml")
"""Where sites put a sitemap that their robots.txt does not name."""

LARGEST_ROBOTS = 600_000
NOT_THERE = frozenset(("dns", "connection", "tls", "timeout"))
"""Failures after which the same host is asked without TLS, where no scheme was given."""
_SITEMAP_ENDS = (".xml", ".xml.gz", ".gz", ".txt", ".rss", ".atom")
LONGEST_ADDRESS = 80
OF_SITEMAP = "The pages are those of the sitemap"


@dataclass(frozen=True)
class Found:
    """Where the pages of a site are listed."""

    sitemaps: tuple[str, ...]  # addresses of sitemaps; empty where none was found
    said: str  # a sentence on what was found where
    page: str = ""  # the address that was typed, for a site without a sitemap


@dataclass(frozen=True)
class Listing:
    """The pages to audit, and what the rules know of the site besides them."""

    pages: list[Any]
    said: str
    origin: Origin | None = None


def addresses_of(text: str) -> list[str]:
    """Return the address that is meant, and the one to try where it does not answer.

    Examples
    --------
    >>> addresses_of("example.org"), addresses_of(" http://a.example/x ")
    (['https://example.org', 'http://example.org'], ['http://a.example/x'])
    >>> addresses_of("notes")
    Traceback (most recent call last):
    webanalytics.errors.ParameterError: The `sitemap` parameter must be the address of a site or of a sitemap.
    """
    address = text.strip()
    tries = [address] if "://" in address else [f"https://{address}", f"http://{address}"]
    parts = parts_of(tries[0])
    good = parts.scheme in ("http", "https") and ("." in (parts.hostname or "") or "://" in address)
    if not good or " " in address or not parts.hostname:
        raise ParameterError.must_be("sitemap", "the address of a site or of a sitemap")
    return tries


def is_sitemap(address: str) -> bool:
    """Return whether an address looks like that of a sitemap.

    Examples
    --------
    >>> is_sitemap("https://a.example/sitemap.xml.gz"), is_sitemap("https://a.example/about")
    (True, False)
    """
    path = urlsplit(address).path.lower()
    return path.endswith(_SITEMAP_ENDS) or "sitemap" in path.rpartition("/")[2]


async def find_sitemaps(text: str, options: Mapping[str, Any]) -> Found:
    """Return the sitemaps of a site: those that its robots.txt names, else one at a usual place."""
    tries = addresses_of(text)
    if is_sitemap(tries[0]):
        return Found((tries[0],), f"{OF_SITEMAP} {_short(tries[0])}.")
    async with Fetcher(fetch_settings({**options, "robots": False})) as fetcher:
        for address in tries:
            parts = urlsplit(address)
            origin = f"{parts.scheme}://{parts.netloc}"
            robots, error = await _read(fetcher, f"{origin}/robots.txt", LARGEST_ROBOTS)
            named = dict.fromkeys(robots.children) if robots else ()
            if sitemaps := tuple(url for url in named if url.startswith(("http://", "https://"))):
                more = f" and {len(sitemaps) - 1:,} more" if len(sitemaps) > 1 else ""
                said = f"{OF_SITEMAP} {_short(sitemaps[0])}{more}, which robots.txt names."
                return Found(sitemaps, said)
            if error in NOT_THERE:
                continue
            for place in USUAL_PLACES:
                found, _ = await _read(fetcher, origin + place)
                if found and found.count:
                    said = f"{OF_SITEMAP} {_short(origin + place)}: robots.txt names none, this one is there."
                    return Found((origin + place,), said)
            break
    host, places = _short(parts.netloc), " or ".join(USUAL_PLACES)
    why = f"robots.txt of {host} names none, and none is at {places}"
    why = f"{host} did not answer" if error in NOT_THERE else why
    done = "Only this page was audited; give the address of a sitemap, or of pages."
    return Found((), f"No sitemap was found: {why}. {done}", address)


async def _read(fetcher: Fetcher, address: str, most: int | None = None) -> tuple[Any, str]:
    """Return a sitemap or a robots.txt that was read, or the kind of failure."""
    try:
        answer = await fetcher.fetch(address, accept="any", max_bytes=most)
        return parse_sitemap(answer.content, address), ""
    except (FetchError, Problem) as error:
        return None, error.error_type if isinstance(error, FetchError) else ""


async def list_pages(text: str, given: list[str], most: int, options: Mapping[str, Any]) -> Listing:
    """Return the pages of a site or sitemap, after those given, and what was found where."""
    resolved = resolve({key: value for key, value in options.items() if key not in ("backend", "budget")})
    found = await find_sitemaps(text, resolved)
    if not found.sitemaps:
        pages = list(dict.fromkeys([*given, found.page]))
        return Listing(pages[:most], found.said)
    read = await listed(found.sitemaps, given or None, None, resolved)
    pages = read.inputs.tolist()
    cut = f" The first {most:,} of its {len(pages):,} are taken." if len(pages) > most else ""
    return Listing(pages[:most], found.said + cut, with_listed(Origin(), read))


def _short(address: str) -> str:
    return shortened(one_line(address), LONGEST_ADDRESS)
