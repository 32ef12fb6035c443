"""The engine: what calls give for pages, records and images."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import io
import textwrap
import time
from typing import Any

import pytest
from PIL import Image

from tests.effort import BUSY_SECONDS
from tests.service.evil import BASE, UPLOAD, Evil, ask, http, open_engine, streaming
from webanalytics.core.operations.model import AS_DEFAULT
from webanalytics.core.operations.secret import Secret
from webanalytics.operations import AUDIT, OPERATIONS
from webanalytics.page.page import Page
from webanalytics.runs.workers.worker import analysis_function
from webanalytics.service.engine import Engine
from webanalytics.service.images import PATH
from webanalytics.service.results import Result

ARTICLE = (
    "<!doctype html><html lang=en><head><title>Lanterns &amp; wicks</title>"
    '<meta name=description content="How lanterns burn."></head><body><h1>Lanterns</h1><p>'
    + "The keeper of the lantern trims its wick every evening before the ships arrive. " * 20
    + "</p></body></html>"
).encode()


def png(size: tuple[int, int] = (40, 30)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, "red").save(file, "PNG")
    return file.getvalue()


def declared(operation: str) -> list[str]:
    return [field.name for field in OPERATIONS[operation].fields if not field.extra]


@pytest.mark.parametrize("operation", [operation.name for operation in AUDIT])
def test_a_page_is_answered_as_its_analysis_answers_it(operation: str) -> None:
    async def main() -> tuple[Result, str]:
        async with Evil({"/a": http(ARTICLE)}) as site, open_engine() as engine:
            return await ask(engine, operation, site.url + "/a"), site.url + "/a"

    result, url = asyncio.run(main())
    chosen = {
        item.keyword: item.served
        for item in OPERATIONS[operation].parameters
        if item.served is not AS_DEFAULT
    }  # keywords of the whole page
    expected = analysis_function(OPERATIONS[operation].analysis)(
        Page(ARTICLE, url, url, "text/html"), **chosen
    )
    assert (result.status, result.error) == (200, None)
    assert result.data is not None
    assert list(result.data) == declared(operation)
    served = {"responseBody": ARTICLE.decode()} if operation == "metadata" else {}
    assert dict(result.data) == {name: expected[name] for name in declared(operation)} | served


def test_a_redirected_page_keeps_the_submitted_url_beside_the_final_one() -> None:
    async def main() -> tuple[Result, str]:
        pages = {"/a": http(b"", "302 Found", Location="/b"), "/b": http(ARTICLE)}
        async with Evil(pages) as site, open_engine() as engine:
            return await ask(engine, "metadata", site.url + "/a"), site.url

    result, url = asyncio.run(main())
    assert result.data is not None
    assert (result.data["requestUrl"], result.data["url"]) == (f"{url}/a", f"{url}/b")


def record(operation: str, **given: Any) -> Result | None:
    engine = Engine.__new__(Engine)
    Engine.__init__(engine, _settings(), images=None)  # type: ignore[arg-type] - records need no store
    return engine._record(OPERATIONS[operation], given)


def _settings() -> Any:
    from webanalytics.service.settings import ServiceSettings

    return ServiceSettings({"workers": 1})


def test_records_are_computed_at_once() -> None:
    # RFC 4231, test case 2.
    jefe = {"message": "what do ya want for nothing?", "secret": Secret("Jefe")}
    signed = record("hmac", **jefe, algorithm="sha256", encoding="hex")
    assert signed is not None
    assert signed.data == {
        "hmac": "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        "algorithm": "sha256",
        "encoding": "hex",
    }
    number = record("phone", phone="+12085813945")
    assert number is not None
    assert number.data == {"phone": "+12085813945", "isDisposable": True, "firstSeen": "2024-01-30"}
    tlsa = record("dane", record="_443._tcp.example.org. 3600 IN TLSA 3 1 1 " + "ab" * 32)
    assert tlsa is not None
    assert tlsa.data is not None
    assert list(tlsa.data) == declared("dane")
    assert tlsa.data["interpretation"]["security_level"] == "Recommended"


@pytest.mark.parametrize(
    ("operation", "given", "sentence"),
    [
        ("phone", {"phone": "020 7946 0958"}, "a valid phone number in E.164 format."),
        ("phone", {"phone": "no number"}, "a valid phone number in E.164 format."),
        ("dane", {"record": "example.org. IN A 192.0.2.1"}, ""),
        (
            "hmac",
            {"message": "\ud800", "secret": Secret("k"), "algorithm": "md5", "encoding": "hex"},
            "text without lone surrogates, for UTF-8 to encode it.",
        ),
    ],
)
def test_a_wrong_record_is_a_400_that_names_its_parameter(operation: str, given: Any, sentence: str) -> None:
    result = record(operation, **given)
    assert result is not None
    assert (result.status, result.data) == (400, None)
    assert result.error is not None
    assert result.error.startswith(f"The `{next(iter(given))}` parameter must be")
    assert result.error.endswith(sentence)
    assert "`region`" not in result.error


def test_a_large_message_is_signed_in_a_thread() -> None:
    message = "lantern " * 2_000_000
    given = {"message": message, "secret": Secret("key"), "algorithm": "sha512", "encoding": "base64"}

    async def main() -> tuple[Result, float]:
        async with open_engine() as engine:
            loop, longest = asyncio.get_running_loop(), 0.0
            call = asyncio.create_task(
                engine.compute(OPERATIONS["hmac"], given, account=1, upload_bytes=1, premium=False)
            )
            while not call.done():
                began = loop.time()
                await asyncio.sleep(0)
                longest = max(longest, loop.time() - began)
            return await call, longest

    result, longest = asyncio.run(main())
    expected = base64.b64encode(hmac.digest(b"key", message.encode(), hashlib.sha512)).decode()
    assert result.data is not None
    assert result.data["hmac"] == expected
    assert longest < 0.5


# Images
def test_an_image_in_every_form_it_may_be_given_in() -> None:
    content = png()
    encoded = base64.b64encode(content).decode()
    lines = "\n".join(textwrap.wrap(encoded, 76))
    percent = "".join(f"%{byte:02x}" for byte in content)

    async def main() -> list[tuple[Result, bytes, str]]:
        found = []
        async with Evil({"/a.png": http(content, Content_Type="image/png")}) as site, open_engine() as engine:
            for image in (
                content,
                encoded,
                lines,
                f"data:image/png;base64,{encoded}",
                f"data:;base64,{encoded.replace('+', '%2B').replace('/', '%2F').replace('=', '%3D')}",
                f"DATA:image/png,{percent}",
                f"{site.url}/a.png",
            ):
                result = await ask(engine, "convert", image, outputFormat="webp")
                assert result.data is not None, result.error
                stored = await engine._images.open(result.data["downloadURL"].removeprefix(BASE + PATH))
                assert stored is not None
                assert isinstance(stored.content, bytes)
                found.append((result, stored.content, stored.mime_type))
        return found

    found = asyncio.run(main())
    assert len({stored for _, stored, _ in found}) == 1
    for result, stored, mime_type in found:
        assert result.data is not None
        assert list(result.data) == declared("convert")
        assert (result.data["inputFormat"], result.data["outputFormat"]) == ("png", "webp")
        assert (result.data["inputSize"], result.data["outputSize"]) == (len(content), len(stored))
        assert result.data["mimeType"] == mime_type == "image/webp"
        assert 0 < result.data["expires"] - time.time() <= 60
        assert type(result.data["expires"]) is int
    assert len({result.data["id"] for result, _, _ in found if result.data}) == len(found)


@pytest.mark.parametrize(
    "image",
    [
        "",
        "   ",
        "%%%",
        "iVBORw0KGgo",  # padding missing (RFC 4648 section 3.2)
        "iVBORw0KGgo==",
        "iVBO=Rw0KGgo",
        "iVBORw0K_-o=",  # the URL-safe alphabet
        "caf\u00e9",
        "\ud800",
        "data:image/png;base64",
        "data:image/png;base64,***",
        "data:,",
    ],
)
def test_what_is_no_base64_is_a_400(image: str) -> None:
    async def main() -> Result:
        async with open_engine() as engine:
            return await ask(engine, "convert", image, outputFormat="png")

    result = asyncio.run(main())
    assert (result.status, result.error) == (
        400,
        "The `image` parameter must be base64, a data: URL or an http(s) URL of a WebP, PNG, JPG, GIF or "
        "TIFF image.",
    )


@pytest.mark.parametrize(
    ("image", "end"),
    [
        ("aGVsbG8=", "an image in WebP, PNG, JPG, GIF or TIFF format."),
        ("file:///etc/passwd", "a valid URL in http or https format."),
        ("ftp://example.com/a.png", "a valid URL in http or https format."),
        ("c:\\a.png", "a valid URL in http or https format."),
        ("http://user:word@example.com/a.png", "without a user name or password."),
    ],
)
def test_other_images_that_cannot_be_read(image: str, end: str) -> None:
    async def main() -> Result:
        async with open_engine() as engine:
            return await ask(engine, "convert", image, outputFormat="png")

    result = asyncio.run(main())
    assert result.status == 400
    assert result.error is not None
    assert result.error.startswith("The `image` parameter must be")
    assert result.error.endswith(end)


def test_images_above_the_plans_limit() -> None:
    content = png((300, 300)) + bytes(20_000)  # bytes after the end of a PNG are ignored
    encoded = base64.b64encode(content).decode()

    async def main() -> list[Result]:
        results = []
        async with Evil({"/a": http(content, Content_Type="image/png")}) as site, open_engine() as engine:
            for limit in (len(content) - 1, len(content)):
                images = (content, encoded, f"data:,{'%00' * len(content)}", site.url + "/a")
                calls = (ask(engine, "convert", i, outputFormat="png", upload_bytes=limit) for i in images)
                results += await asyncio.gather(*calls)
        return results

    results = asyncio.run(main())
    assert [result.status for result in results] == [400] * 4 + [200, 200, 400, 200]
    for result in results[:4]:
        assert result.error is not None
        assert "`image`" in result.error
        assert f"{len(content) - 1:,} bytes" in result.error


def test_a_plan_may_send_more_than_the_analysis_takes_by_itself() -> None:
    content = png() + bytes(21_000_000)

    async def main() -> Result:
        async with open_engine() as engine:
            return await ask(engine, "convert", content, outputFormat="gif", upload_bytes=50_000_000)

    assert asyncio.run(main()).status == 200


@pytest.mark.parametrize(("premium", "size"), [(True, (20, 15)), (False, (40, 30))])
def test_premium_parameters_take_effect_only_on_plans_with_them(premium: bool, size: tuple[int, int]) -> None:
    async def main() -> bytes:
        async with open_engine() as engine:
            result = await ask(engine, "convert", png(), outputFormat="png", maxWidth=20, premium=premium)
            assert result.data is not None
            stored = await engine._images.open(result.data["downloadURL"].rpartition("/")[2])
            assert stored is not None
            assert isinstance(stored.content, bytes)
            return stored.content

    with Image.open(io.BytesIO(asyncio.run(main()))) as image:
        assert image.size == size


def test_an_image_that_cannot_be_stored_is_a_503() -> None:
    async def main() -> Result:
        async with open_engine() as engine:
            engine._images._folder._keep_free = 0

            def full(*_: object) -> None:
                raise OSError(28, "No space left on device: /secret/place")

            engine._images._folder.write = full  # type: ignore[method-assign]
            return await ask(engine, "convert", png(), outputFormat="png")

    result = asyncio.run(main())
    assert result.status == 503
    assert result.retry_after
    assert result.error is not None
    assert "secret" not in result.error


def test_a_secret_is_in_no_log_when_signing_fails(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(message: str, **settings: Any) -> None:
        raise ValueError(f"{message} {settings['secret'].reveal()!r}")

    monkeypatch.setattr("webanalytics.records.hmac.signature.analyse", broken)
    analysis_function.cache_clear()
    try:
        result = record(
            "hmac", message="private words", secret=Secret("key"), algorithm="md5", encoding="hex"
        )
    finally:
        analysis_function.cache_clear()
    assert result is not None
    assert result.status == 500
    assert "private words" not in f"{caplog.text} {result}"
    assert "ValueError" in caplog.text


class Seen:
    def __init__(self) -> None:
        self.events: list[tuple[str, ...]] = []

    def fetched(self, outcome: str, seconds: float) -> None:
        assert 0 <= seconds < BUSY_SECONDS
        self.events.append(("fetched", outcome))

    def analysed(self, operation: str, outcome: str, seconds: float) -> None:
        assert 0 <= seconds < BUSY_SECONDS
        self.events.append(("analysed", operation, outcome))

    def page_cache(self, hit: bool) -> None:
        if hit:
            self.events.append(("hit",))


def test_metrics_are_told() -> None:
    seen = Seen()

    async def main() -> None:
        async with Evil({"/": http(ARTICLE), "/e": http(b"")}) as site, open_engine(metrics=seen) as engine:
            for path in ("/", "/", "/missing", "/e"):
                await ask(engine, "text", site.url + path)

    asyncio.run(main())
    assert seen.events == [
        ("fetched", "ok"),
        ("analysed", "text", "ok"),
        ("hit",),
        ("analysed", "text", "ok"),
        ("fetched", "http"),
        ("fetched", "ok"),
        ("analysed", "text", "error"),
    ]


def test_an_engine_closes_with_work_under_way() -> None:
    async def main() -> None:
        async with Evil({"/": streaming(b"", b"", 0.1)}) as site:
            async with open_engine() as engine:
                call = asyncio.create_task(ask(engine, "text", site.url + "/"))
                await asyncio.sleep(0.2)
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(call, BUSY_SECONDS)

    asyncio.run(main())


def test_the_upload_limit_used_here_is_the_smallest_plans() -> None:
    from webanalytics.service.settings import PLANS

    assert min(plan.upload_bytes for plan in PLANS.values()) == UPLOAD
