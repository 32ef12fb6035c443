"""What a crawl keeps of links and addresses, within bounds, and what it asks besides; each bound is said."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import webanalytics as wa
from tests.crawls.simulated import Made, crawl, words
from webanalytics.crawls import admission
from webanalytics.crawls.candidates import AddressCounts
from webanalytics.errors import IncompleteRunWarning
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.page.facts.outlinks import DEFAULT_MAX_LINKS

OPTIONS: dict[str, Any] = {"allow_private": True, "progress": False}


def page(title: str, body: str = "", head: str = "") -> bytes:
    return f"<!doctype html><title>{title}</title>{head}<h1>{title}</h1>{body}".encode()


def found(audit: wa.Audit, rule: str) -> dict[str, str]:
    issues = audit.issues[audit.issues["rule"] == rule]
    return {re.sub(r"https?://[^/]*", "", row.url): row.evidence for row in issues.itertuples()}


def test_no_link_is_lost_behind_five_thousand_others() -> None:
    many = "<a href=/a>a</a>" * 5_000 + "<a href=/gone>b</a><a href=/c>c</a>"
    with SiteServer({"/": page("I", many), "/a": page("A"), "/c": page("C")}) as site:
        audit = wa.crawl(site.url, **OPTIONS)
    assert [url.removeprefix(site.url) for url in audit.raw["url"]] == ["/", "/a", "/gone", "/c"]
    assert audit.pages["inlinks_all"].tolist() == [0, 5_000, 1, 1]
    assert found(audit, "links_to_failing_pages") == {"/": f'{site.url}/gone answers HTTP 404 ("b")'}
    assert audit.links["times"].tolist() == [5_000, 1, 1]
    assert audit.pages["links_left_out"].fillna(-1).tolist() == [0, 0, -1, 0]


def test_a_page_with_more_targets_than_are_kept_is_said() -> None:
    many = "".join(f"<a href=/{number}>x</a>" for number in range(DEFAULT_MAX_LINKS + 2))
    with (
        SiteServer({"/": page("I", many)}) as site,
        pytest.warns(IncompleteRunWarning, match="links to more than"),
    ):
        audit = wa.crawl(site.url, max_depth=0, **OPTIONS)
    assert len(audit.skipped) == len(audit.links) == DEFAULT_MAX_LINKS
    assert audit.pages["links_left_out"].tolist() == [2]
    assert audit.pages["outlinks"].isna().tolist() == [True]
    assert site.url in audit.origin.crawl.stopped
    assert "links to more than 50,000" in " ".join(str(audit).split())
    assert audit.pages["orphan"].isna().all(), "what the others link to is not known"
    assert "one_inlink" in audit.issues.attrs["webanalytics"]["rules_not_tried"]


def test_places_that_are_not_there() -> None:
    pages = {
        "/": page("I", "<a href=/a#here>1</a><a href=/a#gone>2</a><a href=#own>3</a><a href=/old#gone>4</a>"),
        "/a": page("A", "<p id=here>Text</p><a href=/#top>top</a><a href=/b#x>B</a><a href=/c.txt#x>C</a>"),
        "/b": b"<!doctype html><title>B</title><script>write()</script>",
        "/c.txt": Reply(200, {"Content-Type": "text/plain"}, b"a text"),
        "/old": Reply(301, {"Location": "/a#here"}),
    }
    with SiteServer(pages) as site:
        audit = wa.crawl(site.url, **OPTIONS)
    (evidence,) = found(audit, "broken_anchor").values()
    assert evidence == f'{site.url}/a#gone ("2"), {site.url}/#own ("3")'
    broken = audit.links[audit.links["broken_anchor"]]
    assert broken["fragment"].tolist() == ["gone", "own"]


def test_scripts_number_the_lines_of_code() -> None:
    """Those of JSDoc give the lines of its pages of source the ids that its pages of classes link to."""
    pages = {
        "/": page(
            "I", "<a href=/a.js.html#line12>line 12</a><a href=/a.js.html#L3-L5>5</a><a href=#lines>x</a>"
        ),
        "/a.js.html": page("A", "<pre class='prettyprint source linenums'><code>let oil = 1;</code></pre>"),
    }
    with SiteServer(pages) as site:
        audit = wa.crawl(site.url, **OPTIONS)
    assert list(found(audit, "broken_anchor").values()) == [f'{site.url}/#lines ("x")']


def test_what_pages_name_is_asked_once() -> None:
    head = (
        "<link rel=alternate hreflang=de href=/de><link rel=alternate hreflang=fr href=/fr>"
        "<link rel=next href=/2><link rel=amphtml href=/amp><link rel=canonical href='{other}/gone'>"
    )
    with SiteServer({"/fr": page("F")}) as other:
        home = page("Home", "<a href=/a>A</a>", head.replace("{other}", other.url))
        with SiteServer(
            {"/": home, "/a": home, "/fr": page("F"), "/2": Reply(301, {"Location": "/"})}
        ) as site:
            audit = wa.crawl(site.url, **OPTIONS)
            asked = Counter(request.target for request in site.requests if request.method == "GET")
            wa.crawl(site.url, external="ignore", **OPTIONS)
            assert sum(request.target == "/gone" for request in other.requests) == 2, "HEAD, then GET"
    assert set(found(audit, "hreflang_failing")) == {"/", "/a"}
    assert f"{site.url}/de answers HTTP 404" in found(audit, "hreflang_failing")["/"]
    assert "/2 redirects to" in found(audit, "pagination_failing")["/"]
    assert "/amp answers HTTP 404" in found(audit, "amp_failing")["/"]
    assert "/gone answers HTTP 404" in found(audit, "canonical_failing")["/"]
    assert max(asked.values()) == 1, asked


def test_one_robots_txt_and_one_address_that_cannot_exist() -> None:
    robots = b"User-agent: *\nDisallow: /private\nSitemap: {{origin}}/list.xml\n"
    entry = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>{{origin}}/c</loc></url></urlset>"
    same = {f"/{name}": page("Same title", "<img src=/i.png>") for name in "abc"}
    links = "".join(f"<a href=/{name}>{name}</a>" for name in "ab") + "<a href=/private>p</a>"
    pages = {
        "/": page("Home", links),
        **same,
        "/robots.txt": robots,
        "/list.xml": entry.encode(),
        "/i.png": b"x" * 99,
    }
    with SiteServer(pages) as site:
        audit = wa.crawl(site.url, image_sizes=True, **OPTIONS)
    asked = Counter(request.target for request in site.requests)
    assert asked["/robots.txt"] == 1
    assert [count for target, count in asked.items() if "no-such-page" in target] == [1]
    assert audit.pages["in_sitemap"].tolist() == [False, False, False, True]
    assert audit.origin.crawl.skipped["reason"].tolist() == ["robots"]
    assert audit.origin.robots_files[site.url].text is not None
    assert audit.raw["image_bytes"].tolist()[1] == {f"{site.url}/i.png": 99}
    assert "image_sizes" not in str(audit)


# ---------------------------------------------------------------- far more addresses than are wanted


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds of a hundred addresses, so that a small site meets them."""
    monkeypatch.setattr(admission, "WAITING", 100)
    monkeypatch.setattr(admission, "KNOWN", 100)


