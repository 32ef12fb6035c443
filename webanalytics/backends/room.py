"""A bound on the content that waits for a worker."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Room:
    """Bytes that wait for a worker; while there are many, nothing further is fetched.

    Parameters
    ----------
    limit : int
        Bytes from which on fetches are held back.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._free = asyncio.Event()
        self._free.set()
        self.held = 0

    async def wait(self) -> None:
        """Wait until there is room."""
        await self._free.wait()

    @contextmanager
    def hold(self, size: int) -> Iterator[None]:
        """Count bytes as waiting."""
        self._add(size)
        try:
            yield
        finally:
            self._add(-size)

    def _add(self, size: int) -> None:
        self.held += size
        if self.held > self._limit:
            self._free.clear()
        else:
            self._free.set()
