"""The client of the hosted API against a bare script that posts the same batches."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

import aiohttp

import webanalytics as wa
from tests.service.live import Server

MESSAGES = [f"message number {number}" for number in range(5000)]
REQUESTS = 8
SIZE = 200
PASSES = 7
SECRET = "a secret for nothing"


async def bare(base: str, key: str) -> float:
    """Post the batches with nothing around them, and return the seconds."""
    waiting = iter([MESSAGES[at : at + SIZE] for at in range(0, len(MESSAGES), SIZE)])
    found = []

    async def pull(session: aiohttp.ClientSession) -> None:
        for batch in waiting:
            inputs = [{"message": message, "secret": SECRET} for message in batch]
            url, headers = f"{base}/v1/hmac/batch", {"x-api-key": key}
            async with session.post(url, json={"inputs": inputs}, headers=headers) as response:
                answer = await response.json()
            found.extend(item["data"]["hmac"] for item in answer["data"]["results"])

    began = time.perf_counter()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=REQUESTS)) as session:
        await asyncio.gather(*(pull(session) for _ in range(REQUESTS)))
    assert len(set(found)) == len(MESSAGES)
    return time.perf_counter() - began


async def ours(backend: wa.Hosted) -> float:
    """Return the seconds of the same work through `webanalytics.aio.hmac`."""
    began = time.perf_counter()
    frame = await wa.aio.hmac(MESSAGES, secret=SECRET, backend=backend, progress=False)
    taken = time.perf_counter() - began
    assert frame["hmac"].nunique() == len(MESSAGES)
    return taken


async def longest_block(backend: wa.Hosted) -> float:
    """Return the longest time in seconds that the event loop had no turn for others during that work."""
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - before - 0.001)

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0.01)
    await ours(backend)
    ticking.cancel()
    return longest


def report() -> str:
    """Return the figures as text; the two take turns, so that both see the same machine."""
    bares, ourses, blocks = [], [], []
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as server:
        key = server.key(plan="mega")
        backend = wa.Hosted(server.base, key, concurrency=REQUESTS)
        asyncio.run(bare(server.base, key))
        asyncio.run(ours(backend))
        for _ in range(PASSES):
            bares.append(asyncio.run(bare(server.base, key)))
            ourses.append(asyncio.run(ours(backend)))
            blocks.append(asyncio.run(longest_block(backend)))
    a, b = statistics.median(bares), statistics.median(ourses)
    return (
        f"{len(MESSAGES)} HMACs through the API in batches of {SIZE}, {REQUESTS} requests at once, "
        f"median of {PASSES}\n"
        f"  bare aiohttp script   {len(MESSAGES) / a:8,.0f}/s\n"
        f"  webanalytics.aio.hmac {len(MESSAGES) / b:8,.0f}/s   ratio {a / b:.2f} (goal: at least 0.8)\n"
        f"  longest block of the event loop: median {statistics.median(blocks) * 1000:.0f} ms, "
        f"worst {max(blocks) * 1000:.0f} ms (goal: at most 50)"
    )
