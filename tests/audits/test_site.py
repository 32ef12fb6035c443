"""Pages as a site: addresses, links, and what sites tell robots."""

from __future__ import annotations

import time

import pytest

from tests.audits.sites import HOST, failed, moved, page, site
from tests.effort import effort_since
from webanalytics.audits.directives.languages import LANGUAGES, REGIONS, hreflang_problem
from webanalytics.audits.directives.robots import robots_problems
from webanalytics.audits.graph.site_links import Addresses, inlinks, listed, normal, origin
from webanalytics.fetching.robots_rules import LARGEST

GOOD = "User-agent: *\nDisallow: /cart/\n\nSitemap: https://example.org/sitemap.xml\n"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org", "https://example.org/"),
        ("HTTPS://EXAMPLE.ORG/a", "https://example.org/a"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("http://example.org:80/a", "http://example.org/a"),
        ("https://example.org/a#b", "https://example.org/a"),
        ("https://example.org/%c3%a4", "https://example.org/ä"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        (" https://example.org/a ", "https://example.org/a"),
    ],
)
def test_addresses_that_are_the_same(one: str, other: str) -> None:
    assert normal(one) == normal(other) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/a", "https://example.org/a/"),
        ("https://example.org/a", "https://example.org/A"),
        ("https://example.org/a", "http://example.org/a"),
        ("https://example.org/a", "https://www.example.org/a"),
        ("https://example.org/a", "https://example.org/a?b=c"),
        ("https://example.org/?a=1&b=2", "https://example.org/?b=2&a=1"),
        ("https://example.org/", "https://example.org:8443/"),
    ],
)
def test_addresses_that_are_different(one: str, other: str) -> None:
    assert normal(one) != normal(other)


@pytest.mark.parametrize("text", ["", "/a", "mailto:a@example.org", "javascript:0", "https://", None, 5])
def test_what_is_no_address(text: object) -> None:
    assert normal(text) is None
    assert origin(text) is None


def test_evidence_names_few_addresses() -> None:
    assert listed([]) == ""
    assert listed(["a", "b", "c"]) == "a, b, c"
    assert listed((str(number) for number in range(5)), 5_000) == "0, 1, 2 and 4,997 more"
    assert len(listed(["x" * 10_000])) < 300


def test_an_address_that_was_asked_for_speaks_before_one_where_another_ended() -> None:
    urls = [f"{HOST}/a", f"{HOST}/b", f"{HOST}/c"]
    known = Addresses(urls, [f"{HOST}/b", f"{HOST}/c", f"{HOST}/c"], [True] * 3)
    target = known.find(f"{HOST}/b")
    assert target is not None
    assert (target.row, target.redirected, known.page(target)) == (1, True, 2)
    assert [known.first(row) for row in range(3)] == [True, False, True]
    assert known.find(f"{HOST}/d") is None
    assert known.find("nothing") is None


def test_a_page_that_was_read_speaks_before_one_that_was_not() -> None:
    known = Addresses([f"{HOST}/a"] * 2, [f"{HOST}/a"] * 2, [False, True])
    assert [known.first(row) for row in range(2)] == [False, True]


def test_links_are_not_followed_from_pages_that_repeat() -> None:
    known = Addresses([f"{HOST}/a", f"{HOST}/a", f"{HOST}/b"], [None] * 3, [True] * 3)
    found = inlinks(known, [[f"{HOST}/b"], [f"{HOST}/b"], None])
    assert found is not None
    assert found.counts == [0, 0, 1]
    assert found.sources == [[], [], [0]]


def test_faults_of_what_a_page_names() -> None:
    rows = (
        moved("/a", "/b"),
        failed("/c", "status", status=410),
        failed("/d", "timeout", seconds=3),
        failed("/e", "not_html", content_type="application/pdf"),
        failed("/f", "robots"),
        failed("/g", "status", status=404, hops=("/h",)),
    )
    tried = site(*rows, page("/i"))
    faults = {}
    for name in "abcdefghi":
        target = tried.find(f"{HOST}/{name}")
        assert target is not None
        faults[name] = tried.fault(target)
    assert faults == {
        "a": f"redirects to {HOST}/b",
        "b": "",
        "c": "answers HTTP 410",
        "d": "does not answer in time",
        "e": "",
        "f": "",
        "g": "answers HTTP 404",
        "h": "answers HTTP 404",
        "i": "",
    }


