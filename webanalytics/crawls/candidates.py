"""Addresses of a crawl: those that are, were or will be fetched, those left out, and those counted alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple
from zlib import crc32

from webanalytics.crawls.patterns import folder_of
from webanalytics.crawls.traps import Trace


class State(Enum):
    """How far an address has come: waiting, being fetched, fetched, counted; or fetched for nothing."""

    QUEUED = 0
    FLYING = 1
    READY = 2
    DONE = 3
    DROPPED = 4


@dataclass(slots=True, eq=False)
class Candidate:
    """An address that is to be fetched."""

    url: str  # in normal form
    depth: int | None  # clicks from a start; None where only a sitemap leads to it
    level: int  # its place in the order: pages of one level come before those of the next
    found_on: str = ""  # the page that led to it first
    trace: Trace | None = None  # the address as traps see it
    subject: str = ""  # what is fetched, where that is not the address in normal form
    start: bool = False
    trusted: bool = False  # whether it is a start or in a sitemap: no trap refuses it
    guess: str = ""  # the folder for which it is fetched ahead, before it is known whether its turn comes
    number: int = -1
    ordinal: int = -1  # how many addresses were admitted before it
    state: State = State.QUEUED
    host: str = field(init=False)

    def __post_init__(self) -> None:
        self.subject = self.subject or self.url
        self.host = self.url.split("/", 3)[2]

    @property
    def family(self) -> str:
        """The addresses that it is counted with, "" where none can grow."""
        return self.trace.pattern.key if self.trace is not None and self.trace.pattern.numbered else ""


class Skip(NamedTuple):
    """An address that is not fetched, and why."""

    reason: str
    detail: str
    depth: int | None
    found_on: str


MOST_GROUPS = 1_000
"""Patterns that are told apart; what comes after them is one group."""

_BITS = 26
_VALUES = re.compile(r"=[^&]*")


class AddressCounts:
    """Counts addresses and the links to them, by folder and names of parameters.

    Whether an address was counted before is a bit of a table of eight megabytes, so of ten million about
    seven in a hundred are taken for others.

    >>> counts = AddressCounts()
    >>> for number in (1, 2, 2):
    ...     counts.add(f"https://a.example/x?page={number}", 1, 3, "https://a.example/")
    >>> [(row["detail"], row["addresses"], row["links"]) for row in counts.rows()], counts.addresses
    ([('https://a.example/?page', 2, 3)], 2)
    """

    def __init__(self) -> None:
        self.addresses = 0
        self._seen = bytearray()
        self._groups: dict[str, dict[str, Any]] = {}

    def add(self, url: str, links: int, depth: int | None, found_on: str) -> None:
        """Count links to an address."""
        self._seen = self._seen or bytearray(1 << (_BITS - 3))
        hashed = crc32(url.encode("utf-8", "replace")) >> (32 - _BITS)
        new = not self._seen[hashed >> 3] >> (hashed & 7) & 1
        self._seen[hashed >> 3] |= 1 << (hashed & 7)
        self.addresses += new
        query = url.partition("?")[2]
        pattern = f"{folder_of(url)}/" + (f"?{_VALUES.sub('', query)[:200]}" if query else "")
        if pattern not in self._groups and len(self._groups) >= MOST_GROUPS:
            pattern = "…"
        group = self._groups.setdefault(
            pattern,
            {"url": url, "reason": "counted", "detail": pattern, "depth": depth, "found_on": found_on}
            | {"links": 0, "addresses": 0},
        )
        group["links"] += links
        group["addresses"] += new

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row of `SKIPPED` for each group, with the first of its addresses."""
        yield from self._groups.values()
