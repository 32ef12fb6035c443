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


Spent = tuple[float, float]
"""Seconds on the clock, and processor seconds of this process."""


async def bare(base: str, key: str) -> Spent:
    """Post the batches with nothing around them."""
    waiting = iter([MESSAGES[at : at + SIZE] for at in range(0, len(MESSAGES), SIZE)])
    found = []

    async def pull(session: aiohttp.ClientSession) -> None:
        for batch in waiting:
            inputs = [{"message": message, "secret": SECRET} for message in batch]
            url, headers = f"{base}/v1/hmac/batch", {"x-api-key": key}
            async with session.post(url, json={"inputs": inputs}, headers=headers) as response:
                answer = await response.json()
            found.extend(item["data"]["hmac"] for item in answer["data"]["results"])

    began, busy = time.perf_counter(), time.process_time()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=REQUESTS)) as session:
        await asyncio.gather(*(pull(session) for _ in range(REQUESTS)))
    assert len(set(found)) == len(MESSAGES)
    return time.perf_counter() - began, time.process_time() - busy


async def ours(backend: wa.Hosted) -> Spent:
    """Do the same work through `webanalytics.aio.hmac`."""
    began, busy = time.perf_counter(), time.process_time()
    frame = await wa.aio.hmac(MESSAGES, secret=SECRET, backend=backend, progress=False)
    taken = time.perf_counter() - began, time.process_time() - busy
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


def run() -> dict[str, float]:
    """Return the figures; the two take turns, so that both see the same machine."""
    bares: list[Spent] = []
    ourses: list[Spent] = []
    blocks: list[float] = []
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as server:
        key = server.key(plan="mega")
        backend = wa.Hosted(server.base, key, concurrency=REQUESTS)
        asyncio.run(bare(server.base, key))
        asyncio.run(ours(backend))
        for _ in range(PASSES):
            bares.append(asyncio.run(bare(server.base, key)))
            ourses.append(asyncio.run(ours(backend)))
            blocks.append(asyncio.run(longest_block(backend)))
    pairs = list(zip(bares, ourses, strict=True))
    return {
        "bare": len(MESSAGES) / statistics.median(one for one, _ in bares),
        "ours": len(MESSAGES) / statistics.median(one for one, _ in ourses),
        "ratio": statistics.median(one[0] / other[0] for one, other in pairs),
        "bare busy": statistics.median(busy for _, busy in bares) / len(MESSAGES) * 1e6,
        "ours busy": statistics.median(busy for _, busy in ourses) / len(MESSAGES) * 1e6,
        "block": statistics.median(blocks) * 1000,
        "worst block": max(blocks) * 1000,
    }


def report() -> str:
    """Return the figures as text."""
    found = run()
    return (
        f"{len(MESSAGES)} HMACs through the API in batches of {SIZE}, {REQUESTS} requests at once, "
        f"median of {PASSES}\n"
        f"  bare aiohttp script   {found['bare']:8,.0f}/s, {found['bare busy']:.1f} us of this process each\n"
        f"  webanalytics.aio.hmac {found['ours']:8,.0f}/s, {found['ours busy']:.1f} us   "
        f"ratio {found['ratio']:.2f} (goal: at least 0.5)\n"
        f"  longest block of the event loop: median {found['block']:.0f} ms, "
        f"worst {found['worst block']:.0f} ms (goal: at most 50)"
    )
