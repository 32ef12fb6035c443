"""What the guard, the limits and the record cost a fetch, beside a bare aiohttp loop over the same pages."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

import aiohttp

from webanalytics.fetching import Fetcher, FetchSettings
from webanalytics.fetching.testing import SiteServer

PAGES = 3_000
CONNECTIONS = 100
ROUNDS = 7


async def _all(fetch: Callable[[str], Awaitable[int]], urls: list[str]) -> float:
    """Fetch all pages over so many connections, and return the processor seconds of this thread: the server has another."""
    waiting = iter(urls)

    async def pull() -> int:
        return sum([await fetch(url) for url in waiting])

    began = time.thread_time()
    sizes = await asyncio.gather(*(pull() for _ in range(CONNECTIONS)))
    assert sum(sizes) > 100 * len(urls)
    return time.thread_time() - began


async def _bare(urls: list[str]) -> float:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONNECTIONS)) as session:

        async def fetch(url: str) -> int:
            async with session.get(url) as response:
                return len(await response.read())

        return await _all(fetch, urls)


async def _ours(urls: list[str]) -> float:
    settings = FetchSettings(allow_private=True, robots=False, concurrency=CONNECTIONS, per_host=CONNECTIONS)
    async with Fetcher(settings) as fetcher:

        async def fetch(url: str) -> int:
            return len((await fetcher.fetch(url, "url", "page")).content)

        return await _all(fetch, urls)


def run() -> dict[str, float]:
    """Return microseconds a page of both, and their ratio; they take turns, so that both see the same machine."""
    page = b"<!doctype html><title>A small page</title><p>" + b"Some words. " * 100
    with SiteServer({f"/{number}.html": page for number in range(PAGES)}) as server:
        urls = [f"{server.url}/{number}.html" for number in range(PAGES)]
        pairs = [(asyncio.run(_bare(urls)), asyncio.run(_ours(urls))) for _ in range(ROUNDS)]
    bare, ours = (statistics.median(pair[side] for pair in pairs) / PAGES * 1e6 for side in (0, 1))
    return {"bare": bare, "ours": ours, "ratio": statistics.median(one / other for one, other in pairs)}


def report() -> str:
    """Return the figures as text."""
    found = run()
    return (
        f"{PAGES:,} small pages from loopback over {CONNECTIONS} connections, processor time a page, "
        f"median of {ROUNDS}\n"
        f"  bare aiohttp loop {found['bare']:.0f} us    fetch path {found['ours']:.0f} us    "
        f"ratio {found['ratio']:.2f} (goal: at least 0.5)"
    )
