"""Connections and requests that are slow, many or malformed, sent through plain sockets."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from email.parser import BytesParser
from http.client import HTTPConnection
from typing import Any

import pytest
from aiohttp import web

from tests.effort import BUSY_SECONDS
from webanalytics.service.results import Record
from webanalytics.service.server import transport
from webanalytics.service.server.process import bind
from webanalytics.service.server.transport import Server, start
from webanalytics.service.settings import ServiceSettings

SHORT = 0.4
"""The tests' time for headers, in seconds."""


async def echo(request: web.BaseRequest) -> web.Response:
    body = await request.read()
    if request.path == "/fail":
        raise ValueError("hunter2")
    if request.path == "/http-error":
        raise web.HTTPRequestEntityTooLarge(max_size=1, actual_size=2)
    if request.path == "/late":
        await asyncio.sleep(SHORT)
    if request.path == "/slow":
        await asyncio.sleep(60)
    return web.Response(body=request.method.encode() + b" " + request.path.encode() + b" " + body)


class Running:
    """A server in a thread of its own."""

    def __init__(
        self, handle: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]], **given: Any
    ) -> None:
        self.settings = ServiceSettings({"read_timeout": SHORT, "port": 0, **given})
        self.records: list[Record] = []
        self.counts: list[int] = []
        self.handle = handle
        self.sock = bind("127.0.0.1", 0)
        self.port: int = self.sock.getsockname()[1]
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        self.listener: Server = self.call(
            start(
                handle,
                self.settings,
                self.sock,
                on_error=self.records.append,
                on_connections=self.counts.append,
            )
        )

    def call(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def close(self, grace: float = 0.0) -> None:
        self.call(self.listener.stop(grace))
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


@contextmanager
def serving(handle: Any = echo, **given: Any) -> Iterator[Running]:
    running = Running(handle, **given)
    try:
        yield running
    finally:
        running.close()


def connect(server: Running) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", server.port))
    sock.settimeout(10)
    return sock


def read_all(sock: socket.socket) -> bytes:
    received = b""
    with suppress(ConnectionResetError):  # what is sent to a connection that has been closed
        while part := sock.recv(65536):
            received += part
    return received


class Answer:
    """An answer read by the standard library's parser of header fields."""

    def __init__(self, raw: bytes) -> None:
        head, _, self.body = raw.partition(b"\r\n\r\n")
        line, _, fields = head.partition(b"\r\n")
        self.status = int(line.split()[1])
        self.headers = BytesParser().parsebytes(fields + b"\r\n\r\n")


def exchange(server: Running, request: bytes) -> Answer:
    with connect(server) as sock:
        sock.sendall(request)
        return Answer(read_all(sock))


def assert_envelope(answer: Answer, status: int) -> str:
    assert answer.status == status
    assert answer.headers.get_content_type() == "application/json"
    assert answer.headers["server"] == "webanalytics"
    assert answer.headers["x-edge-request-id"]
    assert answer.headers["x-request-id"]
    assert answer.headers["connection"] == "close"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert int(answer.headers["content-length"]) == len(answer.body)
    content = json.loads(answer.body)
    assert sorted(content) == ["data", "error", "status"]
    assert (content["status"], content["data"]) == ("error", None)
    return str(content["error"])


MALFORMED = {
    "no HTTP": b"hello\r\n\r\n",
    "another protocol": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
    "unknown version": b"GET / HTTP/9.9\r\nHost: a\r\n\r\n",
    "no method": b" / HTTP/1.1\r\nHost: a\r\n\r\n",
    "a header without a colon": b"GET / HTTP/1.1\r\nHost a\r\n\r\n",
    "a header with NUL": b"GET / HTTP/1.1\r\nHost: a\x00b\r\n\r\n",
    "a space before the colon": b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
    "a long request line": b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
    "a long header": b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 20_000 + b"\r\n\r\n",
    "too many headers": b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: 1\r\n" * 500 + b"\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a negative length": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\nab",
    "length and chunks": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks of no size": b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
    "a bad path": b"GET http://[::1 HTTP/1.1\r\nHost: a\r\n\r\n",
    "an unknown expectation": b"POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nContent-Length: 1\r\n\r\na",
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_every_malformed_request_gets_the_envelope(kind: str) -> None:
    with serving() as server:
        sentence = assert_envelope(exchange(server, MALFORMED[kind]), 400)
        assert sentence.endswith(".")
        assert [record.status for record in server.records] == [400]


def test_sentences_do_not_repeat_the_request() -> None:
    with serving() as server:
        for line in (b"GET / HTTP/1.1\r\nX-API-Key hunter2\r\n\r\n", b"hunter2 / / HTTP/1.1\r\n\r\n"):
            answer = exchange(server, line)
            assert answer.status == 400
            assert b"hunter2" not in answer.body
        assert "hunter2" not in repr(server.records)


def test_a_long_malformed_request_is_answered_while_it_is_still_sent() -> None:
    with serving() as server:
        assert_envelope(exchange(server, b"GET /" + b"a" * 500_000 + b" HTTP/1.1\r\n\r\n"), 400)


@pytest.mark.parametrize(("path", "status"), [("/fail", 500), ("/http-error", 400)])
def test_what_a_handler_raises_is_an_envelope_without_its_message(path: str, status: int) -> None:
    with serving() as server:
        answer = exchange(server, f"GET {path} HTTP/1.1\r\nHost: a\r\nX-Request-ID: order-7\r\n\r\n".encode())
        assert "hunter2" not in assert_envelope(answer, status)
        assert answer.headers["x-request-id"] == "order-7"
        (record,) = server.records
        assert record.status == status
        assert "hunter2" not in repr(record)
    if status == 500:
        assert record.notes["exception"] == "ValueError"
        assert "test_transport.py" in record.notes["places"][0]


def test_headers_that_do_not_arrive_in_time_are_answered_and_cut_off() -> None:
    with serving() as server, connect(server) as sock:
        began = time.monotonic()
        sock.sendall(b"GET / HTTP/1.1\r\n")

        def drip() -> None:
            try:
                for _ in range(round(8 * BUSY_SECONDS / SHORT)):
                    sock.sendall(b"X: 1\r\n")
                    time.sleep(SHORT / 8)
            except OSError:
                pass

        dripping = threading.Thread(target=drip)
        dripping.start()
        answer = Answer(read_all(sock))
        took = time.monotonic() - began
        dripping.join()
    assert assert_envelope(answer, 400) == "The request headers did not arrive within 0.4 seconds."
    assert SHORT * 0.9 <= took < BUSY_SECONDS


def test_headers_of_a_later_request_have_their_own_time() -> None:
    with serving() as server, connect(server) as sock:
        sock.sendall(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b"GET /a" in sock.recv(65536)
        time.sleep(SHORT * 1.5)  # idle, which keep-alive allows
        sock.sendall(b"GET /b HT")
        began = time.monotonic()
        answer = Answer(read_all(sock))
        took = time.monotonic() - began
    assert_envelope(answer, 400)
    assert SHORT * 0.9 <= took < BUSY_SECONDS


def test_a_silent_connection_is_closed_without_a_word() -> None:
    with serving() as server, connect(server) as sock:
        assert read_all(sock) == b""
        assert server.records == []


def test_a_slow_answer_and_a_slow_body_are_not_cut_off() -> None:
    with serving() as server, connect(server) as sock:
        sock.sendall(b"GET /late HTTP/1.1\r\nHost: a\r\n\r\nGET /x")  # with the start of a further request
        assert b"GET /late" in sock.recv(65536)
    with serving() as server, connect(server) as sock:
        sock.sendall(b"POST /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\n")
        for byte in b"abcd":
            time.sleep(SHORT / 2)
            sock.sendall(bytes([byte]))
        assert Answer(read_all(sock)).body == b"POST /a abcd"


def test_a_client_that_does_not_take_its_answer_is_cut_off() -> None:
    size = 30_000_000

    async def handle(request: web.BaseRequest) -> web.Response:
        return web.Response(body=bytes(size))

    with serving(handle) as server, connect(server) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        deadline = time.monotonic() + BUSY_SECONDS
        while server.counts[-1:] != [0] and time.monotonic() < deadline:
            time.sleep(SHORT / 4)
        assert server.counts[-1] == 0
        assert len(read_all(slow)) < size
    with serving(handle, read_timeout=60) as server:
        answer = exchange(server, b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert len(answer.body) == size


def test_connections_of_one_address_are_capped() -> None:
    with serving(connections_per_address=3, read_timeout=5.0) as server:
        several = [connect(server) for _ in range(3)]
        for sock in several:
            sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert sock.recv(65536).startswith(b"HTTP/1.1 200")
        answer = exchange(server, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert_envelope(answer, 503)
        assert answer.headers["retry-after"] == "5"
        assert server.records[0].status == 503
        assert max(server.counts) == 3
        several.pop().close()
        time.sleep(0.2)
        answer = exchange(server, b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert answer.status == 200
        for sock in several:
            sock.close()


def test_connections_of_all_addresses_are_bounded_and_the_idle_closed_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Silent connections use up neither the descriptors nor the places of who sends something."""
    monkeypatch.setattr(transport, "descriptors", lambda: 128)
    most, _ = transport.bounds(128, ServiceSettings().fetch_concurrency)
    with serving(connections_per_address=1_000, read_timeout=BUSY_SECONDS) as server:
        silent = [connect(server) for _ in range(3 * most)]
        for _ in range(3):
            answer = exchange(server, b"GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            assert answer.status == 200
        assert max(server.counts) <= 2 * most  # those that are being closed included
        closed = 0
        for sock in silent:
            sock.setblocking(False)
            with suppress(BlockingIOError):
                closed += sock.recv(1) == b""
            sock.close()
        assert closed >= 2 * most - 3


def test_where_none_is_idle_a_further_connection_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "bounds", lambda *_: (3, 8))
    with serving(read_timeout=BUSY_SECONDS) as server:
        several = [connect(server) for _ in range(3)]
        for sock in several:  # in the middle of a body
            sock.sendall(b"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
            assert sock.recv(65536).startswith(b"HTTP/1.1 100")
        answer = exchange(server, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert_envelope(answer, 503)
        assert b"as many connections as it takes" in answer.body
        for sock in several:
            sock.sendall(b"123456789")
            assert sock.recv(65536).startswith(b"HTTP/1.1 200")
            sock.close()


def test_trusted_proxies_may_have_any_number_of_connections() -> None:
    with serving(connections_per_address=1, trusted_proxies=("127.0.0.0/8",)) as server:
        several = [connect(server) for _ in range(5)]
        for sock in several:
            sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert sock.recv(65536).startswith(b"HTTP/1.1 200")
            sock.close()


def test_http_1_0_pipelining_and_upgrades() -> None:
    with serving() as server:
        answer = exchange(server, b"GET /old HTTP/1.0\r\n\r\n")
        assert (answer.status, answer.body) == (200, b"GET /old ")
        several = b"".join(b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % number for number in range(5))
        with connect(server) as sock:
            sock.sendall(several + b"GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            received = read_all(sock)
        assert [received.count(b"GET /%d " % number) for number in range(5)] == [1] * 5
        assert received.endswith(b"GET /last ")
        for upgrade in (b"h2c", b"tea"):
            answer = exchange(
                server,
                b"POST /up HTTP/1.1\r\nHost: a\r\nConnection: close, Upgrade\r\nUpgrade: "
                + upgrade
                + b"\r\nContent-Length: 2\r\n\r\nhi",
            )
            assert (answer.status, answer.body) == (200, b"POST /up hi"), upgrade
        websocket = b"GET /up HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        for more in (b"", b"\x81\x85frames of another protocol"):
            answer = exchange(server, websocket + more)
            assert (answer.status, answer.body) == (200, b"GET /up ")
        assert exchange(server, b"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\nmore").status == 200


def test_expect_100_continue_is_answered_before_the_body_is_sent() -> None:
    with serving() as server, connect(server) as sock:
        sock.sendall(
            b"POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nConnection: close\r\nContent-Length: 2\r\n\r\n"
        )
        assert sock.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        sock.sendall(b"hi")
        assert Answer(read_all(sock)).body == b"POST /a hi"


def test_a_client_that_leaves_before_100_continue_is_no_failure_of_the_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin = transport.Connection.begin

    def leaving(self: transport.Connection, request: web.BaseRequest) -> None:
        begin(self, request)
        assert self.transport is not None
        self.transport.abort()

    monkeypatch.setattr(transport.Connection, "begin", leaving)
    with serving() as server, connect(server) as sock:
        sock.sendall(b"POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        assert read_all(sock) == b""
        time.sleep(SHORT / 4)
        assert [record.status for record in server.records if record.status >= 500] == []


def test_no_answer_tells_the_version_of_the_server() -> None:
    with serving() as server:
        client = HTTPConnection("127.0.0.1", server.port)
        client.request("GET", "/")
        assert client.getresponse().headers["Server"] == "webanalytics"
        client.close()


def test_a_stop_finishes_what_is_under_way_and_refuses_new_connections() -> None:
    server = Running(echo)
    working, uploading, idle = connect(server), connect(server), connect(server)
    idle.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert idle.recv(65536)
    working.sendall(b"GET /late HTTP/1.1\r\nHost: a\r\n\r\n")
    uploading.sendall(b"POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nh")
    time.sleep(SHORT / 4)
    stopping = threading.Thread(target=server.close, args=(10.0,))
    stopping.start()
    assert idle.recv(65536) == b""
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", server.port), timeout=5)
    uploading.sendall(b"i")  # the rest of a body that was arriving
    for sock, body in ((working, b"GET /late "), (uploading, b"POST /up hi")):
        answer = Answer(read_all(sock))
        assert (answer.status, answer.body, answer.headers["connection"]) == (200, body, "close")
        sock.close()
    idle.close()
    stopping.join(10)
    assert not stopping.is_alive()


def test_a_stop_amid_new_connections_breaks_none_off() -> None:
    server = Running(echo)
    server.loop.set_debug(True)  # else the loop keeps to itself that it could not accept a connection
    failures: list[Any] = []
    server.loop.set_exception_handler(lambda loop, context: failures.append(context))
    stop = threading.Event()

    def knock() -> None:
        while not stop.is_set():
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", server.port), timeout=5).close()

    knocking = [threading.Thread(target=knock) for _ in range(3)]
    for thread in knocking:
        thread.start()
    time.sleep(0.1)
    server.close(5.0)
    stop.set()
    for thread in knocking:
        thread.join()
    assert failures == []


def test_a_stop_cancels_what_outlasts_the_grace() -> None:
    server = Running(echo)
    with connect(server) as sock:
        sock.sendall(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
        time.sleep(SHORT / 4)
        began = time.monotonic()
        server.close(0.3)
        assert 0.3 <= time.monotonic() - began < BUSY_SECONDS
        assert sock.recv(65536) == b""


def test_an_idle_connection_is_closed_after_the_keepalive_time() -> None:
    with serving(keepalive_timeout=1.0) as server, connect(server) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert sock.recv(65536)
        began = time.monotonic()
        assert sock.recv(65536) == b""
        assert 0.9 <= time.monotonic() - began < BUSY_SECONDS
