"""Details of many numbers at once: what phonenumbers says of each of them, one by one."""

from __future__ import annotations

import random
import re

import numpy as np
import phonenumbers
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webanalytics.records.phones import phone
from webanalytics.records.phones.phone import many_details, number_details, sequences

CODES = sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE)


def examples(code: int) -> list[str]:
    """Return the examples of phonenumbers of all kinds of numbers with a country code."""
    found = [phonenumbers.example_number_for_non_geo_entity(code)]
    for region in phonenumbers.COUNTRY_CODE_TO_REGION_CODE[code]:
        found += [phonenumbers.example_number_for_type(region, kind) for kind in range(11)]
    return [phonenumbers.format_number(one, phonenumbers.PhoneNumberFormat.E164)[1:] for one in found if one]


def some_numbers(code: int) -> list[int]:
    """Return examples, their neighbours, and any other digits after a country code."""
    dice = random.Random(code)
    found = examples(code)
    for number in list(found):
        copy = list(number)
        for _ in range(3):
            copy[dice.randrange(len(str(code)), len(copy))] = dice.choice("0123456789")
            found.append("".join(copy))
    found += [f"{code}{dice.randrange(10**size):0{size}}" for size in range(1, 15 - len(str(code)) + 1)]
    return [int(number) for number in found if 2 <= len(number) <= 15]


@pytest.mark.parametrize("codes", [CODES[start::8] for start in range(8)], ids=str)
def test_many_numbers_have_the_details_of_each(codes: list[int]) -> None:
    numbers = [number for code in codes for number in some_numbers(code)]
    found = many_details(np.array(numbers, np.uint64))
    rows = zip(*(column.tolist() for column in found), strict=True)
    assert dict(zip(numbers, rows, strict=True)) == {
        number: tuple(number_details(f"+{number}").values()) for number in numbers
    }


def test_a_large_sample_has_the_details_of_each() -> None:
    """Numbers that share all but their last digits, so that nearly all answers come from memory."""
    dice = random.Random(17)
    known = [number for code in CODES for number in examples(code)]
    numbers = []
    for _ in range(20_000):
        number = dice.choice(known)
        size = dice.randint(1, min(7, len(number) - 3))
        numbers.append(int(f"{number[:-size]}{dice.randrange(10**size):0{size}}"))
    rows = zip(*(column.tolist() for column in many_details(np.array(numbers, np.uint64))), strict=True)
    for number, row in zip(numbers, rows, strict=True):
        assert row == tuple(number_details(f"+{number}").values()), number


def test_all_plans_can_be_read() -> None:
    assert [code for code in CODES if phone._plan_of(code) is None] == []


def test_few_numbers_are_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counting(number: str) -> dict[str, object]:
        asked.append(number)
        return number_details(number)

    monkeypatch.setattr(phone, "number_details", counting)
    monkeypatch.setattr(phone, "_answers", {})
    dice = np.random.default_rng(2)
    numbers = np.uint64(12_000_000_000) + dice.integers(0, 8 * 10**9, 20_000).astype(np.uint64)
    many_details(numbers)
    assert len(asked) < 6_000
    many_details(numbers)
    assert len(asked) < 6_000


def test_answers_in_memory_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phone, "_MOST", 3)
    monkeypatch.setattr(phone, "_answers", {})
    numbers = np.array([442079460958, 12125550123, 4740612345, 46701740605, 999], np.uint64)
    assert many_details(numbers).country.tolist() == ["GB", "US", "NO", "SE", None]
    assert len(phone._answers) <= 3


def test_a_plan_that_cannot_be_read_is_asked_about_each_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phone, "_plan_of_head", lambda _head: None)
    numbers = np.array([442079460958, 12125550123, 442079460958], np.uint64)
    assert many_details(numbers).country.tolist() == ["GB", "US", "GB"]


def test_no_numbers_have_no_details() -> None:
    assert [column.tolist() for column in many_details(np.empty(0, np.uint64))] == [[]] * 4


PATTERNS = st.recursive(
    st.sampled_from(["1", "2", r"\d", "[13]", "[0-24]"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(inner, st.sampled_from(["?", "{2}", "{1,3}", "{0,2}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=6,
)


@settings(max_examples=60)
@given(PATTERNS, st.lists(st.text("01234", max_size=6), max_size=20))
def test_sequences_are_what_a_pattern_matches(pattern: str, texts: list[str]) -> None:
    found = sequences(pattern)
    for text in texts:
        matches = any(
            len(places) == len(text)
            and all(digit in digits for digit, digits in zip(text, places, strict=True))
            for places in found
        )
        assert matches == bool(re.fullmatch(pattern, text))


@pytest.mark.parametrize("pattern", ["1$", "(?=1)2", "1*", "(1", "1)", "a"])
def test_other_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=re.escape(pattern)):
        sequences(pattern)
