"""What the report of a comparison begins with: the score before and after, what got worse, what is fixed."""

from __future__ import annotations

from typing import Any

import lxml.html
import pandas as pd

from tests.audits.report_data import rows_of, shown, texts
from tests.audits.test_report_parts import data_of_document

PAGES = pd.DataFrame({"url": ["u0", "u1", "u2"], "status": "ok", "title": ["One", "Two", "Three"]})
TITLES = {
    "low": "Images without size",
    "worse": "Page without https",
    "gone": "Title missing",
    "same": "Several h1",
}
ISSUES = pd.DataFrame(
    [
        # change, rule, priority, url
        ("worse", "low", "low", "u0"),
        ("worse", "worse", "high", "u1"),
        ("added", "low", "low", "u2"),
        ("remaining", "same", "medium", "u2"),
        ("remaining", "worse", "high", "u0"),
        ("fixed", "gone", "high", "u0"),
        ("removed", "worse", "high", "https://gone.example/"),
    ],
    columns=["change", "rule", "priority", "url"],
)
ISSUES["rule_title"] = ISSUES["rule"].map(TITLES)
ISSUES["evidence"] = [f"evidence {number}" for number in range(len(ISSUES))]
ISSUES["value"] = [3, *[None] * 6]
SUMMARY = pd.DataFrame(
    [
        ("worse", "high", 2, 2, 1, 0, 0, 1, 1, 0, 0.0),
        ("low", "low", 0, 2, 1, 1, 0, 0, 0, 0, -0.3),
        ("gone", "high", 1, 0, 0, 0, 1, 0, 0, 0, 6.67),
        ("same", "medium", 1, 1, 0, 0, 0, 0, 1, 0, 0.0),
    ],
    columns=[
        "rule",
        "priority",
        "before",
        "after",
        "worse",
        "added",
        "fixed",
        "removed",
        "remaining",
        "unchecked",
        "points",
    ],
)
SUMMARY["rule_title"] = SUMMARY["rule"].map(TITLES)
CHANGED = pd.DataFrame(
    {
        "url": ["u0", "u2", "https://gone.example/", "https://far.example/"],
        "change": ["changed", "added", "removed", "unchecked"],
        "fields": [2, 0, 0, 0],
    }
)


def compared(**besides: Any) -> Any:
    now = ISSUES[ISSUES["change"].isin(("worse", "added", "remaining"))].drop(columns="change")
    changes = {"Summary": SUMMARY, "Issues": ISSUES, "Changed pages": CHANGED}
    return shown(PAGES, now, **({"changes": changes, "score": 91.0, "score_before": 85.5} | besides))


def test_the_report_begins_with_what_changed() -> None:
    document = compared()
    first = document.xpath("//main/section")[0]
    assert first.get("aria-labelledby") == "changes"
    assert texts(document.xpath("//nav[@aria-label='Parts of the report']/a"))[:2] == ["Changes", "Overview"]
    tiles = [tile.xpath("./*[self::span or self::strong]") for tile in first.find_class("tile")]
    assert [texts(tile) for tile in tiles] == [
        ["Health, before and after", "85.5 → 91", "+5.5 points"],
        ["Got worse", "2", "on pages of both audits"],
        ["On new pages", "1", "with their pages"],
        ["Fixed", "1", "on pages of both audits"],
        ["Removed with its page", "1", "their pages are gone"],
        ["Remaining", "2", "in both"],
        ["Pages that differ", "3", "1 added, 1 removed, 1 changed; 1 not looked at"],
    ]


def test_a_score_that_fell_or_is_missing() -> None:
    def said(**scores: Any) -> str:
        (tile,) = compared(**scores).xpath(
            "//section[@aria-labelledby='changes']//li[contains(@class, 'health')]"
        )
        return " ".join(tile.text_content().split())

    assert said(score=80.0, score_before=80.25).endswith("80.2 → 80−0.2 points")
    assert said(score=80.0, score_before=80.0).endswith("80 → 80no change")
    assert "80 → –" in said(score=None, score_before=80.0)
    assert not compared(score_before=None).xpath(
        "//section[@aria-labelledby='changes']//*[contains(@class, 'health')]"
    )


