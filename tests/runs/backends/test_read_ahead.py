"""How many pages a local audit has fetched that nobody has analysed: what a kill with -9 makes it fetch again."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from webanalytics.fetching.testing import SiteServer
from webanalytics.runs.backends.pipeline import AHEAD, Answering

PAGES, WORKERS, AT_ONCE = 200, 2, 16
MOST = WORKERS * AHEAD + AT_ONCE
"""Those that wait for a worker, and those that were under way when the last place was taken."""


def test_few_pages_are_fetched_and_not_analysed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages come faster than they are analysed: those that wait would be lost, so few of them may."""
    asyncio.run(_few_pages_are_fetched_and_not_analysed(monkeypatch))


async def _few_pages_are_fetched_and_not_analysed(monkeypatch: pytest.MonkeyPatch) -> None:
    released, analyse = asyncio.Event(), Answering.analyse

    async def held(self: Answering, *arguments: Any, **settings: Any) -> Any:
        await released.wait()
        return await analyse(self, *arguments, **settings)

    monkeypatch.setattr(Answering, "analyse", held)
    content = {f"/p{number}": b"<title>Page %d</title>" % number for number in range(PAGES)}
    with SiteServer(content) as site:
        urls = [site.url + path for path in content]
        run = asyncio.create_task(
            wa.aio.audit(
                urls, allow_private=True, robots=False, workers=WORKERS, per_host=AT_ONCE, progress=False
            )
        )
        end = time.monotonic() + BUSY_SECONDS
        while len(site.requests) < WORKERS * AHEAD:
            assert time.monotonic() < end
            await asyncio.sleep(0.05)
        await asyncio.sleep(1)  # without a bound all pages are here by then
        asked = len(site.requests)
        released.set()
        audit = await run
    assert asked <= MOST, asked
    assert len(site.requests) == PAGES
    assert (audit.raw["status"] == "ok").all()
