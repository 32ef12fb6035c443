"""One HTTP connection: its headers must arrive in time, and every answer on it is an envelope.

aiohttp's protocol does the parsing. By itself it waits for headers indefinitely, answers malformed requests
in plain text and names its version: that is changed here.
"""

from __future__ import annotations

import asyncio
import ipaddress
from contextlib import suppress
from functools import lru_cache
from typing import Any, Protocol

import orjson
from aiohttp import http_exceptions, web
from aiohttp.streams import StreamReader
from aiohttp.web_protocol import RequestHandler

from webanalytics.service.headers import caller_request_id, new_request_id
from webanalytics.service.logs import describe
from webanalytics.service.results import Record, failure
from webanalytics.service.settings import read_address

SERVER = "webanalytics"
"""What the header ``Server`` says: neither software nor version."""

LINGER_SECONDS = 2.0
"""Seconds for a client to read the last answer before its connection is closed."""

LINGER_BYTES = 1_000_000
"""Most bytes dropped from a refused client that keeps sending."""

UNREAD_SECONDS = 5.0
"""How long the rest of a refused body is read: most clients send all of it before they read the answer."""

SENT = "sent"
"""Under this key a request may hold a function to call when its answer has been received."""

TAKEN_BYTES = 1_000_000
TAKEN_SECONDS = 0.02

MOST_LINGERING = 256
"""Most refused connections answered at the same time; further ones are closed without an answer."""

RETRY_SECONDS = 5

CROWDED = (
    "The service has as many connections from this address as it takes; close some and repeat the request."
)
FULL = "The service has as many connections as it takes; repeat the request."
FAILED = "The service failed; repeat the request later with the same parameters."
MALFORMED = "The request must be well-formed HTTP."
# The parser's own messages quote the request, which may hold a key.
SENTENCES: dict[type[BaseException], str] = {
    http_exceptions.BadHttpMethod: "The request line must start with a method of HTTP.",
    http_exceptions.BadStatusLine: "The request line must be a method, a path and a version of HTTP.",
    http_exceptions.ContentLengthError: "The `Content-Length` header must be the length of the body.",
    http_exceptions.InvalidHeader: "The headers of the request must be well-formed.",
    http_exceptions.InvalidURLError: "The path of the request must be a well-formed URL.",
    http_exceptions.LineTooLong: "The request line and the headers must be shorter.",
    http_exceptions.TransferEncodingError: "The chunks of the request body must be well-formed.",
}


def late(seconds: float) -> str:
    """Return the message about headers that took too long."""
    return f"The request headers did not arrive within {seconds:g} seconds."


def error_headers(request_id: str, caller_id: str | None = None) -> dict[str, str]:
    """Return the headers of an envelope that is answered without the application."""
    return {
        "Access-Control-Allow-Origin": "*",
        "Content-Type": "application/json; charset=utf-8",
        "X-Content-Type-Options": "nosniff",
        "x-edge-request-id": request_id,
        "X-Request-ID": caller_request_id(caller_id, request_id),
    }


def last_answer(request: web.BaseRequest, status: int, sentence: str, request_id: str) -> web.Response:
    """Return the envelope of a failure after which the connection must close."""
    headers = error_headers(request_id, request.headers.get("X-Request-ID"))
    response = web.Response(status=status, body=orjson.dumps(failure(sentence)), headers=headers)
    response.force_close()
    return response


def raw_answer(status: int, reason: str, sentence: str, request_id: str, **headers: str) -> bytes:
    """Return a complete answer in bytes, for a connection on which no request was read."""
    body = orjson.dumps(failure(sentence))
    fields = {**error_headers(request_id), **headers, "Content-Length": str(len(body))}
    fields |= {"Server": SERVER, "Connection": "close"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} {reason}\r\n{lines}\r\n".encode("ascii") + body


