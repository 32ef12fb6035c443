"""Audits that have not all pages of a site: what they did not look at is neither gone nor fixed nor an orphan."""

from __future__ import annotations

import random
import signal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.runs.test_interrupts import Pressed
from webanalytics.audits.compare.fields import difference, gaps, is_noise, is_same
from webanalytics.errors import IncompleteRunWarning
from webanalytics.fetching.testing import Reply, SiteServer

OPTIONS: dict[str, Any] = {"allow_private": True, "progress": False, "retries": 0, "workers": 1}
ORPHANS = {"no_inlinks", "sitemap_orphan", "one_inlink", "no_path_from_start"}


def page(name: str, *links: str) -> bytes:
    listed = "".join(f"<a href={link}>To {link}</a> " for link in links)
    return f"<!doctype html><html lang=en><title>{name}</title><h1>{name}</h1><p>All of {name}.</p>{listed}".encode()


def chain(length: int) -> dict[str, bytes | Reply]:
    """Return a site whose pages link to the next one each; the sitemap alone knows the last."""
    pages: dict[str, bytes | Reply] = {
        f"/{number}": page(str(number), f"/{number + 1}") for number in range(length)
    }
    names = "".join(f"<url><loc>{{{{origin}}}}{path}</loc></url>" for path in ("/", *pages, "/alone"))
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{names}</urlset>'.encode()
    known: dict[str, bytes | Reply] = {
        "/": page("Home", "/0"),
        "/alone": page("Alone"),
        "/sitemap.xml": sitemap,
    }
    return known | pages


def changes(comparison: wa.Comparison, site: SiteServer) -> dict[str, str]:
    urls = (url.removeprefix(site.url) for url in comparison.pages["url"])
    return dict(zip(urls, comparison.pages["change"], strict=True))


def of(comparison: wa.Comparison, url: str) -> set[str]:
    return set(comparison.issues.loc[comparison.issues["url"] == url, "change"])


def test_pages_that_a_stopped_crawl_did_not_reach_are_not_looked_at() -> None:
    with SiteServer(chain(6)) as site:
        whole = wa.crawl(site.url, sitemap=None, **OPTIONS)
        with pytest.warns(IncompleteRunWarning):
            part = wa.crawl(site.url, sitemap=None, max_pages=3, **OPTIONS)
    unread = {f"/{number}": "unchecked" for number in range(2, 6)}
    known = {"/": "same", "/0": "same", "/1": "same"}
    for before, after in ((whole, part), (part, whole)):
        comparison = wa.compare(before, after)
        assert changes(comparison, site) == known | unread | {"/6": "unchecked"}
        assert comparison.changes.empty
        assert set(comparison.issues["change"]) == {"remaining", "unchecked"}
        assert of(comparison, f"{site.url}/4") == {"unchecked"}
        assert comparison.score.change == 0, "the pages of both are the same"
        assert comparison.summary()["points"].abs().sum() == 0
        assert comparison.links.empty
        assert comparison.depths.empty
        assert comparison.orphans.empty
        assert comparison.summary().loc[comparison.summary()["worse"] > 0].empty
        said = " ".join(repr(comparison).split())
        assert "5 pages not looked at" in said
        assert "Part of the site, the" in said
        assert "stopped at 3 of at least " in said


def test_what_a_crawl_left_out_on_purpose_is_not_removed_either() -> None:
    with SiteServer(chain(3)) as site:
        whole, near = (wa.crawl(site.url, sitemap=None, max_depth=depth, **OPTIONS) for depth in (None, 2))
    assert near.origin.crawl is not None
    assert near.origin.crawl.stopped == ""
    comparison = wa.compare(whole, near)
    assert changes(comparison, site)["/2"] == "unchecked"
    assert of(comparison, f"{site.url}/2") == {"unchecked"}
    assert set(changes(wa.compare(near, whole), site).values()) == {"same", "unchecked", "missing"}


def test_a_comparison_counts_pages_as_an_audit_does() -> None:
    """Two pages, and an address that leads nowhere both times."""
    with SiteServer(chain(1)) as site:
        audit, other = (wa.crawl(site.url, sitemap=None, **OPTIONS) for _ in range(2))
    assert "2 pages, 2 ok, 0 failed, 1 missing" in " ".join(repr(audit).split())
    comparison = wa.compare(audit, other)
    assert changes(comparison, site) == {"/": "same", "/0": "same", "/1": "missing"}
    assert "2 pages same, 1 missing" in " ".join(repr(comparison).split())
    assert comparison.parts()["Changed pages"].empty


