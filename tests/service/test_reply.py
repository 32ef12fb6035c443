"""What `Reply` sends is, byte for byte, what aiohttp's own response sends."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from aiohttp import web

from tests.effort import BUSY_SECONDS
from webanalytics.service.config.settings import ServiceSettings
from webanalytics.service.server.reply import Reply
from webanalytics.service.server.serve import bind
from webanalytics.service.server.transport import start

HEADERS = {"Content-Type": "application/json; charset=utf-8", "x-edge-request-id": "1", "x-text": "é"}
DATE = re.compile(rb"\r\nDate: [A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT")


def request(version: str = "1.1", method: str = "POST", *headers: str, length: int = 0) -> bytes:
    """Return the bytes of a request without a body."""
    lines = [f"{method} / HTTP/{version}", "Host: localhost", f"Content-Length: {length}", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


LAST = request("1.1", "POST", "Connection: close")


def sent(
    reply: bool, *requests: bytes, status: int = 200, body: bytes = b"{}", stopping: bool = False, **more: str
) -> bytes:
    """Return all that a connection gets for its requests."""

    async def handle(_: web.BaseRequest) -> web.StreamResponse:
        headers = {**HEADERS, **more}
        if reply:
            return Reply(status, body, headers)
        return web.Response(status=status, body=body, headers=headers)

    async def main() -> bytes:
        with bind("127.0.0.1", 0) as sock:
            listener = await start(handle, ServiceSettings(), sock, on_error=lambda _: None)
            listener.server.stopping = stopping
            reader, writer = await asyncio.open_connection(*sock.getsockname())
            writer.write(b"".join(requests))
            async with asyncio.timeout(BUSY_SECONDS):
                content = await reader.read()
            writer.close()
            await listener.stop(0)
            return content

    return asyncio.run(main())


CASES: dict[str, tuple[tuple[bytes, ...], dict[str, Any]]] = {
    "kept open, then closed": ((request(), LAST), {}),
    "HTTP/1.0": ((request("1.0"),), {}),
    "HTTP/1.0 kept open": ((request("1.0", "POST", "Connection: keep-alive"), LAST), {}),
    "HEAD": ((request("1.1", "HEAD"), LAST), {}),
    "failure": ((LAST,), {"status": 404}),
    "status without a name": ((LAST,), {"status": 599}),
    "empty": ((request(), LAST), {"body": b""}),
    "larger than a socket's buffer": ((request(), LAST), {"body": b"x" * 3_000_000}),
    "the server stops": ((request(), LAST), {"stopping": True}),
    "the server stops, HTTP/1.0": ((request("1.0"),), {"stopping": True}),
    "a body that is not read": ((request(length=9),), {}),
    "HTTP/1.0 with a body that is not read": ((request("1.0", length=9),), {}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_bytes_are_those_of_aiohttp(case: str) -> None:
    requests, options = CASES[case]
    expected, got = (sent(reply, *requests, **options) for reply in (False, True))
    assert expected.count(b"HTTP/1.") == len(DATE.findall(expected)) == len(DATE.findall(got)) > 0
    assert DATE.sub(b"", got) == DATE.sub(b"", expected)


def test_a_header_cannot_begin_another() -> None:
    assert b"x-one: 1" in sent(True, LAST, **{"x-one": "1"})
    assert sent(True, LAST, **{"x-one": "1\r\nx-two: 2"}) == b""
