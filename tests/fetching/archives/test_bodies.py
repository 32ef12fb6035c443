"""Bodies as archives hold them: encoded, with headers that lie, without end, cut off."""

from __future__ import annotations

import gzip
import random
import tracemalloc
import zlib
from pathlib import Path

import brotli
import pytest
import zstandard

import webanalytics as wa
from tests.fetching.archives.files import answer, chunked, page, record, response, title, write
from tests.fetching.archives.reading import told
from webanalytics.fetching.archives.sources import pages as read

BODY = title("Tea")


def _zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(body)


def _deflate(body: bytes) -> bytes:
    return zlib.compress(body)[2:-4]


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (BODY, ()),
        (gzip.compress(BODY), ("Content-Encoding: gzip",)),
        (gzip.compress(BODY), ("content-encoding: X-GZIP",)),
        (zlib.compress(BODY), ("Content-Encoding: deflate",)),
        (_deflate(BODY), ("Content-Encoding: deflate",)),
        (brotli.compress(BODY), ("Content-Encoding: br",)),
        (_zstd(BODY), ("Content-Encoding: zstd",)),
        (_zstd(BODY[:9]) + _zstd(b"") + _zstd(BODY[9:]), ("Content-Encoding: zstd",)),
        (chunked(BODY), ("Transfer-Encoding: chunked",)),
        (chunked(gzip.compress(BODY)), ("Transfer-Encoding: chunked", "Content-Encoding: gzip")),
        (chunked(brotli.compress(BODY)), ("Transfer-Encoding: chunked", "Content-Encoding: br")),
        # what was decoded when it was stored, with the headers of before
        (BODY, ("Content-Encoding: gzip",)),
        (BODY, ("Content-Encoding: br", "Content-Length: 12")),
        (BODY, ("Content-Encoding: deflate",)),
        (BODY, ("Content-Encoding: zstd",)),
        (BODY, ("Transfer-Encoding: chunked",)),
        (BODY, ("Transfer-Encoding: chunked", "Content-Encoding: gzip")),
        (gzip.compress(BODY), ("Transfer-Encoding: chunked", "Content-Encoding: gzip")),
    ],
)
def test_every_encoding_is_decoded_and_what_is_none_is_taken_as_it_is(
    path: Path, body: bytes, headers: tuple[str, ...]
) -> None:
    file = write(path, response("https://a.example/x", body, "Content-Type: text/html", *headers), page("y"))
    assert [entry.html for entry in read(file)] == [BODY.decode(), title("y").decode()]
    assert [entry.html for entry in read(file, decode=False)] == [BODY, title("y")]


@pytest.mark.parametrize(
    ("body", "headers", "error_type"),
    [
        (gzip.compress(BODY * 100)[:-20], ("Content-Encoding: gzip",), "connection"),
        (_zstd(random.Random(1).randbytes(500) + BODY)[:-5], ("Content-Encoding: zstd",), "connection"),
        (_zstd(BODY) + _zstd(BODY)[:-5], ("Content-Encoding: zstd",), "connection"),
        (chunked(BODY)[:-12], ("Transfer-Encoding: chunked",), "connection"),
        (b"\x00\x01" + random.Random(1).randbytes(500), ("Content-Encoding: gzip",), "http"),
        (b"\x00\x01" + random.Random(1).randbytes(500), ("Content-Encoding: zstd",), "http"),
        (b"\x00\x01" + random.Random(1).randbytes(500), ("Content-Encoding: gzip, br",), "http"),
    ],
)
def test_a_body_that_cannot_be_decoded_is_a_row(
    path: Path, body: bytes, headers: tuple[str, ...], error_type: str
) -> None:
    file = write(path, response("https://a.example/x", body, "Content-Type: text/html", *headers), page("y"))
    assert told(file) == [("x", error_type), ("y", "y")]


@pytest.mark.parametrize("encode", [gzip.compress, brotli.compress, _zstd, zlib.compress])
def test_a_body_that_inflates_without_end_costs_no_memory(path: Path, encode: object) -> None:
    name = {gzip.compress: "gzip", brotli.compress: "br", _zstd: "zstd", zlib.compress: "deflate"}[encode]  # type: ignore[index]
    bomb = encode(b"<p>tea" * 20_000_000)  # type: ignore[operator]
    file = write(
        path,
        response("https://a.example/x", bomb, "Content-Type: text/html", f"Content-Encoding: {name}"),
        page("y"),
    )
    del bomb
    tracemalloc.start()
    try:
        assert told(file, max_download=1_000_000) == [("x", "too_large"), ("y", "y")]
        assert tracemalloc.get_traced_memory()[1] < 15_000_000
    finally:
        tracemalloc.stop()


def test_a_page_above_the_limit_is_a_row(path: Path) -> None:
    file = write(path, response("https://a.example/x", b"<p>" + b"tea " * 300_000), page("y"))
    assert told(file, max_download=1_000_000) == [("x", "too_large"), ("y", "y")]
    assert told(file, max_download=2_000_000)[0][1] != "too_large"
    assert wa.metadata(file, max_download=1_000_000)["error_type"].tolist()[0] == "too_large"


def test_a_member_that_inflates_without_end_costs_no_memory(tmp_path: Path) -> None:
    zeros = response("https://a.example/x", b"\0" * 200_000_000)
    file = write(tmp_path / "a.warc.gz", zeros, page("y"))
    del zeros
    tracemalloc.start()
    try:
        assert told(file, max_download=1_000_000)[1] == ("y", "y")
        assert tracemalloc.get_traced_memory()[1] < 15_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("line", [b"X: " + b"a" * 100_000_000, b"X: a\r\n" * 1_000_000, b"a" * 100_000_000])
def test_a_head_without_end_is_damage(tmp_path: Path, line: bytes) -> None:
    file = write(tmp_path / "a.warc.gz", b"WARC/1.1\r\n" + line, page("y"))
    tracemalloc.start()
    try:
        assert told(file)[1:] == [("y", "y")]
        assert tracemalloc.get_traced_memory()[1] < 15_000_000
    finally:
        tracemalloc.stop()
    assert next(iter(read(file))).error == "The archive is damaged from byte 0 on."


def test_what_was_cut_off_when_it_was_stored_is_a_row(path: Path) -> None:
    cut = response("https://a.example/x", BODY, WARC_Truncated="length")
    (found,) = read(write(path, cut))
    assert (found.error_type, found.error) == (
        "too_large",
        "The page was cut off when it was archived (length).",
    )
    assert found.headers == "Content-Type: text/html"


def test_a_page_in_segments_is_a_row_that_says_so(path: Path) -> None:
    """ISO 28500, section 7: the rest of a block is in records of the kind "continuation"."""
    begin = response("https://a.example/x", BODY, WARC_Segment_Number="1")
    rest = record("continuation", b"more", "https://a.example/x", WARC_Segment_Number="2")
    (found,) = read(write(path, begin, rest))
    assert found.error == "The page was cut off when it was archived (its rest is in other records)."


@pytest.mark.parametrize("interim", ["100 Continue", "103 Early Hints\r\nLink: </a>; rel=preload"])
def test_an_answer_comes_after_those_that_are_none_yet(path: Path, interim: str) -> None:
    """RFC 9110, section 15.2."""
    block = f"HTTP/1.1 {interim}\r\n\r\n".encode() * 2 + answer(BODY)
    (found,) = read(write(path, record("response", block, "https://a.example/x", "application/http")))
    assert (found.http_status, found.headers, found.html) == (200, "Content-Type: text/html", BODY.decode())
