"""Sitemaps into frames."""

from __future__ import annotations

import gzip

import pytest

import webanalytics as wa
from webanalytics.fetching.testing import Reply, SiteServer

URLSET = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>'
INDEX = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</sitemapindex>'


@pytest.fixture
def site():
    page = "<url><loc>{{{{origin}}}}/{0}</loc><lastmod>2026-01-0{0}</lastmod><priority>0.{0}</priority></url>"
    children = "".join(
        f"<sitemap><loc>{{{{origin}}}}/{name}</loc></sitemap>"
        for name in ("one.xml", "two.xml.gz", "gone.xml")
    )
    xml = {"Content-Type": "application/xml"}
    pages = {
        "/sitemap.xml": Reply(headers=xml, body=INDEX.format(children).encode()),
        "/one.xml": Reply(headers=xml, body=URLSET.format(page.format(1) + page.format(2)).encode()),
        "/1": b"<title>One</title>",
        "/2": b"<title>Two</title>",
    }
    with SiteServer(pages) as server:
        third = URLSET.format(page.format(3)).replace("{{origin}}", server.url).encode()
        packed = Reply(headers={"Content-Type": "application/gzip"}, body=gzip.compress(third))
        with SiteServer({**pages, "/two.xml.gz": packed}) as whole:
            yield whole


def test_an_index_is_followed_gzip_included(site: SiteServer) -> None:
    frame = wa.sitemap(f"{site.url}/sitemap.xml", allow_private=True)
    good = frame[frame["status"] == "ok"]
    assert [url.rsplit("/", 1)[1] for url in good["url"]] == ["1", "2", "3"]
    assert good["lastmod"].tolist() == ["2026-01-01", "2026-01-02", "2026-01-03"]
    assert good["priority"].tolist() == [0.1, 0.2, 0.3]
    assert good["sitemap"].tolist() == [f"{site.url}/one.xml"] * 2 + [f"{site.url}/two.xml.gz"]
    (failed,) = frame[frame["status"] == "error"].to_dict("records")
    assert failed["sitemap"] == f"{site.url}/gone.xml"
    assert failed["error_type"] == "http"


def test_a_sitemap_goes_straight_into_an_audit(site: SiteServer) -> None:
    frame = wa.metadata(wa.sitemap(f"{site.url}/one.xml", allow_private=True), allow_private=True)
    assert frame["title"].tolist() == ["One", "Two"]


def test_what_cannot_be_read_is_a_row(site: SiteServer) -> None:
    frame = wa.sitemap([f"{site.url}/none.xml", "nonsense"], allow_private=True)
    assert frame["status"].tolist() == ["error", "error"]
    assert frame["error_type"].tolist() == ["http", "invalid"]
    assert frame["url"].isna().all()


def test_a_sitemap_without_pages_says_so() -> None:
    with SiteServer({"/s.xml": URLSET.format("").encode()}) as server:
        frame = wa.sitemap(f"{server.url}/s.xml", allow_private=True)
    assert frame[["status", "error_type"]].values.tolist() == [["error", "parse"]]
    assert frame.loc[0, "error"] == "The sitemap lists no page."


@pytest.mark.parametrize("wrong", [[], [None], "", 5, None, {"a": 1}])
def test_a_wrong_call_names_the_parameter(wrong: object) -> None:
    with pytest.raises(wa.ParameterError, match="`url` parameter"):
        wa.sitemap(wrong)
