"""The list of disposable numbers: its file, updates by the user, and broken files."""

from __future__ import annotations

import datetime as dt
import json
import logging
import os
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import effort_since
from webanalytics.errors import ParameterError
from webanalytics.records.phones import phone, phone_list

LISTED, UNKNOWN = "+12085813945", "+12125550123"
TODAY = dt.date(2026, 11, 21)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WEBANALYTICS_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def first_seen(number):
    return phone.analyse(number, details=False)["firstSeen"]


def test_the_packaged_list():
    phones = phone_list.packaged()
    assert len(phones) == 93_288  # of @ip1sms/disposable-phone-numbers 2.1.802
    assert phones.source == "@ip1sms/disposable-phone-numbers 2.1.802"
    # first and last entries of its number-list.json by number, and its earliest and latest dates
    found, position = phones.find(np.array([46200231, 46200655, 46209451], dtype=np.uint64))
    assert found.all()
    assert phones.first_seen(position).tolist() == ["2023-12-20", "2023-12-11", "2021-07-09"]
    earliest, latest = (str(np.datetime64(int(day), "D")) for day in (phones.days.min(), phones.days.max()))
    assert (earliest, latest) == ("2018-08-23", "2024-06-05")


def test_the_packaged_file_is_small_fast_and_has_its_licence():
    folder = Path(phone_list.__file__).parent / "data"
    file = folder / "phones.npz"
    assert file.stat().st_size < 600_000
    start = time.process_time()
    phone_list.from_bytes(file.read_bytes())
    assert effort_since(start) < 0.05
    notice = (folder / "phones.LICENSE.txt").read_text("utf-8")
    assert "MIT License" in notice
    assert "iP.1 Networks AB" in notice
    assert "2.1.802" in notice


@given(st.dictionaries(st.integers(1, 10**18 - 1), st.integers(0, 65_535)))
def test_files_hold_what_was_written(days):
    numbers = np.array(sorted(days), dtype=np.uint64)
    phones = phone_list.PhoneList(
        numbers, np.array([days[n] for n in numbers.tolist()], dtype=np.int32), "tëst"
    )
    read = phone_list.from_bytes(phone_list.to_bytes(phones))
    assert read.numbers.tolist() == numbers.tolist()
    assert read.days.tolist() == phones.days.tolist()
    assert read.source == "tëst"
    found, _ = read.find(np.array([5, *numbers.tolist()], dtype=np.uint64))
    assert found[1:].all()
    assert found[0] == (5 in days)


@given(*[st.dictionaries(st.integers(1, 30), st.integers(0, 50))] * 2)
def test_merging_keeps_the_earlier_date(one, other):
    def listed(days):
        numbers = sorted(days)
        return phone_list.PhoneList(
            np.array(numbers, dtype=np.uint64), np.array([days[n] for n in numbers], dtype=np.int32), "test"
        )

    merged = listed(one).merged(listed(other))
    expected = {n: min(days[n] for days in (one, other) if n in days) for n in one.keys() | other.keys()}
    assert dict(zip(merged.numbers.tolist(), merged.days.tolist(), strict=True)) == expected
    assert merged.numbers.tolist() == sorted(expected)


def test_an_update_adds_and_keeps_the_earlier_date(folder):
    assert first_seen(UNKNOWN) is None
    newer = {
        UNKNOWN: "2026-01-02",
        LISTED[1:]: "2020-02-03",
        "4620 0231": "2019-01-01",
        "46200655": "2025-01-01",
    }
    report = phone_list.update(newer)
    assert report == (1, 1, 1, 93_289, folder / "phones.npz")
    assert first_seen(UNKNOWN) == "2026-01-02"
    assert first_seen(LISTED) == "2020-02-03"
    assert first_seen("+46200655") == "2023-12-11"
    again = phone_list.update({UNKNOWN: "2025-12-31"})
    assert (again.added, again.earlier, again.total) == (0, 1, 93_289)
    assert first_seen(UNKNOWN) == "2025-12-31"
    assert [path.name for path in folder.iterdir()] == ["phones.npz"], "no temporary file stays"


NEWER = {"12125550123": "2026-01-02", "12125550124": "2026-01-03"}


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(NEWER),
        "\ufeff" + json.dumps(NEWER),
        "number,date\n+12125550123,2026-01-02\n12125550124;2026-01-03\r\n\n",
        '"12125550123"\t"2026-01-02T10:00:00Z"\n12125550124,2026-01-03',
    ],
)
def test_forms_of_a_list(content, tmp_path):
    file = tmp_path / "list"
    file.write_text(content, "utf-8")
    for number, source in enumerate((content.encode(), file, str(file))):
        assert phone_list.update(source, folder=tmp_path / f"{number}", today=TODAY).added == 2
        phones = phone_list.from_bytes((tmp_path / f"{number}" / "phones.npz").read_bytes())
        assert phones.first_seen(np.arange(2)).tolist() == ["2026-01-02", "2026-01-03"]


