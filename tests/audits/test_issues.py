"""The frame of issues: its order, its schema, and what becomes of odd data."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.sites import derived
from webanalytics.audits.findings import plain
from webanalytics.audits.issues import COLUMNS, SUMMARY_COLUMNS, find_issues, summary
from webanalytics.audits.profiles import resolve_profile
from webanalytics.audits.rules import RULES
from webanalytics.audits.rules.base import Finding
from webanalytics.audits.site import Site
from webanalytics.runs.frames.schema import PANDAS_3

STRING = "str" if PANDAS_3 else "object"
DTYPES = {"string": STRING, "float": "float64", "integer": "Int64"}


def site(**columns: list[Any]) -> Site:
    rows = len(next(iter(columns.values())))
    urls = [f"https://example.org/{row}" for row in range(rows)]
    cells = {name: pd.Series(values, dtype=object) for name, values in columns.items()}
    return Site(pd.DataFrame({"url": urls, "status": ["ok"] * rows, **cells}))


def told(issues: pd.DataFrame) -> dict[str, Any]:
    attributes: dict[str, Any] = issues.attrs["webanalytics"]
    return attributes


def with_rule(monkeypatch: pytest.MonkeyPatch, name: str, *findings: Finding) -> None:
    """Let a rule find these, whatever the pages hold."""
    monkeypatch.setitem(
        RULES, name, replace(RULES[name], find=lambda site, threshold: iter(findings), columns=())
    )


def test_what_was_not_tried_is_not_copied_rule_by_rule_for_each_part_of_the_frame() -> None:
    """pandas copies the attrs of a frame deeply for each column that is taken of it."""
    issues = find_issues(site(title=["", "A"]))
    known, copied = told(issues), told(issues[["url"]])
    assert known["rules_not_tried"]
    assert copied == known
    assert copied is not known, "what is added to one is not told of the other"
    assert copied["rules_not_tried"] is known["rules_not_tried"]


def test_the_most_urgent_come_first_then_the_order_of_rules_then_that_of_pages() -> None:
    pages = site(title=["", "A", ""], title_pixels=[0, 562, 0], viewport=["x", "", ""])
    issues = find_issues(pages)
    assert issues[["rule", "url"]].values.tolist() == [
        ["title_missing", "https://example.org/0"],
        ["title_missing", "https://example.org/2"],
        ["title_too_long", "https://example.org/1"],
        ["viewport_missing", "https://example.org/1"],
        ["viewport_missing", "https://example.org/2"],
        ["viewport_without_width", "https://example.org/0"],
    ]
    assert issues["priority"].tolist() == ["high"] * 2 + ["medium"] * 3 + ["low"]
    lowered = find_issues(pages, profile="strict")
    assert lowered["rule"].tolist()[:4] == ["title_missing"] * 2 + ["viewport_missing"] * 2
    pd.testing.assert_frame_equal(find_issues(pages), issues)


@pytest.mark.parametrize(
    "pages", [site(title=["", "A"], title_pixels=[0, 562]), site(title=[]), site(other=[1])]
)
def test_columns_have_one_dtype_whatever_the_rows_hold(pages: Site) -> None:
    issues = find_issues(pages)
    assert {name: str(dtype) for name, dtype in issues.dtypes.items()} == {
        name: DTYPES[dtype] for name, dtype in COLUMNS.items()
    }
    assert issues.index.equals(pd.RangeIndex(len(issues)))
    counted = summary(issues, pages.pages)
    assert {name: str(dtype) for name, dtype in counted.dtypes.items()} == {
        name: DTYPES[dtype] for name, dtype in SUMMARY_COLUMNS.items()
    }


def test_values_are_numbers_that_sort_and_texts_are_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    with_rule(
        monkeypatch,
        "lang_missing",
        *(
            Finding(row, value, evidence)
            for row, (value, evidence) in enumerate(
                [
                    (9, "nine"),
                    (np.int64(100), ""),
                    (2.5, ""),
                    ("noindex, follow", "in the head"),
                    ("noindex", "robots: noindex"),
                    ("alone", ""),
                    (float("nan"), ""),
                    (None, "nothing"),
                    (True, ""),
                ]
            )
        ),
    )
    issues = find_issues(site(other=[0] * 9))
    assert issues["value"].dropna().sort_values().tolist() == [2.5, 9, 100]
    assert issues["evidence"].tolist() == [
        "nine",
        "",
        "",
        "noindex, follow: in the head",
        "robots: noindex",
        "alone",
        "",
        "nothing",
        "True",
    ]


def test_thresholds_of_the_call_are_applied_and_shown() -> None:
    pages = site(title=["A", "B"], title_pixels=[599, 601])
    issues = find_issues(pages, resolve_profile(None, {"title_too_long": 600}))
    assert issues[["rule", "value", "threshold"]].values.tolist() == [["title_too_long", 601, 600]]
    assert told(issues)["profile"] == "desktop_crawler"


def test_a_page_has_one_issue_of_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    with_rule(monkeypatch, "lang_missing", Finding(0, 1, "first"), Finding(1, 1), Finding(0, 2, "second"))
    issues = find_issues(site(other=[1, 2]))
    assert issues["evidence"].tolist() == ["first", ""]


def test_a_rule_that_breaks_off_does_not_end_the_audit(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def find(site: Site, threshold: Any) -> Iterator[Finding]:
        yield Finding(0)
        raise ZeroDivisionError

    monkeypatch.setitem(RULES, "title_missing", replace(RULES["title_missing"], find=find))
    with caplog.at_level(logging.ERROR, logger="webanalytics.audits"):
        issues = find_issues(site(title=[""], viewport=[""], title_pixels=["much"]))
    assert told(issues)["rules_failed"] == ["title_missing", "title_too_long", "title_too_short"]
    assert issues["rule"].tolist() == ["viewport_missing"]
    assert "the rule title_missing failed" in caplog.text


def test_rules_without_their_columns_are_not_tried_and_named() -> None:
    issues = find_issues(site(title=["A"]))
    not_tried = told(issues)["rules_not_tried"]
    assert not_tried["title_too_long"] == ["title_pixels"]
    assert not_tried["images_too_large"] == ["image_bytes"]
    assert "title_missing" not in not_tried


def test_facts_that_nobody_gathered_count_as_missing_columns() -> None:
    rules = ("title_multiple", "images_without_alt_attribute", "slow_response", "meta_refresh")
    columns = ("titles", "images_without_alt", "elapsed", "refresh")
    nothing = site(**{column: [None, None] for column in columns}, title=["A", "B"])
    known = site(**{column: [None, value] for column, value in zip(columns, ([], [], 0.1, ""), strict=True)})
    assert {*rules} <= {*told(find_issues(nothing))["rules_not_tried"]}
    assert not {*rules} & {*told(find_issues(known))["rules_not_tried"]}


HOSTILE = "<script>alert(1)</script>\x00\x1b[31m\u202ereversed\u202c\r\n=cmd|'/C calc'!A0 \ud800"


def test_evidence_is_one_line_of_plain_text_within_its_limit() -> None:
    issues = find_issues(site(title=[HOSTILE * 50], title_pixels=[9_999]))
    evidence = issues.loc[0, "evidence"]
    assert evidence.startswith("<script>alert(1)</script>[31mreversed =cmd|'/C calc'!A0 <script>")
    assert len(evidence) == 300
    assert evidence.endswith("…")
    assert evidence.replace("…", "").isascii()
    assert evidence.isprintable()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (7, "7"),
        ("a\u2028b\x85c\td", "a b c d"),
        ("\ufeff\u200fa\u2066", "a"),
        (["a\nb"], "['a\\nb']"),
    ],
)
def test_plain_text(value: object, text: str) -> None:
    assert plain(value) == text


def test_evidence_of_exactly_the_limit_is_whole() -> None:
    assert plain("a" * 300) == "a" * 300
    assert plain("a" * 301) == "a" * 299 + "…"


ODD: dict[str, Any] = {
    "nothing": None,
    "empty text": "",
    "huge text": "x<&>" * 250_000,
    "markup": "<img src=x onerror=alert(1)>" * 10,
    "control characters": "\x00\x01\u202e\ud800",
}


@pytest.mark.parametrize("value", ODD.values(), ids=ODD)
def test_texts_of_every_kind_are_taken(value: Any) -> None:
    given = pd.DataFrame(
        {"url": ["https://example.org/a", "https://example.org/b"], "html": ["<p>A</p>"] * 2}
    )
    pages = derived(wa.audit(given).raw)
    for name in pages.columns.difference(["url", "status"]):
        if pages[name].dtype == (STRING if PANDAS_3 else object) and pages[name].map(type).isin([str]).all():
            pages[name] = pd.Series([value] * 2, dtype=object)
    issues = find_issues(Site(pages))
    assert told(issues)["rules_failed"] == []
    assert issues["evidence"].str.len().max() <= 300


def test_a_frame_of_nothing_but_missing_values_has_no_issue() -> None:
    columns = {column for rule in RULES.values() for column in rule.columns} - {"url", "status"}
    pages = site(**{column: [None, None] for column in sorted(columns)})
    issues = find_issues(pages)
    assert told(issues)["rules_failed"] == []
    assert issues["rule"].tolist() == []


@pytest.mark.parametrize("columns", [{"url": [], "status": []}, {"url": ["a"], "status": ["error"]}])
def test_no_pages_and_failed_pages_are_audits_too(columns: dict[str, list[str]]) -> None:
    issues = find_issues(Site(derived(pd.DataFrame(columns, dtype=object))))
    assert told(issues)["rules_failed"] == []
    assert summary(issues.head(0), pd.DataFrame(columns)).empty


def test_the_summary_counts_pages_the_most_urgent_rules_first() -> None:
    pages = site(title=["", "A", "B", "C"], viewport=["", "", "width=1", "width=1"], lang=["", "", "", "en"])
    counted = summary(find_issues(pages), pages.pages)
    assert counted.drop(columns=["rule_title", "findings"]).values.tolist() == [
        ["title_missing", "title", "issue", "high", 1, 0, 0.25],
        ["viewport_missing", "html", "issue", "medium", 2, 0, 0.5],
        ["lang_missing", "html", "warning", "low", 3, 0, 0.75],
    ]
    assert counted["rule_title"].tolist() == [RULES[name].title for name in counted["rule"]]
    only = summary(find_issues(pages).query("rule == 'lang_missing'"), pages.pages)
    assert only["pages"].tolist() == [3]


def test_what_to_fix_first_goes_by_indexable_pages_then_by_what_was_counted() -> None:
    pages = pd.DataFrame({"url": [f"/{row}" for row in range(4)]})
    indexable = {"/0": 1, "/1": 1, "/2": 0, "/3": 1}
    rows = [
        ("/0", "two pages", None, None),
        ("/1", "two pages", None, None),
        ("/0", "one page, five images", 5.0, None),
        ("/1", "one page, 700 pixels", 700.0, 561.0),
        ("/2", "not indexable", 9.0, None),
        ("/3", "an error, and another page", None, None),
        ("/2", "an error, and another page", None, None),
    ]
    issues = pd.DataFrame(
        [
            {
                "url": url,
                "rule": rule,
                "rule_title": rule,
                "category": "html",
                "type": "issue",
                "priority": "low",
            }
            | {"value": value, "threshold": limit, "pages": 1, "indexable": indexable[url]}
            for url, rule, value, limit in rows
        ]
    )
    counted = summary(issues, pages).set_index("rule")
    assert counted[["pages", "indexable", "findings"]].T.to_dict("list") == {
        "two pages": [2, 2, 2],
        "one page, five images": [1, 1, 5],
        "an error, and another page": [2, 1, 2],
        "one page, 700 pixels": [1, 1, 1],
        "not indexable": [1, 0, 9],
    }
    assert counted.index.tolist()[:3] == ["two pages", "one page, five images", "an error, and another page"]


def test_issues_of_one_priority_are_summed_up_with_the_most_pages_first() -> None:
    pages = site(description=["", "A"], lang=["", ""], favicons=[[], []])
    counted = summary(find_issues(pages), pages.pages)
    assert counted["rule"].tolist() == ["lang_missing", "favicon_missing", "description_missing"]


def test_titles_of_pages_and_of_rules_stand_apart() -> None:
    pages = site(title=["Tea", "Milk"], viewport=["", "x"], title_pixels=[30, 300])
    issues = find_issues(pages)
    told_of = issues[issues["rule"].isin(("title_too_short", "viewport_missing"))]
    assert told_of[["page_title", "rule_title"]].values.tolist() == [
        ["Tea", RULES["title_too_short"].title],
        ["Tea", RULES["viewport_missing"].title],
    ]
    of_host = find_issues(site(title=["Tea", "Milk"], headers=["[]", "[]"])).query("scope == 'host'")
    assert len(of_host) > 0
    assert of_host["page_title"].isna().all()
