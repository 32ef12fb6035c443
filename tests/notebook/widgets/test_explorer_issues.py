"""The explorer's tab of issues by its Python state: what a browser asks for, and what it is told."""

from __future__ import annotations

import io
import json
import time
from typing import Any

import openpyxl
import pandas as pd
import pytest

import webanalytics as wa
from tests.effort import effort_since
from tests.notebook.widgets.test_explorer import Browser
from webanalytics.notebook.explorer import explorer as explorer_module
from webanalytics.notebook.explorer import issues as explorer_issues
from webanalytics.notebook.explorer.explorer import explore

HOSTILE = "<img src=x onerror=alert(1)>"
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


def test_a_frame_with_addresses_has_the_tab_and_others_have_not(
    audit: wa.Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer = explore(audit)
    assert explorer._content["issues"] == {"there": True, "at_once": True}
    explorer.frame = pd.DataFrame({"a": [1]})
    assert explorer._content["issues"] == {"there": False, "at_once": False}
    browser = Browser(explorer, monkeypatch)
    for question in (
        {"kind": "issues"},
        {"kind": "download", "format": "csv", "part": "issues"},
        {"kind": "download", "format": "html", "part": "report"},
    ):
        assert browser.ask(**question)[0]["error"] == (
            "The `frame` parameter must have a column `url` to have issues."
        )
    explorer.frame = audit
    assert browser.ask(kind="issues")[0]["count"] == len(audit.issues)


def test_nothing_is_looked_for_before_it_is_asked(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    explore(audit)
    assert "issues" not in (audit._known or {})
    monkeypatch.setattr(explorer_module, "MANY_PAGES", 2)
    explorer = explore(audit)
    assert explorer._content["issues"] == {"there": True, "at_once": False}
    assert "What to fix first" not in explorer._repr_html_()
    browser = Browser(explorer, monkeypatch)
    assert browser.ask(kind="details", row=0)[0]["issues"] is None
    assert "issues" not in (audit._known or {})
    browser.ask(kind="issues")
    assert browser.ask(kind="details", row=0)[0]["issues"]
    assert "What to fix first" in explorer._repr_html_()


def test_the_overview_is_that_of_the_audit(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    content, _ = Browser(explore(audit), monkeypatch).ask(kind="issues")
    issues, summary = audit.issues[audit.issues["type"] != "warning"], audit.summary()
    assert content["score"] == audit.score
    assert [detail["name"] for detail in content["details"]] == summary["rule"].tolist()
    assert [detail["title"] for detail in content["details"]] == summary["rule_title"].tolist()
    assert content["priorities"] == [
        [
            name,
            (issues["priority"] == name).sum(),
            issues.loc[(issues["priority"] == name) & (issues["scope"] != "host"), "url"].nunique(),
            issues.loc[(issues["priority"] == name) & (issues["scope"] == "host"), "url"].nunique(),
        ]
        for name in ("high", "medium", "low")
    ]
    columns = {column["key"]: column["cells"] for column in content["columns"]}
    for level in ("high", "medium", "low"):
        found = issues[issues["priority"] == level].groupby("url").size()
        assert columns[level] == [found.get(url, 0) for url in audit.raw["url"]]
    costs = {"high": 20, "medium": 5, "low": 1}
    assert columns["score"] == [
        100 - sum(cost * columns[level][row] for level, cost in costs.items()) for row in range(len(audit))
    ], "the counts beside a score are its sum"
    causes = audit.causes()
    assert [line["cause"] for line in content["causes"]] == causes["cause"][causes["points"] > 0].head(
        10
    ).tolist()
    assert [content["details"][line["place"]]["name"] for line in content["causes"]] == causes["rule"].head(
        len(content["causes"])
    ).tolist()
    assert columns["title_pixels"] == audit.pages["title_pixels"].tolist()


def test_another_frame_has_the_issues_that_its_columns_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = wa.metadata(pages_of([*TITLES, ""]), progress=False)
    content, _ = Browser(explore(frame), monkeypatch).ask(kind="issues")
    names = {detail["name"] for detail in content["details"]}
    assert {"title_missing", "title_too_short", "viewport_missing"} <= names
    assert not {"no_internal_links", "content_low"} & names
    assert "Low content" in {title for title, _ in content["untried"]}
    assert content["score"] is None  # not all rules were tried
    assert "score" not in {column["key"] for column in content["columns"]}
    wrong = pd.DataFrame({"url": ["https://a.example/", 7], "title": [3, ""], "headings": ["x", {}]})
    found, _ = Browser(explore(wrong), monkeypatch).ask(kind="issues")
    assert "Title missing" in {detail["title"] for detail in found["details"]}


def test_limits_of_a_preview_are_those_of_the_profile(
    audit: wa.Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = audit.with_profile(thresholds={"title_too_short": 20, "title_too_long": 250})
    for place, state in ((0, "good"), (2, "long")):
        content, _ = Browser(explore(other), monkeypatch).ask(kind="details", row=place)
        title = content["search"]["title"]
        assert (title["limits"], title["state"]) == ([20, 250], state)
        rules = {issue["rule"] for issue in content["issues"]}
        assert ("title_too_long" in rules) == (state == "long")


def test_site_keywords_are_there_where_the_audit_has_them(
    audit: wa.Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Knowing(wa.Audit):
        def keywords(self, by: str = "page") -> pd.DataFrame:  # type: ignore[override]
            assert by == "site"
            return pd.DataFrame({"keyword": ["tea", HOSTILE], "page_count": [3, 1], "urls": [["a"], []]})

        def cannibalisation(self) -> pd.DataFrame:
            return pd.DataFrame({"keyword": ["tea"]})

    explorer = explore(Knowing(audit, audit.origin))
    assert explorer._content["whole"] is True
    browser = Browser(explorer, monkeypatch)
    browser.ask(kind="keywords")
    tables = [answer for answer, _ in browser.answers[:-1]]
    assert cells(tables[0]["table"], "keyword") == ["tea", HOSTILE]
    assert [column["label"] for column in tables[0]["table"]["columns"]] == ["Keyword", "Page count", "Urls"]
    assert tables[1]["table"]["length"] == 1
    assert explore(wa.metadata(pages_of(TITLES), progress=False))._content["whole"] is False


def test_the_report_is_a_download(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(explore(audit), monkeypatch)
    answer, pieces = browser.ask(kind="download", format="html", part="report")
    assert (answer["name"], answer["type"]) == ("audit-report.html", "text/html")
    page = b"".join(pieces).decode()
    assert "Title too short" in page
    assert "<img" not in page


def test_sixty_thousand_rows_cost_no_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exploring a large frame reads no rule; asking for issues does."""
    rows = 60_000
    frame = pd.DataFrame({"url": [f"https://a.example/{row}" for row in range(rows)], "title": "Tea " * 90})
    calls: list[int] = []
    monkeypatch.setattr(explorer_issues, "judged", lambda pages: calls.append(len(pages)))
    start = time.process_time()
    explorer = explore(frame)
    assert effort_since(start) < 1.5  # the rules alone take more than twice as long
    explorer._repr_html_()
    assert calls == []


def test_rules_are_those_of_the_summary(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    content, _ = Browser(explore(audit), monkeypatch).ask(kind="issues")
    summary = audit.summary().set_index("rule")
    table, names = content["table"], [detail["name"] for detail in content["details"]]
    assert names == summary.index.tolist()
    assert (table["length"], table["total"]) == (len(summary), len(summary))
    assert cells(table, "pages") == summary.loc[names, "pages"].tolist()
    assert cells(table, "share") == [round(100 * share, 1) for share in summary.loc[names, "share"]]
    assert cells(table, "priority") == summary.loc[names, "priority"].tolist()
    (priority,) = [column for column in table["columns"] if column["key"] == "priority"]
    assert priority["ranks"] == ["high", "medium", "low"]  # not in the order of the alphabet
    declared = wa.rules()
    for detail in content["details"]:
        assert detail["title"] == declared.loc[detail["name"], "title"]
        assert detail["explanation"] == declared.loc[detail["name"], "explanation"]
        assert detail["fix"] == declared.loc[detail["name"], "fix"]


def test_the_pages_of_a_rule(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    content, _ = Browser(explore(audit), monkeypatch).ask(kind="issues", rule="title_too_short")
    assert content["rows"] == [0]
    table = content["table"]
    assert cells(table, "url") == ["https://a.example/0"]
    widths = audit.pages["title_pixels"].tolist()[:1]
    assert cells(table, "evidence") == ["3 characters: Tea"]
    assert (cells(table, "value"), cells(table, "threshold")) == (widths, [200])
    assert all("decimals" not in column for column in table["columns"])


def test_every_rule_and_page_can_be_asked_for(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(explore(audit), monkeypatch)
    found = 0
    for detail in browser.ask(kind="issues")[0]["details"]:
        content, _ = browser.ask(kind="issues", rule=detail["name"])
        assert len(content["rows"]) == content["table"]["length"] == content["table"]["total"]
        found += len(content["rows"])
    assert found == len(audit.issues)
    assert sum(len(browser.ask(kind="details", row=row)[0]["issues"]) for row in range(3)) == found


def test_the_issues_of_a_page(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    content, _ = Browser(explore(audit), monkeypatch).ask(kind="details", row=0)
    wanted = audit.issues[audit.issues["url"] == "https://a.example/0"]
    order = audit.summary()["rule_title"].tolist()
    titles = [issue["title"] for issue in content["issues"]]
    assert titles == sorted(wanted["rule_title"], key=order.index)
    (short,) = [issue for issue in content["issues"] if issue["rule"] == "title_too_short"]
    found = wanted[wanted["rule"] == "title_too_short"].iloc[0]
    assert (short["priority"], short["title"]) == ("medium", "Title too short")
    assert (short["evidence"], short["fix"]) == (found["evidence"], found["fix"])


@pytest.mark.parametrize("rule", ["no_such_rule", None, 3, ["title_too_short"], "url_with_space"])
def test_a_rule_that_found_nothing_gets_a_sentence(
    audit: wa.Audit, monkeypatch: pytest.MonkeyPatch, rule: Any
) -> None:
    content, _ = Browser(explore(audit), monkeypatch).ask(kind="issues", rule=rule)
    assert content == {"id": "q", "error": "The `rule` parameter must be a rule that found something."}


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
    assert browser.ask(kind="details", row=0)[0]["issues"] == []


def test_an_audit_of_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert explore(wa.audit([], progress=False))._content["issues"] == {"there": True, "at_once": True}
    explorer = explore(wa.Audit(pd.DataFrame({"url": [], "status": []})))
    content, _ = Browser(explorer, monkeypatch).ask(kind="issues")
    assert (content["count"], content["table"]["length"], content["score"]) == (0, 0, None)


def test_evidence_goes_out_as_it_is_for_a_text_node(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(explore(audit.with_profile(thresholds={"title_too_short": 300})), monkeypatch)
    evidence = [issue["evidence"] for issue in browser.ask(kind="details", row=1)[0]["issues"]]
    assert f"28 characters: {HOSTILE}" in evidence


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
    assert answer["name"] == "audit.xlsx"
    assert {"Summary", "Issues", "Pages"} <= set(book.sheetnames)
    assert book["Issues"].max_row == len(audit.issues) + 1


def test_an_audit_that_cannot_be_judged_says_so(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = explore(audit)
    monkeypatch.setattr(type(audit), "issues", property(lambda _self: 1 / 0))
    content, _ = Browser(explorer, monkeypatch).ask(kind="issues")
    assert content["error"] == "This could not be done (ZeroDivisionError)."
