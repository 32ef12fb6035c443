"""The page cache: per account, bounded, one fetch at a time for all who ask."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.service.evil import Evil, ask, http, open_engine
from webanalytics.service.page_cache import ENTRY_BYTES, FetchedPage, PageCache


class Source:
    """Counts fetches; each gives a new content and may be made to wait or fail."""

    def __init__(self, size: int = 100) -> None:
        self.asked: list[tuple[int, str]] = []
        self.cancelled = 0
        self.size = size
        self.gate: asyncio.Event | None = None
        self.error: Exception | None = None

    async def fetch(self, account: int, url: str) -> FetchedPage:
        self.asked.append((account, url))
        number = len(self.asked)
        error = self.error
        if self.gate is not None:
            try:
                await self.gate.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        if error:
            raise error
        return FetchedPage(url, "text/html", f"{number} ".encode().ljust(self.size, b"x"))


def test_hits_and_misses_are_told() -> None:
    async def main() -> list[bool]:
        told: list[bool] = []
        cache = PageCache(Source().fetch, 60, 10_000, on_lookup=told.append)
        await asyncio.gather(cache.get(1, "u"), cache.get(1, "u"))
        await cache.get(1, "u")
        await cache.get(1, "u", fresh=True)
        await cache.get(2, "u")
        return told

    assert asyncio.run(main()) == [False, True, True, False, False]


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def run(test: Callable[[Source, PageCache, Clock], Awaitable[None]], **changes: float) -> None:
    async def main() -> None:
        source, clock = Source(), Clock()
        cache = PageCache(
            source.fetch, changes.get("seconds", 60.0), int(changes.get("max_bytes", 1_000_000)), clock
        )
        await test(source, cache, clock)
        await cache.close()

    asyncio.run(main())


def test_a_page_is_kept_for_its_time_and_no_longer() -> None:
    async def test(source: Source, cache: PageCache, clock: Clock) -> None:
        first = await cache.get(1, "u")
        clock.now += 59.9
        assert await cache.get(1, "u") is first
        clock.now += 0.1
        assert await cache.get(1, "u") is not first
        assert len(source.asked) == 2

    run(test)


def test_accounts_share_nothing() -> None:
    async def test(source: Source, cache: PageCache, clock: Clock) -> None:
        source.gate = asyncio.Event()
        calls = [asyncio.create_task(cache.get(account, "u")) for account in (1, 2)]
        await asyncio.sleep(0.001)
        source.gate.set()
        first, second = await asyncio.gather(*calls)
        assert first.content != second.content
        assert await cache.get(1, "u") is first
        assert await cache.get(2, "u") is second

    run(test)


def test_those_who_ask_at_one_time_wait_for_one_fetch() -> None:
    async def test(source: Source, cache: PageCache, clock: Clock) -> None:
        source.gate = asyncio.Event()
        calls = [asyncio.create_task(cache.get(1, "u")) for _ in range(20)]
        await asyncio.sleep(0.001)
        source.gate.set()
        assert len(set(await asyncio.gather(*calls))) == 1
        assert source.asked == [(1, "u")]

    run(test)


def test_the_first_caller_may_leave() -> None:
    async def test(source: Source, cache: PageCache, clock: Clock) -> None:
        source.gate = asyncio.Event()
        first, second = (asyncio.create_task(cache.get(1, "u")) for _ in range(2))
        await asyncio.sleep(0.001)
        first.cancel()
        await asyncio.sleep(0.001)
        source.gate.set()
        assert (await second).final_url == "u"
        assert first.cancelled()
        assert source.cancelled == 0

    run(test)


def test_when_all_leave_the_fetch_ends_and_the_next_one_starts_anew() -> None:
    async def test(source: Source, cache: PageCache, clock: Clock) -> None:
        source.gate = asyncio.Event()
        calls = [asyncio.create_task(cache.get(1, "u")) for _ in range(3)]
        await asyncio.sleep(0.001)
        for call in calls:
            call.cancel()
        again = asyncio.create_task(cache.get(1, "u"))
        await asyncio.sleep(0.01)
        assert source.cancelled == 1
        source.gate.set()
        assert (await again).content.startswith(b"2 ")

    run(test)


def test_failures_reach_all_who_wait_and_are_not_kept() -> None:
    async def test(source: Source, cache: PageCache, clock: Clock) -> None:
        source.gate, source.error = asyncio.Event(), ValueError("no page")
        calls = [asyncio.create_task(cache.get(1, "u")) for _ in range(3)]
        await asyncio.sleep(0.001)
        source.gate.set()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(outcome, ValueError) for outcome in outcomes)
        source.error = None
        assert (await cache.get(1, "u")).content.startswith(b"2 ")

    run(test)


def test_fresh_fetches_anew_and_replaces() -> None:
    async def test(source: Source, cache: PageCache, clock: Clock) -> None:
        await cache.get(1, "u")
        second = await cache.get(1, "u", fresh=True)
        assert second.content.startswith(b"2 ")
        assert await cache.get(1, "u") is second

    run(test)


def test_fresh_does_not_wait_for_a_fetch_that_began_before_it() -> None:
    async def test(source: Source, cache: PageCache, clock: Clock) -> None:
        slow = source.gate = asyncio.Event()
        before = asyncio.create_task(cache.get(1, "u"))
        await asyncio.sleep(0.001)
        source.gate = None
        fresh = await cache.get(1, "u", fresh=True)
        assert fresh.content.startswith(b"2 ")
        slow.set()
        assert (await before).content.startswith(b"1 ")
        assert await cache.get(1, "u") is fresh  # what began earlier did not replace it

    run(test)


def test_bytes_are_bounded_and_the_least_recently_used_go_first() -> None:
    each = 100 + 2 * 1 + len("text/html") + ENTRY_BYTES

    async def test(source: Source, cache: PageCache, clock: Clock) -> None:
        for url in "abc":
            await cache.get(1, url)
        assert cache.bytes == 3 * each
        await cache.get(1, "a")
        await cache.get(1, "d")
        assert cache.bytes == 3 * each
        await cache.get(1, "a")
        assert len(source.asked) == 4
        await cache.get(1, "b")
        assert len(source.asked) == 5
        source.size = 10_000
        await cache.get(1, "large")
        assert cache.bytes == 3 * each

    run(test, max_bytes=3 * each)


def test_what_has_expired_is_dropped_without_being_asked_for() -> None:
    async def test(source: Source, cache: PageCache, clock: Clock) -> None:
        for number in range(50):
            await cache.get(1, str(number))
        clock.now += 61
        await cache.get(1, "u")
        assert cache.bytes < 1000

    run(test)


@pytest.mark.parametrize("changes", [{"seconds": 0.0}, {"max_bytes": 0}])
def test_a_cache_can_be_switched_off(changes: dict[str, float]) -> None:
    async def test(source: Source, cache: PageCache, clock: Clock) -> None:
        for _ in range(3):
            await cache.get(1, "u")
        assert len(source.asked) == 3
        assert cache.bytes == 0

    run(test, **changes)


def test_closing_ends_what_is_under_way() -> None:
    async def test(source: Source, cache: PageCache, clock: Clock) -> None:
        source.gate = asyncio.Event()
        call = asyncio.create_task(cache.get(1, "u"))
        await asyncio.sleep(0.001)
        await cache.close()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert source.cancelled == 1

    run(test)


def test_several_operations_on_one_page_fetch_it_once() -> None:
    async def main() -> None:
        async with Evil({"/": http()}) as site, open_engine() as engine:
            operations = ("metadata", "text", "readability", "keywords")
            results = await asyncio.gather(*(ask(engine, name, site.url + "/") for name in operations))
            assert [result.status for result in results] == [200] * 4
            assert site.count("/") == 1
            await ask(engine, "text", site.url + "/", account=2)
            assert site.count("/") == 2
            await ask(engine, "text", site.url + "/", fresh=True)
            assert site.count("/") == 3
            await ask(engine, "text", site.url + "/missing")
            await ask(engine, "text", site.url + "/missing")
            assert site.count("/missing") == 2

    asyncio.run(main())
