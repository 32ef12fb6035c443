"""The engine: which status each failure has, and that no failure reaches another call."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.effort import BUSY_SECONDS
from tests.service.evil import Evil, Names, ask, http, one, open_engine, streaming
from tests.service.test_engine import ARTICLE, png
from webanalytics.errors import BackendError
from webanalytics.runs.workers import pool as workers
from webanalytics.service.results import Result


# Status by the contract: 503 what may work later, 400 what the caller has to change.
async def _hang_up(writer: asyncio.StreamWriter, headers: Any) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\nContent-Type: text/html\r\n\r\n<p>half")
    await writer.drain()


REPLIES: list[tuple[str, Any, int, str]] = [
    ("400", http(b"", "400 Bad Request"), 400, "answered HTTP 400."),
    ("401", http(b"", "401 Unauthorized"), 400, "answered HTTP 401."),
    ("404", http(b"", "404 Not Found"), 400, "answered HTTP 404."),
    ("410", http(b"", "410 Gone"), 400, "answered HTTP 410."),
    ("429", http(b"", "429 Too Many Requests"), 503, "answered HTTP 429."),
    ("500", http(b"", "500 Internal Server Error"), 503, "answered HTTP 500."),
    ("502", http(b"", "502 Bad Gateway"), 503, "answered HTTP 502."),
    ("503", http(b"", "503 Service Unavailable", Retry_After="1"), 503, "answered HTTP 503."),
    ("pdf", http(b"%PDF-1.7", Content_Type="application/pdf"), 400, "but application/pdf."),
    ("image", http(png(), Content_Type="image/png"), 400, "but image/png."),
    ("binary", http(b"\0\1\2\3", Content_Type=""), 400, "neither HTML nor text."),
    ("loop", http(b"", "302 Found", Location="/"), 400, "redirects in a circle."),
    ("no target", http(b"", "302 Found"), 400, "to no valid URL."),
    ("scheme", http(b"", "302 Found", Location="ftp://example.com/"), 400, "not in http or https format."),
    ("garbage", b"SSH-2.0-OpenSSH_9.2\r\n\r\n", 400, "not valid HTTP."),
    ("stacked", http(b"x", Content_Encoding="gzip, gzip"), 400, "cannot be decoded."),
    ("unknown", http(b"x", Content_Encoding="lzma"), 400, "cannot be decoded."),
    ("cut off", _hang_up, 503, "broke off before its answer was complete."),
    ("silent", streaming(b"", b"", 0.1), 503, "did not arrive within 0.5 seconds."),
    ("drip", streaming(http(b"")[:-4] + b"\r\nX: ", b"x", 0.1), 503, "did not arrive within 0.5 seconds."),
    ("too large", http(b"<p>" + b"word " * 30_000), 400, "more than 100,000 bytes."),
    ("empty", http(b""), 400, "page that is empty."),
]


@pytest.mark.parametrize(
    ("reply", "status", "end"), [row[1:] for row in REPLIES], ids=[r[0] for r in REPLIES]
)
def test_the_status_of_a_page_that_cannot_be_had(reply: Any, status: int, end: str) -> None:
    patience = 0.5 if end.endswith("within 0.5 seconds.") else BUSY_SECONDS
    result = one("text", reply, fetch_timeout=patience, max_page_bytes=100_000)
    assert (result.status, result.data) == (status, None)
    assert result.error is not None
    assert result.error.startswith("The `url` parameter ")
    assert result.error.endswith(end)


def test_the_status_of_a_host_that_does_not_answer() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]

    async def main() -> list[Result]:
        results = []
        async with open_engine() as engine:
            results.append(await ask(engine, "text", f"http://127.0.0.1:{port}/"))
        for error in (None, socket.gaierror(socket.EAI_AGAIN, "try again"), OSError("no servers")):
            async with open_engine(Names(error=error)) as engine:
                results.append(await ask(engine, "text", "http://lanterns.example.com/"))
        return results

    refused, unknown, again, broken = asyncio.run(main())
    assert (refused.status, refused.error) == (
        503,
        "The `url` parameter names a server that does not accept connections.",
    )
    assert (unknown.status, unknown.error) == (400, "The `url` parameter names a host that does not exist.")
    assert (again.status, again.error) == (
        503,
        "The `url` parameter names a host that could not be looked up.",
    )
    assert broken.status == 503


def test_robots_are_obeyed_and_a_site_in_trouble_is_tried_later() -> None:
    async def main() -> list[Result]:
        results = []
        for robots in (http(b"User-agent: *\nDisallow: /"), http(b"", "503 Down"), http(b"", "404 None")):
            async with (
                Evil({"/robots.txt": robots, "/": http(ARTICLE)}) as site,
                open_engine(robots=True) as engine,
            ):
                results.append(await ask(engine, "text", site.url + "/"))
        return results

    forbidden, trouble, free = asyncio.run(main())
    assert (forbidden.status, trouble.status, free.status) == (400, 503, 200)
    assert forbidden.error is not None
    assert "robots.txt forbids" in forbidden.error


def test_a_certificate_that_is_not_valid_is_a_400(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_self_signed(tmp_path))

    async def main() -> Result:
        async with Evil({"/": http(ARTICLE)}, ssl=context) as site, open_engine() as engine:
            return await ask(engine, "text", site.url + "/")

    logging.getLogger("asyncio").disabled = True  # the server's side of the broken handshake
    try:
        result = asyncio.run(main())
    finally:
        logging.getLogger("asyncio").disabled = False
    assert (result.status, result.error) == (
        400,
        "The `url` parameter names a server whose TLS certificate is not valid: self-signed.",
    )


def _self_signed(folder: Path) -> Path:
    import datetime

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "lanterns.example.com")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    path = folder / "server.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return path


# Analyses that go wrong. The text analysis of the workers is replaced by one that does what a page says.
@pytest.fixture
def trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    code = """
        import os, sys, time, types
        def analyse(page, **settings):
            what = page.content.decode()
            if what == "hang":
                while True: pass
            if what == "die": os._exit(3)
            if what == "eat": return {"text": bytearray(3_000_000_000)}
            if what == "raise": raise KeyError("secret detail")
            return dict.fromkeys(
                ("date", "description", "title", "title_alt", "text", "language", "publisher", "url"), what
            )
        fake = types.ModuleType("webanalytics.page.text.text")
        fake.analyse = analyse
        fake.main_language = fake.main_text = fake.prose = None  # of other analyses
        analyse.__module__ = "webanalytics.page.text.text"
        sys.modules["webanalytics.page.text.text"] = fake
    """
    (tmp_path / "sitecustomize.py").write_text(textwrap.dedent(code))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    workers.close_idle_workers()
    yield
    workers.close_idle_workers()


def test_a_page_that_hangs_costs_one_503_and_nothing_else(trouble: None) -> None:
    async def main() -> tuple[Result, list[Result]]:
        pages = {f"/{word}": http(word.encode()) for word in ("hang", "fine")}
        async with Evil(pages) as site, open_engine(parse_timeout=6) as engine:
            await ask(engine, "text", site.url + "/fine")
            hanging = asyncio.create_task(ask(engine, "text", site.url + "/hang", account=2))
            await asyncio.sleep(0.2)
            others = [await ask(engine, "text", site.url + "/fine") for _ in range(4)]
            assert not hanging.done()
            return await hanging, others

    hanging, others = asyncio.run(main())
    assert hanging.status == 503
    assert hanging.retry_after
    assert hanging.error == "The `url` parameter names content that takes longer than 6 seconds to analyse."
    assert [result.status for result in others] == [200] * 4


def test_accounts_take_turns_at_the_workers(trouble: None) -> None:
    async def main() -> int:
        pages = {f"/{word}": http(word.encode()) for word in ("hang", "fine")}
        async with Evil(pages) as site, open_engine(parse_timeout=2) as engine:
            await ask(engine, "text", site.url + "/fine")
            hanging = [asyncio.create_task(ask(engine, "text", site.url + "/hang")) for _ in range(12)]
            await asyncio.sleep(0.1)
            assert (await ask(engine, "text", site.url + "/fine", account=2)).status == 200
            earlier = sum(task.done() for task in hanging)
            for task in hanging:
                task.cancel()
            await asyncio.gather(*hanging, return_exceptions=True)
            return earlier

    assert asyncio.run(main()) <= 6  # in the order of arrival, it would wait for all twelve


@pytest.mark.parametrize(("what", "status"), [("die", 503), ("raise", 500), ("eat", 400), ("fine", 200)])
def test_the_status_of_an_analysis_that_fails(
    trouble: None, what: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    result = one("text", http(what.encode()))
    assert result.status == status
    assert "secret" not in f"{result.error} {caplog.text}"
    if what == "raise":
        assert result.error == "The service failed to analyse what the `url` parameter names."
        assert "KeyError" in caplog.text


def test_a_caller_that_leaves_costs_nothing_else(trouble: None) -> None:
    async def main() -> Result:
        pages = {f"/{word}": http(word.encode()) for word in ("hang", "fine")}
        async with Evil(pages) as site, open_engine(workers=1) as engine:
            leaving = asyncio.create_task(ask(engine, "text", site.url + "/hang"))
            await asyncio.sleep(0.5)
            leaving.cancel()
            with pytest.raises(asyncio.CancelledError):
                await leaving
            began = time.monotonic()
            result = await ask(engine, "text", site.url + "/fine")
            assert time.monotonic() - began < BUSY_SECONDS
            return result

    assert asyncio.run(main()).status == 200


@pytest.mark.parametrize(
    ("error", "status"), [(BackendError("why"), 503), (RuntimeError("secret detail"), 500)]
)
def test_a_failure_of_the_service_is_logged_by_its_type_alone(
    error: Exception, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> Result:
        async with Evil({"/": http(ARTICLE)}) as site, open_engine() as engine:
            await engine._warming

            async def run(*_: object) -> None:
                raise error

            engine._pool.run = run  # type: ignore[method-assign]
            return await ask(engine, "text", site.url + "/")

    result = asyncio.run(main())
    assert result.status == status
    assert type(error).__name__ in caplog.text
    assert "secret detail" not in f"{caplog.text} {result.error}"