@lru_cache(maxsize=4096)
def counted_as(address: str) -> str:
    """Return the key by which an address is counted: itself, or the /64 network of an IPv6 host.

    >>> counted_as("::ffff:192.0.2.1"), counted_as("2001:db8::1:2:3:4")
    ('192.0.2.1', '2001:db8::/64')
    """
    found = read_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)


class Host(Protocol):
    """What a connection needs from its server."""

    lingering: int
    most_lingering: int
    read_timeout: float
    stopping: bool

    def is_proxy(self, address: str) -> bool:
        """Return whether an address is that of a trusted proxy."""

    def has_room(self) -> bool:
        """Return whether a further connection is taken; an idle one may be closed for it."""

    def count(self, address: str) -> bool:
        """Count a connection, or return False when the address has as many as it may."""

    def uncount(self, address: str) -> None:
        """Forget a connection that was counted."""

    def report(self, record: Record, error: str = "") -> None:
        """Hand on the record of a request that was answered here."""


class Connection(RequestHandler):
    """One connection."""

    __slots__ = (
        "_body",
        "_busy",
        "_deaf",
        "_dropped",
        "_gone",
        "_heard",
        "_refused",
        "_since",
        "_stalled",
        "_timer",
        "counted",
        "server",
    )

    def __init__(self, server: Any, **options: Any) -> None:
        super().__init__(server, lingering_time=UNREAD_SECONDS, **options)
        self.server: Host = server
        self.counted: str | None = None  # what the connection is counted as
        self._refused = False
        self._deaf = False  # whether what arrives is dropped
        self._body: StreamReader | None = None  # of the request read last
        self._busy = False  # whether a request is being answered
        self._heard = False  # whether a part of further headers has arrived
        self._timer: asyncio.TimerHandle | None = None  # runs while headers are waited for
        self._since = 0.0  # when that began
        self._stalled: asyncio.TimerHandle | None = None  # runs while the client takes no answer
        self._dropped = 0
        self._gone: asyncio.Event | None = None  # set when a connection is lost whose end is waited for

    @property
    def idle(self) -> bool:
        """Whether no request is in progress or has begun to arrive."""
        return not (self._busy or self._heard or self._arrives)

    @property
    def _arrives(self) -> bool:
        """Whether a part of a body is still to come."""
        return self._body is not None and not self._body.is_eof()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection; refuse it when its address has too many."""
        peer = transport.get_extra_info("peername")
        address = peer[0] if isinstance(peer, tuple) else None
        if address is not None and not self.server.is_proxy(address):
            self.counted = counted_as(address)
            if not self.server.count(self.counted):
                self.counted = None
                self._refuse(transport, CROWDED)
                return
        if not self.server.has_room():
            self._refuse(transport, FULL)
            return
        super().connection_made(transport)
        self._wait_for_headers()

    def _refuse(self, transport: Any, sentence: str) -> None:
        self._refused = self._deaf = True
        self.transport = transport
        request_id = new_request_id()
        self.server.report(Record(request_id, status=503), "connections")
        if self.server.lingering >= self.server.most_lingering:
            transport.abort()
            return
        again = {"retry-after": str(RETRY_SECONDS)}
        transport.write(raw_answer(503, "Service Unavailable", sentence, request_id, **again))
        transport.write_eof()
        # Closing at once would reset the connection, and with it the answer, if a request is on its way.
        self.server.lingering += 1
        self._timer = asyncio.get_running_loop().call_later(LINGER_SECONDS, transport.abort)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Release what the connection held."""
        if self._timer is not None:
            self.server.lingering -= self._refused
            self._timer.cancel()
            self._timer = None
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        if self.counted is not None:
            self.server.uncount(self.counted)
            self.counted = None
        if self._gone is not None:
            self._gone.set()
        if not self._refused:
            super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Limit the time of a client that does not read its answer."""
        super().pause_writing()
        if self.transport is not None:
            loop = asyncio.get_running_loop()
            self._stalled = loop.call_later(self.server.read_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        """Note that the client is reading again."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def data_received(self, data: bytes) -> None:
        """Feed the parser, and keep watch over the time that headers take."""
        if self._deaf:
            self._dropped += len(data)
            if self._dropped > LINGER_BYTES and self.transport is not None:
                self.transport.abort()
            return
        try:
            super().data_received(data)
        except Exception:  # aiohttp's parser lets errors of the URL's own parser through (3.13)
            self._end(MALFORMED, "malformed")
            return
        if data and not self._arrives and not self._heard:
            self._heard = True
            if self._body is not None:  # the time of the first headers runs since the connection was made
                self._wait_for_headers()

    def _wait_for_headers(self) -> None:
        loop = asyncio.get_running_loop()
        self._since = loop.time()
        if self._timer is None and not self._busy:
            self._timer = loop.call_later(self.server.read_timeout, self._look_at_headers)

    def begin(self, request: web.BaseRequest) -> None:
        """Note that the headers of a request are complete."""
        self._busy, self._heard, self._body = True, False, request.content

    def _look_at_headers(self) -> None:
        """End a connection whose headers are late; the timer is not set anew for each request."""
        self._timer = None
        loop = asyncio.get_running_loop()
        left = self._since + self.server.read_timeout - loop.time()
        if self._heard and left > 0:
            self._timer = loop.call_later(left, self._look_at_headers)
        elif self._heard and not self._busy:
            self._end(late(self.server.read_timeout), "headers")
        elif self._body is None:  # nothing was ever asked
            self.force_close()

    def _end(self, sentence: str, error: str) -> None:
        """Answer what cannot become a request, and close."""
        if self._busy:
            self.close()  # after the answer to what was complete
            return
        if self.transport is not None:
            request_id = new_request_id()
            self.transport.write(raw_answer(400, "Bad Request", sentence, request_id))
            self.server.report(Record(request_id, status=400), error)
        self.force_close()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002 - it quotes the request
    ) -> web.StreamResponse:
        """Return the envelope for a malformed request, or for a handler that failed."""
        self.begin(request)
        record = Record(new_request_id(), status=500 if status >= 500 else 400)
        if status >= 500:
            record.notes.update(describe(exc) if exc is not None else {"error": "timeout"})
            sentence = FAILED
        else:
            record.notes["error"] = "malformed"
            self._deaf = True
            kinds = type(exc).__mro__ if exc is not None else ()
            sentence = next((SENTENCES[kind] for kind in kinds if kind in SENTENCES), MALFORMED)
        self.server.report(record)
        if request.writer.output_size > 0:
            raise ConnectionError("a part of another answer is sent already")
        return last_answer(request, record.status, sentence, record.request_id)

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send the answer, and wait for the next request unless it is the last one."""
        resp.headers["Server"] = SERVER
        # What is refused unread is not read on to keep the connection, and no protocol is changed to.
        unread = not request.content.is_eof() or "Upgrade" in request.headers
        if unread or resp.keep_alive is False or self.server.stopping:
            resp.force_close()
            resp.headers["Connection"] = "close"
        sent = request.get(SENT)
        try:
            finished = await super().finish_response(request, resp, start_time)
            if sent is not None:
                await self._taken()
            if self._deaf:
                await self._linger()
        finally:
            if sent is not None:
                sent()
            self._busy = False
        if self._heard:
            self._wait_for_headers()
        return finished

    async def _taken(self) -> None:
        """Wait until the client has received nearly all of an answer, or is disconnected."""
        while (transport := self.transport) is not None and not transport.is_closing():
            if transport.get_write_buffer_size() < TAKEN_BYTES:
                return
            await asyncio.sleep(TAKEN_SECONDS)

    async def _linger(self) -> None:
        """Wait for an answer to be read: closed with bytes on their way, the connection would be reset."""
        if self.transport is not None:
            self.transport.write_eof()
            self._gone = asyncio.Event()
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_SECONDS):
                    await self._gone.wait()
