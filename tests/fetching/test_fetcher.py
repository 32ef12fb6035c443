"""Whole fetches from loopback servers."""

from __future__ import annotations

import asyncio
import gc
import gzip
import pickle
import threading
import time
from typing import Any

import pytest

from tests.effort import BUSY_SECONDS
from webanalytics.core.messages import recognise
from webanalytics.errors import ParameterError
from webanalytics.fetching import FetchError, FetchSettings


def test_a_page(one: Any, answer: Any) -> None:
    response = one(
        answer(b"<p>hi", type="text/html; charset=utf-8", X_Robots_Tag="noindex\r\nX-Robots-Tag: nofollow")
    )
    assert response.content == b"<p>hi"
    assert (response.http_status, response.redirects) == (200, ())
    assert response.content_type == "text/html; charset=utf-8"
    assert response.headers.getall("x-robots-tag") == ["noindex", "nofollow"]
    assert 0 < response.elapsed < BUSY_SECONDS
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
    kind = "refused" if status in (401, 403, 451) else "http"
    assert (error.error_type, error.http_status) == (kind, status)
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


@pytest.mark.parametrize("content_type", ["text/html", "text/html; charset=utf-8", "text/plain"])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"%PDF-1.7\n", "not_html"),
        (gzip.compress(b"<title>Tea</title>"), "not_html"),  # a saved page.html.gz, sent as page.html
        (b"\x89PNG\r\n\x1a\n", "not_html"),
        (b"\xff\xd8\xff\xe0", "not_html"),
        (b"PK\x03\x04", "not_html"),
        (b"PK is no archive", "ok"),
        ("<title>Tea</title>".encode("utf-16"), "ok"),
        (b"<p>a control \x01 in a page", "ok"),
    ],
)
def test_a_file_is_no_page_whatever_its_server_says(
    one: Any, answer: Any, content_type: str, body: bytes, kind: str
) -> None:
    result = one(answer(body, type=content_type))
    assert (result.error_type if isinstance(result, FetchError) else "ok") == kind
    if kind != "ok":
        assert result.sentence.endswith("a page that is neither HTML nor text.")


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
    assert time.monotonic() - began < BUSY_SECONDS


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
        assert recognise(error.sentence).key == error.key
