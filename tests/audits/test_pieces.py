"""What is known of the pieces of texts, against looking at each text alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.audits.near_texts import near_duplicates
from webanalytics.audits.content import pieces
from webanalytics.audits.content.duplicates import shingles
from webanalytics.audits.content.words import piece_words, words, words_in

SIGNS = "ab É·'-_.5½茶ไ검\u0301\u00a0\u2003\t\n"
texts = st.lists(st.text(SIGNS, max_size=40), max_size=8)


@given(texts)
def test_a_text_is_read_as_if_it_stood_alone(found: list[str]) -> None:
    known = piece_words()
    for text in (*found, *found):
        hashes, sizes, [counts] = known.read(text.split())
        assert len(hashes) == sizes.sum() == len(words(text))
        assert counts.sum() == words_in(text)
        alone = piece_words().read(text.split())
        assert np.array_equal(hashes, alone.values)
        if len(words(text)) == 3:
            assert len(shingles(text)) == 1


def test_pieces_that_do_not_repeat_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_MOST_KNOWN", 2_000)
    known = piece_words()
    first = known.read(["lantern", "oil"]).values.tolist()
    most = 0
    for number in range(500):
        known.read([f"{number}a", f"{number}b", "oil"])
        most = max(most, len(known))
    assert most < 150, "about 2,000 characters"
    assert known.read(["lantern", "oil"]).values.tolist() == first


def test_texts_of_the_same_phrases_in_another_order_are_near() -> None:
    first = [f"w{number}" for number in range(40)]
    text, turned = " ".join(first * 2), " ".join(first[20:] + first + first[:20])
    assert shingles(text).tolist() == shingles(turned).tolist()
    assert near_duplicates([text, turned]) == [0, 0]
