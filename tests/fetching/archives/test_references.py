"""What is told of a page in another record: revisits, duplicates, redirects."""

from __future__ import annotations

from pathlib import Path

import pytest
from yarl import URL

import webanalytics as wa
from tests.fetching.archives.files import DATE, answer, page, record, response, title, write
from tests.fetching.archives.reading import told
from webanalytics.fetching.archives.sources import pages as read

BODY = title("Tea")


def revisit(url: str, *, head: bool = True, **more: str) -> bytes:
    profile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    block = answer(b"", "Content-Type: text/html", "X-Now: 1") if head else b""
    return record(
        "revisit", block, url, "application/http", "2026-11-23T10:00:00Z", WARC_Profile=profile, **more
    )


@pytest.mark.parametrize("head", [True, False])
@pytest.mark.parametrize(
    "refers",
    [
        {"WARC_Refers_To_Target_URI": "https://a.example/x", "WARC_Refers_To_Date": DATE},
        {"WARC_Payload_Digest": "sha1:AAAA"},
    ],
)
def test_a_revisit_has_the_content_of_what_it_refers_to(
    path: Path, refers: dict[str, str], head: bool
) -> None:
    first = response("https://a.example/x", BODY, WARC_Payload_Digest="sha1:AAAA")
    file = write(path, first, revisit("https://b.example/y", head=head, **refers))
    found = list(read(file))
    assert [(entry.url, entry.html, entry.http_status) for entry in found] == [
        ("https://a.example/x", BODY.decode(), 200),
        ("https://b.example/y", BODY.decode(), 200),
    ]
    assert ("X-Now: 1" in (found[1].headers or "")) == head
    assert [entry.fetched_at for entry in found] == ["2026-11-22T10:00:00+00:00", "2026-11-23T10:00:00+00:00"]


def test_a_revisit_by_the_name_of_a_record_in_another_archive(tmp_path: Path) -> None:
    first = response("https://a.example/x", BODY)
    name = first.partition(b"WARC-Record-ID: ")[2].partition(b"\r\n")[0].decode()
    one = write(tmp_path / "one.warc.gz", first)
    two = write(tmp_path / "two.warc.gz", revisit("https://a.example/y", WARC_Refers_To=name))
    assert told(two) == [("y", "parse")]
    assert told([two, one]) == [("y", "Tea"), ("x", "Tea")]  # type: ignore[arg-type]
    assert next(iter(read(two))).error == "The content of the page is in an archive that was not given."


def test_the_latest_of_an_address_wins_or_all_are_there(path: Path) -> None:
    dates = ("2026-11-02T00:00:00Z", "2026-11-03T00:00:00.5Z", "2026-11-03T00:00:00Z")
    several = [response("https://a.example/x", title(date), date=date) for date in dates]
    file = write(path, *several, page("y"))
    assert told(file) == [("x", dates[1]), ("y", "y")]
    assert told(file, duplicates="all") == [*(("x", date) for date in dates), ("y", "y")]
    assert read(file).counts["duplicates"] == 2
    assert wa.metadata(read(file, duplicates="all"))["title"].tolist() == [*dates, "y"]


def moved(name: str, to: str, date: str = DATE, status: str = "301 Moved") -> bytes:
    return response(f"https://a.example/{name}", b"", f"Location: {to}", status=status, date=date)


def test_redirects_lead_to_their_target_in_the_archive(path: Path) -> None:
    file = write(path, moved("1", "/2"), page("3"), moved("2", "3#top", status="302 Found"))
    frame = wa.audit(file)
    assert frame.raw["url"].tolist() == [f"https://a.example/{name}" for name in "132"]
    assert frame.raw["title"].tolist() == ["3", "3", "3"]
    assert frame.raw["final_url"].tolist() == ["https://a.example/3"] * 3
    assert [list(way) for way in frame.raw["redirect_kinds"]] == [["301", "302"], [], ["302"]]
    assert list(frame.raw["redirects"].iloc[0]) == ["https://a.example/1", "https://a.example/2"]


def test_redirects_in_a_circle_and_out_of_the_archive_are_rows(path: Path) -> None:
    found = list(read(write(path, moved("1", "/2"), moved("2", "/1"), moved("3", "https://b.example/"))))
    assert [entry.error for entry in found] == [
        "The page redirects in a circle.",
        "The page redirects in a circle.",
        "The page redirects with HTTP 301 to what is not in the archive.",
    ]
    assert [entry.http_status for entry in found] == [302 - 1] * 3


@pytest.mark.parametrize(
    "location",
    [
        "/a b/ü?q=ä#top",
        "HTTPS://A.EXAMPLE:443/x/../a%20b/%C3%BC?q=%C3%A4",
        "//user@a.example/a b/./%C3%BC?q=ä",
        "https://A.example./a%20b/ü?q=%C3%A4",
    ],
)
def test_a_redirect_leads_to_what_a_client_asks_for(path: Path, location: str) -> None:
    asked = URL("https://a.example/").join(URL(location)).with_fragment(None).with_user(None)
    (found, _) = read(write(path, moved("1", location), response(str(asked).replace("./", "/", 1), BODY)))
    assert (found.html, found.http_status, found.error) == (BODY.decode(), 200, None)


