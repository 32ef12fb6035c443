"""Pages in a browser: what comes of them, what the network sees, and what is left when it is over."""

from __future__ import annotations

import asyncio
import math
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

import webanalytics as wa
from tests.fetching.closed_sites import Authority, ClosedSites, basic_lock, no_lock
from webanalytics.errors import ParameterError
from webanalytics.fetching import Fetcher, FetchSettings
from webanalytics.fetching.rendering import renderer as module
from webanalytics.fetching.rendering.browser import VARIABLE, Browser
from webanalytics.fetching.rendering.renderer import Renderer
from webanalytics.fetching.rendering.visit import Rendered
from webanalytics.fetching.testing import Reply, SiteServer

pytestmark = [pytest.mark.browser, pytest.mark.slow]
APP = b"<!doctype html><title>app</title><div id=root></div><script src=/app.js></script>"
SCRIPT = Reply(
    headers={"Content-Type": "text/javascript", "Cache-Control": "max-age=60"},
    body=b"""fetch('/api').then(answer => answer.text()).then(text => {
  document.title = text; document.getElementById('root').innerHTML = '<h1>Made</h1><a href=/next>next</a>' });
fetch('/closed/x'); fetch('/gone'); console.error('one error'); setTimeout(() => { lamp.light() }, 10)""",
)
SITE = {
    "/": APP,
    "/2": APP,
    "/app.js": SCRIPT,
    "/api": b"Rendered",
    "/next": b"<title>next</title><p>words of it",
    "/robots.txt": b"User-agent: *\nDisallow: /closed/",
    "/closed/x": b"closed",
}


def started() -> dict[int, str]:
    """The command lines of the processes of browsers that this one has started, by their numbers."""
    found = {}
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            found[child.pid] = "" if child.status() == psutil.STATUS_ZOMBIE else " ".join(child.cmdline())
    return {pid: line for pid, line in found.items() if "chrom" in line or "playwright" in line}


def browsers() -> set[int]:
    """Those of them that are no helpers of another."""
    return {pid for pid, line in started().items() if "--type=" not in line and "--user-data-dir" in line}


def rendered(
    site: SiteServer,
    *paths: str,
    between: Callable[[], object] = lambda: None,
    size: int = 1,
    timeout: float = 20,
) -> list[Rendered]:
    async def run() -> list[Rendered]:
        settings = FetchSettings(allow_private=True, retries=0, timeout=timeout)
        found = []
        async with Fetcher(settings) as fetcher, Renderer(fetcher, size) as made:
            for path in paths:
                found.append(await made.render(await fetcher.fetch(site.url + path)))
                between()
        return found

    return asyncio.run(run())


def test_a_page_is_what_its_scripts_make_of_it() -> None:
    with SiteServer(SITE) as site:
        one, _ = rendered(site, "/", "/2")
        asked = [request.target for request in site.requests]
    assert "<title>Rendered</title>" in one.html
    assert "<h1>Made</h1>" in one.html
    assert one.note == ""
    assert "one error" in one.errors
    assert any("lamp is not defined" in text for text in one.errors)
    assert dict(one.failed) == {
        f"{site.url}/closed/x": "robots.txt forbids it",
        f"{site.url}/gone": "HTTP 404",
    }
    assert asked.count("/") == 1, "the page itself is not fetched again"
    assert asked.count("/app.js") == 1, "a script that may be kept is asked for once"
    assert "/closed/x" not in asked


def test_content_that_comes_late_is_waited_for() -> None:
    """Longer than a page may take to settle otherwise; a stream that has no end, and polling, are not waited for."""
    late = b"""<p>words</p><script>fetch('/late').then(answer => answer.text()).then(text => document.body.append(text));
new EventSource('/stream'); setInterval(() => fetch('/poll'), 100)</script>"""
    pages = {
        "/4": late.replace(b"/late", b"/late4"),
        "/8": late.replace(b"/late", b"/late8"),
        "/late4": Reply(body=b"brought late", delay=4),
        "/late8": Reply(body=b"brought late", delay=8),
        "/poll": b"1",
        "/stream": Reply(delay=math.inf),
    }
    with SiteServer(pages) as site:
        found = rendered(site, "/4", "/8", timeout=120)
    assert ["brought late" in made.html for made in found] == [True, True]


def test_a_page_that_is_read_too_early_says_what_it_waited_for() -> None:
    page = b"<p>words</p><script>fetch('/never').then(() => 0); fetch('/soon')</script>"
    with SiteServer({"/": page, "/never": Reply(delay=math.inf), "/soon": b"1"}) as site:
        (made,) = rendered(site, "/", timeout=12)
    assert "words" in made.html
    assert made.note == f"it was read while it waited for {site.url}/never"


