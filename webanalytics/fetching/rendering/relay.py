"""What a page loads, as requests of a run: guard, robots.txt, pace, proxy, access and signatures are its own.

The browser follows redirects itself, so that each hop comes here as a request and is checked anew.
"""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import aiohttp
from multidict import CIMultiDict

from webanalytics.fetching.content import body_within
from webanalytics.fetching.fetcher import Fetcher
from webanalytics.fetching.guard import check_url, dialled_by_proxy, host_key, refusals
from webanalytics.fetching.pace import REFUSED
from webanalytics.fetching.rendering.messages import Asked, passed_on
from webanalytics.fetching.rendering.visit import Visit
from webanalytics.fetching.response import Problem
from webanalytics.fetching.session import through

METHODS = frozenset(("GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH"))
"""Methods that are passed on; the others delete, or speak to proxies."""


class Answer(NamedTuple):
    """What the browser is answered."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes = b""

    @property
    def may_be_kept(self) -> bool:
        """Whether it is a script or a style that its server lets be kept for all."""
        said = CIMultiDict(self.headers)
        kind, control = said.get("Content-Type", ""), said.get("Cache-Control", "no-store").lower()
        closed = any(word in control for word in ("no-store", "private", "no-cache")) or "Set-Cookie" in said
        varies = said.get("Vary", "accept-encoding").strip().lower() != "accept-encoding"
        return self.status == 200 and not closed and not varies and ("javascript" in kind or "css" in kind)


async def relayed(fetcher: Fetcher, asked: Asked, target: str, visit: Visit) -> Answer:
    """Return the answer to one request of a page; raises `Problem` where there is none, or may be none.

    What opens the host of the page goes to that host, and only where the page itself asks for it.
    """
    settings = fetcher.settings
    url = check_url(target, **settings.guarded)
    if asked.method not in METHODS:
        raise Problem("protocol")
    crawl_delay = 0.0
    if settings.robots:
        rules = await fetcher.rules_of(url)
        rules.check(str(url))
        crawl_delay = rules.crawl_delay
    await fetcher.check_name(url)
    way = settings.way(url)
    sent, how = CIMultiDict(passed_on(asked.headers.items())), _access(fetcher, str(url), asked, visit)
    _add(sent, how.pop("headers", {}))
    if settings.bot_key is not None:
        _add(sent, settings.bot_key.headers(url.authority))
    how |= through(way, url, sent)
    timeout = aiohttp.ClientTimeout(total=settings.timeout, connect=settings.connect_timeout)
    how |= {"headers": sent, "data": asked.body or None, "timeout": timeout, "allow_redirects": False}
    refused: list[str] = []
    token, exempt = refusals.set(refused), dialled_by_proxy.set(way is not None)
    try:
        host = host_key(url)
        async with fetcher.limits.slot(host, crawl_delay, first=True):
            began = asyncio.get_running_loop().time()
            async with fetcher.session_of(url).request(asked.method, url, **how) as response:
                busy = Problem("status", http_status=response.status) if response.status in REFUSED else None
                fetcher.limits.ended(host, began, busy)
                body = await body_within(min(settings.max_bytes, visit.bytes_left), response)
                if body is None:
                    raise Problem("too_large")
                visit.bytes_left -= len(body)
                return Answer(response.status, passed_on(response.headers.items()), body)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        late = "timeout" if isinstance(error, TimeoutError) else "interrupted"
        raise Problem("private" if refused else late) from None
    finally:
        refusals.reset(token)
        dialled_by_proxy.reset(exempt)


def _add(sent: CIMultiDict[str], more: dict[str, str]) -> None:
    for name, value in more.items():
        both = name.lower() == "cookie" and name in sent
        sent[name] = f"{value}; {sent[name]}" if both else value


def _access(fetcher: Fetcher, url: str, asked: Asked, visit: Visit) -> dict[str, Any]:
    """Return how a host is opened: headers where surely its page asks, and no frame of another."""
    access = fetcher.settings.access
    if access is None or (found := access.found(url)) is None:
        return {}
    site = asked.headers.get("Sec-Fetch-Site", "none").lower()
    askers = [text for name in ("Origin", "Referer") for text in asked.headers.getall(name, ())]
    opened = (
        found is access.found(visit.url)
        and (site == "same-origin" or (bool(askers) and site in ("same-site", "none")))
        and all(access.found(f"{text}/") is found for text in askers)
    )
    how: dict[str, Any] = {"headers": access.sent(url, asked.method)} if opened else {}
    if found.tls is not None and (opened or not found.shows_certificate):
        how["ssl"] = found.tls
    return how
