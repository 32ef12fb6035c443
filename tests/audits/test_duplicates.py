"""Near duplicates, against exact similarities and clusters computed the slow way."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
from itertools import combinations
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.audits.near_texts import near_duplicates
from webanalytics.audits.content import duplicates
from webanalytics.audits.content.duplicates import (
    band_rows,
    jaccard,
    shingles,
)
from webanalytics.audits.content.words import _PLAIN_WORD, _WORD, words
from webanalytics.core.strings import OTHER_SCRIPT
from webanalytics.errors import ParameterError

WORDS = st.lists(st.sampled_from(["lamp", "lantern", "oil", "wick", "glass", "brass", "storm"]), max_size=60)


def page(seed: int, count: int = 572) -> list[str]:
    """Return different words; 572 of them have 570 shingles."""
    return [f"w{seed}x{number}" for number in range(count)]


def changed(text: list[str], count: int, mark: str = "new") -> list[str]:
    """Return a page with so many words changed that no shingle holds two of: three shingles each are lost."""
    copy = list(text)
    for number in range(count):
        copy[2 + number * 4] = f"{mark}{number}"
    return copy


def pairs(changes: int, count: int, size: int = 572) -> list[str]:
    """Return pairs of a page and its changed copy, one after the other."""
    originals = [page(seed, size) for seed in range(count)]
    return [" ".join(text) for one in originals for text in (one, changed(one, changes))]


def exact(first: list[str], second: list[str]) -> float:
    """Return the Jaccard similarity of two lists of words, by sets of tuples."""
    one, other = ({tuple(text[at : at + 3]) for at in range(len(text) - 2)} for text in (first, second))
    return len(one & other) / len(one | other) if one | other else 0.0


def linked(texts: list[list[str]], threshold: float) -> list[int | None]:
    """Return the clusters of single linkage from all pairs."""
    label = list(range(len(texts)))
    for one, other in combinations(range(len(texts)), 2):
        if exact(texts[one], texts[other]) >= threshold:
            old, new = label[other], label[one]
            label = [new if entry == old else entry for entry in label]
    first = [label.index(entry) for entry in label]
    return [entry if first.count(entry) > 1 else None for entry in first]


def similarity(first: list[str], second: list[str]) -> float:
    """Return what the search compares with the threshold."""
    return jaccard(shingles(" ".join(first)), shingles(" ".join(second)))


@given(WORDS, WORDS)
def test_the_similarity_is_that_of_the_sets(first: list[str], second: list[str]) -> None:
    assert similarity(first, second) == exact(first, second)


@pytest.mark.parametrize(
    ("size", "changes", "share"), [(119, 1, 0.95), (572, 10, 0.9), (572, 11, 537 / 603), (272, 10, 0.8)]
)
def test_known_similarities(size: int, changes: int, share: float) -> None:
    text = page(0, size)
    assert exact(text, changed(text, changes)) == share
    assert similarity(text, changed(text, changes)) == share


def test_pairs_at_the_threshold_and_above_are_found() -> None:
    together = [row for row in range(0, 400, 2) for _ in "12"]
    assert near_duplicates(pairs(1, 200, size=119)) == together
    at_threshold = near_duplicates(pairs(10, 200))
    assert sum(row is not None for row in at_threshold) >= 398
    assert near_duplicates(pairs(10, 200, size=272), threshold=0.8) == together


@pytest.mark.parametrize(("changes", "size"), [(11, 572), (10, 272), (40, 272)])
def test_near_misses_are_not_clustered(changes: int, size: int) -> None:
    assert near_duplicates(pairs(changes, 200, size)) == [None] * 400


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.75, 0.9])
def test_clusters_are_those_of_all_pairs_compared(threshold: float) -> None:
    dice = random.Random(5)
    texts = [page(seed, 60) for seed in range(12)]
    while len(texts) < 90:
        copy = list(dice.choice(texts))
        for _ in range(dice.choice((0, 1, 2, 4, 8))):
            copy[dice.randrange(60)] = f"v{dice.getrandbits(40)}"
        texts.append(copy)
    dice.shuffle(texts)
    assert near_duplicates([" ".join(text) for text in texts], threshold) == linked(texts, threshold)


def test_members_of_a_chain_are_one_cluster() -> None:
    first = page(0)
    second = changed(first, 8)
    third = [*second[:300], *changed(second[300:], 8, "other")]
    assert exact(first, third) < 0.9 < min(exact(first, second), exact(second, third))
    texts = [" ".join(text) for text in (first, third, second)]
    assert near_duplicates(texts) == [0, 0, 0]
    assert near_duplicates(texts[:2]) == [None, None]


@settings(max_examples=30)
@given(st.lists(st.one_of(st.none(), WORDS.map(" ".join)), max_size=8))
def test_equal_texts_always_and_disjoint_texts_never_cluster(texts: list[str | None]) -> None:
    disjoint = [" ".join(page(seed, 40)) for seed in range(3)]
    found = near_duplicates([*texts, *disjoint, *texts])
    half = len(texts) + 3
    assert found[len(texts) : half] == [None] * 3
    for row, text in enumerate(texts):
        long = text is not None and len(words(text)) >= duplicates.MINIMUM_WORDS
        assert (found[row] is not None) == long
        assert found[row] == found[half + row]


def test_the_order_of_rows_does_not_matter() -> None:
    texts = [*pairs(9, 20), *pairs(10, 20), *pairs(11, 20), *pairs(1, 20)]
    dice = random.Random(1)
    order = dice.sample(range(len(texts)), len(texts))
    plain, mixed = near_duplicates(texts), near_duplicates([texts[row] for row in order])
    assert len(set(plain)) > 15

    def partition(found: list[int | None], rows: list[int]) -> set[frozenset[int]]:
        numbers = set(found) - {None}
        return {
            frozenset(rows[at] for at, entry in enumerate(found) if entry == number) for number in numbers
        }

    assert partition(plain, list(range(len(texts)))) == partition(mixed, order)
    assert all(number is None or mixed.index(number) == number for number in mixed)


def test_the_order_of_rows_does_not_matter_where_comparisons_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(duplicates, "NEIGHBOURS", 3)
    monkeypatch.setattr(duplicates, "FAILURES", 1)
    dice = random.Random(2)
    text, texts = page(0, 302), []
    for _ in range(200):
        copy = list(text)
        for at in dice.sample(range(302), dice.choice((3, 5))):
            copy[at] = f"v{dice.getrandbits(40)}"
        texts.append(" ".join(copy))
    order = dice.sample(range(200), 200)
    plain, mixed = near_duplicates(texts), near_duplicates([texts[row] for row in order])
    assert 10 < sum(row is not None for row in plain) < 190  # some of both
    assert sorted(row for row in range(200) if plain[row] is None) == sorted(
        order[at] for at in range(200) if mixed[at] is None
    )


def test_processes_agree() -> None:
    code = (
        "from tests.audits.test_duplicates import pairs\n"
        "from tests.audits.near_texts import near_duplicates\n"
        "from webanalytics.audits.content.duplicates import shingles\n"
        "print(near_duplicates(pairs(10, 30)), shingles('one two three').tolist())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_case_punctuation_and_white_space_make_no_difference() -> None:
    text = " ".join(page(0, 40))
    assert near_duplicates([text, text.upper().replace(" ", ",\n"), None, ""]) == [0, 0, None, None]
    composed = "Café Größe " * 10
    assert near_duplicates([composed, "Cafe\u0301 GRÖSSE " * 10]) == [0, 0]


def test_scripts_without_spaces_are_compared_by_characters() -> None:
    text = "嵐の夜にも消えないランプを島の工房で一つずつ手で作っています。港の船乗りたちは百年前から使い続けてきました。"
    other = "ガラスを磨くときは柔らかい布を使い、洗剤は使わないでください。芯は月に一度切りそろえると明るさが保てます。"
    assert words("嵐の夜 lamp ไฟ") == ["嵐", "の", "夜", "lamp", "ไ", "ฟ"]
    assert near_duplicates([text, other, text.replace("百年", "千年")]) == [None, None, None]
    assert near_duplicates([text, other, text.replace("百年", "千年")], threshold=0.85) == [0, None, 0]


def test_short_texts_are_left_out() -> None:
    short, enough = (" ".join(page(0, count)) for count in (19, 20))
    assert near_duplicates([short, short]) == [None, None]
    assert near_duplicates([enough, enough]) == [0, 0]
    assert near_duplicates([short, short], minimum_words=5) == [0, 0]
    assert near_duplicates(["two words"] * 2, minimum_words=0) == [None, None]
    assert near_duplicates([]) == []


@pytest.mark.parametrize("threshold", [0, -1, 1.01, math.nan])
def test_thresholds_that_make_no_sense(threshold: float) -> None:
    with pytest.raises(ParameterError, match="`threshold`"):
        near_duplicates(["a"], threshold)


def test_a_threshold_of_one_finds_equal_texts_alone() -> None:
    assert near_duplicates([*pairs(1, 1), " ".join(page(0))], threshold=1.0) == [0, None, 0]


def test_bands_are_as_long_as_the_recall_allows() -> None:
    for hundredth in range(5, 100, 5):
        size, similar = band_rows(hundredth / 100), hundredth / 100
        recall = [1 - (1 - similar**rows) ** (256 // rows) for rows in (size, size + 1)]
        assert recall[0] >= 0.999 or size == 1
        assert recall[1] < 0.999


def test_many_equal_texts_need_no_comparison(comparisons: list[int]) -> None:
    assert near_duplicates([" ".join(page(0))] * 10_000) == [0] * 10_000
    assert comparisons == [0]


def variants(count: int, changes: int) -> list[str]:
    """Return pages of one template, each with words of its own in as many places."""
    text = page(0, 302)
    return [" ".join(changed(text, changes, f"v{number}n")) for number in range(count)]


def test_comparisons_of_many_near_duplicates_grow_with_their_number(comparisons: list[int]) -> None:
    assert near_duplicates(variants(1500, 2)) == [0] * 1500
    assert comparisons[0] < 3000


def test_comparisons_of_one_template_are_bounded(
    comparisons: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duplicates, "FAILURES", 3)
    assert near_duplicates(variants(300, 8)) == [None] * 300
    assert 0 < comparisons[0] <= 300 * 3 * 21


def test_buckets_larger_than_the_neighbourhood_are_still_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "NEIGHBOURS", 5)
    texts = [*variants(200, 2), *pairs(1, 20, size=119)]
    assert near_duplicates(texts)[:200] == [0] * 200
    assert near_duplicates(texts)[200:] == [200 + row for row in range(0, 40, 2) for _ in "12"]


def test_the_fast_way_to_words_finds_the_same_words() -> None:
    """Of every sign that it is used for, both engines say the same."""
    differing = [
        hex(code)
        for code in range(0x110000)
        if not 0xD800 <= code < 0xE000
        for sign in normalize("NFKC", chr(code)).casefold()
        if not OTHER_SCRIPT.search(sign) and bool(_PLAIN_WORD.match(sign)) != bool(_WORD.match(sign))
    ]
    assert not differing
    text = "Ärger im “Café” – 3½ Straßen, ΑΓΟΡΆ, рынок_один; naïve co-op № 5"
    assert words(text) == _WORD.findall(normalize("NFKC", text).casefold())
