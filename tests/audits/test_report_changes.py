"""What the report of a comparison begins with: the score before and after, issues new, fixed, remaining, removed."""

from __future__ import annotations

from typing import Any

import lxml.html
import pandas as pd

from tests.audits.test_report_parts import data_of_document, rows_of, shown, texts

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
        ("new", "low", "low", "u0"),
        ("new", "worse", "high", "u1"),
        ("remaining", "same", "medium", "u2"),
        ("remaining", "worse", "high", "u0"),
        ("fixed", "gone", "high", "u0"),
        ("removed", "worse", "high", "https://gone.example/"),
    ],
    columns=["change", "rule", "priority", "url"],
)
ISSUES["title"] = ISSUES["rule"].map(TITLES)
ISSUES["evidence"] = [f"evidence {number}" for number in range(len(ISSUES))]
ISSUES["value"] = [3, None, None, None, None, None]
SUMMARY = pd.DataFrame(
    [
        ("low", "low", 0, 1, 1, 0, 0, 0, 0, -0.3),
        ("gone", "high", 1, 0, 0, 1, 0, 0, 0, 6.67),
        ("worse", "high", 2, 2, 1, 0, 1, 1, 0, 0.0),
        ("same", "medium", 1, 1, 0, 0, 1, 0, 0, 0.0),
    ],
    columns=[
        "rule",
        "priority",
        "before",
        "after",
        "new",
        "fixed",
        "remaining",
        "removed",
        "unchecked",
        "points",
    ],
)
SUMMARY["title"] = SUMMARY["rule"].map(TITLES)
CHANGED = pd.DataFrame(
    {
        "url": ["u0", "u2", "https://gone.example/"],
        "change": ["changed", "added", "removed"],
        "fields": [2, 0, 0],
    }
)


def compared(**besides: Any) -> Any:
    now = ISSUES[ISSUES["change"].isin(("new", "remaining"))].drop(columns="change")
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
        ["New", "2", "only in this audit"],
        ["Fixed", "1", "only in the audit before"],
        ["Remaining", "2", "in both"],
        ["Removed with its page", "1", "their pages are gone"],
        ["Pages that differ", "3", "1 added, 1 removed, 1 changed"],
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


def test_rules_whose_issues_changed_are_in_the_order_fix_first() -> None:
    document = compared()
    assert rows_of(document, "changes") == [
        ["Rule", "Before", "After", "New", "Fixed", "Remaining", "Removed with its page", "Points of health"],
        ["high Page without https", "2", "2", "1", "·", "1", "1", "·"],
        ["high Title missing", "1", "·", "·", "1", "·", "·", "+6.67"],
        ["low Images without size", "·", "1", "1", "·", "·", "·", "−0.30"],
    ]
    links = document.xpath("//section[@aria-labelledby='changes']//tbody//a/@href")
    assert links == ["#rule-worse", "#rule-low"]  # none to a rule that found nothing now


def test_lists_are_by_what_became_of_the_issues() -> None:
    document = compared()
    heads = document.xpath("//details[@class='change']/summary")
    assert texts(heads) == [
        "New issues 2",
        "Fixed issues 1",
        "Remaining issues 2",
        "Issues removed with their page 1",
        "Changed pages 3",
    ]
    assert document.xpath("//details[@class='change'][@open]/summary/text()") == ["New issues "]
    data = data_of_document(document)
    new, fixed, *_ = data["changes"]
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
    assert tiles[1:4] == ["0", "0", "2"]
    assert not document.find_class("of-changes")
    assert lxml.html.tostring(document).count(b"Unchecked") == 0


def test_issues_that_could_not_be_looked_for_again_are_named() -> None:
    unchecked = ISSUES.assign(change=["unchecked", *ISSUES["change"][1:]])
    document = compared(changes={"Issues": unchecked})
    assert "Unchecked issues 1" in texts(document.xpath("//details[@class='change']/summary"))
    assert "could not be looked for in one of the audits" in document.text_content()
