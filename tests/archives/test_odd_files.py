"""What crawlers, disks and networks do to archives: each is a row or a number, never silence."""

from __future__ import annotations

import gzip
import random
import sys
import tracemalloc
import zlib
from pathlib import Path

import brotli
import pandas as pd
import pytest
import zstandard

import webanalytics as wa
from tests.archives.files import DATE, answer, chunked, page, record, response, title, write
from tests.effort import Steps
from webanalytics.archives.sources import pages as read
from webanalytics.errors import MissingExtraError

BODY = title("Tea")


@pytest.fixture(params=["a.warc.gz", "a.warc"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


def told(file: str, **settings: object) -> list[tuple[str, str | None]]:
    """The last part of each address, and the title or the kind of error."""
    return [
        (entry.url.rpartition("/")[2], entry.error_type or entry.html[7:].partition("<")[0])
        for entry in read(file, **settings)  # type: ignore[arg-type]
    ]


# ---------------------------------------------------------------- encodings, and headers that lie about them


def _zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(body)


def _deflate(body: bytes) -> bytes:
    return zlib.compress(body)[2:-4]


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (BODY, ()),
        (gzip.compress(BODY), ("Content-Encoding: gzip",)),
        (gzip.compress(BODY), ("content-encoding: X-GZIP",)),
        (zlib.compress(BODY), ("Content-Encoding: deflate",)),
        (_deflate(BODY), ("Content-Encoding: deflate",)),
        (brotli.compress(BODY), ("Content-Encoding: br",)),
        (_zstd(BODY), ("Content-Encoding: zstd",)),
        (chunked(BODY), ("Transfer-Encoding: chunked",)),
        (chunked(gzip.compress(BODY)), ("Transfer-Encoding: chunked", "Content-Encoding: gzip")),
        (chunked(brotli.compress(BODY)), ("Transfer-Encoding: chunked", "Content-Encoding: br")),
        # what was decoded when it was stored, with the headers of before
        (BODY, ("Content-Encoding: gzip",)),
        (BODY, ("Content-Encoding: br", "Content-Length: 12")),
        (BODY, ("Content-Encoding: deflate",)),
        (BODY, ("Content-Encoding: zstd",)),
        (BODY, ("Transfer-Encoding: chunked",)),
        (BODY, ("Transfer-Encoding: chunked", "Content-Encoding: gzip")),
        (gzip.compress(BODY), ("Transfer-Encoding: chunked", "Content-Encoding: gzip")),
    ],
)
def test_every_encoding_is_decoded_and_what_is_none_is_taken_as_it_is(
    path: Path, body: bytes, headers: tuple[str, ...]
) -> None:
    file = write(path, response("https://a.example/x", body, "Content-Type: text/html", *headers), page("y"))
    assert [entry.html for entry in read(file)] == [BODY.decode(), title("y").decode()]
    assert [entry.html for entry in read(file, decode=False)] == [BODY, title("y")]


@pytest.mark.parametrize(
    ("body", "headers", "error_type"),
    [
        (gzip.compress(BODY * 100)[:-20], ("Content-Encoding: gzip",), "refused"),
        (chunked(BODY)[:-12], ("Transfer-Encoding: chunked",), "refused"),
        (b"\x00\x01" + random.Random(1).randbytes(500), ("Content-Encoding: gzip",), "http"),
        (b"\x00\x01" + random.Random(1).randbytes(500), ("Content-Encoding: zstd",), "http"),
        (b"\x00\x01" + random.Random(1).randbytes(500), ("Content-Encoding: gzip, br",), "http"),
    ],
)
def test_a_body_that_cannot_be_decoded_is_a_row(
    path: Path, body: bytes, headers: tuple[str, ...], error_type: str
) -> None:
    file = write(path, response("https://a.example/x", body, "Content-Type: text/html", *headers), page("y"))
    assert told(file) == [("x", error_type), ("y", "y")]


@pytest.mark.parametrize("encode", [gzip.compress, brotli.compress, _zstd, zlib.compress])
def test_a_body_that_inflates_without_end_costs_no_memory(path: Path, encode: object) -> None:
    name = {gzip.compress: "gzip", brotli.compress: "br", _zstd: "zstd", zlib.compress: "deflate"}[encode]  # type: ignore[index]
    bomb = encode(b"<p>tea" * 20_000_000)  # type: ignore[operator]
    file = write(
        path,
        response("https://a.example/x", bomb, "Content-Type: text/html", f"Content-Encoding: {name}"),
        page("y"),
    )
    del bomb
    tracemalloc.start()
    try:
        assert told(file, max_bytes=1_000_000) == [("x", "too_large"), ("y", "y")]
        assert tracemalloc.get_traced_memory()[1] < 15_000_000
    finally:
        tracemalloc.stop()


