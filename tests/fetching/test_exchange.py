"""One exchange at the edges of its limits: no time left, and interim answers over one connection."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from yarl import URL

from tests.effort import BUSY_SECONDS
from webanalytics.fetching.exchange import Wanted, exchange, resolver
from webanalytics.fetching.response import Problem
from webanalytics.fetching.session import INTERIM_RESPONSES, open_session


async def never(path: str, headers: Any) -> bytes:
    await asyncio.Event().wait()
    return b""


def test_an_exchange_without_time_left_ends_at_once(server: Any, settings: Any) -> None:
    async def main() -> None:
        names = resolver()
        async with server(never) as site, open_session(settings(), names) as session:
            async with asyncio.timeout(BUSY_SECONDS):
                with pytest.raises(Problem, match="timeout"):
                    await exchange(session, URL(site.url), Wanted("page", 1000), settings(), 0.0)
        await names.close()

    asyncio.run(main())


def test_interim_answers_are_counted_for_each_request_of_a_connection(open_site: Any, answer: Any) -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\n\r\n" * INTERIM_RESPONSES

    async def main() -> None:
        async with open_site(lambda path, headers: hints + answer()) as (site, fetcher):
            found = [await fetcher.fetch(f"{site.url}/{number}") for number in range(3)]
            assert [response.http_status for response in found] == [200, 200, 200]

    asyncio.run(main())


def test_headers_are_written_as_they_were_sent(open_site: Any) -> None:
    """And as an archive has them: libraries write the names that they know in their own way."""
    names = ["ETag", "content-language", "X-MiXed", "WWW-Authenticate"]
    head = "".join(f"{name}: caf\xe9\r\n" for name in names) + "Set-Cookie: a=b\r\nset-cookie: c=d\r\n"

    async def main() -> None:
        sent = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1\r\n{head}\r\nx".encode()
        async with open_site(lambda path, headers: sent) as (site, fetcher):
            response = await fetcher.fetch(site.url)
            sent_names = ["Content-Type", "Content-Length", *names]
            assert [name for name, _ in response.headers.items()] == sent_names
            assert response.headers["etag"] == "caf\xe9"

    asyncio.run(main())
