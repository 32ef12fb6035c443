"""Whole fetches whose connections fail: names, ports, TLS, busy servers and their deadlines."""

from __future__ import annotations

import asyncio
import datetime
import socket
import ssl
import time
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.effort import BUSY_SECONDS
from webanalytics.fetching import Fetcher, FetchError, FetchSettings

# ---- connections


def fetch(url: str, settings: FetchSettings, **arguments: Any) -> Any:
    async def main() -> Any:
        async with Fetcher(settings, **arguments) as fetcher:
            try:
                return await fetcher.fetch(url)
            except FetchError as error:
                return error

    return asyncio.run(main())


@pytest.mark.parametrize("robots", [True, False])
def test_a_host_that_does_not_exist(settings: Any, robots: bool) -> None:
    began = time.monotonic()
    error = fetch("http://no-such-host.invalid/", settings(robots=robots, allow_private=False))
    assert error.error_type == "dns"
    assert error.sentence.startswith("The `url` parameter names a host that ")
    assert time.monotonic() - began < BUSY_SECONDS


class Stuck(AbstractResolver):
    """Never answers."""

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[Any]:
        await asyncio.sleep(60)
        return []

    async def close(self) -> None:
        pass


def test_the_deadlines_bound_the_look_up(settings: Any) -> None:
    began = time.monotonic()
    error = fetch("http://example.com/", settings(connect_timeout=0.3), names=Stuck())
    assert error.error_type == "timeout"
    assert error.sentence.endswith("was not reached within 0.3 seconds.")
    error = fetch("http://example.com/", settings(timeout=0.3), names=Stuck())
    assert error.error_type == "timeout"
    assert time.monotonic() - began < BUSY_SECONDS


def test_localhost_by_name(open_site: Any, answer: Any) -> None:
    async def main() -> Any:
        async with open_site(lambda path, headers: answer()) as (site, fetcher):
            return await fetcher.fetch(f"http://localhost:{site.port}/")

    assert asyncio.run(main()).http_status == 200


@pytest.mark.parametrize("robots", [True, False])
def test_a_port_on_which_nobody_listens(settings: Any, robots: bool) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    error = fetch(f"http://127.0.0.1:{port}/", settings(robots=robots))
    assert error.error_type == "connection"
    assert error.sentence == "The `url` parameter names a server that does not accept connections."
    assert "127" not in error.sentence
    assert error.final_url == f"http://127.0.0.1:{port}/"


@pytest.mark.parametrize("robots", [True, False])
def test_a_server_that_accepts_and_never_answers(settings: Any, robots: bool) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        error = fetch(url, settings(timeout=2, robots=robots))
        assert error.error_type == "timeout"
        silent.setblocking(False)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):  # once, not once for robots.txt and once for the page
            silent.accept()


def test_private_addresses_are_refused_by_default(one: Any, answer: Any) -> None:
    error = one(answer(), allow_private=False)
    assert (error.error_type, error.http_status, error.final_url) == ("blocked", None, "")


