"""Requests without a session: what they send, which connections they keep, and what they clean up."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest
from yarl import URL

from tests.effort import BUSY_SECONDS
from webanalytics.fetching.connections import Connections
from webanalytics.fetching.content import ACCEPTED
from webanalytics.fetching.exchange import resolver
from webanalytics.fetching.guard import check_url

ACCEPT = "text/html,*/*;q=0.1"


async def bodies_of(connections: Connections, *urls: str, seconds: float = BUSY_SECONDS) -> list[bytes]:
    """Fetch one after the other."""
    bodies = []
    for url in urls:
        answer = await connections.request("GET", URL(url), ACCEPT, seconds)
        try:
            bodies.append(await answer.body.read())
        finally:
            answer.release()
    return bodies


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
@pytest.mark.parametrize(
    "place", ["", "/", "/a b/ü?q=ä&r=%2F+1", "/a%20b?", "/%2e%2E/x#top", "/a:b@c;d=[e]|f"]
)
def test_a_request_has_the_bytes_that_a_session_sends(
    settings: Any, method: Any, name: str, place: str
) -> None:
    heads: list[bytes] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        writer.close()

    async def main() -> None:
        names = resolver()
        headers = {"User-Agent": settings().user_agent, "Accept-Encoding": ACCEPTED}
        server = await asyncio.start_server(note, name.strip("[]"), 0)
        async with (
            server,
            Connections(settings(), names) as ours,
            aiohttp.ClientSession(headers=headers) as session,
        ):
            port = server.sockets[0].getsockname()[1]
            url = check_url(f"http://{name}:{port}{place}", allow_private=True)
            (await ours.request(method, url, ACCEPT, BUSY_SECONDS)).release()
            async with session.request(method, url, headers={"Accept": ACCEPT}):
                pass
        await names.close()

    asyncio.run(main())
    assert heads[0] == heads[1]


@pytest.mark.parametrize("target", ["/a\r\nX-Other: 1", "/a b", "/ü", "/a\x00"])
def test_a_target_that_is_not_encoded_is_not_sent(
    server: Any, settings: Any, answer: Any, target: str
) -> None:
    async def main() -> list[str]:
        names = resolver()
        async with (
            server(lambda path, headers: answer()) as site,
            Connections(settings(), names) as connections,
        ):
            with pytest.raises(aiohttp.InvalidURL):
                await connections.request("GET", URL(site.url + target, encoded=True), ACCEPT, BUSY_SECONDS)
        await names.close()
        return site.paths

    assert asyncio.run(main()) == []


def test_a_kept_connection_that_was_closed_is_replaced(server: Any, settings: Any, answer: Any) -> None:
    """The server hears of the second request after it has closed the connection."""
    connections_seen: list[Any] = []

    async def main() -> list[bytes]:
        async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connections_seen.append(writer)
            first = len(connections_seen) == 1
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer(b"first" if first else b"second"))
            if first:
                await reader.readuntil(b"\r\n\r\n")
            writer.close()

        names = resolver()
        site = await asyncio.start_server(once, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{site.sockets[0].getsockname()[1]}/"
        async with site, Connections(settings(), names) as connections:
            found = await bodies_of(connections, url, url)
        await names.close()
        return found

    assert asyncio.run(main()) == [b"first", b"second"]
    assert len(connections_seen) == 2


def test_an_answer_that_nobody_asked_for_is_given_to_no_other_request(
    server: Any, settings: Any, answer: Any
) -> None:
    def twice(path: str, headers: Any) -> bytes:
        return answer(path.encode()) + answer(b"nobody asked")

    async def main() -> list[bytes]:
        names = resolver()
        async with server(twice) as site, Connections(settings(), names) as connections:
            found = await bodies_of(connections, *(f"{site.url}/{number}" for number in range(3)))
        await names.close()
        return found

    assert asyncio.run(main()) == [b"/0", b"/1", b"/2"]


def test_a_body_that_is_left_closes_its_connection(settings: Any) -> None:
    async def main() -> bytes:
        rest: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegin")
            rest.set_result(await reader.read())  # until the connection is closed
            writer.close()

        names = resolver()
        site = await asyncio.start_server(endless, "127.0.0.1", 0)
        url = URL(f"http://127.0.0.1:{site.sockets[0].getsockname()[1]}/")
        async with site, Connections(settings(), names) as connections:
            (await connections.request("GET", url, ACCEPT, BUSY_SECONDS)).release()
            found = await asyncio.wait_for(rest, BUSY_SECONDS)
        await names.close()
        return found

    assert asyncio.run(main()) == b""


def test_the_time_of_a_request_holds_for_its_body_too(server: Any, settings: Any) -> None:
    async def half(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegin")
        await asyncio.Event().wait()

    async def main() -> None:
        names = resolver()
        async with (
            server(lambda path, headers: half) as site,
            Connections(settings(), names) as connections,
            asyncio.timeout(BUSY_SECONDS),
        ):
            with pytest.raises(TimeoutError):
                await bodies_of(connections, site.url, seconds=1.0)
        await names.close()

    asyncio.run(main())


def test_the_time_ends_with_the_body(server: Any, settings: Any, answer: Any) -> None:
    """What takes a body may take long over it, such as a sitemap's parser."""

    async def main() -> bool:
        names = resolver()
        async with (
            server(lambda path, headers: answer(b"whole")) as site,
            Connections(settings(), names) as connections,
        ):
            found = await connections.request("GET", URL(site.url), ACCEPT, BUSY_SECONDS)
            await found.body.wait_eof()
            ended = found.limit.cancelled()
            found.release()
        await names.close()
        return ended

    assert asyncio.run(main())


def test_nothing_is_dialled_after_the_end(server: Any, settings: Any, answer: Any) -> None:
    async def main() -> list[str]:
        names = resolver()
        async with server(lambda path, headers: answer()) as site:
            async with Connections(settings(), names) as connections:
                await bodies_of(connections, site.url)
            with pytest.raises(aiohttp.ClientConnectionError):
                await bodies_of(connections, site.url)
        await names.close()
        return site.paths

    assert asyncio.run(main()) == ["/"]
