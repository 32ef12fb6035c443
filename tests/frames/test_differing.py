"""Pairs of rows of two folders that may differ: all that do, and hardly any that are equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.test_stored import pages
from webanalytics.audits import compare
from webanalytics.frames import differing as module
from webanalytics.frames.differing import differing
from webanalytics.runs import saving


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of 8 rows, and blocks of 8 that are read in columns of few bytes."""
    monkeypatch.setattr(saving, "FRAME_ROWS", 4)
    monkeypatch.setattr(saving, "PART_ROWS", 8)
    monkeypatch.setattr(module, "PART_ROWS", 8)
    monkeypatch.setattr(module, "BLOCK_BYTES", 20_000)
    monkeypatch.setattr(module, "FEWEST", 1)


@pytest.fixture
def two(tmp_path: Path) -> tuple[wa.Audit, wa.Audit]:
    """One site twice, the second time in another order and with four changed pages."""
    later = pages().iloc[np.random.default_rng(1).permutation(31)].drop_duplicates("url")
    for label in ("row 5", "row 9", "row 20", "row 21"):
        later.loc[label, "html"] = str(later.loc[label, "html"]).replace("<h3>None", "<h2>One<h3>None")
    return (
        wa.audit(pages(), progress=False, save_to=tmp_path / "first"),
        wa.audit(later, progress=False, save_to=tmp_path / "second"),
    )


def rows_of(first: wa.Audit, second: wa.Audit) -> tuple[list[int], list[int]]:
    at = {url: row for row, url in reversed(list(enumerate(first.raw["url"])))}
    return [at[url] for url in second.raw["url"]], list(range(len(second)))


def test_all_pairs_that_differ_and_no_other(two: tuple[wa.Audit, wa.Audit]) -> None:
    first, second = two
    firsts, seconds = rows_of(first, second)
    found = differing(first.raw, second.raw, firsts, seconds)
    assert len(found) > 100
    changed = {f"https://a.example/{number}" for number in (5, 9, 20, 21)}
    for name, numbers in found.items():
        old, new = first.raw[name].iloc[firsts].tolist(), second.raw[name].iloc[seconds].tolist()
        differ = [
            number for number, pair in enumerate(zip(old, new, strict=True)) if str(pair[0]) != str(pair[1])
        ]
        assert sorted(numbers) == differ, name
    assert {second.raw["url"].iloc[number] for number in found["headings"]} == changed
    assert not found["links"]


def test_the_comparison_is_that_of_audits_in_memory(
    two: tuple[wa.Audit, wa.Audit], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = two
    given: list[Any] = []

    def watched(*args: Any) -> dict[str, list[int]]:
        given.append(differing(*args))
        return given[-1]

    monkeypatch.setattr(compare, "differing", watched)
    changes = wa.compare(first, second).changes
    assert given[0]
    assert set(changes["field"]) >= {"headings"}
    plain = [wa.Audit(pd.DataFrame({name: audit.raw[name].tolist() for name in audit.raw})) for audit in two]
    in_memory = wa.compare(*plain).changes
    assert not given[1]
    pd.testing.assert_frame_equal(changes, in_memory)


def test_columns_in_memory_and_of_other_rows_are_left_out(two: tuple[wa.Audit, wa.Audit]) -> None:
    first, second = (audit.raw for audit in two)
    firsts, seconds = rows_of(*two)
    assert "wordCount" not in differing(first, second, firsts, seconds)
    assert "title" not in differing(first.assign(title="one"), second, firsts, seconds)
    turned = first.assign(title=first["title"].array[::-1])
    assert differing(turned, second, firsts, seconds) == {}
    assert differing(first, second, [], []) == {}
