"""The links of a site in arrays of integers, and what else a crawl knows besides its pages.

A link takes twenty-four bytes, and each address is there once. A crawl fills the table page by page; the link
graph, the rules and `webanalytics.Audit.links` read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from webanalytics.core.operations.model import Dtype
from webanalytics.runs.frames.schema import frame_of

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
    """One link as a page has it, and how often: alike are links of one target, text, place and so on."""

    target: str
    anchor: str = ""
    rel: int = 0
    kind: Kind = "link"
    position: Position = "body"
    fragment: str = ""
    times: int = 1


@dataclass(frozen=True)
class LinkTable:
    """Links of a site, in the order of their pages and then of the document."""

    urls: Sequence[str] = ()  # every address that was seen, in normal form and in order of discovery
    # places in `urls`: int32, one for each link
    source: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    target: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    # places in `anchors`: int32
    anchor: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    rel: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))  # bits of `RELS`: uint8
    # places in `KINDS` and `POSITIONS`: uint8
    kind: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))
    position: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))
    anchors: Sequence[str] = ("",)  # different texts and fragments of links, the empty one first
    # places in `fragments`, and how many links of the page are alike: int32
    fragment: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    times: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    # whether the page that a link leads to was read and has no such place as its fragment names: bool
    missing: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))
    fragments: Sequence[str] = ("",)

    def __post_init__(self) -> None:
        for name, value in (("fragment", 0), ("times", 1), ("missing", False)):
            if len(getattr(self, name)) < len(self):
                made = np.full(len(self), value, getattr(self, name).dtype)
                object.__setattr__(self, name, made)

    def __len__(self) -> int:
        return len(self.source)


class LinkTableBuilder:
    """Takes links page by page."""

    def __init__(self, most_texts: int = 1_000_000) -> None:
        self._most = most_texts
        self._places: dict[str, int] = {}
        self._anchors: dict[str, int] = {"": 0}
        self._fragments: dict[str, int] = {"": 0}
        self._links: list[NDArray[np.int32]] = []

    def __contains__(self, url: str) -> bool:
        return url in self._places

    def __len__(self) -> int:
        return len(self._places)

    def place(self, url: str) -> int:
        """Return the place of an address, which is new if it was not seen before."""
        return self._places.setdefault(url, len(self._places))

    def add(self, source: str, links: Iterable[Link]) -> None:
        """Add the links of a page, in document order."""
        own, places = self.place(source), self._places
        row: list[int] = []
        for target, anchor, rel, kind, position, fragment, times in links:
            row += (
                own,
                places.setdefault(target, len(places)),
                self._text(self._anchors, anchor) if anchor else 0,
                rel | KINDS.index(kind) << 8 | POSITIONS.index(position) << 16,
                self._text(self._fragments, fragment) if fragment else 0,
                times,
            )
        if row:
            self._links.append(np.array(row, np.int32).reshape(-1, 6))

    def add_plain(self, source: str, targets: Sequence[str], rels: Sequence[int]) -> None:
        """Add links of a page of which targets and `rel` alone are known, at once."""
        rows, places = np.zeros((len(targets), 6), np.int32), self._places
        rows[:, 0] = self.place(source)
        rows[:, 1] = [places.setdefault(target, len(places)) for target in targets]
        rows[:, 3] = np.array(rels, np.int32) | KINDS.index("link") << 8 | POSITIONS.index("body") << 16
        rows[:, 5] = 1
        self._links.append(rows)

    def _text(self, known: dict[str, int], text: str) -> int:
        return known.get(text, 0) if len(known) > self._most else known.setdefault(text, len(known))

    def table(self) -> LinkTable:
        """Return what was added so far."""
        pieces = self._links or [np.empty((0, 6), np.int32)]
        source, target, anchor, packed, fragment, times = (
            np.concatenate([rows[:, place] for rows in pieces]) for place in range(6)
        )
        rel, kind, position = ((packed >> shift & 255).astype(np.uint8) for shift in (0, 8, 16))
        urls, anchors, fragments = map(list, (self._places, self._anchors, self._fragments))
        links = LinkTable(urls, source, target, anchor, rel, kind, position, anchors, fragment, times)
        return replace(links, fragments=fragments)


SKIPPED: Mapping[str, Dtype] = {
    "url": "string",
    "reason": "string",
    "detail": "string",
    "depth": "integer",
    "found_on": "string",
    "links": "integer",
    "addresses": "integer",
}
"""Addresses that were seen and not fetched, each once: ``reason`` is robots, depth, limit, pattern, external,
nofollow, kind (every link there is of one that is not followed), trap, not_html or counted, ``detail`` the
rule, limit, pattern or kind, ``links`` how many links lead there. Where far more are known than are wanted,
those alike are one row with the reason counted: ``url`` is the first and ``addresses`` says how many."""

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
"""Addresses asked for their status alone: ``kind`` is external, image, hreflang, ..., ``verdict`` ok,
redirected, gone, refused, blocked or failed, ``method`` HEAD or GET."""

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


@dataclass(frozen=True)
class CrawlFacts:
    """What a crawl knows besides its pages."""

    # links of all pages that were read, redirects included
    links: LinkTable = field(default_factory=LinkTable)
    # with the columns `SKIPPED`, `CHECKED`, `TRAPS` and `HOSTS`
    skipped: pd.DataFrame = field(default_factory=lambda: frame_of(SKIPPED))
    checked: pd.DataFrame = field(default_factory=lambda: frame_of(CHECKED))
    traps: pd.DataFrame = field(default_factory=lambda: frame_of(TRAPS))
    hosts: pd.DataFrame = field(default_factory=lambda: frame_of(HOSTS))
    starts: tuple[str, ...] = ()  # where the crawl began
    soft_404: frozenset[str] = frozenset()  # pages that say "not found" with status 200
    # what the call asked for, by parameter, in plain values
    options: Mapping[str, Any] = field(default_factory=dict)
    # Why pages are missing: a limit, an interrupt, hosts that were given up, traps. Sentences; empty if none
    # are
    stopped: str = ""
    only_endless: bool = False  # whether nothing is missing but what is surely endless
    # how many links of a page are not among the links, by its address
    left_out: Mapping[str, int] = field(default_factory=dict)
    log_ins: frozenset[str] = frozenset()  # pages that show a page to log in with status 200

    @property
    def whole(self) -> bool:
        """Whether all pages of the site may be known."""
        return not self.stopped or self.only_endless
