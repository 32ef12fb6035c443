"""The links of a site in arrays of integers, and what else a crawl knows besides its pages.

A link takes fifteen bytes, and each address is there once. A crawl fills the table page by page; the link
graph, the rules and `webanalytics.Audit.links` read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from webanalytics.core.operations.model import Dtype
from webanalytics.runs.frames.schema import make_series

Kind: TypeAlias = Literal[
    "link",
    "redirect",
    "refresh",
    "canonical",
    "hreflang",
    "next",
    "prev",
    "amp",
    "frame",
    "form",
    "image",
    "media",
    "script",
    "stylesheet",
    "icon",
]
"""Kinds of links: ``link`` is an anchor or an area, ``redirect`` the answer of a server."""

Position: TypeAlias = Literal["head", "header", "nav", "main", "aside", "footer", "body", "http"]
"""Where a link stands: the nearest section (HTML Standard, section 4.3), or in the headers of the answer."""

KINDS: tuple[Kind, ...] = get_args(Kind)
POSITIONS: tuple[Position, ...] = get_args(Position)
RELS = ("nofollow", "ugc", "sponsored")
"""Keywords of ``rel`` that are kept, as bits 1, 2 and 4: search engines do not follow links that have one."""


class Link(NamedTuple):
    """One link as a page has it."""

    target: str
    anchor: str = ""
    rel: int = 0
    kind: Kind = "link"
    position: Position = "body"


@dataclass(frozen=True)
class LinkTable:
    """Links of a site, in the order of their pages and then of the document.

    Attributes
    ----------
    urls : sequence of str
        Every address that was seen, in normal form and in order of discovery.
    source, target : numpy.ndarray
        Places in `urls`: int32, one for each link.
    anchor : numpy.ndarray
        Places in `anchors`: int32.
    rel : numpy.ndarray
        Bits of `RELS`: uint8.
    kind, position : numpy.ndarray
        Places in `KINDS` and `POSITIONS`: uint8.
    anchors : sequence of str
        Different texts of links, the empty one first.
    """

    urls: Sequence[str] = ()
    source: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    target: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    anchor: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    rel: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))
    kind: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))
    position: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))
    anchors: Sequence[str] = ("",)

    def __len__(self) -> int:
        return len(self.source)


class LinkTableBuilder:
    """Takes links page by page.

    Examples
    --------
    >>> links = LinkTableBuilder()
    >>> links.add("https://a.example/", [Link("https://a.example/b", "Tea"), Link("https://a.example/b")])
    >>> table = links.table()
    >>> table.urls, table.target.tolist(), [table.anchors[place] for place in table.anchor]
    (['https://a.example/', 'https://a.example/b'], [1, 1], ['Tea', ''])
    """

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._anchors: dict[str, int] = {"": 0}
        self._links: list[NDArray[np.int32]] = []

    def __contains__(self, url: str) -> bool:
        return url in self._places

    def place(self, url: str) -> int:
        """Return the place of an address, which is new if it was not seen before."""
        return self._places.setdefault(url, len(self._places))

    def add(self, source: str, links: Iterable[Link]) -> None:
        """Add the links of a page, in document order."""
        own = self.place(source)
        rows = [
            (
                own,
                self.place(link.target),
                self._anchors.setdefault(link.anchor, len(self._anchors)),
                link.rel | KINDS.index(link.kind) << 8 | POSITIONS.index(link.position) << 16,
            )
            for link in links
        ]
        if rows:
            self._links.append(np.array(rows, np.int32))

    def table(self) -> LinkTable:
        """Return what was added so far."""
        pieces = self._links or [np.empty((0, 4), np.int32)]
        source, target, anchor, packed = (
            np.concatenate([rows[:, place] for rows in pieces]) for place in range(4)
        )
        rel, kind, position = ((packed >> shift & 255).astype(np.uint8) for shift in (0, 8, 16))
        anchors = list(self._anchors)
        return LinkTable(list(self._places), source, target, anchor, rel, kind, position, anchors)


SKIPPED: Mapping[str, Dtype] = {
    "url": "string",
    "reason": "string",
    "detail": "string",
    "depth": "integer",
    "found_on": "string",
    "links": "integer",
}
"""Addresses that were seen and not fetched, each once: ``reason`` is robots, depth, limit, pattern, external,
nofollow, kind (every link there is of one that is not followed), trap or not_html, ``detail`` the rule,
limit, pattern or kind, ``links`` how many links lead there."""

CHECKED: Mapping[str, Dtype] = {
    "url": "string",
    "kind": "string",
    "verdict": "string",
    "http_status": "integer",
    "final_url": "string",
    "method": "string",
    "error": "string",
    "error_type": "string",
}
"""Addresses asked for their status alone: ``kind`` is external, image, script, ..., ``verdict`` ok,
redirected, gone, blocked or failed, ``method`` HEAD or GET."""

TRAPS: Mapping[str, Dtype] = {
    "pattern": "string",
    "kind": "string",
    "fetched": "integer",
    "skipped": "integer",
    "example": "string",
    "evidence": "string",
}
"""Endless families of addresses: their pattern, and why they are taken for one."""

HOSTS: Mapping[str, Dtype] = {
    "host": "string",
    "pages": "integer",
    "failures": "integer",
    "delay": "float",
    "connections": "integer",
    "note": "string",
}
"""How each host was asked: seconds between requests and requests at once at the end, and why they changed."""


def table(columns: Mapping[str, Dtype], rows: Iterable[Mapping[str, Any]] = ()) -> pd.DataFrame:
    """Return rows as a frame with the dtypes of its columns.

    Examples
    --------
    >>> table(TRAPS).dtypes["fetched"]
    Int64Dtype()
    """
    known = list(rows)
    index = pd.RangeIndex(len(known))
    return pd.DataFrame(
        {
            name: make_series([row.get(name) for row in known], dtype, index)
            for name, dtype in columns.items()
        },
        index=index,
    )


@dataclass(frozen=True)
class CrawlFacts:
    """What a crawl knows besides its pages.

    Attributes
    ----------
    links : LinkTable
        Links of all pages that were read, redirects included.
    skipped, checked, traps, hosts : pandas.DataFrame
        With the columns `SKIPPED`, `CHECKED`, `TRAPS` and `HOSTS`.
    starts : tuple of str
        Where the crawl began.
    soft_404 : frozenset of str
        Pages that say "not found" with status 200.
    options : Mapping
        What the call asked for, by parameter, in plain values.
    stopped : str
        Why pages are missing: a limit, an interrupt, hosts that were given up. Sentences; empty if none are.
    """

    links: LinkTable = field(default_factory=LinkTable)
    skipped: pd.DataFrame = field(default_factory=lambda: table(SKIPPED))
    checked: pd.DataFrame = field(default_factory=lambda: table(CHECKED))
    traps: pd.DataFrame = field(default_factory=lambda: table(TRAPS))
    hosts: pd.DataFrame = field(default_factory=lambda: table(HOSTS))
    starts: tuple[str, ...] = ()
    soft_404: frozenset[str] = frozenset()
    options: Mapping[str, Any] = field(default_factory=dict)
    stopped: str = ""
