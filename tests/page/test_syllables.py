"""Syllables: the shipped dictionary, and hyphenation as pyphen does it."""

from __future__ import annotations

import re
import time
from importlib import resources

import pyphen
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import effort_since
from webanalytics.page.readability.readability import LANGUAGES
from webanalytics.page.readability.syllables import (
    Hyphenation,
    PronouncingDictionary,
    by_vowels,
    hyphenation,
    patterns_name,
    primary,
    syllable_counter,
    syllables,
)

# Pronunciations looked up in the CMU Pronouncing Dictionary by hand; the vowels are the phones with a digit.
PRONOUNCED = {
    "the": "DH AH0",
    "fire": "F AY1 ER0",
    "hmm": "HH M",
    "rhythm": "R IH1 DH AH0 M",
    "don't": "D OW1 N T",
    "business": "B IH1 Z N AH0 S",
    "area": "EH1 R IY0 AH0",
    "dictionary": "D IH1 K SH AH0 N EH2 R IY0",
    "antidisestablishmentarianism": (
        "AE2 N T IY0 D IH0 S AH0 S T AE2 B L IH0 SH M AH0 N T EH1 R IY0 AH0 N IH2 Z AH0 M"
    ),
}


@pytest.mark.parametrize(("word", "phones"), PRONOUNCED.items())
def test_dictionary_counts_the_vowels_of_the_first_pronunciation(word: str, phones: str) -> None:
    assert syllables(word) == sum(phone[-1].isdigit() for phone in phones.split())


def test_dictionary_is_whole() -> None:
    dictionary = PronouncingDictionary()
    items = dictionary.items()
    assert len(items) == len(dict(items)) == 126_052  # Words of cmudict.dict, other pronunciations aside.
    assert all(dictionary.get(word) == count for word, count in items)


@given(st.text(alphabet=st.characters(exclude_categories=["Z", "C"]), max_size=12))
def test_words_outside_the_dictionary_are_none(word: str) -> None:
    dictionary = PronouncingDictionary()
    known = dict(dictionary.items()) if word.isascii() and word.islower() else {}
    assert dictionary.get(word) == known.get(word)


def test_dictionary_loads_fast() -> None:
    best = min(_seconds(PronouncingDictionary) for _ in range(5))
    assert best < 0.05


def _seconds(action: object) -> float:
    start = time.process_time()
    action()  # type: ignore[operator]
    return effort_since(start)


@pytest.mark.parametrize("name", ["cmudict", "easy-words", "stop-words"])
def test_licence_lies_beside_the_data(name: str) -> None:
    data = resources.files("webanalytics.page").joinpath("data")
    assert "Copyright (c)" in data.joinpath(f"{name}-LICENSE.txt").read_text("utf-8").replace("(C)", "(c)")


