"""The proxy of the browser, on loopback: it answers what the run may load, and nothing else.

Encrypted connections end here, with a key that only the browser of this run trusts, and are made anew: so
what they carry is asked for like everything else, and no WebSocket gets through. Certificates of hosts are
checked by the run's own connections.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import http.client
import ssl
import tempfile
from collections.abc import Iterable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import aiohttp
from multidict import CIMultiDict

from webanalytics.core.messages import FETCHING
from webanalytics.fetching.fetcher import Fetcher
from webanalytics.fetching.guard import check_url, dialled_by_proxy, host_key, refusals
from webanalytics.fetching.pace import REFUSED
from webanalytics.fetching.rendering.visit import MOST_REQUESTS, Visit
from webanalytics.fetching.response import Problem
from webanalytics.fetching.session import through

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


METHODS = frozenset(("GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH"))
"""Methods that are passed on; the others delete, or speak to proxies."""


class Answer(NamedTuple):
    """What the browser is answered."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes = b""

    @property
    def may_be_kept(self) -> bool:
        """Whether it is a script or a style that its server lets be kept for all."""
        said = CIMultiDict(self.headers)
        kind, control = said.get("Content-Type", ""), said.get("Cache-Control", "no-store").lower()
        closed = any(word in control for word in ("no-store", "private", "no-cache")) or "Set-Cookie" in said
        varies = said.get("Vary", "accept-encoding").strip().lower() != "accept-encoding"
        return self.status == 200 and not closed and not varies and ("javascript" in kind or "css" in kind)


async def relayed(fetcher: Fetcher, asked: Asked, target: str, visit: Visit) -> Answer:
    """Return the answer to one request of a page; raises `Problem` where there is none, or may be none.

    What opens the host of the page goes to that host, and only where the page itself asks for it.
    """
    settings = fetcher.settings
    url = check_url(target, **settings.guarded)
    if asked.method not in METHODS:
        raise Problem("protocol")
    crawl_delay = 0.0
    if settings.robots:
        rules = await fetcher.rules_of(url)
        rules.check(str(url))
        crawl_delay = rules.crawl_delay
    await fetcher.check_name(url)
    way = settings.way(url)
    sent, how = CIMultiDict(passed_on(asked.headers.items())), _access(fetcher, str(url), asked, visit)
    _add(sent, how.pop("headers", {}))
    if settings.bot_key is not None:
        _add(sent, settings.bot_key.headers(url.authority))
    how |= through(way, url, sent)
    timeout = aiohttp.ClientTimeout(total=settings.timeout, connect=settings.connect_timeout)
    how |= {"headers": sent, "data": asked.body or None, "timeout": timeout, "allow_redirects": False}
    refused: list[str] = []
    token, exempt = refusals.set(refused), dialled_by_proxy.set(way is not None)
    try:
        host = host_key(url)
        async with fetcher.limits.slot(host, crawl_delay, first=True):
            began = asyncio.get_running_loop().time()
            async with fetcher.session_of(url).request(asked.method, url, **how) as response:
                busy = Problem("status", http_status=response.status) if response.status in REFUSED else None
                fetcher.limits.ended(host, began, busy)
                body = await _body(response, min(settings.max_bytes, visit.bytes_left))
                visit.bytes_left -= len(body)
                return Answer(response.status, passed_on(response.headers.items()), body)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        late = "timeout" if isinstance(error, TimeoutError) else "interrupted"
        raise Problem("private" if refused else late) from None
    finally:
        refusals.reset(token)
        dialled_by_proxy.reset(exempt)


async def _body(response: aiohttp.ClientResponse, limit: int) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > limit:
            raise Problem("too_large")
    return bytes(body)


def _add(sent: CIMultiDict[str], more: dict[str, str]) -> None:
    for name, value in more.items():
        both = name.lower() == "cookie" and name in sent
        sent[name] = f"{value}; {sent[name]}" if both else value


def _access(fetcher: Fetcher, url: str, asked: Asked, visit: Visit) -> dict[str, Any]:
    """Return how a host is opened: headers where surely its page asks, and no frame of another."""
    access = fetcher.settings.access
    if access is None or (found := access.found(url)) is None:
        return {}
    site = asked.headers.get("Sec-Fetch-Site", "none").lower()
    askers = [text for name in ("Origin", "Referer") for text in asked.headers.getall(name, ())]
    opened = (
        found is access.found(visit.url)
        and (site == "same-origin" or (bool(askers) and site in ("same-site", "none")))
        and all(access.found(f"{text}/") is found for text in askers)
    )
    how: dict[str, Any] = {"headers": access.sent(url, asked.method)} if opened else {}
    if found.tls is not None and (opened or not found.shows_certificate):
        how["ssl"] = found.tls
    return how


