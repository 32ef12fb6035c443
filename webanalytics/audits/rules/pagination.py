"""Rules about pages that go on: rel=next and rel=prev, and what redirects lead to in the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from webanalytics.audits.graph.site_links import LONGEST, listed
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.rules.leads import Bad, Leads, faults
from webanalytics.audits.site import Site

_PAGINATION = (
    "Google Search Central, Pagination, incremental page loading, and their impact on Google Search: "
    "https://developers.google.com/search/docs/specialty/ecommerce/pagination-and-incremental-page-loading"
)
_LONGEST_SERIES = 10_000


def _ends(site: Site, *kinds: str) -> Iterator[tuple[int, int]]:
    """Yield the rows that name another page as next or previous, and the places of those."""
    graph = site.graph
    for link in np.flatnonzero(graph.of_kind(*kinds)).tolist():
        row = int(graph.source_row[link])
        if row >= 0 and site.good[row]:
            yield row, int(graph.table.target[link])


def _failing(site: Site) -> Bad:
    places, asked = site.graph.places, site.checked.items()
    known = {places[url]: fault for url, (_, fault) in asked if fault and url in places}
    return known | faults(site), site.graph.of_kind("next", "prev")


def _later(site: Site) -> dict[int, int]:
    """Return the rows of pages after the first of a series, with the row of the page before, or -1."""
    page = site.graph.page
    found = {row: int(page[place]) for row, place in _ends(site, "prev")}
    for row, place in _ends(site, "next"):
        found.setdefault(int(page[place]), row)
    return {row: before for row, before in found.items() if row >= 0 and row != before}


def _noindex(site: Site, _: Any) -> Iterator[Finding]:
    closed = site.values("noindex")
    for row, before in sorted(_later(site).items()):
        if closed[row] and site.good[row]:
            after = f"It comes after {site.name(before)}." if before >= 0 else ""
            yield Finding(row, None, after)


def _canonical_first(site: Site, _: Any) -> Iterator[Finding]:
    later, states, urls = _later(site), site.values("canonical_state"), site.values("canonical_url")
    for row in sorted(later):
        target = site.find(urls[row]) if states[row] == "other" else None
        page = None if target is None else site.addresses.page(target)
        if page is not None and page in _before(later, row):
            yield Finding(row, None, f"The canonical is {site.name(page)}, an earlier page of the series.")


def _before(later: dict[int, int], row: int) -> set[int]:
    """Return the pages of a series before one of its pages."""
    found: set[int] = set()
    before = later.get(row, -1)
    while before >= 0 and before not in found and len(found) < _LONGEST_SERIES:
        found.add(before)
        before = later.get(before, -1)
    return found


def _unlinked(site: Site, _: Any) -> Iterator[Finding]:
    if site.stopped:
        return
    graph = site.graph
    linked = {int(row) for row in graph.target_row[graph.hyperlinks & (graph.source_row != graph.target_row)]}
    pages: dict[int, list[str]] = {}
    for row, place in _ends(site, "next", "prev"):
        target = int(graph.page[place])
        if target >= 0 and target not in linked:
            pages.setdefault(row, []).append(graph.table.urls[place])
    for row, urls in sorted(pages.items()):
        yield Finding(row, len(urls), f"No page has a link to {listed(dict.fromkeys(urls))}.")


def _loop(site: Site, _: Any) -> Iterator[Finding]:
    page = site.graph.page
    following = {row: int(page[place]) for row, place in reversed(list(_ends(site, "next")))}
    told: set[int] = set()
    for row in sorted(following):
        way = [row]
        while (after := following.get(way[-1], -1)) >= 0 and after not in way and len(way) < _LONGEST_SERIES:
            way.append(after)
        if after == row and not told & set(way):
            told |= set(way)
            yield Finding(row, len(way), " → ".join(site.name(step)[:100] for step in (*way[:4], row)))


def _redirected_on(site: Site, _: Any) -> Iterator[Finding]:
    states, urls = site.values("canonical_state"), site.values("canonical_url")
    for row, outcome in enumerate(site.fetches):
        end = site.addresses.final[row]
        if outcome.problem == "redirected" and states[row] == "other" and end is not None:
            start = site.addresses.requested[row] or ""
            back = " again" if site.find(urls[row]) and urls[row] == start else ""
            way = f"{start[:LONGEST]} redirects to {end[:LONGEST]}, whose canonical is {urls[row]}{back}."
            yield Finding(row, outcome.hops, way)


RULES = (
    Rule(
        name="pagination_failing",
        title="Pagination leads to a page that redirects or fails",
        category="links",
        priority="high",
        explanation="The page before or after this one in its series redirects, fails or does not answer.",
        fix="Let rel=next and rel=prev name pages that answer with HTTP 200, and leave them out at the ends.",
        find=Leads(_failing),
        columns=("crawl_depth",),
        needs=("http_status",),
        measured="Targets of rel=next and rel=prev, in link elements, Link headers and anchors; the crawl "
        "asks for each.",
        source=_PAGINATION,
    ),
    Rule(
        name="pagination_noindex",
        title="Paginated page with noindex",
        category="indexability",
        type="warning",
        explanation="A later page of a series asks not to be indexed, so that what it alone links to may be "
        "lost to search engines in time.",
        fix="Let the pages of a series be indexed, each under its own address.",
        find=_noindex,
        columns=("crawl_depth", "noindex"),
        measured="Pages that name a previous one, or that another page names as its next.",
        source=_PAGINATION,
    ),
    Rule(
        name="pagination_canonical_first",
        title="Paginated page names an earlier one as canonical",
        category="canonical",
        explanation="A later page of a series is no copy of an earlier one: search engines then drop it, and "
        "what it lists.",
        fix="Give each page of a series a canonical link to itself.",
        find=_canonical_first,
        columns=("crawl_depth", "canonical_state"),
        measured="The canonical page is among those that rel=prev and rel=next say come before.",
        source=_PAGINATION,
    ),
    Rule(
        name="pagination_unlinked",
        title="Paginated page without a link",
        category="links",
        type="warning",
        explanation="A page of a series is named in link elements alone: visitors cannot go there, and "
        "search "
        "engines do not find pages by rel=next any more.",
        fix="Link from each page of the series to the next one in an anchor.",
        find=_unlinked,
        columns=("crawl_depth",),
        measured="Targets of rel=next and rel=prev to which no other page of the crawl has an anchor.",
        source=_PAGINATION,
    ),
    Rule(
        name="pagination_loop",
        title="Pagination that runs in a circle",
        category="links",
        explanation="Whoever goes from each page of the series to the next comes back to where they began.",
        fix="Leave out rel=next on the last page, and correct those that name an earlier one.",
        find=_loop,
        columns=("crawl_depth",),
        measured="The first rel=next of each page is followed; each circle is told on its first page.",
        source=_PAGINATION,
    ),
    Rule(
        name="redirect_to_canonicalised",
        title="Redirect to a canonicalised page",
        category="response",
        explanation="The address redirects to a page that names yet another one as canonical, which may be "
        "where it came from: search engines get two different answers.",
        fix="Redirect to the canonical page at once, and let its canonical link name itself.",
        find=_redirected_on,
        columns=("canonical_state",),
        needs=("redirects",),
        measured="Addresses that redirect, and the canonical link of the page where they end.",
        source="Google Search Central, How to specify a canonical URL: "
        "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls",
    ),
)
