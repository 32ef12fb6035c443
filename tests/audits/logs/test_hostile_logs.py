"""Logs that mean harm: a visitor writes parts of each line, and whoever sends a file all of it."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

import webanalytics as wa
from tests.audits.logs import writers
from tests.effort import BUSY_SECONDS, effort_since
from tests.limits import limited
from webanalytics.audits.logs import reading
from webanalytics.audits.logs.formats import FORMATS, of_header, of_template

GOOD = writers.combined(writers.apache, "/tea", "GPTBot/1.2").encode()
FIELDS = b"#Fields: date time cs-uri-stem sc-status cs(User-Agent)"


def read(folder: Path, content: bytes, name: str = "access.log") -> Any:
    path = folder / name
    path.write_bytes(content)
    return wa.logs(path)


def entry(**fields: Any) -> bytes:
    """A line of Traefik."""
    known = {"DownstreamStatus": 200, "RequestPath": "/tea", "StartUTC": "2026-11-24T09:00:00Z"}
    return json.dumps(known | fields).encode() + b"\n"


CADDY = '{"ts": 1795510800.5, "status": 200, "request": {"uri": "/tea", "headers": %s}}\n'


@pytest.mark.parametrize(
    "line",
    [
        entry(Duration=10**400),
        entry(Duration=-(10**400)),
        *((CADDY % value).encode() for value in ('{"User-Agent": 5}', '{"User-Agent": true}', "[1]", "null")),
        (CADDY % '{"User-Agent": {"a": 1}}').encode(),
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
        b'{"a": ' * 100_000 + b"1" + b"}" * 100_000 + b"\n",
        b'{"status": ' + b"1" * 5_000 + b"}\n",
        b"[" * 50 + b"\n",
        b'{"RequestPath": "/tea"\n',
    ],
)
def test_json_of_the_wrong_kind_is_a_line_that_is_none(line: bytes, tmp_path: Path) -> None:
    found = read(tmp_path, entry() + line + entry())
    assert (found.lines, found.unread_lines, found.hits["hits"].sum()) == (3, 1, 2)
    assert found.unread["line"].tolist() == [2]


def test_numbers_that_are_none_in_json(tmp_path: Path) -> None:
    lines = [entry(duration=value) for value in (float("nan"), "1e999", "x", -5, None)]
    found = read(tmp_path, b"".join(lines))
    assert (found.unread_lines, found.hits["hits"].tolist()) == (0, [5])
    assert found.crawlers()["hits"].tolist() == [5]


def test_lone_surrogates_and_signs_of_terminals_in_json(tmp_path: Path) -> None:
    said = "Mozilla \ud800 \x1b]0;x\x07GPTBot/1.2"
    fields = {"request_User-Agent": said, "RequestHost": "\udfff.example", "RequestPath": "/\ud800\x1b[31m\n"}
    found = read(tmp_path, entry(**fields))
    row = found.hits.iloc[0]
    assert (row["url"], row["crawler"]) == ("https://?.example/?%1B[31m%0A", "GPTBot")
    assert "\x1b" not in repr(found)
    assert found.hits.to_csv().encode()


TIMES = {
    "01/Jan/0001:00:30:00 +0900": "",  # before the first day that there is
    "31/Dec/9999:23:59:59 -0900": "",
    "31/Feb/2026:00:00:00 +0000": "",
    "24/Nov/0000:00:00:00 +0000": "",
    "24/Nov/2026:24:61:00 +0000": "",
    "24/Nov/2026:10:00:00 +9999": "",
    "24/Nüv/2026:10:00:00 +0000": "",
    "01/Jan/0001:00:30:00 +0000": "0001-01-01",
    "31/Dec/9999:23:59:59 +0000": "9999-12-31",
}


@pytest.mark.parametrize("moment", TIMES)
def test_days_out_of_range(moment: str, tmp_path: Path) -> None:
    line = writers.combined(writers.apache, "/", "x", time=moment).encode()
    found = read(tmp_path, GOOD + line)
    assert sorted(found.days["day"]) == sorted(["2026-11-24", *filter(None, [TIMES[moment]])])
    assert found.crawlers()["hits"].sum() == 1 + bool(TIMES[moment])


@pytest.mark.parametrize("moment", [1e300, "9" * 400, -1e20, "1" * 18, "NaN", "٣", "²"])
def test_seconds_out_of_range(moment: object, tmp_path: Path) -> None:
    found = read(tmp_path, entry() + entry(StartUTC=moment))
    assert (found.unread_lines, found.hits["hits"].sum()) == (1, 1)


def test_fields_in_quotation_marks_are_read_in_one_way(tmp_path: Path) -> None:
    header = b"#Fields: date time cs-uri-stem sc-status " + b" ".join(b"x%d" % n for n in range(60))
    lacking = b"2026-11-24 00:00:05 /a 200 " + b" ".join([b'"a"'] * 59)
    found = read(tmp_path, b"\n".join([header, lacking, lacking + b' "b"', b""]))  # 2 ** 59 ways, one by one
    assert (found.lines, found.unread_lines, found.hits["hits"].sum()) == (2, 1, 1)


def test_fields_with_spaces_and_marks_that_are_none(tmp_path: Path) -> None:
    header = FIELDS + b" cs(Referer)"
    agents = [b'"two words" x', b'"GPTBot/1.2 ""quoted""" "-"', b'"GPTBot x"', b'" "', b'"x" "']
    lines = [b"2026-11-24 00:00:05 /%d 200 " % number + said for number, said in enumerate(agents)]
    found = read(tmp_path, b"\r\n".join([header, *lines]))
    assert (found.lines, found.unread_lines) == (5, 0)
    assert found.hits["crawler"].tolist() == ["two", "GPTBot", "GPTBot", "", ""]


