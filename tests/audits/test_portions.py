"""Rules that look at each page alone find the same whether they see the pages at once or in portions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import webanalytics as wa
from tests.audits.test_stored import pages, plainly
from webanalytics.audits import site as sites
from webanalytics.audits.issues import find_issues
from webanalytics.audits.rules import RULES
from webanalytics.audits.rules.base import Finding, PageByPage, Rule
from webanalytics.audits.site import Site
from webanalytics.runs.frames.schema import PANDAS_3
from webanalytics.runs.storage import parts
from webanalytics.runs.storage import row_folder as saving


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> wa.Audit:
    """An audit in parts of 8 rows, of which each is a portion."""
    monkeypatch.setattr(saving, "FRAME_ROWS", 4)
    monkeypatch.setattr(saving, "PART_ROWS", 8)
    monkeypatch.setattr(parts, "PART_ROWS", 8)
    return wa.audit(pages(), progress=False, store=tmp_path / "audit")


def test_portions_are_all_rows_once_whatever_their_order(kept: wa.Audit) -> None:
    shuffled = kept.raw.iloc[np.random.default_rng(5).permutation(len(kept))]
    for frame in (kept.raw, shuffled):
        portions = Site(frame.reset_index(drop=True)).portions
        assert len(portions) > 2
        rows = [row for portion in portions for row in portion or ()]
        assert sorted(rows) == list(range(len(kept)))
    assert Site(pd.DataFrame({"url": ["a"]})).portions == [None]


def test_each_rule_of_single_pages_finds_the_same_in_portions(site_of_corpus: Site) -> None:
    alone = [rule for rule in RULES.values() if isinstance(rule.find, PageByPage)]
    assert len(alone) > 80
    differing = {rule.name for rule in alone if whole(site_of_corpus, rule) != divided(site_of_corpus, rule)}
    assert not differing
    found = sum(bool(whole(site_of_corpus, rule)) for rule in alone)
    assert found > 50, "most of them find something, so that the comparison says something"


def whole(site: Site, rule: Rule) -> list[Finding]:
    return list(rule.find(site, rule.threshold))


def divided(site: Site, rule: Rule) -> list[Finding]:
    """Return what a rule finds on three pages at a time, the last ones first."""
    rows = list(range(len(site.pages)))
    found: list[Finding] = []
    for start in reversed(range(0, len(rows), 3)):
        with site.portion(rows[start : start + 3]):
            found = [*rule.find(site, rule.threshold), *found]
    return found


@pytest.fixture
def site_of_corpus(corpus_pages: dict[str, bytes]) -> Site:
    """Every page of the corpus, one that was not read, and one twice."""
    frame = pd.DataFrame(
        {
            "url": [f"https://a.example/{name}" for name in corpus_pages],
            "html": [content.decode("utf-8", "replace") for content in corpus_pages.values()],
        }
    )
    frame.loc[4, "html"] = None
    return wa.audit(pd.concat([frame, frame.iloc[[1]]], ignore_index=True), progress=False).site


@pytest.mark.skipif(not PANDAS_3, reason="before pandas 3 a column of texts is one of objects")
def test_large_texts_in_memory_are_read_through_and_not_held(
    kept: wa.Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = wa.audit(pages(), progress=False)
    expected, content = whole.issues, whole.pages["content_words"].tolist()
    monkeypatch.setattr(sites, "LARGEST_LIST", 0)
    monkeypatch.setattr(sites, "PORTION_ROWS", 7)
    loaded = wa.load(whole.save(tmp_path / "whole"))
    assert len(loaded.site.portions) > 2
    for name in ("text", "visible_text"):
        values, cells = loaded.site.values(name), loaded.raw[name].tolist()
        assert [value is None for value in values] == [isinstance(cell, float) for cell in cells]
        assert [value or "" for value in values] == [cell if isinstance(cell, str) else "" for cell in cells]
        assert [values[row] for row in range(len(values))] == list(values) == list(values[:])
    assert_frame_equal(loaded.issues, expected)
    assert loaded.pages["content_words"].tolist() == content
    assert not {"text", "visible_text"} & set(loaded.site._values)


def test_a_rule_that_breaks_off_in_a_later_portion_has_failed(
    kept: wa.Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = RULES["h1_too_long"]
    seen: list[int] = []

    @PageByPage
    def find(site: Site, _: Any) -> Any:
        for row, _url in site.read("url"):
            seen.append(row)
            if row == 9:
                raise ValueError
            yield Finding(row)

    monkeypatch.setitem(RULES, rule.name, Rule(**{**vars(rule), "find": find}))
    issues = find_issues(kept.site)
    assert issues.attrs["webanalytics"]["rules_failed"] == [rule.name]
    assert rule.name not in set(issues["rule"])
    assert rule.name not in issues["rule"].cat.categories
    assert 9 in seen
    assert len(seen) < len(kept)


def test_issues_in_portions_are_those_of_an_audit_in_memory(kept: wa.Audit) -> None:
    plain = wa.audit(pages(), progress=False)
    pd.testing.assert_frame_equal(plainly(kept.issues), plainly(plain.issues))
    assert kept.issues.attrs == plain.issues.attrs
    pd.testing.assert_frame_equal(kept.summary(), plain.summary())