def test_pages_that_left_the_index_come_first() -> None:
    fields = pd.DataFrame(
        [("u1", "indexability", "indexable", "noindex"), ("u0", "indexability", "noindex", "indexable")],
        columns=["url", "field", "before", "after"],
    )
    document = compared(changes={"Issues": ISSUES, "Changed fields": fields, "Changed pages": CHANGED})
    tiles = document.xpath("//section[@aria-labelledby='changes']//li[contains(@class, 'tile')]")
    assert texts(tiles[1].xpath("./*[self::span or self::strong]"))[:2] == ["Not in the index any more", "1"]


def test_the_headline_says_what_is_compared() -> None:
    days = {
        "audited_before": pd.Timestamp("2026-10-03", tz="UTC"),
        "audited_at": pd.Timestamp("2026-11-04", tz="UTC"),
    }
    assert texts(compared(**days).xpath("//h1")) == ["Comparison: 2026-10-03 → 2026-11-04"]


def test_rules_whose_issues_changed_are_in_the_order_of_the_summary() -> None:
    document = compared()
    assert rows_of(document, "changes") == [
        [
            "Rule",
            "Before",
            "After",
            "Got worse",
            "On new pages",
            "Fixed",
            "Removed with its page",
            "Remaining",
            "Points of health",
        ],
        ["high Page without https", "2", "2", "1", "·", "·", "1", "1", "·"],
        ["low Images without size", "·", "2", "1", "1", "·", "·", "·", "−0.30"],
        ["high Title missing", "1", "·", "·", "·", "1", "·", "·", "+6.67"],
    ]
    links = document.xpath("//section[@aria-labelledby='changes']//tbody//a/@href")
    assert links == ["#rule-worse", "#rule-low"]  # none to a rule that found nothing now


def test_lists_are_by_what_became_of_the_issues() -> None:
    document = compared()
    heads = document.xpath("//details[@class='change']/summary")
    assert texts(heads) == [
        "What got worse 2",
        "Issues on new pages 1",
        "Fixed issues 1",
        "Issues removed with their page 1",
        "Remaining issues 2",
        "Changed pages 4",
    ]
    assert document.xpath("//details[@class='change'][@open]/summary/text()") == ["What got worse "]
    data = data_of_document(document)
    new, _, fixed, *_ = data["changes"]
    columns = {name: [data["cells"][place] for place in places] for name, places in new["columns"].items()}
    assert columns == {
        "priority": ["high", "low"],
        "problem": ["Page without https", "Images without size"],
        "url": ["u1", "u0"],
        "value": [None, 3],
        "evidence": ["evidence 1", "evidence 0"],
    }
    assert "value" not in fixed["columns"]  # a column of nothing takes no room


def test_nothing_changed() -> None:
    same = ISSUES[ISSUES["change"] == "remaining"]
    document = compared(
        changes={"Issues": same, "Summary": SUMMARY.iloc[3:], "Changed pages": CHANGED.head(0)}
    )
    tiles = texts(document.xpath("//section[@aria-labelledby='changes']//li//strong"))
    assert tiles[1:5] == ["0", "0", "0", "2"]
    assert not document.find_class("of-changes")
    assert lxml.html.tostring(document).count(b"Unchecked") == 0


def test_issues_that_could_not_be_looked_for_again_are_named() -> None:
    unchecked = ISSUES.assign(change=["unchecked", *ISSUES["change"][1:]])
    document = compared(changes={"Issues": unchecked})
    assert "Unchecked issues 1" in texts(document.xpath("//details[@class='change']/summary"))
    assert "could not be looked for in one of the audits" in document.text_content()
