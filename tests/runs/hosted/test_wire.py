"""What is sent, byte for byte, and what is read from the bodies of answers."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from aiohttp import FormData
from PIL import Image

import webanalytics as wa
from tests.runs.hosted.calls import sign
from tests.runs.hosted.proxy import Proxy
from webanalytics.core.operations.secret import Secret
from webanalytics.core.outcomes import UNUSABLE, Job, PageRecord
from webanalytics.errors import RowError
from webanalytics.fetching.testing import SampleSite
from webanalytics.operations import OPERATIONS
from webanalytics.runs.backends.hosted import wire
from webanalytics.runs.backends.hosted.wire import (
    WrongAnswerError,
    batch_request,
    read_object,
    sendable,
    served_settings,
    single_request,
)

Make = Callable[..., wa.Hosted]


@pytest.mark.parametrize(
    "body",
    [b"\xff\xfe{}", b"\xef\xbb\xbf{}", b"{", b"[]", b'"ok"', b"7", b"null", b"", b"<html>", b'{"a": ' * 100_000,
     b'{"a": ' + b"[" * 100_000, b'{"a": ' + b"1" * 5000],
)  # fmt: skip
def test_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(WrongAnswerError):
        read_object(body)


# ------------------------------------------------------------------ requests


def _content(body: Any) -> Any:
    return json.loads(body.read() if isinstance(body, io.BytesIO) else body)


def _task_settings(name: str, **given: Any) -> dict[str, Any]:
    operation = OPERATIONS[name]
    return served_settings(operation, operation.check_settings(given))


def test_a_batch_of_messages() -> None:
    settings = _task_settings("hmac", secret="k\u00e9y", algorithm="md5")
    request = batch_request(OPERATIONS["hmac"], [Job(0, "a"), Job(1, "\u706f")], settings, "the-key")
    assert (request.method, request.path, request.content_type) == (
        "POST",
        "/v1/hmac/batch",
        "application/json",
    )
    assert request.idempotency_key == "the-key"
    same = {"secret": "k\u00e9y", "algorithm": "md5", "encoding": "hex"}
    assert _content(request.make_body()) == {
        "inputs": [{"message": "a", **same}, {"message": "\u706f", **same}]
    }
    assert _content(request.make_body()) == _content(request.make_body())
    assert "k\u00e9y" not in repr(request)
    assert isinstance(settings["secret"], Secret)


@pytest.mark.parametrize(
    ("name", "given", "wanted"),
    [
        ("metadata", {"body": True}, {}),
        ("text", {}, {}),
        ("keywords", {}, {}),
        ("dane", {}, {}),
        ("phone", {"details": True, "region": "DE"}, {}),
        (
            "convert",
            {"output_format": "png", "max_width": 7},
            {"outputFormat": "png", "quality": 80, "maxWidth": 7},
        ),
    ],
)
def test_only_what_the_service_knows_is_sent(
    name: str, given: dict[str, Any], wanted: dict[str, Any]
) -> None:
    assert _task_settings(name, **given) == wanted


def test_a_single_page() -> None:
    request = single_request(OPERATIONS["text"], Job(0, "https://example.org/\u706f"), {}, "key")
    assert (request.method, request.path) == ("POST", "/v1/websitetotext")
    assert _content(request.make_body()) == {"url": "https://example.org/\u706f"}


def test_a_single_phone_number() -> None:
    request = single_request(OPERATIONS["phone"], Job(0, "+1 (208)&x=\u00e9"), {}, "key")
    assert (request.method, request.make_body(), request.idempotency_key) == ("GET", None, None)
    path, _, query = request.path.partition("?")
    assert path == "/v1/disposablephone"
    assert query.startswith("phone=%2B1")
    assert parse_qsl(query) == [("phone", "+1 (208)&x=\u00e9")]


def test_an_image_is_a_form() -> None:
    settings = _task_settings("convert", output_format="webp")
    request = single_request(OPERATIONS["convert"], Job(0, b"content"), settings, "key")
    assert request.content_type is None
    for _ in range(2):
        form = request.make_body()
        assert isinstance(form, FormData)
        body = asyncio.run(_written(form))
        assert b'name="image"; filename="image"' in body
        assert b"\r\n\r\ncontent\r\n" in body
        assert b'name="outputFormat"\r\n\r\nwebp\r\n' in body
        assert b'name="quality"\r\n\r\n80\r\n' in body


async def _written(form: FormData) -> bytes:
    pieces = []

    class Writer:
        async def write(self, piece: bytes) -> None:
            pieces.append(bytes(piece))

    payload = form()
    await payload.write(Writer())
    return b"".join(pieces)


# ------------------------------------------------------------------ what can be sent


@pytest.mark.parametrize(
    ("name", "subject", "sentence"),
    [
        ("text", None, "The `url` parameter is required."),
        ("text", UNUSABLE, "The `url` parameter must be a valid URL in http or https format."),
        ("text", "http://\ud800", "The `url` parameter must be a valid URL in http or https format."),
        ("text", Path("page.html"), "this page is on this machine"),
        ("text", PageRecord("http://a.example/", "<p>"), "this page is on this machine"),
        ("hmac", "\ud800", "must be text without lone surrogates"),
        (
            "convert",
            Path("/no/such/file.png"),
            "names a file that cannot be read: No such file or directory.",
        ),
        ("convert", "data:image/png;base64,*", "must be a well-formed data: URL"),
    ],
)
def test_what_cannot_be_sent_is_a_row(name: str, subject: Any, sentence: str) -> None:
    with pytest.raises(RowError) as caught:
        sendable(OPERATIONS[name], Job(0, subject))
    assert sentence in caught.value.sentence
    assert caught.value.error_type == "invalid"


def test_a_file_over_the_limit_is_not_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(wire, "MOST_IMAGE_BYTES", 10)
    (tmp_path / "a.png").write_bytes(b"x" * 11)
    (tmp_path / "b.png").write_bytes(b"x" * 10)
    with pytest.raises(RowError) as caught:
        sendable(OPERATIONS["convert"], Job(0, tmp_path / "a.png"))
    assert caught.value.error_type == "too_large"
    assert sendable(OPERATIONS["convert"], Job(0, tmp_path / "b.png")).subject == b"x" * 10


# ------------------------------------------------------------------ on a real connection


def test_headers(proxy: Proxy, hosted: Make, pro: str) -> None:
    sign(3, hosted())
    (record,) = proxy.requests
    assert record.headers["x-api-key"] == pro
    assert record.headers["Accept"] == "application/json"
    assert record.headers["Content-Type"] == "application/json"
    assert record.headers["User-Agent"].startswith("webanalytics/")
    assert len(record.headers["Idempotency-Key"]) == 64
    assert "Cookie" not in record.headers


def test_other_runs_have_other_keys(proxy: Proxy, hosted: Make) -> None:
    for _ in range(2):
        sign(3, hosted())
    first, second = proxy.requests
    assert first.body == second.body
    assert first.headers["Idempotency-Key"] != second.headers["Idempotency-Key"]


def test_equal_inputs_are_sent_and_paid_for_once(proxy: Proxy, hosted: Make) -> None:
    frame = wa.hmac(["a", "b", "a", "a"], secret="k", backend=hosted(), progress=False)
    assert [given["message"] for given in proxy.requests[0].json["inputs"]] == ["a", "b"]
    assert frame["status"].eq("ok").all()
    assert frame.attrs["credits"]["used"] == 4


@pytest.mark.parametrize(("batch_size", "sizes"), [(200, [200, 200, 50]), (100, [100] * 4 + [50])])
def test_batches_have_at_most_so_many_inputs(
    proxy: Proxy, hosted: Make, batch_size: int, sizes: list[int]
) -> None:
    sign(450, hosted(batch_size=batch_size, concurrency=1))
    assert [len(record.json["inputs"]) for record in proxy.requests] == sizes


def test_so_many_requests_at_once(proxy: Proxy, hosted: Make) -> None:
    sign(300, hosted(batch_size=5, concurrency=4))
    assert 2 <= proxy.at_once <= 4
    before = len(proxy.requests)
    sign(100, hosted(batch_size=5, concurrency=4), concurrency=1)
    later = proxy.requests[before:]
    assert len({record.connection for record in later}) == 1


def test_long_inputs_are_spread_over_requests(proxy: Proxy, hosted: Make) -> None:
    messages = [f"{number}" + "x" * 900_000 for number in range(9)]
    frame = wa.hmac(messages, secret="k", backend=hosted(concurrency=1), progress=False)
    assert frame["hmac"].equals(wa.hmac(messages, secret="k")["hmac"])
    assert [len(record.json["inputs"]) for record in proxy.requests] == [4, 4, 1]


def test_long_inputs_in_other_scripts_are_weighed_in_bytes(proxy: Proxy, hosted: Make) -> None:
    messages = [f"{number}" + "\u706f" * 300_000 for number in range(6)]
    frame = wa.hmac(messages, secret="k", backend=hosted(concurrency=1), progress=False)
    assert frame["hmac"].equals(wa.hmac(messages, secret="k")["hmac"])
    assert [len(record.json["inputs"]) for record in proxy.requests] == [4, 2]


def test_images_are_uploaded_as_they_are(proxy: Proxy, hosted: Make, tmp_path: Path) -> None:
    Image.effect_noise((1200, 1100), 90).save(tmp_path / "a.png")
    content = (tmp_path / "a.png").read_bytes()
    assert len(content) > 1_100_000
    frame = wa.convert([tmp_path / "a.png"], "jpg", quality=30, backend=hosted(), progress=False)
    upload, download = proxy.requests
    assert upload.path == "/v1/webpconverter"
    assert upload.headers["Content-Type"].startswith("multipart/form-data; boundary=")
    assert content in upload.body
    assert str(tmp_path) not in upload.body.decode("latin-1")
    assert frame["inputSize"].tolist() == [len(content)]
    assert (download.method, download.headers.get("x-api-key")) == ("GET", None)


def test_image_urls_go_in_batches(proxy: Proxy, hosted: Make, site: SampleSite) -> None:
    urls = [site.url + "/images/wick.jpg", site.url + "/images/harbour.jpg"]
    frame = wa.convert(urls, "webp", backend=hosted(), progress=False, allow_private=True)
    assert frame["status"].eq("ok").all()
    post = proxy.requests[0]
    assert (post.path, [given["image"] for given in post.json["inputs"]]) == ("/v1/webpconverter/batch", urls)


def test_files_are_sent_by_their_content_only(proxy: Proxy, hosted: Make, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<title>Here</title>")
    frame = wa.metadata([tmp_path / "page.html"], backend=hosted(), progress=False)
    assert frame["error_type"].tolist() == ["invalid"]
    assert proxy.requests == []
