"""Damage in archives: one row for each place, and the rest is read."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest

import webanalytics as wa
from tests.effort import Steps
from tests.fetching.archives.files import answer, page, record, response, title, write
from tests.fetching.archives.reading import told
from webanalytics.fetching.archives import members
from webanalytics.fetching.archives.members import Budget
from webanalytics.fetching.archives.records import Fault, records
from webanalytics.fetching.archives.sources import pages as read

BODY = title("Tea")


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


def test_wherever_a_member_is_damaged_the_next_one_is_read(tmp_path: Path) -> None:
    """What is damaged may inflate beyond its own end."""
    members = [gzip.compress(page(name, name * 300)) for name in "abc"]
    file = tmp_path / "a.warc.gz"
    for place in range(10, len(members[1]) - 4):
        middle = bytearray(members[1])
        middle[place : place + 4] = b"\xff\x00\xff\x00"
        file.write_bytes(members[0] + bytes(middle) + members[2])
        found = list(read(str(file)))
        assert [found[0].url[-1], found[-1].url[-1]] == ["a", "c"], place
        assert any(entry.error for entry in found), place


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


@pytest.mark.parametrize(
    ("lines", "each", "kind"),
    [(1_900, 10, "x"), (2_100, 10, "parse"), (130, 1_900, "x"), (140, 1_900, "parse")],
)
def test_heads_are_bounded_in_lines_and_in_bytes(path: Path, lines: int, each: int, kind: str) -> None:
    headers = [f"X-{number}: {'v' * each}" for number in range(lines)]
    long = response("https://a.example/x", title("x"), "Content-Type: text/html", *headers)
    assert [told_of for _, told_of in told(write(path, page("a"), long, page("b")))] == ["a", kind, "b"]


def test_zeros_at_the_end_are_an_end(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    file.write_bytes(gzip.compress(page("a")) + b"\0" * 100_000)
    assert told(str(file)) == [("a", "a")]


def test_a_file_compressed_as_a_whole_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    records = [page(str(number)) for number in range(300)]
    file.write_bytes(gzip.compress(b"".join(records)))
    assert told(str(file)) == [(str(number), str(number)) for number in range(300)]


@pytest.mark.parametrize("size", [3, 100, 777])
def test_members_that_end_anywhere_are_read(tmp_path: Path, size: int) -> None:
    """Tools that compress blocks of one size, and parts of a file put together, know nothing of records."""
    raw = b"".join(page(str(number), f"tea {number} " * number) for number in range(12))
    pieces = [gzip.compress(raw[at : at + size]) for at in range(0, len(raw), size)]
    (tmp_path / "a.warc.gz").write_bytes(b"".join(pieces))
    whole = write(tmp_path / "b.warc", raw)
    assert told(str(tmp_path / "a.warc.gz")) == told(whole)
    assert len(told(whole)) == 12


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


def overlapping(count: int, size: int) -> bytes:
    """Return members that begin within each other and share what follows: each inflates to that size."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    tail = b"".join([*(packer.compress(bytes(1_000_000)) for _ in range(size // 1_000_000)), packer.flush()])
    head = record("response", b"", "https://a.example/x", Content_Length=str(2 * size)).removesuffix(
        b"\r\n\r\n"
    )
    nested = b""
    for _ in range(count):
        block = head + nested
        stored = (
            b"\0" + len(block).to_bytes(2, "little") + (65_535 - len(block)).to_bytes(2, "little") + block
        )
        nested = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + stored
    return nested + tail


def folded(lines: int) -> bytes:
    return gzip.compress(
        record(
            "response",
            b"HTTP/1.1 200 OK\r\nA: b\r\n" + b" c\r\n" * lines + b"\r\n<p>x",
            "https://a.example/x",
        )
    )


COSTLY = {
    "heads of folded lines": ("a.warc.gz", lambda: folded(60_000) * 20),
    "records of folded lines": (
        "a.warc.gz",
        lambda: gzip.compress(b"WARC/1.1\r\nWARC-Type: response\r\n" + b" c\r\n" * 60_000) * 20,
    ),
    "members in each other": ("a.warc.gz", lambda: overlapping(20, 3_000_000)),
    "beginnings of members": ("a.warc.gz", lambda: b"\x1f\x8b\x08" * 30_000),
    "beginnings of records": ("a.warc", lambda: b"\nWARC/1.0\r\nX:" * 10_000),
}


@pytest.mark.parametrize("name", COSTLY)
def test_work_is_in_proportion_to_the_file(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_name, make = COSTLY[name]
    file = tmp_path / file_name
    file.write_bytes(make())
    monkeypatch.setattr(members, "LEAST_WORK", 200_000)
    monkeypatch.setattr(members, "WORK_OF_BYTE", 30)
    with file.open("rb") as opened:
        most = Budget(opened).left
    assert most == 200_000 + 30 * file.stat().st_size
    with Steps() as steps:
        found = list(records(file))
    assert steps.count < most
    assert isinstance(found[-1], Fault)
    assert found[-1].key == "archive_work"


def test_an_archive_that_takes_too_much_work_says_so_and_gives_what_it_has(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    file.write_bytes(gzip.compress(page("a")) + overlapping(20, 400_000_000))
    found = list(read(str(file)))
    assert [entry.error is None for entry in found] == [True, False]
    assert found[1].error_type == "too_large"
    assert found[1].error is not None
    assert found[1].error.startswith(
        "The archive takes more work than its size allows; it is read up to byte "
    )


def test_going_back_in_a_member_is_work_too(tmp_path: Path) -> None:
    """Of revisits in one member each page needs what is far in front of it."""
    names = [f"p{number}" for number in range(40)]
    pages = [response(f"https://a.example/{name}", bytes(2_000_000) + title(name)) for name in names]
    revisits = [
        record(
            "revisit",
            answer(b""),
            f"https://a.example/again/{name}",
            "application/http; msgtype=response",
            WARC_Refers_To_Target_URI=f"https://a.example/{name}",
        )
        for name in names
    ]
    file = tmp_path / "a.warc.gz"
    file.write_bytes(gzip.compress(b"".join(pages + revisits)))
    kinds = [entry.error_type for entry in read(str(file))]
    assert kinds[:40] == ["parse"] * 40 or kinds[:40] == [None] * 40
    assert kinds[-1] == "too_large"


def test_an_honest_archive_of_pages_that_shrink_well_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    file.write_bytes(gzip.compress(b"".join(page(f"p{number}") for number in range(3_000))))
    assert [entry.error for entry in read(str(file))] == [None] * 3_000
