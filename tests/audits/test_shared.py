"""The bound of what two texts share, against the sets themselves."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.audits.test_duplicates import changed, linked, page
from webanalytics.audits import duplicates, shared
from webanalytics.audits.duplicates import near_duplicates, shingles
from webanalytics.audits.shared import Bound

HASHES = st.integers(0, 12).map(lambda number: number * 0x5555_5555_5555_5555 % 2**64) | st.integers(0, 9)
"""Few different ones, so that sets share some; the small ones have equal halves."""


def similar(first: set[int], second: set[int]) -> float:
    return len(first & second) / len(first | second) if first | second else 0.0


@given(
    st.lists(st.sets(HASHES), min_size=2, max_size=9), st.sampled_from([0.3, 0.5, 0.8, 0.9, 1.0]), st.data()
)
def test_no_pair_above_the_threshold_is_ruled_out(
    sets: list[set[int]], threshold: float, data: st.DataObject
) -> None:
    work, bits = data.draw(st.sampled_from([0, 4, 1000])), data.draw(st.sampled_from([0, 1, 64, 200]))
    frequent = data.draw(st.sampled_from([1, 2, 64]))
    arrays = [np.array(sorted(one), np.uint64) for one in sets]
    bound = Bound(arrays, threshold, work=work, bits=bits, frequent=frequent)
    for one, other in combinations(range(len(sets)), 2):
        if similar(sets[one], sets[other]) >= threshold:
            assert bound.kept[one]
            assert bound.kept[other]
            assert bound.possible(np.array([one]), np.array([other])).all()
            assert bound.possible(np.array([other, one]), np.array([one, other]))[[0, 1], [0, 1]].all()


def variants(count: int, changes: int, seed: int) -> list[list[str]]:
    """Return pages of one template, each with so many words of its own in places of its own."""
    dice = random.Random(seed)
    template, found = page(0, 302), []
    for number in range(count):
        copy = list(template)
        for at in dice.sample(range(75), changes):
            copy[4 * at + 2] = f"own{number}n{at}"
        found.append(copy)
    return found


@pytest.mark.parametrize("changes", [4, 5, 6, 7])
def test_pairs_of_one_template_are_told_apart_exactly(changes: int) -> None:
    texts = variants(120, changes, seed=changes)
    sets = [set(shingles(" ".join(text)).tolist()) for text in texts]
    bound = Bound([np.array(sorted(one), np.uint64) for one in sets], 0.9)
    everything = np.arange(len(sets))
    found = bound.possible(everything, everything)
    for one, other in combinations(range(len(sets)), 2):
        assert found[one, other] == (similar(sets[one], sets[other]) >= 0.9)


def test_pages_with_too_much_of_their_own_are_left_out() -> None:
    template = page(0, 302)
    texts = [changed(template, 8, f"v{number}n") for number in range(100)]
    near = changed(texts[0], 1, "near")
    sets = [shingles(" ".join(text)) for text in (*texts, near)]
    assert np.flatnonzero(Bound(sets, 0.9).kept).tolist() == [0, 100]


def test_nothing_to_compare() -> None:
    assert Bound([], 0.9).kept.tolist() == []
    empty = np.empty(0, np.uint64)
    assert len(Bound([empty, empty], 0.9).kept) == 2


@pytest.mark.parametrize("threshold", [0.5, 0.75, 0.9])
def test_clusters_of_one_template_are_those_of_all_pairs_compared(
    threshold: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duplicates, "LARGE", 10)
    dice = random.Random(3)
    texts = [copy for changes in (3, 5, 8, 20) for copy in variants(20, changes, seed=changes)]
    texts += [changed(dice.choice(texts), 2, f"near{number}n") for number in range(20)]
    dice.shuffle(texts)
    assert near_duplicates([" ".join(text) for text in texts], threshold) == linked(texts, threshold)


def test_one_template_needs_next_to_no_comparison(
    comparisons: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [" ".join(text) for text in variants(400, 6, seed=1)]
    near = " ".join(changed(variants(400, 6, seed=1)[7], 1, "near"))
    needed = []
    for large in (10_000, 30):
        monkeypatch.setattr(duplicates, "LARGE", large)
        comparisons[0] = 0
        found = near_duplicates([*texts, near])
        assert [row for row, cluster in enumerate(found) if cluster is not None] == [7, 400]
        needed.append(comparisons[0])
    assert needed[1] * 5 < needed[0]


def test_bits_are_counted_without_numpy_2_too(monkeypatch: pytest.MonkeyPatch) -> None:
    bits = np.random.default_rng(1).integers(0, 2**63, (3, 4, 5)).astype(np.uint64)
    expected = [[sum(int(word).bit_count() for word in row) for row in rows] for rows in bits]
    assert shared._ones(bits).tolist() == expected
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert shared._ones(bits).tolist() == expected
