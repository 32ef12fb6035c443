"""How many requests run at once, and how far apart they start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager


class _Gate:
    """The queue in front of one host."""

    __slots__ = ("not_before", "pace", "serial", "slots", "users")

    def __init__(self, per_host: int) -> None:
        self.slots = asyncio.Semaphore(per_host)
        self.serial = asyncio.Lock()
        self.pace = asyncio.Lock()
        self.not_before = 0.0
        self.users = 0


class Limits:
    """Slots for requests, over all hosts and to each one.

    Who waits for their own host holds no slot of the whole, so one slow host cannot occupy them
    all. The order is always the host first and then the whole, so there is no deadlock.

    Parameters
    ----------
    concurrency : int
        Requests at one time over all hosts.
    per_host : int
        Requests at one time to one host.
    delay : float
        Seconds between the starts of two requests to one host.
    max_idle : int
        Hosts without a request that are remembered before those that no longer matter are dropped.
    """

    def __init__(self, concurrency: int, per_host: int, delay: float = 0.0, *, max_idle: int = 1000) -> None:
        self._all = asyncio.Semaphore(concurrency)
        self._per_host = per_host
        self._delay = delay
        self._max_idle = max_idle
        self._gates: dict[str, _Gate] = {}

    @asynccontextmanager
    async def slot(self, host: str, crawl_delay: float = 0.0) -> AsyncIterator[None]:
        """Hold a slot of the host and one of the whole.

        Parameters
        ----------
        host : str
            Which host, see `webanalytics.fetching.urls.host_key`.
        crawl_delay : float
            Seconds that the host wants between two requests; above 0 it gets one request at a time.
        """
        gate = self._gate(host)
        gate.users += 1
        try:
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(gate.slots)
                if crawl_delay > 0:
                    await stack.enter_async_context(gate.serial)
                await self._start(gate, max(self._delay, crawl_delay))
                stack.callback(self._all.release)
                yield
        finally:
            gate.users -= 1
            if not gate.users and gate.not_before <= _now():
                self._gates.pop(host, None)

    def pause(self, host: str, seconds: float) -> None:
        """Start no further request to a host for some time (it asked for it)."""
        gate = self._gate(host)
        gate.not_before = max(gate.not_before, _now() + seconds)

    async def _start(self, gate: _Gate, delay: float) -> None:
        if not delay and gate.not_before <= _now():
            await self._all.acquire()
            return
        # One at a time up to the start itself: two that waited for a slot of the whole would
        # otherwise start together.
        async with gate.pace:
            while (wait := gate.not_before - _now()) > 0:  # noqa: ASYNC110 - a time, not an event
                await asyncio.sleep(wait)
            await self._all.acquire()
            gate.not_before = max(gate.not_before, _now() + delay)

    def _gate(self, host: str) -> _Gate:
        gate = self._gates.get(host)
        if gate is None:
            if len(self._gates) >= self._max_idle:
                self._forget()
            gate = self._gates[host] = _Gate(self._per_host)
        return gate

    def _forget(self) -> None:
        now = _now()
        for host in [key for key, gate in self._gates.items() if not gate.users and gate.not_before <= now]:
            del self._gates[host]


def _now() -> float:
    return asyncio.get_running_loop().time()
