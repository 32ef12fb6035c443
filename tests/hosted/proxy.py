"""A reverse proxy on loopback that passes requests on to a real service, or injects a fault.

It runs on a thread and event loop of its own, so that a blocking test can drive it:

    with Proxy(server.base) as proxy:
        proxy.plan(cut_after(), None, status(503, "The source is unavailable."))
        ...  # requests to proxy.base
        assert [record.upstream_status for record in proxy.requests] == [200, 200, None]

Request and answer are each read whole before they are passed on. A request that was passed on is
followed to its end also where the client has gone, as on a real network.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from multidict import CIMultiDictProxy

from tests.hosted.faults import (
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
from tests.hosted.wire import head_bytes, kept, read_body, read_head, shut

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

HOP_BY_HOP = frozenset({"connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade"})
FRAMING = frozenset({"transfer-encoding", "content-length", "expect"})
HEAD_BYTES = 1 << 20
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
    writer: asyncio.StreamWriter

    @property
    def method(self) -> str:
        return self.record.method

    def leave_for(self, seconds: float) -> None:
        self.proxy.leave_for(seconds)

    async def write(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
        await self.writer.drain()

    async def apply(self, fault: Fault | None) -> None:
        await (fault.act(self) if fault is not None else (await self.forward()).act(self))

    async def forward(self) -> Answer:
        """Ask the service over a connection of its own; where that fails, the client's is reset."""
        try:
            reader, writer = await asyncio.open_connection(*self.proxy.upstream, limit=HEAD_BYTES)
        except OSError:
            raise CutError from None
        try:
            return await self._ask(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            raise CutError from None
        finally:
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Answer:
        record = self.record
        headers = [*kept(record.headers, HOP_BY_HOP | FRAMING), ("Connection", "close")]
        if record.body or "Content-Length" in record.headers or "Transfer-Encoding" in record.headers:
            headers.append(("Content-Length", str(len(record.body))))
        target = f"{record.path}?{record.query}" if record.query else record.path
        writer.write(head_bytes(f"{record.method} {target} HTTP/1.1", headers))
        writer.write(record.body)  # not awaited: a service may answer before it has read everything
        (_, code, *_), got = await read_head(reader)
        body = b""
        if record.method != "HEAD" and int(code) not in (204, 304):
            framed = "Content-Length" in got or "Transfer-Encoding" in got
            body = await (read_body(reader, got) if framed else reader.read())
        record.upstream_status = int(code)
        dropped = HOP_BY_HOP | (FRAMING if record.method != "HEAD" else FRAMING - {"content-length"})
        return Answer(int(code), tuple(kept(got, dropped)), body)


class Proxy:
    """The proxy; use it as a context manager, from any thread.

    What is done with a request: the next planned fault (taken when the request's head has come), else
    what the rule says of the whole request, else what holds always, else it is passed on.

    On leaving it, what a rule raised and requests that are not HTTP are raised.
    """

    def __init__(self, upstream_base: str) -> None:
        parts = urlsplit(upstream_base)
        self.upstream = (parts.hostname or "127.0.0.1", parts.port or 80)
        self._lock = threading.Lock()
        self._planned: deque[Fault | None] = deque()
        self._always: Fault | None = None
        self._rule: Callable[[Record], Fault | None] | None = None
        self._requests: list[Record] = []
        self._failures: list[Exception] = []
        self._connections = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening: socket.socket | None = None
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

    def away(self, seconds: float) -> None:
        """Go away now and come back by itself; returns at once."""

        async def begin() -> None:
            self.leave_for(seconds)

        self._call(begin())

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
        self._stay()
        if self._listening is None:
            self._listening = _bound(self._port)
            self._listening.setblocking(False)
            self._listening.listen(1024)
            self._loop.add_reader(self._listening, self._accept, self._listening)

    def _stay(self) -> None:
        """Forget a return that is still to come."""
        if self._returning is not None and self._returning is not asyncio.current_task():
            self._returning.cancel()
        self._returning = None

    async def _leave(self) -> None:
        self._stay()
        self._refuse()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _end(self) -> None:
        await self._leave()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
            await asyncio.wait([task])
        await self._loop.shutdown_default_executor()

    def _refuse(self) -> None:
        if self._listening is not None:
            self._loop.remove_reader(self._listening)
            self._listening.close()
            self._listening = None

    def leave_for(self, seconds: float) -> None:
        """Refuse and reset from now on, and come back later; for a connection's own task too."""
        self._stay()
        self._refuse()
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()

        async def come_back() -> None:
            await asyncio.sleep(seconds)
            await self._listen()

        self._returning = asyncio.create_task(come_back())

    # -- connections

    def _accept(self, listening: socket.socket) -> None:
        # Not asyncio's server: that loses what it has accepted when it is closed at that moment.
        try:
            sock, _ = listening.accept()
        except OSError:
            return
        sock.setblocking(False)
        task = self._loop.create_task(self._serve(sock, self._connections))
        self._connections += 1
        self._tasks.add(task)

        def done(_: object) -> None:
            self._tasks.discard(task)
            sock.close()  # where the task had not begun

        task.add_done_callback(done)

    async def _serve(self, sock: socket.socket, number: int) -> None:
        """Do the requests of one connection."""
        reader = asyncio.StreamReader(limit=HEAD_BYTES)
        protocol = asyncio.StreamReaderProtocol(reader)
        transport, _ = await self._loop.connect_accepted_socket(lambda: protocol, sock)
        writer = asyncio.StreamWriter(transport, protocol, reader, self._loop)
        reset = True
        try:
            while await self._exchange(reader, writer, number):
                pass
            reset = False
        except CutError as cut:
            reset = cut.reset
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client or the proxy has gone
        except Exception as error:
            self._failures.append(error)
        await shut(writer, reset=reset)

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int
    ) -> bool:
        """Do one request; tell whether the connection stays."""
        (method, target, version), headers = await read_head(reader)
        path, _, query = target.partition("?")
        seen = CIMultiDictProxy(headers)
        record = Record(method, path, query, seen, connection, time.monotonic())
        with self._lock:
            self._requests.append(record)
            planned = bool(self._planned)
            record.fault = self._planned.popleft() if planned else self._always
            rule = None if planned else self._rule
        try:
            if headers.get("Expect", "").lower() == "100-continue":
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            half = rule is None and record.fault == half_request()
            record.body = await read_body(reader, headers, half)
            if rule is not None:
                record.fault = rule(record) or record.fault
            await _Exchange(self, record, writer).apply(record.fault)
        finally:
            record.ended = time.monotonic()
        return version == "HTTP/1.1" and headers.get("Connection", "").lower() != "close"


def _bound(port: int) -> socket.socket:
    # Without the protocol's number asyncio does not set TCP_NODELAY on what is accepted.
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", port))
    return sock
