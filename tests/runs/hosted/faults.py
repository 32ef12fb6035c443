"""What the proxy does to a request, as values: connections cut, waits, answers made up."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from aiohttp import web

REQUEST_ID = "6e2fb6a0-3c57-4c1e-a6f2-9a4a3a0d8f11"
"""The `x-edge-request-id` and `X-Request-ID` of answers that the proxy makes up."""

TICK = 0.02


class Exchange(Protocol):
    """One request on the proxy, and the way back to the client that made it."""

    @property
    def request(self) -> web.BaseRequest: ...

    async def apply(self, fault: Fault | None) -> None:
        """Do what the fault says, or pass the request on."""

    async def forward(self) -> Answer:
        """Ask the service."""

    def leave_for(self, seconds: float) -> None:
        """Refuse all connections for a time."""


class CutError(Exception):
    """Ends the client's connection: by RST, or by FIN after all that was written."""

    def __init__(self, reset: bool = True) -> None:
        self.reset = reset


@dataclass(frozen=True)
class Fault:
    """What is done with a request instead of passing it on and its answer back."""

    async def act(self, exchange: Exchange) -> None:
        raise NotImplementedError


@dataclass(frozen=True)
class Cut(Fault):
    """The connection is cut at a moment."""

    moment: str

    async def act(self, exchange: Exchange) -> None:
        if self.moment in ("after", "half body"):
            answer = await exchange.forward()
            if self.moment == "half body":
                stream = await answer.begin(exchange)
                await stream.write(answer.body[: len(answer.body) // 2])
                raise CutError(reset=False)
        raise CutError


@dataclass(frozen=True)
class Delay(Fault):
    """The request waits before it is passed on, or before the next fault."""

    seconds: float
    then: Fault | None = None

    async def act(self, exchange: Exchange) -> None:
        await asyncio.sleep(self.seconds)
        await exchange.apply(self.then)


@dataclass(frozen=True)
class SlowAnswer(Fault):
    """The real answer's body comes a little at a time."""

    bytes_per_second: float | None
    seconds: float | None

    async def act(self, exchange: Exchange) -> None:
        answer = await exchange.forward()
        body, sent = answer.body, 0
        stream = await answer.begin(exchange)
        total = self.seconds if self.seconds is not None else len(body) / (self.bytes_per_second or 1.0)
        start = time.monotonic()
        while sent < len(body):
            await asyncio.sleep(min(TICK, total))
            share = (time.monotonic() - start) / total if total else 1.0
            due = min(len(body), int(len(body) * share))
            await stream.write(body[sent:due])
            sent = due
        await stream.write_eof()


@dataclass(frozen=True)
class Answer(Fault):
    """An answer: the service's own, or one made up without asking it."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = field(default=b"", repr=False)

    async def begin(self, exchange: Exchange) -> web.StreamResponse:
        stream = web.StreamResponse(status=self.status, headers=dict(self.headers))
        if "Content-Length" not in stream.headers and self.status not in (204, 304):
            stream.content_length = len(self.body)
        await stream.prepare(exchange.request)
        return stream

    async def act(self, exchange: Exchange) -> None:
        stream = await self.begin(exchange)
        await stream.write_eof(b"" if exchange.request.method == "HEAD" else self.body)


@dataclass(frozen=True)
class Endless(Fault):
    """An answer whose body goes on until the client leaves."""

    piece: int
    pause: float

    async def act(self, exchange: Exchange) -> None:
        stream = web.StreamResponse(headers={"Content-Type": "application/json"})
        stream.enable_chunked_encoding()
        await stream.prepare(exchange.request)
        await stream.write(b'{"status":"ok","data":"')
        while True:
            await stream.write(b"x" * self.piece)
            await asyncio.sleep(self.pause)


@dataclass(frozen=True)
class Away(Fault):
    """The server goes away at this request, and comes back after a time."""

    seconds: float

    async def act(self, exchange: Exchange) -> None:
        exchange.leave_for(self.seconds)
        raise CutError


def cut_before() -> Fault:
    """The connection is reset before the request is passed on: nothing is charged."""
    return Cut("before")


def cut_after() -> Fault:
    """The service answers, and the connection is reset before a byte of it comes back: charged, and lost."""
    return Cut("after")


def half_body() -> Fault:
    """The real answer's headers with its whole length, half of its body, then the end of the connection."""
    return Cut("half body")


def half_request() -> Fault:
    """The connection is reset when half of the request's body has been read.

    A body of unknown length counts as half read after its first chunk. Rules and `delay` read requests
    whole, so from those this cuts after the last byte.
    """
    return Cut("half request")


def delay(seconds: float, then: Fault | None = None) -> Fault:
    """The request waits, then it is passed on (also where the client has gone) or meets the next fault."""
    return Delay(seconds, then)


def slow_answer(bytes_per_second: float | None = None, *, seconds: float | None = None) -> Fault:
    """The real answer's body trickles, at a rate or over so many seconds altogether."""
    assert (bytes_per_second is None) != (seconds is None), "give the rate or the seconds"
    return SlowAnswer(bytes_per_second, seconds)


def endless(piece: int = 65536, pause: float = 0.001) -> Fault:
    """A status 200 with a chunked JSON string that never ends."""
    return Endless(piece, pause)


def away(seconds: float) -> Fault:
    """The request's and all other connections are reset, new ones refused for the seconds."""
    return Away(seconds)


def status(code: int, error: str, headers: Mapping[str, str] | None = None) -> Fault:
    """A failure in the JSON envelope, with the headers by which support finds it."""
    given = {"x-edge-request-id": REQUEST_ID, "X-Request-ID": REQUEST_ID, **(headers or {})}
    return json_of({"status": "error", "error": error, "data": None}, code, given)


def server_failure() -> Fault:
    return status(500, "The server failed.")


def unavailable(retry_after: float | str | None = None) -> Fault:
    return status(503, "The source is unavailable.", _retry(retry_after))


def rate_limited(retry_after: float | str | None = 1, remaining: int | None = 100) -> Fault:
    """A 429 that waiting cures; None leaves a header out."""
    headers = {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0"}
    headers["X-RateLimit-Reset"] = str(int(time.time()) + 1)
    if remaining is not None:
        headers["x-api-remaining-credits"] = str(remaining)
    return status(429, "Too many requests in this minute.", headers | _retry(retry_after))


def out_of_credits() -> Fault:
    """A 429 that no waiting cures."""
    return status(429, "No credits are left.", {"x-api-remaining-credits": "0"})


def not_found() -> Fault:
    return status(404, "There is no such endpoint.")


def html_403() -> Fault:
    """What the edge answers to a key that is not shaped like one."""
    headers = (("Content-Type", "text/html; charset=utf-8"), ("x-edge-request-id", REQUEST_ID))
    return Answer(403, headers, b"<!doctype html><title>403 Forbidden</title><h1>Forbidden</h1>")


def wrong_json(body: bytes = b'{"status": "ok", "data": {"hmac": "0a1') -> Fault:
    """A status 200 that says it is JSON, and is not."""
    return Answer(200, (("Content-Type", "application/json"), ("x-edge-request-id", REQUEST_ID)), body)


def json_of(value: Any, code: int = 200, headers: Mapping[str, str] | None = None) -> Fault:
    """Any JSON value as the body."""
    given = {"Content-Type": "application/json", "x-edge-request-id": REQUEST_ID, **(headers or {})}
    return Answer(code, tuple(given.items()), json.dumps(value).encode())


def redirect(location: str, code: int = 302) -> Fault:
    return Answer(code, (("Location", location), ("x-edge-request-id", REQUEST_ID)))


def _retry(after: float | str | None) -> dict[str, str]:
    return {} if after is None else {"retry-after": str(after)}
