"""The explorer's tab of issues by its Python state: what a browser asks for, and what it is told."""

from __future__ import annotations

import io
import json
from typing import Any

import openpyxl
import pandas as pd
import pytest

import webanalytics as wa
from tests.widgets.test_explorer import Browser
from webanalytics.widgets.explorer import issues as explorer_issues
from webanalytics.widgets.explorer.explorer import explore

HOSTILE = "<i onclick=alert(1)>"
PAGE = "<!doctype html><html lang=en><title>{}</title><h1>Tea</h1><p>{}"
TITLES = ["Tea", HOSTILE.replace("<", "&lt;"), "Green tea from the hills of Uji, grown in the shade"]


def pages_of(titles: list[str]) -> pd.DataFrame:
    html = [PAGE.format(title, f"Tea number {place} on the lawn.") for place, title in enumerate(titles)]
    return pd.DataFrame({"url": [f"https://a.example/{i}" for i in range(len(titles))], "html": html})


@pytest.fixture
def audit() -> wa.Audit:
    return wa.audit(pages_of(TITLES), progress=False)


def cells(table: dict[str, Any], key: str) -> list[Any]:
    (column,) = [column for column in table["columns"] if column["key"] == key]
    found: list[Any] = column["cells"]
    return found


def test_an_audit_has_the_tab_and_other_frames_have_not(
    audit: wa.Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer = explore(audit)
    assert explorer._content["issues"] is True
    explorer.frame = audit.copy()
    assert explorer._content["issues"] is False
    browser = Browser(explorer, monkeypatch)
    for question in ({"kind": "issues"}, {"kind": "download", "format": "csv", "part": "issues"}):
        assert browser.ask(**question)[0]["error"] == (
            "The `frame` parameter must be an audit to have issues."
        )
    explorer.frame = audit
    assert browser.ask(kind="issues")[0]["count"] == len(audit.issues)


def test_nothing_is_looked_for_before_it_is_asked(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = explore(audit)
    assert "issues" not in (audit._known or {})
    explorer._repr_html_()
    Browser(explorer, monkeypatch).ask(kind="details", row=0)
    assert "issues" not in (audit._known or {})


def test_rules_are_those_of_the_summary(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    content, _ = Browser(explore(audit), monkeypatch).ask(kind="issues")
    summary = audit.summary().set_index("rule")
    table, names = content["table"], [detail["name"] for detail in content["details"]]
    assert sorted(names) == sorted(summary.index)
    assert (table["length"], table["total"]) == (len(summary), len(summary))
    assert cells(table, "pages") == summary.loc[names, "pages"].tolist()
    assert cells(table, "share") == [round(100 * share, 1) for share in summary.loc[names, "share"]]
    assert cells(table, "priority") == summary.loc[names, "priority"].tolist()
    assert dict(content["priorities"]) == {
        level: int((summary["priority"] == level).sum()) for level in ("high", "medium", "low")
    }
    (priority,) = [column for column in table["columns"] if column["key"] == "priority"]
    assert priority["ranks"] == ["high", "medium", "low"]  # not in the order of the alphabet
    declared = wa.rules()
    for detail in content["details"]:
        assert detail["title"] == declared.loc[detail["name"], "title"]
        assert detail["explanation"] == declared.loc[detail["name"], "explanation"]
        assert detail["fix"] == declared.loc[detail["name"], "fix"]


def test_the_pages_of_a_rule(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    content, _ = Browser(explore(audit), monkeypatch).ask(kind="issues", rule="title_too_short")
    assert content["rows"] == [0, 1]
    table = content["table"]
    assert cells(table, "url") == ["https://a.example/0", "https://a.example/1"]
    assert cells(table, "evidence") == ["3 characters: Tea", f"{len(HOSTILE)} characters: {HOSTILE}"]
    assert (cells(table, "value"), cells(table, "threshold")) == ([34, 170], [200, 200])
    assert all("decimals" not in column for column in table["columns"])


def test_every_rule_and_page_can_be_asked_for(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(explore(audit), monkeypatch)
    found = 0
    for detail in browser.ask(kind="issues")[0]["details"]:
        content, _ = browser.ask(kind="issues", rule=detail["name"])
        assert len(content["rows"]) == content["table"]["length"] == content["table"]["total"]
        found += len(content["rows"])
    assert found == len(audit.issues)
    assert sum(len(browser.ask(kind="issues", row=row)[0]["issues"]) for row in range(3)) == found


def test_the_issues_of_a_page(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    content, _ = Browser(explore(audit), monkeypatch).ask(kind="issues", row=0)
    wanted = audit.issues[audit.issues["url"] == "https://a.example/0"]
    titles = wa.rules()["title"]
    assert sorted(title for _, title, _ in content["issues"]) == sorted(titles[wanted["rule"]])
    assert ["medium", titles["title_too_short"], "3 characters: Tea"] in content["issues"]


@pytest.mark.parametrize("rule", ["no_such_rule", None, 3, ["title_too_short"], "url_with_space"])
def test_a_rule_that_found_nothing_gets_a_sentence(
    audit: wa.Audit, monkeypatch: pytest.MonkeyPatch, rule: Any
) -> None:
    content, _ = Browser(explore(audit), monkeypatch).ask(kind="issues", rule=rule)
    assert content == {"id": "q", "error": "The `rule` parameter must be a rule that found something."}


@pytest.mark.parametrize("row", [99, -1, "x", None, [0]])
def test_a_page_that_is_none_has_no_issues(
    audit: wa.Audit, monkeypatch: pytest.MonkeyPatch, row: Any
) -> None:
    content, _ = Browser(explore(audit), monkeypatch).ask(kind="issues", row=row)
    assert content["issues"] == []


def test_what_a_browser_gets_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer_issues, "MOST_ISSUES", 4)
    audit = wa.audit(pages_of(["T" * (61 + n) + "e" * 5000 for n in range(6)]), progress=False)
    content, _ = Browser(explore(audit), monkeypatch).ask(kind="issues", rule="title_too_long")
    assert (content["table"]["length"], content["table"]["total"]) == (4, 6)
    assert max(map(len, cells(content["table"], "evidence"))) <= 300


def test_pages_without_a_url_are_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    audit = wa.audit(pages_of(["Tea", "Cup"]).assign(url=""), progress=False)
    browser = Browser(explore(audit), monkeypatch)
    for detail in browser.ask(kind="issues")[0]["details"]:
        assert set(browser.ask(kind="issues", rule=detail["name"])[0]["rows"]) == {None}
    assert browser.ask(kind="issues", row=0)[0]["issues"] == []


def test_an_audit_of_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    content, _ = Browser(explore(wa.Audit()), monkeypatch).ask(kind="issues")
    assert (content.get("count"), content["table"]["length"]) == (0, 0)


def test_evidence_goes_out_as_it_is_for_a_text_node(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(explore(audit), monkeypatch)
    evidence = [text for _, _, text in browser.ask(kind="issues", row=1)[0]["issues"]]
    assert f"{len(HOSTILE)} characters: {HOSTILE}" in evidence  # its title is short


def test_rules_that_were_not_tried_are_named(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    content, _ = Browser(explore(audit), monkeypatch).ask(kind="issues")
    not_tried = audit.issues.attrs["webanalytics"]["rules_not_tried"]
    assert not_tried
    assert len(content["untried"]) == len(not_tried)
    json.dumps(content, allow_nan=False)


def test_downloads_hold_the_issues(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(explore(audit), monkeypatch)
    answer, pieces = browser.ask(kind="download", format="csv", part="issues")
    assert answer["name"] == "audit-issues.csv"
    back = pd.read_csv(io.BytesIO(b"".join(pieces)))
    assert back["rule"].tolist() == audit.issues["rule"].tolist()
    answer, pieces = browser.ask(kind="download", format="csv")
    assert answer["name"] == "audit.csv"
    assert pd.read_csv(io.BytesIO(b"".join(pieces)))["title"].tolist()[0] == "Tea"
    answer, pieces = browser.ask(kind="download", format="xlsx")
    book = openpyxl.load_workbook(io.BytesIO(b"".join(pieces)))
    assert (answer["name"], book.sheetnames) == ("audit.xlsx", ["Summary", "Issues", "Pages"])
    assert book["Issues"].max_row == len(audit.issues) + 1


def test_an_audit_that_cannot_be_judged_says_so(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = explore(audit)
    monkeypatch.setattr(type(audit), "issues", property(lambda _self: 1 / 0))
    content, _ = Browser(explorer, monkeypatch).ask(kind="issues")
    assert content["error"] == "This could not be done (ZeroDivisionError)."
