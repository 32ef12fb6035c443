"""Access by host over real sockets: what each request carries, and that no file and no stream has a secret."""

from __future__ import annotations

import base64
import contextlib
import io
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from yarl import URL

import webanalytics as wa
from webanalytics.fetching.exchange import Wanted
from webanalytics.fetching.state import FetchState
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.fetching.testing.server import Answer

SECRETS = ("s3cret-word", "t0ken-abc", "he4der-val", "c00kie-val")
BASIC = "Basic " + base64.b64encode(b"ann:s3cret-word").decode()
CARRIED = ("authorization", "cookie", "x-key")


class Locked(SiteServer):
    """A site that answers 401 to every request without its header."""

    wanted: tuple[str, str] = ("", "")

    def answer(self, target: str, method: str = "GET") -> Answer:
        sent = self.requests[-1].headers if self.requests else {}
        if self.wanted[0] and sent.get(self.wanted[0]) != self.wanted[1]:
            return Answer(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n", b"", 0.0)
        return super().answer(target, method)


PAGE = b"<title>Tea</title><a href=/b>b</a><img src=/i.png><p>Tea is good for all of us."


def site(wanted: tuple[str, str], more: dict[str, Any] | None = None) -> Locked:
    made = Locked({"/": PAGE, "/b": b"<title>B</title>", "/i.png": b"x", "/robots.txt": b""} | (more or {}))
    made.wanted = wanted
    return made


@pytest.mark.parametrize(
    ("access", "wanted"),
    [
        ({"user": "ann", "password": "s3cret-word"}, ("authorization", BASIC)),
        ({"token": "t0ken-abc"}, ("authorization", "Bearer t0ken-abc")),
        ({"headers": {"X-Key": "he4der-val"}}, ("x-key", "he4der-val")),
        ({"cookies": {"session": "c00kie-val"}}, ("cookie", "session=c00kie-val")),
    ],
)
def test_every_request_to_the_host_carries_it(access: dict[str, Any], wanted: tuple[str, str]) -> None:
    with site(wanted) as server:
        given = {server.url.removeprefix("http://"): wa.Access(**access)}
        found = wa.crawl(server.url, access=given, allow_private=True, resources="check")
    assert found.pages["status"].tolist() == ["ok", "ok"]
    asked = {request.target: request.headers.get(wanted[0]) for request in server.requests}
    assert set(asked) >= {"/", "/b", "/i.png", "/robots.txt"}
    assert set(asked.values()) == {wanted[1]}


def test_a_redirect_to_another_host_gets_nothing() -> None:
    with site(("", "")) as other:
        away = {"/away": Reply(302, {"Location": f"{other.url}/b"})}
        with site(("authorization", BASIC), away) as server:
            key = server.url.removeprefix("http://")
            row = wa.text(
                [f"{server.url}/away"],
                access={key: wa.Access(user="ann", password="s3cret-word", cookies={"c": "d"})},
                allow_private=True,
            )
    assert row["status"].tolist() == ["ok"]
    carried = [
        (request.target, [name for name in CARRIED if name in request.headers])
        for server_ in (server, other)
        for request in server_.requests
    ]
    assert carried == [
        ("/robots.txt", ["authorization", "cookie"]),
        ("/away", ["authorization", "cookie"]),
        ("/robots.txt", []),
        ("/b", []),
    ]


LACKING = "The page answered HTTP 401; `access=` sets the password, token or cookies that are sent."
WRONG = (
    "The page does not accept the password, token or cookies that were sent (HTTP 401); `access=` sets them."
)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, LACKING),
        ({"headers": {"X-Key": "other"}}, LACKING),
        ({"user": "ann", "password": "wr0ng-word"}, WRONG),
        ({"token": "wr0ng-word"}, WRONG),
        ({"cookies": {"session": "wr0ng-word"}}, WRONG),
    ],
)
def test_a_page_without_its_password_says_whether_another_was_sent(given: dict[str, Any], said: str) -> None:
    with site(("authorization", BASIC)) as server:
        access = {server.url.removeprefix("http://"): wa.Access(**given)} if given else None
        audit = wa.audit([server.url], allow_private=True, access=access, progress=False)
    row = audit.raw.iloc[0]
    assert (row["error_type"], row["http_status"], row["error"]) == ("refused", 401, said)
    assert audit.failures()["option"].tolist() == ["access="]
    assert "wr0ng" not in f"{audit!r}{audit.raw.to_csv()}"


@pytest.fixture
def streams() -> Iterator[io.StringIO]:
    """Everything that is logged or printed."""
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            yield said
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def test_no_file_and_no_stream_of_a_run_has_a_secret(tmp_path: Path, streams: io.StringIO) -> None:
    access = wa.Access(
        user="ann",
        password="s3cret-word",
        headers={"X-Key": "he4der-val"},
        cookies={"session": "c00kie-val"},
    )
    with site(("authorization", BASIC), {"/gone": Reply(404)}) as server:
        given = {server.url.removeprefix("http://"): access}
        options: dict[str, Any] = {"access": given, "allow_private": True, "progress": True}
        for name, call in (("audit", wa.audit), ("crawl", wa.crawl)):
            found = call(
                [server.url, f"{server.url}/gone"],
                store=tmp_path / name / "store",
                archive=tmp_path / f"{name}.warc",
                **options,
            )
            assert "ok" in found.pages["status"].tolist()
            found.report(tmp_path / f"{name}.html")
            found.save(tmp_path / f"{name}.audit")
            print(repr(found), found._repr_html_(), found.pages.to_csv())
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    places = {str(path.relative_to(tmp_path)): path.read_bytes() for path in files}
    places["streams"] = streams.getvalue().encode()
    assert {"audit.warc", "crawl.warc", "audit.html", "crawl.html"} <= set(places)
    assert b"GET /" in places["audit.warc"]
    secrets = [text.encode() for text in (*SECRETS, BASIC.removeprefix("Basic "))]
    assert [(name, secret) for name, text in places.items() for secret in secrets if secret in text] == []


def test_what_redirects_from_https_to_http_is_downgraded() -> None:
    state = FetchState(Wanted("page", 1), URL("http://a.example/"), robots=False, asked=None)
    assert not state.downgraded
    state.passed.append("https://a.example/")
    assert state.downgraded
    state.url = URL("https://a.example/b")
    assert not state.downgraded