def fresh(path: str) -> Made:
    """Return a page of two hundred links that no other page has."""
    number = int(path.rpartition("/")[2] or 0)
    return Made([f"/shop/{number * 200 + step}" for step in range(1, 201)], words(path))


@pytest.mark.usefixtures("narrow")
def test_addresses_that_will_not_be_fetched_are_counted() -> None:
    whole = crawl(fresh, max_pages=10)
    assert len(whole.rows) == 10
    assert len(whole.skipped) <= 200
    assert len(whole.links.urls) <= 210
    (row,) = whole.counted
    assert row["detail"] == "https://a.example/shop/"
    assert row["addresses"] == pytest.approx(2_000 - 199, abs=20)
    assert row["links"] + len(whole.links) == 2_000
    known = int(re.search(r"10 of at least ([\d,]+) pages", whole.stopped)[1].replace(",", ""))  # type: ignore[index]
    assert known == pytest.approx(2_001, abs=20)


@pytest.mark.usefixtures("narrow")
def test_links_of_a_page_are_those_that_the_crawl_keeps(tmp_path: Path) -> None:
    def links(path: str) -> str:
        return "".join(f"<a href={target}>x</a>" for target in (fresh(path).links if path else ["/shop/0"]))

    paths = ["/", *(f"/shop/{number}" for number in range(12))]
    pages = {path: page(words(path or "/"), links(path.removeprefix("/"))) for path in paths}
    with SiteServer(pages) as site:
        with pytest.warns(IncompleteRunWarning, match="counted and not kept"):
            audit = wa.crawl(site.url, max_pages=10, **OPTIONS)
        with pytest.warns(IncompleteRunWarning, match="counted and not kept"):
            stored = wa.crawl(site.url, max_pages=10, store=tmp_path, **OPTIONS)
    kept = audit.links.groupby("source")["target"].agg(set).to_dict()
    found = dict(zip(audit.raw["url"], map(set, audit.raw["links"]), strict=True))
    assert found == {url: kept.get(url, set()) for url in found}
    assert 0 < min(map(len, kept.values())) < 200
    assert audit.raw["internal_links"].tolist() == [1] + [200] * 9
    assert list(stored.raw["links"]) == list(audit.raw["links"])