def test_a_page_that_refuses_or_fails_is_neither_fixed_nor_removed() -> None:
    before = {"/": page("Home", "/a", "/b", "/c")} | {f"/{name}": page(name) for name in "abc"}
    after = before | {"/a": Reply(403), "/b": Reply(429), "/c": Reply(404)}
    port, found = 0, []
    for pages in (before, after):
        with SiteServer(pages, port=port) as site:
            port = int(site.url.rpartition(":")[2])
            found.append(wa.crawl(site.url, sitemap=None, **OPTIONS))
    comparison = wa.compare(*found)
    assert changes(comparison, site) == {"/c": "gone", "/a": "unchecked", "/b": "unchecked", "/": "same"}
    for name in "ab":
        assert not of(comparison, f"{site.url}/{name}") & {"fixed", "removed", "remaining", "added"}
    assert of(comparison, f"{site.url}/c") >= {"removed"}, "what was wrong on a page that is gone"
    assert not of(comparison, f"{site.url}/c") & {"fixed", "remaining", "unchecked"}
    fields = comparison.changes[comparison.changes["url"] == f"{site.url}/c"].set_index("field")
    assert fields.loc["indexability", ["before", "after"]].tolist() == ["indexable", "client error"]
    back = wa.compare(*reversed(found))
    assert not of(back, f"{site.url}/a") & {"worse", "added", "removed"}


def test_a_page_that_robots_txt_closes_leaves_the_index() -> None:
    pages: dict[str, bytes | Reply] = {"/": page("Home", "/a"), "/a": page("A")}
    port, found = 0, []
    for text in (b"User-agent: *\nAllow: /\n", b"User-agent: *\nDisallow: /a\n"):
        with SiteServer(pages | {"/robots.txt": text}, port=port) as site:
            port = int(site.url.rpartition(":")[2])
            found.append(wa.crawl(site.url, sitemap=None, **OPTIONS))
            given = wa.audit([f"{site.url}/", f"{site.url}/a"], **OPTIONS)
    expected = [
        ["/a", "indexability", "indexable", "blocked by robots.txt"],
        ["/robots.txt", "robots.txt", "User-agent: *\nAllow: /\n", "User-agent: *\nDisallow: /a\n"],
    ]
    for before, after, rows in ((found[0], found[1], expected), (found[0], given, expected[:1])):
        comparison = wa.compare(before, after)
        told = comparison.changes.assign(url=comparison.changes["url"].str.removeprefix(site.url))
        assert told.to_numpy().tolist()[: len(rows)] == rows
        assert changes(comparison, site) == {"/a": "changed", "/": "same"}
        assert "Not in the index any more: 1" in repr(comparison)
    opened = wa.compare(found[1], found[0])
    assert opened.changes["after"].tolist()[0] == "indexable"
    assert "Not in the index" not in repr(opened)


def test_an_interrupted_audit_is_judged_as_the_part_that_it_is(tmp_path: Path) -> None:
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with SiteServer(chain(6)) as site, pytest.raises(wa.AuditInterrupted) as caught:
            wa.audit(sitemap=f"{site.url}/sitemap.xml", backend=Pressed(1), **OPTIONS)
    finally:
        signal.signal(signal.SIGINT, previous)
    part = caught.value.partial
    for audit in (part, wa.load(part.save(tmp_path / "part"))):
        assert ORPHANS & set(audit.issues["rule"]) == set()
        assert "The audit was interrupted" in repr(audit)
        report = audit.report(tmp_path / "report.html").read_text("utf-8")
        assert "The audit was interrupted" in report
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.load_workbook(audit.to_excel(tmp_path / "audit.xlsx"), read_only=True)
        assert any(
            "The audit was interrupted" in str(row) for row in book["Overview"].iter_rows(values_only=True)
        )
        book.close()
    with SiteServer(chain(6), port=int(site.url.rpartition(":")[2])) as again:
        whole = wa.audit(sitemap=f"{again.url}/sitemap.xml", **OPTIONS)
    assert set(wa.compare(whole, part).pages["change"]) == {"same", "unchecked"}
    assert "sitemap_orphan" in set(whole.issues["rule"])
    assert "interrupted" not in repr(whole)


def test_a_stopped_crawl_finds_nothing_that_needs_the_whole_site() -> None:
    with SiteServer(chain(6)) as site:
        with pytest.warns(IncompleteRunWarning):
            part = wa.crawl(site.url, max_pages=3, **OPTIONS)
        whole = wa.crawl(site.url, **OPTIONS)
    assert ORPHANS & set(part.issues["rule"]) == set()
    assert "sitemap_orphan" in set(whole.issues["rule"])
    assert "The crawl stopped at 3 of at least " in " ".join(repr(part).split())


