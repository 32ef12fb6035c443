"""What comes in is bounded: bodies in size and time, requests under way, and who is told when credits end."""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.effort import BUSY_SECONDS
from tests.service.live import Server
from tests.service.pages import RICH_PAGE
from webanalytics.fetching.testing import Reply, SiteServer

HMAC = {"message": "m", "secret": "s"}


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service with little patience and one place."""
    options = ("--allow-private", "--workers", "1", "--queue", "1", "--read-timeout", "1")
    options += ("--trusted-proxies", "127.0.0.0/8")
    with Server(tmp_path_factory.mktemp("strict"), options=options) as server:
        yield server


def open_request(server: Server, key: str, path: str, *headers: str) -> socket.socket:
    host, port = server.base.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    lines = [f"POST {path} HTTP/1.1", f"Host: {host}", f"x-api-key: {key}", *headers, "", ""]
    connection.sendall("\r\n".join(lines).encode())
    return connection


def read_answer(connection: socket.socket) -> tuple[int, Any]:
    """Read to the end of the connection and return the status and the JSON body."""
    received = b""
    while piece := connection.recv(65536):
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def test_an_endless_body_is_refused_while_it_is_read(strict: Server) -> None:
    key = strict.key(plan="free")
    with open_request(strict, key, "/v1/hmac", "Transfer-Encoding: chunked") as connection:
        piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        sent = 0
        while not select.select([connection], [], [], 0)[0]:
            connection.sendall(piece)
            sent += 0x10000
            assert sent < 100_000_000
        head = connection.recv(65536)
        assert head.startswith(b"HTTP/1.1 400 ")
        assert b"at most 5,000,000 bytes" in head
        assert sent > 5_000_000
        started = time.monotonic()
        with pytest.raises(OSError):  # noqa: PT012 - nobody reads on for ever
            while time.monotonic() < started + 15:
                connection.sendall(piece)
                time.sleep(0.05)


def test_a_long_body_is_refused_before_it_is_sent(strict: Server) -> None:
    key = strict.key(plan="free")
    with open_request(strict, key, "/v1/hmac", "Content-Length: 5000001") as connection:
        status, body = read_answer(connection)
    assert (status, body["error"]) == (400, "The request body must be at most 5,000,000 bytes.")


def test_a_slow_body_is_cut_off(strict: Server) -> None:
    started = time.monotonic()
    with open_request(strict, strict.key(), "/v1/hmac", "Content-Length: 100") as connection:
        connection.sendall(b'{"message"')
        status, body = read_answer(connection)
    assert (status, body["error"]) == (400, "The request body must arrive within 1 seconds.")
    assert time.monotonic() - started < BUSY_SECONDS


def test_a_slow_body_that_keeps_its_rate_may_take_longer(strict: Server) -> None:
    content = json.dumps({"message": "m" * 400_000, "secret": "s"}).encode()
    with open_request(
        strict, strict.key(), "/v1/hmac", f"Content-Length: {len(content)}", "Connection: close"
    ) as connection:
        for start in range(0, len(content), 20_000):  # 200 kB a second, for two seconds
            connection.sendall(content[start : start + 20_000])
            time.sleep(0.1)
        assert read_answer(connection)[0] == 200


def test_past_its_queue_the_service_answers_503(strict: Server) -> None:
    key = strict.key()
    with SiteServer(
        {"/slow": Reply(body=RICH_PAGE, headers={"Content-Type": "text/html"}, delay=4.0)}
    ) as site:
        statuses: list[int] = []
        first = threading.Thread(
            target=lambda: statuses.append(
                strict.post("/v1/websitetotext", key, url=f"{site.url}/slow").status
            )
        )
        first.start()
        end = time.monotonic() + BUSY_SECONDS
        while "/slow" not in [one.target for one in site.requests] and time.monotonic() < end:
            time.sleep(0.02)
        got = strict.post("/v1/websitetotext", strict.key(), url=f"{site.url}/slow")
        assert got.status == 503
        assert int(got.headers["retry-after"]) >= 1
        assert got.headers["x-api-remaining-credits"] == "250000"
        assert strict.post("/v1/hmac", key, **HMAC).status == 200  # what needs no place is answered
        first.join()
        assert statuses == [200]


def test_a_trusted_proxy_tells_the_address(strict: Server) -> None:
    key = strict.key(networks=["192.0.2.0/24"])
    for forwarded, status in (("192.0.2.7", 200), ("198.51.100.1", 403), ("192.0.2.7, 198.51.100.1", 403)):
        got = strict.call("POST", "/v1/hmac", key=key, headers={"X-Forwarded-For": forwarded}, **HMAC)
        assert got.status == status, forwarded


def test_notices_at_80_and_95_percent_are_a_log_line_and_a_webhook(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    hook = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{hook.server_port}/hook"
    with Server(tmp_path, environment={"WEBANALYTICS_NOTICE_WEBHOOK": url}) as server:
        key = server.key(plan="free")  # 1,500 credits: 80% are 1,200, 95% are 1,425
        for inputs in (200, 200, 199, 1, 112, 1):
            assert server.post("/v1/hmac/batch", key, inputs=[HMAC] * inputs).status == 200
        end = time.monotonic() + BUSY_SECONDS
        while len(told) < 2 and time.monotonic() < end:
            time.sleep(0.05)
    hook.shutdown()
    hook.server_close()
    assert [(notice["percent"], notice["remaining"]) for notice in told] == [(80, 300), (95, 74)]
    lines = [json.loads(line) for line in server.output.splitlines() if line.startswith("{")]
    assert [line["percent"] for line in lines if line["event"] == "credits"] == [80, 95]


def test_the_log_tells_neither_keys_nor_what_was_sent(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        key = server.key()
        server.post("/v1/hmac", key, message="a private message", secret="a private secret")
        server.post("/v1/hmac", key, message="a private message", secret=["a private secret"])
        server.post("/v1/websitetotext", key, url="http://user:hidden@127.0.0.1/private")
        server.call("GET", "/v1/disposablephone", key=key, phone="+12085813945")
        server.call("POST", "/v1/hmac", key="private-placeholder", **HMAC)
        server.call("POST", "/v1/private-path?secret=private", key=key)
    lines = [json.loads(line) for line in server.output.splitlines() if line.startswith("{")]
    requests = [line for line in lines if line["event"] == "request"]
    assert [line["status"] for line in requests] == [200, 400, 400, 200, 403, 404]
    assert {"id", "key", "operation", "status", "credits", "milliseconds"} <= set(requests[0])
    assert requests[0]["key"] == key[:8]
    for hidden in (key, "private", "hidden", "12085813945"):
        assert hidden not in server.output
