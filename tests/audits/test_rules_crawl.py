"""Every rule of a crawl, with a site that gives it a reason to speak and one that nearly does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import webanalytics as wa
from tests.audits.crawled import HOST, at, crawl, failed, found, link, page
from tests.audits.sites import alternates, moved, sitemap
from webanalytics.audits.rules import RULES
from webanalytics.audits.unavailable_rules import LACKED
from webanalytics.runs.frames.link_table import CHECKED, SKIPPED, TRAPS
from webanalytics.runs.frames.schema import frame_of


class Case(NamedTuple):
    """One rule: a site where it speaks of the given pages, and one where it does not speak."""

    trigger: wa.Audit
    pages: set[str]
    near_miss: wa.Audit
    evidence: str = ""


def chain(length: int) -> wa.Audit:
    """A site in which each page links to the next alone."""
    pages = {"/": ["/1", "/2"]} | {f"/{place}": [f"/{place + 1}", "/"] for place in range(1, length)}
    return crawl(pages)


def canonical(path: str) -> dict[str, Any]:
    return {"canonical": at(path), "canonicals": [{"href": at(path), "url": at(path)}]}


def checked(url: str, verdict: str, status: int | None, kind: str = "external") -> dict[str, Any]:
    row = {"url": at(url), "kind": kind, "verdict": verdict, "http_status": status}
    return {"checked": frame_of(CHECKED, [row])}


def series(*more: dict[str, Any], linked: bool = True, **changes: Any) -> wa.Audit:
    """Three pages of a series, which name each other as next and previous."""
    anchors = {path: [link(path, "Next")] if linked else [] for path in ("/list/2", "/list/3")}
    pages = {
        "/list": [*anchors["/list/2"], link("/list/2", kind="next", position="head")],
        "/list/2": [
            *anchors["/list/3"],
            link("/list", "Back"),
            link("/list/3", kind="next", position="head"),
            link("/list", kind="prev", position="head"),
        ],
        "/list/3": [link("/list/2", kind="prev", position="head")],
    }
    return crawl(pages, *more, page("/list/3", **changes), starts=["/list"])


GROUP = {"hreflangs": alternates(en="/en", de="/de", fr="/fr", x_default="/en")}
PAIR = {"hreflangs": alternates(en="/en", de="/de")}
HALF = {"hreflangs": alternates(en="/en", fr="/fr")}
OTHER = "https://other.example/x"

CASES: dict[str, Callable[[], Case]] = {
    "page_deep": lambda: Case(chain(8), {"/5", "/6", "/7"}, chain(4), f"4 clicks. Found on {HOST}/4"),
    "page_very_deep": lambda: Case(chain(9), {"/8", "/9"}, chain(7), f"7 clicks. Found on {HOST}/7"),
    "no_path_from_start": lambda: Case(
        crawl({"/": [link("/a", rel=1)], "/a": ["/b"], "/b": ["/a", "/"]}),
        {"/a", "/b"},
        crawl({"/": ["/a"], "/a": ["/b"], "/b": ["/a", "/"], "/orphan": []}),
        f"Not reached from the start. Linked from {HOST}/",
    ),
    "one_inlink": lambda: Case(
        crawl({"/": [link("/a", "Tea"), link("/a", "Tea"), "/b"], "/a": ["/b"]}),
        {"/a"},
        crawl({"/": ["/a", "/b"], "/a": ["/", "/b"], "/b": ["/a"]}),
        f'Linked from {HOST}/ ("Tea", 2 links).',
    ),
    "crawl_trap": lambda: Case(
        crawl(
            {"/": ["/calendar/1"], "/calendar/1": ["/calendar/2"]},
            traps=frame_of(
                TRAPS,
                [
                    {
                        "pattern": "/calendar/{number}",
                        "fetched": 30,
                        "skipped": 900,
                        "example": at("/calendar/1"),
                        "evidence": "Its pages are nearly equal.",
                    }
                ],
            ),
        ),
        {"/calendar/1"},
        crawl({"/": ["/calendar/1"], "/calendar/1": ["/calendar/2"]}),
        "/calendar/{number}: 30 fetched, 900 left out. Its pages are nearly equal.",
    ),
    "soft_404": lambda: Case(
        crawl({"/": [link("/gone", "Old")]}, page("/gone", title="Oops"), soft_404=frozenset([at("/gone")])),
        {"/gone"},
        crawl({"/": ["/gone"]}, failed("/gone", "status", status=404), soft_404=frozenset([at("/gone")])),
        f'HTTP 200, titled "Oops". Linked from {HOST}/ ("Old").',
    ),
    "external_links_broken": lambda: Case(
        crawl({"/": [link(OTHER, "Other"), link(OTHER, "Other")]}, **checked(OTHER, "gone", 404)),
        {"/"},
        crawl({"/": [link(OTHER, "Other")]}, **checked(OTHER, "blocked", 403)),
        f'{OTHER} answers HTTP 404 ("Other", 2 links)',
    ),
    "broken_anchor": lambda: Case(
        crawl(
            {"/": [link("/a", "Tea", fragment="gone", times=2), link("/a", fragment="here"), "/a"], "/a": []},
            places={"/a": ["here"]},
        ),
        {"/"},
        crawl(
            {"/": [link("/a", "Tea", fragment="gone"), link("/b", fragment="%C3%A4")]}, places={"/b": ["ä"]}
        ),
        f'{HOST}/a#gone ("Tea", 2 links)',
    ),
    "links_to_noindex": lambda: Case(
        crawl({"/": [link("/a", "Tea")], "/a": ["/a"]}, page("/a", robots="noindex")),
        {"/"},
        crawl({"/": [link("/a", "Tea", rel=1)], "/a": ["/a"]}, page("/a", robots="noindex")),
        f'{HOST}/a ("Tea")',
    ),
    "links_to_canonicalised": lambda: Case(
        crawl({"/": [link("/a?x", "Tea")], "/a": []}, page("/a?x", **canonical("/a"))),
        {"/"},
        crawl({"/": [link("/a", "Tea")], "/a": []}, page("/a", **canonical("/a"))),
        f'{HOST}/a?x ("Tea")',
    ),
    "links_to_blocked": lambda: Case(
        crawl(
            {"/": [link("/private", "Private"), link("/admin", "Admin")]},
            failed("/private", "robots"),
            page("/admin"),
            skipped=frame_of(SKIPPED, [{"url": at("/admin"), "reason": "robots"}]),
        ),
        {"/"},
        crawl(
            {"/": [link("/private", "Private", rel=1), link("/admin", "Admin")]},
            failed("/private", "robots"),
            skipped=frame_of(SKIPPED, [{"url": at("/admin"), "reason": "depth"}]),
        ),
        f'{HOST}/private ("Private")',
    ),
    "link_text_for_several_pages": lambda: Case(
        crawl({"/": [link("/a", "Lanterns "), link("/b", "lanterns"), link("/c", "Oil")]}),
        {"/"},
        crawl(
            {
                "/": [
                    *(link("/a", "Lanterns"), link("/old", "Lanterns"), link("/a", "2"), link("/b", "2")),
                    *(link("/b", "here"), link("/a", "here"), link(OTHER, "Oil"), link("/b", "Oil")),
                    *(link("/b", "Reply"), link("/a", "Reply", rel=1)),
                ],
                "/old": [link("/a", kind="redirect")],
            },
            moved("/old", "/a"),
            page("/", generic_links=[{"href": "/a", "text": "Here"}]),
        ),
        f'"lanterns" leads to {HOST}/a and {HOST}/b.',
    ),
    "pagination_failing": lambda: Case(
        series(failed("/list/2", "status", status=404)),
        {"/list", "/list/3"},
        series(),
        f"{HOST}/list/2 answers HTTP 404",
    ),
    "pagination_noindex": lambda: Case(
        series(robots="noindex"), {"/list/3"}, series(page("/list", robots="noindex")), "It comes after"
    ),
    "pagination_canonical_first": lambda: Case(
        series(**canonical("/list")),
        {"/list/3"},
        series(**canonical("/all")),
        f"The canonical is {HOST}/list, an earlier page of the series.",
    ),
    "pagination_unlinked": lambda: Case(
        series(linked=False),
        {"/list", "/list/2", "/list/3"},
        series(),
        f"No page has a link to {HOST}/list/2.",
    ),
    "pagination_loop": lambda: Case(
        crawl(
            {"/": [link("/1", kind="next")], "/1": [link("/2", kind="next")], "/2": [link("/1", kind="next")]}
        ),
        {"/1"},
        series(),
        f"{HOST}/1 → {HOST}/2 → {HOST}/1",
    ),
    "redirect_to_canonicalised": lambda: Case(
        crawl({"/": ["/a"], "/a": [link("/b", kind="redirect")]}, moved("/a", "/b", **canonical("/a"))),
        {"/a"},
        crawl({"/": ["/a"], "/a": [link("/b", kind="redirect")]}, moved("/a", "/b")),
        f"{HOST}/a redirects to {HOST}/b, whose canonical is {HOST}/a again.",
    ),
    "hreflang_incomplete": lambda: Case(
        crawl({"/": []}, page("/en", **GROUP), page("/de", **GROUP), page("/fr", **HALF)),
        {"/fr"},
        crawl({"/": []}, page("/en", **GROUP), page("/de", **GROUP), page("/fr", **GROUP)),
        f"Names 2 of the 3 pages of its group: without {HOST}/de",
    ),
    "hreflang_other_language": lambda: Case(
        crawl({"/": []}, page("/en", **PAIR), page("/de", lang="de", language="en")),
        {"/de"},
        crawl({"/": []}, page("/en", **PAIR), page("/de", lang="en", language="de")),
        f'Called "de" by {HOST}/en, but the text is in "en".',
    ),
}


@pytest.mark.parametrize("rule", CASES)
def test_the_rule_speaks_of_what_it_should_and_of_nothing_else(rule: str) -> None:
    case = CASES[rule]()
    spoken = found(case.trigger, rule)
    assert set(spoken) == case.pages
    assert case.evidence in next(iter(spoken.values()))
    assert found(case.near_miss, rule) == {}


@pytest.mark.parametrize("rule", CASES)
def test_the_rule_says_how_it_measures(rule: str) -> None:
    declared = RULES[rule]
    assert declared.measured.endswith(".")
    assert declared.source


@pytest.mark.parametrize("rule", [name for name in CASES if "crawl_depth" in RULES[name].columns])
def test_rules_of_a_crawl_are_not_tried_without_one(rule: str) -> None:
    audit = wa.Audit(CASES[rule]().trigger.raw)
    assert "crawl_depth" in audit.issues.attrs["webanalytics"]["rules_not_tried"][rule]
    assert "crawl_depth" in LACKED


def test_links_that_were_not_checked_are_no_verdict() -> None:
    for links, is_tried in ((1, False), (0, True)):  # of a site that leads nowhere else none is broken
        audit = crawl({"/": []}, page("/", external_links=links, subdomain_links=0))
        not_tried = audit.issues.attrs["webanalytics"]["rules_not_tried"]
        assert ("external_links_broken" not in not_tried) == is_tried


def test_a_host_that_does_not_exist_is_a_broken_link() -> None:
    audit = crawl({"/": [link(OTHER, "Other")]}, **checked(OTHER, "gone", None))
    assert found(audit, "external_links_broken") == {"/": f'{OTHER} does not answer ("Other")'}


def test_broken_links_inside_the_site_name_anchors_and_counts() -> None:
    pages = {"/": [link("/a", "Tea"), link("/a", "Green tea"), link("/b", "B")]}
    audit = crawl(pages, failed("/a", "status", status=404), moved("/b", "/c"))
    assert found(audit, "links_to_failing_pages") == {
        "/": f'{HOST}/a answers HTTP 404 ("Tea", "Green tea", 2 links)'
    }
    assert found(audit, "links_to_redirects") == {"/": f'{HOST}/b redirects to {HOST}/c ("B")'}


def test_orphans_say_how_they_are_known() -> None:
    pages = {"/": [link("/a", kind="canonical")], "/a": [], "/b": []}
    audit = crawl(pages, sitemap=sitemap("/b"))
    assert f"It is known from the canonical of {HOST}/." in found(audit, "no_inlinks")["/a"]
    assert found(audit, "sitemap_orphan") == {"/b": "None of the 3 pages of example.org links to it."}
    assert found(crawl(pages, stopped="It reached `max_pages`."), "no_inlinks") == {}


def test_a_page_is_told_of_at_one_depth_alone() -> None:
    audit = chain(14)
    told = [set(found(audit, rule)) for rule in ("page_deep", "page_very_deep", "no_path_from_start")]
    assert [len(pages) for pages in told] == [3, 4, 3]
    assert not told[0] & told[1]
    assert not told[1] & told[2]
    judged = audit.with_profile(thresholds={"page_deep": 5})
    assert set(found(judged, "page_deep")) == {"/7"}


def test_pages_that_link_from_one_section_are_named_by_it() -> None:
    pages = {"/": [f"/docs/{place}" for place in range(5)]}
    pages |= {f"/docs/{place}": [link("/gone", "Gone")] for place in range(5)}
    audit = crawl(pages, page("/gone", title="Oops"), soft_404=frozenset([at("/gone")]))
    assert found(audit, "soft_404")["/gone"].endswith(f"and 2 more, all below {HOST}/docs/.")


def test_traps_speak_of_a_page_each_and_say_what_robots_txt_may_close() -> None:
    kinds = {"/1": "calendar", "/2": "repeating path", "/3": "parameter"}
    rows = [
        {
            "pattern": path,
            "kind": kind,
            "fetched": 2,
            "skipped": 7,
            "example": OTHER + path,
            "evidence": "Said.",
        }
        for path, kind in kinds.items()
    ]
    linked = {"/": ["/a"], "/a": [link(OTHER + path) for path in kinds]}
    audit = crawl(linked, traps=frame_of(TRAPS, rows))
    told = {"/a": "/1: 2 fetched, 7 left out. Said. robots.txt may close it."}
    assert found(audit, "crawl_trap") == told | {"/": "/2: 2 fetched, 7 left out. Said."}
    assert [finding.value for finding in RULES["crawl_trap"].find(audit.site, None)] == [9, 9]


def test_links_of_pages_that_are_not_in_the_audit_are_of_no_page_in_it() -> None:
    links = [link("/gone", "Gone"), link("/gone", kind="next"), link("/z", kind="next")]
    whole = crawl({"/": links, "/a": ["/"]}, failed("/gone", "status", status=404), page("/z"))
    part = wa.Audit(whole.raw.iloc[1:].reset_index(drop=True), whole.origin)
    for rule in ("links_to_failing_pages", "pagination_failing", "pagination_unlinked"):
        assert [*RULES[rule].find(part.site, None)] == []
        assert set(found(whole, rule)) == {"/"}


def test_a_text_for_many_pages_names_two_and_counts_the_others() -> None:
    audit = crawl({"/": [link(f"/{letter}", "Tea") for letter in "abcd"]})
    assert found(audit, "link_text_for_several_pages") == {
        "/": f'"tea" leads to {HOST}/a and {HOST}/b and 2 more.'
    }


def test_a_series_is_known_by_links_to_the_next_page_alone() -> None:
    audit = crawl({"/": [link("/2", kind="next"), "/2"], "/2": []}, page("/2", robots="noindex"))
    assert found(audit, "pagination_noindex") == {"/2": f"It comes after {HOST}/."}
    back = crawl({"/": [], "/2": [link("/", kind="prev")]}, starts=("/2",))
    assert found(back, "pagination_unlinked") == {"/2": f"No page has a link to {HOST}/."}


@pytest.mark.parametrize(("address", "anchor", "more"), [(100, 40, ""), (101, 41, "…")])
def test_long_addresses_and_anchors_are_cut(address: int, anchor: int, more: str) -> None:
    path, text = "/".ljust(address - len(HOST), "a"), "T" * anchor
    audit = crawl({"/": [link(path, text)]}, failed(path, "status", status=404))
    assert found(audit, "links_to_failing_pages") == {
        "/": f'{at(path)[:100]}{more} answers HTTP 404 ("{text[:40]}{more}")'
    }


def test_a_circle_of_many_parts_is_shown_by_its_first_and_says_that_there_are_more() -> None:
    site = crawl(
        {"/": [link("/0", kind="next")]}
        | {f"/{part}": [link(f"/{(part + 1) % 6}", kind="next")] for part in range(6)}
    )
    (finding,) = RULES["pagination_loop"].find(site.site, None)
    shown = [f"{HOST}/{part}" for part in range(4)]
    assert (finding.value, finding.evidence) == (6, " → ".join([*shown, "…", f"{HOST}/0"]))


def test_a_page_that_a_crawl_did_not_fetch_since_no_link_leads_to_it_is_named() -> None:
    pages = {
        "/": ["/list"],
        "/list": [link("/list/2", kind="next"), link(OTHER, kind="next"), link("/all", kind="next"), "/all"],
    }
    assert found(crawl(pages), "pagination_unlinked") == {"/list": f"No page has a link to {HOST}/list/2."}


def test_a_series_that_is_closed_as_a_whole_loses_nothing() -> None:
    closed = [page(path, robots="noindex") for path in ("/list", "/list/2")]
    assert found(series(*closed, robots="noindex"), "pagination_noindex") == {}
    assert set(found(series(closed[1], robots="noindex"), "pagination_noindex")) == {"/list/2", "/list/3"}


def test_pages_of_a_series_may_say_of_themselves_what_those_before_them_say() -> None:
    """https://developers.google.com/search/docs/specialty/ecommerce/pagination-and-incremental-page-loading"""
    same: dict[str, Any] = {
        "title": "All lamps, page by page",
        "description": "Lamps of tin and of brass.",
        "headings": [{"level": "h1", "text": "All lamps"}],
    }
    rules = ("title_duplicate", "description_duplicate", "h1_duplicate")
    listed = [page(path, **same) for path in ("/list", "/list/2")]
    audit = series(*listed, **same)
    assert [found(audit, rule) for rule in rules] == [{}, {}, {}]
    audit = series(*listed, page("/other", **same), **same)
    assert [set(found(audit, rule)) for rule in rules] == [{"/list", "/other"}] * 3
    numbered = [page("/"), *(page(f"/page/{n}", **same) for n in (1, 2))]  # no lists, but pages like others
    assert [set(found(crawl({}, *numbered), rule)) for rule in rules] == [{"/page/1", "/page/2"}] * 3
    later = [page(f"/lamps{path}", **same) for path in ("/", "/page/2/", "/page/3/", "/?brass=1&page=2")]
    named = [page(f"/lamps{path}index.html", **same) for path in ("/", "/page/2/")]
    assert [found(crawl({}, *named), rule) for rule in rules] == [{}, {}, {}]
    assert [found(crawl({}, *later[:3]), rule) for rule in rules] == [{}, {}, {}]
    assert [set(found(crawl({}, *later), rule)) for rule in rules] == [
        {"/lamps/", "/lamps/?brass=1&page=2"}
    ] * 3
