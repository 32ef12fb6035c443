"""Whole fetches from loopback servers."""

from __future__ import annotations

import asyncio
import datetime
import gc
import pickle
import socket
import ssl
import threading
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

from webanalytics.errors import ParameterError
from webanalytics.fetching import Fetcher, FetchError, FetchSettings, recognise


def test_a_page(one: Any, answer: Any) -> None:
    response = one(
        answer(b"<p>hi", type="text/html; charset=utf-8", X_Robots_Tag="noindex\r\nX-Robots-Tag: nofollow")
    )
    assert response.content == b"<p>hi"
    assert (response.http_status, response.redirects) == (200, ())
    assert response.content_type == "text/html; charset=utf-8"
    assert response.headers.getall("x-robots-tag") == ["noindex", "nofollow"]
    assert 0 < response.elapsed < 2
    assert pickle.loads(pickle.dumps(response)) == response
    assert "hi" not in repr(response)


def test_what_is_sent(open_site: Any, answer: Any) -> None:
    async def main() -> dict[str, str]:
        async with open_site(lambda path, headers: answer(), user_agent="tester/1.0") as (site, fetcher):
            await fetcher.fetch(site.url)
            return site.requests[0][1]

    headers = asyncio.run(main())
    assert headers["user-agent"] == "tester/1.0"
    assert headers["accept"].startswith("text/html")
    assert headers["accept-encoding"] == "gzip, deflate, br"
    assert "cookie" not in headers
    assert "authorization" not in headers


def test_the_name_of_the_package_is_sent_by_default() -> None:
    assert FetchSettings().user_agent.startswith("webanalytics/")


def test_cookies_are_not_shared(open_site: Any, answer: Any) -> None:
    async def main() -> list[Any]:
        respond = lambda path, headers: answer(Set_Cookie="sid=secret; Path=/")  # noqa: E731
        async with open_site(respond) as (site, fetcher):
            # By name: for bare addresses a cookie jar would keep nothing anyway.
            for path in ("/a", "/b"):
                await fetcher.fetch(f"http://localhost:{site.port}{path}")
            return site.requests

    requests = asyncio.run(main())
    assert len(requests) == 2
    assert all("cookie" not in headers for _, headers in requests)


def test_a_connection_is_used_again(open_site: Any, answer: Any) -> None:
    ports = set()

    async def main() -> None:
        async def respond(writer: asyncio.StreamWriter) -> bytes:
            ports.add(writer.get_extra_info("peername")[1])
            return answer()

        async with open_site(lambda path, headers: respond) as (site, fetcher):
            for number in range(5):
                await fetcher.fetch(f"{site.url}/{number}")

    asyncio.run(main())
    assert len(ports) == 1


# ---- redirects


def hops(answer: Any, targets: dict[str, str], status: str = "302 Found") -> Any:
    def respond(path: str, headers: Any) -> bytes:
        return answer(b"", status, Location=targets[path]) if path in targets else answer(path.encode())

    return respond


@pytest.mark.parametrize("status", ["301 A", "302 B", "303 C", "307 D", "308 E"])
def test_redirects_are_followed(one: Any, answer: Any, status: str) -> None:
    response = one(hops(answer, {"/a": "/b?c", "/b?c": "d#e", "/d": "/last"}, status), "/a")
    assert response.content == b"/last"
    base = response.final_url.removesuffix("/last")
    assert response.redirects == (f"{base}/a", f"{base}/b?c", f"{base}/d")
    assert response.url == f"{base}/a"


def test_as_many_redirects_as_allowed(one: Any, answer: Any) -> None:
    chain = {f"/{number}": f"/{number + 1}" for number in range(20)}
    assert one(hops(answer, {f"/{n}": f"/{n + 1}" for n in range(10)}), "/0").content == b"/10"
    error = one(hops(answer, chain), "/0")
    assert (error.error_type, error.http_status, len(error.redirects)) == ("http", 302, 10)
    assert error.sentence == "The `url` parameter redirects to a page that redirects more than 10 times."
    assert one(hops(answer, {"/a": "/b"}), "/a", max_redirects=0).error_type == "http"


@pytest.mark.parametrize("targets", [{"/a": "/a"}, {"/a": "/b", "/b": "/a"}])
def test_a_circle(one: Any, answer: Any, targets: dict[str, str]) -> None:
    error = one(hops(answer, targets), "/a")
    assert error.error_type == "http"
    assert error.sentence.endswith("redirects in a circle.")


def test_redirects_that_lead_nowhere(one: Any, answer: Any) -> None:
    for page in (answer(b"", "302 Found"), answer(b"", "301 Moved", Location="http://[::1")):
        error = one(page)
        assert error.error_type == "http"
        assert error.http_status in (301, 302)
        assert error.sentence.endswith("to no valid URL.")
    assert one(answer(b"", "302 Found", Location="file:///etc/passwd")).error_type == "blocked"


