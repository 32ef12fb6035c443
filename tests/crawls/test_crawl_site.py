"""The made-up site for crawlers is what its tables say: read here by the parser of the standard library."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections import Counter, deque
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urldefrag, urljoin

import pytest

from tests.crawl_site_pages import PAGES, pages
from tests.large_site import large_site
from tests.made_up_site import tables_of
from webanalytics.fetching.testing import CrawlSite, crawl_site

KINDS = {"canonical", "next", "prev", "stylesheet", "icon"}
CLICKED = {"link", "redirect", "refresh", "frame"}


class Reader(HTMLParser):
    """The links of a page: kind, target, anchor, rel and section."""

    def __init__(self, url: str, headers: Any) -> None:
        super().__init__()
        self.base = url
        self.sections: list[str] = []
        self.found: list[list[str]] = []
        self.open: list[str] | None = None
        self.nofollow = "nofollow" in headers.get("X-Robots-Tag", "")
        self.soft = False
        for part in headers.get("Link", "").split(", ") if headers.get("Link") else ():
            target, rel = re.findall(r'<(.*?)>; rel="(\w+)"', part)[0]
            self.found.append(["hreflang" if rel == "alternate" else rel, target, "", "", "http"])

    def add(self, kind: str, url: str, anchor: str = "", rel: str = "") -> None:
        place = self.sections[-1] if self.sections else "head"
        self.found.append([kind, urldefrag(urljoin(self.base, url)).url, anchor, rel, place])

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        at = {name: value or "" for name, value in attrs}
        if tag in ("header", "nav", "main", "aside", "footer"):
            self.sections.append(tag)
        elif tag == "base":
            self.base = at["href"]
        elif tag == "meta" and at.get("name") == "robots":
            self.nofollow |= "nofollow" in at["content"]
        elif tag == "meta" and "http-equiv" in at:
            self.add("refresh", at["content"].partition("url=")[2])
        elif tag == "link":
            self.add("hreflang" if at["rel"] == "alternate" else at["rel"], at["href"])
        elif tag in ("script", "iframe"):
            self.add("frame" if tag == "iframe" else tag, at["src"])
        elif tag == "form" and "action" in at:
            self.add("form", at["action"])
        elif tag == "area":
            self.add("link", at["href"], at["alt"])
        elif tag == "a" and "href" in at:
            self.add("link", at["href"], at.get("aria-label", ""), at.get("rel", ""))
            self.open = self.found[-1]
        elif tag in ("img", "source"):
            source = at.get("src") or at.get("srcset", "").partition(" ")[0]
            if self.open is not None:
                self.open[2] += at["alt"]
            elif source:
                self.add("image", source, at.get("alt", ""))
            else:  # the <img> of a <picture>, which names the source before it
                self.found[-1][2] = at["alt"]

    def handle_endtag(self, tag: str) -> None:
        if self.sections and tag == self.sections[-1]:
            self.sections.pop()
        if tag == "a":
            self.open = None

    def handle_data(self, data: str) -> None:
        if self.open is not None:
            self.open[2] += data


class Straight(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def asked(url: str) -> tuple[int, Any, str]:
    try:
        answer = urllib.request.build_opener(Straight).open(url)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.headers, answer.read().decode("utf-8", "replace")


@pytest.fixture(scope="module")
def site() -> Iterator[CrawlSite]:
    with crawl_site(slow=0.0) as site:
        yield site


@pytest.fixture(scope="module")
def read(site: CrawlSite) -> dict[str, tuple[int, list[list[str]], bool]]:
    """Status, links and nofollow of each address of the table."""
    found = {}
    for page in tables_of(site).pages:
        status, headers, body = asked(page["url"])
        links: list[list[str]] = []
        reader = Reader(page["url"], headers)
        if 300 <= status < 400:
            links = [["redirect", headers["Location"], "", "", "http"]]
        elif status == 200 and "html" in headers["Content-Type"]:
            reader.feed(body)
            links = reader.found
        found[page["url"]] = status, links, reader.nofollow
    return found


def test_the_pages_are_written_from_the_tables() -> None:
    assert PAGES.read_text("ascii") == pages()


def test_two_hundred_addresses(site: CrawlSite, read: Any) -> None:
    assert len(tables_of(site).pages) == len(read) == 200
    assert {page["url"]: page["status"] for page in tables_of(site).pages} == {
        url: status for url, (status, _, _) in read.items()
    }


def test_the_links_are_those_of_the_table(site: CrawlSite, read: Any) -> None:
    table = Counter(
        tuple(link[name] for name in ("source", "kind", "target", "anchor", "rel", "position"))
        for link in tables_of(site).links
    )
    served = Counter((url, *link) for url, (_, links, _) in read.items() for link in links)
    assert served == table


def test_the_depths_are_those_of_a_walk(site: CrawlSite, read: Any) -> None:
    """Clicks from the home page: a redirect costs none."""
    found = {site.start_url: 0}
    queue = deque([site.start_url])
    while queue:
        url = queue.popleft()
        _, links, nofollow = read.get(url, (0, [], False))
        for kind, target, _, rel, _ in links:
            if kind not in CLICKED or rel or nofollow:
                continue
            depth = found[url] + (kind != "redirect")
            if target in read and depth < found.get(target, 999):
                found[target] = depth
                (queue.appendleft if kind == "redirect" else queue.append)(target)
    clicked = {
        page["url"]: page["depth"] for page in tables_of(site).pages if page["via"] in CLICKED | {"start"}
    }
    assert found == clicked
    assert max(clicked.values()) == 7


def test_pages_that_no_click_leads_to(site: CrawlSite, read: Any) -> None:
    others = {page["url"]: page["via"] for page in tables_of(site).pages if page["via"] not in CLICKED}
    kinds = {
        kind for url in others for _, links, _ in read.values() for kind, target, *_ in links if target == url
    }
    assert sorted(others.values()) == ["canonical", "form", "hreflang", "next", "sitemap", "start"]
    assert kinds >= {"canonical", "form", "hreflang", "next"}
    _, _, sitemap = asked(site.url + "/sitemap.xml")
    assert next(url for url, via in others.items() if via == "sitemap") in sitemap


def test_what_is_skipped_is_linked_and_would_answer(site: CrawlSite, read: Any) -> None:
    for row in tables_of(site).skipped:
        assert row["url"] in {link[1] for link in read[row["found_on"]][1]}
        if row["reason"] != "external":
            assert asked(row["url"])[0] == 200
            assert row["url"] not in read


@pytest.mark.parametrize("kind", ["calendar", "session", "path", "facets", "pagination"])
def test_traps_have_no_end(site: CrawlSite, read: Any, kind: str) -> None:
    trap = next(row for row in tables_of(site).traps if row["kind"] == kind)
    assert trap["first"] in {link[1] for link in read[trap["found_on"]][1]}
    assert set(trap["real"]) <= read.keys()
    seen, queue = {trap["first"]}, deque([trap["first"]])
    while queue and len(seen) < 150:
        url = queue.popleft()
        status, headers, body = asked(url)
        reader = Reader(url, headers)
        reader.feed(body)
        assert status == 200
        fresh = {link[1] for link in reader.found if link[1].startswith(trap["begins_with"])} - seen
        seen |= fresh
        queue.extend(sorted(fresh))
    assert len(seen) >= 150


def test_the_same_answers_each_time(site: CrawlSite) -> None:
    for url in (site.start_url, site.url + "/calendar/2031/07", site.url + "/session/?sid=1"):
        assert asked(url)[2] == asked(url)[2]


def test_targets_elsewhere(site: CrawlSite) -> None:
    for row in tables_of(site).checked:
        if row["kind"] == "external" and row["http_status"] and row["verdict"] != "redirected":
            assert asked(row["url"])[0] == row["http_status"]
    request = urllib.request.Request(site.elsewhere + "/no-head", method="HEAD")
    with pytest.raises(urllib.error.HTTPError, match="405"):
        urllib.request.urlopen(request)
    closed = next(row["url"] for row in tables_of(site).checked if row["http_status"] is None)
    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(closed)


def test_unknown_addresses(site: CrawlSite) -> None:
    assert asked(site.url + "/no-such-page")[0] == 404
    assert asked(site.url + "/lab/soft/no-such-page")[0] == 200
    assert asked(site.elsewhere + "/no-such-page")[0] == 404


BODY = b"""<html><head><title>Old</title><base href=/far/><link rel=canonical href=/x><meta name=robots content=nofollow>
</head><body><a class=b href='/one' rel=nofollow>1</a><a href=two>2</a><a name=x>no</a><form action=/f></form></body></html>"""


@pytest.mark.parametrize("bodies", [(), (BODY,)], ids=["made up", "given"])
def test_all_pages_of_a_large_site_are_within_clicks(bodies: tuple[bytes, ...]) -> None:
    with large_site(300, bodies) as site:
        found, queue = {site.start_url: 0}, deque([site.start_url])
        titles = set()
        while queue:
            url = queue.popleft()
            status, headers, body = asked(url)
            reader = Reader(url, headers)
            reader.feed(body)
            assert status == 200
            assert not reader.nofollow
            titles |= set(re.findall("<title>(.*?)</title>", body))
            for kind, target, _, rel, _ in reader.found:
                assert (kind, rel) in (("link", ""), ("link", "follow"))
                if kind == "link" and target in site.pages and target not in found:
                    found[target] = found[url] + 1
                    queue.append(target)
        assert sorted(found) == sorted(site.pages)
        assert len(titles) == len(site.pages) == 300
        assert max(found.values()) <= 4


def test_traps_of_a_large_site() -> None:
    with large_site(50) as site, large_site(50, traps=False) as plain:
        for path in ("/calendar/2030/01", "/section-0/?brand=tin&size=large"):
            assert asked(site.url + path)[0] == 200
        assert asked(plain.url + "/calendar/2030/01")[0] == 404
        assert "calendar" in asked(site.pages[1])[2]
        assert "calendar" not in asked(plain.pages[1])[2]