CACHE_BYTES = 64_000_000
"""Bytes of scripts and styles that are kept for the other pages of a run."""


def certificate() -> tuple[ssl.SSLContext, str]:
    """Return a context for connections of the browser, and the digest by which it knows its key."""
    from cryptography import x509  # an extra
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "webanalytics rendering")])
    begin, end = now - timedelta(days=1), now + timedelta(days=30)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), begin, end)
    signed = made.sign(key, hashes.SHA256()).public_bytes(form.Encoding.PEM)
    secret = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:  # which this user alone can read
        place = Path(folder, "key.pem")
        place.write_bytes(signed + secret)
        context.load_cert_chain(place)
    spki = key.public_key().public_bytes(form.Encoding.DER, form.PublicFormat.SubjectPublicKeyInfo)
    return context, base64.b64encode(hashlib.sha256(spki).digest()).decode()


class BrowserProxy:
    """Answers the browsers of a run; each has a password of its own, and one visit at a time."""

    def __init__(self, fetcher: Fetcher, others: Fetcher) -> None:
        # for the host of a page that is private, and for all others
        self._fetcher, self._others = fetcher, others
        self._visits: dict[str, Visit | None] = {}
        self._cache: dict[str, Answer] = {}
        self._cached = 0
        self._connections: set[asyncio.Task[None] | None] = set()

    async def open(self) -> None:
        """Listen on a free port of loopback."""
        self._tls, self.key = certificate()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=HEAD_BYTES)
        self.address = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """End all connections."""
        self._server.close()
        tasks = [task for task in self._connections if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def visits(self, password: str, visit: Visit | None) -> None:
        """Answer a browser for this page from now on; for None nothing is answered."""
        self._visits[password] = visit

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._connections.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, EOFError, asyncio.CancelledError):  # errors of TLS are among the first
            pass
        finally:
            self._connections.discard(task)
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place, password = "", ""
        while (asked := await read_head(reader)) is not None:
            given = (password or asked.password).encode()
            same = (key for key in self._visits if hmac.compare_digest(key.encode(), given))
            visit = self._visits.get(next(same, ""))
            if visit is None:
                if password:  # its page is over
                    return
                writer.write(answer(407, [("Proxy-Authenticate", 'Basic realm="rendering"')]))
            elif asked.method == "CONNECT":
                if place:
                    return
                place, password = asked.target.removesuffix(":443"), asked.password
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
                await writer.start_tls(self._tls, ssl_handshake_timeout=10)
            else:
                url = f"https://{place}{asked.target}" if place else asked.target
                visit.requests += 1
                stream = asked.headers.get("Accept") == "text/event-stream"  # which has no end
                with nullcontext() if stream else visit.loading(url):
                    made = await self._answer(visit, url, asked)
                writer.write(answer(*made, bodiless=asked.method == "HEAD"))
            await writer.drain()

    async def _answer(self, visit: Visit, url: str, asked: Asked) -> Answer:
        try:
            if urlsplit(url).path == "/favicon.ico":  # which no page has asked for
                return Answer(204, [])
            if asked.body is None or "Upgrade" in asked.headers or visit.requests > MOST_REQUESTS:
                raise Problem("protocol")
            if asked.method == "GET" and str(check_url(url, allow_private=True)) == visit.url:
                return Answer(200, visit.headers, visit.content)
            if asked.method == "GET" and url in self._cache:
                return self._cache[url]
            fetcher = self._fetcher if urlsplit(url).hostname == visit.host else self._others
            found = await relayed(fetcher, asked, url, visit)
        except Problem as problem:
            _note(visit, url, problem)
            return Answer(403, [])
        except ValueError:  # no address
            return Answer(400, [])
        if found.status >= 400:
            _note(visit, url, Problem("status", http_status=found.status))
        if found.may_be_kept and asked.method == "GET" and self._cached + len(found.body) <= CACHE_BYTES:
            self._cached += len(found.body)
            self._cache[url] = found
        return found


_WHY = {
    "status": "HTTP {status}",
    "robots": "robots.txt forbids it",
    "private": "its address is not public",
    "too_large": "it is too large",
    "timeout": "no answer in time",
    "unknown_host": "the host does not exist",
    "protocol": "a kind of request that is not passed on",
}


def _note(visit: Visit, url: str, problem: Problem) -> None:
    said = _WHY.get(problem.key) or str(FETCHING[problem.key][0] or problem.key)
    visit.note(visit.failed, url, said.format(status=problem.http_status))
