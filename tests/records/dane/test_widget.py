"""The TLSA checker by its Python state."""

from __future__ import annotations

import asyncio
import csv
from pathlib import Path

import pytest

from webanalytics.records.dane.widget import TlsaChecker, explanation, tlsa_checker

RECORDS = Path(__file__).parents[3] / "data" / "tlsa-records.csv"
RECOMMENDED = "_443._tcp.www.example.com. 3600 IN TLSA 3 1 1 " + "ab" * 32
PRIVATE = "_443._tcp.www.example.com. 3600 IN TLSA 255 255 255 abcd"


def checked(record: str) -> TlsaChecker:
    checker = tlsa_checker()
    checker.record.value = record
    checker.button.click()
    return checker


def test_a_good_record() -> None:
    shown = checked(RECOMMENDED).results.value
    # acronyms of RFC 7218, the verdict of RFC 7671 section 5.1
    for words in ("DANE-EE", "SPKI", "SHA2-256", "Recommended", "The record is valid.", "www.example.com"):
        assert words in shown
    assert "port 443, tcp" in shown
    assert "3,600 seconds" in shown


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (
            "_443._tcp.www.example.com. IN TLSA 3 1 1 abcd",
            ["not valid", "Invalid", "4 characters, which does not fit"],
        ),
        (PRIVATE, ["PrivCert", "PrivSel", "PrivMatch"]),
        ("_443._tcp.www.example.com. IN TLSA 3 1 1 " + "ab" * 32, ["not given"]),
        ("www.example.com. IN TLSA 3 1 1 " + "ab" * 32, ["not valid"]),
    ],
)
def test_records_with_faults_are_explained(record: str, words: list[str]) -> None:
    shown = checked(record).results.value
    assert [word for word in words if word not in shown] == []


def test_all_sample_records_are_explained() -> None:
    with RECORDS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            checker = checked(row["record"])
            assert bool(checker.results.value) != bool(checker.message), row["comment"]


@pytest.mark.parametrize("record", ["nonsense", "<b>bold</b>", "_443._tcp.x. IN TLSA 3 1 1 $zz$", "\ud800"])
def test_what_is_no_record_gives_the_sentence(record: str) -> None:
    checker = checked(record)
    assert (
        checker.message.startswith("The `record` parameter must be ") or "not valid" in checker.results.value
    )
    assert "Traceback" not in checker.status.value + checker.results.value


def test_nothing_pasted() -> None:
    assert checked(" \n ").message == "Paste a TLSA record first."


def test_an_answer_goes_when_the_next_record_is_wrong() -> None:
    checker = checked(RECOMMENDED)
    checker.record.value = "nonsense"
    checker.button.click()
    assert (checker.answer, checker.results.value) == (None, "")


def test_markup_is_text() -> None:
    shown = checked(f"_443._tcp.<img/src=x>. IN TLSA 3 1 1 {'ab' * 32}").results.value
    assert "<img" not in shown


def test_long_data_are_cut_in_the_view_only() -> None:
    checker = checked("_443._tcp.www.example.com. IN TLSA 3 1 0 " + "30" * 20_000)
    assert len(checker.results.value) < 10_000
    assert checker.answer is not None
    assert len(checker.answer["parsed"]["certificate_data"]) == 40_000


def test_an_answer_without_the_explanation() -> None:
    # what a service answers to an account whose plan has no Premium fields
    answer = dict(checked(RECOMMENDED).answer or {}, interpretation=float("nan"), security_level=None)
    shown = explanation(answer)
    assert "The record is valid." in shown
    assert "not part of this account" in shown
    assert "DANE-EE" not in shown


def test_in_a_running_loop_the_callback_returns_at_once() -> None:
    async def press() -> tuple[bool, str, bool]:
        checker = checked(RECOMMENDED)
        early = checker.button.disabled or checker.results.value == ""
        assert checker.task is not None
        await checker.task
        return early, checker.results.value, checker.button.disabled

    early, shown, disabled = asyncio.run(press())
    assert early
    assert "Recommended" in shown
    assert not disabled


def test_a_static_view_says_what_it_is() -> None:
    bundle = tlsa_checker()._repr_mimebundle_()
    assert bundle["text/plain"].startswith("TLSA checker: explains a DANE/TLSA record")
    assert bundle["text/html"].startswith("<p><strong>TLSA checker</strong>")
    assert "application/vnd.jupyter.widget-view+json" in bundle
