"""Rules on robots.txt, files of sitemaps and AI services: each with what triggers it and a near miss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import pytest

from tests.audits.sites import HOST, failed, page, site
from tests.effort import Steps
from webanalytics.audits.directives.robots import robots_problems
from webanalytics.audits.rules import RULES, robots
from webanalytics.audits.site import Site
from webanalytics.fetching.robots import RobotsCopy
from webanalytics.fetching.robots_rules import RuleSet
from webanalytics.runs.frames.schema import SITEMAP_FIELDS

FILE = f"{HOST}/sitemap.xml"
TODAY = datetime(2026, 3, 1, 12, tzinfo=UTC)


def with_robots(pages: Site, text: str | None, status: int = 200, host: str = HOST) -> Site:
    pages.robots_files = {host: RobotsCopy(text, status)}
    return pages


def listed(*entries: dict[str, Any], files: list[dict[str, Any]] | None = None, pages: int = 3) -> Site:
    """An audit of some pages whose sitemap has these entries."""
    frame = pd.DataFrame(
        [{"sitemap": FILE, "status": "ok", **entry} for entry in entries],
        columns=[field.name for field in SITEMAP_FIELDS],
        dtype=object,
    )
    facts = {"url": FILE, "source": "given", "entries": 3, "sitemaps": 0, "bytes": 100, "error_key": None}
    frame.attrs["webanalytics"] = {
        "operation": "sitemap",
        "date": TODAY.isoformat(),
        "sitemaps": [facts | file for file in files or [{}]],
    }
    made = site(page("/"), *(page(f"/{number}") for number in range(1, pages)))
    made.sitemap = frame
    return made


def at(path: str, **cells: Any) -> dict[str, Any]:
    return {"url": f"{HOST}{path}", **cells}


SCRIPTS = {"resources": [f"{HOST}/code/a.js", f"{HOST}/look.css"]}
IMAGES = {"imgTags": [{"src": f"{HOST}/img/a.png"}, {"src": "https://cdn.example/b.png"}]}
CLOSED = "User-agent: *\nDisallow: /a\nUser-agent: googlebot\nDisallow: /b\nUser-agent: Bing\nDisallow: /"
DAY = TODAY.date().isoformat()
LATER = (TODAY + timedelta(days=3)).date().isoformat()

CASES: dict[str, Callable[[], tuple[Site, set[int], Site]]] = {
    "blocked_for_googlebot": lambda: (
        with_robots(site(page("/a"), page("/b")), CLOSED),
        {1},
        with_robots(site(page("/b")), CLOSED.replace("googlebot", "googlebot-news")),
    ),
    "blocked_for_bingbot": lambda: (
        with_robots(site(page("/a"), page("/b")), CLOSED),
        {0},
        with_robots(site(page("/a"), page("/b")), CLOSED.replace("*", "bingo")),
    ),
    "blocked_resources": lambda: (
        with_robots(site(page("/a"), page("/b", **IMAGES)), "User-agent: *\nDisallow: /img/*.png$"),
        {1},
        with_robots(site(page("/b", **IMAGES)), "User-agent: *\nDisallow: /img/*.gif$\nDisallow: /b.png"),
    ),
    "content_signal_faults": lambda: (
        with_robots(site(page("/a"), page("/b")), "User-agent: *\nContent-Signal: ai-train=never"),
        {0},
        with_robots(site(page("/a")), "User-agent: *\nContent-Signal: search=yes, ai-train=no, use=full"),
    ),
    "content_by_scripts": lambda: (
        site(page("/a", wordCount=0, scripts=2), page("/b")),
        {0},
        site(page("/a", wordCount=0, scripts=0), page("/b", wordCount=1, scripts=9)),
    ),
    "sitemap_too_large": lambda: (
        listed(at("/1"), files=[{"entries": 50_000, "sitemaps": 1}]),
        {0},
        listed(at("/1"), files=[{"entries": 50_000, "bytes": 52_428_800}]),
    ),
    "sitemap_other_host": lambda: (
        listed(at("/1"), at("/2", sitemap="https://www.example.org/sitemap.xml")),
        {2},
        with_robots(
            listed(at("/2", sitemap="https://www.example.org/s.xml")),
            "Sitemap: https://www.example.org/s.xml",
        ),
    ),
    "sitemap_other_scheme": lambda: (
        listed(at("/1", sitemap="http://example.org/sitemap.xml")),
        {1},
        listed(at("/1"), at("/2", sitemap="https://other.example/s.xml")),
    ),
    "sitemap_repeated": lambda: (
        listed(at("/1"), at("/2"), at("/1", sitemap=f"{HOST}/news.xml")),
        {1},
        listed(at("/1"), at("/2")),
    ),
    "sitemap_date_in_future": lambda: (
        listed(at("/1", lastmod=LATER), at("/2", lastmod="2026-03-02T11:00:00Z")),
        {1},
        listed(at("/2", lastmod="2026-03-02T12:00:00Z"), at("/1", lastmod="soon")),
    ),
    "sitemap_date_invalid": lambda: (
        listed(at("/1", lastmod="31.12.2025"), at("/2", lastmod="2026-02-30")),
        {1, 2},
        listed(at("/1", lastmod="2026-01-01T10:00+01:00"), at("/2", lastmod="2026-01"), at("/")),
    ),
    "sitemap_date_always_today": lambda: (
        listed(*(at(f"/{number}", lastmod=f"{DAY}T10:00:00Z") for number in range(20))),
        {0},
        listed(*(at(f"/{n}", lastmod=DAY if n else "2026-02-28") for n in range(25))),
    ),
    "sitemap_not_in_robots": lambda: (
        with_robots(listed(at("/1")), "User-agent: *\nSitemap: https://example.org/other.xml"),
        {0},
        with_robots(
            listed(at("/1"), files=[{}, {"url": f"{HOST}/2.xml", "source": "index"}]), f"Sitemap: {FILE}"
        ),
    ),
    "sitemap_extension_faults": lambda: (
        listed(at("/1", extension_faults="video without title"), at("/2", extension_faults="")),
        {1},
        listed(at("/1", images=3, extension_faults="")),
    ),
}


def found(name: str, pages: Site) -> set[int]:
    rule = RULES[name]
    findings = list(rule.find(pages, rule.threshold))
    assert len({finding.row for finding in findings}) == len(findings)
    return {finding.row for finding in findings}


@pytest.mark.parametrize("name", CASES)
def test_a_rule_speaks_and_keeps_silent(name: str) -> None:
    trigger, rows, near_miss = CASES[name]()
    assert found(name, trigger) == rows
    assert found(name, near_miss) == set()


@pytest.mark.parametrize(
    ("name", "origin"), [("other_host", "https://other.example"), ("other_scheme", "http://example.org")]
)
def test_a_sitemap_that_lists_no_page_of_the_audit_is_told_by_its_file(name: str, origin: str) -> None:
    entries = [at("", url=f"{origin}/{number}") for number in range(3)]
    (finding,) = RULES[f"sitemap_{name}"].find(listed(*entries), None)
    assert (finding.row, finding.evidence) == (0, f"{FILE} lists addresses of {origin} alone: 3.")
    for near in (listed(*entries, at("/unknown")), listed(*entries, at("/1"))):
        assert not list(RULES[f"sitemap_{name}"].find(near, None))


@pytest.mark.parametrize("file", [{"bytes": 52_428_801}, {"error_key": "too_large"}])
def test_a_file_over_50_mib_is_too_large(file: dict[str, Any]) -> None:
    """https://www.sitemaps.org/protocol.html: no more than 50,000 URLs and 52,428,800 bytes."""
    assert found("sitemap_too_large", listed(at("/1"), files=[{"bytes": 52_428_800}])) == set()
    tried = listed(at("/1"), files=[{"entries": 1, "bytes": 10, **file}])
    (finding,) = RULES["sitemap_too_large"].find(tried, 50_000)
    assert (finding.value, finding.evidence) == (file.get("bytes", 10), f"{FILE} has more than 50 MB.")