@pytest.mark.parametrize("content", [b'["12125550123", 12125550124]', b"+12125550123\n12125550124\n"])
def test_numbers_without_a_date_were_seen_today(content):
    assert phone_list.update(content, today=TODAY).added == 2
    assert first_seen(UNKNOWN) == "2026-11-21"


@pytest.mark.parametrize(
    "date", ["2026-13-01", "1969-12-31", "2027-06-01", "yesterday", "", 5, ["2024-01-01"]]
)
def test_entries_with_an_impossible_date_are_skipped(date):
    report = phone_list.update({UNKNOWN: date, "12125550124": "2024-01-01"}, today=TODAY)
    assert (report.added, report.skipped) == (1, 1)


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"{}",
        b"[]",
        b"{broken",
        b"[" * 100_000,
        b"<html>404 Not Found</html>",
        b"\x1f\x8b\x08\x00",
        b"[[1], {}, null]",
        "no/such/file",
        "nul\0byte",
        None,
        7,
        {},
        {"abc": "2024-01-01"},
    ],
)
def test_what_is_no_list_changes_nothing(source, folder):
    phone_list.update({UNKNOWN: "2026-01-02"})
    before = (folder / "phones.npz").read_bytes()
    with pytest.raises(ParameterError, match=r"^The `source` parameter must be .+\.$") as caught:
        phone_list.update(source)
    assert caught.value.parameter == "source"
    assert (folder / "phones.npz").read_bytes() == before


def test_a_list_that_is_too_large(tmp_path):
    file = tmp_path / "list"
    file.write_bytes(b" " * 2000)
    for source in (file, file.read_bytes()):
        with pytest.raises(ParameterError, match="at most 1000 bytes"):
            phone_list.update(source, limit=1000)


def _damaged():
    whole = phone_list.to_bytes(phone_list.packaged())
    falling = phone_list.PhoneList(
        np.array([9, 5], dtype=np.uint64), np.array([1, 2], dtype=np.int32), "test"
    )
    uneven = phone_list.PhoneList(np.array([5, 9], dtype=np.uint64), np.array([1], dtype=np.int32), "test")
    return {
        "empty": b"",
        "text": b"hello",
        "cut off": whole[: len(whole) // 2],
        "changed": whole[:5000] + b"\0" * 5000 + whole[10_000:],
        "not in order": phone_list.to_bytes(falling),
        "uneven": phone_list.to_bytes(uneven),
    }


@pytest.mark.parametrize("damage", ["empty", "text", "cut off", "changed", "not in order", "uneven"])
def test_a_broken_user_file_is_ignored_and_replaced(damage, folder, caplog):
    folder.mkdir()
    (folder / "phones.npz").write_bytes(_damaged()[damage])
    with caplog.at_level(logging.WARNING):
        assert first_seen(LISTED) == "2024-01-30"
    assert "ignoring the list of phone numbers" in caplog.text
    assert phone_list.update({UNKNOWN: "2026-01-02"}).added == 1
    assert first_seen(UNKNOWN) == "2026-01-02"


def test_a_user_file_that_unpacks_to_too_much():
    content = phone_list.to_bytes(phone_list.packaged())
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        phone_list.from_bytes(content, limit=1000)


def test_a_failed_write_leaves_the_old_file(folder, monkeypatch):
    phone_list.update({UNKNOWN: "2026-01-02"})

    def fail(_descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        phone_list.update({"12125550124": "2026-01-02"})
    monkeypatch.undo()
    os.environ["WEBANALYTICS_DATA"] = str(folder)
    try:
        assert first_seen(UNKNOWN) == "2026-01-02"
        assert first_seen("+12125550124") is None
    finally:
        del os.environ["WEBANALYTICS_DATA"]
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"HOME": "/h"}, "/h/.local/share/webanalytics"),
        ("linux", {"HOME": "/h", "XDG_DATA_HOME": "/x"}, "/x/webanalytics"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Application Support/webanalytics"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/webanalytics"),
        ("linux", {"HOME": "/h", "WEBANALYTICS_DATA": "~/own"}, "/h/own"),
    ],
)
def test_the_data_folder(platform, environment, expected, monkeypatch):
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA", "WEBANALYTICS_DATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(phone_list.sys, "platform", platform)
    assert phone_list.data_folder() == Path(expected)
