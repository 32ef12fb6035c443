"""Searches shared by rules about where links lead: pages with their bad links, anchors and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from webanalytics.audits.graph.links import LinkGraph
from webanalytics.audits.graph.metrics import Mask, by_end
from webanalytics.audits.graph.site_links import LONGEST, SHOWN, listed
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
        graph, (bad, links) = site.graph, self.find(site)
        for row, targets in _pages_with(site, bad, links):
            shown = (
                f"{_cut(graph.table.urls[place])} {bad[place]}{how(graph, found)}" for place, found in targets
            )
            yield Finding(row, len(targets), listed(shown, len(targets)))

    def pages(self, site: Site) -> Iterator[tuple[int, list[tuple[int, list[int]]]]]:
        """Yield rows of pages, with the places of the bad addresses that they link to, and the links."""
        return _pages_with(site, *self.find(site))


def _pages_with(
    site: Site, bad: Mapping[int, str], links: Mask
) -> Iterator[tuple[int, list[tuple[int, list[int]]]]]:
    """Yield rows of pages, with the bad addresses that they link to and the links that lead there."""
    graph = site.graph
    if not bad or not len(graph.table):
        return
    wanted = np.zeros(len(graph.table.urls), bool)
    wanted[list(bad)] = True
    edges = np.flatnonzero(links & wanted[graph.table.target])
    into = by_end(graph.source_row[edges], graph.rows)
    for row in np.unique(graph.source_row[edges]).tolist():
        if row >= 0 and site.good[row]:
            of_row = edges[into.of(row)]
            targets: dict[int, list[int]] = {}
            for link, target in zip(of_row.tolist(), graph.table.target[of_row].tolist(), strict=True):
                targets.setdefault(target, []).append(link)
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
    found = {}
    for place, row in enumerate(site.graph.row.tolist()):
        if row >= 0 and site.fetches[row].problem and (fault := site.fault_at(site.graph.table.urls[place])):
            found[place] = fault
    return found


def _cut(url: str) -> str:
    return url if len(url) <= LONGEST // 2 else f"{url[: LONGEST // 2]}…"