def test_of_a_selection_the_other_pages_are_not_looked_at() -> None:
    pages = {"url": ["https://a.example/", "https://a.example/b"], "html": ["<title>One", "<title>Two"]}
    audit = wa.audit(pd.DataFrame(pages), progress=False, workers=1)
    comparison = wa.compare(audit, audit.select("https://a.example/b"))
    assert comparison.pages.set_index("url")["change"].to_dict() == {
        "https://a.example/": "unchecked",
        "https://a.example/b": "same",
    }


def test_links_that_rotate_are_noise_in_the_frame_of_links_too() -> None:
    shown = ["one", "two", "three", "four", "five", "six"]
    port, audits = 0, []
    for visit, real in enumerate(([], ["/real"], ["/real"])):
        pages = {f"/{name}": page(name) for name in (*shown, "real")}
        home = page("Home", *(f"/{name}" for name in shown[2 * visit : 2 * visit + 2]), *real)
        with SiteServer(pages | {"/": home}, port=port) as site:
            port = int(site.url.rpartition(":")[2])
            starts = [f"{site.url}/", *(f"{site.url}{path}" for path in pages)]
            audits.append(wa.crawl(starts, sitemap=None, **OPTIONS))
    told = [
        wa.compare(*audits[:2], again=again).links[["change", "target"]].to_numpy().tolist()
        for again in (None, audits[2])
    ]
    assert len(told[0]) == 5
    assert told[1] == [["added", f"{site.url}/real"]]


@pytest.mark.parametrize(
    ("column", "old", "new", "same"),
    [
        ("title", "Tea  and\ncups", "Tea and cups", True),
        ("links", ["/a", "/b"], ["/b", "/a"], True),
        ("links", ["/a?utm_source=x&p=2"], ["/a?utm_source=y&p=2"], True),
        ("links", ["/a?p=1"], ["/a?p=2"], False),
        (
            "hreflangs",
            [{"lang": "de", "url": "/1"}, {"lang": "fr", "url": "/2"}],
            [{"lang": "fr", "url": "/1"}, {"lang": "de", "url": "/2"}],
            False,
        ),
        ("headings", [{"level": "h2", "text": "A"}], [{"level": "h3", "text": "A"}], False),
        ("jsonld", [{"a": 1, "b": 2}], [{"b": 2, "a": 1}], True),
        ("header:content-security-policy", "script-src 'nonce-a'", "script-src 'nonce-b'", True),
        ("header:content-security-policy", "script-src 'nonce-a'", "script-src *", False),
    ],
)
def test_what_says_the_same_is_no_change(column: str, old: Any, new: Any, same: bool) -> None:
    assert is_same(column, old, new) is same
    assert is_same(column, new, old) is same


@pytest.mark.parametrize(
    ("old", "new", "again", "noise"),
    [
        ("read 7 times", "read 8 times", "read 9 times", True),
        ("read 7 times", "seen 8 times", "seen 9 times", False),
        ("Tea 7", "Tea and cake 8", "Tea and cake 9", False),
        ("Tea", "(3) Tea", "(4) Tea", True),
        ("Tea", "(3) Tea", "(3) Tea", False),
        (["/a", "/1", "/z"], ["/a", "/2", "/z"], ["/a", "/3", "/z"], True),
        (["/a", "/b", "/1", "/z"], ["/a", "/2", "/z"], ["/a", "/3", "/z"], False),
        ([{"price": 3, "made": "1"}], [{"price": 3, "made": "2"}], [{"price": 3, "made": "3"}], True),
        ([{"price": 3, "made": "1"}], [{"price": 4, "made": "2"}], [{"price": 4, "made": "3"}], False),
    ],
)
def test_noise_is_where_a_page_differs_from_itself(old: Any, new: Any, again: Any, noise: bool) -> None:
    assert is_noise(old, new, again) is noise


def test_gaps_of_any_texts_are_bounded_and_whole() -> None:
    made = random.Random(7)
    for _ in range(300):
        old, new = ([made.choice("abcdef") for _ in range(made.randrange(12))] for _ in range(2))
        built: list[str] = []
        place = 0
        for first, end, second, until in gaps(old, new):
            assert old[first:end] != new[second:until]
            built += old[place:first] + new[second:until]
            place = end
        assert built + old[place:] == new
    assert len(list(gaps(["a", "b"] * 100_000, ["b", "a"] * 100_000))) == 1, "in no time, however they repeat"


def test_long_values_are_shown_by_what_differs() -> None:
    words = [f"word{number}" for number in range(100)]
    shown = difference(" ".join(words), " ".join([*words[:50], "new", *words[50:]]))
    assert shown == (
        "word46 word47 word48 word49 word50 word51 word52 word53",
        "word46 word47 word48 word49 new word50 word51 word52 word53",
    )
    assert difference("short", "other") == ("short", "other")
    assert difference(["/a", "/b"], ["/b", "/a"]) == (["/a", "/b"], ["/b", "/a"])


