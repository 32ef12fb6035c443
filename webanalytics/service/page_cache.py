"""Pages fetched for an account, kept for a minute, so that several operations on one page fetch it once.

It stands between the engine and its fetcher.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple


class FetchedPage(NamedTuple):
    """The parts of a response that analyses need; ``content`` is the body after decompression."""

    final_url: str
    content_type: str
    content: bytes


Key = tuple[int, str]
"""Account and URL: what was fetched for one account is never shown to another."""

ENTRY_BYTES = 500
"""Approximate bytes of an entry besides its texts."""


@dataclass(slots=True, eq=False)
class _Flight:
    """A fetch in progress, and how many callers wait for it."""

    task: asyncio.Task[FetchedPage] = field(init=False)
    waiters: int = 0


class PageCache:
    """Fetches pages, each once for all concurrent callers, and keeps them for a while.

    Failures are not kept. When a caller is cancelled, the fetch continues for the others that wait for it;
    with the last one it is cancelled, too.
    """

    def __init__(
        self,
        fetch: Callable[[int, str], Awaitable[FetchedPage]],  # fetches a URL for an account
        seconds: float,  # how long a page is kept; 0 for not at all
        max_bytes: int,  # bytes kept altogether; the least recently used pages go first
        clock: Callable[[], float] = time.monotonic,  # a monotonic clock, in seconds
        # is notified of each page requested, and whether it was cached
        on_lookup: Callable[[bool], None] | None = None,
    ) -> None:
        self._fetch = fetch
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._clock = clock
        self._on_lookup = on_lookup
        self._kept: OrderedDict[Key, tuple[FetchedPage, float]] = OrderedDict()
        self._flights: dict[Key, _Flight] = {}
        self._tasks: set[asyncio.Task[FetchedPage]] = set()
        self._next_purge = 0.0
        self.bytes = 0

    async def get(self, account: int, url: str, *, fresh: bool = False) -> FetchedPage:
        """Return a page, or raise `FetchError` when it cannot be fetched."""
        key = (account, url)
        kept = None if fresh else self._find(key)
        flight = None if fresh else self._flights.get(key)
        if self._on_lookup is not None:
            self._on_lookup(kept is not None or flight is not None)
        if kept is not None:
            return kept
        if flight is None:
            flight = self._start(key)
        flight.waiters += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiters -= 1
            if not flight.waiters:
                flight.task.cancel()
                self._forget(key, flight)

    async def close(self) -> None:
        """Stop what is still being fetched, and drop what was kept."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._kept.clear()
        self.bytes = 0

    def _start(self, key: Key) -> _Flight:
        flight = self._flights[key] = _Flight()
        flight.task = asyncio.create_task(self._fly(key, flight))
        self._tasks.add(flight.task)
        flight.task.add_done_callback(self._landed)
        return flight

    async def _fly(self, key: Key, flight: _Flight) -> FetchedPage:
        try:
            page = await self._fetch(*key)
            if self._flights.get(key) is flight:  # no newer one was started in between
                self._keep(key, page)
            return page
        finally:
            self._forget(key, flight)

    def _landed(self, task: asyncio.Task[FetchedPage]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # the waiting callers have it, or none is left

    def _forget(self, key: Key, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]

    def _find(self, key: Key) -> FetchedPage | None:
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept[1] <= self._clock():
            self._drop(key)
            return None
        self._kept.move_to_end(key)
        return kept[0]

    def _keep(self, key: Key, page: FetchedPage) -> None:
        self._drop(key)
        now = self._clock()
        if now >= self._next_purge:
            for old in [old for old, (_, until) in self._kept.items() if until <= now]:
                self._drop(old)
            self._next_purge = now + self._seconds
        size = _size(key, page)
        if not self._seconds or size > self._max_bytes:
            return
        self._kept[key] = (page, now + self._seconds)
        self.bytes += size
        while self.bytes > self._max_bytes:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: Key) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self.bytes -= _size(key, kept[0])


def _size(key: Key, page: FetchedPage) -> int:
    return len(page.content) + len(key[1]) + len(page.final_url) + len(page.content_type) + ENTRY_BYTES
