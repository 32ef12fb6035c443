"""A web server that remembers when each request came and went: politeness is measured here, not at the client."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, Self

from tests.effort import BUSY_SECONDS

BUSY = 0.5
"""Share of a delay that must be left of every gap: an origin that is late with one request sees the next one too
soon. What is not steered has gaps of milliseconds."""


class Visit(NamedTuple):
    """One request."""

    host: str
    path: str
    began: float
    ended: float


Answer = Callable[[str, str], tuple[int, dict[str, str], bytes]]


def page(_host: str, path: str) -> tuple[int, dict[str, str], bytes]:
    """Answer every path with a page, and robots.txt with rules that allow all but one folder."""
    if path == "/robots.txt":
        return 200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /private/\n"
    body = f"<html lang=en><title>Page {path}</title><p>The keeper walks up the stairs.</p>"
    return 200, {"Content-Type": "text/html"}, body.encode()


class Origin:
    """Many hosts at one port: 127.0.0.1, 127.0.0.2, ..."""

    def __init__(self, answer: Answer = page, seconds: float = 0.0) -> None:
        self._answer, self._seconds = answer, seconds
        self.visits: list[Visit] = []
        self._under_way: defaultdict[str, int] = defaultdict(int)
        self.peak: defaultdict[str, int] = defaultdict(int)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._ready = threading.Event()
        self._connections: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(BUSY_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "0.0.0.0", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for connection in [*self._connections]:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def urls(self, hosts: int, each: int, start: int = 0) -> list[str]:
        """Return addresses of so many hosts, sorted by host."""
        return [
            f"http://127.0.0.{host + 1}:{self.port}/{number}"
            for host in range(hosts)
            for number in range(start, start + each)
        ]

    def pages(self) -> list[Visit]:
        """Return the requests for pages, in order of arrival."""
        visits = sorted(self.visits, key=lambda visit: visit.began)
        return [visit for visit in visits if visit.path != "/robots.txt"]

    def gaps(self) -> dict[str, float]:
        """Return the shortest time between the arrivals of two requests, by host, robots.txt included."""
        began = defaultdict(list)
        for visit in sorted(self.visits, key=lambda visit: visit.began):
            began[visit.host].append(visit.began)
        return {
            host: min(later - sooner for sooner, later in pairwise(times))
            for host, times in began.items()
            if len(times) > 1
        }

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                began = time.monotonic()
                path = head[0].split(" ")[1]
                host = (
                    next(line for line in head if line.lower().startswith("host:")).split()[1].split(":")[0]
                )
                self._under_way[host] += 1
                self.peak[host] = max(self.peak[host], self._under_way[host])
                status, headers, body = self._answer(host, path)
                try:
                    await asyncio.sleep(self._seconds)
                    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
                    lines += [f"{name}: {value}" for name, value in headers.items()]
                    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
                    await writer.drain()
                finally:
                    self._under_way[host] -= 1
                    self.visits.append(Visit(host, path, began, time.monotonic()))
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()