@pytest.mark.parametrize("language", [*sorted(LANGUAGES), "en_GB", "sv", "pt_BR"])
def test_hyphenation_equals_pyphen_on_words_with_many_patterns(language: str) -> None:
    name = patterns_name("en_US" if language == "en" else language)
    theirs = pyphen.Pyphen(lang=name)
    ours = hyphenation(name)
    patterns = [pattern.strip(".") for pattern in theirs.hd.patterns]
    step = max(1, len(patterns) // 700)
    words = patterns[::step] + [
        first + second for first, second in zip(patterns[::step], patterns[1::step], strict=False)
    ]
    assert len(words) > 400
    assert [word for word in words if ours.count(word) != len(theirs.positions(word))] == []


@settings(max_examples=100)
@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyzäöüßéèñçąęłőűабвгдежзиклмн'_1", max_size=40))
@pytest.mark.parametrize("language", ["en_US", "de", "es", "ru"])
def test_hyphenation_equals_pyphen_on_any_letters(language: str, word: str) -> None:
    assert hyphenation(language).count(word) == len(pyphen.Pyphen(lang=language).positions(word))


# Where Duden's dictionary (duden.de, "Worttrennung") divides the words.
DUDEN = {
    "Kabinett": "Ka-bi-nett",
    "Kabinette": "Ka-bi-net-te",
    "Urin": "Urin",
    "Urins": "Urins",
    "Urinprobe": "Urin-pro-be",
    "Urinstinkt": "Ur-in-stinkt",
    "Urinstinkte": "Ur-in-stink-te",
    "verbal": "ver-bal",
    "verbale": "ver-ba-le",
}


@pytest.mark.parametrize(("word", "divided"), DUDEN.items())
def test_german_words_have_the_syllables_that_duden_has(word: str, divided: str) -> None:
    assert syllables(word, "de") == divided.count("-") + 1


@pytest.mark.parametrize("name", ["de_DE", "de_AT", "de_CH", "eo", "fr", "ca", "hr_HR"])
def test_a_line_without_digits_takes_the_place_of_no_pattern(name: str) -> None:
    # "ur1in2stinkt" and "urinstinkt" are two lines of one file
    theirs, ours = pyphen.Pyphen(lang=name), hyphenation(name)
    lines = pyphen.LANGUAGES[name].read_bytes().split(b"\n")
    plain = [
        line.strip().strip(b".") for line in lines if line.strip().islower() and not re.search(rb"\d", line)
    ]
    words = [line.decode(theirs_encoding(lines)) for line in plain]
    wrong = [word for word in words if ours.count(word) != len(theirs.positions(word))]
    assert all(word.startswith("urinstink") for word in wrong)  # which we divide as Duden does


def theirs_encoding(lines: list[bytes]) -> str:
    return lines[0].decode("ascii").strip()


@pytest.mark.parametrize(
    ("word", "count"), [("okul", 2), ("Ateşman", 3), ("okunabilirlik", 6), ("İstanbul", 3), ("krş", 1)]
)
def test_turkish_syllables_are_its_vowels(word: str, count: int) -> None:
    assert syllables(word, "tr") == count


def test_region_takes_its_own_patterns() -> None:
    assert patterns_name("en") != patterns_name("en-US")
    assert syllable_counter("en") is syllable_counter("en_US")  # What textstat starts with.
    assert primary("pt-BR") == primary("PT_pt") == "pt"


def test_language_without_patterns() -> None:
    with pytest.raises(LookupError, match="'zh'"):
        syllables("字", "zh")


def test_dotted_capital_i_is_one_letter() -> None:
    assert syllables("İstanbul") == syllables("istanbul") == 3


def test_endless_word_is_estimated_in_bounded_time() -> None:
    start = time.process_time()
    count = syllables("ban" * 1_000_000)
    assert effort_since(start) < 1
    assert count == 1_000_000


def test_endless_word_of_another_language_is_estimated() -> None:
    count = syllables("ban" * 1_000_000, "de")
    # The beginning of a thousand letters is hyphenated, the rest taken to be like it.
    assert count == pytest.approx((Hyphenation("de_DE").count(("ban" * 334)[:1000]) + 1) * 3000)


def test_the_rule_of_vowels_is_right_on_most_words_of_the_dictionary() -> None:
    pairs = [pair for pair in PronouncingDictionary().items() if pair[0].isalpha()]
    wrong = [by_vowels(word) - count for word, count in pairs]
    assert wrong.count(0) / len(wrong) > 0.91  # hyphenation: 0.61, 0.43 too few a word
    assert abs(sum(wrong)) / len(wrong) < 0.05


@pytest.mark.parametrize(
    ("word", "count"),
    [("emojis", 3), ("chatbot", 2), ("podcasts", 2), ("tiktoked", 2), ("2024", 1), ("naïve", 2)],
)
def test_words_outside_the_dictionary(word: str, count: int) -> None:
    assert PronouncingDictionary().get(word) is None
    assert syllables(word) == count