@pytest.mark.usefixtures("narrow")
def test_the_pages_that_come_first_are_fetched_though_filters_offer_more() -> None:
    def write(path: str) -> Made | None:
        if path.startswith("/list"):
            return Made([], "the same list for all filters")
        number = int(path[1:] or 0)
        filters = [f"/list?a={number}&b={step}&c={number * step}" for step in range(50)]
        return Made([*filters, f"/{number + 1}"] if number < 30 else [], words(path))

    found = crawl(write, max_pages=60)
    assert {f"/{number}" for number in range(1, 31)} <= set(found.rows)
    assert len(found.skipped) <= 660
    assert sum(row["addresses"] for row in found.counted) > 500


def test_the_count_of_addresses_is_near_what_it_is() -> None:
    counts = AddressCounts()
    for number in range(200_000):
        counts.add(f"https://a.example/{number % 1_500}/{number}", 1, None, "")
    assert counts.addresses == pytest.approx(200_000, rel=0.01)
    (row,) = counts.rows()
    assert row["links"] == 200_000
    for number in range(1_200):
        counts.add(f"https://a.example/{'x' * number}/y", 1, None, "")
    assert len(list(counts.rows())) == 1_001


def test_a_sequence_that_was_left_is_said() -> None:
    def answer(number: int) -> bytes:
        further = f"<a href=/part/{number + 1}>next</a>" if number < 80 else ""
        return page("Part", f"<p>Price {number * 7}</p>{further}")

    pages = {"/": page("Home", "<a href=/part/1>1</a>"), **{f"/part/{at}": answer(at) for at in range(1, 81)}}
    with SiteServer(pages) as site:
        with pytest.warns(IncompleteRunWarning, match=r"/part/\{n\} was left as endless after 41"):
            left = wa.crawl(site.url, max_sequence=40, **OPTIONS)
        with warnings.catch_warnings():
            warnings.simplefilter("error", IncompleteRunWarning)
            told = wa.crawl(site.url, max_sequence=40, traps="report", **OPTIONS)
            whole = wa.crawl(site.url, **OPTIONS)
    assert (len(left), len(told), len(whole)) == (42, 81, 81)
    assert "went from 1 to 41" in found(left, "crawl_trap")["/part/41"]
    assert "robots.txt" not in found(left, "crawl_trap")["/part/41"]
    assert "`max_sequence=`" in left.origin.crawl.stopped
    assert "was left as endless" in str(left)
    assert not left.origin.crawl.whole
    assert (told.origin.crawl.stopped, len(told.traps), len(whole.traps)) == ("", 1, 0)


