"""Searches shared by rules about where links lead: pages with their bad links, anchors and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from webanalytics.audits.graph.links import LinkGraph
from webanalytics.audits.graph.metrics import Mask, by_end
from webanalytics.audits.graph.site_links import LONGEST, SHOWN, Target, listed
from webanalytics.audits.rules.base import Finding
from webanalytics.audits.site import Site
from webanalytics.urls import common_section

_ANCHOR = 40

Bad: TypeAlias = tuple[Mapping[int, str], Mask]
"""What is wrong with addresses, by their places, and the links that may lead there."""


@dataclass(frozen=True)
class Leads:
    """A search for pages with links to bad addresses; the value of a finding counts addresses."""

    # returns what is wrong with the bad addresses, by their places, and the links that may lead there
    find: Callable[[Site], Bad]

    def __call__(self, site: Site, _: Any) -> Iterator[Finding]:
        """Yield the pages with such links."""
        graph, (bad, _links) = site.graph, self.find(site)
        for row, targets in self.pages(site):
            shown = (
                f"{_cut(graph.table.urls[place])} {bad[place]}{how(graph, found)}" for place, found in targets
            )
            yield Finding(row, len(targets), listed(shown, len(targets)))

    def pages(self, site: Site) -> Iterator[tuple[int, list[tuple[int, list[int]]]]]:
        """Yield rows of pages, with the places of the bad addresses that they link to, and the links."""
        bad, links = self.find(site)
        found = pages_with(site.graph, bad, links) if bad else ()
        return (one for one in found if site.good[one[0]])


def pages_with(
    graph: LinkGraph, bad: Mapping[int, str], links: Mask
) -> Iterator[tuple[int, list[tuple[int, list[int]]]]]:
    """Yield rows of pages, with the bad addresses that they link to and the links that lead there."""
    wanted = np.zeros(len(graph.table.urls), bool)
    wanted[list(bad)] = True
    edges = np.flatnonzero(links & wanted[graph.table.target]) if len(graph.table) else np.empty(0, np.int64)
    into = by_end(graph.source_row[edges], graph.rows)
    for row in np.unique(graph.source_row[edges]).tolist():
        if row >= 0:
            targets: dict[int, list[int]] = {}
            for link in edges[into.of(row)].tolist():
                targets.setdefault(int(graph.table.target[link]), []).append(link)
            yield row, list(targets.items())


def how(graph: LinkGraph, links: Sequence[int]) -> str:
    """Return what links are called and how many they are, in brackets; '' for one without a text."""
    anchors = dict.fromkeys(text for text in map(graph.anchor, links) if text)
    parts = [f'"{text[:_ANCHOR]}{"…" * (len(text) > _ANCHOR)}"' for text in list(anchors)[:SHOWN]]
    count = int(graph.table.times[links].sum())
    parts += [f"{count:,} links"] * (count > 1)
    return f" ({', '.join(parts)})" if parts else ""


def sources(site: Site, row: int) -> str:
    """Return which pages link to a row, with anchors, and what section they share if they are many."""
    graph = site.graph
    links = [link for link in graph.leading_to(row).tolist() if graph.hyperlinks[link]]
    pages: dict[str, list[int]] = {}
    for link in links:
        pages.setdefault(graph.table.urls[graph.table.source[link]], []).append(link)
    shown = (f"{_cut(url)}{how(graph, found)}" for url, found in pages.items())
    section = common_section(list(pages)) if len(pages) > SHOWN else ""
    return listed(shown, len(pages)) + (f", all below {section}" if section else "")


def faults(site: Site) -> dict[int, str]:
    """Return what is wrong with each address that is in the audit, by its place: "answers HTTP 404"."""
    graph, found = site.graph, {}
    for place, row in enumerate(graph.row.tolist()):
        if row >= 0 and site.fetches[row].problem:
            url = graph.table.urls[place]
            redirected = site.addresses.final[row] != site.addresses.requested[row]
            if fault := site.fault(Target(row, url, redirected and site.addresses.final[row] != url)):
                found[place] = fault
    return found


def closed(site: Site, why: str) -> dict[int, str]:
    """Return the addresses whose page may not be indexed for one reason, by their places."""
    graph, found = site.graph, {}
    for place, row in enumerate(graph.page.tolist()):
        if row >= 0 and site.closed(Target(row, graph.table.urls[place], False)) == why:
            found[place] = ""
    return found


def _cut(url: str) -> str:
    return url if len(url) <= LONGEST // 2 else f"{url[: LONGEST // 2]}…"
