"""The health score: its formula by hand, and what it does not count."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import webanalytics as wa
from webanalytics.audits.score import costs_by_rule, page_scores, row_scores, score, score_of
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
    assert wa.audit([], progress=False).score is None


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


def test_a_redirect_counts_where_it_ends() -> None:
    """By hand: /0 leads to /1, which has a medium fault; /2 leads outside of what was given, with a low one."""
    pages = site(
        status=["ok"] * 3,
        final_url=["https://example.org/1", "https://example.org/1", "https://example.org/new"],
        redirects=[[FIRST], [], ["https://example.org/2"]],
    )
    found = issues(
        (FIRST, "redirect", "issue", "low"),
        ("https://example.org/1", "a", "issue", "medium"),
        ("https://example.org/2", "redirect", "issue", "low"),
    )
    assert page_scores(pages, found) == [None, 95.0, 99.0]
    assert row_scores(pages, found) == [99.0, 95.0, 99.0]
    assert score(pages, found) == 97.0
    assert score_of(pages, found, [0, 1]) == 99.0, "each page once, by its first row"
    assert score_of(pages, found, [1]) == 95.0


FAULTS = st.lists(
    st.tuples(
        st.sampled_from([f"https://example.org/{row}" for row in range(5)]),
        st.sampled_from([f"rule {number}" for number in range(8)]),
        st.sampled_from(["issue", "opportunity", "warning"]),
        st.sampled_from(["high", "medium", "low"]),
    ),
    max_size=40,
    unique_by=lambda fault: fault[:2],
)
KINDS = st.lists(st.sampled_from(["", "http", "timeout", "dns"]), min_size=5, max_size=5)


@given(faults=FAULTS, kinds=KINDS, data=st.data())
def test_fixing_any_fault_never_lowers_the_score(
    faults: list[tuple[str, str, str, str]], kinds: list[str], data: st.DataObject
) -> None:
    pages = site(status=["error" if kind else "ok" for kind in kinds], error_type=list(kinds))
    before = score(pages, issues(*faults))
    if faults:
        fixed = data.draw(st.integers(0, len(faults) - 1))
        after = score(pages, issues(*faults[:fixed], *faults[fixed + 1 :]))
        assert before is after is None or after >= before
    broken = [row for row, kind in enumerate(kinds) if kind == "http"]
    for row in broken:  # a page that answers again
        kinds[row] = ""
        mended = site(status=["error" if kind else "ok" for kind in kinds], error_type=list(kinds))
        assert score(mended, issues(*faults)) >= before


@given(faults=FAULTS, kinds=KINDS)
def test_the_costs_of_all_rules_are_what_is_missing_to_100(
    faults: list[tuple[str, str, str, str]], kinds: list[str]
) -> None:
    urls = [f"https://example.org/{row}" for row in range(5)]
    found = issues(
        *faults,
        *((url, "error", "issue", "high") for url, kind in zip(urls, kinds, strict=True) if kind == "http"),
    )
    pages = site(status=["error" if kind else "ok" for kind in kinds], error_type=list(kinds))
    known = score(pages, found)
    costs = costs_by_rule(pages, found)
    assert sum(costs.values()) == pytest.approx(0 if known is None else 100 - known, abs=0.051)
