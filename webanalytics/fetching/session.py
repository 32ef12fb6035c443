"""The session that requests are sent with, and what one request is made of.

`Fetcher` opens one session for its life; `exchange` sends each redirect and retry of a fetch by `request`.
"""

from __future__ import annotations

import math
import ssl
from collections.abc import MutableMapping
from contextlib import AbstractAsyncContextManager
from functools import cache
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from webanalytics.core.proxy import Way
from webanalytics.fetching.content import ACCEPTED, Accept, Method
from webanalytics.fetching.guard import SocketFactory, dialled_by_proxy
from webanalytics.fetching.pace import FetchSettings
from webanalytics.fetching.response import Problem

# Browsers take 256 KB of headers; sites with long security policies need more than aiohttp's 8 KB.
HEADER_BYTES = 32_768
INTERIM_RESPONSES = 20
# Idle connections are file descriptors: a run over thousands of hosts must not collect them.
KEEP_ALIVE = 3.0
SHORTEST = 0.001
"""Seconds of a request that has none left: to aiohttp 0 is no limit."""
_ACCEPT: dict[Accept, str] = {
    "page": "text/html,application/xhtml+xml,text/plain;q=0.8,*/*;q=0.1",
    "image": "image/webp,image/png,image/jpeg,image/gif,image/tiff,image/*;q=0.8,*/*;q=0.1",
    "any": "*/*",
}


class _Response(aiohttp.ClientResponse):
    """A response that fails after too many interim ones (100 to 199), and knows who sent it.

    aiohttp skips any number of them, and a server that sends nothing else would keep the event
    loop of the whole run busy until the time is up.
    """

    peer: tuple[Any, str] = (None, "")
    """Certificate and address of the server; the connection may be gone where the response has begun."""

    async def start(self, connection: Any) -> Self:
        """Read the head of the response."""
        protocol, left = connection.protocol, INTERIM_RESPONSES
        if connection.transport is not None:
            told = connection.transport.get_extra_info
            self.peer = told("peercert"), (told("peername") or ("",))[0]
        read = protocol.read

        async def counted() -> Any:
            nonlocal left
            if left < 0:
                raise Problem("protocol")
            left -= 1
            return await read()

        protocol.read = counted
        try:
            await super().start(connection)
        finally:
            del protocol.read
        return self


class _Connector(aiohttp.TCPConnector):
    """Connects to hosts and proxies; a proxy is not shown the certificate that is for a host."""

    def _get_ssl_context(self, req: Any) -> ssl.SSLContext | None:
        if dialled_by_proxy.get() and req.proxy is None and req.is_ssl():
            return _usual_tls()
        return super()._get_ssl_context(req)


@cache
def _usual_tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _to_socks(way: Way) -> aiohttp.TCPConnector:
    from aiohttp_socks import ProxyConnector, ProxyType  # an extra

    parts = urlsplit(way.url)
    user, password = way.login or (None, None)
    kept: Any = {"limit": 0, "keepalive_timeout": KEEP_ALIVE}
    host, port = parts.hostname or "", parts.port or 0
    return ProxyConnector(host, port, ProxyType.SOCKS5, user, password, rdns=True, **kept)


def open_session(
    settings: FetchSettings, names: AbstractResolver, socks: Way | None = None
) -> aiohttp.ClientSession:
    """Return a session that connects to allowed addresses only, and takes nothing from the environment.

    One of a SOCKS proxy connects to that alone, and leaves the rest to it.
    """
    connector = (
        _Connector(
            limit=0,
            resolver=names,
            keepalive_timeout=KEEP_ALIVE,
            socket_factory=SocketFactory(settings.allow_private),
        )
        if socks is None
        else _to_socks(socks)
    )
    headers = {"User-Agent": settings.user_agent, "Accept-Encoding": ACCEPTED}
    if settings.accept_language is not None:
        headers["Accept-Language"] = settings.accept_language
    return aiohttp.ClientSession(
        connector=connector,
        response_class=_Response,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=headers,
        auto_decompress=False,
        trust_env=False,
        max_line_size=HEADER_BYTES,
        max_field_size=HEADER_BYTES,
    )


class Sessions:
    """The sessions of a fetcher: one for each SOCKS proxy that is asked, and one for all else."""

    def __init__(self, settings: FetchSettings, names: AbstractResolver) -> None:
        self._settings, self._names = settings, names
        self._open: dict[str, aiohttp.ClientSession] = {}

    def of(self, url: URL) -> aiohttp.ClientSession:
        """Return the session that an address is asked by."""
        way = self._settings.way(url)
        key = "" if way is None or not way.is_socks else way.url
        if key not in self._open:
            self._open[key] = open_session(self._settings, self._names, way if key else None)
        return self._open[key]

    async def close(self) -> None:
        """Close all."""
        while self._open:
            await self._open.popitem()[1].close()


def request(
    session: aiohttp.ClientSession,
    method: Method,
    url: URL,
    accept: Accept,
    settings: FetchSettings,
    seconds: float,
    way: Way | None = None,
) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
    """Return one request for a checked URL, which is sent where the block is entered.

    All that is sent to the host of the URL is put together here, for each redirect anew. With a way it goes
    to the proxy. The answer and its body have some seconds together. A body that is not read to its end
    closes the connection.
    """
    timeout = aiohttp.ClientTimeout(
        total=max(seconds, SHORTEST), connect=settings.connect_timeout, ceil_threshold=math.inf
    )
    headers, opened = {"Accept": _ACCEPT[accept]}, None
    if settings.bot_key is not None:
        headers |= settings.bot_key.headers(url.authority)
    if settings.access is not None:
        headers |= settings.access.sent(str(url), method)
        opened = settings.access.found(str(url))
    return session.request(
        method,
        url,
        headers=headers,
        allow_redirects=False,
        timeout=timeout,
        ssl=True if opened is None or opened.tls is None else opened.tls,
        **through(way, url, headers),
    )


def through(way: Way | None, url: URL, headers: MutableMapping[str, str]) -> dict[str, Any]:
    """Return what sends a request through a proxy, which may add to its headers."""
    if way is None or way.is_socks:
        return {}
    if url.scheme == "http":  # else it is told before it connects, and the host never
        headers.update(way.headers)
        return {"proxy": way.url}
    return {"proxy": way.url, "proxy_headers": way.headers}
