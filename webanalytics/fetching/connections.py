"""Requests over aiohttp's connections, without its session.

A session makes each request ready for cookies, proxies, passwords, uploads and redirects; a fetch has none
of these, and that took longer than all else. Names, addresses, TLS, the connections that are kept and the
parser are aiohttp's as before; what all pages of an origin have in common is made once.
"""

from __future__ import annotations

import asyncio
import math
from functools import lru_cache
from types import TracebackType
from typing import Literal, NamedTuple, Self

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.connector import Connection
from aiohttp.helpers import TimerContext
from aiohttp.http import RawResponseMessage
from multidict import CIMultiDict
from yarl import URL

from webanalytics.fetching.content import ACCEPTED
from webanalytics.fetching.guard import SocketFactory
from webanalytics.fetching.limits import FetchSettings
from webanalytics.fetching.response import Problem

Method = Literal["GET", "HEAD"]

# Browsers take 256 KB of headers; sites with long security policies need more than aiohttp's 8 KB.
HEADER_BYTES = 32_768
INTERIM_RESPONSES = 20
# Idle connections are file descriptors: a run over thousands of hosts must not collect them.
KEEP_ALIVE = 3.0
_MOST_ORIGINS = 1024


class _Prepared(NamedTuple):
    """What the requests for one kind of content of one origin have in common."""

    request: aiohttp.ClientRequest
    rest_of_head: str


class Answer(NamedTuple):
    """The head of an answer, its body as it arrives, and the headers that were sent for it."""

    head: RawResponseMessage
    body: aiohttp.StreamReader
    sent: CIMultiDict[str]
    connection: Connection
    limit: asyncio.TimerHandle

    def release(self) -> None:
        """Keep the connection for the next request; it is closed where the body was not read to its end."""
        self.limit.cancel()
        self.connection.release()


class Connections:
    """Send requests without cookies, proxies and passwords, to allowed addresses only.

    Use it as an asynchronous context manager, in one event loop.

    Parameters
    ----------
    settings : FetchSettings
        Limits, and what the requests say who they are from.
    names : aiohttp.abc.AbstractResolver
        Looks up host names.
    """

    def __init__(self, settings: FetchSettings, names: AbstractResolver) -> None:
        self._loop = asyncio.get_running_loop()
        self._connector = aiohttp.TCPConnector(
            limit=0,
            resolver=names,
            keepalive_timeout=KEEP_ALIVE,
            socket_factory=SocketFactory(settings.allow_private),
        )
        self._user_agent = settings.user_agent
        self._connect_timeout = aiohttp.ClientTimeout(
            connect=settings.connect_timeout, ceil_threshold=math.inf
        )
        self._prepared = lru_cache(_MOST_ORIGINS)(self._prepare)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._connector.close()

    async def request(self, method: Method, url: URL, accept: str, seconds: float) -> Answer:
        """Return the answer to a request for a checked URL, which must be released.

        The answer and its body have some seconds together; what is waited for longer raises `TimeoutError`.
        """
        prepared = self._prepared(url.scheme, url.raw_authority, accept)
        target = url.raw_path_qs
        if not (target.isascii() and target.isprintable()) or " " in target:  # it might begin a header
            raise aiohttp.InvalidURL(url)
        head = f"{method} {target}{prepared.rest_of_head}".encode("ascii")
        timer = TimerContext(self._loop)
        limit = self._loop.call_later(seconds, timer.timeout)
        try:
            with timer:
                connection, answer, body = await self._sent(prepared.request, head, method, timer)
        except BaseException:
            limit.cancel()
            raise
        body.on_eof(limit.cancel)
        return Answer(answer, body, prepared.request.headers, connection, limit)

    def _prepare(self, scheme: str, authority: str, accept: str) -> _Prepared:
        headers = {"User-Agent": self._user_agent, "Accept-Encoding": ACCEPTED, "Accept": accept}
        url = URL(f"{scheme}://{authority}/", encoded=True)
        request = aiohttp.ClientRequest("GET", url, headers=headers, loop=self._loop)
        lines = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
        return _Prepared(request, f" HTTP/1.1\r\n{lines}\r\n")

    async def _sent(
        self, request: aiohttp.ClientRequest, head: bytes, method: Method, timer: TimerContext
    ) -> tuple[Connection, RawResponseMessage, aiohttp.StreamReader]:
        """Send a request, once more where a connection that was kept turns out to be closed."""
        for is_last in (False, True):
            connection = await self._connection(request)
            try:
                answer, body = await self._answered(connection, head, method, timer)
            except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):  # RFC 9112 section 9.3.1
                connection.close()
                if is_last:
                    raise
            except BaseException:
                connection.close()
                raise
            else:
                return connection, answer, body
        raise AssertionError

    async def _connection(self, request: aiohttp.ClientRequest) -> Connection:
        if self._connector.closed:
            raise aiohttp.ClientConnectionError("the connections are closed")
        try:
            return await self._connector.connect(request, [], self._connect_timeout)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError from error

    @staticmethod
    async def _answered(
        connection: Connection, head: bytes, method: Method, timer: TimerContext
    ) -> tuple[RawResponseMessage, aiohttp.StreamReader]:
        protocol, transport = connection.protocol, connection.transport
        if protocol is None or transport is None or transport.is_closing():
            raise aiohttp.ClientConnectionResetError("the connection is closed")
        protocol.set_response_params(
            timer=timer,
            skip_payload=method == "HEAD",
            read_until_eof=True,
            auto_decompress=False,
            max_line_size=HEADER_BYTES,
            max_field_size=HEADER_BYTES,
        )
        transport.write(head)
        interim = 0
        while True:
            answer, body = await protocol.read()
            interim += answer.code < 200
            if interim > INTERIM_RESPONSES:  # they would keep the event loop of the whole run busy
                raise Problem("protocol")
            if not 100 <= answer.code <= 199 or answer.code == 101:
                return answer, body
