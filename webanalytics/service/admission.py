"""How much may be under way at once, in calls and in bytes, and that no account takes it all.

`calls` asks before a call and before its answer goes out, `parameters` while a body comes in.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter
from limits.errors import ConfigurationError, StorageError
from limits.storage import storage_from_string

from webanalytics.core.messages import Message
from webanalytics.errors import ParameterError
from webanalytics.service.results import Problem

BUSY = Message("busy")
RETRY_SECONDS = 2.0

DEBT_FACTOR = 4.0
"""Seconds that an account is in debt for each second it wasted."""
LONGEST_DEBT = 300.0


class Admission:
    """Places for requests that take time; a caller who finds none is asked to try again."""

    def __init__(
        self, limit: int, retry_after: float = RETRY_SECONDS, on_change: Callable[[int], None] | None = None
    ) -> None:
        self._limit = limit
        self._retry_after = retry_after
        self._on_change = on_change
        self._held: dict[int, int] = {}
        self.taken = 0

    @asynccontextmanager
    async def place(self, account: int) -> AsyncIterator[None]:
        """Hold a place for an account, or raise `Problem` 503 if none is left for it."""
        own = self._held.get(account, 0)
        greedy = 2 * self.taken > self._limit and 2 * own > self.taken
        if greedy or self.taken >= self._limit:
            raise Problem(503, BUSY, retry_after=self._retry_after)
        self._held[account] = own + 1
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)
            _decrease(self._held, account)

    def _count(self, change: int) -> None:
        self.taken += change
        if self._on_change is not None:
            self._on_change(self.taken)


def _decrease(held: dict[int, int], account: int) -> None:
    held[account] -= 1
    if not held[account]:
        del held[account]


class FairSlots:
    """Slots given to waiting accounts in turn, however many each of them wants.

    An account whose work wasted a slot until its deadline is in debt for a while. Accounts in debt hold half
    of the slots together, at most: whoever has only sound pages does not wait for them all.
    """

    def __init__(
        self,
        size: int | None,
        share: int | None = None,
        *,
        seconds: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._size = size
        self._share = share
        self._seconds = seconds
        self._clock = clock
        self._debts: dict[int, float] = {}  # account to when it ends
        self._held: dict[int, int] = {}
        self._taken = 0
        self._waiting: OrderedDict[int, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, account: int) -> AsyncIterator[None]:
        """Hold a slot for an account, or raise `Problem` 503 if none becomes free in time."""
        await self._acquire(account)
        try:
            yield
        finally:
            self._release(account)

    def charge(self, account: int, seconds: float) -> None:
        """Charge an account with seconds that it wasted."""
        now = self._clock()
        self._debts = {other: end for other, end in self._debts.items() if end > now}
        end = self._debts.get(account, now) + DEBT_FACTOR * seconds
        self._debts[account] = min(end, now + LONGEST_DEBT)

    async def _acquire(self, account: int) -> None:
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue = self._waiting.setdefault(account, deque())
        queue.append(slot)
        self._grant()
        if slot.done():
            return
        try:
            async with asyncio.timeout(self._seconds):
                await slot
        except BaseException as error:
            if slot.done() and not slot.cancelled():
                self._release(account)
            else:
                self._leave(account, slot)
            if isinstance(error, TimeoutError):
                raise Problem(503, BUSY, retry_after=RETRY_SECONDS) from None
            raise

    def _leave(self, account: int, slot: asyncio.Future[None]) -> None:
        queue = self._waiting.get(account)
        if queue is not None and slot in queue:
            queue.remove(slot)
            if not queue:
                del self._waiting[account]

    def _release(self, account: int) -> None:
        self._taken -= 1
        _decrease(self._held, account)
        self._grant()

    def _grant(self) -> None:
        """Give free slots to waiting calls, one account after another."""
        while self._size is None or self._taken < self._size:
            account = next((account for account in self._waiting if self._may_have_more(account)), None)
            if account is None:
                return
            queue = self._waiting.pop(account)
            slot = queue.popleft()
            if queue:
                self._waiting[account] = queue  # at the end: the others come first
            if not slot.done():  # else the waiting call has been cancelled
                self._taken += 1
                self._held[account] = self._held.get(account, 0) + 1
                slot.set_result(None)

    def _may_have_more(self, account: int) -> bool:
        if self._share is not None and self._held.get(account, 0) >= self._share:
            return False
        return (
            self._size is None or not self._in_debt(account) or self._held_in_debt() < max(1, self._size // 2)
        )

    def _in_debt(self, account: int) -> bool:
        return self._debts.get(account, 0.0) > self._clock()

    def _held_in_debt(self) -> int:
        return sum(held for account, held in self._held.items() if self._in_debt(account))


class ByteBudget:
    """Bytes that requests of one process hold together: of bodies that came in, or of answers to go out.

    One account may hold half of them: what it sends or takes slowly must not keep others out.

    >>> budget = ByteBudget(100)
    >>> budget.take(1, 50), budget.take(1, 1), budget.take(2, 49)
    (True, False, True)
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self._of_account: dict[int, int] = {}

    def take(self, account: int, size: int) -> bool:
        """Count bytes of an account; False where there is no room for them."""
        own = self._of_account.get(account, 0) + size
        if self.held + size > self.limit or own > self.limit // 2:
            return False
        self.held += size
        self._of_account[account] = own
        return True

    def give(self, account: int, size: int) -> None:
        """Give bytes back."""
        self.held -= size
        left = self._of_account.get(account, 0) - size
        if left > 0:
            self._of_account[account] = left
        else:
            self._of_account.pop(account, None)