def test_a_header_of_a_hundred_thousand_fields(tmp_path: Path) -> None:
    line = b"2026-11-24 00:00:05 /tea 200 GPTBot/1.2" + b" 1" * 100_000
    read(tmp_path, FIELDS + b"\n" + line)  # what is imported, once
    with limited(steps=3_000_000, memory=20_000_000):
        found = read(tmp_path, FIELDS + b" x" * 100_000 + b"\n" + line)
    assert found.hits[["url", "crawler"]].values.tolist() == [["/tea", "GPTBot"]]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_file_that_inflates_out_of_proportion(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LEAST_WORK", 20_000_000)
    monkeypatch.setattr(reading, "BLOCK", 100_000)
    name = "access.log.gz" if pack is gzip.compress else "access.log.zst"
    content = GOOD + b"\0" * 1_000 + b"\n" + b" " * 30_000_000 + b"\n" + GOOD
    found = read(tmp_path, pack(content), name)
    assert found.hits["hits"].sum() == 1
    assert found.unread.values.tolist()[-1] == [
        name,
        3,
        "the file inflates over 200 times its size, and is not read from here on",
    ]
    monkeypatch.setattr(reading, "LEAST_WORK", 40_000_000)
    assert read(tmp_path, pack(content), name).hits["hits"].sum() == 2


def test_a_line_of_100_mb_takes_the_memory_of_a_block(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    with path.open("wb") as file:
        file.write(GOOD)
        file.truncate(100_000_000)
        file.seek(100_000_000)
        file.write(b"\n" + GOOD)
    with limited(memory=12_000_000):
        found = wa.logs(path)
    assert (found.lines, found.unread_lines, found.hits["hits"].sum()) == (3, 1, 2)


def test_lines_that_are_none_are_tried_together(tmp_path: Path) -> None:
    read(tmp_path, GOOD)
    with limited(
        steps=400_000, memory=50_000_000
    ):  # each with each of the six formats would be 120,000 calls more
        found = read(tmp_path, GOOD + b"x\n" * 20_000 + GOOD)
    assert (found.lines, found.unread_lines, found.hits["hits"].sum()) == (20_002, 20_000, 2)


HEAD = b"192.0.2.7 - - "
TIME = b"[24/Nov/2026:10:00:00 +0000] "
SHAPES = {
    "nulls": (b"", b"\0"),
    "quotation marks": (b"", b'"'),
    "escaped ones": (HEAD + TIME + b'"GET /', b'\\"'),
    "backslashes": (HEAD + TIME + b'"', b"\\"),
    "brackets": (HEAD, b"["),
    "times": (HEAD, TIME),
    "users": (HEAD, b"a "),
    "ports": (b"http 2026-11-24T23:39:43Z app ", b":1"),
    "digits": (b"", b"1"),
    "spaces": (b"", b" "),
    "escapes": (HEAD + TIME + b'"GET /', b"\\x41"),
    "words of agents": (HEAD + TIME + b'"GET / HTTP/1.1" 200 5 "-" "', b"a-"),
    "agents escaped twice": (HEAD + TIME + b'"GET / HTTP/1.1" 200 5 "-" "', b"%25"),
    "lists": (b"", b"["),
    "objects": (b"", b'{"a":'),
    "escapes in JSON": (b'{"a": "', b"\\x41"),
    "backslashes in JSON": (b'{"a": "', b"\\"),
    "fields": (FIELDS + b"\n", b'"" '),
    "fields left open": (FIELDS + b"\n", b'"a '),
    "marks in a field": (FIELDS + b"\n", b'""'),
    "headers": (b"", FIELDS + b"\n"),
    "comments": (FIELDS + b"\n", b"#\n"),
    "empty lines": (GOOD, b"\n"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_shape_takes_time_out_of_proportion(shape: str, tmp_path: Path) -> None:
    before, repeated = SHAPES[shape]

    def cost(size: int) -> float:
        path = tmp_path / "access.log"
        path.write_bytes(GOOD + before + repeated * (size // len(repeated)) + b"\n" + GOOD)
        start = time.process_time()
        found = wa.logs(path)
        assert found.hits["hits"].sum() >= 1
        return effort_since(start)

    cost(1_000)
    # twice as much takes twice as long; what is quadratic takes six seconds
    assert cost(60_000) < BUSY_SECONDS / 15


def test_every_pattern_ends_at_once_where_it_does_not_fit() -> None:
    forms = [*FORMATS.values(), of_header(FIELDS, False), of_header(FIELDS, True)]
    forms.append(of_template("own", '%h %u %t "%r" %>s %D'))
    for form in forms:
        start = time.process_time()
        for before, repeated in SHAPES.values():
            form.rows(before.split(b"\n")[-1] + repeated.strip(b"\n") * (50_000 // len(repeated)))
        assert effort_since(start) < 5, form.name  # what is quadratic takes that for one of them
