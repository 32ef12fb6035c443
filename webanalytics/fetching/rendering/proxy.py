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
import ssl
import tempfile
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from webanalytics.core.messages import FETCHING
from webanalytics.fetching.fetcher import Fetcher
from webanalytics.fetching.guard import check_url
from webanalytics.fetching.rendering.messages import HEAD_BYTES, Asked, answer, read_head
from webanalytics.fetching.rendering.relay import Answer, relayed
from webanalytics.fetching.rendering.visit import MOST_REQUESTS, Visit
from webanalytics.fetching.response import Problem

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
