"""Words of whole texts that are looked up together, against looking at each piece and word alone."""

from __future__ import annotations

import itertools
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.audits.near_texts import near_duplicates
from webanalytics.audits.content import words as module
from webanalytics.audits.content.duplicates import shingles
from webanalytics.audits.content.vocabulary import STEP
from webanalytics.audits.content.words import read_words, words, words_in

SIGNS = "\u05d0\u05b8\u0627\u0653\u0661\u0675\u0915\u093f\u1112\u1161\u11ab\ud558ab É·'-_.5½茶ไ검ßΐ™…ﬁª\u0301\u00a0\u2003\t\n\x1e\ud800\U0001f3ee\U0001fa94\U00020000\U000e0041"


def _alone(word: str) -> int:
    """Return the polynomial of a word's signs, by whole numbers of any size."""
    return int(sum(ord(sign) * STEP ** (place + 1) for place, sign in enumerate(word)) % 2**64)


@given(st.text(st.one_of(st.sampled_from(SIGNS), st.characters()), max_size=60))
def test_a_text_is_read_as_its_words_are_one_by_one(text: str) -> None:
    hashes, count = read_words(text)
    assert count == words_in(text)
    assert hashes.tolist() == [_alone(word) for word in words(text)]


def test_every_sign_is_read_as_words_has_it() -> None:
    codes = [*range(0x3000), *range(0x3000, sys.maxunicode, 101)]
    for start in range(0, len(codes), 4_096):
        text = "\n".join(f"tea{chr(code)}leaf" for code in codes[start : start + 4_096])
        hashes, count = read_words(text)
        found = words(text)
        known = {word: _alone(word) for word in set(found)}
        assert hashes.tolist() == [known[word] for word in found]
        assert count == words_in(text)


def test_different_words_have_different_hashes() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz0123456789äé"
    found = ["".join(word) for length in (1, 3) for word in itertools.product(letters, repeat=length)]
    found += [f"{word}{word[::-1]}{word[:1]}" for word in found if len(word) == 3]
    assert len(set(read_words(" ".join(found))[0].tolist())) == len(set(found))


def test_texts_of_the_same_phrases_in_another_order_are_near() -> None:
    first = [f"w{number}" for number in range(40)]
    text, turned = " ".join(first * 2), " ".join(first[20:] + first + first[:20])
    assert shingles(text).tolist() == shingles(turned).tolist()
    assert near_duplicates([text, turned]) == [0, 0]


def test_a_long_text_is_read_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Storm lantern,\n灯台 of tin - 30 hours\u00a0long " * 50 + "end"
    whole = read_words(text)
    monkeypatch.setattr(module, "_BLOCK", 40)
    hashes, count = read_words(text)
    assert (hashes.tolist(), count) == (whole[0].tolist(), whole[1])
    assert count == words_in(text) == 50 * 9 + 1
    hashes, count = read_words("x" * 100)  # a word that would take the memory of many blocks is cut
    assert (len(hashes), count) == (3, 3)
