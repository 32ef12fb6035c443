"""A reverse proxy on loopback that passes requests on to a real service, or injects a fault.

It is an aiohttp server on a thread and event loop of its own, so that a blocking test can drive it:

    with Proxy(server.base) as proxy:
        proxy.plan(cut_after(), None, status(503, "The source is unavailable."))
        ...  # requests to proxy.base
        assert [record.upstream_status for record in proxy.requests] == [200, 200, None]

Request and answer are each read whole before they are passed on. A request that was passed on is
followed to its end also where the client has gone, as on a real network.
"""

from __future__ import annotations

import asyncio
import io
import json
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from tests.runs.hosted.faults import (
    REQUEST_ID,
    Answer,
    CutError,
    Fault,
    away,
    cut_after,
    cut_before,
    delay,
    endless,
    half_body,
    half_request,
    html_403,
    json_of,
    not_found,
    out_of_credits,
    rate_limited,
    redirect,
    server_failure,
    slow_answer,
    status,
    unavailable,
    wrong_json,
)

__all__ = [
    "REQUEST_ID",
    "Fault",
    "Proxy",
    "Record",
    "away",
    "cut_after",
    "cut_before",
    "delay",
    "endless",
    "half_body",
    "half_request",
    "html_403",
    "json_of",
    "not_found",
    "out_of_credits",
    "rate_limited",
    "redirect",
    "server_failure",
    "slow_answer",
    "status",
    "unavailable",
    "wrong_json",
]

HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "upgrade",
        "transfer-encoding",
        "expect",
    }
)
CALL_SECONDS = 15.0


@dataclass(eq=False)
class Record:
    """A request as it came; filled in while it is worked on."""

    method: str
    path: str
    query: str
    headers: CIMultiDictProxy[str] = field(repr=False)  # with the key
    connection: int
    """The number of the connection it came over, from 0."""
    arrived: float
    """`time.monotonic()` when its head had been read."""
    body: bytes = field(default=b"", repr=False)
    fault: Fault | None = None
    upstream_status: int | None = None
    """What the service answered; None where it was not asked or has not answered."""
    ended: float | None = None
    """`time.monotonic()` when the proxy was done with it."""

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class _Exchange:
    """One request, and the way back to the client that made it."""

    proxy: Proxy
    record: Record
    request: web.BaseRequest

    def leave_for(self, seconds: float) -> None:
        self.proxy.leave_for(seconds, self.request.transport)

    async def apply(self, fault: Fault | None) -> None:
        await (fault.act(self) if fault is not None else (await self.forward()).act(self))

    async def forward(self) -> Answer:
        """Ask the service over a connection of its own; where that fails, the client's is reset."""
        record = self.record
        target = f"{record.path}?{record.query}" if record.query else record.path
        url = URL(self.proxy.upstream + target, encoded=True)
        sent = [(name, value) for name, value in record.headers.items() if name.lower() not in HOP_BY_HOP]
        try:
            async with (
                aiohttp.ClientSession(
                    auto_decompress=False,
                    skip_auto_headers=("Accept", "Accept-Encoding", "User-Agent", "Content-Type"),
                    timeout=aiohttp.ClientTimeout(None),
                ) as session,
                session.request(
                    record.method,
                    url,
                    headers=CIMultiDict(sent),
                    data=io.BytesIO(record.body) if record.body else None,
                    allow_redirects=False,
                ) as got,
            ):
                body = await got.read()
        except (aiohttp.ClientError, OSError):
            raise CutError from None
        record.upstream_status = got.status
        kept = tuple((name, value) for name, value in got.headers.items() if name.lower() not in HOP_BY_HOP)
        return Answer(got.status, kept, body)


