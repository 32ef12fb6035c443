"""Servers that mean harm or are broken: each costs its own row and nothing else."""

from __future__ import annotations

import asyncio
import gzip
import resource
import time
import zlib
from typing import Any

import brotli
import pytest

from tests.effort import BUSY_SECONDS, effort_since
from webanalytics.fetching import Fetcher, FetchError

MB = 1_000_000


def body_of(size: int) -> bytes:
    return b"<p>" + b"some words of a page " * (size // 20)


def head(*lines: str, status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", "Content-Type: text/html", *lines, "", ""]).encode("latin-1")


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def gzip_bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(bytes(MB)) for _ in range(200)), packer.flush()])


BOMBS = {
    "gzip": gzip_bomb,
    "deflate": lambda: zlib.compress(bytes(200 * MB)),
    "br": lambda: brotli.compress(bytes(200 * MB), quality=4),
}


@pytest.mark.parametrize("encoding", BOMBS)
def test_bombs_stop_at_the_cap(one: Any, answer: Any, encoding: str) -> None:
    bomb = BOMBS[encoding]()
    before, began = peak(), time.process_time()
    error = one(answer(bomb, Content_Encoding=encoding))
    assert (error.error_type, error.http_status) == ("too_large", 200)
    assert 10 * MB < error.bytes < 11 * MB
    assert peak() - before < 80 * MB  # of 200 MB that the bomb holds
    assert effort_since(began) < 2


def test_a_bomb_in_a_bomb_is_refused(one: Any, answer: Any) -> None:
    body = gzip.compress(gzip.compress(b"<p>text"))
    assert one(answer(body, Content_Encoding="gzip, gzip")).sentence.endswith(
        "content encoding cannot be decoded."
    )
    assert one(answer(body, Content_Encoding="gzip\r\nContent-Encoding: gzip")).error_type == "http"


