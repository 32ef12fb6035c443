"""Addresses that a crawl has seen and does not keep: counted by what they have in common."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from zlib import crc32

from webanalytics.crawls.patterns import folder_of

MOST_GROUPS = 1_000
"""Patterns that are told apart; what comes after them is one group."""

_BITS = 26
_VALUES = re.compile(r"=[^&]*")


class AddressCounts:
    """Counts addresses and the links to them, by folder and names of parameters.

    Whether an address was counted before is a bit of a table of eight megabytes, so of ten million about
    seven in a hundred are taken for others.

    Examples
    --------
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
