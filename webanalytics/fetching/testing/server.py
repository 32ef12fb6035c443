"""A web server on the loopback interface for given pages; every site of `webanalytics.testing` is one."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
import mimetypes
import socket
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import quote, unquote, urlsplit

ORIGIN_PLACEHOLDER = b"{{origin}}"
"""In a body or a header, these bytes are replaced by the server's own scheme, host and port."""

_PATH_SAFE = "/:@!$&'()*+,;=~-._"  # RFC 3986, section 3.3: allowed unescaped in a path
_MAX_REQUEST_HEAD = 65_536


@dataclass(frozen=True)
class Reply:
    """One answer of a `SiteServer`.

    Parameters
    ----------
    status : int
        HTTP status code.
    headers : mapping of str to str
        Response headers. Without ``Content-Type`` it is guessed from the path, and never names a charset;
        without ``Content-Length`` the length of the body is sent.
    body : bytes
        Body, sent as it is except for `ORIGIN_PLACEHOLDER`.
    delay : float
        Seconds to wait before the answer; ``math.inf`` accepts the request and never answers.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    delay: float = 0.0


class Request(NamedTuple):
    """One request that a `SiteServer` received."""

    method: str
    target: str
    head: bytes

    @property
    def headers(self) -> dict[str, str]:
        """Header fields of the request, names in lower case."""
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        pairs = (line.partition(":") for line in lines if ":" in line)
        return {name.strip().lower(): value.strip() for name, _, value in pairs}


class Answer(NamedTuple):
    """An answer as it is sent, less the end of its head, and the seconds before it is."""

    head: bytes
    body: bytes
    delay: float


class SiteServer:
    """An HTTP/1.1 server for given pages, on a background thread; use it as a context manager.

    Parameters
    ----------
    pages : mapping of str to bytes, Reply, or a sequence of these
        Path (with or without a query, percent-encoded or not) to its answer. Successive requests get the
        items of a sequence, then its last item repeatedly (``[Reply(503), b"<p>now it works"]``).
    host : str
        Address to listen on.
    port : int
        Port to listen on; 0 lets the system choose.
    delay : float
        Seconds to wait before every answer, on top of the reply's own.
    not_found : bytes or Reply, optional
        Answer to every other path.

    Attributes
    ----------
    url : str
        Origin of the server, without a trailing slash: ``http://127.0.0.1:40123``.
    requests : deque of Request
        The latest 10,000 requests received, in order.
    peak : int
        The most requests waiting for their answers at one time.

    Notes
    -----
    A path is looked up with its query first, then without. GET and HEAD are served, with keep-alive and
    pipelining; other methods get 405.

    Examples
    --------
    >>> from urllib.request import urlopen
    >>> pages = {"/old": Reply(301, {"Location": "{{origin}}/new"}), "/new": b"<p>moved"}
    >>> with SiteServer(pages) as server:
    ...     answer = urlopen(server.url + "/old")
    ...     answer.url == server.url + "/new", [request.target for request in server.requests]
    (True, ['/old', '/new'])
    """

    def __init__(
        self,
        pages: Mapping[str, bytes | Reply | Sequence[bytes | Reply]],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        delay: float = 0.0,
        not_found: bytes | Reply = b"<!doctype html><title>Not found</title><h1>Not found</h1>",
    ) -> None:
        self._replies = pages
        self._address = (host, port)
        self._delay = delay
        self._not_found = not_found
        self._answers: dict[str, list[Answer]] = {}
        self._missing: Answer
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop
        self._stopping: asyncio.Event
        self._connections: set[_Connection] = set()
        self._failure: BaseException | None = None
        self.url = ""
        self.requests: deque[Request] = deque(maxlen=10_000)
        self.peak = 0
        self.waiting = 0

    def start(self) -> None:
        """Listen and answer until `stop`; the address is bound when this returns."""
        if self._thread is not None:
            raise RuntimeError("the server is running already")
        host, port = self._address
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=1024)
        netloc = f"[{host}]" if ":" in host else host
        self.url = f"http://{netloc}:{listener.getsockname()[1]}"
        self._lay_out()
        ready = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(listener, ready), name="webanalytics-site", daemon=True
        )
        self._thread.start()
        ready.wait()
        if self._failure is not None:
            self.stop()
            raise self._failure

    def stop(self) -> None:
        """Close the listener and every connection; safe to call twice."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        if thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
        thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = self.url if self._thread is not None else "stopped"
        return f"<{type(self).__name__} {state}, {len(self._replies)} paths>"

    def _run(self, listener: socket.socket, ready: threading.Event) -> None:
        try:
            asyncio.run(self._serve(listener, ready))
        except BaseException as error:  # handed to the thread that waits in start()
            self._failure = error
        finally:
            listener.close()
            ready.set()

    async def _serve(self, listener: socket.socket, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        # asyncio sets TCP_NODELAY on each accepted connection, and an answer is one write
        server = await self._loop.create_server(lambda: _Connection(self), sock=listener, backlog=1024)
        ready.set()
        try:
            await self._stopping.wait()
        finally:
            await self._hang_up(server, listener)

    async def _hang_up(self, server: asyncio.Server, listener: socket.socket) -> None:
        """Close the listener and every connection, so that no socket is left to the garbage collector."""
        # CPython 3.12 leaks a connection that it is still accepting when its server closes
        with contextlib.suppress(NotImplementedError):  # on the event loop of Windows
            self._loop.remove_reader(listener)
        for turn in itertools.count():  # accepting and aborting both take a few turns of the loop
            for connection in list(self._connections):
                connection.abort()
            await asyncio.sleep(0)
            if turn > 4 and not self._connections:
                break
        server.close()

    def _lay_out(self) -> None:
        origin = self.url.encode()
        self._answers = {}
        for path, replies in self._replies.items():
            several = [replies] if isinstance(replies, bytes | Reply) else list(replies)
            answers = [lay_out(reply, path, origin, self._delay) for reply in several]
            self._answers[canonical(path)] = answers[::-1]  # the next one is taken from the end
        missing = self._not_found
        missing = Reply(404, {}, missing) if isinstance(missing, bytes) else missing
        self._missing = lay_out(missing, "/404.html", origin, self._delay)

    def answer(self, target: str, method: str = "GET") -> Answer:  # noqa: ARG002 - for other servers
        """Return the answer to a request target, for the connections."""
        answers = self._answers.get(target)
        if answers is None:
            path = canonical(target)
            answers = self._answers.get(path) or self._answers.get(path.partition("?")[0])
        if not answers:
            return self._missing
        return answers.pop() if len(answers) > 1 else answers[0]


def canonical(target: str) -> str:
    """Return one form for all percent-encodings of a request target.

    >>> canonical("/a b"), canonical("/a%20b?q=%c3%a9"), canonical("http://host/x#y")
    ('/a%20b', '/a%20b?q=%C3%A9', '/x')
    """
    parts = urlsplit(target)
    path = quote(unquote(parts.path or "/"), safe=_PATH_SAFE)
    return f"{path}?{quote(unquote(parts.query), safe=_PATH_SAFE + '?')}" if parts.query else path


def lay_out(reply: bytes | Reply, path: str, origin: bytes, delay: float) -> Answer:
    """Return the bytes of an answer, with the placeholder replaced by the server's origin."""
    reply = Reply(body=reply) if isinstance(reply, bytes) else reply
    body = reply.body.replace(ORIGIN_PLACEHOLDER, origin)
    headers = {name.title(): value for name, value in reply.headers.items()}
    if "Content-Type" not in headers and body:
        headers["Content-Type"] = mimetypes.guess_type(urlsplit(path).path)[0] or "text/html"
    if reply.status != 204 and not {"Content-Length", "Transfer-Encoding"} & headers.keys():
        headers["Content-Length"] = str(len(body))
    try:
        phrase = HTTPStatus(reply.status).phrase
    except ValueError:
        phrase = ""
    lines = [f"HTTP/1.1 {reply.status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    head = "\r\n".join(lines).encode().replace(ORIGIN_PLACEHOLDER, origin) + b"\r\n"
    return Answer(head, body, delay + reply.delay)


class _Connection(asyncio.Protocol):
    """One keep-alive connection: requests are read and answered one after the other."""

    def __init__(self, server: SiteServer) -> None:
        self.server = server
        self.received = b""
        self.timer: asyncio.TimerHandle | None = None
        self.busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  (for the type checker)
        self.transport = transport
        self.server._connections.add(self)

    def connection_lost(self, _error: Exception | None) -> None:
        self.server._connections.discard(self)
        if self.timer is not None:
            self.timer.cancel()
        if self.busy:
            self.busy = False
            self.server.waiting -= 1

    def abort(self) -> None:
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        self.received += data
        self.next_request()

    def next_request(self) -> None:
        while not self.busy:
            head, end, rest = self.received.partition(b"\r\n\r\n")
            if not end:
                if len(self.received) > _MAX_REQUEST_HEAD:
                    self.refuse(431)
                return
            self.received = rest
            self.handle(head)

    def handle(self, head: bytes) -> None:
        line = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
        if len(line) != 3:
            self.refuse(400)
            return
        method, target, version = line
        self.server.requests.append(Request(method, target, head))
        if method not in ("GET", "HEAD"):
            self.refuse(405)  # closes, so that a body of the request is never taken for the next request
            return
        answer = self.server.answer(target, method)
        close = version == "HTTP/1.0" or b"connection: close" in head.lower()
        self.busy = True
        self.server.waiting += 1
        self.server.peak = max(self.server.peak, self.server.waiting)
        if not answer.delay:
            self.write(answer, method, close)
        elif answer.delay != math.inf:
            loop = self.server._loop
            self.timer = loop.call_later(answer.delay, self.write_later, answer, method, close)

    def write_later(self, answer: Answer, method: str, close: bool) -> None:
        self.timer = None
        self.write(answer, method, close)
        self.next_request()

    def write(self, answer: Answer, method: str, close: bool) -> None:
        end = b"Connection: close\r\n\r\n" if close else b"\r\n"
        self.busy = False
        self.server.waiting -= 1
        self.transport.write(answer.head + end + (b"" if method == "HEAD" else answer.body))
        if close:
            self.transport.close()

    def refuse(self, status: int) -> None:
        self.received = b""
        line = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"
        self.transport.write(f"{line}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        self.transport.close()


def site_folder(name: str) -> Path:
    """Return the folder of a site: in the installed package, or next to it in the checkout."""
    package = Path(__file__).resolve().parents[2]
    for folder in (package / "_data" / name, package.parent / "data" / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"the folder {name} is not part of this installation of webanalytics")
