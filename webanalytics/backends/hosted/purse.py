"""What a run may spend: credits are set aside before a request and taken when it has succeeded."""

from __future__ import annotations

import asyncio


class Purse:
    """The credits of one call.

    Parameters
    ----------
    budget : int or None
        Most credits to spend; None for no limit.
    """

    def __init__(self, budget: int | None) -> None:
        self._free = budget
        self._out = 0
        self._changed = asyncio.Condition()

    async def take(self, prices: list[int]) -> int:
        """Set aside the prices of as many inputs as the budget allows, and return how many those are.

        It waits while other inputs may give credits back; 0 means that the budget is spent.
        """
        async with self._changed:
            if self._free is None:
                return len(prices)
            while True:
                count = total = 0
                for price in prices:
                    if total + price > self._free:
                        break
                    total, count = total + price, count + 1
                if count or not self._out:
                    self._free -= total
                    self._out += total
                    return count
                await self._changed.wait()

    async def settle(self, taken: int, spent: int) -> None:
        """Give back what was set aside and not spent."""
        async with self._changed:
            if self._free is not None:
                self._out -= taken
                self._free += taken - spent
                self._changed.notify_all()