# ---- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + signed.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.mark.parametrize("robots", [True, False])
def test_a_certificate_that_nobody_vouches_for(
    server: Any, settings: Any, answer: Any, certificate: Path, robots: bool
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    async def main() -> Any:
        async with (
            server(lambda path, headers: answer(), ssl=context) as site,
            Fetcher(settings(robots=robots, timeout=60.0, connect_timeout=60.0)) as fetcher,
        ):
            with pytest.raises(FetchError) as error:
                await fetcher.fetch(f"https://localhost:{site.port}/")
            return error.value

    error = asyncio.run(main())
    assert error.error_type == "tls"
    assert (
        error.sentence
        == "The `url` parameter names a server whose TLS certificate is not valid: self-signed."
    )


def test_a_server_that_speaks_no_tls(open_site: Any, answer: Any) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async def main() -> Any:
        listening = await asyncio.start_server(plain, "127.0.0.1", 0)
        async with listening, open_site(lambda path, headers: answer()) as (_, fetcher):
            with pytest.raises(FetchError) as error:
                await fetcher.fetch(f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}/")
            return error.value

    assert asyncio.run(main()).error_type == "tls"


# ---- retries


def turns(*answers: Any) -> Any:
    """Answer one after the other, the last one for ever."""
    left = list(answers)
    return lambda path, headers: left.pop(0) if len(left) > 1 else left[0]


@pytest.mark.parametrize(("status", "kind"), [("429 Slow Down", "refused"), ("503 Busy", "http")])
def test_busy_servers_are_asked_again(one: Any, answer: Any, status: str, kind: str) -> None:
    busy = answer(b"", status)
    assert one(turns(busy, busy, answer())).http_status == 200
    error = one(turns(busy, busy, busy, answer()))
    assert (error.error_type, error.http_status) == (kind, int(status[:3]))
    assert one(turns(busy, answer()), retries=0).error_type == kind


@pytest.mark.parametrize("status", ["404 Not Found", "500 Broken", "502 Bad Gateway"])
def test_other_statuses_are_final(one: Any, answer: Any, status: str) -> None:
    assert one(turns(answer(b"", status), answer())).error_type == "http"


def test_broken_connections_are_tried_again(one: Any, answer: Any) -> None:
    async def reset(writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    cut = answer(b"<p>" * 1000)[:500]

    async def half(writer: asyncio.StreamWriter) -> None:
        writer.write(cut)
        await writer.drain()

    assert one(turns(half, reset, answer())).http_status == 200


def test_retry_after_is_obeyed(open_site: Any, answer: Any) -> None:
    busy = answer(b"", "429 Slow Down", Retry_After="1")

    async def main() -> list[float]:
        async with open_site(turns(busy, answer())) as (site, fetcher):
            await fetcher.fetch(site.url)
            return site.starts

    first, second = asyncio.run(main())
    assert 0.95 < second - first < 2


def test_retry_after_holds_for_the_whole_host(open_site: Any, answer: Any) -> None:
    busy = answer(b"", "503 Busy", Retry_After="1")

    async def main() -> list[float]:
        async with open_site(turns(busy, answer())) as (site, fetcher):
            first = asyncio.create_task(fetcher.fetch(f"{site.url}/a"))
            await asyncio.sleep(0.3)
            await asyncio.gather(first, *(fetcher.fetch(f"{site.url}/{n}") for n in range(3)))
            return site.starts

    starts = asyncio.run(main())
    assert len(starts) == 5
    assert all(start - starts[0] > 0.95 for start in starts[1:])


def test_retry_after_as_a_date(open_site: Any, answer: Any) -> None:
    moment = format_datetime(datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=2), usegmt=True)

    async def main() -> list[float]:
        async with open_site(turns(answer(b"", "503 Busy", Retry_After=moment), answer())) as (site, fetcher):
            await fetcher.fetch(site.url)
            return site.starts

    first, second = asyncio.run(main())
    assert 0.8 < second - first < 2.5


def test_a_long_retry_after_is_an_answer(one: Any, answer: Any) -> None:
    began = time.monotonic()
    error = one(turns(answer(b"", "429 Slow Down", Retry_After="3600"), answer()))
    assert error.http_status == 429
    assert time.monotonic() - began < BUSY_SECONDS


def test_tries_share_one_deadline(one: Any) -> None:
    async def slow(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.3)
        writer.transport.abort()

    tries = []
    error = one(lambda path, headers: tries.append(path) or slow, timeout=0.5, retries=10)
    assert error.error_type in ("connection", "timeout")
    assert len(tries) <= 2


def test_redirects_share_one_deadline(one: Any, answer: Any) -> None:
    def respond(path: str, headers: Any) -> Any:
        async def slow(writer: asyncio.StreamWriter) -> bytes:
            await asyncio.sleep(0.2)
            return answer(b"", "302 Found", Location=f"{path}a")

        return slow

    error = one(respond, timeout=0.5)
    assert error.error_type == "timeout"
    assert error.elapsed > 0.45
    assert len(error.redirects) <= 3