def test_an_address_is_one_however_it_is_written(path: Path) -> None:
    several = ("https://a.example", "https://A.Example:443/", "HTTPS://a.example/#top", "https://a.example/")
    others = ("http://a.example/", "https://a.example/%7Ex", "https://a.example/~x", "https://a.example/X")
    found = [entry.url for entry in read(write(path, *(response(url, BODY) for url in (*several, *others))))]
    assert found == ["https://a.example/", *others]
    robots = response(
        "https://A.example:443/robots.txt", b"User-agent: *\nDisallow: /x", "Content-Type: text/plain"
    )
    audit = wa.audit(write(path, robots, page("a")))
    assert audit.origin.robots_files["https://a.example"].text == "User-agent: *\nDisallow: /x"


def test_a_redirect_to_itself_leads_to_what_was_answered_then(path: Path) -> None:
    """Servers that set a cookie first do so."""
    found = list(read(write(path, moved("x", "/x"), page("x", "Tea")), duplicates="all"))
    assert [(entry.error, entry.redirects) for entry in found] == [
        (None, ["https://a.example/x"]),
        (None, []),
    ]


def test_what_is_no_redirect_does_not_lead_on(path: Path) -> None:
    """RFC 9110, section 15.4.1: of several choices a server may prefer one."""
    choices = response("https://a.example/x", BODY, "Content-Type: text/html", "Location: /y", status="300 M")
    found = next(iter(read(write(path, choices, page("y")))))
    assert (found.http_status, found.html, found.final_url) == (300, BODY.decode(), "https://a.example/x")


@pytest.mark.parametrize("kind", ["response", "revisit"])
@pytest.mark.parametrize(
    "more", [{}, {"WARC_Refers_To_Target_URI": "https://a.example/x", "WARC_Refers_To_Date": DATE}]
)
def test_what_was_not_modified_is_as_it_was(path: Path, kind: str, more: dict[str, str]) -> None:
    """RFC 9110, section 15.4.5; ISO 28500, profile "server-not-modified"."""
    older = response("https://a.example/x", title("older"), date="2026-11-21T10:00:00Z")
    newer = response("https://a.example/x", title("newer"), date="2026-11-24T10:00:00Z")
    first = response("https://a.example/x", BODY, WARC_Payload_Digest="sha1:AAAA")
    later = "2026-11-23T10:00:00Z"
    head = b"HTTP/1.1 304 Not Modified\r\nETag: 1\r\n\r\n"
    same = record(kind, head, "https://a.example/x", "application/http; msgtype=response", later, **more)
    (found,) = read(write(path, older, first, same))
    assert (found.html, found.http_status, found.headers) == (BODY.decode(), 200, "Content-Type: text/html")
    assert found.fetched_at == "2026-11-23T10:00:00+00:00"
    between = list(read(write(path, first, same, newer), duplicates="all"))[1]
    assert between.html == BODY.decode()
    (found,) = read(write(path, same))
    assert found.error == "The content of the page is in an archive that was not given."


def test_a_robots_txt_that_was_not_modified_is_read(path: Path) -> None:
    url = "https://a.example/robots.txt"
    rules = response(url, b"User-agent: *\nDisallow: /x", "Content-Type: text/plain")
    same = record(
        "response", b"HTTP/1.1 304 Not Modified\r\n\r\n", url, "application/http", "2026-11-23T10:00:00Z"
    )
    audit = wa.audit(write(path, rules, same, page("a")))
    assert audit.origin.robots_files["https://a.example"].text == "User-agent: *\nDisallow: /x"


@pytest.mark.parametrize("method", ["HEAD", "POST", "OPTIONS"])
@pytest.mark.parametrize("names_answer", [True, False])
def test_what_answers_no_get_is_no_page(path: Path, method: str, names_answer: bool) -> None:
    """ISO 28500, WARC-Concurrent-To: request and answer name each other, in either direction."""
    url, later = "https://a.example/x", "2026-11-23T10:00:00Z"
    asked = f"{method} /x HTTP/1.1\r\n\r\n".encode()
    names = ["<urn:uuid:1>", "<urn:uuid:2>"]
    one, other = (
        ({"WARC_Concurrent_To": names[1]}, {}) if names_answer else ({}, {"WARC_Concurrent_To": names[0]})
    )
    request = record("request", asked, url, "application/http", later, WARC_Record_ID=names[0], **one)
    reply = response(url, title("Other"), date=later, WARC_Record_ID=names[1], **other)
    get = record(
        "request", b"GET /x HTTP/1.1\r\n\r\n", url, "application/http", WARC_Record_ID="<urn:uuid:3>"
    )
    first = response(url, BODY, WARC_Record_ID="<urn:uuid:4>", WARC_Concurrent_To="<urn:uuid:3>")
    for order in ([get, first, request, reply], [first, get, reply, request]):
        pages = read(write(path, *order))
        assert [entry.html for entry in pages] == [BODY.decode()]
        assert pages.counts["not_pages"] == 1
