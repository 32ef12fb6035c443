"""The credits held for several items of one request, shared out among those under way."""

from __future__ import annotations

import asyncio


class HeldCredits:
    """A reservation's credits, taken by the items of a batch or query in their order.

    An item that fails gives its credits back, so that a later one can have them; `take` therefore
    waits while credits are out, and refuses only when none can come back.

    Parameters
    ----------
    credits : int
        Credits held.
    """

    def __init__(self, held: int) -> None:
        self._free = held
        self._out = 0
        self.spent = 0
        self._changed = asyncio.Condition()

    async def take(self, price: int) -> bool:
        """Take the price of one item; False where what is left does not cover it."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._free >= price or not self._out)
            if self._free < price:
                return False
            self._free -= price
            self._out += price
            return True

    async def give(self, price: int, *, used: bool) -> None:
        """Say whether an item's credits were used; if not, they are free again."""
        async with self._changed:
            self._out -= price
            if used:
                self.spent += price
            else:
                self._free += price
            self._changed.notify_all()
