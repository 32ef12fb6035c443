"""Bodies and answers that are small on one side and large on the other, and customers beside each other."""

from __future__ import annotations

import gzip
import json
import select
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from functools import cache

import brotli
import pytest

from tests.effort import slowdown
from tests.service.live import Server, processor_seconds
from tests.service.test_incoming import open_request, read_answer
from webanalytics.fetching.testing import SiteServer

HMAC = {"message": "m", "secret": "s"}
LARGE_PAGE = b"<title>large</title><p>" + b"word word word word\n" * 40_000  # 0.8 MB


@pytest.fixture(scope="module")
def tight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service with small budgets."""
    quick = {
        "WEBANALYTICS_ANSWER_BYTES": "3000000",
        "WEBANALYTICS_SAVED_BYTES": "2000000",
        "WEBANALYTICS_BODY_MEMORY": "8000000",
    }
    with Server(tmp_path_factory.mktemp("tight"), environment=quick) as server:
        yield server


@cache
def bomb(encoding: str) -> bytes:
    """A small body of gigabytes of spaces."""
    if encoding == "br":
        compressor = brotli.Compressor(quality=5)
        return b"".join(compressor.process(b" " * 10_000_000) for _ in range(300)) + compressor.finish()
    stream = zlib.compressobj(1, wbits=31)
    return b"".join(stream.compress(b" " * 10_000_000) for _ in range(100)) + stream.flush()


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("encoding", ["br", "gzip"])
def test_a_compressed_body_that_is_refused_is_not_decompressed(
    server: Server, pro: str, encoding: str, keyed: bool
) -> None:
    body = bomb(encoding)
    headers = {"Content-Encoding": encoding}
    key = pro if keyed else None
    before = processor_seconds(server)
    status = server.call("POST", "/v1/hmac", key=key, body=body, headers=headers).status
    assert (processor_seconds(server) - before) / slowdown() < 0.5  # all of it takes seconds
    assert status == (400 if keyed else 403)


def test_a_compressed_body_is_read(server: Server, pro: str) -> None:
    content = json.dumps(HMAC).encode()
    plain = server.post("/v1/hmac", pro, **HMAC).json
    for encoding, body in (
        ("gzip", gzip.compress(content)),
        (
            "gzip",
            gzip.compress(content[:9]) + gzip.compress(content[9:]),
        ),  # two members (RFC 1952 section 2.2)
        ("", content),
        ("deflate", zlib.compress(content)),
        ("identity", content),
    ):
        got = server.call("POST", "/v1/hmac", key=pro, body=body, headers={"Content-Encoding": encoding})
        assert got.json == plain


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("lzma", b"{}"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0)),
        ("gzip", gzip.compress(json.dumps(HMAC).encode())[:-8]),  # without its trailer
        ("gzip", gzip.compress(json.dumps(HMAC).encode()) + b"more"),
        ("gzip", b"no gzip"),
        ("deflate", gzip.compress(b"{}")),
        ("deflate", zlib.compress(b'{"message": "m", ') + zlib.compress(b'"secret": "s"}')),
    ],
)
def test_a_wrong_content_encoding_is_refused(server: Server, pro: str, encoding: str, body: bytes) -> None:
    got = server.call("POST", "/v1/hmac", key=pro, body=body, headers={"Content-Encoding": encoding})
    assert got.status == 400
    assert "`Content-Encoding`" in got.error


def test_a_body_that_decodes_to_nothing_is_bounded_too(server: Server, pro: str) -> None:
    empty = b"\x00\x00\x00\xff\xff" * 13_000  # stored blocks without a byte (RFC 1951 section 3.2.4)
    chunk = b"%x\r\n%b\r\n" % (len(empty), empty)
    headers = ("Transfer-Encoding: chunked", "Content-Encoding: gzip")
    with open_request(server, pro, "/v1/hmac", *headers) as connection:
        connection.sendall(b"a\r\n" + gzip.compress(b"", mtime=0)[:10] + b"\r\n")
        for _ in range(1000):
            if select.select([connection], [], [], 0)[0]:
                break
            connection.sendall(chunk)
        status, answer = read_answer(connection)
    assert (status, answer["error"]) == (400, "The request body must be at most 5,000,000 bytes.")


def test_parts_of_other_multipart_types_are_not_decompressed(server: Server, pro: str) -> None:
    part = gzip.compress(b"\0" * 50_000_000)
    head = b'--xx\r\nContent-Disposition: form-data; name="image"; filename="a"\r\nContent-Encoding: gzip\r\n\r\n'
    body = head + part + b"\r\n--xx--\r\n"
    headers = {"Content-Type": "multipart/mixed; boundary=xx"}
    got = server.call("POST", "/v1/webpconverter", key=pro, body=body, headers=headers)
    assert (got.status, got.error) == (400, "The request body must be a JSON object.")


def test_a_json_body_of_an_images_size_holds_an_image(server: Server, pro: str) -> None:
    body = b'{"image": [' + b"1," * 1_000_000 + b'1], "outputFormat": "png"}'
    got = server.call("POST", "/v1/webpconverter", key=pro, body=body)
    assert (got.status, got.error) == (400, "The request body must be a JSON object of at most 20,000 parts.")


def test_an_answer_is_bounded_and_what_does_not_fit_can_be_sent_again(tight: Server) -> None:
    key = tight.key()
    with SiteServer({f"/{number}": LARGE_PAGE for number in range(6)}) as site:
        inputs = [{"url": f"{site.url}/{number}"} for number in range(6)]
        got = tight.post("/v1/metadataextractor/batch", key, inputs=inputs)
        statuses = [item["statusCode"] for item in got.data["results"]]
        assert sorted(statuses) == [200] * 3 + [503] * 3
        assert got.headers["x-api-remaining-credits"] == str(250_000 - 2 * 3)
        assert len(got.body) < 3_100_000
        again = [given for given, status in zip(inputs, statuses, strict=True) if status == 503]
        got = tight.post("/v1/metadataextractor/batch", key, inputs=again)
        assert got.data["succeeded"] == 3


def test_a_kept_answer_is_bounded(tight: Server) -> None:
    key = tight.key()
    with SiteServer({"/0": LARGE_PAGE, "/1": LARGE_PAGE * 3, "/2": LARGE_PAGE * 5}) as site:
        inputs = [{"url": f"{site.url}/0"}, {"url": f"{site.url}/0?1"}, {"url": f"{site.url}/0?2"}]
        body = json.dumps({"inputs": inputs}).encode()
        headers = {"Idempotency-Key": "large"}
        answers = [
            tight.call("POST", "/v1/metadataextractor/batch", key=key, body=body, headers=headers)
            for _ in range(2)
        ]
        assert answers[0].data["succeeded"] == 2
        assert answers[0].json == answers[1].json
        body = json.dumps({"url": f"{site.url}/1"}).encode()
        got = tight.call(
            "POST", "/v1/metadataextractor", key=key, body=body, headers={"Idempotency-Key": "one"}
        )
        assert (got.status, "`Idempotency-Key`" in got.error) == (400, True)
        assert tight.call("POST", "/v1/metadataextractor", key=key, body=body).status == 200
        got = tight.post("/v1/metadataextractor", key, url=f"{site.url}/2")
        assert got.error == "The `url` parameter names a page whose answer has more than 3,000,000 bytes."
        assert got.headers["x-api-remaining-credits"] == str(250_000 - 2 * 2 - 2)


def test_integers_of_any_size_survive_being_kept(server: Server) -> None:
    page = b'<script type="application/ld+json">{"@type": "Thing", "big": 123456789012345678901234567890}</script>'
    key = server.key()
    with SiteServer({"/": page}) as site:
        body = json.dumps({"url": f"{site.url}/"}).encode()
        headers = {"Idempotency-Key": "big"}
        answers = [
            server.call("POST", "/v1/metadataextractor", key=key, body=body, headers=headers)
            for _ in range(2)
        ]
    assert {got.data["jsonld"][0]["big"] for got in answers} == {123456789012345678901234567890}


def test_one_customers_stalled_bodies_leave_room_for_others(tight: Server) -> None:
    mine, other = tight.key(), tight.key()
    stalled: list[socket.socket] = []
    try:
        for _ in range(4):  # 4 bodies of 1.5 MB: more than half of the 8 MB
            connection = open_request(tight, mine, "/v1/hmac", "Content-Length: 2000000")
            connection.sendall(b" " * 1_500_000)
            stalled.append(connection)
        time.sleep(0.3)
        large = "m" * 2_000_000
        assert tight.post("/v1/hmac", mine, message=large, secret="s").status == 503
        assert tight.post("/v1/hmac", mine, **HMAC).status == 200  # small ones are not counted
        assert tight.post("/v1/hmac", other, message=large, secret="s").status == 200
    finally:
        for connection in stalled:
            connection.close()


def test_credits_held_by_calls_under_way_are_not_gone(server: Server) -> None:
    key = server.key(plan="free")
    assert server.post("/v1/hmac/batch", key, inputs=[HMAC] * 200).status == 200  # 1,100 credits are left
    with SiteServer({"/": LARGE_PAGE}, delay=1.5) as site:
        inputs = [{"url": f"{site.url}/{number}"} for number in range(110)]
        batch = threading.Thread(
            target=lambda: server.post("/v1/websitetotext/batch", key, inputs=inputs, timeout=100)
        )
        batch.start()
        time.sleep(0.8)
        got = server.post("/v1/hmac", key, **HMAC)
        batch.join()
    assert got.status == 429
    assert got.headers["x-api-remaining-credits"] == "1100"
    assert int(got.headers["retry-after"]) >= 1
    assert server.post("/v1/hmac", key, **HMAC).status == 200
