"""What a crawl knows besides its pages, as tables; its sitemaps, and what is wrong with its robots.txt."""

from __future__ import annotations

import re
from asyncio import Semaphore, gather
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from webanalytics.audits.graph.site_links import normal
from webanalytics.audits.requests.resources import loaded_of_links, with_broken
from webanalytics.audits.requests.sources import all_problems
from webanalytics.core.strings import counted
from webanalytics.crawls.admission import Admission
from webanalytics.crawls.candidates import Candidate, Skip
from webanalytics.crawls.scope import NAMED_KINDS, PAGE_KINDS
from webanalytics.crawls.soft404 import Walls
from webanalytics.fetching import Fetcher
from webanalytics.fetching.robots import RobotsCopy
from webanalytics.page.declarations.unserved import DEFAULT_MAX_LINKS
from webanalytics.runs.frames.link_table import CHECKED, HOSTS, KINDS, SKIPPED, TRAPS, CrawlFacts, LinkTable
from webanalytics.runs.frames.schema import frame_of
from webanalytics.runs.frames.sitemap import sitemap_frame
from webanalytics.urls import place_hashes

MOST_AT_ONCE = 10
"""Sites whose sitemaps are read at once."""
MOST_SAID = 3
"""Sitemaps of which it is said why they could not be read, and traps that are named in sentences."""


@dataclass(frozen=True)
class Listed:
    """What sitemaps list."""

    sitemap: pd.DataFrame | None = None  # what `webanalytics.sitemap` answers, None where there is no sitemap
    # what is wrong with the robots.txt of the site, by origin
    robots: Mapping[str, list[str]] = field(default_factory=dict)
    robots_files: Mapping[str, RobotsCopy] = field(default_factory=dict)  # the files themselves, by origin
    named: bool = False  # whether the call named the sitemaps

    @property
    def urls(self) -> Iterable[str]:
        """The pages that are listed."""
        return () if self.sitemap is None else self.sitemap["url"].dropna().tolist()

    def unread(self) -> Iterator[str]:
        """Yield what to say of sitemaps that the call named and that could not be read to their end."""
        if self.sitemap is None or not self.named:
            return
        rows = self.sitemap.loc[self.sitemap["error"].notna(), ["sitemap", "error"]]
        for place, (address, error) in enumerate(rows.itertuples(index=False, name=None)):
            if place == MOST_SAID:
                yield f"So it is with {len(rows) - place:,} more sitemaps."
                return
            yield f"Of the `sitemap` {address} not all pages are known. {error}"


async def read_listed(
    wanted: tuple[str, ...] | None, origins: Sequence[str], options: Mapping[str, Any], fetcher: Fetcher
) -> Listed:
    """Read a crawl's sitemaps; "auto" are those that each robots.txt names, else /sitemap.xml."""
    files = dict(zip(origins, await gather(*map(fetcher.robots_of, origins)), strict=True))
    without = Listed(None, all_problems(files), files)
    if not wanted:
        return without
    if wanted != ("auto",):
        return replace(without, sitemap=await sitemap_frame(wanted, options), named=True)
    turn = Semaphore(MOST_AT_ONCE)
    tables = await gather(*(_of_origin(origin, copy, options, turn) for origin, copy in files.items()))
    found = [table for table in tables if table is not None]
    return replace(without, sitemap=pd.concat(found, ignore_index=True)) if found else without


async def _of_origin(
    origin: str, copy: RobotsCopy, options: Mapping[str, Any], turn: Semaphore
) -> pd.DataFrame | None:
    async with turn:
        if copy.file.sitemaps:
            robots = f"{origin}/robots.txt"  # what it names is meant to be read
            found = await sitemap_frame([robots], {**options, "robots": False})
            if (found["error_type"].isna() | (found["sitemap"] != robots)).any():
                return found
        found = await sitemap_frame([f"{origin}/sitemap.xml"], options)
        return None if found["url"].isna().all() else found


GIVEN_UP = "host_given_up"
"""Key of the failure of a page whose host was not asked any more."""


def crawl_facts(
    admission: Admission,
    checked: Sequence[dict[str, Any]],
    hosts: Sequence[dict[str, Any]],
    found: tuple[frozenset[str], Walls],
    reasons: Sequence[str],
) -> CrawlFacts:
    """Return what is known when a crawl ends, and for which reasons it is not the whole site."""
    links = with_missing_places(admission.links.table(), admission.ids)
    skips = {url: known for url, known in admission.seen.items() if isinstance(known, Skip)}
    if admission.scope.external == "ignore":
        skips = {url: skip for url, skip in skips.items() if skip.reason != "external"}
    left_out = (
        {"url": url, **skip._asdict(), "links": count, "addresses": 1}
        for (url, skip), count in zip(skips.items(), _links_to(links, list(skips)), strict=True)
    )
    trapped = _trapped(admission)
    endless = admission.traps.told(trapped, certain=True)
    how = '`traps="report"` goes on all the same.'
    return CrawlFacts(
        links,
        frame_of(SKIPPED, (*left_out, *admission.counted.rows())),
        frame_of(CHECKED, [*admission.files, *checked]),
        frame_of(TRAPS, admission.traps.rows(trapped)),
        frame_of(HOSTS, hosts),
        tuple(admission.starts),
        found[0],
        admission.scope.plain,
        " ".join((*reasons, *_few(endless, how))),
        not reasons,
        dict(admission.left_out),
        frozenset[str]().union(*found[1].values()),
    )


