"""What a fetch returns or raises: a `Response`, or a `FetchError` that becomes a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from multidict import CIMultiDict

from webanalytics.errors import RowError


@dataclass(frozen=True, slots=True)
class Response:
    """A page as it was received."""

    url: str  # URL as submitted
    final_url: str  # URL that responded, in the form in which it was requested (ASCII, no fragment)
    redirects: tuple[str, ...]  # URLs passed through before `final_url`
    http_status: int  # status of the last response, 200 to 299
    content_type: str  # the Content-Type header, "" when it was missing
    # headers of the last response; names in any case, ``getall`` for repeated ones. Set-Cookie is left out.
    headers: CIMultiDict[str] = field(repr=False)
    content: bytes = field(repr=False)  # the body after decompression
    # seconds from the first connection to the end of the body, over all redirects of the last try
    elapsed: float
    redirect_kinds: tuple[str, ...] = ()  # the status of each redirect, such as "301"


MOST_HEADERS = 100
"""Headers of an answer that are kept."""
LONGEST_HEADER = 2_000
"""Characters of a header that are kept."""
MOST_HEADER_TEXT = 16_000
"""Characters of all headers that are kept."""


def header_block(headers: Iterable[tuple[str, str]]) -> str:
    r"""Return headers as lines of one text, bounded; Set-Cookie is left out.

    Examples
    --------
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

    Examples
    --------
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