@pytest.mark.parametrize(
    ("second", "where"), [(FILE, f"{FILE}, 2 times"), (f"{HOST}/news.xml", f"{FILE}, {HOST}/news.xml")]
)
def test_a_page_listed_again_is_told_with_the_files(second: str, where: str) -> None:
    (finding,) = RULES["sitemap_repeated"].find(listed(at("/1"), at("/1", sitemap=second)), None)
    assert (finding.value, finding.evidence) == (2, f"Listed in {where}.")


def test_scripts_and_style_sheets_are_resources_too() -> None:
    closed = "User-agent: *\nDisallow: /code/\nDisallow: /look.css"
    (finding,) = RULES["blocked_resources"].find(with_robots(site(page("/b", **SCRIPTS)), closed), None)
    assert finding.value == 2
    assert f"{HOST}/code/a.js" in finding.evidence


def test_evidence_names_the_line() -> None:
    (finding,) = RULES["blocked_for_googlebot"].find(CASES["blocked_for_googlebot"]()[0], None)
    assert (finding.value, finding.evidence) == (None, "robots.txt, line 4: Disallow: /b")


def test_a_page_that_is_closed_to_several_is_told_once() -> None:
    both = "User-agent: googlebot\nUser-agent: bingbot\nDisallow: /b"
    rules = ("blocked_for_googlebot", "blocked_for_bingbot", "blocked_by_robots")
    tried = with_robots(site(page("/a"), page("/b")), both)
    assert [found(name, tried) for name in rules] == [{1}, set(), set()]
    closed = with_robots(site(failed("/b", "robots")), "User-agent: *\nDisallow: /b")
    assert [found(name, closed) for name in rules] == [set(), set(), {0}]
    (finding,) = RULES["blocked_by_robots"].find(closed, None)
    assert finding.evidence == "robots.txt, line 2: Disallow: /b"
    (unknown,) = RULES["blocked_by_robots"].find(site(failed("/b", "robots")), None)
    assert "robots.txt" in unknown.evidence


