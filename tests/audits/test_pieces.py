"""What is known of the pieces of texts, against looking at each piece alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webanalytics.audits.content import pieces
from webanalytics.audits.content.pieces import Pieces

texts = st.lists(st.text("ab É·茶\u0301 \n", max_size=40), max_size=8)


def signs_of() -> Pieces:
    """Return pieces with the codes of their signs, and how many there are."""
    return Pieces(lambda piece: (map(ord, piece), (len(piece), -len(piece))), 2)


@given(texts)
def test_a_text_is_read_as_if_each_piece_stood_alone(found: list[str]) -> None:
    known = signs_of()
    for text in (*found, *found):
        values, sizes, facts = known.read(text.split())
        assert values.tolist() == [ord(sign) for sign in "".join(text.split())]
        assert sizes.tolist() == facts[0].tolist() == (-facts[1]).tolist() == [*map(len, text.split())]


def test_pieces_that_do_not_repeat_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_MOST_KNOWN", 2_000)
    known = signs_of()
    most = 0
    for number in range(500):
        known.read([f"{number}a", f"{number}b", "oil"])
        most = max(most, len(known))
    assert most < 150, "about 2,000 characters"
    assert known.read(["lantern", "oil"]).values.tolist() == [*map(ord, "lanternoil")]
