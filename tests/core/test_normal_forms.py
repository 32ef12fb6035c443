"""Normal forms of Unicode: the marks of a letter are compared each with each, so never too many at once."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import webanalytics
from webanalytics.core import strings
from webanalytics.core.strings import normalized

FORMS = ("NFC", "NFD", "NFKC")
SHUFFLED = "a" + "\u0301\u0323\u0316" * 50_000


def longest_row(text: str) -> int:
    longest = row = 0
    for character in text:
        row = row + 1 if unicodedata.combining(character) else 0
        longest = max(longest, row)
    return longest


@pytest.mark.parametrize("form", FORMS)
def test_no_long_row_of_marks_is_put_in_order_at_once(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[int] = []

    def normalize(form: str, text: str) -> str:
        rows.append(longest_row(text))
        return unicodedata.normalize(form, text)

    monkeypatch.setattr(strings, "normalize", normalize)
    found = normalized(f"T{SHUFFLED}T", form)  # type: ignore[arg-type]
    assert max(rows) <= 31
    assert Counter(found.translate({0x1EA1: "a\u0323"})) == Counter(f"T{SHUFFLED}T")


def test_every_mark_is_seen_as_one() -> None:
    marks = [chr(code) for code in range(0x110000) if unicodedata.combining(chr(code))]
    assert len(marks) > 800
    assert [mark for mark in marks if not strings._MARKS.fullmatch(mark * 30)] == []


@pytest.mark.parametrize("form", FORMS)
@given(
    text=st.text(
        alphabet=st.sampled_from("aeo\u0301\u0323\u0316\u0338\u00e9\u1ea5\uac00\u11a8\u2014\ufb01\u1fef")
    )
)
def test_texts_that_people_write_are_what_unicode_says(form: str, text: str) -> None:
    if longest_row(unicodedata.normalize("NFD", text)) < 30:
        assert normalized(text, form) == unicodedata.normalize(form, text)  # type: ignore[arg-type]


def test_dashes_and_signs_in_a_row_stay_as_they_are() -> None:
    text = "\u2014" * 1_000 + " \U0001f600" * 100 + "e\u0301"
    assert normalized(text) == unicodedata.normalize("NFC", text)


def test_nothing_else_normalises() -> None:
    folder = Path(webanalytics.__file__).parent
    found = [
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if re.search(r"\bnormalize\(|is_normalized", path.read_text("utf-8"))
    ]
    assert found == ["core/strings.py"]