def test_what_is_surely_endless_is_said_and_not_missed() -> None:
    def month(number: int) -> bytes:
        return page("Calendar", f"<p>No events in {number}</p><a href=/calendar/{number + 1}>later</a>")

    pages = {f"/calendar/{number}": month(number) for number in range(1, 100)}
    home = page("Home", "<a href=/calendar/1>now</a><a href=/a>A</a>")
    with warnings.catch_warnings(), SiteServer({"/": home, "/a": page("A"), **pages}) as site:
        warnings.simplefilter("error", IncompleteRunWarning)
        audit = wa.crawl(site.url, **OPTIONS)
    assert len(audit) < 60
    assert "/calendar/{n} was left as endless" in audit.origin.crawl.stopped
    assert str(audit).count("was left as endless") == 1
    assert audit.origin.crawl.whole
    assert audit.pages["orphan"].notna().all()
    assert "robots.txt may close it" in " ".join(found(audit, "crawl_trap").values())
    assert audit.pages["crawl_depth"].max() > 12
    for rule in ("page_deep", "page_very_deep", "no_path_from_start", "one_inlink"):  # the trap says it
        assert found(audit, rule).keys() <= {"/a"}
    assert "one_inlink" not in audit.issues.attrs["webanalytics"]["rules_not_tried"]


def test_pages_of_one_script_beside_its_calendar_are_deep_all_the_same() -> None:
    def text(number: int) -> bytes:
        return page(f"Text {number}", f"<p>{words(number)}</p><a href=/i.php?text={number + 1}>on</a>")

    def month(number: int) -> bytes:
        return page("Calendar", f"<p>No events</p><a href='/i.php?month={number + 1}'>later</a>")

    pages = {"/": page("Home", "<a href=/i.php?text=1>1</a><a href=/i.php?month=1>now</a>")}
    pages |= {f"/i.php?text={number}": text(number) for number in range(1, 6)}
    pages |= {f"/i.php?month={number}": month(number) for number in range(1, 100)}
    with warnings.catch_warnings(), SiteServer({**pages, "/i.php?text=6": page("Last", "<p>Tea")}) as site:
        warnings.simplefilter("ignore", IncompleteRunWarning)
        audit = wa.crawl(site.url, **OPTIONS)
    assert audit.traps["kind"].tolist() == ["calendar"]
    deep = found(audit, "page_deep").keys() | found(audit, "page_very_deep").keys()
    assert deep == {f"/i.php?text={number}" for number in (4, 5, 6)}


def test_a_parameter_that_changes_nothing_is_said_and_is_no_issue() -> None:
    def lamp(number: int) -> bytes:
        links = (f"<a href=/{(number + step) % 30}?ref={step}>next</a>" for step in range(1, 6))
        return page(
            f"Lamp {number}", f"<p>{words(number)}</p><a href=/{(number + 1) % 30}>on</a>{''.join(links)}"
        )

    pages = {f"/{number}": lamp(number) for number in range(30)}
    pages |= {f"{path}?ref={value}": made for path, made in pages.items() for value in range(1, 6)}
    with warnings.catch_warnings(), SiteServer({**pages, "/": page("Home", "<a href=/0>0</a>")}) as site:
        warnings.simplefilter("error", IncompleteRunWarning)
        audit = wa.crawl(site.url, **OPTIONS)
    assert {f"{site.url}/{number}" for number in range(30)} <= set(audit.raw["url"])
    assert audit.traps[["pattern", "kind"]].to_numpy().tolist() == [["ref=…", "parameter"]]
    assert "ref=… was left as a parameter that changes nothing after" in audit.origin.crawl.stopped
    assert audit.origin.crawl.whole
    assert found(audit, "crawl_trap") == {}