# ---------------------------------------------------------------- sizes


def test_a_page_above_the_limit_is_a_row(path: Path) -> None:
    file = write(path, response("https://a.example/x", b"<p>" + b"tea " * 300_000), page("y"))
    assert told(file, max_bytes=1_000_000) == [("x", "too_large"), ("y", "y")]
    assert told(file, max_bytes=2_000_000)[0][1] != "too_large"
    assert wa.metadata(file, max_bytes=1_000_000)["error_type"].tolist()[0] == "too_large"


def test_a_member_that_inflates_without_end_costs_no_memory(tmp_path: Path) -> None:
    zeros = response("https://a.example/x", b"\0" * 200_000_000)
    file = write(tmp_path / "a.warc.gz", zeros, page("y"))
    del zeros
    tracemalloc.start()
    try:
        assert told(file, max_bytes=1_000_000)[1] == ("y", "y")
        assert tracemalloc.get_traced_memory()[1] < 15_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("line", [b"X: " + b"a" * 100_000_000, b"X: a\r\n" * 1_000_000, b"a" * 100_000_000])
def test_a_head_without_end_is_damage(tmp_path: Path, line: bytes) -> None:
    file = write(tmp_path / "a.warc.gz", b"WARC/1.1\r\n" + line, page("y"))
    tracemalloc.start()
    try:
        assert told(file)[1:] == [("y", "y")]
        assert tracemalloc.get_traced_memory()[1] < 15_000_000
    finally:
        tracemalloc.stop()
    assert next(iter(read(file))).error == "The archive is damaged from byte 0 on."


def test_what_was_cut_off_when_it_was_stored_is_a_row(path: Path) -> None:
    cut = response("https://a.example/x", BODY, WARC_Truncated="length")
    (found,) = read(write(path, cut))
    assert (found.error_type, found.error) == (
        "too_large",
        "The page was cut off when it was archived (length).",
    )
    assert found.headers == "Content-Type: text/html"


# ---------------------------------------------------------------- damage


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc"])
@pytest.mark.parametrize("end", [1, 4, 9, 30, 200])
def test_a_file_that_was_cut_off_gives_all_that_is_whole(tmp_path: Path, name: str, end: int) -> None:
    records = [page(name) for name in "abc"]
    file = write(tmp_path / name, *records)
    content = Path(file).read_bytes()
    Path(file).write_bytes(content[:-end])
    whole = name == "a.warc" and end <= 4  # only the blank lines after the last record are missing
    found = told(file)
    assert found[:2] == [("a", "a"), ("b", "b")]
    assert [kind for _, kind in found[2:]] == (["c"] if whole else ["parse"])


def test_every_byte_at_which_a_file_may_end_leaves_it_readable(tmp_path: Path) -> None:
    content = Path(write(tmp_path / "whole.warc.gz", page("a"), page("b"))).read_bytes()
    member = zlib.decompressobj(wbits=31)
    member.decompress(content)
    first = len(content) - len(member.unused_data)
    for end in range(1, len(content)):
        file = tmp_path / "a.warc.gz"
        file.write_bytes(content[:end])
        kinds = [kind for _, kind in told(str(file))]
        assert kinds in (["parse"], ["a", "parse"]) or (end == first and kinds == ["a"])


@pytest.mark.parametrize("at", [0.0, 0.1, 0.3, 0.5, 0.9])
def test_a_damaged_member_is_one_row_and_the_rest_is_read(tmp_path: Path, at: float) -> None:
    members = [gzip.compress(page(name, name * 300)) for name in "abc"]
    middle = bytearray(members[1])
    place = int(len(middle) * at)
    middle[place : place + 4] = b"\xff\x00\xff\x00"
    file = tmp_path / "a.warc.gz"
    file.write_bytes(members[0] + bytes(middle) + members[2])
    found = list(read(str(file)))
    assert [entry.error is None for entry in found] == [True, False, True]
    assert found[1].error == f"The archive is damaged from byte {len(members[0]):,} on."
    frame = wa.metadata(str(file))
    assert frame["title"].tolist()[::2] == ["a" * 300, "c" * 300]
    assert frame["error_type"].tolist()[1] == "parse"
    assert frame.attrs["webanalytics"]["archive"]["damaged"] == 1


