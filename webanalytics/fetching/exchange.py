"""One HTTP exchange: a request, its response read within limits, its failure named by a key.

`Fetcher` makes one for each redirect and retry of a fetch.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from multidict import CIMultiDict
from yarl import URL

from webanalytics.core.messages import REFUSALS
from webanalytics.errors import shortage_of
from webanalytics.fetching.content import Accept, DecodingError, Method, check_body, check_type, decoder_for
from webanalytics.fetching.guard import dialled_by_proxy, is_public, refusals
from webanalytics.fetching.pace import FetchSettings, retry_after
from webanalytics.fetching.response import Exchange, Problem
from webanalytics.fetching.tls import certificate_of, fault_of

if TYPE_CHECKING:
    import aiohttp
    from aiohttp.abc import AbstractResolver

    from webanalytics.core.outcomes import Certificate

REDIRECTS = frozenset((301, 302, 303, 307, 308))
RETRIED = frozenset((429, 503))
_PIECE = 4_096
CONTROL = "example.com"
"""A host that exists (RFC 2606 section 3): looked up where another one cannot be."""
ERROR_BYTES = 500_000
"""Bytes of a page sent with an HTTP error that are read: its title and links are what is looked for."""
ERROR_SECONDS = 10.0
"""Seconds that such a page may take, at most half of the time that is left: its status is known already."""


class Sink(Protocol):
    """Takes a body as it arrives, after decompression."""

    async def write(self, data: bytes) -> None:
        """Take some bytes, or raise `Problem` to hear no more."""


class Wanted(NamedTuple):
    """What is requested: a kind of content, of at most `max_bytes` after decompression.

    With `cut`, the first `max_bytes` of a longer body are taken rather than none of it. With `error_pages`
    so are the first `ERROR_BYTES` of a page that comes with an HTTP error. With `sink`, the body
    goes to what that makes of the address that answers, and is not kept. With `refusals`, what stands in
    place of a page is a failure; without, it is an answer as any other.
    """

    accept: Accept
    max_bytes: int
    cut: bool = False
    method: Method = "GET"
    error_pages: bool = False
    sink: Callable[[str], Sink] | None = None
    refusals: bool = False


class RawResponse(NamedTuple):
    """A response to one request: a redirect (`location` is set) or a body."""

    status: int
    headers: CIMultiDict[str]
    content: bytes = b""
    location: str | None = None
    certificate: Certificate | None = None
    is_private: bool = False  # whether its address is private, or a proxy's to judge


def resolver() -> AbstractResolver:
    """Return the resolver of c-ares where it works, the system's otherwise.

    The system's resolver needs a thread for each look-up; a handful of slow names would hold up
    all others.
    """
    import aiohttp

    try:
        return aiohttp.AsyncResolver()
    except Exception:  # not installed, or not for this kind of event loop
        return aiohttp.ThreadedResolver()


async def exchange(
    session: aiohttp.ClientSession,
    url: URL,
    wanted: Wanted,
    settings: FetchSettings,
    seconds: float,
    log: Exchange | None = None,
) -> RawResponse:
    """Return the response to one request for a checked URL within some seconds, or raise `Problem`.

    What is received is written to the log too, if there is one.
    """
    from webanalytics.fetching.session import request

    way = settings.way(url)
    received = _Count(log, seconds, way is not None)
    refused: list[str] = []
    token, exempt = refusals.set(refused), dialled_by_proxy.set(way is not None)
    try:
        async with request(session, wanted.method, url, wanted.accept, settings, seconds, way) as response:
            received.status = response.status
            if response.status == 401 and settings.access is not None:
                lines, had = response.headers.getall("WWW-Authenticate", ()), response.request_info.headers
                sent = had.get("Authorization", "")
                received.challenged = settings.access.challenged(str(url), lines, sent)
                received.opened = bool(sent) or "Cookie" in had
            answer = await _read(response, url, wanted, received)
            shown, address = getattr(response, "peer", (None, ""))
            certificate = certificate_of(shown if url.scheme == "https" else None)  # not a proxy's
            private = way is not None or (address != "" and not is_public(address))  # lost, it is not known
            return answer._replace(certificate=certificate, is_private=private)
    except Problem as problem:
        problem.http_status = problem.http_status or received.status
        problem.received = received.size
        problem.challenged = received.challenged
        if received.opened and problem.key == "status":
            problem.key = "not_accepted"
        raise
    except Exception as error:
        raise _named(error, refused, settings, received) from None
    finally:
        refusals.reset(token)
        dialled_by_proxy.reset(exempt)


class _Count:
    """What had been received when something went wrong."""

    __slots__ = ("challenged", "log", "opened", "proxied", "seconds", "size", "status")

    def __init__(self, log: Exchange | None, seconds: float, proxied: bool = False) -> None:
        self.proxied = proxied
        self.challenged = self.opened = False
        self.log = log
        self.seconds = seconds
        self.size = 0
        self.status: int | None = None


async def _read(response: aiohttp.ClientResponse, url: URL, wanted: Wanted, received: _Count) -> RawResponse:
    status, headers = response.status, _kept(response.raw_headers)
    if received.log is not None:
        received.log.answered(response)
    if status in REDIRECTS:
        return RawResponse(status, headers, location=response.headers.get("Location", ""))
    if status == 407 and received.proxied:
        raise Problem("proxy_auth")
    if not 200 <= status <= 299:
        wait = retry_after(response.headers.get("Retry-After")) if status in RETRIED | REFUSALS else None
        problem = Problem("status", again=status in RETRIED, retry_after=wait, status=status)
        problem.headers = headers
        if wanted.error_pages:
            problem.content = await _error_page(response, headers, wanted, received)
        raise problem
    if wanted.method == "HEAD":
        return RawResponse(status, headers)
    content_type = headers.get("Content-Type", "")
    check_type(content_type, wanted.accept)
    if wanted.sink is not None:
        await _pour(response, wanted, wanted.sink(str(url)), received)
        return RawResponse(status, headers)
    content = await _body(response, wanted, received)
    check_body(content, content_type, wanted.accept)
    return RawResponse(status, headers, content)


async def _error_page(
    response: aiohttp.ClientResponse, headers: CIMultiDict[str], wanted: Wanted, received: _Count
) -> bytes | None:
    """Return the page that comes with an HTTP error, None if there is none or it cannot be read."""
    from aiohttp import ClientError

    content_type = headers.get("Content-Type", "")
    try:
        check_type(content_type, wanted.accept)
        async with asyncio.timeout(min(received.seconds / 2, ERROR_SECONDS)):
            content = await _body(response, Wanted(wanted.accept, ERROR_BYTES, cut=True), received)
        check_body(content, content_type, wanted.accept)
    except (Problem, DecodingError, ClientError, TimeoutError, OSError):
        received.size = 0
        if received.log is not None:
            received.log.body.clear()
        return None
    received.size = len(content)
    return content or None


def _too_large(limit: int) -> Problem:
    return Problem("too_large", limit=f"{limit:,}")


async def _body(response: aiohttp.ClientResponse, wanted: Wanted, received: _Count) -> bytes:
    decoder = decoder_for(response.headers.getall("Content-Encoding", ()))
    limit = wanted.max_bytes
    if (response.content_length or 0) > limit and not wanted.cut:
        raise _too_large(limit)
    body = bytearray()
    raw = 0
    while chunk := await response.content.readany():
        raw += len(chunk)
        if received.log is not None:
            received.log.body += chunk
        body += decoder.feed(chunk, limit + 1 - len(body))
        received.size = len(body)
        # What is compressed is counted too: a stream may go on without ever giving a byte.
        if len(body) > limit or raw > limit + 65_536:
            if wanted.cut:
                return bytes(body[:limit])
            raise _too_large(limit)
    if not decoder.complete:
        raise Problem("interrupted", again=True)
    if received.log is not None:
        received.log.whole = True
    return bytes(body)


async def _pour(response: aiohttp.ClientResponse, wanted: Wanted, sink: Sink, received: _Count) -> None:
    """Hand the body over in small pieces: each may become a thousand times as large."""
    decoder = decoder_for(response.headers.getall("Content-Encoding", ()))
    if (response.content_length or 0) > wanted.max_bytes:
        raise _too_large(wanted.max_bytes)
    raw = 0
    async for chunk in response.content.iter_any():
        raw += len(chunk)
        for start in range(0, len(chunk), _PIECE):
            piece = decoder.feed(chunk[start : start + _PIECE], wanted.max_bytes + 1 - received.size)
            received.size += len(piece)
            if received.size > wanted.max_bytes or raw > wanted.max_bytes + 65_536:
                raise _too_large(wanted.max_bytes)
            if piece:
                await sink.write(piece)
    if not decoder.complete:
        raise Problem("interrupted", again=True)


def _kept(sent: Iterable[tuple[bytes, bytes]]) -> CIMultiDict[str]:
    """Return the headers of an answer as they were sent, without cookies and with values that are text."""
    pairs = ((name.decode("utf-8", "replace"), value.decode("utf-8", "replace")) for name, value in sent)
    return CIMultiDict(pair for pair in pairs if pair[0].lower() != "set-cookie")


_Kind = tuple[type[Exception] | tuple[type[Exception], ...], str, bool]


@cache
def _errors() -> tuple[_Kind, ...]:
    """Return what errors are, of which the first fits; the last column says whether to try again."""
    import aiohttp

    return (
        (aiohttp.ConnectionTimeoutError, "connect_timeout", False),
        (TimeoutError, "timeout", False),
        (DecodingError, "encoding", False),
        ((aiohttp.ClientConnectorCertificateError, ssl.CertificateError), "certificate", False),
        ((aiohttp.ClientSSLError, ssl.SSLError), "handshake", False),
        (aiohttp.ClientConnectorDNSError, "lookup_failed", False),
        (aiohttp.ClientConnectorError, "refused", False),
        ((aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError), "interrupted", True),
        ((aiohttp.InvalidURL, UnicodeError), "invalid_url", False),
        (aiohttp.ClientResponseError, "protocol", False),
        (OSError, "interrupted", True),
    )


def _named(error: Exception, refused: list[str], settings: FetchSettings, received: _Count) -> Problem:
    """Return the problem for an exception of aiohttp or the system."""
    from aiohttp import ClientHttpProxyError

    if isinstance(error.__cause__, ssl.SSLError):  # of a connection through SOCKS
        error = error.__cause__
    key, again = next(
        ((key, again) for kinds, key, again in _errors() if isinstance(error, kinds)), ("protocol", False)
    )
    details: dict[str, Any] = {}
    if received.proxied and key in ("refused", "lookup_failed"):
        return Problem("proxy_unreachable")
    if isinstance(error, ClientHttpProxyError):
        refuses = error.status == 407
        return Problem("proxy_auth") if refuses else Problem("proxy_failed", reason=f"HTTP {error.status}")
    if type(error).__module__.startswith("aiohttp_socks."):
        return _of_socks(error)
    if key == "refused":
        if refused:
            key = "private"
        elif _errno(error) == errno.ETIMEDOUT:
            key = "connect_timeout"
        elif _errno(error) == errno.ECONNRESET:
            key, again = "interrupted", True
    elif key == "lookup_failed" and _unknown(error):
        key = "unknown_host"
    if key == "connect_timeout":
        details["seconds"] = f"{settings.connect_timeout:g}"
    elif key == "timeout":
        details["seconds"] = f"{settings.timeout:g}"
    elif key == "certificate":
        found = getattr(error, "certificate_error", error)
        details["reason"] = fault_of(getattr(found, "verify_code", 0), getattr(found, "verify_message", ""))
    problem = Problem(key, http_status=received.status, received=received.size, again=again, **details)
    problem.short = shortage_of(error)
    return problem


def _of_socks(error: Exception) -> Problem:
    if not hasattr(error, "error_code"):
        return Problem("proxy_unreachable")
    if "uthentication" in str(error):  # the library tells it by its words alone
        return Problem("proxy_auth")
    return Problem("proxy_failed", reason=f"SOCKS {error.error_code}")


def _errno(error: Exception) -> int | None:
    return getattr(error, "errno", None) or getattr(getattr(error, "os_error", None), "errno", None)


async def names_answer(names: AbstractResolver) -> bool:
    """Return whether the name server answers: whether a host that exists can be looked up."""
    try:
        await names.resolve(CONTROL, 443)
    except OSError as error:
        return _unknown(error)
    return True


def _unknown(error: BaseException | None) -> bool:
    """Return whether a look-up failed because there is no such name, not because no answer came."""
    while error is not None:
        if isinstance(error, socket.gaierror):
            return error.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
        if type(error).__name__ == "DNSError":
            return bool(error.args) and error.args[0] in (_ARES_NODATA, _ARES_NOTFOUND)
        error = error.__cause__ or getattr(error, "os_error", None)
    return False


# c-ares (ares.h): no data for this kind of record, no such name.
_ARES_NODATA, _ARES_NOTFOUND = 1, 4