def test_the_time_of_a_page_begins_with_its_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that goes on by 3,400 seconds of 3,600 while the tab is opened."""
    usual, time, ahead = Browser.context, asyncio.BaseEventLoop.time, 0

    async def slow(browser: Browser, **settings: Any) -> Any:
        nonlocal ahead
        made = await usual(browser, **settings)
        ahead = 3_400
        return made

    monkeypatch.setattr(asyncio.BaseEventLoop, "time", lambda loop: time(loop) + ahead)
    monkeypatch.setattr(Browser, "context", slow)
    with SiteServer({**SITE, "/api": Reply(body=b"Rendered", delay=2)}) as site:
        (made,) = rendered(site, "/", timeout=3_600)
    assert "<h1>Made</h1>" in made.html
    assert made.note == ""


def test_a_browser_that_is_killed_costs_its_page_a_retry() -> None:
    def kill() -> None:
        for pid in browsers():
            os.kill(pid, signal.SIGKILL)

    with SiteServer(SITE) as site:
        found = rendered(site, "/", "/2", "/next", between=kill)
    assert ["Made" in made.html or "words of it" in made.html for made in found] == [True] * 3
    assert started() == {}


def test_a_page_that_does_not_close_in_time_is_taken_as_it_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    from playwright.async_api import BrowserContext

    async def hang(_: BrowserContext) -> None:
        raise TimeoutError

    monkeypatch.setattr(BrowserContext, "close", hang)
    with SiteServer(SITE) as site:
        found = rendered(site, "/", "/2", timeout=120)
        asked = [request.target for request in site.requests]
    assert [("<h1>Made</h1>" in made.html, made.note) for made in found] == [(True, "")] * 2
    assert asked.count("/api") == 2, "no page is rendered again"
    assert started() == {}


def test_a_page_that_ends_its_browser_costs_no_other() -> None:
    pages = {
        **SITE,
        "/crash": b"<p>words<script>const a = []; while (true) a.push(new Array(1e6).fill(1.5))</script>",
    }
    with SiteServer(pages) as site:
        found = rendered(site, "/", "/crash", "/2")
    assert found[1].note
    assert "Made" in found[2].html


def test_browsers_are_replaced_and_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGES", 2)
    seen: list[set[int]] = []
    with SiteServer(SITE) as site:
        rendered(site, *["/next"] * 5, between=lambda: seen.append(browsers()))
    assert [len(one) for one in seen] == [1] * 5
    assert seen[0] == seen[1] != seen[2] == seen[3] != seen[4]
    assert started() == {}


def test_access_goes_to_the_host_of_the_page_alone(tmp_path: Path) -> None:
    """Also where a page of another host asks for what is closed, and where the closed host redirects away."""
    staging, public = "staging.tea.invalid", "www.tea.invalid"
    authority = Authority(tmp_path)
    script = f"""for (const url of ['/api', '/away', 'https://{public}/api'])
fetch(url, {{mode: 'no-cors'}}).catch(() => 0); fetch('/api').then(a => a.text()).then(t => document.body.append(t))"""
    page = (
        f"<title>t</title><p>words</p><iframe src=https://{public}/frame></iframe><script>{script}</script>"
    )
    frame = f"""<script>for (const referrerPolicy of ['', 'no-referrer'])
fetch('https://{staging}/stolen?' + referrerPolicy, {{mode: 'no-cors', credentials: 'include', referrerPolicy}})</script>"""
    hosts = {
        staging: (
            basic_lock("ann", "s3cret-word"),
            {
                "/": page.encode(),
                "/api": b"answer of the api",
                "/away": (302, f"https://{public}/to"),
                "/stolen": b"x",
                "/stolen?no-referrer": b"x",
            },
        ),
        public: (no_lock, {"/api": b"x", "/frame": frame.encode(), "/to": b"x"}),
    }
    access = {
        staging: wa.Access(user="ann", password="s3cret-word", ca=authority.ca),
        public: wa.Access(ca=authority.ca),
    }
    with ClosedSites(hosts, authority) as sites:
        audit = wa.audit(
            [f"https://{staging}/"], access=access, proxy=sites.proxy, render="all", retries=0, timeout=20
        )
        carried = {(one.host, one.target, "authorization" in one.headers) for one in sites.asked}
    assert audit.pages["rendered"].tolist() == [True]
    assert "answer of the api" in audit.pages["visible_text"].iloc[0]
    assert {
        (staging, "/api", True),
        (staging, "/away", True),
        (public, "/to", False),
        (public, "/api", False),
        (public, "/frame", False),
        (staging, "/stolen?no-referrer", False),
    } <= carried
    assert not any(had for host, target, had in carried if host == public or "stolen" in target)


def test_without_a_browser_a_sentence_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/no/such/browser")
    with pytest.raises(ParameterError, match=r"`render` parameter.*apt install chromium"):
        wa.audit(["https://example.org/"], render="auto")
