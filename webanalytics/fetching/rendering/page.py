"""One page in a browser: opened, left to settle, read, and closed, each within a bounded time."""

from __future__ import annotations

import asyncio
from typing import Any

from webanalytics.fetching.pace import FetchSettings
from webanalytics.fetching.rendering.browser import CLOSING, Browser
from webanalytics.fetching.rendering.visit import Rendered, Visit

SETTLED = 0.5
"""Seconds without a request and without a change of the document after which a page is as it is."""
MOST_SETTLING = 5.0
"""Seconds after its load event that a page may take to settle; what it asked for by then is waited for."""
LOOK = 0.25
"""Seconds between two looks."""
LOADING_SHARE = 0.6
"""Share of a page's time in which it may load: what it shows then is taken."""
READ_SHARE = 0.9
"""Share of it in which it may load and settle: the rest is for reading it."""
VIEW = {"width": 1280, "height": 2000}
CHANGED = (
    "document.getElementsByTagName('*').length + ':' + (document.body ? document.body.textContent.length : 0)"
)
HTML = """(() => {
  const kind = document.doctype, root = document.documentElement;
  const start = kind ? `<!DOCTYPE ${kind.name}${kind.publicId ? ` PUBLIC "${kind.publicId}"` : ''}>` : '';
  const html = root ? root.outerHTML : '';
  return {url: document.URL, size: html.length, html: html.length > LIMIT ? '' : start + html};
})()"""
NO_CALLS = (
    "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete self[name];"
)


class BrowserDiedError(Exception):
    """The browser, or the process of the page, has ended."""


class _Look:
    """Reads the document from a world that the page's scripts cannot reach."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._world: int | None = None

    async def __call__(self, expression: str) -> Any:
        try:
            return await self._evaluated(expression)
        except Exception:  # the page has gone to another document
            self._world = None
            return await self._evaluated(expression)

    async def _evaluated(self, expression: str) -> Any:
        if self._world is None:
            tree = await self._session.send("Page.getFrameTree")
            frame = {"frameId": tree["frameTree"]["frame"]["id"]}
            made = await self._session.send("Page.createIsolatedWorld", frame)
            self._world = made["executionContextId"]
        asked = {"expression": expression, "contextId": self._world, "returnByValue": True}
        return (await self._session.send("Runtime.evaluate", asked))["result"].get("value")


async def render(browser: Browser, visit: Visit, settings: FetchSettings) -> Rendered:
    """Return what the browser makes of a page; raises `BrowserDiedError` where the browser ends over it."""
    clock = asyncio.get_running_loop().time
    began, seconds = clock(), settings.timeout
    languages = {} if settings.accept_language is None else {"Accept-Language": settings.accept_language}
    context = None
    try:
        async with asyncio.timeout(seconds) as limit:
            context = await browser.context(
                user_agent=settings.user_agent,
                extra_http_headers=languages,
                viewport=VIEW,
                accept_downloads=False,
                service_workers="block",
            )
            await context.add_init_script(NO_CALLS)
            page = await context.new_page()
            began = clock()  # what a busy machine took for the tab is not the page's time
            limit.reschedule(began + seconds)
            url, html, note = await _read(page, visit, began + READ_SHARE * seconds, settings.max_bytes)
    except TimeoutError:
        url, html, note = visit.url, "", f"the page did not come to an end in {seconds:g} seconds"
    except Exception as error:
        if not browser.alive or any(word in str(error).lower() for word in ("crash", "closed")):
            raise BrowserDiedError from None
        url, html, note = visit.url, "", f"the browser could not open it ({type(error).__name__})"
    finally:
        if context is not None:
            try:
                async with asyncio.timeout(CLOSING):
                    await context.close()
            except Exception:  # a busy machine, or a page that clings: what was read of it stands
                await browser.close()
    return visit.rendered(url, html, note, clock() - began)


async def _read(page: Any, visit: Visit, until: float, limit: int) -> tuple[str, str, str]:
    reading = asyncio.ensure_future(_opened(page, visit, until, limit))

    def error(text: str) -> None:
        if not text.startswith("Failed to load resource"):
            visit.note(visit.errors, text, "")

    def other(opened: Any) -> None:
        task = asyncio.ensure_future(opened.close())
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    page.on("console", lambda said: error(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda found: error(f"{found.name}: {found.message}"))
    page.on("crash", lambda _: reading.cancel())
    page.on("close", lambda _: reading.cancel())
    page.context.on("page", other)
    try:
        return await reading
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or not task.cancelling():  # the page has ended, and nobody wanted it to
            raise BrowserDiedError from None
        raise


async def _opened(page: Any, visit: Visit, until: float, limit: int) -> tuple[str, str, str]:
    from playwright.async_api import TimeoutError as Late  # an extra

    clock, note = asyncio.get_running_loop().time, ""
    look = _Look(await page.context.new_cdp_session(page))
    try:
        await page.goto(
            visit.url, wait_until="load", timeout=1000 * max(0.1, (until - clock()) * LOADING_SHARE)
        )
    except Late:
        note = "not everything was loaded in time"
    note = await _settled(visit, look, until) or note
    found = await look(HTML.replace("LIMIT", str(limit)))
    if found["url"].startswith("chrome-error:"):
        return visit.url, "", "its scripts lead to a page that could not be loaded"
    if found["size"] > limit:
        return visit.url, "", f"its document is larger than {limit:,} characters"
    return found["url"], found["html"], note


async def _settled(visit: Visit, look: _Look, until: float) -> str:
    """Wait until nothing is loaded and nothing changes; return why the wait ended before, if it did."""
    clock = asyncio.get_running_loop().time
    before, since = await look(CHANGED), clock()
    asked = end = since + MOST_SETTLING  # what is asked for later is polling
    while clock() < min(until, end):
        await asyncio.sleep(LOOK)
        now = await look(CHANGED)
        if now != before:
            before, since = now, clock()
        if min(visit.quiet(), clock() - since) >= SETTLED:
            return ""
        if visit.waits_for(asked):
            end = max(end, clock() + 2 * SETTLED)
    late = ", ".join(visit.waits_for(asked)[:3])
    return f"it was read while it waited for {late}" if late else "it was still changing when it was read"
