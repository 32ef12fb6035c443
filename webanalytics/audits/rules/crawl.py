"""Rules about how a site is crawled: depth, ways from the start, traps, soft 404s, and series of pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from webanalytics.audits.graph.links import CLICKED
from webanalytics.audits.graph.site_links import LONGEST, listed
from webanalytics.audits.rules.base import Finding, missing_pages
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.rules.leads import Bad, Leads, faults, sources
from webanalytics.audits.site import Site

_NUMBER = re.compile(r"\d+")
_PLACELESS = ("calendar", "repeating path")
"""Traps whose pages lie where they do because of the trap; a list may end."""
VERY_DEEP = 6
OUT_OF_REACH = 10
"""Clicks over which a page is very deep, and counts as without a way."""


def _outside_traps(site: Site) -> Iterator[int]:
    """Yield the rows of pages but for those of calendars and nests that are traps."""
    traps = None if site.crawl is None else site.crawl.traps
    told = [] if traps is None else traps["pattern"][traps["kind"].isin(_PLACELESS)].tolist()
    asked = {path: {*names.split("&"), ""} for path, _, names in (each.partition("?") for each in told)}
    nests = tuple(pattern.removesuffix("…") for pattern in told if pattern.endswith("…"))
    for row in site.distinct:
        url, _, query = site.name(row).partition("?")
        *origin, path = url.split("/", 3)
        names = asked.get("/".join((*origin, _NUMBER.sub("{n}", path))), set())
        if not {part.partition("=")[0] for part in query.split("&")} <= names and not url.startswith(nests):
            yield row


def _deeper(site: Site, threshold: float, most: float) -> Iterator[Finding]:
    depth, graph = site.values("crawl_depth"), site.graph
    for row in _outside_traps(site):
        if depth[row] is not None and threshold < depth[row] <= most:
            link = int(graph.found_on[row])
            found = f"Found on {graph.table.urls[graph.table.source[link]]}" if link >= 0 else ""
            yield Finding(row, depth[row], f"{depth[row]:,} clicks. {found}".strip())


def _no_path(site: Site, threshold: Any) -> Iterator[Finding]:
    depth, orphan, inlinks = (site.values(name) for name in ("crawl_depth", "orphan", "inlinks"))
    for row in _outside_traps(site):
        if depth[row] is not None and depth[row] > threshold:
            yield Finding(row, depth[row], f"{depth[row]:,} clicks.")
        elif depth[row] is None and inlinks[row] and not orphan[row]:
            yield Finding(row, None, f"Not reached from the start. Linked from {sources(site, row)}.")


def _one_inlink(site: Site, _: Any) -> Iterator[Finding]:
    counts, depth = site.values("inlinks"), site.values("crawl_depth")
    for row in _outside_traps(site):
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
        if kind == "parameter":  # its addresses are as many as there are links
            continue
        target = site.find(example)
        rows = [] if target is None else [target.row]
        linked = graph.source_row[(graph.table.target == graph.place(example)) & graph.of_kind(*CLICKED)]
        rows += [row for row in linked.tolist() if row >= 0]
        row = next((row for row in (*rows, *range(graph.rows)) if row not in taken), None)
        if row is not None:
            taken.add(row)  # a rule speaks once of a page
            counts = f"{fetched or 0:,} fetched, {skipped or 0:,} left out"
            fix = " robots.txt may close it." if kind in ("calendar", "filters") else ""
            yield Finding(row, (fetched or 0) + (skipped or 0), f"{pattern}: {counts}. {evidence or ''}{fix}")


def _soft(site: Site, _: Any) -> Iterator[Finding]:
    for row, led in missing_pages(site).items():
        url = site.addresses.final[row] or ""
        leads_home = led and url.split("/", 3)[3:] == [""]  # which another rule tells
        if leads_home or not (led or site.addresses.first(row)):
            continue
        way = f"Redirects to {url}: " if led else ""
        said = str(site.values("title")[row] or "").strip()
        linked = f" Linked from {sources(site, row)}." if site.values("inlinks")[row] else ""
        yield Finding(row, None, f'{way}HTTP 200, titled "{said[:80]}".{linked}')


_LONGEST_SERIES = 10_000
_LATER_PAGE = re.compile(r"/page/\d+(/(?:index\.\w+)?)?$|[?&]paged?=\d+$")
"""What an address of a later page of a list has more than that of the first, but for the group."""
LEAST_OF_A_LIST = 10
"""Links to pages of its site from which on a page may be a list."""


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


def later_in_series(site: Site) -> dict[int, int]:
    """Return the rows of pages after the first of a series, with the row of the page before, or -1."""
    page = site.graph.page
    found = {row: int(page[place]) for row, place in _ends(site, "prev")}
    for row, place in _ends(site, "next"):
        found.setdefault(int(page[place]), row)
    return {row: before for row, before in found.items() if row >= 0 and row != before}


def is_list(kind: str | None, links: int | None) -> bool:
    """Return whether a page consists of links: few words are no fault then, and likeness is in its nature."""
    return kind in ("listing", "collection") and (links or 0) >= LEAST_OF_A_LIST


def later_pages(site: Site) -> dict[int, str]:
    """Return the rows of later pages of lists (/news/page/2, ?page=2), with the address of the first.

    Below the home page, where pages of any kind may be called so, they have to be lists.
    """
    urls, found = site.addresses.final, dict[int, str]()
    known = {url.rstrip("/"): url for url in urls if url}
    for row, *said in site.read("page_type", "internal_links"):
        first, changes = _LATER_PAGE.subn(r"\1", urls[row] or "")
        first = first.rstrip("/")
        if changes and first in known and (first.count("/") > 2 or is_list(*said)):
            found[row] = known[first]
    return found


def _noindex(site: Site, _: Any) -> Iterator[Finding]:
    closed, later = site.values("noindex"), later_in_series(site)
    for row, before in sorted(later.items()):
        is_all_closed = before >= 0 and all(closed[one] for one in _before(later, row))
        if closed[row] and site.good[row] and not is_all_closed:
            after = f"It comes after {site.name(before)}." if before >= 0 else ""
            yield Finding(row, None, after)


def _canonical_first(site: Site, _: Any) -> Iterator[Finding]:
    later, states, urls = later_in_series(site), site.values("canonical_state"), site.values("canonical_url")
    for row in sorted(later):
        target = site.find(urls[row]) if states[row] == "other" else None
        page = None if target is None else site.addresses.page(target)
        if page is not None and page in _before(later, row):
            yield Finding(row, None, f"The canonical is {site.name(page)}, an earlier page of the series.")


def _before(later: dict[int, int], row: int) -> set[int]:
    """Return the pages of a series before one of its pages."""
    found, before = set[int](), row
    while (before := later.get(before, -1)) >= 0 and before not in found and len(found) < _LONGEST_SERIES:
        found.add(before)
    return found


def _unlinked(site: Site, _: Any) -> Iterator[Finding]:
    if site.stopped:
        return
    graph = site.graph
    away = graph.hyperlinks & (graph.source_row != graph.target_row)
    linked, named = (set(ends[away].tolist()) for ends in (graph.target_row, graph.table.target))
    own = () if site.crawl is None else site.hosts  # crawls need not fetch what no link leads to
    pages: dict[int, list[str]] = {}
    for row, place in _ends(site, "next", "prev"):
        target = int(graph.page[place])
        is_linked = target in linked if target >= 0 else place in named or graph.hosts[place] not in own
        if not is_linked:
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
            left_out = ["…"] if len(way) > 4 else []
            steps = [*map(site.name, way[:4]), *left_out, site.name(row)]
            yield Finding(row, len(way), " → ".join(step[:100] for step in steps))


def _redirected_on(site: Site, _: Any) -> Iterator[Finding]:
    states, urls = site.values("canonical_state"), site.values("canonical_url")
    for row, outcome in enumerate(site.fetches):
        end = site.addresses.final[row]
        if outcome.problem == "redirected" and states[row] == "other" and end is not None:
            start = site.addresses.requested[row] or ""
            back = " again" if urls[row] == start else ""
            way = f"{start[:LONGEST]} redirects to {end[:LONGEST]}, whose canonical is {urls[row]}{back}."
            yield Finding(row, outcome.hops, way)


RULES = rules_of(
    __name__,
    {
        "page_deep": partial(_deeper, most=VERY_DEEP),
        "page_very_deep": partial(_deeper, most=OUT_OF_REACH),
        "no_path_from_start": _no_path,
        "one_inlink": _one_inlink,
        "crawl_trap": _traps,
        "soft_404": _soft,
        "pagination_failing": Leads(_failing),
        "pagination_noindex": _noindex,
        "pagination_canonical_first": _canonical_first,
        "pagination_unlinked": _unlinked,
        "pagination_loop": _loop,
        "redirect_to_canonicalised": _redirected_on,
    },
)
