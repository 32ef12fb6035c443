"""The credits of a batch, shared out among its items."""

from __future__ import annotations

import asyncio
import random

from hypothesis import given
from hypothesis import strategies as st

from webanalytics.service.payment import HeldCredits


async def share_out(held: int, outcomes: list[bool], window: int) -> tuple[HeldCredits, list[bool | None]]:
    """Run items of price 2 that succeed or fail; None stands for one that got no credits."""
    credits_held = HeldCredits(held)
    results: list[bool | None] = [None] * len(outcomes)
    waiting = iter(range(len(outcomes)))
    pause = random.Random(7)

    async def pull() -> None:
        for index in waiting:
            if not await credits_held.take(2):
                continue
            for _ in range(pause.randrange(3)):
                await asyncio.sleep(0)
            results[index] = outcomes[index]
            credits_held.give(2, used=outcomes[index])

    await asyncio.gather(*(pull() for _ in range(window)))
    return credits_held, results


@given(st.integers(0, 12), st.lists(st.booleans(), max_size=12), st.integers(1, 5))
def test_never_more_is_spent_than_held_and_nobody_goes_without_who_could_be_paid(
    held: int, outcomes: list[bool], window: int
) -> None:
    credits_held, results = asyncio.run(share_out(held, outcomes, window))
    succeeded = results.count(True)
    assert credits_held.spent == 2 * succeeded <= held
    if None in results:  # whoever went without did so because all credits had been spent
        assert held - 2 * succeeded < 2
    else:
        assert succeeded == sum(outcomes)
