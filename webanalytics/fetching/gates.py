"""Slots for requests, over all hosts and to each one; a `Pace` says how many a host gets, and how often.

`Fetcher` holds a slot for each request, and tells how it ended.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from webanalytics.core.messages import error_type_of
from webanalytics.errors import BackendError
from webanalytics.fetching.pace import REFUSED, SILENT, Pace
from webanalytics.fetching.response import Problem
from webanalytics.fetching.robots import Rules

log = logging.getLogger("webanalytics")

MOST_HOSTS = 10_000
"""Hosts whose pace is remembered; those that never were in trouble go first."""


class Waiting(NamedTuple):
    """A host whose requests wait: for how long, and how many they are."""

    host: str
    seconds: float
    requests: int


class _Turn(NamedTuple):
    """A request in the queue of a host."""

    let_in: asyncio.Future[None]
    crawl_delay: float


class _Gate:
    """The queue in front of one host."""

    __slots__ = ("active", "pace", "queue", "starting", "timer", "users")

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self.queue: deque[_Turn] = deque()
        self.active = 0
        self.starting = False
        self.users = 0
        self.timer: asyncio.TimerHandle | None = None

    def is_open(self) -> bool:
        """Return whether a request may start at once that need not keep apart from the others."""
        return not (
            self.queue
            or self.active >= self.pace.connections
            or self.pace.given_up
            or self.pace.not_before > _now()
        )

    def pump(self, delay: float) -> None:
        """Let in as many as may start now; for the next one a timer is set if it has only to wait."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        while self.queue:
            turn = self.queue[0]
            if turn.let_in.done():  # cancelled
                self.queue.popleft()
                continue
            if self.pace.given_up:
                self.queue.popleft()
                turn.let_in.set_exception(given_up(self.pace))
                continue
            if self.active >= (1 if turn.crawl_delay > 0 else self.pace.connections):
                return
            apart = max(delay, turn.crawl_delay, self.pace.delay)
            # One at a time up to the start itself: two that waited for an overall slot would
            # otherwise start together.
            if apart > 0 and self.starting:
                return
            wait = self.pace.not_before - _now()
            if wait > 0:
                self.timer = asyncio.get_running_loop().call_later(wait, self.pump, delay)
                return
            self.queue.popleft()
            self.active += 1
            self.starting = apart > 0
            turn.let_in.set_result(None)


def given_up(pace: Pace) -> Problem:
    """Return the problem of a request to a host that is not asked any more."""
    key = "host_given_up" if pace.reason in _BUSY else "host_refused"
    return Problem(key, count=pace.in_row, reason=pace.reason)


_NO_ANSWER = "no answer in time"
_BUSY = frozenset((_NO_ANSWER, "HTTP 503"))
"""Reasons of a host that cannot answer; all others are of one that does not want to."""
GIVEN_UP = frozenset(("host_given_up", "host_refused"))
"""Keys of the problems of requests to hosts that are not asked any more."""


