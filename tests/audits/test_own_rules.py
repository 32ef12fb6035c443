"""Rules of one's own: listed, judged, profiled and reported like the rest, and removed again."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.audits.rules import BUILT_IN, RULES

HTML = "<!doctype html><title>{}</title><h1>Tea</h1><p>We sell tea. It is green. It is good."


@pytest.fixture(autouse=True)
def only_ours() -> Iterator[None]:
    yield
    assert set(RULES) == BUILT_IN, "a test left a rule behind"


@pytest.fixture(scope="module")
def audit() -> wa.Audit:
    urls = [f"https://tea.example/{name}" for name in ("a", "b", "c")]
    pages = [HTML.format(title) for title in ("Green tea", "Black tea", "Milk")]
    frame = pd.DataFrame({"url": urls, "html": pages, "http_status": [200, 200, 404]})
    return wa.audit(frame, progress=False)


def found(audit: wa.Audit, name: str) -> pd.DataFrame:
    issues = audit.issues
    return issues[issues["rule"] == name].reset_index(drop=True)


def failed(audit: wa.Audit) -> list[str]:
    names: list[str] = audit.issues.attrs["webanalytics"]["rules_failed"]
    return names


def test_a_boolean_for_each_page(audit: wa.Audit) -> None:
    with wa.rule(lambda pages: pages["title"].str.startswith("Green"), name="green_title", fix="Be brief."):
        issue = found(audit, "green_title").iloc[0]
        assert len(found(audit, "green_title")) == 1
        assert issue["url"] == "https://tea.example/a"
        assert issue[["rule_title", "category", "type", "priority", "fix", "help"]].tolist() == [
            *("Green title", "own", "issue", "medium", "Be brief.", "")
        ]
    assert found(audit, "green_title").empty


@pytest.mark.parametrize(
    ("make", "value", "evidence"),
    [
        (lambda pages: np.array([True, False]), [None], [""]),
        (lambda pages: [True, None], [None], [""]),
        (lambda pages: pd.Series([None, True], index=pages.index[::-1], dtype="boolean"), [None], [""]),
        (lambda pages: pages["title"].str.len().where(pages["title"] == "Green tea"), [9.0], [""]),
        (lambda pages: pages["title"].where(pages["title"] == "Green tea"), [None], ["Green tea"]),
        (
            lambda pages: pages.iloc[:1].assign(value=3, evidence=pages["title"])[["value", "evidence"]],
            [3.0],
            ["Green tea"],
        ),
        (lambda pages: pages.iloc[:1][[]], [None], [""]),
    ],
)
def test_what_a_function_may_return(
    audit: wa.Audit, make: Any, value: list[Any], evidence: list[str]
) -> None:
    with wa.rule(make, name="some_rule"):
        rows = found(audit, "some_rule")
        assert failed(audit) == []
        assert rows["url"].tolist() == ["https://tea.example/a"]
        assert [None if pd.isna(cell) else cell for cell in rows["value"]] == value
        assert rows["evidence"].tolist() == evidence


@pytest.mark.parametrize(
    "make",
    [
        lambda pages: None,
        lambda pages: "all of them",
        lambda pages: [True],
        lambda pages: pd.Series([True], index=[99]),
        lambda pages: pd.DataFrame({"value": [1]}, index=[99]),
        lambda pages: pages["no_such_column"],
        lambda pages: 1 / 0,
        lambda pages: sys.exit(3),
    ],
)
def test_a_function_that_fails_is_named_and_costs_nothing_else(
    audit: wa.Audit, make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    before = len(audit.issues)
    with caplog.at_level(logging.CRITICAL, "webanalytics.audits"), wa.rule(make, name="some_rule"):
        assert failed(audit) == ["some_rule"]
        assert len(audit.issues) == before


def test_pages_that_were_not_read_are_seen_only_where_asked_for(audit: wa.Audit) -> None:
    with wa.rule(lambda pages: pages["http_status"].eq(404), name="some_rule"):
        assert found(audit, "some_rule").empty
    with wa.rule(lambda pages: pages["http_status"].eq(404), name="some_rule", pages="all"):
        assert found(audit, "some_rule")["url"].tolist() == ["https://tea.example/c"]


def test_a_function_cannot_change_the_audit(audit: wa.Audit) -> None:
    def change(pages: pd.DataFrame) -> pd.Series:
        pages["title"] = ""
        return pages["title"].eq("")

    with wa.rule(change, name="some_rule"):
        assert len(found(audit, "some_rule")) == 2
        assert audit.pages["title"].tolist()[:2] == ["Green tea", "Black tea"]


def test_the_decorator_lists_profiles_and_scores_it(audit: wa.Audit, tmp_path: Path) -> None:
    score = audit.score

    @wa.rule(title="Title is short", priority="high", threshold=8, unit="letters", explanation="Say more.")
    def short(pages: pd.DataFrame, threshold: float) -> pd.Series:
        length = pages["title"].str.len()
        return length.where(length < threshold)

    with short:
        assert short(pd.DataFrame({"title": ["Tea"]}), 5).tolist() == [3]
        assert wa.rules().loc["short", ["title", "priority", "threshold", "unit"]].tolist() == [
            *("Title is short", "high", 8.0, "letters")
        ]
        assert found(audit, "short").empty
        stricter = audit.with_profile(thresholds={"short": 10})
        assert found(stricter, "short")["value"].tolist() == [9.0, 9.0]
        assert stricter.score is not None
        assert score is not None
        assert stricter.score < score
        assert stricter.summary()["rule"].iloc[:2].tolist() == ["client_error", "short"] or "short" in set(
            stricter.summary()["rule"].iloc[:3]
        )
        profile = tmp_path / "own.toml"
        profile.write_text('[priorities]\nshort = "low"\n[thresholds]\nshort = 10\n')
        assert found(audit.with_profile(profile), "short")["priority"].tolist() == ["low", "low"]
        off = tmp_path / "off.toml"
        off.write_text('off = ["short"]\n[thresholds]\nshort = 10\n')
        assert found(audit.with_profile(off), "short").empty
        html = stricter.report(tmp_path / "report.html").read_text("utf-8")
        assert "Title is short" in html
        assert "Say more." in html
        comparison = audit.compare(stricter)
        assert "short" in set(comparison.summary()["rule"])
        assert "Title is short" in repr(stricter)
        saved = stricter.save(tmp_path / "saved")
        assert len(found(wa.load(saved), "short")) == 2
    again = wa.load(saved)  # without the rule that its profile names
    assert found(again, "short").empty
    assert found(stricter, "short").empty
    assert "short" not in wa.rules().index
    assert "short" not in wa.rules().index


def test_what_a_rule_reads_may_be_missing(audit: wa.Audit) -> None:
    with wa.rule(lambda pages: pages["stock"].isna(), name="some_rule", columns=["stock"]):
        assert audit.issues.attrs["webanalytics"]["rules_not_tried"]["some_rule"] == ["stock"]
        priced = wa.Audit(audit.raw.assign(stock=[None, "3", None]))
        assert found(priced, "some_rule")["url"].tolist() == ["https://tea.example/a"]


def test_a_cell_run_again_replaces_its_rule(audit: wa.Audit) -> None:
    for text in ("first", "second"):
        rule = wa.rule(lambda pages: [True, True], name="some_rule", fix=text)
    assert set(found(audit, "some_rule")["fix"]) == {"second"}
    rule.remove()
    rule.remove()  # it is gone already


def test_it_explains_itself_at_an_address_of_the_users(audit: wa.Audit, tmp_path: Path) -> None:
    page = "https://wiki.tea.example/rules#green"
    with wa.rule(lambda pages: [True, True], name="some_rule", help=page):
        assert found(audit, "some_rule")["help"].tolist() == [page, page]
        assert f'href="{page}"' in audit.report(tmp_path / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"name": "title_missing"}, "name"),
        ({"name": "Title missing"}, "name"),
        ({}, "name"),  # a lambda has none
        ({"name": "x", "priority": "urgent"}, "priority"),
        ({"name": "x", "category": "prices"}, "category"),
        ({"name": "x", "type": "error"}, "type"),
        ({"name": "x", "pages": "some"}, "pages"),
        ({"name": "x", "threshold": "8"}, "threshold"),
        ({"name": "x", "threshold": float("nan")}, "threshold"),
        ({"name": "x", "columns": "stock"}, "columns"),
        ({"name": "x", "title": None, "fix": 3}, "fix"),
        ({"name": "x", "help": "javascript:alert(1)"}, "help"),
        ({"name": "x", "help": 'https://a.example/"onclick='}, "help"),
    ],
)
def test_a_wrong_declaration_is_refused(arguments: dict[str, Any], names: str) -> None:
    with pytest.raises(wa.ParameterError) as error:
        wa.rule(lambda pages: [], **arguments)
    assert error.value.parameter == names
    assert f"`{names}`" in str(error.value)


def test_the_table_of_rules_is_a_new_one_each_time() -> None:
    with wa.rule(lambda pages: [], name="some_rule"):
        table = wa.rules()
        assert type(table) is pd.DataFrame
        table["title"] = ""
        assert wa.rules().loc["some_rule", "title"] == "Some rule"
    assert "some_rule" not in wa.rules().index