def test_the_sentence_says_that_the_fault_is_behind_a_redirect(one: Any, answer: Any) -> None:
    def respond(path: str, headers: Any) -> bytes:
        return answer(b"", "302 Found", Location="/b") if path == "/a" else answer(b"", "404 Not Found")

    error = one(respond, "/a")
    assert error.sentence == "The `url` parameter redirects to a page that answered HTTP 404."
    assert (error.http_status, error.final_url[-2:], len(error.redirects)) == (404, "/b", 1)


# ---- answers that are no page


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 451, 500, 502, 504, 599, 300, 304])
def test_statuses(one: Any, answer: Any, status: int) -> None:
    error = one(answer(b"<p>no" if status != 304 else b"", f"{status} Sorry"))
    assert (error.error_type, error.http_status) == ("http", status)
    assert error.sentence == f"The `url` parameter names a page that answered HTTP {status}."


@pytest.mark.parametrize(
    ("content_type", "accept", "kind"),
    [
        ("text/html", "page", "ok"),
        ("TEXT/HTML;charset=x", "page", "ok"),
        ("application/xhtml+xml", "page", "ok"),
        ("text/plain", "page", "ok"),
        ("application/pdf", "page", "not_html"),
        ("image/png", "page", "not_html"),
        ("application/json", "page", "not_html"),
        (None, "page", "ok"),
        ("nonsense", "page", "ok"),
        ("*/*", "page", "ok"),
        ("image/png", "image", "ok"),
        ("application/octet-stream", "image", "ok"),
        (None, "image", "ok"),
        ("text/html", "image", "invalid"),
        ("application/xml", "any", "ok"),
        ("application/x-gzip", "any", "ok"),
    ],
)
def test_content_types(one: Any, answer: Any, content_type: str | None, accept: Any, kind: str) -> None:
    result = one(answer(b"<p>text", type=content_type), accept=accept)
    assert (result.error_type if isinstance(result, FetchError) else "ok") == kind
    if kind == "not_html":
        assert result.sentence.endswith(f"neither HTML nor text but {content_type}.")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "ok"),
        (b"plain words", "ok"),
        (b"\xef\xbb\xbf<html>", "ok"),
        ("<p>ü".encode("utf-16"), "ok"),
        ("<p>naïve".encode("latin-1"), "ok"),
        (b"%PDF-1.7\n", "not_html"),
        (b"\x89PNG\r\n\x1a\n", "not_html"),
        (b"PK\x03\x04", "not_html"),
        (b"GIF89a\x01\x00", "not_html"),
    ],
)
def test_a_body_without_a_type_is_looked_at(one: Any, answer: Any, body: bytes, kind: str) -> None:
    result = one(answer(body, type=None))
    assert (result.error_type if isinstance(result, FetchError) else "ok") == kind


def test_the_parameters_name_is_in_the_sentence(open_site: Any, answer: Any) -> None:
    async def main() -> None:
        async with open_site(lambda path, headers: answer()) as (site, fetcher):
            await fetcher.fetch(site.url, "image", "image")

    with pytest.raises(FetchError) as error:
        asyncio.run(main())
    assert error.value.sentence == "The `image` parameter must be the URL of an image, not of a web page."
    assert error.value.error_type == "invalid"


def test_a_hostile_content_type_stays_out_of_the_sentence(one: Any, answer: Any) -> None:
    error = one(answer(b"x", type="evil/<script>" + "x" * 500))
    assert not isinstance(error, FetchError) or "script" not in error.sentence
    error = one(answer(b"x", type="evil/" + "x" * 5000))
    assert not isinstance(error, FetchError) or len(error.sentence) < 300


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
    assert time.monotonic() - began < 2


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
    assert time.monotonic() - began < 2


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
    assert error.error_type == "refused"
    assert error.sentence == "The `url` parameter names a server that does not accept connections."
    assert "127" not in error.sentence
    assert error.final_url == f"http://127.0.0.1:{port}/"


@pytest.mark.parametrize("robots", [True, False])
def test_a_server_that_accepts_and_never_answers(settings: Any, robots: bool) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        began = time.monotonic()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        error = fetch(url, settings(timeout=0.5, robots=robots))
        assert error.error_type == "timeout"
        assert time.monotonic() - began < 1.5  # once, not once for robots.txt and once for the page


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
            Fetcher(settings(robots=robots)) as fetcher,
        ):
            with pytest.raises(FetchError) as error:
                await fetcher.fetch(f"https://localhost:{site.port}/")
            return error.value

    error = asyncio.run(main())
    assert error.error_type == "tls"
    assert error.sentence == "The `url` parameter names a server whose TLS certificate is not valid."


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


