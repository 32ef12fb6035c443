"""What an address answers and what is made of it: each behaviour a real server on this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.effort import BUSY_SECONDS
from tests.made_up_site import tables_of
from webanalytics.audits.requests.link_checker import check
from webanalytics.fetching import Fetcher, FetchSettings
from webanalytics.fetching.testing import crawl_site
from webanalytics.runs.frames.link_table import CHECKED
from webanalytics.runs.frames.schema import frame_of

Answer = Callable[[str], Awaitable[bytes | None] | bytes | None]


class Servers:
    """One server on a loopback port for each behaviour: a function from the method to what is sent."""

    def __init__(self, robots: bytes = b"") -> None:
        self.asked: list[str] = []
        self.now = self.most = 0
        self.robots = robots
        self._servers: list[asyncio.Server] = []

    async def __aenter__(self) -> Servers:
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()

    async def add(self, answer: Answer) -> str:
        async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while True:
                    head = (await reader.readuntil(b"\r\n\r\n")).decode()
                    method, path, _ = head.split("\r\n")[0].split(" ")
                    if path == "/robots.txt":
                        writer.write(http(200 if self.robots else 404, body=self.robots))
                        continue
                    self.asked.append(method)
                    self.now += 1
                    self.most = max(self.most, self.now)
                    try:
                        sent = answer(method)
                        if isinstance(sent, Awaitable):
                            sent = await sent
                    finally:
                        self.now -= 1
                    if sent is None:
                        break
                    writer.write(sent)
                    await writer.drain()
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(connection, "127.0.0.1", 0)
        self._servers.append(server)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def http(status: int, head: str = "", body: bytes = b"", length: int | None = None) -> bytes:
    count = len(body) if length is None else length
    return f"HTTP/1.1 {status} X\r\nContent-Length: {count}\r\n{head}\r\n".encode() + body


def always(status: int, head: str = "") -> Answer:
    return lambda method: http(status, head)


def to_head(status: int, get: int = 200) -> Answer:
    """A server that denies HEAD."""
    return lambda method: http(
        status if method == "HEAD" else get, body=b"" if method == "HEAD" else b"hello"
    )


def hangs_up_at_head(method: str) -> bytes | None:
    return None if method == "HEAD" else http(200, body=b"hello")


def sends_a_body_to_head(method: str) -> bytes:
    return http(200, body=b"<p>hello")


async def hangs(method: str) -> None:
    await asyncio.sleep(BUSY_SECONDS)


def talks_nonsense(method: str) -> bytes:
    return b"hello there\r\n\r\n"


CASES: dict[str, tuple[Answer, str, int | None, list[str]]] = {
    "200": (always(200), "ok", 200, ["HEAD"]),
    "204": (always(204), "ok", 204, ["HEAD"]),
    "404": (always(404), "gone", 404, ["HEAD", "GET"]),
    "410": (always(410), "gone", 410, ["HEAD", "GET"]),
    "401": (always(401), "refused", 401, ["HEAD", "GET"]),
    "403": (always(403), "refused", 403, ["HEAD", "GET"]),
    "429": (always(429), "refused", 429, ["HEAD"]),
    "451": (always(451), "refused", 451, ["HEAD", "GET"]),
    "999": (always(999), "refused", 999, ["HEAD", "GET"]),
    "a challenge": (always(503, "cf-mitigated: challenge\r\n"), "refused", 503, ["HEAD", "GET"]),
    "400": (always(400), "failed", 400, ["HEAD", "GET"]),
    "500": (always(500), "failed", 500, ["HEAD", "GET"]),
    "503": (always(503), "failed", 503, ["HEAD", "GET"]),
    "405 to HEAD": (to_head(405), "ok", 200, ["HEAD", "GET"]),
    "501 to HEAD": (to_head(501), "ok", 200, ["HEAD", "GET"]),
    "403 to HEAD": (to_head(403), "ok", 200, ["HEAD", "GET"]),
    "404 to HEAD": (to_head(404), "ok", 200, ["HEAD", "GET"]),
    "500 to HEAD": (to_head(500), "ok", 200, ["HEAD", "GET"]),
    "hangs up at HEAD": (hangs_up_at_head, "ok", 200, ["HEAD", "GET"]),
    "sends a body to HEAD": (sends_a_body_to_head, "ok", 200, ["HEAD", "GET"]),
    "hangs up": (lambda method: None, "failed", None, ["HEAD", "GET"]),
    "talks nonsense": (talks_nonsense, "failed", None, ["HEAD", "GET"]),
    "hangs": (hangs, "blocked", None, ["HEAD", "GET"]),
    "redirects to itself": (
        always(302, "Location: /there\r\n"),
        "failed",
        302,
        ["HEAD", "GET"],
    ),
    "redirects nowhere": (always(301), "failed", 301, ["HEAD", "GET"]),
    "is neither HTML nor text": (
        lambda method: http(200, "Content-Type: application/zip\r\n"),
        "ok",
        200,
        ["HEAD"],
    ),
    "cannot be decoded": (
        lambda method: http(405 if method == "HEAD" else 200, "Content-Encoding: rot13\r\n"),
        "ok",
        200,
        ["HEAD", "GET"],
    ),
}


def settings(**changes: Any) -> FetchSettings:
    values = {"allow_private": True, "robots": False, "timeout": 1.0, "retries": 0, "backoff": 0.01}
    return FetchSettings(**{**values, **changes})


def checked(answer: Answer, count: int = 1, robots: bytes = b"", **changes: Any) -> tuple[Any, Servers]:
    async def main() -> Any:
        async with Servers(robots) as servers, Fetcher(settings(**changes)) as fetcher:
            origin = await servers.add(answer)
            return await check(fetcher, {f"{origin}/{n}": "external" for n in range(count)}), servers

    return asyncio.run(main())


@pytest.mark.parametrize("case", CASES)
def test_each_behaviour(case: str) -> None:
    answer, verdict, status, methods = CASES[case]
    (row,), servers = checked(answer, timeout=0.5 if case == "hangs" else BUSY_SECONDS)
    assert (row["verdict"], row["http_status"]) == (verdict, status)
    assert list(dict.fromkeys(servers.asked)) == methods  # a broken connection is tried again
    assert row["method"] == methods[-1]
    assert row.keys() == CHECKED.keys()
    assert (row["error"] is None) == (verdict == "ok") == (row["error_type"] is None)


def test_what_cannot_be_reached() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        refused = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        targets = {refused: "external", "http://10.0.0.1/": "external", "http://[": "image"}

        async def main() -> Any:
            async with Fetcher(settings()) as open_to_all, Fetcher(settings(allow_private=False)) as guarded:
                first = await check(open_to_all, {refused: "external"})
                return first + await check(guarded, {url: targets[url] for url in list(targets)[1:]})

        rows = asyncio.run(main())
    assert [(row["verdict"], row["error_type"]) for row in rows] == [
        ("failed", "connection"),
        ("failed", "blocked"),
        ("failed", "invalid"),
    ]


def test_robots_txt_is_obeyed_elsewhere_too() -> None:
    (row,), servers = checked_robots()
    assert (row["verdict"], row["error_type"], servers.asked) == ("blocked", "robots", [])


def checked_robots() -> Any:
    async def main() -> Any:
        async with (
            Servers(b"User-agent: *\nDisallow: /") as servers,
            Fetcher(settings(robots=True)) as fetcher,
        ):
            origin = await servers.add(always(200))
            return await check(fetcher, {f"{origin}/a": "external"}), servers

    return asyncio.run(main())


def test_a_body_is_hardly_read() -> None:
    sent = 0

    async def endless(method: str) -> bytes:
        nonlocal sent
        sent += 1
        return http(405) if method == "HEAD" else http(200, length=10**9, body=b"x" * 100_000)

    (row,), _ = checked(endless, timeout=BUSY_SECONDS)
    assert (row["verdict"], sent) == ("ok", 2)


def test_two_at_once_of_one_host_elsewhere() -> None:
    async def slow(method: str) -> bytes:
        await asyncio.sleep(0.02)
        return http(200)

    rows, servers = checked(slow, count=12, timeout=BUSY_SECONDS)
    assert [row["url"].rpartition("/")[2] for row in rows] == [str(n) for n in range(12)]
    assert (servers.most, len(servers.asked)) == (2, 12)


def test_the_made_up_site() -> None:
    with crawl_site(slow=0.0) as site:

        async def main() -> Any:
            targets = {row["url"]: row["kind"] for row in tables_of(site).checked}
            async with Fetcher(settings(timeout=BUSY_SECONDS, robots=True)) as fetcher:
                return await check(fetcher, targets)

        rows = asyncio.run(main())
        names = ("url", "kind", "verdict", "http_status", "method")
        found = {row["url"]: tuple(row[name] for name in names) for row in rows}
        wanted = {row["url"]: tuple(row[name] for name in names) for row in tables_of(site).checked}
        closed = next(row["url"] for row in tables_of(site).checked if row["http_status"] is None)
        wanted[closed] = (*wanted[closed][:4], "HEAD")
        assert found == wanted
        assert frame_of(CHECKED, rows).dtypes["http_status"] == "Int64"


def test_what_was_begun_ends_with_the_caller() -> None:
    async def main() -> int:
        async with Servers() as servers, Fetcher(settings(timeout=BUSY_SECONDS)) as fetcher:
            origin = await servers.add(hangs)
            task = asyncio.create_task(check(fetcher, {f"{origin}/{n}": "image" for n in range(5)}))
            while not servers.asked:  # noqa: ASYNC110 - a list of the test's own server
                await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return len(asyncio.all_tasks())

    assert asyncio.run(main()) <= 7  # this one, and the connections of the server