FURTHEST_RESET = 120.0
"""Seconds ahead from which a window is older than a clock that was set back; clocks of servers differ."""

log = logging.getLogger("webanalytics.service")


@dataclass(frozen=True, slots=True)
class Rate:
    """How much of a minute's allowance of requests is used."""

    limit: int
    remaining: int
    reset: int
    allowed: bool

    @property
    def headers(self) -> dict[str, str]:
        """The headers that report it."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
        }

    @property
    def retry_after(self) -> int:
        """Seconds until a request is allowed, at least 1."""
        return max(1, self.reset - math.floor(time.time()))


class RateLimiter:
    """Counts the requests of each account in a moving window of a minute.

    If Redis cannot be reached, this process counts on its own: an unavailable counter must neither stop the
    service nor lift the limit. What it lets through it always counts, so that it lets no account through more
    often than the limit in any minute, also when Redis was restarted and has forgotten.

    A moving window gives the exact time at which a request is allowed: when the oldest of the last minute
    is a minute old. A fixed one would let twice the limit through around its boundary.
    """

    def __init__(self, storage: str) -> None:
        sentence = "The `rate_limit_storage` parameter must be memory:// or redis://... with the extra redis."
        self._own = MovingWindowRateLimiter(MemoryStorage())
        self._pool: Any = None
        options: dict[str, Any] = {"wrap_exceptions": True}
        try:
            if storage.startswith(("redis://", "rediss://")):
                from redis.asyncio import ConnectionPool

                self._pool = ConnectionPool.from_url(storage)
                options |= {"implementation": "redispy", "connection_pool": self._pool}
            shared: Any = storage_from_string(f"async+{storage}", **options)
        except (ConfigurationError, ImportError, TypeError, ValueError):
            raise ParameterError(sentence, "rate_limit_storage") from None
        self._shared = MovingWindowRateLimiter(shared)

    async def close(self) -> None:
        """Close the connections to Redis."""
        if self._pool is not None:
            await self._pool.aclose()

    async def hit(self, account: int, limit: int) -> Rate:
        """Count one request of an account."""
        try:
            rate = await self._hit(self._shared, account, limit)
        except StorageError as error:
            log.error("requests a minute are counted here alone: %s", type(error.storage_error).__name__)
            return await self._hit(self._own, account, limit)
        if not rate.allowed or self._pool is None:
            return rate
        own = await self._hit(self._own, account, limit)
        return own if own.remaining < rate.remaining or not own.allowed else rate

    @staticmethod
    async def _hit(strategy: MovingWindowRateLimiter, account: int, limit: int) -> Rate:
        item = RateLimitItemPerMinute(limit)
        allowed = await strategy.hit(item, "account", str(account))
        window = await strategy.get_window_stats(item, "account", str(account))
        if window.reset_time > time.time() + FURTHEST_RESET:
            await strategy.clear(item, "account", str(account))
            return await RateLimiter._hit(strategy, account, limit)
        return Rate(limit, window.remaining, math.ceil(window.reset_time), allowed)
