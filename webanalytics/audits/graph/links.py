"""The links of a site joined to the rows of its audit: who links where, how far, with what weight.

`audits.site.Site` makes one `LinkGraph`; columns, rules and `webanalytics.Audit.links` read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from webanalytics.audits.graph.metrics import (
    Floats,
    Ints,
    Longs,
    Mask,
    Neighbours,
    by_end,
    clicks,
    distinct,
    least,
    once,
    pagerank,
    scaled,
)
from webanalytics.audits.graph.site_links import Addresses, normal
from webanalytics.runs.frames.link_table import KINDS, Kind, LinkTable

CLICKED: tuple[Kind, ...] = ("link", "frame", "refresh")
"""Kinds of links that lead a visitor on."""

_NO_FOLLOW = 7
_MOST_HOPS = 20


@dataclass(frozen=True)
class Standing:
    """What is known of the rows of an audit besides their addresses."""

    nofollow: Sequence[bool]  # whether each page asks to follow none of its links
    scored: Sequence[bool]  # whether each row is known by its own address
    canonical: Sequence[int]  # row that each row names as canonical, itself included; -1 for none
    starts: Sequence[str] = ()  # where a crawl began
    hosts: frozenset[str] | None = None  # of the site; without them internal links stay on their host
    subdomains: bool = False  # whether those of the hosts are of the site too
    kinds: Sequence[str] = CLICKED  # of links along which depth is counted
    obeys: bool = True  # whether links with nofollow lead nowhere


@dataclass
class LinkGraph:
    """The links of a site and the rows of its audit."""

    table: LinkTable  # all links
    known: Addresses  # the rows by their addresses
    standing: Standing  # what is known of the rows
    _ends: dict[str, Neighbours] = field(default_factory=dict, repr=False)

    @property
    def rows(self) -> int:
        """Number of rows of the audit."""
        return len(self.known.final)

    @cached_property
    def _places(self) -> tuple[Ints, Ints]:
        asked, pages = (np.array(found, np.int32) for found in self.known.places(self.table.urls))
        for _ in range(_MOST_HOPS):  # the stops of a redirect have no rows of their own
            led = (pages < 0) & (self.next >= 0)
            before = int((pages < 0).sum())
            pages[led] = pages[self.next[led]]
            if before == int((pages < 0).sum()):
                break
        return asked, pages

    @property
    def row(self) -> Ints:
        """Row that asked for each address, -1 for none."""
        return self._places[0]

    @property
    def page(self) -> Ints:
        """Row of the page where each address ends, after redirects; -1 for none."""
        return self._places[1]

    @cached_property
    def next(self) -> Ints:
        """Address to which each address redirects, -1 for none."""
        found = np.full(len(self.table.urls), -1, np.int32)
        redirects = self.of_kind("redirect")
        found[self.table.source[redirects]] = self.table.target[redirects]
        return found

    def of_kind(self, *kinds: str) -> Mask:
        """Return which links are of some kinds."""
        places = [KINDS.index(kind) for kind in KINDS if kind in kinds]
        found: Mask = np.isin(self.table.kind, places)
        return found

    @cached_property
    def hosts(self) -> list[str]:
        """Host of each address."""
        return [url.split("/", 3)[2] if url.count("/") > 2 else "" for url in self.table.urls]

    @cached_property
    def internal(self) -> Mask:
        """Whether each link leads to the own site."""
        scope = self.standing.hosts
        if scope is not None:
            ends = (
                tuple(f".{host.removeprefix('www.')}" for host in scope) if self.standing.subdomains else ()
            )
            inside = {host: host in scope or host.endswith(ends or "\n") for host in set(self.hosts)}
            own = np.array([inside[host] for host in self.hosts], bool)
            found: Mask = own[self.table.target]
            return found
        codes: dict[str, int] = {}
        host = np.array([codes.setdefault(name, len(codes)) for name in self.hosts], np.int32)
        same: Mask = host[self.table.source] == host[self.table.target]
        return same

    @cached_property
    def followed(self) -> Mask:
        """Whether search engines follow each link: neither it nor its page asks them not to."""
        closed = np.array([*self.standing.nofollow, False], bool)
        plain: Mask = ((self.table.rel & _NO_FOLLOW) == 0) & ~closed[self.source_row]
        return plain

    @cached_property
    def source_row(self) -> Ints:
        """Row of the page that each link stands on."""
        found: Ints = self.page[self.table.source]
        return found

    @cached_property
    def target_row(self) -> Ints:
        """Row of the page to which each link leads in the end."""
        found: Ints = self.page[self.table.target]
        return found

    @cached_property
    def places(self) -> dict[str, int]:
        """Place of each address."""
        return {
            (normal(url) or url) if "%" in url else url: place for place, url in enumerate(self.table.urls)
        }

    def place(self, url: str | None) -> int:
        """Return the place of an address, -1 if no link names it."""
        return -1 if url is None else self.places.get(normal(url) or url, -1)

    def leading_to(self, row: int) -> Longs:
        """Return the links of other pages that end at a row's page, or lead to its own address."""
        if "page" not in self._ends:
            self._ends |= {
                "page": by_end(self.target_row, self.rows),
                "row": by_end(self.row[self.table.target], self.rows),
            }
        found = once(np.concatenate((self._ends["page"].of(row), self._ends["row"].of(row))))
        own = self.source_row[found]
        kept: Longs = found[(own != row) & (own != self.page_of(row)) & (own >= 0)]
        return kept

    def leaving(self, row: int) -> Longs:
        """Return the links of a row's page, in document order."""
        if "source" not in self._ends:
            self._ends["source"] = by_end(self.source_row, self.rows)
        return self._ends["source"].of(self.page_of(row))

    def page_of(self, row: int) -> int:
        """Return the row that represents the page of a row."""
        url = self.known.final[row]
        target = None if url is None else self.known.find(url)
        return row if target is None else self.known.page(target)

    @cached_property
    def depth_of_addresses(self) -> Ints:
        """Clicks from a start to each address, -1 where no way leads."""
        used = self.clicked
        starts = np.array([self.place(url) for url in self.standing.starts], np.int32)
        source, target = self.table.source[used], self.table.target[used]
        return clicks(source, target, len(self.table.urls), starts, self.next)

    @cached_property
    def clicked(self) -> Mask:
        """Which links count as a click."""
        used = self.of_kind(*self.standing.kinds) & self.internal
        return used & self.followed if self.standing.obeys else used

    @cached_property
    def depth(self) -> Ints:
        """Clicks from a start to the address of each row, -1 where no way leads."""
        found = np.full(self.rows, -1, np.int32)
        for row, url in enumerate(self.known.requested):
            place = self.place(url)
            if place >= 0:
                found[row] = self.depth_of_addresses[place]
        return found

    @cached_property
    def found_on(self) -> Ints:
        """Link by which each row was first found, -1 for none: on a shortest way, else of any kind."""
        depth, table = self.depth_of_addresses, self.table
        first = np.full(len(table.urls), -1, np.int64)
        away = np.flatnonzero(self.page[table.source] != self.page[table.target])
        steps = self.clicked & (depth[table.source] >= 0) & (depth[table.source] + 1 == depth[table.target])
        for links in (away, np.flatnonzero(steps)):  # later ones replace earlier ones, so the first goes last
            first[table.target[links[::-1]]] = links[::-1]
        places = np.array([self.place(url) for url in self.known.requested], np.int32)
        found = np.where(places >= 0, first[places], -1) if len(first) else np.full(self.rows, -1)
        starts = {self.place(url) for url in self.standing.starts}
        found[[place in starts and place >= 0 for place in places.tolist()]] = -1
        return found.astype(np.int32)

    def ends(self, links: Mask) -> tuple[Ints, Ints, Ints]:
        """Return linking and linked rows of links between different pages, and how often each is there.

        A link to an address that redirects counts for that address and for the page where it ends.
        """
        used = np.flatnonzero(links)
        source = self.source_row[used]
        asked, page = self.row[self.table.target[used]], self.target_row[used]
        twice = asked != page
        sources = np.concatenate((source, source[twice]))
        targets = np.concatenate((page, asked[twice]))
        away = (sources >= 0) & (targets >= 0) & (np.concatenate((page, page[twice])) != sources)
        counts = self.table.times[used]
        return sources[away], targets[away], np.concatenate((counts, counts[twice]))[away]

    def _shared(self, counts: Longs) -> list[int]:
        """Return counts of the rows that represent pages, for all rows."""
        return [int(counts[row]) for row in self._speaker]

    @cached_property
    def _speaker(self) -> list[int]:
        found = (None if url is None else self.known.find(url) for url in self.known.requested)
        return [row if target is None else target.row for row, target in enumerate(found)]

    def linking_pages(self, links: Mask) -> list[int]:
        """Return from how many other pages some of the links lead to each row."""
        _, target = distinct(*self.ends(links)[:2], self.rows)
        return self._shared(np.bincount(target, minlength=self.rows))

    def linked_from(self, links: Mask, most: int) -> tuple[list[int], list[list[int]]]:
        """Return from how many other pages some of the links lead to each row, and the first few of them."""
        source, target = distinct(*self.ends(links)[:2], self.rows)
        counts = np.bincount(target, minlength=self.rows)
        into = by_end(target, self.rows)
        first = {row: source[into.of(row)[:most]].tolist() for row in set(self._speaker)}
        return self._shared(counts), [first[row] for row in self._speaker]

    def links_to(self, links: Mask) -> list[int]:
        """Return how many of the links of other pages lead to each row."""
        _, target, counts = self.ends(links)
        return self._shared(np.bincount(target, counts, minlength=self.rows))

    def linked_addresses(self, links: Mask) -> list[int]:
        """Return to how many different addresses besides its own some of the links of each row lead."""
        away = links & (self.source_row != self.target_row)
        source, _ = distinct(self.source_row[away], self.table.target[away], len(self.table.urls))
        return self._shared(np.bincount(source, minlength=self.rows))

    @cached_property
    def hyperlinks(self) -> Mask:
        """Which links are anchors or areas."""
        return self.of_kind("link")

    @cached_property
    def _ranked(self) -> tuple[Longs, Floats, float]:
        """The rows that have a PageRank, theirs, and that of a page to which nothing links."""
        nodes = np.flatnonzero(np.array(self.standing.scored, bool))
        number = np.full(self.rows + 1, -1, np.int32)
        number[nodes] = np.arange(len(nodes))
        canonical = np.array([*self.standing.canonical, -1], np.int32)
        for _ in range(_MOST_HOPS.bit_length()):  # a canonical page may name another one
            canonical = canonical[canonical]
        used = self.hyperlinks & self.followed & self.internal
        source = number[self.source_row[used]]
        target = number[canonical[self.target_row[used]]]
        away = source != target
        source, target = distinct(source[away], target[away], len(nodes))
        found = pagerank(source, target, len(nodes))
        return nodes, found, least(source, found)

    @cached_property
    def pageranks(self) -> Floats:
        """PageRank of the page of each row, NaN for rows without one.

        The nodes are the pages that were read, each once, without those that name another as canonical; edges
        are the different links of one page to another that search engines follow. A link to a redirect
        counts for the page where it ends, one to a canonicalised page for its canonical page, after chains.
        """
        nodes, scores, _ = self._ranked
        return self._spread(nodes, scores)

    @cached_property
    def scores(self) -> Floats:
        """Link score of each row, 0 to 100, NaN for rows without one."""
        nodes, scores, floor = self._ranked
        return self._spread(nodes, scaled(scores, floor))

    def _spread(self, nodes: Longs, scores: Floats) -> Floats:
        found = np.full(self.rows, np.nan)
        found[nodes] = scores
        return found

    @cached_property
    def orphans(self) -> list[bool]:
        """Whether no other page has a link that leads to each row, no crawl began there, and it is a page.

        What redirects is none.
        """
        counts = self.linking_pages(self.of_kind(*CLICKED))
        starts = {self.place(url) for url in self.standing.starts} - {-1}
        pages = {int(self.page[place]) for place in starts} | {int(self.row[place]) for place in starts}
        known = zip(counts, self.known.requested, self.known.final, strict=True)
        return [
            not count and row not in pages and asked == final
            for row, (count, asked, final) in enumerate(known)
        ]

    def anchor(self, link: int) -> str:
        """Return the text of a link."""
        return str(self.table.anchors[self.table.anchor[link]])