class Limits:
    """Slots for requests, over all hosts and to each one.

    A request that waits for its host holds no overall slot, so one slow host cannot occupy them
    all. The order is always the host first and then overall, so there is no deadlock.
    """

    def __init__(
        self,
        concurrency: int,  # requests at one time over all hosts
        per_host: int,  # requests at one time to one host
        delay: float = 0.0,  # seconds between the starts of two requests to one host
        *,
        # hosts without a request that are remembered before those that no longer matter are dropped
        max_idle: int = 1000,
        first_wait: float = 0.5,  # first pause after a refusal
        longest_wait: float = 60.0,  # longest pause after a refusal
        adaptive: bool = True,  # whether refusals and slow answers change the pace of a host
    ) -> None:
        self._all = asyncio.Semaphore(concurrency)
        self._size, self._owed = concurrency, 0
        # awaited by each request in its slot, before it begins
        self.ready: Callable[[], Awaitable[object]] = _at_once
        self._delay = delay
        self._max_idle = max_idle
        self._settings = (per_host, first_wait, longest_wait, adaptive)
        self._gates: dict[str, _Gate] = {}
        self._paces: OrderedDict[str, Pace] = OrderedDict()

    def slot(self, host: str, crawl_delay: float = 0.0, *, first: bool = False) -> _Slot:
        """Hold a slot of the host and an overall one, unless the host was given up.

        A host with a crawl-delay, in seconds, gets one request at a time; what is `first` goes before those
        that wait.
        """
        return _Slot(self, host, crawl_delay, first)

    async def enter(self, host: str, crawl_delay: float, *, first: bool) -> _Gate:
        """Wait for a slot of the host and an overall one, and return the host's gate."""
        gate = self._gate(host)
        gate.users += 1
        try:
            if gate.is_open() and not (self._delay or crawl_delay or gate.pace.delay):
                gate.active += 1
                try:
                    await self._overall()
                except BaseException:
                    gate.active -= 1
                    gate.pump(self._delay)
                    raise
            else:
                await self._queue(gate, crawl_delay, first=first)
        except BaseException:
            self._left(gate, host)
            raise
        return gate

    def leave(self, gate: _Gate, host: str) -> None:
        """Give the slots back."""
        self._release()
        gate.active -= 1
        gate.pump(self._delay)
        self._left(gate, host)

    def _left(self, gate: _Gate, host: str) -> None:
        gate.users -= 1
        if not gate.users and gate.pace.not_before <= _now():
            self._gates.pop(host, None)

    async def _overall(self) -> None:
        await self._all.acquire()
        try:
            await self.ready()
        except BaseException:
            self._release()
            raise

    async def _queue(self, gate: _Gate, crawl_delay: float, *, first: bool) -> None:
        turn = _Turn(asyncio.get_running_loop().create_future(), crawl_delay)
        gate.queue.insert(0 if first else len(gate.queue), turn)
        gate.pump(self._delay)
        entered = False
        try:
            await turn.let_in
            await self._overall()
            entered = True
        finally:
            let_in = turn.let_in.done() and not turn.let_in.cancelled() and not turn.let_in.exception()
            if not let_in:
                turn.let_in.cancel()
            elif entered:
                apart = max(self._delay, crawl_delay, gate.pace.delay)
                gate.pace.pause(_now(), apart)
                gate.starting = False
            else:
                gate.active -= 1
                gate.starting = False
            gate.pump(self._delay)

    def fewer(self) -> int:
        """Halve the requests at one time, as those in progress end, and return how many are left."""
        kept = max(1, self._size // 2)
        self._owed += self._size - kept
        self._size = kept
        return kept

    def _release(self) -> None:
        if self._owed:
            self._owed -= 1
        else:
            self._all.release()

    def ended(
        self, host: str, began: float, problem: Problem | None, page: str | None = None, doubt: bool = False
    ) -> None:
        """Take note of how a request to a host ended: its pace follows from that.

        ``page`` is the address if it was a page that the host answers, "" if an error; None for other files.
        In ``doubt`` it was of a page that the host has answered before.
        """
        pace, now = self.pace(host), _now()
        slowed, given_up = pace.was_slowed, pace.given_up
        if problem is not None and _refuses(problem):
            pace.refused(began, now, _reason(problem), problem.retry_after)
        elif problem is not None and turns_away(problem):
            pace.turned_away(began, now, _reason(problem), problem.retry_after, sure=doubt)
        elif problem is None or problem.http_status:
            pace.answered(began, now)
            if page is not None:
                pace.opened(page)
        else:
            pace.failed()
        if pace.given_up and not given_up:
            log.warning("%s was %s", host, pace.note)
        elif pace.was_slowed and not slowed:
            log.info("%s is asked less: %s", host, pace.reason)

    def pace_of(self, host: str) -> Pace:
        """Return the pace of a host, its moments as seconds from now: to go on elsewhere."""
        return self.pace(host).moved(-_now())

    def take(self, host: str, pace: Pace) -> None:
        """Go on with the pace of a host from elsewhere; no request to it may be waiting."""
        self._paces[host] = pace.moved(_now())
        self._gates.pop(host, None)

    def hosts(self) -> Iterator[dict[str, Any]]:
        """Yield one row for each host, with the columns of `webanalytics.runs.frames.link_table.HOSTS`."""
        for host, pace in self._paces.items():
            yield {
                "host": host,
                "pages": pace.pages,
                "failures": pace.failures,
                "delay": max(self._delay, pace.delay),
                "connections": 0 if pace.given_up else pace.connections,
                "note": pace.note,
            }

    def waiting(self) -> list[Waiting]:
        """Return the hosts whose requests all wait because of what they answered, the longest first."""
        now = _now()
        found = [
            Waiting(host, gate.pace.not_before - now, len(gate.queue))
            for host, gate in self._gates.items()
            if gate.queue and gate.pace.rounds and gate.pace.not_before > now
        ]
        return sorted(found, key=lambda item: -item.seconds)

    def _gate(self, host: str) -> _Gate:
        gate = self._gates.get(host)
        if gate is None:
            if len(self._gates) >= self._max_idle:
                self._forget()
            gate = self._gates[host] = _Gate(self.pace(host))
        return gate

    def pace(self, host: str) -> Pace:
        """Return the pace of a host as it is."""
        pace = self._paces.get(host)
        if pace is None:
            if len(self._paces) >= MOST_HOSTS:
                idle = (
                    name for name, item in self._paces.items() if not item.note and name not in self._gates
                )
                del self._paces[next(idle, next(iter(self._paces)))]
            pace = self._paces[host] = Pace(*self._settings)
        return pace

    def _forget(self) -> None:
        now = _now()
        for host in [
            key for key, gate in self._gates.items() if not gate.users and gate.pace.not_before <= now
        ]:
            del self._gates[host]


class _Slot:
    """The slots of one request, in `async with`."""

    __slots__ = ("_crawl_delay", "_first", "_gate", "_host", "_limits")

    def __init__(self, limits: Limits, host: str, crawl_delay: float, first: bool) -> None:
        self._limits, self._host, self._crawl_delay, self._first = limits, host, crawl_delay, first

    async def __aenter__(self) -> None:
        self._gate = await self._limits.enter(self._host, self._crawl_delay, first=self._first)

    async def __aexit__(self, *_: object) -> None:
        self._limits.leave(self._gate, self._host)


def _refuses(problem: Problem) -> bool:
    status = problem.http_status if problem.key in ("status", "challenge") else None
    return problem.key in SILENT or status in REFUSED


def turns_away(problem: Problem) -> bool:
    """Return whether a page was refused; a host that has turned against us does no other."""
    return error_type_of(problem.key, problem.http_status) == "refused" and problem.key != "proxy_auth"


def _reason(problem: Problem) -> str:
    """Return in a few words why a page was not sent."""
    wall = f"a page to {problem.details['what']}" if problem.key == "wall" else None
    said = problem.details.get("who") or wall or f"HTTP {problem.http_status}"
    return _NO_ANSWER if problem.key in SILENT else said


async def _at_once() -> None:
    """Wait for nothing."""


def _now() -> float:
    return asyncio.get_running_loop().time()


@dataclass(frozen=True)
class HostKnown:
    """What is known of one host."""

    pace: Pace  # how it is asked; its moments are seconds from now, since clocks of machines differ
    # by origin the rules of its robots.txt, and for how many seconds they hold
    rules: Mapping[str, tuple[Rules, float]] = field(default_factory=dict)


class Elsewhere(BackendError):  # noqa: N818 - it never reaches a user
    """A page leads to a host that this fetcher may not ask."""

    def __init__(self, host: str) -> None:
        super().__init__("a page leads to a host that is asked from elsewhere")
        self.host = host  # which one, see `webanalytics.fetching.guard.host_key`
