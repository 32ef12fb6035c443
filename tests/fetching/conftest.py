"""Servers on loopback, well-behaved and not, and a door that records what would be dialled."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver

from webanalytics.fetching import Fetcher, FetchError, FetchSettings, Response, guard


class Server:
    """A raw server: `answer(path, headers)` gives the bytes to send, or writes them by itself."""

    def __init__(self, answer: Callable[..., Any], ssl: Any = None) -> None:
        self.answer = answer
        self.ssl = ssl
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.starts: list[float] = []
        self.now = 0
        self.most = 0

    async def __aenter__(self) -> Server:
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", 0, ssl=self.ssl)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http{'s' if self.ssl else ''}://127.0.0.1:{self.port}"
        self._tasks: set[asyncio.Task[None]] = set()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.requests]

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
                self.starts.append(asyncio.get_running_loop().time())
                self.now += 1
                self.most = max(self.most, self.now)
                try:
                    answer = self.answer(path, headers)
                    if isinstance(answer, Awaitable):
                        answer = await answer
                    if callable(answer):
                        answer = await answer(writer)
                finally:
                    self.now -= 1
                if answer is None:
                    break
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the streams' callback logs a cancelled handler as an error
        finally:
            self._tasks.discard(task)
            writer.close()


def http(
    body: bytes = b"<title>ok</title>",
    status: str = "200 OK",
    type: str | None = "text/html",  # noqa: A002
    **headers: Any,
) -> bytes:
    """An HTTP answer; underscores in header names become hyphens."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    if type is not None:
        lines.append(f"Content-Type: {type}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode("utf-8") + b"\r\n\r\n" + body


@pytest.fixture(scope="session")
def answer() -> Callable[..., bytes]:
    """Build an HTTP answer."""
    return http


@pytest.fixture(scope="session")
def server() -> type[Server]:
    """The raw server's class."""
    return Server


def quick(**changes: Any) -> FetchSettings:
    """Settings for loopback, with short times."""
    values = {
        "allow_private": True,
        "robots": False,
        "timeout": 20.0,
        "connect_timeout": 10.0,
        "backoff": 0.01,
    }
    return FetchSettings(**(values | changes))


@pytest.fixture(scope="session")
def settings() -> Callable[..., FetchSettings]:
    """Build settings for loopback."""
    return quick


@pytest.fixture(scope="session")
def one() -> Callable[..., Response | FetchError]:
    """Fetch one path of a raw server that answers as told; an error is returned, not raised."""

    def fetch(answering: Any, path: str = "/", accept: Any = "page", **changes: Any) -> Response | FetchError:
        async def main() -> Response | FetchError:
            respond = answering if callable(answering) else lambda path, headers: answering
            async with Server(respond) as site, Fetcher(quick(**changes)) as fetcher:
                try:
                    return await fetcher.fetch(site.url + path, accept=accept)
                except FetchError as error:
                    return error

        return asyncio.run(main())

    return fetch


class Names(AbstractResolver):
    """Gives the answers it was told, the next one at each look-up; knows nothing else."""

    def __init__(self, answers: list[list[str]]) -> None:
        self.answers = answers
        self.calls = 0

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[Any]:
        found = self.answers[min(self.calls, len(self.answers) - 1)] if self.answers else []
        self.calls += 1
        if not found:
            raise OSError(None, "Domain name not found")
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


class Door:
    """Stands where sockets are opened: notes the address, and connects to a server of ours instead."""

    OWN = "93.184.215.99"

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.dialled: list[str] = []
        self.target: tuple[str, int] = ("127.0.0.1", 9)
        monkeypatch.setattr(guard, "open_socket", self._open)
        monkeypatch.setattr(guard, "is_own", lambda family, address: address == self.OWN)

    def _open(self, family: int, kind: int, protocol: int, address: tuple[Any, ...]) -> socket.socket:
        ipaddress.ip_address(address[0])
        self.dialled.append(address[0])
        target = self.target

        class Diverted(socket.socket):
            def connect(self, _: object) -> None:
                super().connect(target)

        # asyncio's loop looks the address up again for AF_INET6 only when it is not numeric.
        opened = Diverted(socket.AF_INET, kind, protocol)
        opened.setblocking(False)
        return opened

    def visit(self, url: str, dns: list[list[str]], respond: Any, **changes: Any) -> Response | FetchError:
        """Fetch a URL with guards up; every dial ends at a server that answers as told."""

        async def main() -> Response | FetchError:
            values = {"allow_private": False} | changes
            async with Server(respond) as site:
                self.target = ("127.0.0.1", site.port)
                async with Fetcher(quick(**values), names=Names(dns)) as fetcher:
                    try:
                        return await fetcher.fetch(url)
                    except FetchError as error:
                        return error

        return asyncio.run(main())


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Door:
    """Record the addresses that would be dialled."""
    return Door(monkeypatch)


@asynccontextmanager
async def _open_site(respond: Any, **changes: Any) -> AsyncIterator[tuple[Server, Fetcher]]:
    async with Server(respond) as site, Fetcher(quick(**changes)) as fetcher:
        yield site, fetcher


@pytest.fixture(scope="session")
def open_site() -> Callable[..., Any]:
    """A raw server and a fetcher, both open."""
    return _open_site