def test_a_fault_of_robots_txt_is_of_all_pages() -> None:
    (finding,) = RULES["content_signal_faults"].find(CASES["content_signal_faults"]()[0], None)
    assert finding.whole


@pytest.mark.parametrize(("scripts", "shown"), [(1, "1 script"), (2, "2 scripts")])
def test_scripts_are_counted(scripts: int, shown: str) -> None:
    (finding,) = RULES["content_by_scripts"].find(site(page("/", wordCount=0, scripts=scripts)), None)
    assert (finding.value, finding.evidence) == (scripts, f"No main text, and {shown}.")


@pytest.mark.parametrize("status", [None, 500, 503, 429])
def test_nothing_is_said_without_a_robots_txt(status: int | None) -> None:
    for name in ("blocked_for_googlebot", "blocked_for_bingbot", "blocked_resources"):
        assert found(name, with_robots(site(page("/a", **IMAGES)), None, status)) == set()


def test_what_a_crawler_may_read_is_found_once_for_all_rules_that_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: Counter[str] = Counter()
    judged = RuleSet.decide_path

    def decide(rules: RuleSet, path: str) -> Any:
        asked[path] += 1
        return judged(rules, path)

    monkeypatch.setattr(RuleSet, "decide_path", decide)
    pages = with_robots(site(page("/a"), page("/b")), CLOSED)
    assert [found(name, pages) for name in ("blocked_for_googlebot", "blocked_for_bingbot")] == [{1}, {0}]
    assert found("blocked_by_robots", pages) == set()
    assert asked == {"/a": 2, "/b": 2}  # for Googlebot and for Bingbot


def test_nothing_of_crawlers_lowers_the_score() -> None:
    assert {rule.type for rule in robots.RULES} == {"warning"}


def test_many_names_with_many_rules_take_time_in_proportion() -> None:
    names = "".join(f"User-agent: a{number}\n" for number in range(500))
    told = f"{names}User-agent: *\nUser-agent: Bingbot\n" + "Disallow: /\n" * 500
    with Steps() as steps:
        found = robots_problems(f"{told}Sitemap: {FILE}\n")
    assert found == [f"It closes the whole site to {whom}." for whom in ("all robots", "bingbot")]
    assert steps.count < 100 * 1_000, "each line is read once, whatever stands above it"
