"""Every rule about the site, with a site that gives it a reason to speak and one that nearly does."""

from __future__ import annotations

import pytest

from tests.audits.rule_cases_site import CASES, LONG, REWRITTEN, names
from tests.audits.sites import HOST, alternates, failed, moved, page, site
from webanalytics.audits import rules
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.site import Site

RULES = {name: rules.RULES[name] for name in CASES}


def found(name: str, tried: Site) -> list[Finding]:
    rule = RULES[name]
    return list(rule.find(tried, rule.threshold))


@pytest.mark.parametrize("name", CASES)
def test_a_rule_speaks_of_these_pages(name: str) -> None:
    case = CASES[name]()
    findings = found(name, case.trigger)
    assert {finding.row for finding in findings} == case.rows
    assert len(findings) == len(case.rows), "one finding for each page"
    assert case.evidence in min(findings, key=lambda finding: finding.row).evidence


@pytest.mark.parametrize("name", CASES)
def test_a_rule_is_silent_on_a_near_miss(name: str) -> None:
    assert found(name, CASES[name]().near_miss) == []


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_a_rule_explains_itself(rule: Rule) -> None:
    assert rule.name.isidentifier()
    assert rule.name == rule.name.lower()
    for text in (rule.explanation, rule.fix):
        assert text.endswith(".")
        assert len(text) < 200
    assert (rule.threshold is None) == (rule.unit == "")


def test_good_pages_give_no_rule_a_reason() -> None:
    group = {"hreflangs": alternates(en="/", de="/de", x_default="/")}
    good = site(
        page("/", links=[f"{HOST}/a", f"{HOST}/de"], **group),
        page("/a", links=[f"{HOST}/"]),
        page("/de", lang="de", links=[f"{HOST}/"], **group),
        listed=("/", "/a", "/de"),
        robots={HOST: []},
    )
    assert {name: found(name, good) for name in RULES if found(name, good)} == {}


def test_rules_are_silent_where_nothing_is_known() -> None:
    """Pages of a hosted audit have no facts, and perhaps none of the columns at all."""
    hosted = site(page("/a", **dict.fromkeys(FACTS)))
    spoken = {name for name in RULES if found(name, hosted)}
    assert spoken == set()


FACTS = (
    "canonicals",
    "hreflangs",
    "links",
    "internal_links",
    "external_links",
    "mixed_content",
    "insecure_forms",
    "visible_text",
    "x_robots_tag",
    "bytes",
    "elapsed",
    "redirects",
)


def test_canonicals_in_a_circle_are_no_chain() -> None:
    circle = site(page("/a", **names("/b")), page("/b", **names("/a")))
    assert found("canonical_chain", circle) == []


def test_a_link_that_leads_back_by_a_redirect_is_named() -> None:
    (finding,) = found("links_to_redirects", site(page("/a", links=[f"{HOST}/old"]), moved("/old", "/a")))
    assert finding.evidence == f"{HOST}/old redirects to {HOST}/a"


def test_failures_name_pages_that_link_to_them() -> None:
    rows = [page(f"/{number}", links=[f"{HOST}/gone"]) for number in range(5)]
    (finding,) = found("server_error", site(failed("/gone", "status", status=503), *rows))
    assert finding.value is None, "a status is no number of faults"
    assert "HTTP 503" in finding.evidence
    assert finding.evidence.endswith(f"Linked from {HOST}/0, {HOST}/1, {HOST}/2 and 2 more.")


def test_a_missing_address_counts_where_it_is_linked() -> None:
    gone = failed("/gone", "status", status=404)
    assert len(found("client_error", site(gone, page("/a")))) == 1
    linked = site(gone, page("/a", links=[f"{HOST}/gone"]))
    assert found("client_error", linked) == []
    assert [finding.row for finding in found("links_to_failing_pages", linked)] == [1]


def test_another_threshold_makes_other_clusters() -> None:
    tried = site(page("/a", text=LONG), page("/b", text=REWRITTEN))
    rule = RULES["near_duplicate"]
    assert list(rule.find(tried, 90)) == []
    assert {finding.row for finding in rule.find(tried, 20)} == {0, 1}


def test_a_row_that_was_redirected_repeats_no_finding_of_a_page_that_has_a_row() -> None:
    pages = site(moved("/old", "/new", title=""), page("/new", title=""), moved("/far", "/alone", title=""))
    found = [finding.row for finding in rules.RULES["title_missing"].find(pages, None)]
    assert found == [1, 2], "the page behind /far has no row of its own"
    assert [finding.row for finding in rules.RULES["redirect"].find(pages, None)] == [0, 2]


def test_one_text_in_several_declared_languages_is_no_copy() -> None:
    langs = {"/a": "en", "/b": "de", "/c": "", "/d": "EN"}
    copies = site(*(page(url, text=LONG, lang=lang) for url, lang in langs.items()))
    told = {finding.row: finding.evidence for finding in found("duplicate_page", copies)}
    assert told[0] == f"Same text as {HOST}/c, {HOST}/d"
    assert told.keys() == {0, 2, 3}


def test_near_copies_name_one_page_and_count_the_others() -> None:
    words = LONG.split()
    texts = (LONG, " ".join([*words[:-2], "other end"]), " ".join([*words[:-2], "third end"]))
    alike = site(*(page(f"/{place}", text=text) for place, text in enumerate(texts)))
    told = [(finding.value, finding.evidence) for finding in found("near_duplicate", alike)]
    assert [value for value, _ in told] == [3, 3, 3]
    assert [said.rpartition(", on ")[2] for _, said in told] == [
        f"{HOST}/{place} and 1 more" for place in (1, 0, 0)
    ]
