"""The fault-injecting proxy does what its faults say, seen through the standard library's client."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException, IncompleteRead, RemoteDisconnected
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.hosted.proxy import (
    REQUEST_ID,
    Fault,
    Proxy,
    Record,
    away,
    cut_after,
    cut_before,
    delay,
    endless,
    half_body,
    half_request,
    html_403,
    json_of,
    not_found,
    out_of_credits,
    rate_limited,
    redirect,
    server_failure,
    slow_answer,
    status,
    unavailable,
    wrong_json,
)

BIG = 50_000_000


class Upstream(ThreadingHTTPServer):
    """Answers a body with itself, and remembers what it was asked."""

    daemon_threads = False
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Echo)
        self.base = f"http://127.0.0.1:{self.server_port}"
        self.asked: list[tuple[str, str, dict[str, str], int]] = []


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Upstream

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"0123456789" * 10
        self.server.asked.append((self.command, self.path, dict(self.headers), len(body)))
        if self.path == "/late":
            time.sleep(0.3)
        if self.path == "/drop":
            self.close_connection = True
            return
        self.send_response(204 if self.path == "/empty" else 200)
        self.send_header("Set-Cookie", "a=1")
        self.send_header("Set-Cookie", "b=2")
        if self.path == "/chunked":
            self.send_header("Transfer-Encoding", "chunked")
            body = b"5\r\nfirst\r\n6;x=y\r\nsecond\r\n0\r\nTrailer: t\r\n\r\n"
        elif self.path == "/until-close":
            self.send_header("Connection", "close")
        elif self.path == "/empty":
            body = b""
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_POST = do_HEAD = do_GET  # noqa: N815


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing is left to the event loop's own report of errors."""
    yield
    logged = [*caplog.get_records("call"), *caplog.get_records("teardown")]
    assert [record.getMessage() for record in logged if record.name == "asyncio"] == []


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def proxy(upstream: Upstream) -> Iterator[Proxy]:
    with Proxy(upstream.base) as running:
        yield running


@pytest.fixture
def client(proxy: Proxy) -> Iterator[HTTPConnection]:
    connection = HTTPConnection("127.0.0.1", urlsplit(proxy.base).port, timeout=10)
    yield connection
    connection.close()


def ask(
    client: HTTPConnection, path: str = "/v1", body: bytes | None = None, method: str = "", **headers: str
) -> tuple[int, Any, bytes]:
    try:
        client.request(method or ("GET" if body is None else "POST"), path, body, headers)
        answer = client.getresponse()
        return answer.status, answer.headers, answer.read()
    except OSError:
        client.close()  # the next request opens a new connection
        raise


def await_true(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.005)


# ------------------------------------------------------------------ passing on


def test_requests_are_passed_on_and_recorded_over_one_connection(
    proxy: Proxy, client: HTTPConnection, upstream: Upstream
) -> None:
    before = time.monotonic()
    first = ask(client, "/v1/a?x=%2B1&y=", b'{"n": 1}', **{"X-API-Key": "hush", "Idempotency-Key": "one"})
    second = ask(client, "/v1/b")
    assert (first[0], first[2]) == (200, b'{"n": 1}')
    assert first[1].get_all("Set-Cookie") == ["a=1", "b=2"]
    assert second[2] == b"0123456789" * 10
    one, two = proxy.requests
    assert (one.method, one.path, one.query, one.json) == ("POST", "/v1/a", "x=%2B1&y=", {"n": 1})
    assert (one.headers["x-api-key"], one.headers["idempotency-key"]) == ("hush", "one")
    assert (two.method, two.path, two.body, two.fault) == ("GET", "/v1/b", b"", None)
    assert [record.upstream_status for record in (one, two)] == [200, 200]
    assert [record.connection for record in (one, two)] == [0, 0]
    assert "hush" not in repr(one)
    assert before <= one.arrived <= two.arrived <= time.monotonic()
    assert [(method, path) for method, path, *_ in upstream.asked] == [
        ("POST", "/v1/a?x=%2B1&y="),
        ("GET", "/v1/b"),
    ]
    assert upstream.asked[0][2]["Host"] == urlsplit(proxy.base).netloc


