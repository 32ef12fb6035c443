"""Requests a minute on the plans that are throttled."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from limits import RateLimitItemPerMinute
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from limits.errors import ConfigurationError
from limits.storage import storage_from_string

from webanalytics.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Rate:
    """How much of a minute's requests is used.

    Attributes
    ----------
    limit, remaining : int
        Requests a minute, and how many of them are left.
    reset : int
        Unix time at which the whole limit is there again.
    allowed : bool
        Whether this request may go on.
    """

    limit: int
    remaining: int
    reset: int
    allowed: bool

    @property
    def headers(self) -> dict[str, str]:
        """The headers that tell it, ``retry-after`` where the request may not go on."""
        told = {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
        }
        if not self.allowed:
            told["retry-after"] = str(self.retry_after)
        return told

    @property
    def retry_after(self) -> int:
        """Seconds until the limit is there again, at least 1."""
        return max(1, self.reset - math.floor(time.time()))


class RateLimiter:
    """Counts the requests of each account in a sliding window of a minute.

    Parameters
    ----------
    storage : str
        ``memory://``, or ``redis://host:port/db`` for several machines.

    Raises
    ------
    ParameterError
        When the storage cannot be used, naming ``rate_limit_storage``.
    """

    def __init__(self, storage: str) -> None:
        sentence = (
            "The `rate_limit_storage` parameter must be memory:// or a redis:// URL whose server can be used."
        )
        try:
            self._storage = storage_from_string(f"async+{storage}")
        except (ConfigurationError, ImportError, ValueError):
            raise ParameterError(sentence, "rate_limit_storage") from None
        self._strategy = SlidingWindowCounterRateLimiter(self._storage)

    async def hit(self, account: int, limit: int) -> Rate:
        """Count one request of an account."""
        item = RateLimitItemPerMinute(limit)
        allowed = await self._strategy.hit(item, "account", str(account))
        window = await self._strategy.get_window_stats(item, "account", str(account))
        return Rate(limit, window.remaining, math.ceil(window.reset_time), allowed)
