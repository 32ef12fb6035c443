"""HTTP connections, bounded in number and time, and a server that finishes running requests when it stops.

aiohttp's low-level server has no limit on connections, and drops bodies that are still arriving when it is
stopped: that is changed here, and the behaviour of each connection in
`webanalytics.service.server.connection`.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress

from aiohttp import web
from aiohttp.http import HttpVersion11
from aiohttp.web_protocol import RequestHandler

from webanalytics.service.headers import new_request_id
from webanalytics.service.results import Record
from webanalytics.service.server.connection import FAILED, MALFORMED, MOST_LINGERING, Connection, last_answer
from webanalytics.service.settings import ServiceSettings, read_address, read_networks, within

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

Handle = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
OnError = Callable[[Record], None]

BACKLOG = 1024
"""Connections the kernel holds until they are accepted."""

ACCEPTS = 8
"""Connections accepted in one turn of the loop: few, so that processes which share a port share its load."""

WITHOUT_LIMIT = 1_000_000
"""Descriptors of a process where the system sets no limit."""
FILES_KEPT = 64
FEWEST = 16

POLL_SECONDS = 0.02
LAST_SECONDS = 0.1

EXPECTATION = "The `Expect` header must be 100-continue or left out."


def descriptors() -> int:
    """Return how many files and connections this process may have open."""
    if resource is None:
        return WITHOUT_LIMIT
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return WITHOUT_LIMIT if soft == resource.RLIM_INFINITY else min(soft, WITHOUT_LIMIT)


def bounds(files: int, fetches: int) -> tuple[int, int]:
    """Return the most connections of callers, and of those the most that are refused at one time."""
    lingering = min(MOST_LINGERING, files // 8)
    return max(FEWEST, min(files * 5 // 8, files - lingering - fetches - FILES_KEPT)), lingering


class Server(web.Server):
    """Shared by the connections of a process: limits, counts, and the handler of their requests.

    ``on_error`` gets the record of each request that is answered without the application, and
    ``on_connections`` the number of open connections whenever it changes.
    """

    def __init__(
        self,
        handle: Handle,
        settings: ServiceSettings,
        on_error: OnError,
        on_connections: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__(self._answer)
        self.stopping = False
        self.lingering = 0
        self.read_timeout: float = settings.read_timeout
        self._handle = handle
        self._most: int = settings.connections_per_address
        self._most_open, self.most_lingering = bounds(descriptors(), settings.fetch_concurrency)
        self._proxies = read_networks(settings.trusted_proxies)
        self._addresses: Counter[str] = Counter()
        self._on_error = on_error
        self._on_connections = on_connections
        self._options = {
            "access_log": None,
            # Bodies are decompressed where they are read, within limits; aiohttp would also decompress
            # what is refused, to throw it away: gigabytes for a few kilobytes.
            "auto_decompress": False,
            "keepalive_timeout": settings.keepalive_timeout,
            "loop": asyncio.get_running_loop(),
        }

    def __call__(self) -> RequestHandler:
        """Return the protocol of a new connection."""
        return Connection(self, **self._options)

    def is_proxy(self, address: str) -> bool:
        """Return whether an address is that of a trusted proxy."""
        return bool(self._proxies) and within(read_address(address), self._proxies)

    def has_room(self) -> bool:
        """Return whether a further connection is taken; the idle are closed first."""
        held = [connection for connection in self.connections if connection.transport is not None]
        if len(held) < self._most_open:
            return True
        idle = (item for item in held if isinstance(item, Connection) and item.idle)
        found = max(idle, key=lambda item: self._addresses[item.counted or ""], default=None)
        if found is None:
            return False
        found.force_close()
        return True

    def count(self, address: str) -> bool:
        """Count a connection, or return False when the address has as many as it may."""
        if self._addresses[address] >= self._most:
            return False
        self._addresses[address] += 1
        return True

    def uncount(self, address: str) -> None:
        """Forget a connection that was counted."""
        self._addresses[address] -= 1
        if not self._addresses[address]:
            del self._addresses[address]

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        """Report one more connection."""
        super().connection_made(handler, transport)
        if self._on_connections is not None:
            self._on_connections(len(self.connections))

    def connection_lost(self, handler: RequestHandler, exc: BaseException | None = None) -> None:
        """Report one fewer connection."""
        super().connection_lost(handler, exc)
        if self._on_connections is not None:
            # aiohttp forgets the connection only when its task has ended.
            self._on_connections(len(self.connections) - (handler in self.connections))

    def report(self, record: Record, error: str = "") -> None:
        """Hand on the record of a request that was answered here."""
        if error:
            record.notes["error"] = error
        self._on_error(record)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        request.protocol.begin(request)  # type: ignore[attr-defined]
        expect = request.headers.get("Expect")
        if expect is not None and request.version >= HttpVersion11:
            if expect.lower() != "100-continue":
                return self._refusal(request, 400, EXPECTATION, "expectation")
            # RFC 9110 section 10.1.1; what is sent here does not count as a part of the answer.
            with suppress(ConnectionError):  # a client that has gone is noticed where its body is read
                await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0
        try:
            return await self._handle(request)
        except web.HTTPException as error:
            status = error.status if error.status in (400, 404, 503) else 400 if error.status < 500 else 500
            return self._refusal(request, status, FAILED if status >= 500 else MALFORMED, "http")

    def _refusal(
        self, request: web.BaseRequest, status: int, sentence: str, error: str
    ) -> web.StreamResponse:
        record = Record(new_request_id(), status=status)
        self.report(record, error)
        return last_answer(request, status, sentence, record.request_id)

    async def listen(self, sock: socket.socket) -> None:
        """Serve on a bound socket, maybe shared with other processes; `stop` closes it."""
        self._sock = sock
        self._listening = await asyncio.get_running_loop().create_server(self, sock=sock, backlog=ACCEPTS)
        sock.listen(BACKLOG)  # the loop's own figure is both; the kernel's may be larger

    async def stop(self, grace: float) -> None:
        """Refuse new connections at once, and finish requests in progress within ``grace`` seconds."""
        loop = asyncio.get_running_loop()
        self.stopping = True
        # asyncio breaks off connections that it is accepting while its server is closed.
        loop.remove_reader(self._sock)
        await asyncio.sleep(0)
        self._listening.close()
        deadline = loop.time() + grace
        while True:
            for connection in self.connections:
                if isinstance(connection, Connection) and connection.idle:
                    connection.force_close()
            if not self.connections or loop.time() >= deadline:
                break
            await asyncio.sleep(POLL_SECONDS)
        await self.shutdown(LAST_SECONDS)


async def start(
    handle: Handle,
    settings: ServiceSettings,
    sock: socket.socket,
    on_error: OnError,
    on_connections: Callable[[int], None] | None = None,
) -> Server:
    """Serve on a bound socket; `Server.stop` closes it."""
    server = Server(handle, settings, on_error, on_connections)
    await server.listen(sock)
    return server
