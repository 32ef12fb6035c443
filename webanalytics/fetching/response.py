"""What a fetch returns, or raises to become a row, and what a recorder is told of it.

Refusals in place of pages are known here: challenges and blocks of content networks, walls that ask to log in
or consent. `Fetcher` looks at each answer of an audit, so that the pace of a host follows from it; audits of
saved pages look too. The rules are data, each with its source and its day: ``data/refusals.csv``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import unquote

from multidict import CIMultiDict

from webanalytics.errors import RowError
from webanalytics.urls import address, registrable_domain

if TYPE_CHECKING:
    from aiohttp import ClientResponse

    from webanalytics.core.outcomes import Certificate


@dataclass(frozen=True, slots=True)
class Response:
    """A page as it was received."""

    url: str  # URL as submitted
    final_url: str  # URL that responded, in the form in which it was requested (ASCII, no fragment)
    redirects: tuple[str, ...]  # URLs passed through before `final_url`
    http_status: int  # status of the last response, 200 to 299
    content_type: str  # the Content-Type header, "" or that of a text when it was missing
    # headers of the last response; names in any case, ``getall`` for repeated ones. Set-Cookie is left out.
    headers: CIMultiDict[str] = field(repr=False)
    content: bytes = field(repr=False)  # the body after decompression
    # seconds from the first connection to the end of the body, over all redirects of the last try
    elapsed: float
    redirect_kinds: tuple[str, ...] = ()  # the status of each redirect, such as "301"
    steps: tuple[float, ...] = ()  # the seconds of each answer of the last try, of which `elapsed` is the sum
    certificate: Certificate | None = None  # that of the server, where it was asked over TLS
    is_private: bool = False  # whether its address is private, or a proxy's to judge


MOST_HEADERS = 100
"""Headers of an answer that are kept."""
LONGEST_HEADER = 2_000
"""Characters of a header that are kept."""
MOST_HEADER_TEXT = 16_000
"""Characters of all headers that are kept."""


def header_block(headers: Iterable[tuple[str, str]]) -> str:
    r"""Return headers as lines of one text, bounded; Set-Cookie is left out.

    >>> header_block([("Server", "nginx"), ("Set-Cookie", "id=1"), ("Vary", "Accept")])
    'Server: nginx\nVary: Accept'
    """
    lines: list[str] = []
    room = MOST_HEADER_TEXT
    for name, value in islice(headers, MOST_HEADERS):
        line = f"{name}: {' '.join(value.split())}"[:LONGEST_HEADER]
        room -= len(line) + 1
        if room < 0:
            break
        if name.lower() not in ("set-cookie", "set-cookie2"):
            lines.append(line)
    return "\n".join(lines)


def header_lines(block: str) -> list[tuple[str, str]]:
    r"""Return the headers of a block of lines; a status line and other lines without a name are left out.

    >>> header_lines("HTTP/1.1 200 OK\r\nX-Robots-Tag: noindex\r\n")
    [('X-Robots-Tag', 'noindex')]
    """
    parts = (line.partition(":") for line in block[:MOST_HEADER_TEXT].splitlines()[:MOST_HEADERS])
    stripped = ((name.strip(), value.strip()) for name, colon, value in parts if colon)
    return [(name, value) for name, value in stripped if " " not in name]


class FetchError(RowError):
    """A fetch that gave no page; see `webanalytics.errors.RowError`."""

    def __init__(
        self,
        key: str,  # which sentence of `webanalytics.core.messages` says so
        values: Mapping[str, Any],  # what the sentence shows
        *,
        http_status: int | None = None,  # status of the last response; None when there was none
        final_url: str = "",  # the URL that the fetch had reached, "" when the first one was refused
        redirects: tuple[str, ...] = (),  # URLs passed through before `final_url`
        elapsed: float = 0.0,  # seconds on the network in the last try
        # size of the part of the body that was received, after decompression
        bytes: int = 0,  # noqa: A002 - the name of the column
        redirect_kinds: tuple[str, ...] = (),  # the status of each redirect
        # headers of the last response, without Set-Cookie; None when there was none
        headers: CIMultiDict[str] | None = None,
        content: bytes | str | None = None,  # the page that came with an HTTP error, where it was asked for
    ) -> None:
        super().__init__(key, **values)
        self.short = ""  # what this machine had too little of, "" where the failure is the page's own
        self.http_status = http_status
        self.final_url = final_url
        self.redirects = redirects
        self.elapsed = elapsed
        self.bytes = bytes
        self.redirect_kinds = redirect_kinds
        self.headers = headers
        self.content = content

    def __reduce__(self) -> tuple[Any, ...]:
        # The third part is laid over __dict__: the keyword-only attributes survive pickling.
        return type(self), (self.key, self.message.values), dict(self.__dict__)


class Problem(Exception):  # noqa: N818 - it never reaches a user
    """What went wrong, by its key, before `Fetcher` turns it into a `FetchError`.

    It knows neither the parameter's name nor the redirects: only the caller does.
    """

    def __init__(
        self,
        key: str,
        *,
        http_status: int | None = None,
        received: int = 0,
        again: bool = False,
        retry_after: float | None = None,
        **details: Any,
    ) -> None:
        super().__init__(key)
        self.key = key
        self.http_status = http_status
        self.received = received
        self.again = again
        self.retry_after = retry_after
        self.details = details
        self.headers: CIMultiDict[str] | None = None
        self.content: bytes | None = None
        self.short = ""
        self.challenged = False

    def once(self) -> Problem:
        """Return a fresh copy that is not tried again; for a problem kept and raised many times."""
        return Problem(self.key, http_status=self.http_status, **self.details)


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
    certificate: Certificate | None = None


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


LOOKED_AT = 1_000_000
"""Bytes of a page that are looked at: a challenge may stand behind a long script."""
MOST_LINKS = 10
"""Links of a page in place of another one: a page with more is one of the site."""

_FIELD = re.compile(
    rb"<(?:textarea|select|input(?![^<>]{0,300}\btype\s{0,9}=\s{0,9}[\"']?(?:hidden|submit|button|checkbox|image)))\b"
)
"""What forms have that a challenge guards, and challenges do not."""
PASSWORD = re.compile(rb"<input[^<>]{0,300}\btype\s{0,9}=\s{0,9}[\"']?password")
_HIDDEN = re.compile(rb"<(script|style|svg|template)\b.*?(?:</\1\b|\Z)", re.DOTALL)
_TAG = re.compile(rb"<[^<>]*>?")
_WAY_BACK = re.compile(
    r"[?&](next|return|return_?to|return_?url|redirect|redirect_?to|redirect_?ur[il]|continue|destination|dest"
    r"|from|goto|session_?redirect|rd|url|service|ref|target|origin|state|samlrequest)=",
    re.IGNORECASE,
)


class Sign(NamedTuple):
    """By what an answer of some kind is known: a header and its value, texts of the page, or an address.

    Of each part of the markers the page has one, in small letters, and at most so many visible characters:
    one with more speaks of challenges, and so does one that shows the name of a script. Pages with fields of
    forms are others, unless `has_fields`. The address is one where redirects led.
    """

    who: str
    kind: str
    header: tuple[str, str] | None
    markers: tuple[tuple[bytes, ...], ...]
    address: re.Pattern[str] | None
    characters: int
    has_fields: bool


@cache
def signs() -> tuple[Sign, ...]:
    """Return the rules, those of headers first."""
    text = resources.files("webanalytics.fetching").joinpath("data/refusals.csv").read_text("utf-8")
    return tuple(sorted(map(_sign, csv.DictReader(io.StringIO(text))), key=lambda sign: sign.header is None))


def _sign(row: Mapping[str, str]) -> Sign:
    name, _, value = row["header"].partition(": ")
    parts = row["markers"].split(" && ") if row["markers"] else []
    return Sign(
        row["who"],
        row["kind"],
        (name, value) if name else None,
        tuple(tuple(part.encode().decode("unicode_escape").encode().split(b"|")) for part in parts),
        re.compile(row["address"], re.IGNORECASE) if row["address"] else None,
        int(row["characters"] or 0),
        bool(row["fields"]),
    )


def refusal(
    status: int, headers: Mapping[str, str], content: bytes, hops: Sequence[str] = (), final: str = ""
) -> Problem | None:
    """Return the problem with an answer that stands in place of a page, None for a page.

    `hops` are the addresses passed through before `final`, the one asked for first.

    Examples
    --------
    >>> found = refusal(403, {"cf-mitigated": "challenge"}, b"")
    >>> found.key, found.details["who"], found.details["answer"]
    ('challenge', 'Cloudflare', 'a challenge')
    >>> refusal(200, {}, b"", ["https://a.example/orders"], "https://a.example/login?next=/orders").key
    'wall'
    >>> refusal(200, {}, b"<p>How to pass Cloudflare's window._cf_chl_opt") is None
    True
    """
    body = content[:LOOKED_AT]
    is_bare = body.count(b"<a ") <= MOST_LINKS  # most pages are known by this alone
    body = body.lower() if is_bare or hops else b""
    for sign in signs():
        if sign.address is not None:
            if hops and _is_wall(sign.address, hops[0], final, body):
                return Problem("wall", http_status=status, what=sign.kind)
        elif (
            headers.get(sign.header[0], "").strip().lower() == sign.header[1]
            if sign.header
            else is_bare and _says(sign, body)
        ):
            return Problem("challenge", http_status=status, who=sign.who, answer=sign.kind, status=status)
    return None


def _says(sign: Sign, body: bytes) -> bool:
    """Return whether a page has all the texts of a rule, and not much else to show."""
    if not all(any(text in body for text in part) for part in sign.markers):
        return False
    shown = b" ".join(_TAG.sub(b" ", _HIDDEN.sub(b" <", body)).split())
    is_quoted = any(b"_" in text and text in shown for text in sign.markers[0])
    is_short = len(shown.decode("utf-8", "replace")) <= sign.characters
    return is_short and not is_quoted and (sign.has_fields or not _FIELD.search(body))


def _is_wall(wall: re.Pattern[str], asked: str, final: str, body: bytes) -> bool:
    """Return whether a redirect led to a wall: one that knows where to go back, or asks for a password."""
    before, after = (re.split("[?#]", url, maxsplit=1)[0] for url in (asked, final))
    if not wall.search(after) or wall.search(before):
        return False
    one, other = (found.host if (found := address(url)) else "" for url in (asked, final))
    elsewhere = registrable_domain(one) != registrable_domain(other)
    return elsewhere or bool(_WAY_BACK.search(unquote(final))) or bool(PASSWORD.search(body))