class Proxy:
    """The proxy; use it as a context manager, from any thread.

    What is done with a request: the next planned fault (taken when the request's head has come), else
    what the rule says of the whole request, else what holds always, else it is passed on.

    On leaving it, what a rule raised is raised.
    """

    def __init__(self, upstream_base: str) -> None:
        parts = urlsplit(upstream_base)
        self.upstream = f"http://{parts.hostname or '127.0.0.1'}:{parts.port or 80}"
        self._lock = threading.Lock()
        self._planned: deque[Fault | None] = deque()
        self._always: Fault | None = None
        self._rule: Callable[[Record], Fault | None] | None = None
        self._requests: list[Record] = []
        self._failures: list[Exception] = []
        self._connections: dict[asyncio.BaseTransport, int] = {}
        self._server: asyncio.Server | None = None
        self._returning: asyncio.Task[None] | None = None

    # -- for the test

    @property
    def requests(self) -> list[Record]:
        """The requests so far, in order of arrival."""
        with self._lock:
            return list(self._requests)

    @property
    def at_once(self) -> int:
        """The largest number of requests that were under way together."""
        steps = [(record.arrived, 1) for record in self.requests]
        steps += [(record.ended, -1) for record in self.requests if record.ended is not None]
        most = now = 0
        for _, step in sorted(steps):
            now += step
            most = max(most, now)
        return most

    def plan(self, *faults: Fault | None) -> None:
        """Queue what is done with the next requests; None passes one on."""
        with self._lock:
            self._planned.extend(faults)

    def always(self, fault: Fault | None) -> None:
        """Set what is done with every request that no plan or rule speaks of."""
        self._always = fault

    def rule(self, decide: Callable[[Record], Fault | None] | None) -> None:
        """Set a function that is asked about every request not planned for; it runs on the proxy's thread."""
        self._rule = decide

    def clear(self) -> None:
        """Forget plan, rule and what holds always; the records stay."""
        with self._lock:
            self._planned.clear()
        self._always = self._rule = None

    def stop_listening(self) -> None:
        """Go away: reset all connections, refuse new ones."""
        self._call(self._leave())

    def listen_again(self) -> None:
        """Come back on the same port."""
        self._call(self._listen())

    # -- its life

    def __enter__(self) -> Self:
        # Never listens: it keeps the port from others, and from being a client's own, while away.
        self._guard = _bound(0)
        self._port: int = self._guard.getsockname()[1]
        self.base = f"http://127.0.0.1:{self._port}"
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()
        self._call(self._listen())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._call(self._end())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(CALL_SECONDS)
            self._loop.close()
            self._guard.close()
        if self._failures and error is None:
            raise self._failures[0]

    def _call(self, step: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(step, self._loop).result(CALL_SECONDS)

    async def _listen(self) -> None:
        if self._returning is not None and self._returning is not asyncio.current_task():
            self._returning.cancel()
        if self._server is None:
            handler = web.Server(self._handle, access_log=None, keepalive_timeout=3600)
            self._server = await self._loop.create_server(handler, sock=_bound(self._port), backlog=1024)

    async def _leave(self) -> None:
        if self._returning is not None:
            self._returning.cancel()
        self._refuse(None)

    async def _end(self) -> None:
        await self._leave()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
            await asyncio.wait([task])
        await self._loop.shutdown_default_executor()

    def _refuse(self, spared: asyncio.BaseTransport | None) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for transport in list(self._connections):
            if transport is not spared:
                _reset(transport)

    def leave_for(self, seconds: float, spared: asyncio.BaseTransport | None) -> None:
        """Refuse and reset from now on, and come back later; for a connection's own handler too."""
        self._refuse(spared)

        async def come_back() -> None:
            await asyncio.sleep(seconds)
            await self._listen()

        self._returning = self._loop.create_task(come_back())

    # -- requests

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Do one request; the response that is returned has been written already, or its connection is cut."""
        transport = request.transport
        assert transport is not None
        number = self._connections.setdefault(transport, len(self._connections))
        path, _, query = request.raw_path.partition("?")
        record = Record(request.method, path, query, request.headers, number, time.monotonic())
        with self._lock:
            self._requests.append(record)
            planned = bool(self._planned)
            record.fault = self._planned.popleft() if planned else self._always
            rule = None if planned else self._rule
        try:
            if rule is None and record.fault == half_request():
                await request.content.readexactly((request.content_length or 2) // 2)
            else:
                record.body = await request.content.read()
            if rule is not None:
                record.fault = rule(record) or record.fault
            await _Exchange(self, record, request).apply(record.fault)
        except CutError as cut:
            _reset(transport) if cut.reset else transport.close()
        except (OSError, asyncio.IncompleteReadError, aiohttp.ClientError):
            _reset(transport)  # the client has gone
        except Exception as error:
            self._failures.append(error)
            _reset(transport)
        finally:
            record.ended = time.monotonic()
        return _Written()


class _Written(web.StreamResponse):
    """Stands for a response that has been written, or that nobody can be sent any more."""

    async def prepare(self, request: web.BaseRequest) -> None:
        self._keep_alive = request.keep_alive

    async def write_eof(self, data: bytes = b"") -> None:
        return None


def _reset(transport: asyncio.BaseTransport) -> None:
    """End a connection by RST."""
    sock = transport.get_extra_info("socket")
    with suppress(OSError, AttributeError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()  # type: ignore[attr-defined]


def _bound(port: int) -> socket.socket:
    # Without the protocol's number asyncio does not set TCP_NODELAY on what is accepted.
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", port))
    return sock
