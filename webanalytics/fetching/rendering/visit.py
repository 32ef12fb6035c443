"""One visit of the browser to a page: the page as it was fetched, and what the page loads on its way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

MOST_REQUESTS = 500
"""Requests of one page."""
MOST_NOTED = 50
"""Faults of each kind that are kept of a page, and one more that says that there were more."""
LONGEST = 500
"""Characters of what is noted."""


@dataclass(frozen=True)
class Rendered:
    """What a browser made of a page."""

    url: str  # where its scripts have led
    html: str  # the document as HTML, "" where there is none
    note: str = ""  # why it is not whole, or not there
    errors: tuple[str, ...] = ()  # errors on the console
    failed: tuple[tuple[str, str], ...] = ()  # addresses that were not loaded, and why
    seconds: float = 0.0


@dataclass
class Visit:
    """A page that is being rendered."""

    url: str  # its address, in the form in which it is requested
    content: bytes  # the page as it was sent, which is not fetched again
    headers: list[tuple[str, str]]
    bytes_left: int  # of all that it may load
    host: str | None = None  # which it may reach also at private addresses
    requests: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    _under_way: dict[object, tuple[float, str]] = field(default_factory=dict)
    _last: float = 0.0

    @contextmanager
    def loading(self, url: str) -> Iterator[None]:
        """Count a request as under way."""
        key, clock = object(), asyncio.get_running_loop().time
        self._under_way[key] = clock(), url
        try:
            yield
        finally:
            del self._under_way[key]
            self._last = clock()

    def quiet(self) -> float:
        """Return for how many seconds nothing was loaded, 0 while something is."""
        return 0.0 if self._under_way else asyncio.get_running_loop().time() - self._last

    def waits_for(self, before: float) -> list[str]:
        """Return the addresses that were asked for before a moment, and have not answered."""
        return [url for began, url in self._under_way.values() if began < before]

    def note(self, kept: dict[str, str], key: str, value: str) -> None:
        """Keep a fault once; of too many, one entry says that there were more."""
        if len(kept) <= MOST_NOTED:
            kept.setdefault(*((key[:LONGEST], value) if len(kept) < MOST_NOTED else ("and more", "")))

    def rendered(self, url: str, html: str, note: str, seconds: float) -> Rendered:
        """Return what came of it."""
        return Rendered(url, html, note, tuple(self.errors), tuple(self.failed.items()), seconds)