def test_a_flipped_bit_in_a_body_is_found_by_the_checksum_of_the_member(tmp_path: Path) -> None:
    # stored as it is: no bit of it breaks the format
    stored = gzip.compress(page("b", "tea " * 100_000), compresslevel=0)
    file = tmp_path / "a.warc.gz"
    file.write_bytes(
        gzip.compress(page("a")) + stored.replace(b"<p>tea", b"<p>sea") + gzip.compress(page("c"))
    )
    assert told(str(file)) == [("a", "a"), ("b", "parse"), ("c", "c")]


@pytest.mark.parametrize(
    "junk",
    [
        b"junk between records\r\n\r\n",
        b"WARC/9.9\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n",
        b"WARC/1.0\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n",
        record("response", b"", "https://a.example/x", Content_Length="many"),
        record("response", b"", "https://a.example/x", Content_Length="-5"),
        record("response", b"", "https://a.example/x").replace(b"Content-Length: 0\r\n", b""),
    ],
)
def test_what_is_no_record_is_one_row_and_the_rest_is_read(path: Path, junk: bytes) -> None:
    assert [kind for _, kind in told(write(path, page("a"), junk, page("b")))] == ["a", "parse", "b"]


def test_a_length_that_is_too_long_ends_at_the_next_record(tmp_path: Path) -> None:
    wrong = response("https://a.example/x", BODY, Content_Length="100000")
    assert told(write(tmp_path / "a.warc.gz", page("a"), wrong)) == [("a", "a"), ("x", "parse")]


def test_an_answer_that_is_not_http_is_a_row(path: Path) -> None:
    odd = record("response", b"220 smtp.example ready\r\n", "https://a.example/x", "application/http")
    assert told(write(path, odd, page("b"))) == [("x", "parse"), ("b", "b")]