@pytest.mark.parametrize("status", ["429 Slow Down", "503 Busy"])
def test_busy_servers_are_asked_again(one: Any, answer: Any, status: str) -> None:
    busy = answer(b"", status)
    assert one(turns(busy, busy, answer())).http_status == 200
    error = one(turns(busy, busy, busy, answer()))
    assert (error.error_type, error.http_status) == ("http", int(status[:3]))
    assert one(turns(busy, answer()), retries=0).error_type == "http"


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
    assert time.monotonic() - began < 1


def test_tries_share_one_deadline(one: Any) -> None:
    async def slow(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.3)
        writer.transport.abort()

    began = time.monotonic()
    error = one(lambda path, headers: slow, timeout=0.5, retries=10)
    assert error.error_type in ("refused", "timeout")
    assert time.monotonic() - began < 1.5


def test_redirects_share_one_deadline(one: Any, answer: Any) -> None:
    def respond(path: str, headers: Any) -> Any:
        async def slow(writer: asyncio.StreamWriter) -> bytes:
            await asyncio.sleep(0.2)
            return answer(b"", "302 Found", Location=f"{path}a")

        return slow

    began = time.monotonic()
    error = one(respond, timeout=0.5)
    assert error.error_type == "timeout"
    assert 0.45 < time.monotonic() - began < 1.5


# ---- the run


def test_on_a_worker_threads_loop(one: Any, answer: Any) -> None:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(one(answer())))
    thread.start()
    thread.join(10)
    assert results[0].http_status == 200


def test_fetches_can_be_cancelled(open_site: Any, answer: Any) -> None:
    async def main() -> None:
        async def slow(writer: asyncio.StreamWriter) -> bytes:
            await asyncio.sleep(5)
            return answer()

        respond = lambda path, headers: slow if path == "/slow" else answer()  # noqa: E731
        async with open_site(respond, timeout=10, concurrency=1, per_host=1, robots=True) as (site, fetcher):
            tasks = [asyncio.create_task(fetcher.fetch(f"{site.url}/slow")) for _ in range(5)]
            await asyncio.sleep(0.2)
            for task in tasks:
                task.cancel()
            assert all(
                isinstance(result, asyncio.CancelledError)
                for result in await asyncio.gather(*tasks, return_exceptions=True)
            )
            assert (await fetcher.fetch(site.url)).http_status == 200  # the slots are free again

    began = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - began < 3


def test_memory_does_not_grow_with_the_number_of_urls(open_site: Any, answer: Any) -> None:
    async def main() -> tuple[int, int]:
        async with open_site(lambda path, headers: answer(), robots=True, retries=0) as (site, fetcher):

            async def some(start: int) -> int:
                hosts = [f"127.0.0.{n % 3 + 1}" for n in range(150)]  # two of three do not answer
                urls = [f"http://{host}:{site.port}/{start + n}" for n, host in enumerate(hosts)]
                await asyncio.gather(*map(fetcher.fetch, urls), return_exceptions=True)
                site.requests.clear()
                site.starts.clear()
                gc.collect()
                return len(gc.get_objects())

            await some(0)
            before = await some(150)
            await some(300)
            return before, await some(450)

    before, after = asyncio.run(main())
    assert after < before * 1.02


@pytest.mark.parametrize(
    ("changes", "parameter"),
    [
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": True}, "concurrency"),
        ({"per_host": 1.5}, "per_host"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"delay": -1}, "delay"),
        ({"delay": "1"}, "delay"),
        ({"retries": -1}, "retries"),
        ({"robots": 1}, "robots"),
        ({"user_agent": "a\r\nX-A: b"}, "user_agent"),
        ({"user_agent": ""}, "user_agent"),
        ({"ports": 80}, "ports"),
        ({"ports": ()}, "ports"),
        ({"ports": (80, 70000)}, "ports"),
        ({"max_bytes": None}, "max_bytes"),
    ],
)
def test_wrong_settings(changes: dict[str, Any], parameter: str) -> None:
    with pytest.raises(ParameterError) as error:
        FetchSettings(**changes)
    assert error.value.parameter == parameter
    assert f"`{parameter}`" in str(error.value)


def test_every_error_of_a_fetch_is_in_the_table(one: Any, answer: Any) -> None:
    for page in (answer(b"", "404 No"), answer(b"x" * 99), answer(type="a/b"), b"junk\r\n\r\n"):
        error = one(page, max_bytes=50)
        assert recognise(error.sentence)[0] == error.error_type