def test_codes_of_hreflang() -> None:
    # ISO 639-1 has 183 codes, ISO 3166-1 has 249; of these the languages ended, changed or reserved are none.
    assert (len(LANGUAGES), len(REGIONS)) == (183, 249)
    assert {"sh", "iw", "in", "jp", "cz"}.isdisjoint(LANGUAGES)
    assert {"UK", "EU", "XK", "AN", "SU"}.isdisjoint(REGIONS)


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("en", ""),
        ("EN-gb", ""),
        ("zh-Hans", ""),
        ("zh-Hant-HK", ""),
        ("X-Default", ""),
        ("", "language"),
        ("gb", "language"),
        ("english", "language"),
        ("en_GB", "language"),
        ("eng", "language"),
        ("x-standard", "language"),
        ("en-EU", "region"),
        ("en-", "region"),
        ("en-GB-GB", "region"),
        ("es-419", "region"),
        ("de-Hans-XX", "region"),
    ],
)
def test_values_of_hreflang(code: str, part: str) -> None:
    assert hreflang_problem(code) == part


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "",
        "User-agent: *\nDisallow: /cart\n",
        GOOD.encode(),
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace("\n", "\r\n"),
        GOOD + "Crawl-delay: 2\n# a remark: here\nAllow: /*.css$ # and here\n",
        GOOD + "User-agent: badbot\nUser-agent: worsebot\nDisallow: /\n",
        "user-agent : *\ndisallow : /\nALLOW: /public/\nsitemap: http://example.org/s.xml",
        GOOD + "Host: example.org\nClean-param: ref /\n",
        GOOD + "Disallow:\n",
    ],
)
def test_a_good_robots_txt_has_no_problems(text: str | bytes) -> None:
    assert robots_problems(text) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<!DOCTYPE html><html><body>404</body></html>", "It is a web page, not a plain text of rules."),
        (b"\x1f\x8b\x08\x00\x00\x00", "It is not a text in UTF-8."),
        ("\ufffd" * 30, "It is not a text in UTF-8."),
        (GOOD + "no rule at all\n", 'Line 5 cannot be read: "no rule at all".'),
        (GOOD + "Dissallow: /a\n", 'Line 5 has an unknown directive: "Dissallow".'),
        (GOOD + "Noindex: /a\n", 'Line 5 has "Noindex", which no search engine reads here.'),
        ("Disallow: /a\n" + GOOD, 'Line 1 stands before any User-agent: "Disallow".'),
        (GOOD + "Disallow: cart\n", 'Line 5 has a path that does not start with "/": "cart".'),
        (GOOD + "Crawl-delay: 60\n", "Line 5 asks for a crawl-delay of 60 seconds."),
        (GOOD + "Crawl-delay: soon\n", 'Line 5 has a crawl-delay that is not a number: "soon".'),
        (GOOD + "Crawl-delay: -1\n", 'Line 5 has a crawl-delay that is not a number: "-1".'),
        (GOOD + "Crawl-delay: nan\n", 'Line 5 has a crawl-delay that is not a number: "nan".'),
        (GOOD + "User-agent:\n", "Line 5 names no user agent."),
        (GOOD + "Sitemap: /s.xml\n", 'Line 5 names a sitemap without its full address: "/s.xml".'),
        (GOOD + "Disallow: /\n", "It closes the whole site to all robots."),
        (
            GOOD + "User-agent: Googlebot\nUser-agent: a\nDisallow: /\n",
            "It closes the whole site to googlebot.",
        ),
        (
            GOOD + "# remark\n" * (LARGEST // 9 + 1),
            "It is larger than 500 KiB; search engines ignore what comes after that.",
        ),
    ],
)
def test_problems_of_a_robots_txt(text: str | bytes, problem: str) -> None:
    assert robots_problems(text) == [problem]


@pytest.mark.parametrize(
    ("text", "closed_to"),
    [
        # "Rules other than allow, disallow, and user-agent are ignored by the robots.txt parser": one group
        ("User-agent: *\nCrawl-delay: 5\nUser-agent: Googlebot\nDisallow: /", ["all robots", "googlebot"]),
        # its product token alone counts
        ("User-agent: Googlebot/2.1\nDisallow: /", ["googlebot"]),
        # groups of one name are one, whichever comes first
        ("User-agent: *\nAllow: /tea\n\nUser-agent: *\nDisallow: /", []),
        # the longest path counts, and of two as long the one that allows
        ("User-agent: *\nDisallow: /*\nAllow: /", ["all robots"]),
        ("User-agent: *\nDisallow: *\nAllow: /", []),
        # no address begins so
        ("User-agent: *\nDisallow: /\nAllow: tea", ["all robots"]),
        # in the list of frequent misspellings that Google's parser accepts
        ("User-agent: *\nDisalow: /", ["all robots"]),
    ],
)
def test_what_closes_a_site_is_what_crawlers_obey(text: str, closed_to: list[str]) -> None:
    """RFC 9309, "How Google interprets the robots.txt specification", and Google's parser of it."""
    told = [problem for problem in robots_problems(f"{text}\n") if problem.startswith("It closes")]
    assert told == [f"It closes the whole site to {name}." for name in closed_to]


def test_many_bad_lines_are_few_sentences() -> None:
    problems = robots_problems(GOOD + "x" * 500 + "\n" + "nothing\n" * 10_000)
    assert len(problems) == 6
    assert problems[-1] == "There are 9,996 more lines of that kind."
    assert max(map(len, problems)) < 120


@pytest.mark.parametrize(
    "text", ["a:" + " " * 400_000 + "x", "a" + " " * 400_000 + "x", " " * 400_000, ":" * 400_000]
)
def test_long_lines_of_a_robots_txt_take_no_time(text: str) -> None:
    began = time.process_time()
    robots_problems(text)
    assert effort_since(began) < 1
