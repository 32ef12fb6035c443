"""A request and the answer to it, as `connection` receives and sends them."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.helpers import rfc822_formatted_time
from aiohttp.http import HttpVersion10, HttpVersion11

from webanalytics.service.results import failure

SERVER = "webanalytics"


class Request(web.BaseRequest):
    """A request whose answer hides the server's software and announces the end of the connection."""

    async def _prepare_hook(self, response: web.StreamResponse) -> None:
        response.headers["Server"] = SERVER
        if self.protocol.server.stopping:  # type: ignore[attr-defined]
            response.force_close()
            response.headers["Connection"] = "close"


class Reply(web.StreamResponse):
    """An answer that is whole when it is made, and sent in one piece.

    aiohttp's own response may also be compressed, chunked, of unknown length or changed until it is sent,
    and looks for each of these: that takes longer than to sign a message.

    Parameters
    ----------
    status : int
        HTTP status: one that has a body (RFC 9110 section 6.4.1).
    content : bytes
        The body.
    headers : Mapping
        The headers, without those that describe the connection and the length.
    last : bool
        Whether the connection must close after it.
    """

    def __init__(
        self, status: int, content: bytes, headers: Mapping[str, str], *, last: bool = False
    ) -> None:
        super().__init__(status=status, headers=headers)
        self.content = content
        self.last = last
        self._stays: bool | None = None

    @property
    def keep_alive(self) -> bool | None:
        """Whether the connection stays open; None before it is known."""
        return self._stays

    def force_close(self) -> None:
        """Have the connection closed after this answer."""
        self._stays = False

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        """Complete the headers; they leave with the body."""
        headers, version = self.headers, request.version
        headers["Content-Length"] = str(len(self.content))
        headers["Date"] = rfc822_formatted_time()
        await request._prepare_hook(self)
        if self._stays is None:
            self._stays = request.keep_alive
        if "Connection" not in headers:
            if self._stays and version == HttpVersion10:
                headers["Connection"] = "keep-alive"
            elif not self._stays and version == HttpVersion11:
                headers["Connection"] = "close"
        if request.method == "HEAD":
            self.content = b""
        status_line = f"HTTP/{version[0]}.{version[1]} {self.status} {self.reason}"
        writer = self._writer = request.writer
        await writer.write_headers(status_line, headers)
        return writer

    async def write_eof(self, data: bytes = b"") -> None:  # noqa: ARG002 - nothing follows the body
        """Send headers and body."""
        await self._writer.write_eof(self.content)


def last_reply(status: int, sentence: str, headers: Mapping[str, str]) -> Reply:
    """Return the envelope of a failure after which the connection must close."""
    return Reply(status, orjson.dumps(failure(sentence)), headers, last=True)
