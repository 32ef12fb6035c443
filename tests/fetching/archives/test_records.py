"""The kinds of records, and what an audit takes of them."""

from __future__ import annotations

from pathlib import Path

import webanalytics as wa
from tests.fetching.archives.files import answer, page, record, response, title, write
from tests.fetching.archives.reading import told
from webanalytics.fetching.archives.sources import pages as read

BODY = title("Tea")


def test_what_is_no_page_is_counted(path: Path) -> None:
    request = b"GET / HTTP/1.1\r\nHost: a.example\r\nAuthorization: Basic c2VjcmV0\r\n\r\n"
    file = write(
        path,
        record("warcinfo", b"software: x\r\n", content_type="application/warc-fields"),
        record("request", request, "https://a.example/", "application/http; msgtype=request"),
        page("a"),
        record("metadata", b"fetchTimeMs: 5\r\n", "https://a.example/", "application/warc-fields"),
        response("https://a.example/x.png", b"\x89PNG\r\n", "Content-Type: image/png"),
        response("https://a.example/robots.txt", b"User-agent: *", "Content-Type: text/plain"),
        record("response", b"a record of DNS", "dns:a.example", "text/dns"),
        record("resource", title("R"), "https://a.example/r", "text/html"),
        record("conversion", b"a", "https://a.example/a", "text/plain"),
        record("x-own", b"", "https://a.example/a"),
    )
    assert told(file) == [("a", "a"), ("r", "R")]
    assert read(file).counts == {
        "warcinfo": 1,
        "request": 1,
        "response": 4,
        "metadata": 1,
        "resource": 1,
        "conversion": 1,
        "other": 1,
        "not_pages": 2,
        "duplicates": 0,
        "pages": 2,
    }


def test_the_robots_txt_of_an_archive_is_that_of_its_audit(path: Path) -> None:
    robots = response(
        "https://a.example/robots.txt", b"User-agent: *\nDisallow: /x\nNonsense", "Content-Type: text/plain"
    )
    audit = wa.audit(write(path, robots, page("a")))
    copy = audit.origin.robots_files["https://a.example"]
    assert copy.text == "User-agent: *\nDisallow: /x\nNonsense"


def test_the_latest_robots_txt_counts_and_one_that_redirects_does_not(tmp_path: Path) -> None:
    dates = ("2026-11-03T00:00:00Z", "2026-11-02T00:00:00Z")
    url, kind = "https://a.example/robots.txt", "Content-Type: text/plain"
    several = [response(url, b"# " + date.encode(), kind, date=date) for date in dates]
    away = response(url, b"", "Location: /other", status="302 Found", date="2026-11-04T00:00:00Z")
    audit = wa.audit(write(tmp_path / "a.warc", *several, away, page("a")))
    assert audit.origin.robots_files["https://a.example"].text == f"# {dates[0]}"


def test_pages_with_an_http_error_are_what_they_are_live(path: Path) -> None:
    file = write(path, response("https://a.example/x", title("Gone"), status="404 Not Found"), page("y"))
    frame = wa.audit(file)
    assert frame.raw["http_status"].tolist() == [404, 200]
    assert frame.raw["error"].tolist()[0] == "The page answered HTTP 404."
    assert frame.raw["title"].tolist() == ["Gone", "y"]


def test_arc_files_are_read(tmp_path: Path) -> None:
    block = answer(BODY)
    first = b"filedesc://a.arc 0.0.0.0 20261122100000 text/plain 77\n1 0 Archive\nURL IP-address Archive-date Content-type Archive-length\n"
    head = f"https://a.example/x 192.0.2.1 20261122100000 text/html {len(block)}\n".encode()
    file = write(
        tmp_path / "a.arc.gz",
        first.replace(b"77", str(len(first) - first.index(b"\n") - 1).encode()) + b"\n",
        head + block + b"\n",
    )
    assert told(file) == [("x", "Tea")]
    assert next(iter(read(file))).fetched_at == "2026-11-22T10:00:00+00:00"
