"""HTTP/1.1 as a browser speaks it to a proxy: requests in, answers out, each as a whole."""

from __future__ import annotations

import asyncio
import base64
import http.client
from collections.abc import Iterable
from typing import NamedTuple

from multidict import CIMultiDict

LEFT_OUT = frozenset(
    (
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te"),
        *("trailer", "transfer-encoding", "upgrade", "host", "content-length", "user-agent", "expect"),
        *("alt-svc", "nel", "report-to", "reporting-endpoints", "strict-transport-security"),
    )
)
"""Headers of one connection (RFC 9110 section 7.6.1), of our own making, or that lead a browser elsewhere."""
HEAD_BYTES, BODY_BYTES = 65_536, 1_000_000


class Asked(NamedTuple):
    """A request; its body is None where it is too long or of unknown length."""

    method: str
    target: str
    headers: CIMultiDict[str]
    body: bytes | None

    @property
    def password(self) -> str:
        """What the browser says who it is."""
        text = self.headers.get("Proxy-Authorization", "").removeprefix("Basic ")
        try:
            return base64.b64decode(text).decode().partition(":")[2]
        except ValueError:
            return ""


async def read_head(reader: asyncio.StreamReader) -> Asked | None:
    """Return the next request, None at the end and for one that is none."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        return None
    pairs = (line.partition(":") for line in lines if line)
    headers = CIMultiDict((name.strip(), value.strip()) for name, _, value in pairs)
    length = headers.get("Content-Length", "0")
    if "Transfer-Encoding" in headers or not length.isdigit() or int(length) > BODY_BYTES:
        return Asked(method, target, headers, None)
    return Asked(method, target, headers, await reader.readexactly(int(length)))


def passed_on(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers that one side may be told of the other's."""
    return [(name, value) for name, value in headers if name.lower() not in LEFT_OUT]


def answer(
    status: int, headers: Iterable[tuple[str, str]], body: bytes = b"", *, bodiless: bool = False
) -> bytes:
    r"""Return an answer as it is sent.

    Examples
    --------
    >>> answer(200, [("Vary", "*")], b"tea")
    b'HTTP/1.1 200 OK\r\nVary: *\r\nContent-Length: 3\r\n\r\ntea'
    """
    size = [] if status in (204, 304) else [("Content-Length", str(len(body)))]
    lines = (f"{name}: {value}\r\n" for name, value in (*headers, *size))
    head = f"HTTP/1.1 {status} {http.client.responses.get(status, '')}\r\n{''.join(lines)}\r\n"
    return head.encode("latin-1", "replace") + (b"" if bodiless else body)
