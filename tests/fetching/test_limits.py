"""How many requests run at once, and how far apart they start."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

from tests.effort import BUSY_SECONDS
from webanalytics.fetching import Fetcher
from webanalytics.fetching.gates import Limits

LATE = 0.15
"""How much later than others the first of several starts may be seen; without a delay all are seen in less."""


def slow(answer: Any, seconds: float) -> Any:
    async def respond(writer: asyncio.StreamWriter) -> bytes:
        await asyncio.sleep(seconds)
        return answer()

    return lambda path, headers: respond


def gaps(starts: list[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(starts)]


def test_one_host_gets_its_share_at_most(open_site: Any, answer: Any) -> None:
    async def main() -> int:
        async with open_site(slow(answer, 0.05), per_host=3) as (site, fetcher):
            await asyncio.gather(*(fetcher.fetch(f"{site.url}/{n}") for n in range(12)))
            return site.most

    assert asyncio.run(main()) == 3


def test_all_hosts_together(server: Any, settings: Any, answer: Any) -> None:
    running = most = 0

    async def respond(writer: asyncio.StreamWriter) -> bytes:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.05)
        running -= 1
        return answer()

    async def main() -> None:
        async with (
            server(lambda path, headers: respond) as a,
            server(lambda path, headers: respond) as b,
            server(lambda path, headers: respond) as c,
            Fetcher(settings(concurrency=4, per_host=3)) as fetcher,
        ):
            await asyncio.gather(*(fetcher.fetch(f"{site.url}/{n}") for n in range(6) for site in (a, b, c)))

    asyncio.run(main())
    assert most == 4


def test_eight_fetches_with_delay(open_site: Any, answer: Any) -> None:
    async def main() -> list[float]:
        async with open_site(slow(answer, 0.1), delay=0.15) as (site, fetcher):
            await asyncio.gather(*(fetcher.fetch(f"{site.url}/{n}") for n in range(8)))
            return site.starts

    starts = asyncio.run(main())
    assert len(starts) == 8
    assert starts[-1] - starts[0] > 7 * 0.15 - LATE


def test_delay_counts_from_start_to_start_even_behind_a_full_house(
    server: Any, settings: Any, answer: Any
) -> None:
    async def main() -> list[float]:
        async with (
            server(slow(answer, 0.4)) as busy,
            server(lambda path, headers: answer()) as paced,
            Fetcher(settings(concurrency=1, delay=0.15)) as fetcher,
        ):
            first = asyncio.create_task(fetcher.fetch(busy.url))
            await asyncio.sleep(0.05)
            await asyncio.gather(first, *(fetcher.fetch(f"{paced.url}/{n}") for n in range(3)))
            return paced.starts

    starts = asyncio.run(main())
    assert starts[-1] - starts[0] > 2 * 0.15 - LATE


def test_a_slow_host_does_not_hold_up_the_others(server: Any, settings: Any, answer: Any) -> None:
    async def main() -> None:
        async with (
            server(slow(answer, 4 * BUSY_SECONDS)) as tar,
            server(lambda path, headers: answer()) as quick,
            Fetcher(settings(concurrency=4, per_host=2, delay=0.0)) as fetcher,
        ):
            crowd = [asyncio.create_task(fetcher.fetch(f"{tar.url}/{n}")) for n in range(6)]
            await asyncio.sleep(0.05)
            async with asyncio.timeout(BUSY_SECONDS):
                await asyncio.gather(*(fetcher.fetch(f"{quick.url}/{n}") for n in range(20)))
            for task in crowd:
                task.cancel()
            await asyncio.gather(*crowd, return_exceptions=True)

    asyncio.run(main())


def test_a_host_with_a_delay_holds_no_slot_while_it_waits(server: Any, settings: Any, answer: Any) -> None:
    async def main() -> None:
        async with (
            server(lambda path, headers: answer()) as a,
            server(lambda path, headers: answer()) as b,
            Fetcher(settings(concurrency=1, delay=4 * BUSY_SECONDS)) as fetcher,
        ):
            await fetcher.fetch(f"{a.url}/0")
            waiting = asyncio.create_task(fetcher.fetch(f"{a.url}/1"))
            await asyncio.sleep(0.05)
            async with asyncio.timeout(BUSY_SECONDS):
                await fetcher.fetch(f"{b.url}/0")
            assert not waiting.done()
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

    asyncio.run(main())


def test_idle_hosts_are_forgotten() -> None:
    async def main() -> tuple[int, int]:
        limits = Limits(8, 2, max_idle=10)
        for number in range(100):
            async with limits.slot(f"host{number}"):
                pass
        without_delay = len(limits._gates)
        limits = Limits(8, 2, delay=0.01, max_idle=10)
        for number in range(60):
            async with limits.slot(f"host{number}"):
                await asyncio.sleep(0.001)
        return without_delay, len(limits._gates)

    without_delay, with_delay = asyncio.run(main())
    assert without_delay == 0
    assert with_delay < 30


def test_cancelled_waiters_leave_no_trace() -> None:
    async def main() -> None:
        limits = Limits(1, 1, delay=0.01)

        async def wait(host: str) -> None:
            async with limits.slot(host, 0.01):
                await asyncio.sleep(10)

        tasks = [asyncio.create_task(wait(host)) for host in "aabbcc"]
        await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        async with asyncio.timeout(1):
            for host in "abcd":
                async with limits.slot(host, 0.01):
                    pass

    asyncio.run(main())