@pytest.mark.parametrize("encoding", ["zstd", "compress", "lzma", "gzip;q=1", "br, identity, gzip"])
def test_encodings_that_were_not_offered_are_refused(one: Any, answer: Any, encoding: str) -> None:
    error = one(answer(b"\x28\xb5\x2f\xfd", Content_Encoding=encoding))
    assert (error.error_type, error.http_status) == ("http", 200)


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", brotli.compress)]
)
def test_a_compressed_body_that_is_cut_off_is_an_error(
    one: Any, answer: Any, encoding: str, pack: Any
) -> None:
    page = bytes(range(32, 127)) * 2000
    whole = pack(page)
    assert one(answer(whole, Content_Encoding=encoding)).content == page
    for part in (whole[: len(whole) // 2], whole[:-1]):
        error = one(answer(part, Content_Encoding=encoding), retries=0)
        assert isinstance(error, FetchError), "short content must not pass for a page"
        assert error.error_type == "connection"


def test_a_body_that_is_not_what_its_encoding_says(one: Any, answer: Any) -> None:
    for encoding in ("gzip", "br"):
        assert one(answer(b"<p>plain", Content_Encoding=encoding)).error_type == "http"


def test_an_encoding_that_names_no_encoding_is_read_as_it_is(one: Any, answer: Any) -> None:
    # Seen on real servers: a charset or "none" in Content-Encoding, the body plain.
    for name in ("UTF-8", "none", "identity", ""):
        assert one(answer(b"<p>plain", Content_Encoding=name)).content == b"<p>plain"


def test_an_empty_body_may_claim_an_encoding(one: Any, answer: Any) -> None:
    for encoding in ("gzip", "deflate", "br"):
        assert one(answer(b"", Content_Encoding=encoding)).content == b""


async def endless(writer: asyncio.StreamWriter, start: bytes, piece: bytes, pause: float = 0.0) -> None:
    writer.write(start)
    while True:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(pause)


def sending(start: bytes, piece: bytes, pause: float = 0.0) -> Any:
    return lambda path, headers: lambda writer: endless(writer, start, piece, pause)


def test_endless_chunks_stop_at_the_cap(one: Any) -> None:
    before = peak()
    error = one(
        sending(head("Transfer-Encoding: chunked"), b"10000\r\n" + bytes(65536) + b"\r\n"), timeout=10
    )
    assert error.error_type == "too_large"
    assert peak() - before < 80 * MB


def test_an_endless_body_without_length_stops_at_the_cap(one: Any) -> None:
    assert one(sending(head(), bytes(65536)), timeout=10).error_type == "too_large"


def test_an_endless_compressed_body_that_gives_nothing_stops_too(one: Any) -> None:
    # Empty gzip members: 20 bytes each, no output at all.
    error = one(sending(head("Content-Encoding: gzip"), gzip.compress(b"") * 500), timeout=10)
    assert error.error_type == "http"
    # Empty stored blocks inside one member.
    empty_blocks = b"\x00\x00\x00\xff\xff" * 10_000
    start = head("Content-Encoding: gzip") + b"\x1f\x8b\x08\0\0\0\0\0\0\x03"
    assert one(sending(start, empty_blocks), timeout=10, max_bytes=MB).error_type == "too_large"


def test_a_length_above_the_cap_is_refused_before_the_body(one: Any) -> None:
    error = one(sending(head("Content-Length: 999999999"), b"x", 0.05))
    assert (error.error_type, error.bytes) == ("too_large", 0)


def test_the_cap_is_exact(one: Any, answer: Any) -> None:
    assert len(one(answer(b"x" * 1000), max_bytes=1000).content) == 1000
    assert one(answer(b"x" * 1001), max_bytes=1000).error_type == "too_large"
    packed = gzip.compress(b"x" * 1000)
    assert len(one(answer(packed, Content_Encoding="gzip"), max_bytes=1000).content) == 1000
    packed = gzip.compress(b"x" * 1001)
    assert one(answer(packed, Content_Encoding="gzip"), max_bytes=1000).error_type == "too_large"


@pytest.mark.parametrize("promised", [head("Content-Length: 100000"), head("Transfer-Encoding: chunked")])
def test_half_an_answer_is_an_error(one: Any, promised: bytes) -> None:
    async def half(writer: asyncio.StreamWriter) -> None:
        writer.write(promised + b"5\r\nhalf!\r\n")
        await writer.drain()

    calls = []

    def respond(path: str, headers: Any) -> Any:
        calls.append(path)
        return half

    error = one(respond, retries=2)
    assert (error.error_type, len(calls)) == ("connection", 3)
    assert error.sentence.endswith("broke off before its answer was complete.")


def test_a_reset_in_the_middle_is_an_error(one: Any) -> None:
    async def reset(writer: asyncio.StreamWriter) -> None:
        writer.write(head("Content-Length: 100000") + b"half")
        await writer.drain()
        writer.transport.abort()

    assert one(lambda path, headers: reset).error_type == "connection"


def test_a_connection_closed_without_an_answer(one: Any) -> None:
    async def nothing(writer: asyncio.StreamWriter) -> None:
        writer.close()

    error = one(lambda path, headers: nothing)
    assert (error.error_type, error.http_status) == ("connection", None)


BROKEN = {
    "two lengths": head("Content-Length: 3", "Content-Length: 5") + b"abcde",
    "negative length": head("Content-Length: -5") + b"abcde",
    "length and chunks": head("Content-Length: 5", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
    "NUL in a header": head("X-A: a\0b", "Content-Length: 0"),
    "HTTP/0.9": b"<html>hello</html>\r\n\r\n",
    "SSH": b"SSH-2.0-OpenSSH_9.2p1\r\n",
    "header of 200 KB": head("X-A: " + "a" * 200_000, "Content-Length: 0"),
    "10,000 headers": head(*(f"X-{number}: a" for number in range(10_000)), "Content-Length: 0"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_answers_that_are_not_http(one: Any, name: str) -> None:
    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(BROKEN[name])
        await writer.drain()

    error = one(lambda path, headers: send)
    assert (error.error_type, error.http_status) == ("http", None)
    assert error.sentence == "The `url` parameter names a server whose answer is not valid HTTP."


def test_bad_chunks(one: Any) -> None:
    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(head("Transfer-Encoding: chunked") + b"zz\r\nabc\r\n0\r\n\r\n")
        await writer.drain()

    assert one(lambda path, headers: send).error_type in ("http", "connection")


def test_endless_headers(one: Any) -> None:
    began = time.process_time()
    error = one(sending(b"HTTP/1.1 200 OK\r\n", b"X-A: a\r\n" * 100), timeout=5)
    assert error.error_type == "http"
    assert effort_since(began) < 2


def test_too_short_a_length_gives_what_it_promises_or_an_error(one: Any) -> None:
    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(head("Content-Length: 4") + b"<p>and more that was not promised")
        await writer.drain()

    result = one(lambda path, headers: send)
    assert isinstance(result, FetchError) or len(result.content) == 4


def test_a_hundred_large_cookies_are_dropped(one: Any, answer: Any) -> None:
    cookies = "\r\n".join(["a=" + "c" * 4000] + [f"Set-Cookie: {n}=" + "c" * 4000 for n in range(99)])
    response = one(answer(Set_Cookie=cookies))
    assert response.http_status == 200
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (head("Content-Length: 1000"), b"x"),  # a body of one byte at a time
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x"),  # a header of one byte at a time
        (b"", b""),  # silence
    ],
)
def test_slowness_is_bounded_by_the_deadline(one: Any, start: bytes, piece: bytes) -> None:
    began = time.monotonic()
    error = one(sending(start, piece, 0.05), timeout=0.4)
    assert error.error_type == "timeout"
    assert error.sentence == "The `url` parameter names a page that did not arrive within 0.4 seconds."
    assert 0.35 < time.monotonic() - began < BUSY_SECONDS
    assert 0.35 < error.elapsed < BUSY_SECONDS


@pytest.mark.parametrize("status", ["103 Early Hints", "100 Continue", "102 Processing"])
def test_endless_interim_answers_do_not_keep_the_loop_busy(one: Any, status: str) -> None:
    hint = f"HTTP/1.1 {status}\r\nLink: </a.css>\r\n\r\n".encode()
    began, cpu = time.monotonic(), time.process_time()
    error = one(sending(b"", hint * 1000), timeout=5)
    assert error.error_type == "http"
    assert time.monotonic() - began < BUSY_SECONDS
    assert effort_since(cpu) < 2


def test_some_interim_answers_are_fine(one: Any, answer: Any) -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" * 5
    assert one(hints + answer()).http_status == 200


def test_switching_protocols(one: Any) -> None:
    error = one(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
    assert (error.error_type, error.http_status) == ("http", 101)


def test_a_hostile_server_does_not_disturb_the_others(server: Any, settings: Any, answer: Any) -> None:
    hint = b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1000

    async def main() -> list[Any]:
        async with (
            server(sending(b"", hint)) as flood,
            server(sending(head("Transfer-Encoding: chunked"), b"1\r\nx\r\n" * 100)) as crumbs,
            server(lambda path, headers: answer()) as good,
            Fetcher(settings(timeout=6, max_bytes=MB // 2)) as fetcher,
        ):
            urls = [flood.url, crumbs.url] * 4 + [f"{good.url}/{number}" for number in range(40)]
            return await asyncio.gather(*map(fetcher.fetch, urls), return_exceptions=True)

    results = asyncio.run(main())
    assert all(isinstance(result, FetchError) for result in results[:8])
    assert all(result.http_status == 200 for result in results[8:])
