"""What rules examine: the pages of one audit with their derived columns, links, sitemap and robots.txt."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any

import pandas as pd

from webanalytics.audits.content.shared_blocks import COLUMNS as CONTENT_COLUMNS
from webanalytics.audits.content.shared_blocks import Content, SharedBlocks
from webanalytics.audits.directives.alternates import Alternate, alternate_entries, sitemap_entries
from webanalytics.audits.directives.headers import Headers, shared_headers
from webanalytics.audits.graph.links import CLICKED, LinkGraph, Standing
from webanalytics.audits.graph.site_links import (
    FAULTS,
    SHOWN,
    Addresses,
    FetchOutcome,
    FetchProblem,
    Inlinks,
    Target,
    clusters_of,
    fetch_outcome,
    forwards,
    inlinks,
    listed,
    normal,
    requested,
    said_of,
)
from webanalytics.audits.graph.tables import table_of_pages
from webanalytics.fetching.content import media_type
from webanalytics.fetching.robots import RobotsCopy
from webanalytics.runs.frames.link_table import CrawlFacts
from webanalytics.runs.storage.lazy_columns import (
    LARGEST_LIST,
    ColumnValues,
    TextValues,
    cells,
    parts_of,
    rows_by_part,
    stored,
)
from webanalytics.runs.storage.store import release_unused
from webanalytics.urls import registrable_domain

_FETCHED = ("url", "status", "error", "error_type", "final_url", "redirects", "http_status")
_ANSWERED = ("client error", "server error")
_HTML = re.compile(r"\s*<(?:!doctype|html)\b", re.IGNORECASE)

CHECKED_LINKS = "checked_links"
WHOLE_CRAWL = "whole_crawl"
"""What a rule names among its columns if it needs the answers of other sites, or all pages of a crawl."""

PORTION_BYTES = 64_000_000
"""About how many bytes of values of a portion are kept for the next rule."""
PORTION_ROWS = 2_000
"""Pages of a portion of an audit in memory."""

_READ_AGAIN = frozenset(
    (
        *("_rows_of_hosts", "alternate_entries", "alternates", "canonicals", "fetches", "graph", "headers"),
        *("distinct_read", "inlinks", "portions", "row_of"),
    )
)
"""What a site knows of columns besides their values, and takes much memory."""


@dataclass
class Site:
    """The pages of one audit."""

    # made by `webanalytics.audits.pages.make_site`: one row per input with a plain range index
    pages: pd.DataFrame
    sitemap: pd.DataFrame | None = None  # rows of `webanalytics.sitemap`, where an audit was made of them
    # what is wrong with the robots.txt of each origin (``https://example.org``), in sentences
    robots: Mapping[str, list[str]] = field(default_factory=dict)
    crawl: CrawlFacts | None = None  # what a crawl knows besides its pages, if one found them
    robots_files: Mapping[str, RobotsCopy] = field(default_factory=dict)  # as read, by origin
    stopped: str = ""  # why these are not all pages: of others nobody knows what they link to
    _values: dict[str, list[Any]] = field(default_factory=dict, repr=False)
    _stored: ColumnValues = field(default_factory=ColumnValues, repr=False)
    _portion: _Portion | None = field(default=None, repr=False)
    # what was counted once and is kept until `release`
    known: dict[Any, Any] = field(default_factory=dict, repr=False)

    def values(self, column: str) -> Sequence[Any]:
        """Return a column as Python values, None for missing ones; all None if it is missing.

        Large texts, and what is in a folder, are read while one goes through them, and not held.
        """
        if column in self._values:
            return self._values[column]
        if column not in self.pages:
            return self._values.setdefault(column, [None] * len(self.pages))
        held = self.pages[column]
        if (array := stored(held)) is not None:
            return self._stored.of(column, array)
        if isinstance(held.dtype, pd.StringDtype) and held.array.nbytes > LARGEST_LIST:
            return TextValues(held)
        return self._values.setdefault(column, cells(held))

    @cached_property
    def besides(self) -> frozenset[str]:
        """What is known besides columns, of what rules may need: `CHECKED_LINKS` and `WHOLE_CRAWL`."""
        asked = any(kind == "external" for kind, _ in self.checked.values())
        if not asked:  # where no link leads elsewhere there is nothing to ask
            asked = {*self.values("external_links"), *self.values("subdomain_links")} - {None} == {0}
        return frozenset([CHECKED_LINKS] * asked + [WHOLE_CRAWL] * (not self.stopped))

    @cached_property
    def checked(self) -> dict[str, tuple[str, str]]:
        """Kind and fault of the addresses that a crawl asked for their status alone, "" for none."""
        if self.crawl is None:
            return {}
        names = ("url", "kind", "verdict", "http_status", "final_url")
        rows = zip(*(cells(self.crawl.checked[name]) for name in names), strict=True)
        return {url: (kind, said_of(url, *said)) for url, kind, *said in rows}

    def fault_at(self, url: object) -> str:
        """Return what is wrong with an address that a page names, whether it is a page or was only asked."""
        target, own = self.find(url), normal(url)
        if target is not None:
            return self.fault(target)
        return "" if own is None else self.checked.get(own, ("", ""))[1]

    def forget(self, *columns: str) -> None:
        """Read columns anew, which were added to the pages."""
        for column in columns:
            self._values.pop(column, None)

    def release(self) -> None:
        """Forget what can be read again, where the pages are in a folder: the rules have seen it."""
        if parts_of(self.pages) is None:
            return
        for name in _READ_AGAIN if self.crawl is None else _READ_AGAIN - {"graph"}:
            self.__dict__.pop(name, None)
        self._values.clear()
        self.known.clear()
        self._stored = ColumnValues()
        release_unused()

    def once(self, asked: Hashable, make: Callable[[], Any]) -> Any:
        """Return what is made of the site when it is first asked for, and then kept."""
        if asked not in self.known:
            self.known[asked] = make()
        return self.known[asked]

    @cached_property
    def good(self) -> list[bool]:
        """Whether each page was read, and no page to log in takes its place."""
        walls = self.crawl.log_ins if self.crawl else ()
        rows = zip(self.values("status"), self.values("url"), strict=True)
        return [status == "ok" and url not in walls for status, url in rows]

    @cached_property
    def indexable(self) -> list[bool]:
        """Whether search engines may index each page."""
        return [bool(value) for value in self.values("indexable")]

    @cached_property
    def fetches(self) -> list[FetchOutcome]:
        """What happened when each page was requested."""
        rows = zip(*map(self.values, _FETCHED), strict=True)
        trips = (fetch_outcome(dict(zip(_FETCHED, row, strict=True))) for row in rows)
        walls = self.crawl.log_ins if self.crawl else ()
        known = zip(trips, self.values("url"), strict=True)
        return [trip._replace(problem="refused") if url in walls else trip for trip, url in known]

    @cached_property
    def refused(self) -> frozenset[int]:
        """The rows of pages that were refused to us: nothing is known of them, and no rule judges them."""
        return frozenset(row for row, trip in enumerate(self.fetches) if trip.problem == "refused")

    @cached_property
    def forwarding(self) -> frozenset[int]:
        """The rows of pages that a meta refresh leads away from at once: redirects, which have no content."""
        known = zip(self.good, self.values("refresh"), self.addresses.final, strict=True)
        return frozenset(row for row, (good, said, url) in enumerate(known) if good and forwards(said, url))

    @cached_property
    def texts(self) -> frozenset[int]:
        """The rows of plain texts, which have no markup to judge; HTML that a server sends as one has."""
        types, shown = self.values("content_type"), self.values("visible_text")
        sent = (row for row, name in enumerate(types) if name and media_type(name) == "text/plain")
        return frozenset(row for row in sent if self.good[row] and not _HTML.match(shown[row] or ""))

    @cached_property
    def addresses(self) -> Addresses:
        """The rows by their addresses."""
        final = self.values("final_url")
        asked = zip(self.values("url"), self.values("redirects"), final, strict=True)
        return Addresses([requested(*one) for one in asked], final, self.good)

    @cached_property
    def shared_blocks(self) -> SharedBlocks:
        """The blocks that most pages of a site or a section have, of the pages that were read."""
        urls = [url if good else None for url, good in zip(self.addresses.final, self.good, strict=True)]
        return SharedBlocks(urls, self.values("visible_text"))

    def contents(self, among: Container[int] | None = None) -> Iterator[Content]:
        """Yield the content of each row: what the page has of its own, where the site is known.

        Where only some rows are asked for, that of others is none.
        """
        rows = zip(self.addresses.final, *map(self.values, CONTENT_COLUMNS), strict=True)
        for row, (url, *said) in enumerate(rows):
            wanted = among is None or row in among
            yield self.shared_blocks.content(url, *said) if wanted else Content(None, "own")

    @cached_property
    def inlinks(self) -> Inlinks | None:
        """Which pages others link to; None if no page's links are known."""
        if self.crawl is None:
            links = zip(self.values("links"), self.good, strict=True)
            return inlinks(self.addresses, [cell if good else None for cell, good in links])
        return Inlinks(*self.graph.linked_from(self.graph.hyperlinks, SHOWN))

    @cached_property
    def graph(self) -> LinkGraph:
        """The links of the site: those of the crawl, else what the columns of the pages know of them."""
        states, targets = self.values("canonical_state"), self.values("canonical_url")
        canonical = list(range(len(states)))
        for row, (state, url) in enumerate(zip(states, targets, strict=True)):
            if state == "other":
                target = self.find(url)
                canonical[row] = -1 if target is None else self.addresses.page(target)
        rows = enumerate(self.good)
        scored = [good and self.addresses.first(row) and states[row] != "other" for row, good in rows]
        nofollow = [value is True for value in self.values("nofollow")]
        crawl = self.crawl
        if crawl is None:
            names = ("links", "canonicals", "hreflangs", "redirects", "broken_resources", "nofollow_links")
            table = table_of_pages(self.addresses, *map(self.values, names))
            return LinkGraph(table, self.addresses, Standing(nofollow, scored, canonical))
        places = (*crawl.starts, *self.addresses.requested)
        hosts = frozenset(url.split("/", 3)[2] for url in map(normal, places) if url is not None)
        follow = crawl.options.get("follow")
        standing = Standing(
            nofollow,
            scored,
            canonical,
            crawl.starts,
            hosts,
            crawl.options.get("subdomains") is True,
            tuple(follow) if isinstance(follow, (list, tuple)) else CLICKED,
            crawl.options.get("nofollow") is not True,
        )
        return LinkGraph(crawl.links, self.addresses, standing)

    @cached_property
    def headers(self) -> list[Headers | None]:
        """The headers of each answer; None where they are not known."""
        return shared_headers(self.values("headers"))

    @cached_property
    def canonicals(self) -> list[list[dict[str, str]] | None]:
        """The canonical links of each row, of the page and then of its headers; None if not known."""
        rows = zip(self.values("canonicals"), self.headers, self.values("final_url"), strict=True)
        return [
            cell if sent is None or "link" not in sent else [*(cell or ()), *sent.canonicals(own or "")]
            for cell, sent, own in rows
        ]

    @cached_property
    def hosts(self) -> dict[str, int]:
        """How many different pages of each host were read."""
        return {host: len(rows) for host, rows in self.rows_of_hosts.items()}

    @cached_property
    def rows_of_hosts(self) -> dict[str, list[int]]:
        """The rows of the pages of each host that were read, each page once."""
        found: dict[str, list[int]] = {}
        for row in self.distinct_read:
            found.setdefault(self.host(row), []).append(row)
        return found

    @cached_property
    def distinct_read(self) -> list[int]:
        """The rows of pages that were read, one row per page."""
        return [row for row, good in enumerate(self.good) if good and self.addresses.first(row)]

    def host(self, row: int) -> str:
        """Return the host of a page; its address as given where that has none."""
        url = self.addresses.final[row]
        return str(self.values("url")[row]) if url is None else url.split("/", 3)[2]

    def place_of_host(self, row: int) -> str:
        """Return scheme and host of a row's page; its address as given where that has none."""
        url = self.addresses.final[row]
        return self.host(row) if url is None else "/".join(url.split("/", 3)[:3])

    def could_be_indexed(self, row: int) -> bool:
        """Return whether search engines may index a page, or could if it did not answer with an error."""
        return self.indexable[row] or self.values("error_type")[row] == "http"

    def problem(self, row: int) -> FetchProblem:
        """Return what went wrong with the fetch of one row, without a look at all of them."""
        return fetch_outcome({name: self.values(name)[row] for name in _FETCHED}).problem

    @property
    def distinct(self) -> Iterator[int]:
        """The rows of indexable pages, one row per page; plain texts are none."""
        known = (row for row, good in enumerate(self.indexable) if good and self.addresses.first(row))
        return (row for row in known if row not in self.texts)

    def alike(self, values: Sequence[Any]) -> Iterator[list[int]]:
        """Yield the rows of different indexable pages of one domain that share a value."""
        for group in clusters_of(values, self.distinct):
            yield from self.by_domain(group)

    def by_domain(self, group: list[int]) -> Iterator[list[int]]:
        """Yield those rows of a group that have a registrable domain in common, where they are several."""
        domains: dict[str, list[int]] = {}
        for row in group:
            domains.setdefault(self.domain(row), []).append(row)
        return (rows for rows in domains.values() if len(rows) > 1)

    def domain(self, row: int) -> str:
        """Return the registrable domain of a page, '' where its address is not known."""
        url = self.addresses.final[row]
        return "" if url is None else registrable_domain(url.split("/", 3)[2])

    def find(self, url: object) -> Target | None:
        """Return what the audit knows about an address, None if it has not seen it."""
        return self.addresses.find(url) if isinstance(url, str) else None

    @cached_property
    def alternates(self) -> dict[int, list[tuple[str, str]]]:
        """Languages and normalised addresses of the hreflang entries of each page that has any."""
        return {
            row: list(dict.fromkeys((entry.lang, entry.url) for entry in entries))
            for row, entries in self.alternate_entries.items()
        }

    @cached_property
    def alternate_entries(self) -> dict[int, list[Alternate]]:
        """The hreflang entries of each page that has any: of its head, its headers and its sitemap."""
        rows = self.read("hreflangs", "final_url")
        listed = sitemap_entries(self.sitemap)
        return alternate_entries(rows, self.headers, self.addresses.final, listed)

    def linked_from(self, row: int) -> str:
        """Return a sentence that names pages which link to a page, '' if none is known."""
        if self.inlinks is None or not self.inlinks.counts[row]:
            return ""
        names = (self.name(source) for source in self.inlinks.sources[row])
        return f"Linked from {listed(names, self.inlinks.counts[row])}."

    def is_linked(self, url: object) -> bool:
        """Return whether pages are known that link to an address."""
        target = self.find(url)
        return target is not None and bool(self.linked_from(target.row))

    def fault(self, target: Target) -> str:
        """Return what is wrong with an address that a page names, "answers HTTP 404"; '' if nothing."""
        problem, status, _ = self.fetches[target.row]
        if target.redirected and problem == "redirected":
            return f"redirects to {self.addresses.final[target.row]}"
        return f"answers HTTP {status}" if problem in _ANSWERED and status else FAULTS.get(problem, "")

    def closed(self, target: Target) -> str:
        """Return why the page behind an address may not be indexed, '' if it may."""
        row = self.addresses.page(target)
        if self.values("noindex")[row]:
            return "noindex"
        if self.values("canonical_state")[row] == "other":
            return "canonicalised"
        return "blocked by robots.txt" if self.fetches[row].problem == "blocked by robots.txt" else ""

    def others(self, group: list[int], row: int) -> str:
        """Return the addresses of the other rows of a group, as evidence names them."""
        return listed((self.name(other) for other in group if other != row), len(group) - 1)

    def name(self, row: int) -> str:
        """Return the address of a page: its final one, else as given."""
        return self.addresses.final[row] or str(self.values("url")[row] or "")

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Row of each address, as given and final; the first of equal ones."""
        found: dict[str, int] = {}
        for column in ("url", "final_url"):
            for row, url in enumerate(self.values(column)):
                if isinstance(url, str):
                    found.setdefault(url, row)
        return found

    @cached_property
    def repeats(self) -> list[bool]:
        """Whether each row was redirected to a page that has a row of its own, which speaks for it."""
        known = self.addresses
        rows = enumerate(zip(known.requested, known.final, strict=True))
        return [asked != end and not known.first(row) for row, (asked, end) in rows]

    def read(self, *columns: str) -> Iterator[tuple[Any, ...]]:
        """Yield the row number and values of each page that was read, once; a missing value is None."""
        if self._portion is not None:
            part = self._portion
            yield from zip(part.rows, *(part.values(self, column) for column in columns), strict=True)
            return
        lists = [self.values(column) for column in columns]
        yield from compress(zip(range(len(self.good)), *lists, strict=True), self._read_once)

    @cached_property
    def portions(self) -> Sequence[Sequence[int] | None]:
        """The rows of one part of a folder after the other, or so many at a time; None for fewer."""
        rows = range(len(self.pages))
        several = [rows[start : start + PORTION_ROWS] for start in range(0, len(rows), PORTION_ROWS)]
        return rows_by_part(self.pages) or (several if several[1:] else [None])

    def any_known(self, column: str) -> bool:
        """Return whether any page that was read has a value of a column."""
        for rows in self.portions:
            with self.portion(rows):
                if any(value is not None for _, value in self.read(column)):
                    return True
        return False

    @contextmanager
    def portion(self, rows: Sequence[int] | None) -> Iterator[None]:
        """Let `read` give some rows alone as long as this lasts, of which each column is decoded once."""
        if rows is not None:
            self._portion = _Portion([row for row in rows if self._read_once[row]])
        try:
            yield
        finally:
            self._portion = None

    @cached_property
    def _read_once(self) -> list[bool]:
        return [good and not repeated for good, repeated in zip(self.good, self.repeats, strict=True)]


class _Portion:
    """Some rows of a site, and what is known of their columns."""

    def __init__(self, rows: list[int]) -> None:
        self.rows = rows
        self._known: dict[str, list[Any]] = {}
        self._stored = ColumnValues(PORTION_BYTES)

    def values(self, site: Site, column: str) -> Sequence[Any]:
        """Return the rows' values of a column."""
        if column in self._known:
            return self._known[column]
        if column not in site.pages:
            return self._known.setdefault(column, [None] * len(self.rows))
        series = site.pages[column]
        if (array := stored(series)) is not None:
            return self._stored.of(column, array.take(self.rows))
        return self._known.setdefault(column, cells(series.iloc[self.rows]))