@pytest.mark.parametrize(
    ("path", "method", "expected"),
    [
        ("/chunked", "GET", (200, b"firstsecond", "11")),
        ("/until-close", "GET", (200, b"0123456789" * 10, "100")),
        ("/empty", "GET", (204, b"", None)),
        ("/v1", "HEAD", (200, b"", "100")),
    ],
)
def test_every_framing_of_an_answer_is_understood(
    client: HTTPConnection, proxy: Proxy, path: str, method: str, expected: tuple[int, bytes, str | None]
) -> None:
    code, headers, body = ask(client, path, method=method)
    assert (code, body, headers["Content-Length"]) == expected
    assert ask(client)[0] == 200
    assert [record.connection for record in proxy.requests] == [0, 0]


def test_a_chunked_request_arrives_whole(client: HTTPConnection, proxy: Proxy) -> None:
    client.request("POST", "/v1", iter([b"ab", b"cde"]), encode_chunked=True)
    assert client.getresponse().read() == b"abcde"
    assert proxy.requests[0].body == b"abcde"


def test_a_client_that_expects_100_continue_gets_it(proxy: Proxy) -> None:
    with socket.create_connection(("127.0.0.1", urlsplit(proxy.base).port), 5) as sock:
        sock.sendall(b"POST /v1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        assert sock.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        sock.sendall(b"ok")
        assert sock.recv(1000).startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize("start", [b"GET / HTTP/1.0\r\n", b"GET / HTTP/1.1\r\nConnection: close\r\n"])
def test_a_connection_that_is_not_to_be_kept_is_closed(proxy: Proxy, start: bytes) -> None:
    with socket.create_connection(("127.0.0.1", urlsplit(proxy.base).port), 5) as sock:
        sock.sendall(start + b"Host: h\r\n\r\n")
        answer = b"".join(iter(lambda: sock.recv(1000), b""))
    assert answer.endswith(b"0123456789" * 10)


def test_large_bodies_pass_both_ways(client: HTTPConnection, proxy: Proxy) -> None:
    body = bytes(range(250)) * (BIG // 250)
    assert ask(client, "/v1", body)[2] == body
    assert proxy.requests[0].body == body


def test_a_service_that_is_away_or_drops_the_request_resets_the_client(
    client: HTTPConnection, proxy: Proxy, upstream: Upstream
) -> None:
    with pytest.raises(ConnectionResetError):
        ask(client, "/drop")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        proxy.upstream = unused.getsockname()
        with pytest.raises(ConnectionResetError):
            ask(client)
    assert [(r.fault, r.upstream_status) for r in proxy.requests] == [(None, None)] * 2


def test_a_client_that_leaves_does_not_stop_what_was_passed_on(proxy: Proxy, client: HTTPConnection) -> None:
    client.request("GET", "/late")
    await_true(lambda: proxy.requests)
    client.close()
    await_true(lambda: proxy.requests[0].upstream_status == 200)


def test_requests_under_way_together_are_counted(proxy: Proxy) -> None:
    def one(_: int) -> int:
        connection = HTTPConnection("127.0.0.1", urlsplit(proxy.base).port, timeout=10)
        try:
            return ask(connection, "/late")[0]
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(one, range(3))) == [200] * 3
    await_true(lambda: all(record.ended for record in proxy.requests))
    assert proxy.at_once == 3


# ------------------------------------------------------------------ which request meets which fault


def test_plan_goes_before_rule_before_always(proxy: Proxy, client: HTTPConnection) -> None:
    def decide(record: Record) -> Fault | None:
        return status(400, "The `n` parameter is wrong.") if b"wrong" in record.body else None

    proxy.always(server_failure())
    proxy.rule(decide)
    proxy.plan(unavailable(), None)
    codes = [ask(client, "/v1", body)[0] for body in (b"wrong", b"wrong", b"wrong", b"right")]
    assert codes == [503, 200, 400, 500]
    proxy.plan(not_found())
    proxy.clear()
    assert ask(client, "/v1", b"wrong")[0] == 200
    assert [record.fault for record in proxy.requests] == [
        unavailable(),
        None,
        status(400, "The `n` parameter is wrong."),
        server_failure(),
        None,
    ]


def test_a_rule_that_raises_is_heard_of(upstream: Upstream) -> None:
    def decide(record: Record) -> Fault | None:
        raise LookupError("from the rule")

    def use() -> None:
        with Proxy(upstream.base) as proxy:
            proxy.rule(decide)
            connection = HTTPConnection("127.0.0.1", urlsplit(proxy.base).port, timeout=10)
            with pytest.raises(ConnectionResetError):
                ask(connection)

    with pytest.raises(LookupError, match="from the rule"):
        use()


# ------------------------------------------------------------------ connections cut


def test_cut_before_asks_nothing_of_the_service(
    proxy: Proxy, client: HTTPConnection, upstream: Upstream
) -> None:
    proxy.plan(cut_before())
    with pytest.raises(ConnectionResetError):
        ask(client, "/v1", b"body")
    assert upstream.asked == []
    record = proxy.requests[0]
    assert (record.body, record.fault, record.upstream_status) == (b"body", cut_before(), None)
    assert ask(client)[0] == 200
    assert proxy.requests[1].connection == 1


def test_cut_after_lets_the_service_answer_and_loses_it(
    proxy: Proxy, client: HTTPConnection, upstream: Upstream
) -> None:
    proxy.plan(cut_after())
    client.request("POST", "/v1", b"body")
    assert client.sock is not None
    with pytest.raises(ConnectionResetError):
        client.sock.recv(1)
    assert [(path, size) for _, path, _, size in upstream.asked] == [("/v1", 4)]
    assert proxy.requests[0].upstream_status == 200


@pytest.mark.parametrize("size", [100, BIG])
def test_half_body_sends_the_whole_length_and_half_the_body(
    proxy: Proxy, client: HTTPConnection, size: int
) -> None:
    proxy.plan(half_body())
    client.request("POST", "/v1", b"x" * size)
    answer = client.getresponse()
    assert answer.headers["Content-Length"] == str(size)
    with pytest.raises(IncompleteRead) as caught:
        answer.read()
    assert len(caught.value.partial) == size // 2
    assert proxy.requests[0].upstream_status == 200


@pytest.mark.parametrize("body", [b"x" * 101, b"x" * BIG])
def test_half_request_reads_half_and_resets(
    proxy: Proxy, client: HTTPConnection, upstream: Upstream, body: bytes
) -> None:
    proxy.plan(half_request())
    with pytest.raises((ConnectionResetError, BrokenPipeError)):
        ask(client, "/v1", body)
    assert len(proxy.requests[0].body) == len(body) // 2
    assert upstream.asked == []


# ------------------------------------------------------------------ time


def test_delay_waits_before_the_request_is_passed_on(proxy: Proxy, client: HTTPConnection) -> None:
    proxy.plan(delay(0.3), delay(0.1, server_failure()))
    start = time.monotonic()
    assert ask(client)[0] == 200
    assert 0.3 <= time.monotonic() - start < 2
    assert ask(client)[0] == 500
    assert 0.4 <= time.monotonic() - start < 3


def test_a_delayed_request_is_passed_on_though_the_client_has_gone(
    proxy: Proxy, client: HTTPConnection
) -> None:
    proxy.plan(delay(0.1))
    client.request("GET", "/v1")
    await_true(lambda: proxy.requests)
    client.close()
    await_true(lambda: proxy.requests[0].upstream_status == 200)


@pytest.mark.parametrize("fault", [slow_answer(1000), slow_answer(seconds=0.4)])
def test_slow_answer_trickles_the_whole_real_answer(
    proxy: Proxy, client: HTTPConnection, fault: Fault
) -> None:
    body = bytes(range(200)) * 2
    proxy.plan(fault)
    start = time.monotonic()
    client.request("POST", "/v1", body)
    answer = client.getresponse()
    pieces = list(iter(lambda: answer.read1(1000), b""))
    assert time.monotonic() - start >= 0.4
    assert b"".join(pieces) == body
    assert len(pieces) >= 3
    answer.read()  # only this tells the client that the answer is over
    assert ask(client)[0] == 200


def test_endless_goes_on_until_the_client_goes(proxy: Proxy, client: HTTPConnection) -> None:
    proxy.plan(endless())
    client.request("GET", "/v1")
    answer = client.getresponse()
    assert answer.status == 200
    assert len(answer.read(5_000_000)) == 5_000_000
    assert proxy.requests[0].ended is None
    answer.close()
    client.close()
    await_true(lambda: proxy.requests[0].ended)


# ------------------------------------------------------------------ answers made up


@pytest.mark.parametrize(
    ("fault", "code", "error"),
    [
        (status(401, "unauthorized"), 401, "unauthorized"),
        (server_failure(), 500, "The server failed."),
        (unavailable(), 503, "The source is unavailable."),
        (not_found(), 404, "There is no such endpoint."),
        (rate_limited(), 429, "Too many requests in this minute."),
        (out_of_credits(), 429, "No credits are left."),
    ],
)
def test_failures_come_in_the_envelope_and_keep_the_connection(
    proxy: Proxy, client: HTTPConnection, upstream: Upstream, fault: Fault, code: int, error: str
) -> None:
    proxy.plan(fault, None)
    got, headers, body = ask(client, "/v1", b"{}")
    assert got == code
    assert json.loads(body) == {"status": "error", "error": error, "data": None}
    assert headers["Content-Type"] == "application/json"
    assert headers["x-edge-request-id"] == headers["X-Request-ID"] == REQUEST_ID
    assert upstream.asked == []
    assert ask(client)[0] == 200
    assert [record.connection for record in proxy.requests] == [0, 0]


@pytest.mark.parametrize(
    ("fault", "remaining", "after"),
    [
        (rate_limited(), "100", "1"),
        (rate_limited(0.5, 7), "7", "0.5"),
        (rate_limited(None, None), None, None),
        (out_of_credits(), "0", None),
        (unavailable(3), None, "3"),
    ],
)
def test_the_headers_of_what_passes_by_waiting(
    proxy: Proxy, client: HTTPConnection, fault: Fault, remaining: str | None, after: str | None
) -> None:
    proxy.plan(fault)
    headers = ask(client)[1]
    assert headers["x-api-remaining-credits"] == remaining
    assert headers["retry-after"] == after


def test_a_failure_takes_further_headers(proxy: Proxy, client: HTTPConnection) -> None:
    proxy.plan(status(503, "Busy.", {"X-Request-ID": "mine", "x-more": "1"}))
    headers = ask(client)[1]
    assert (headers["X-Request-ID"], headers["x-more"]) == ("mine", "1")


def test_the_edge_refuses_in_html(proxy: Proxy, client: HTTPConnection) -> None:
    proxy.plan(html_403())
    code, headers, body = ask(client)
    assert (code, headers.get_content_type(), headers["x-edge-request-id"]) == (403, "text/html", REQUEST_ID)
    assert headers["X-Request-ID"] is None
    assert b"Forbidden" in body
    with pytest.raises(ValueError):
        json.loads(body)


def test_wrong_and_odd_json(proxy: Proxy, client: HTTPConnection) -> None:
    proxy.plan(wrong_json(), json_of([1, None]), json_of({"a": "é"}))
    code, headers, body = ask(client)
    assert (code, headers.get_content_type()) == (200, "application/json")
    with pytest.raises(ValueError):
        json.loads(body)
    assert json.loads(ask(client)[2]) == [1, None]
    assert json.loads(ask(client)[2]) == {"a": "é"}


def test_redirects(proxy: Proxy, client: HTTPConnection) -> None:
    proxy.plan(redirect("http://127.0.0.1:9/elsewhere"), redirect("/x", 307))
    code, headers, body = ask(client)
    assert (code, headers["Location"], body) == (302, "http://127.0.0.1:9/elsewhere", b"")
    assert ask(client)[0] == 307


# ------------------------------------------------------------------ away and back


def test_stop_and_listen_again_on_the_same_port(proxy: Proxy, client: HTTPConnection) -> None:
    base = proxy.base
    assert ask(client)[0] == 200
    for _ in range(2):
        proxy.stop_listening()
        with pytest.raises((ConnectionResetError, RemoteDisconnected)):
            ask(client)
        with pytest.raises(ConnectionRefusedError):
            ask(client)
        proxy.listen_again()
        assert ask(client)[0] == 200
    assert proxy.base == base


def test_requests_under_way_are_reset_when_it_goes_away(proxy: Proxy, client: HTTPConnection) -> None:
    client.request("GET", "/late")
    await_true(lambda: proxy.requests)
    proxy.stop_listening()
    assert client.sock is not None
    with pytest.raises(ConnectionResetError):
        client.sock.recv(1)


@pytest.mark.parametrize("by_fault", [True, False])
def test_away_comes_back_by_itself(proxy: Proxy, client: HTTPConnection, by_fault: bool) -> None:
    start = time.monotonic()
    if by_fault:
        proxy.plan(away(0.4))
        with pytest.raises(ConnectionResetError):
            ask(client)
    else:
        proxy.away(0.4)
    refused, code = 0, 0
    while not code:
        try:
            code = ask(client)[0]
        except ConnectionRefusedError:
            refused += 1
            time.sleep(0.02)
    assert code == 200
    assert refused > 2
    assert 0.4 <= time.monotonic() - start < 3


def test_listening_again_ends_an_absence_early(proxy: Proxy, client: HTTPConnection) -> None:
    proxy.away(60)
    proxy.listen_again()
    assert ask(client)[0] == 200


# ------------------------------------------------------------------ its own end


@pytest.mark.parametrize("fault", [delay(60), slow_answer(seconds=60), endless(), None])
def test_it_ends_at_once_with_requests_under_way(upstream: Upstream, fault: Fault | None) -> None:
    with Proxy(upstream.base) as proxy:
        proxy.plan(fault)
        connection = HTTPConnection("127.0.0.1", urlsplit(proxy.base).port, timeout=10)
        connection.request("GET", "/late")
        await_true(lambda: proxy.requests)
        start = time.monotonic()
    try:
        assert time.monotonic() - start < 2
        assert not any(thread.name == "proxy" for thread in threading.enumerate())
    finally:
        connection.close()


def test_it_ends_though_a_client_reads_nothing(upstream: Upstream) -> None:
    with Proxy(upstream.base) as proxy:
        proxy.plan(half_body())
        connection = HTTPConnection("127.0.0.1", urlsplit(proxy.base).port, timeout=10)
        connection.request("POST", "/v1", b"x" * BIG)
        await_true(lambda: proxy.requests[0].upstream_status)
        start = time.monotonic()
    try:
        assert time.monotonic() - start < 2
    finally:
        connection.close()


def test_it_ends_cleanly_while_clients_come_and_go(upstream: Upstream) -> None:
    def knock(base: str, ended: threading.Event) -> None:
        while not ended.is_set():
            connection = HTTPConnection("127.0.0.1", urlsplit(base).port, timeout=10)
            try:
                connection.connect()
                ask(connection)
            except (OSError, HTTPException):
                pass
            finally:
                connection.close()

    for _ in range(5):
        ended = threading.Event()
        with Proxy(upstream.base) as proxy:
            threads = [threading.Thread(target=knock, args=(proxy.base, ended)) for _ in range(3)]
            for thread in threads:
                thread.start()
            await_true(lambda: len(proxy.requests) > 5)
        ended.set()
        for thread in threads:
            thread.join()