def test_a_file_of_beginnings_is_gone_through_once(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    file.write_bytes(b"\x1f\x8b\x08" * 20_000 + gzip.compress(page("b")))
    with Steps() as steps:
        assert [kind for _, kind in told(str(file))] == ["parse", "b"]
    assert steps.count < 600_000


def test_zeros_at_the_end_are_an_end(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    file.write_bytes(gzip.compress(page("a")) + b"\0" * 100_000)
    assert told(str(file)) == [("a", "a")]


def test_a_file_compressed_as_a_whole_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    records = [page(str(number)) for number in range(300)]
    file.write_bytes(gzip.compress(b"".join(records)))
    assert told(str(file)) == [(str(number), str(number)) for number in range(300)]


def test_an_empty_file_and_one_that_is_missing(tmp_path: Path) -> None:
    empty = tmp_path / "empty.warc"
    empty.touch()
    assert told(str(empty)) == []
    (missing,) = read(str(tmp_path / "missing.warc.gz"))
    assert missing.error == "The file cannot be read: No such file or directory."
    frame = wa.metadata([str(tmp_path / "missing.warc.gz"), write(tmp_path / "a.warc", page("a"))])
    assert frame["status"].tolist() == ["error", "ok"]


def test_what_is_no_archive_is_a_row(tmp_path: Path) -> None:
    file = tmp_path / "picture.warc.gz"
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 1000)
    assert [kind for _, kind in told(str(file))] == ["parse"]


# ---------------------------------------------------------------- revisits and duplicates


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


# ---------------------------------------------------------------- redirects


def moved(name: str, to: str, date: str = DATE, status: str = "301 Moved") -> bytes:
    return response(f"https://a.example/{name}", b"", f"Location: {to}", status=status, date=date)


def test_redirects_lead_to_their_target_in_the_archive(path: Path) -> None:
    file = write(path, moved("1", "/2"), page("3"), moved("2", "3#top", status="302 Found"))
    frame = wa.audit(file)
    assert frame["url"].tolist() == [f"https://a.example/{name}" for name in "132"]
    assert frame["title"].tolist() == ["3", "3", "3"]
    assert frame["final_url"].tolist() == ["https://a.example/3"] * 3
    assert [list(way) for way in frame["redirect_kinds"]] == [["301", "302"], [], ["302"]]
    assert list(frame["redirects"].iloc[0]) == ["https://a.example/1", "https://a.example/2"]


def test_redirects_in_a_circle_and_out_of_the_archive_are_rows(path: Path) -> None:
    found = list(read(write(path, moved("1", "/2"), moved("2", "/1"), moved("3", "https://b.example/"))))
    assert [entry.error for entry in found] == [
        "The page redirects in a circle.",
        "The page redirects in a circle.",
        "The page redirects with HTTP 301 to what is not in the archive.",
    ]
    assert [entry.http_status for entry in found] == [302 - 1] * 3


# ---------------------------------------------------------------- other records


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
    assert frame["http_status"].tolist() == [404, 200]
    assert frame["error"].tolist()[0] == "The page answered HTTP 404."
    assert frame["title"].tolist() == ["Gone", "y"]


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


# ---------------------------------------------------------------- names of files


def test_patterns_lists_and_names_that_look_like_patterns(tmp_path: Path) -> None:
    for name in ("b", "a", "[x]"):
        write(tmp_path / f"{name}.warc.gz", page(name.strip("[]")))
    assert [name for name, _ in told(str(tmp_path / "*.warc.gz"))] == ["x", "a", "b"]
    assert [name for name, _ in told(str(tmp_path / "[x].warc.gz"))] == ["x"]
    several = [tmp_path / "b.warc.gz", str(tmp_path / "?.warc.gz")]
    assert [name for name, _ in told(several)] == ["b", "a"]  # type: ignore[arg-type]
    assert wa.metadata(several)["title"].tolist() == ["b", "a"]
    with pytest.raises(wa.ParameterError, match=r"`urls` parameter must be a pattern .* no file fits"):
        wa.metadata(str(tmp_path / "none-*.warc.gz"))
    with pytest.raises(wa.ParameterError, match="`source` parameter must be an archive"):
        read("https://a.example/")
    with pytest.raises(wa.ParameterError, match="`duplicates` parameter must be one of"):
        read(str(tmp_path / "*.warc.gz"), duplicates="first")  # type: ignore[arg-type]


def test_archives_among_addresses_and_saved_pages(tmp_path: Path) -> None:
    saved = tmp_path / "page.html"
    saved.write_bytes(title("Saved"))
    archive = write(tmp_path / "a.warc", page("a"), page("b"))
    frame = wa.metadata([str(saved), archive, "nowhere"])
    assert frame["title"].tolist()[:3] == ["Saved", "a", "b"]
    assert frame["error_type"].tolist()[3] == "invalid"


def test_addresses_and_names_of_an_archive_are_data(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>"
    file = write(
        tmp_path / "a.warc",
        response(
            f"https://a.example/{name}", title("X"), "Content-Disposition: attachment; filename=../../x"
        ),
        record("warcinfo", b"", WARC_Filename="../../../etc/passwd"),
    )
    audit = wa.audit(file)
    report = audit.report(tmp_path / "report.html")
    assert "<script>alert(1)" not in Path(report).read_text("utf-8")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.warc", "report.html"]


def test_a_row_of_a_table_is_one_page(tmp_path: Path) -> None:
    file = write(tmp_path / "a.warc", page("a"), page("b"))
    frame = wa.metadata(pd.DataFrame({"url": ["no address", file]}))
    assert len(frame) == 2


def test_archives_and_sitemaps_are_audited_apart(tmp_path: Path) -> None:
    file = write(tmp_path / "a.warc", page("a"))
    with pytest.raises(
        wa.ParameterError, match="`urls` parameter must be addresses where a `sitemap` is given"
    ):
        wa.audit(file, sitemap="https://a.example/sitemap.xml")


def test_pages_of_an_archive_are_kept_in_a_checkpoint(tmp_path: Path) -> None:
    file = write(tmp_path / "a.warc.gz", page("a"), page("b"))
    first = wa.metadata(file, checkpoint=tmp_path / "kept")
    with Path(file).open("r+b") as content:  # nothing of it is read again but its heads
        again = wa.metadata(file, checkpoint=tmp_path / "kept")
        assert content.read(2) == b"\x1f\x8b"
    pd.testing.assert_frame_equal(first, again)


def test_a_page_at_a_time_is_in_memory(tmp_path: Path) -> None:
    file = write(tmp_path / "a.warc.gz", *(page(str(number), "tea " * 50_000) for number in range(150)))
    tracemalloc.start()
    try:
        assert sum(len(entry.html or "") for entry in read(file)) > 50_000_000
        assert tracemalloc.get_traced_memory()[1] < 12_000_000
    finally:
        tracemalloc.stop()


def test_what_is_not_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = response(
        "https://a.example/x", _zstd(BODY), "Content-Type: text/html", "Content-Encoding: zstd"
    )
    file = write(tmp_path / "a.warc", encoded)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert told(file) == [("x", "http")]
    monkeypatch.setitem(sys.modules, "warcio.recordloader", None)
    for call in (read, wa.metadata):
        with pytest.raises(MissingExtraError, match=r'pip install "webanalytics\[archives\]"'):
            call(file)
