"""Slots that are free are taken at once, and given back whatever happens."""

from __future__ import annotations

import asyncio

import pytest

from tests.effort import BUSY_SECONDS
from webanalytics.fetching.gates import Limits
from webanalytics.fetching.pace import Pace
from webanalytics.fetching.response import Problem


async def take(limits: Limits) -> None:
    """Take a slot and give it back, or fail by running out of time."""
    async with asyncio.timeout(BUSY_SECONDS), limits.slot("a.example"):
        pass


def test_what_fails_before_it_begins_gives_its_slots_back() -> None:
    async def fails() -> None:
        raise RuntimeError

    async def main() -> None:
        limits = Limits(1, 1)
        start, limits.ready = limits.ready, fails
        with pytest.raises(RuntimeError):
            await take(limits)
        limits.ready = start
        await take(limits)

    asyncio.run(main())


def test_what_is_cancelled_before_its_overall_slot_gives_that_of_its_host_back() -> None:
    async def main() -> None:
        limits = Limits(1, 1)
        async with limits.slot("other.example"):
            waiting = asyncio.create_task(take(limits))
            await asyncio.sleep(0)
            queued = asyncio.create_task(take(limits))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        await queued
        await take(limits)

    asyncio.run(main())


@pytest.mark.parametrize("delay", [0.0, 0.001])
def test_no_more_requests_than_allowed_are_under_way(delay: float) -> None:
    limits, under_way = Limits(5, 2, delay), 0

    async def ask() -> int:
        nonlocal under_way
        async with limits.slot("a.example"):
            under_way += 1
            seen = under_way
            await asyncio.sleep(0)
            under_way -= 1
        return seen

    async def main() -> list[int]:
        return await asyncio.gather(*(ask() for _ in range(50)))

    assert max(asyncio.run(main())) <= 2


def test_a_host_that_was_given_up_is_refused_at_once() -> None:
    async def main() -> None:
        limits = Limits(2, 2)
        for number in range(40):
            limits.ended("a.example", 1e6 * number, Problem("status", http_status=429, retry_after=1e9))
        with pytest.raises(Problem, match="host_refused"):
            await take(limits)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("problem", "rounds", "reason"),
    [
        (Problem("status", http_status=429), 1, "HTTP 429"),  # RFC 6585 section 4
        (Problem("status", http_status=503), 1, "HTTP 503"),  # RFC 9110 section 15.6.4
        (Problem("challenge", http_status=503, who="a wall"), 1, "a wall"),
        (Problem("timeout"), 1, "no answer in time"),
        (Problem("connect_timeout"), 1, "no answer in time"),
        (Problem("status", http_status=404), 0, ""),
        (Problem("status", http_status=500), 0, ""),
        (Problem("status", http_status=504), 0, ""),
        (Problem("encoding"), 0, ""),
        (None, 0, ""),
    ],
)
def test_what_says_that_a_host_is_asked_too_much(problem: Problem | None, rounds: int, reason: str) -> None:
    async def main() -> Pace:
        limits = Limits(8, 8)
        limits.ended("a", asyncio.get_running_loop().time(), problem)
        return limits.pace("a")

    pace = asyncio.run(main())
    assert (pace.rounds, pace.reason, pace.pages) == (rounds, reason, 1)
