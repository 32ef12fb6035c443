"""Rules about how a site is crawled: depth, ways from the start, traps, pages that say they are not there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.graph.links import CLICKED
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.rules.leads import sources
from webanalytics.audits.rules.sources import LINKS
from webanalytics.audits.site import WHOLE_CRAWL, Site

VERY_DEEP = 6
OUT_OF_REACH = 10
"""Clicks over which a page is very deep, and counts as without a way."""

_CLICKS = (
    "Clicks on the shortest way from a start page along links that the crawl follows; redirects cost none. "
)


def _deeper(site: Site, threshold: float, most: float) -> Iterator[Finding]:
    depth, graph = site.values("crawl_depth"), site.graph
    for row in site.distinct:
        if depth[row] is not None and threshold < depth[row] <= most:
            link = int(graph.found_on[row])
            found = f"Found on {graph.table.urls[graph.table.source[link]]}" if link >= 0 else ""
            yield Finding(row, depth[row], f"{depth[row]:,} clicks. {found}".strip())


def _no_path(site: Site, threshold: Any) -> Iterator[Finding]:
    depth, orphan, inlinks = (site.values(name) for name in ("crawl_depth", "orphan", "inlinks"))
    for row in site.distinct:
        if depth[row] is not None and depth[row] > threshold:
            yield Finding(row, depth[row], f"{depth[row]:,} clicks.")
        elif depth[row] is None and inlinks[row] and not orphan[row]:
            yield Finding(row, None, f"No way leads here. Linked from {sources(site, row)}.")


def _one_inlink(site: Site, _: Any) -> Iterator[Finding]:
    counts, depth = site.values("inlinks"), site.values("crawl_depth")
    for row in site.distinct:
        if counts[row] == 1 and depth[row] != 0:
            yield Finding(row, 1, f"Linked from {sources(site, row)}.")


def _traps(site: Site, _: Any) -> Iterator[Finding]:
    """Yield one finding for each trap, on its first page that was fetched, else where links lead into it."""
    if site.crawl is None:
        return
    traps, graph = site.crawl.traps, site.graph
    names = ("pattern", "kind", "evidence", "example", "fetched", "skipped")
    columns = (traps[name].astype(object).where(traps[name].notna(), None).tolist() for name in names)
    taken: set[int] = set()
    for pattern, kind, evidence, example, fetched, skipped in zip(*columns, strict=True):
        target = site.find(example)
        rows = [] if target is None else [target.row]
        place = graph.place(example)
        if place >= 0:
            linked = graph.source_row[(graph.table.target == place) & graph.of_kind(*CLICKED)]
            rows += [row for row in linked.tolist() if row >= 0]
        row = next((row for row in (*rows, *range(graph.rows)) if row not in taken), None)
        if row is not None:
            taken.add(row)  # a rule speaks once of a page
            counts = f"{fetched or 0:,} fetched, {skipped or 0:,} left out"
            fix = " robots.txt may close it." if kind in ("calendar", "filters") else ""
            yield Finding(row, (fetched or 0) + (skipped or 0), f"{pattern}: {counts}. {evidence or ''}{fix}")


def _soft(site: Site, _: Any) -> Iterator[Finding]:
    pages = frozenset[str]() if site.crawl is None else site.crawl.soft_404
    for row, url in enumerate(site.addresses.final):
        if url in pages and site.good[row] and site.addresses.first(row):
            said = str(site.values("title")[row] or "").strip()
            linked = f" Linked from {sources(site, row)}." if site.values("inlinks")[row] else ""
            yield Finding(row, None, f'HTTP 200, titled "{said[:80]}".{linked}')


RULES = (
    Rule(
        name="page_deep",
        title="Page deep in the site",
        category="links",
        type="opportunity",
        priority="low",
        explanation="Visitors need many clicks to come here, and search engines fetch such pages later and "
        "more rarely.",
        fix="Link to the page from one nearer to the start, such as that of its section.",
        find=partial(_deeper, most=VERY_DEEP),
        threshold=3,
        unit="clicks",
        columns=("crawl_depth",),
        measured=f"{_CLICKS}Pages over {VERY_DEEP} clicks are left to another rule.",
        source=LINKS,
    ),
    Rule(
        name="page_very_deep",
        title="Page very deep in the site",
        category="links",
        type="opportunity",
        explanation="So many clicks from the start few visitors arrive, and search engines may not fetch the "
        "page at all.",
        fix="Link to the page from one nearer to the start, or give its section an overview.",
        find=partial(_deeper, most=OUT_OF_REACH),
        threshold=VERY_DEEP,
        unit="clicks",
        columns=("crawl_depth",),
        measured=f"{_CLICKS}Pages over {OUT_OF_REACH} clicks are left to another rule.",
        source=LINKS,
    ),
    Rule(
        name="no_path_from_start",
        title="No way from the start page",
        category="links",
        type="warning",
        explanation="Pages link to this one, but nobody who starts at the start page gets to them, or only "
        "after more clicks than anybody makes.",
        fix="Link to the page, or to those that lead to it, from the navigation or from their section.",
        find=_no_path,
        threshold=OUT_OF_REACH,
        unit="clicks",
        columns=("crawl_depth", WHOLE_CRAWL),
        measured=f"{_CLICKS}Pages to which no page links are orphans, and left to another rule.",
        source=LINKS,
    ),
    Rule(
        name="one_inlink",
        title="Only one page links here",
        category="links",
        type="warning",
        priority="low",
        explanation="The page hangs on one link: without it nobody finds it, and it seems unimportant.",
        fix="Link to the page from related ones.",
        find=_one_inlink,
        columns=("crawl_depth", "inlinks", WHOLE_CRAWL),
        measured="Different other pages with a link to this one, redirects followed; the start is left out, "
        "and a crawl that stopped early is not judged.",
        source=LINKS,
    ),
    Rule(
        name="crawl_trap",
        title="Crawl trap",
        category="url",
        explanation="Links lead to an endless family of addresses, in which search engines spend the time "
        "that the site's real pages need.",
        fix="Leave out links to what is endless, or answer it with HTTP 404 beyond what exists. A sequence "
        "that does end is none: `max_sequence=` lets a crawl follow it.",
        find=_traps,
        columns=("crawl_depth",),
        measured="The crawl groups addresses by pattern and stops in one that grows while its pages are "
        "nearly equal or its paths repeat; a sequence of numbers has thousands of pages to end in. One "
        "finding for each pattern, on its first page.",
        source="Google Search Central, Managing crawling of faceted navigation URLs: "
        "https://developers.google.com/search/docs/crawling-indexing/crawling-managing-faceted-navigation",
    ),
    Rule(
        name="soft_404",
        title="Missing page with status 200",
        category="response",
        priority="high",
        explanation="The page says that it is not there, but the server says that all is well: search "
        "engines "
        "fetch it again and again, and may show it.",
        fix="Answer with HTTP 404 or 410, or redirect to the page that took its place.",
        find=_soft,
        columns=("crawl_depth",),
        measured="The crawl asks each host for an address that cannot exist: pages nearly equal to an answer "
        "with status 200, or with all the words of one with 404 or 410, are taken for missing ones.",
        source="Google Search Central, Soft 404 errors: "
        "https://developers.google.com/search/docs/crawling-indexing/troubleshoot-crawling-errors",
    ),
)
