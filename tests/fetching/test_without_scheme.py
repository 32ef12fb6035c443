"""Hosts without a scheme: https, else http, and the row says which."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import webanalytics as wa
from webanalytics.core.outcomes import Job
from webanalytics.fetching import FetchError
from webanalytics.fetching.response import Asked
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.operations import METADATA
from webanalytics.runs.backends import base, local
from webanalytics.runs.backends.hosted.wire import sendable
from webanalytics.urls import lacks_scheme

HOSTS = [
    "example.org", "www.example.org", "www.example.org/", "www.example.org/a/b?c=d#e", "example.org:8443/x",
    "EXAMPLE.ORG", "bücher.example", "xn--bcher-kva.example", "a-b.c_d.example", "example.org.", "127.0.0.1",
    "127.0.0.1:8000/x", "localhost:8000", "localhost:8000/x", "example.org?x=1", "日本語.jp",
]  # fmt: skip
OTHERS = [
    "", "localhost", "example", "page.html", "folder/page.html", "./a.example", "/a.example", "notes.txt",
    "a.csv", "1.5", "1.2.3", "256.1.1.1", "1.2.3.4.5", "a b.example", "a@b.example", "user:pw@a.example",
    "https://a.example", "ftp://a.example", "mailto:a@b.example", "javascript:alert(1)", "data:,a.b", "//a.example",
    "a..example", ".example", "-a.example", "a.example:x", "a.example:123456", "a.b1", "[::1]:80", "a.example\\x",
    "a" * 300 + ".example", "C:\\a.example", "file.pdf",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTS)
def test_hosts(text: str) -> None:
    assert lacks_scheme(text)


@pytest.mark.parametrize("text", OTHERS)
def test_other_texts(text: str) -> None:
    assert not lacks_scheme(text)


@given(st.text(max_size=60))
def test_any_text_gets_an_answer(text: str) -> None:
    if lacks_scheme(text):
        assert "://" not in text.partition("/")[0]
        assert not any(map(str.isspace, text))


class Answering:
    """Answers as told, and remembers what it was asked."""

    def __init__(self, **failures: str) -> None:
        self.failures, self.asked = failures, list[str]()

    async def fetch(self, url: str, operation: Any, *, error_pages: bool, asked: Asked) -> Any:
        self.asked.append(url)
        key = self.failures.get(url.partition(":")[0])
        if key:
            raise FetchError(key, {"parameter": "url"}, redirects=("x",) if key == "interrupted" else ())
        return SimpleNamespace(url=url)


def asked(url: str, **failures: str) -> list[str]:
    run: Any = local._Run.__new__(local._Run)
    run._is_page, run._operation, run._answering = True, METADATA, Answering(**failures)
    run._error_pages = False
    try:
        asyncio.run(run._fetched(url, Asked(url)))
    except FetchError as error:
        return [*run._answering.asked, error.key]
    return run._answering.asked


@pytest.mark.parametrize("key", ["refused", "handshake", "connect_timeout"])
def test_http_is_tried_where_https_cannot_be_had(key: str) -> None:
    assert asked("a.example/x", https=key) == ["https://a.example/x", "http://a.example/x"]


@pytest.mark.parametrize(
    "key", ["unknown_host", "certificate", "status", "robots", "timeout", "private", "not_html"]
)
def test_other_failures_stand(key: str) -> None:
    assert asked("a.example/x", https=key) == ["https://a.example/x", key]


def test_the_last_failure_is_told() -> None:
    assert asked("a.example", https="refused", http="status")[-1] == "status"
    assert asked("a.example", https="interrupted") == ["https://a.example", "interrupted"], "it had answered"
    assert asked("https://a.example", https="refused") == ["https://a.example", "refused"]


def test_the_name_of_a_file_is_no_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "www.example.org").write_text("x")
    monkeypatch.chdir(tmp_path)
    assert asked("www.example.org") == ["www.example.org"]
    assert asked("other.example.org") == ["https://other.example.org"]


def test_a_row_says_what_answered() -> None:
    pages = {"/": b"<html lang=en><title>Home</title><p>Hello", "/b": b"<title>Second</title>"}
    with SiteServer(pages) as site:
        host = site.url.removeprefix("http://")
        frame = wa.audit([host, f"{host}/b", "nonsense"], allow_private=True, retries=0, connect_timeout=4.0)
        assert frame.raw["url"].tolist() == [host, f"{host}/b", "nonsense"]
        assert frame.raw["final_url"].tolist()[:2] == [f"{site.url}/", f"{site.url}/b"]
        assert frame.raw["title"].tolist()[:2] == ["Home", "Second"]
        assert frame.raw["error_type"].tolist()[2] == "invalid"
        assert {request.target for request in site.requests} >= {"/", "/b", "/robots.txt"}, (
            "robots.txt is asked"
        )
        assert wa.metadata(host, retries=0).loc[0, "error_type"] == "blocked", "the guard holds"


def test_a_hosted_api_is_sent_a_whole_address() -> None:
    assert sendable(METADATA, Job(3, "www.example.org/x")).subject == "https://www.example.org/x"
    assert sendable(METADATA, Job(3, "nonsense")).subject == "nonsense"


def test_hosts_are_fetched_in_turn() -> None:
    jobs = [Job(number, url) for number, url in enumerate(["a.example/1", "a.example/2", "b.example/1"])]
    assert [job.subject for job in base.interleave(jobs)] == ["a.example/1", "b.example/1", "a.example/2"]


def test_an_audit_of_bare_hosts_finds_the_same() -> None:
    links = b"<html lang=en><title>%s</title><p>Text <a href=/b>b</a> <a href=/old>old</a> <a href=/>home</a>"
    pages: dict[str, Any] = {
        "/": links % b"Home",
        "/b": links % b"Second",
        "/old": Reply(301, {"Location": "/b"}),
    }
    with SiteServer(pages) as site:
        whole = [f"{site.url}{path}" for path in ("/", "/b", "/old")]
        bare = [url.removeprefix("http://") for url in whole]
        options: dict[str, Any] = {"allow_private": True, "retries": 0, "connect_timeout": 4.0}
        found = [wa.audit(urls, **options).issues for urls in (whole, bare)]
    told = [
        {(url.removeprefix("http://"), rule) for url, rule in issues[["url", "rule"]].values}
        for issues in found
    ]
    assert told[0] == told[1]
    assert any(rule == "links_to_redirects" for _, rule in told[0])
