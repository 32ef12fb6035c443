"""Sitemaps, indexes, feeds, and what is wrong with them."""

from __future__ import annotations

import asyncio
import gzip
import math
import time
import tracemalloc
from typing import Any

import pytest

from tests.effort import effort_since
from webanalytics.core.messages import recognise
from webanalytics.fetching import Fetcher, SitemapLimits, read_sitemap
from webanalytics.fetching.response import Problem
from webanalytics.fetching.sitemap import parse_sitemap
from webanalytics.fetching.sitemap_entries import Entries

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
AT = "https://example.com/sitemap.xml"

# The example of sitemaps.org/protocol.html in its form, with other values.
FULL = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<urlset {NS} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
        xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <!-- a comment -->
  <url>
    <loc> https://example.com/a?x=1&amp;y=2 </loc>
    <lastmod>2026-01-02</lastmod><changefreq>monthly</changefreq><priority>0.8</priority>
    <image:image><image:loc>https://example.com/a.png</image:loc></image:image>
    <xhtml:link rel="alternate" hreflang="de" href="https://example.com/de/a"/>
  </url>
  <url><loc><![CDATA[https://example.com/b]]></loc><lastmod></lastmod><priority>high</priority></url>
  <url><loc>/relative</loc><priority>7</priority></url>
  <url><loc></loc></url>
  <url><loc>https://example.com/ü</loc></url>
  <url><loc>https://example.com/b</loc></url>
</urlset>""".encode()


def index(*links: str) -> bytes:
    entries = "".join(f"<sitemap><loc>{link}</loc></sitemap>" for link in links)
    return f"<sitemapindex {NS}>{entries}</sitemapindex>".encode()


def urls(*links: str) -> bytes:
    entries = "".join(f"<url><loc>{link}</loc></url>" for link in links)
    return f"<urlset {NS}>{entries}</urlset>".encode()


def rows_of(entries: Entries, **others: Any) -> list[dict[str, Any]]:
    """The entries of a sitemap as rows, what is missing None."""
    columns = (entries.urls, entries.lastmods, entries.changefreqs, entries.priorities)
    return [
        {
            **{"url": url, "lastmod": last or None, "changefreq": often or None, "status": "ok"},
            **{"priority": None if math.isnan(priority) else priority, **others},
        }
        for url, last, often, priority in zip(*columns, strict=True)
    ]


def found(content: bytes, url: str = AT) -> list[Any]:
    return list(parse_sitemap(content, url).entries.urls)


def test_every_field() -> None:
    rows = rows_of(parse_sitemap(FULL, AT).entries)
    assert [row["url"] for row in rows] == [
        "https://example.com/a?x=1&y=2",
        "https://example.com/b",
        "https://example.com/relative",
        "https://example.com/ü",
        "https://example.com/b",
    ]
    assert (rows[0]["lastmod"], rows[0]["changefreq"], rows[0]["priority"]) == ("2026-01-02", "monthly", 0.8)
    assert (rows[1]["lastmod"], rows[1]["changefreq"], rows[1]["priority"]) == (None, None, None)
    assert rows[2]["priority"] is None
    assert {row["status"] for row in rows} == {"ok"}


@pytest.mark.parametrize(
    "content",
    [
        FULL,
        gzip.compress(FULL),
        b"\xef\xbb\xbf" + FULL,
        b"\n\n  " + FULL,
        FULL.replace(NS.encode(), b""),
        FULL.replace(b"/0.9", b"/0.84"),
        FULL.decode().replace("UTF-8", "UTF-16").encode("utf-16"),
        FULL.decode().replace("UTF-8", "ISO-8859-1").encode("latin-1"),
        b"<!DOCTYPE urlset>" + FULL.split(b"\n", 1)[1],
    ],
    ids=["plain", "gzip", "mark", "space", "no namespace", "old namespace", "utf-16", "latin-1", "doctype"],
)
def test_forms_of_the_same_sitemap(content: bytes) -> None:
    assert found(content) == found(FULL)
    assert len(found(content)) == 5


def test_a_prefix_for_the_namespace() -> None:
    text = f"<s:urlset {NS.replace('xmlns', 'xmlns:s')}><s:url><s:loc>https://example.com/</s:loc></s:url></s:urlset>"
    assert found(text.encode()) == ["https://example.com/"]


def test_text_feeds_and_robots_txt() -> None:
    assert found(b"\xef\xbb\xbfhttps://example.com/\r\n\r\nhttp://example.com/\xc3\xbc\nnonsense\n") == [
        "https://example.com/",
        "http://example.com/ü",
    ]
    rss = b"""<rss version="2.0"><channel><link>https://example.com/</link>
        <item><title>A</title><link>https://example.com/a</link><pubDate>Mon, 05 Jan 2026 10:00:00 GMT</pubDate></item>
        </channel></rss>"""
    rows = rows_of(parse_sitemap(rss, AT).entries)
    assert [(row["url"], row["lastmod"]) for row in rows] == [
        ("https://example.com/a", "Mon, 05 Jan 2026 10:00:00 GMT")
    ]
    atom = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://example.com/"/>
        <entry><link rel="edit" href="/edit"/><link href="/a"/><updated>2026-01-05T10:00:00Z</updated></entry></feed>"""
    rows = rows_of(parse_sitemap(atom, AT).entries)
    assert [(row["url"], row["lastmod"]) for row in rows] == [
        ("https://example.com/a", "2026-01-05T10:00:00Z")
    ]
    robots = b"User-agent: *\nDisallow: /x\nSitemap: https://example.com/1.xml\nsitemap: /2.xml"
    assert parse_sitemap(robots, "https://example.com/robots.txt").children == [
        "https://example.com/1.xml",
        "https://example.com/2.xml",
    ]


@pytest.mark.parametrize(
    "content", [b"<!doctype html><html><p>Not found", b"<html/>", b"words", b"<", b"<a></a>"]
)
def test_what_is_no_sitemap(content: bytes) -> None:
    with pytest.raises(Problem) as problem:
        parse_sitemap(content, AT)
    assert problem.value.key == "not_sitemap"


def test_a_sitemap_that_breaks_off_keeps_what_it_had() -> None:
    whole = urls(*(f"https://example.com/{n}" for n in range(100)))
    for part in (whole[: len(whole) // 2], gzip.compress(whole)[:-40]):
        document = parse_sitemap(part, AT)
        assert document.broken
        assert 0 < len(document.entries) < 100
    assert not parse_sitemap(whole, AT).broken
    assert not parse_sitemap(FULL, AT).broken


def test_a_feed_with_whole_articles_is_not_broken() -> None:
    item = f"<item><link>https://example.com/{{}}</link><description>{'tea ' * 9_000}</description></item>"
    feed = f"<rss version='2.0'><channel>{item.format('a')}{item.format('b')}</channel></rss>"
    document = parse_sitemap(feed.encode(), "https://example.com/rss.xml")
    assert list(document.entries.urls) == ["https://example.com/a", "https://example.com/b"]
    assert not document.broken
    long = feed.replace("example.com/b", f"example.com/{'b' * 9_000}")
    assert parse_sitemap(long.encode(), "https://example.com/rss.xml").broken, "an address is left out"


BOMBS = {
    "billion laughs": '<!DOCTYPE u [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True))
    + "]>%s",
    "quadratic": f'<!DOCTYPE u [<!ENTITY j "{"a" * 100_000}">]>%s',
    "file": '<!DOCTYPE u [<!ENTITY j SYSTEM "file:///etc/passwd">]>%s',
    "parameter": '<!DOCTYPE u [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x"> %p; <!ENTITY j "x">]>%s',
    "external": '<!DOCTYPE u SYSTEM "http://127.0.0.1:9/x.dtd">%s',
}


@pytest.mark.parametrize("name", BOMBS)
def test_entities_are_not_expanded(name: str) -> None:
    body = urls(
        "https://example.com/&j;" * (1000 if name == "quadratic" else 1), "https://example.com/b"
    ).decode()
    began = time.process_time()
    tracemalloc.start()
    try:
        rows = rows_of(parse_sitemap(BOMBS[name].replace("%s", body).encode(), AT).entries)
    except Problem:
        rows = []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert effort_since(began) < 1
    assert peak < 20_000_000
    assert "root:" not in str(rows)
    assert "hahaha" not in str(rows)


def test_a_gzip_bomb_and_a_deep_tree() -> None:
    with pytest.raises(Problem) as problem:
        parse_sitemap(gzip.compress(bytes(5_000_000)), AT, max_bytes=1_000_000)
    assert problem.value.key == "too_large"
    with pytest.raises(Problem):
        parse_sitemap(b"\x1f\x8bnot gzip", AT)
    deep = parse_sitemap(f"<urlset {NS}>".encode() + b"<url>" * 100_000, AT)
    assert deep.broken
    assert not len(deep.entries)


def test_a_large_sitemap_is_read_quickly() -> None:
    content = urls(*(f"https://example.com/some/path/to/page-{n}.html" for n in range(50_000)))
    began = time.process_time()
    assert len(parse_sitemap(content, AT).entries) == 50_000
    assert effort_since(began) < 5


# ---- over the network


def read(
    server: Any, settings: Any, answer: Any, site: dict[str, Any], path: str, **limits: Any
) -> list[Any]:
    """Read a sitemap of a site of bodies; {} in a body is the site's address, which is cut off the rows."""

    async def main() -> list[Any]:
        def respond(path: str, headers: Any) -> bytes:
            body = site.get(path)
            if body is None:
                return answer(b"", "404 Not Found")
            if isinstance(body, bytes) and b"{}" in body:
                body = body.replace(b"{}", served.url.encode())
            return answer(body, type="application/xml")

        async with server(respond) as served, Fetcher(settings()) as fetcher:
            tree = await read_sitemap(fetcher, served.url + path, limits=SitemapLimits(**limits))
            rows: list[Any] = []
            for file in tree:
                at = file.url.removeprefix(served.url)
                rows += rows_of(file.entries, sitemap=at, error=None, error_type=None)
                for error in file.failures:
                    said = {"error": error.sentence, "error_type": error.error_type, "error_key": error.key}
                    rows.append({"url": None, "status": "error", "sitemap": at, **said})
            return rows

    return asyncio.run(main())


@pytest.fixture
def reading(server: Any, settings: Any, answer: Any) -> Any:
    return lambda site, path="/s.xml", **limits: read(server, settings, answer, site, path, **limits)


def test_an_index_in_its_order(reading: Any) -> None:
    site = {
        "/s.xml": index("{}/1.xml.gz", "{}/inner.xml", "{}/2.xml", "{}/1.xml.gz"),
        "/1.xml.gz": gzip.compress(urls("https://example.com/1")),
        "/inner.xml": index("{}/3.xml", "{}/s.xml"),
        "/2.xml": urls("https://example.com/2", "https://example.com/1"),
        "/3.xml": urls("https://example.com/3"),
    }
    rows = reading(site)
    assert [(row["url"], row["sitemap"]) for row in rows] == [
        ("https://example.com/1", "/1.xml.gz"),
        ("https://example.com/3", "/3.xml"),
        ("https://example.com/2", "/2.xml"),
        ("https://example.com/1", "/2.xml"),
    ]
    assert {(row["status"], row["error"], row["error_type"]) for row in rows} == {("ok", None, None)}


def test_sitemaps_that_fail_are_rows(reading: Any) -> None:
    site = {
        "/s.xml": index(
            "{}/1.xml", "{}/gone.xml", "{}/page.html", "http://no-such-host.invalid/s.xml", "{}/cut.xml"
        ),
        "/1.xml": urls("https://example.com/1"),
        "/page.html": b"<html><p>text</html>",
        "/cut.xml": urls("https://example.com/cut")[:-4],
    }
    rows = reading(site)
    assert [(row["sitemap"].rpartition("/")[2], row["url"], row["error_type"]) for row in rows] == [
        ("1.xml", "https://example.com/1", None),
        ("gone.xml", None, "http"),
        ("page.html", None, "parse"),
        ("s.xml", None, "dns"),
        ("cut.xml", "https://example.com/cut", None),
        ("cut.xml", None, "parse"),
    ]
    for row in rows:
        if row["status"] == "error":
            assert recognise(row["error"]).error_type == row["error_type"]


def test_the_first_one_failing_is_a_row_too(reading: Any) -> None:
    (row,) = reading({})
    assert row["error"] == "The `url` parameter names a page that answered HTTP 404."
    assert (row["url"], row["sitemap"], row["status"], row["error_type"]) == (None, "/s.xml", "error", "http")


def test_bounds_are_told(reading: Any) -> None:
    endless = {f"/{n}.xml": index(f"{{}}/{n + 1}.xml") for n in range(50)}
    (row,) = reading(endless, "/0.xml", max_depth=3)
    assert (row["sitemap"], row["error_type"]) == ("/4.xml", "too_large")
    wide = {"/s.xml": index(*(f"{{}}/{n}.xml" for n in range(10)))} | {
        f"/{n}.xml": urls("https://example.com/a", "https://example.com/b") for n in range(10)
    }
    rows = reading(wide, max_sitemaps=4)
    assert sum(row["status"] == "ok" for row in rows) == 6  # the index and three of its sitemaps
    assert sum(row["error_type"] == "too_large" for row in rows) == 7
    rows = reading(wide, max_urls=5)
    assert sum(row["status"] == "ok" for row in rows) == 5
    assert {row["error_type"] for row in rows} == {None, "too_large"}
    assert {row["sitemap"] for row in rows} == {f"/{n}.xml" for n in range(10)}
    (row,) = reading({"/s.xml": urls(*["https://example.com/"] * 1000)}, max_bytes=1000)
    assert row["error_type"] == "too_large"
