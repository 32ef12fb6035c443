"""The browsers of a run: as many as pages may be rendered at once, each replaced after some pages."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Self
from urllib.parse import urlsplit

from webanalytics.errors import BackendError
from webanalytics.fetching.fetcher import Fetcher
from webanalytics.fetching.rendering.browser import Browser, executable
from webanalytics.fetching.rendering.messages import passed_on
from webanalytics.fetching.rendering.page import BrowserDiedError, render
from webanalytics.fetching.rendering.proxy import BrowserProxy
from webanalytics.fetching.rendering.visit import Rendered, Visit
from webanalytics.fetching.response import Response

PAGES = 50
"""Pages after which a browser is replaced: what it has gathered goes with it."""
TRIES = 2
"""Browsers that a page may cost."""
PAGE_FACTOR = 5
"""How many times the largest page a page may load, all in all."""


class Renderer:
    """Renders so many pages at once that the fetcher of a run fetched, in `async with`.

    Browsers start when they are needed; what pages load is asked for by the fetcher.
    """

    def __init__(self, fetcher: Fetcher, size: int) -> None:
        self._fetcher = fetcher
        self._free: asyncio.LifoQueue[Browser | None] = asyncio.LifoQueue()
        self._size = size
        self._open: set[Browser] = set()

    async def __aenter__(self) -> Self:
        executable()
        self._stack = AsyncExitStack()
        others = self._fetcher
        if others.settings.allow_private:  # a page may not reach for its neighbours
            strict = Fetcher(replace(others.settings, allow_private=False), names=others.names)
            others = await self._stack.enter_async_context(strict)
            others.limits = self._fetcher.limits
        self._proxy = BrowserProxy(self._fetcher, others)
        await self._proxy.open()
        self._stack.push_async_callback(self._proxy.close)
        for _ in range(self._size):
            self._free.put_nowait(None)
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(browser.close() for browser in self._open))
        await self._stack.aclose()

    async def render(self, response: Response) -> Rendered:
        """Return what a browser makes of a page that was fetched."""
        headers = [
            pair for pair in passed_on(response.headers.items()) if pair[0].lower() != "content-encoding"
        ]
        host = urlsplit(response.final_url).hostname if response.is_private else None
        most = PAGE_FACTOR * self._fetcher.settings.max_bytes
        browser = await self._free.get()
        try:
            for _ in range(TRIES):
                browser = await self._ready(browser)
                visit = Visit(response.final_url, response.content, headers, most, host)
                self._proxy.visits(browser.password, visit)
                try:
                    return await render(browser, visit, self._fetcher.settings)
                except BrowserDiedError:
                    await self._ended(browser)
                finally:
                    self._proxy.visits(browser.password, None)
            return visit.rendered(visit.url, "", "the browser ended over it, twice", 0.0)
        except BaseException:
            await self._ended(browser)  # cancelled, it may still be busy with the page
            raise
        finally:
            self._free.put_nowait(browser)

    async def _ready(self, browser: Browser | None) -> Browser:
        if browser is not None and browser.alive and browser.pages < PAGES:
            return browser
        await self._ended(browser)
        fresh = Browser(self._proxy)
        self._open.add(fresh)
        try:
            await fresh.start()
        except Exception as error:
            reason = str(error).strip().partition("\n")[0]
            raise BackendError(f"The `render` parameter needs a browser that starts: {reason}") from None
        return fresh

    async def _ended(self, browser: Browser | None) -> None:
        if browser is not None:
            self._open.discard(browser)
            await browser.close()
