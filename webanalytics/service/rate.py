"""Requests per minute on throttled plans: `app` counts each before its body is read."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from typing import Any

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter
from limits.errors import ConfigurationError, StorageError
from limits.storage import storage_from_string

from webanalytics.errors import ParameterError

log = logging.getLogger("webanalytics.service")


@dataclass(frozen=True, slots=True)
class Rate:
    """How much of a minute's allowance of requests is used.

    ``reset`` is the Unix time at which the next request beyond those left is allowed.
    """

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

    Notes
    -----
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
        return Rate(limit, window.remaining, math.ceil(window.reset_time), allowed)
