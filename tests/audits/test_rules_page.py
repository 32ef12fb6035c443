"""Every rule about single pages: a page that triggers it, and one at its very limit that does not."""

from __future__ import annotations

import pandas as pd
import pytest

import webanalytics as wa
from tests.audits import rule_cases_content, rule_cases_markup
from tests.audits.rule_pages import SOCIAL, Case, page
from tests.audits.sites import derived
from webanalytics.audits.issues import find_issues
from webanalytics.audits.rules import RULES, rules
from webanalytics.audits.site import Site

CASES = (*rule_cases_content.CASES, *rule_cases_markup.CASES)
PAGE_RULES = {case.rule for case in CASES}


def address(case: Case, kind: str) -> str:
    given = case.fault_url if kind == "fault" else case.near_url
    return given or f"https://example.org/{case.rule.replace('_', '-')}/{kind}"


@pytest.fixture(scope="module")
def issues() -> pd.DataFrame:
    """The issues of all pages of the table, read as pages of a site are."""
    rows = [("https://example.org/good", page(), {})]
    for case in CASES:
        rows.append((address(case, "fault"), case.fault, case.fault_cells))
        rows.append((address(case, "near"), case.near, case.near_cells))
    rows = [(url, html.replace(f'{SOCIAL["og:url"]}"', f'{url}"'), cells) for url, html, cells in rows]
    given = pd.DataFrame({"url": [row[0] for row in rows], "html": [row[1] for row in rows]})
    pages = derived(wa.audit(given).raw)
    pages.attrs.clear()  # which facts saved pages lack: these are given below
    assert pages["status"].eq("ok").all()
    assert pages["url"].is_unique
    for column, default in (
        *(("image_bytes", {}), ("declared_charset", "utf-8"), ("content_type", "")),
        *(("charset_mislabelled", ""), ("headers", None)),
    ):
        pages[column] = pd.Series([row[2].get(column, default) for row in rows], dtype=object)
    found = find_issues(Site(pages))
    assert found.attrs["webanalytics"]["rules_failed"] == []
    return found[found["rule"].isin(PAGE_RULES)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_a_rule_speaks_of_the_page_with_the_fault_and_not_of_the_other(
    case: Case, issues: pd.DataFrame
) -> None:
    own = issues[issues["rule"] == case.rule].set_index("url")
    assert address(case, "near") not in own.index
    issue = own.loc[address(case, "fault")]
    assert case.evidence in issue["evidence"]
    if case.value is None:
        assert pd.isna(issue["value"]) or RULES[case.rule].threshold is not None
    else:
        assert issue["value"] == case.value


def test_names_are_no_sentences_that_could_be_hard_to_read() -> None:
    """The same words as sentences, and as a table of contents."""
    said = [f"{name} of interorganisational communication" for name in ("Harmonisation", "Certification") * 9]
    listed = "".join(f"<li>{place}. {text}</li>" for place, text in enumerate(said, 1))
    pages = [
        page(text=". ".join(said) + "."),
        page(text=f"All departments are open today.</p><ul>{listed}</ul>"),
    ]
    urls = ["https://example.org/sentences", "https://example.org/names"]
    audit = wa.audit(pd.DataFrame({"url": urls, "html": pages}), progress=False, workers=1)
    assert (audit.raw["fleschReadingEase"] < 30).all()
    found = audit.issues.loc[audit.issues["rule"] == "readability_very_difficult", "url"]
    assert found.tolist() == urls[:1]


def test_a_good_page_has_no_issue(issues: pd.DataFrame) -> None:
    assert issues.loc[issues["url"] == "https://example.org/good", "rule"].tolist() == []


def test_pages_that_were_not_read_are_left_alone() -> None:
    pages = derived(wa.audit(pd.DataFrame({"url": ["https://example.org/a"], "html": [None]})).raw)
    assert pages["status"].tolist() == ["error"]
    found = find_issues(Site(pages))
    assert found[
        found["rule"].isin(PAGE_RULES - {name for name in PAGE_RULES if name.startswith("url_")})
    ].empty


def test_the_frame_of_rules_lists_every_rule_once() -> None:
    listed = rules()
    assert listed["name"].tolist() == list(RULES)
    assert listed["name"].is_unique
    assert (listed["threshold"].notna() == listed["unit"].ne("")).all()
    assert listed["threshold"].dtype == "float64"


@pytest.mark.parametrize("name", sorted(PAGE_RULES))
def test_a_rule_is_told_in_plain_sentences(name: str) -> None:
    rule = RULES[name]
    assert rule.name == name == name.lower()
    assert rule.columns
    for text in (rule.explanation, rule.fix):
        assert text.endswith(".")
        assert 20 < len(text) < 260
        assert "  " not in text
