"""An engine over a loopback server that sends whatever bytes it is told to."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from aiohttp.abc import AbstractResolver

from webanalytics.operations import OPERATIONS
from webanalytics.service.engine import Engine
from webanalytics.service.images import ImageStore
from webanalytics.service.results import Result
from webanalytics.service.settings import ServiceSettings

Reply = bytes | Callable[[asyncio.StreamWriter, Mapping[str, str]], Awaitable[None]]

UPLOAD = 10_000_000
BASE = "https://api.example.com"


def http(
    body: bytes = b"<title>ok</title><p>Words of a page.", status: str = "200 OK", **headers: str
) -> bytes:
    """An HTTP answer; underscores in header names become hyphens."""
    fields = {"Content-Length": str(len(body)), "Content-Type": "text/html"}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items() if value)]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


class Evil:
    """The server; `pages` maps paths to replies, a missing path is a 404."""

    def __init__(self, pages: Mapping[str, Reply], ssl: Any = None) -> None:
        self.pages = pages
        self._ssl = ssl
        self.requests: list[tuple[str, Mapping[str, str]]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Evil:
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", 0, ssl=self._ssl)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self.url = f"http{'s' if self._ssl else ''}://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def count(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(asked == path for asked, _ in self.requests)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                path = head[0].split(" ")[1]
                headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in head[1:] if line)}
                self.requests.append((path, headers))
                reply = self.pages.get(path, http(b"nothing here", "404 Not Found"))
                if isinstance(reply, bytes):
                    writer.write(reply)
                    await writer.drain()
                else:
                    await reply(writer, headers)
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()


def streaming(start: bytes, piece: bytes, pause: float = 0.0) -> Reply:
    """A reply that never ends."""

    async def send(writer: asyncio.StreamWriter, headers: Mapping[str, str]) -> None:
        writer.write(start)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return send


class Names(AbstractResolver):
    """Gives the addresses it was told, the next ones at each look-up; fails with `error` otherwise."""

    def __init__(self, *answers: list[str], error: OSError | None = None) -> None:
        self._answers = answers
        self._error = error or socket.gaierror(socket.EAI_NONAME, "no such name")
        self.calls = 0

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[Any]:
        found = self._answers[min(self.calls, len(self._answers) - 1)] if self._answers else []
        self.calls += 1
        if not found:
            raise self._error
        return [
            {
                "hostname": host,
                "host": address,
                "port": port,
                "family": socket.AF_INET6 if ":" in address else socket.AF_INET,
                "proto": 0,
                "flags": socket.AI_NUMERICHOST,
            }
            for address in found
        ]

    async def close(self) -> None:
        pass


QUICK = {
    "allow_private": True,
    "robots": False,
    "workers": 2,
    "fetch_timeout": 2.0,
    "connect_timeout": 1.0,
    "parse_timeout": 5.0,
}


@asynccontextmanager
async def open_engine(names: AbstractResolver | None = None, **changes: Any) -> AsyncIterator[Engine]:
    """An engine with short times that may fetch from loopback."""
    metrics = changes.pop("metrics", None)
    settings = ServiceSettings(QUICK | changes)
    async with (
        ImageStore(f"memory://{uuid4().hex}", 60) as images,
        Engine(settings, images, names=names, metrics=metrics) as engine,
    ):
        yield engine


async def ask(engine: Engine, operation: str, subject: Any, **changes: Any) -> Result:
    """Make one call; the operation's parameters and the call's own arguments by name."""
    declared = OPERATIONS[operation]
    given = {item.name: item.default for item in declared.settings if not item.local}
    given |= {declared.subject: subject}
    given |= {name: changes.pop(name) for name in list(changes) if name in given}
    call: dict[str, Any] = {"account": 1, "upload_bytes": UPLOAD, "premium": True, "base_url": BASE}
    return await engine.compute(declared, given, **(call | changes))


def one(operation: str, reply: Reply, path: str = "/", **settings: Any) -> Result:
    """The result of one call for a page or image that the server sends."""

    async def main() -> Result:
        async with Evil({path: reply}) as site, open_engine(**settings) as engine:
            return await ask(
                engine,
                operation,
                site.url + path,
                **({"outputFormat": "png"} if operation == "convert" else {}),
            )

    return asyncio.run(main())
