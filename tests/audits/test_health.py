"""The health score: its formula by hand, and what it does not count."""

from __future__ import annotations

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.audits.health import page_scores, score
from webanalytics.audits.site import Site


def site(**columns: list[object]) -> Site:
    rows = len(next(iter(columns.values())))
    urls = [f"https://example.org/{row}" for row in range(rows)]
    return Site(pd.DataFrame({"url": urls, "status": ["ok"] * rows} | columns))


def issues(*rows: tuple[str, str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["url", "rule", "type", "priority"])


FIRST = "https://example.org/0"


def test_each_fault_costs_by_its_priority_and_warnings_cost_nothing() -> None:
    found = issues(
        (FIRST, "a", "issue", "high"),
        (FIRST, "b", "opportunity", "medium"),
        (FIRST, "c", "issue", "low"),
        (FIRST, "d", "warning", "high"),
    )
    pages = site(status=["ok", "ok"])
    assert page_scores(pages, found) == [74.0, 100.0]  # 100 - 20 - 5 - 1
    assert score(pages, found) == 87.0


def test_a_page_does_not_fall_below_zero() -> None:
    found = issues(*((FIRST, f"rule {number}", "issue", "high") for number in range(7)))
    assert page_scores(site(status=["ok"]), found) == [0.0]


def test_error_answers_count_as_zero_and_failures_of_ours_not_at_all() -> None:
    pages = site(
        status=["ok", "error", "error", "error"],
        error_type=[None, "http", "timeout", "robots"],
    )
    assert page_scores(pages, issues()) == [100.0, 0.0, None, None]
    assert score(pages, issues()) == 50.0


def test_a_page_counts_once_however_often_it_was_given() -> None:
    pages = site(url=[FIRST, FIRST], final_url=[FIRST, FIRST])
    found = issues(*[(FIRST, "a", "issue", "high")] * 2)
    assert page_scores(pages, found) == [80.0, None]


def test_no_page_no_score() -> None:
    assert score(site(status=["error"], error_type=["dns"]), issues()) is None
    assert wa.Audit().score is None


@pytest.mark.parametrize("fault", ["title", "lang"])
def test_mending_a_fault_raises_the_score(fault: str) -> None:
    good = "<!doctype html><html lang=en><title>Storm lanterns for dark evenings</title><h1>Lanterns</h1>"
    bad = good.replace(" lang=en", "") if fault == "lang" else good.replace("Storm", "").split("<title>")[0]
    before, after = (
        wa.audit(pd.DataFrame({"url": [FIRST], "html": [html]}), progress=False) for html in (bad, good)
    )
    assert before.score is not None
    assert after.score is not None
    if fault == "lang":  # a warning: another attribute may name the language
        assert after.score == before.score
    else:
        assert after.score > before.score
