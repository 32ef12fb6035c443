"""What a recorder is told of each fetch: its requests and answers as they were sent, and how it ended.

`Fetcher` keeps this only where it has a recorder; `webanalytics.fetching.archives` writes it to a file.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from aiohttp import ClientResponse

_SENT = ("host", "user-agent", "accept", "accept-encoding")
"""Headers of requests that are recorded: none that might identify a person or open a door."""
_COOKIES = (b"set-cookie", b"set-cookie2")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run asked for: an input as it was given, and its number in the run."""

    subject: str
    number: int = 0


@dataclass(slots=True)
class Exchange:
    """One request and its answer."""

    url: str  # the address that was requested
    started: datetime = field(default_factory=lambda: datetime.now(UTC))  # when, in UTC
    request: list[tuple[str, str]] = field(default_factory=list)
    method: str = "GET"
    status: int | None = None  # status of the answer, None where none came
    status_line: bytes = b""  # its first line
    # its headers as they were sent, Set-Cookie left out
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    # as much of its body as was read, without transfer encoding and not decompressed
    body: bytearray = field(default_factory=bytearray)
    whole: bool = False  # whether that is all of it

    def answered(self, response: ClientResponse) -> None:
        """Take the head of the answer."""
        from aiohttp import HttpVersion11

        sent, version = response.request_info, response.version or HttpVersion11
        self.method = sent.method
        self.request = [(name, value) for name, value in sent.headers.items() if name.lower() in _SENT]
        self.status = response.status
        line = f"HTTP/{version.major}.{version.minor} {response.status} {response.reason or ''}".rstrip()
        self.status_line = line.encode("utf-8", "surrogateescape")
        self.headers = [pair for pair in response.raw_headers if pair[0].lower() not in _COOKIES]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchEnd:
    """How a fetch ended: the address it reached, the way there, and the key of the message of what failed."""

    final_url: str | None = None
    redirects: tuple[str, ...] = ()
    redirect_kinds: tuple[str, ...] = ()
    http_status: int | None = None
    elapsed: float | None = None
    size: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class FetchLog(FetchEnd):
    """A fetch that has ended."""

    # whether it was an input of the run, the robots.txt of an origin, or what a browser made of the former
    purpose: Literal["page", "robots", "rendered"]
    asked: Asked  # what was asked for
    exchanges: tuple[Exchange, ...] = ()  # those of its last try, in order
    values: Mapping[str, Any] = field(default_factory=dict)  # what the message of ``error`` shows
    rendered: bytes = b""  # HTML

    def end(self) -> dict[str, Any]:
        """Return the fields of `FetchEnd` by name."""
        return {item.name: getattr(self, item.name) for item in fields(FetchEnd)}


Recorder = Callable[[FetchLog], Awaitable[None]]
"""Takes what is known of a fetch when it has ended."""