def test_a_report_shows_what_differs_and_the_frame_has_all(tmp_path: Path) -> None:
    links = "".join(f"<a href=/{number}>To page {number}</a> " for number in range(30))
    found = [
        wa.audit(
            pd.DataFrame({"url": ["https://a.example/"], "html": [f"<title>T</title>{links}{more}"]}),
            progress=False,
            workers=1,
        )
        for more in ("", "<a href=/more>More</a>")
    ]
    comparison = wa.compare(*found)
    row = comparison.changes.set_index("field").loc["links"]
    assert (len(row["before"]), len(row["after"])) == (30, 31)
    shown = comparison.parts()["Changed fields"].set_index("field").loc["links"]
    assert shown[["before", "after"]].tolist() == [[], ["https://a.example/more"]]


def test_a_report_shows_no_score_of_other_pages(tmp_path: Path) -> None:
    with SiteServer(chain(4)) as site:
        whole = wa.crawl(site.url, sitemap=None, **OPTIONS)
        with pytest.warns(IncompleteRunWarning):
            part = wa.crawl(site.url, sitemap=None, max_pages=2, **OPTIONS)
    both = whole.select(part.raw["url"]).score
    comparison = wa.compare(part, whole)
    assert (comparison.score.before, comparison.score.after) == (part.score, both)
    shown = comparison.report(tmp_path / "report.html").read_text("utf-8")
    assert ("Score, before and after" in shown) == (whole.score == both)
    assert "Part of the site, the first time: The crawl stopped at 2 of at least " in shown


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("http://a.example/{}", "https://a.example/{}"),
        ("https://a.example/{}/", "https://a.example/{}"),
        ("https://www.a.example/{}", "https://a.example/{}/"),
    ],
)
def test_a_comparison_says_that_addresses_moved_as_a_whole(before: str, after: str, tmp_path: Path) -> None:
    def audited(pattern: str, names: str) -> wa.Audit:
        urls = [pattern.format(name) for name in names]
        return wa.audit(pd.DataFrame({"url": urls, "html": [f"<title>{name}" for name in names]}))

    said = "3 of 4 addresses that are gone differ only in scheme, host or the slash at the end"
    moved = wa.compare(audited(before, "abcd"), audited(after, "abce"))
    assert set(moved.pages["change"]) == {"added", "removed"}
    assert said in " ".join(repr(moved).split())
    assert said in moved.report(tmp_path / "report.html").read_text("utf-8")
    for names in ("efgh", "aefg"):  # other pages of another site, and one that is alike by chance
        assert "slash" not in repr(wa.compare(audited(before, "abcd"), audited(after, names)))
    assert "slash" not in repr(wa.compare(audited(after, "abcd"), audited(after, "abcd")))


def test_one_page_in_two_forms_of_its_address_is_no_other_page() -> None:
    """RFC 3986, section 6.2.2: they are equivalent, and so is what a server is asked for."""
    forms = [
        ("https://a.example/", "https://a.example"),
        ("https://a.example/x%C3%BC", "https://A.example:443/xü#top"),
        ("https://a.example/y%2Fz", "https://a.example/y%2fz"),
        ("https://xn--bcher-kva.example/b", "https://bücher.example/c/../b"),
    ]
    first, second = (
        wa.audit(pd.DataFrame({"url": urls, "html": [f"<title>{place}" for place in range(4)]}))
        for urls in zip(*forms, strict=True)
    )
    for before, after in ((first, second), (second, first), (second.select(second.raw["url"] != ""), first)):
        comparison = wa.compare(before, after)
        assert sorted(comparison.pages["url"]) == sorted(after.raw["url"])
        assert set(comparison.pages["change"]) == {"same"}
        assert set(comparison.issues["change"]) == {"remaining"}
        assert comparison.score.change == 0
    kept = wa.compare(first.select(first.raw["url"].iloc[:2]), second)
    assert kept.pages["change"].value_counts().to_dict() == {"same": 2, "unchecked": 2}
    assert wa.compare(first, first).before is first


@pytest.mark.parametrize("again", [5, "nowhere"])
def test_what_is_no_second_reading_is_refused(again: Any) -> None:
    audit = wa.audit([], progress=False)
    with pytest.raises(wa.ParameterError, match="The `again` parameter must"):
        wa.compare(audit, audit, again=again)
    with pytest.raises(wa.ParameterError, match="The `again` parameter must"):
        audit.compare(audit, again=again)