def cut_off(admission: Admission) -> Iterator[str]:
    """Yield what to say of links and addresses that were not kept, and of sequences that were left."""
    cut, not_kept = admission.cut_pages, admission.counted.addresses
    if cut:
        pages = "1 page has" if len(cut) == 1 else f"{len(cut):,} pages have"
        yield (
            f"{pages} links to more than {DEFAULT_MAX_LINKS:,} different targets, of which the first were "
            f"read, such as {cut[0]}."
        )
    if not_kept:
        yield (
            f"About {not_kept:,} addresses were counted and not kept: `.skipped` has them by pattern, as far "
            "more are known than `max_pages=` wants."
        )
    how = 'If it ends, `max_sequence=` lets a crawl go further, and `traps="report"` to its end.'
    yield from _few(admission.traps.told(_trapped(admission), certain=False), how)


def _few(sentences: Sequence[str], last: str) -> Iterator[str]:
    yield from sentences[:MOST_SAID]
    if len(sentences) > MOST_SAID:
        yield f"So it is with {len(sentences) - MOST_SAID:,} more: `.traps`."
    if sentences:
        yield last


def _trapped(admission: Admission) -> Counter[str]:
    skips = (known for known in admission.seen.values() if isinstance(known, Skip))
    return Counter(skip.detail for skip in skips if skip.reason == "trap")


_LINE = re.compile(r"(?i)L(?:ine)?-?\d+(?:-L?\d+)?")
"""Places of lines of code, which scripts number: those of JSDoc, of Prism and of GitHub."""


def with_missing_places(links: LinkTable, ids: Mapping[str, NDArray[np.uint32]]) -> LinkTable:
    """Return links with whether the places that they name are missing on the pages that they lead to."""
    named, size = np.flatnonzero(links.fragment), len(links.fragments)
    pairs = links.target[named].astype(np.int64) * size + links.fragment[named]
    pairs, which = np.unique(pairs, return_inverse=True)
    lacks = np.zeros(len(pairs), bool)
    page, there = -1, set[int]()
    for at, (target, fragment) in enumerate(divmod(pair, size) for pair in pairs.tolist()):
        known = ids.get(links.urls[target])
        if known is not None:
            page, there = (page, there) if page == target else (target, set(known.tolist()))
            name = links.fragments[fragment]
            lacks[at] = there.isdisjoint(place_hashes(name)) and not _LINE.fullmatch(name)
    missing = np.zeros(len(links), bool)
    missing[named] = lacks[which]
    return replace(links, missing=missing)


def with_resources(frame: pd.DataFrame, facts: CrawlFacts) -> pd.DataFrame:
    """Return the pages of a crawl with what they load and do not get, where that was asked."""
    read = zip(frame["final_url"], frame["status"], strict=True)
    urls = [normal(url) if status == "ok" else None for url, status in read]
    loaded = loaded_of_links(facts.links, urls)
    pages = [None if url is None else page for url, page in zip(urls, loaded, strict=True)]
    return with_broken(frame, pages, facts.checked)


def to_check(admission: Admission) -> dict[str, str]:
    """Return the addresses that are asked for their status alone, with their kinds, in order of discovery."""
    scope, found = admission.scope, dict[str, str]()
    if scope.external == "check":
        skips = ((url, known) for url, known in admission.seen.items() if isinstance(known, Skip))
        found |= {url: "external" for url, skip in skips if skip.reason == "external"}
    named = {"kind"} if scope.external == "ignore" else {"kind", "external"}
    loaded = [kind for kind in KINDS if kind not in PAGE_KINDS and scope.resources == "check"]
    links = admission.links.table()
    kinds = [KINDS.index(kind) for kind in (*NAMED_KINDS, *loaded)]
    most = len(found) + scope.max_pages
    for at in np.flatnonzero(np.isin(links.kind, kinds)).tolist():
        url, kind = links.urls[links.target[at]], KINDS[links.kind[at]]
        known = admission.seen.get(url)
        if kind in loaded or (isinstance(known, Skip) and known.reason in named and len(found) < most):
            found.setdefault(url, kind)
    asked = {row["url"] for row in admission.files}
    return {
        url: kind
        for url, kind in found.items()
        if url not in asked and not isinstance(admission.seen.get(url), Candidate)
    }


def given_up(frame: pd.DataFrame) -> Iterator[str]:
    """Yield what to say of each host of the pages that was given up."""
    rows = frame.loc[frame["error_key"] == GIVEN_UP, ["url", "final_url", "error"]]
    found: dict[str, list[str]] = {}
    for url, final, error in rows.itertuples(index=False, name=None):
        found.setdefault(urlsplit(final if isinstance(final, str) else url).netloc, []).append(error)
    for host, errors in found.items():
        yield f"{counted(len(errors))} of {host} could not be fetched. {errors[0]}"


def _links_to(links: LinkTable, urls: Sequence[str]) -> list[int]:
    counts = np.bincount(links.target, links.times, minlength=len(links.urls))
    places = {url: place for place, url in enumerate(links.urls)}
    return [int(counts[places[url]]) if url in places else 0 for url in urls]
