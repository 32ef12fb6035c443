"""Sitemaps that a call of a crawl names: refused where they are no address, told where they cannot be read."""

from __future__ import annotations

import pytest

import webanalytics as wa
from tests.crawls.test_crawl import OPTIONS, SITE, crawled, paths
from webanalytics.errors import IncompleteRunWarning, ParameterError
from webanalytics.fetching.testing import SiteServer


@pytest.mark.parametrize(
    "sitemap", ["ftp://a.example/sitemap.xml", "not an address", ["auto", "a.example"], 5]
)
def test_what_is_no_address_is_refused(sitemap: object) -> None:
    with pytest.raises(ParameterError, match="`sitemap`"):
        wa.crawl("https://a.example/", sitemap=sitemap, **OPTIONS)  # type: ignore[arg-type]


def test_one_that_cannot_be_read_is_told_and_judges_no_page() -> None:
    with SiteServer(SITE) as site:
        with pytest.warns(IncompleteRunWarning, match=r"`sitemap` .*/none\.xml .*HTTP 404"):
            audit = crawled(site, sitemap=f"{site.url}/none.xml", max_depth=1)
        assert "/none.xml" in audit.origin.crawl.stopped
        assert audit.pages["in_sitemap"].isna().all()
        assert "sitemap_missing_page" not in set(audit.issues["rule"])


def test_one_that_can_be_read_is_not_told() -> None:
    with SiteServer(SITE) as site:
        audit = crawled(site, sitemap=[f"{site.url}/sitemap.xml"], max_depth=1)
        assert audit.origin.crawl.stopped == ""
        assert "/orphan" in paths(site, audit.raw["url"])
        assert "sitemap_missing_page" in set(audit.issues["rule"])


def test_the_sitemaps_of_all_starts_are_read() -> None:
    bare = {path: content for path, content in SITE.items() if path not in ("/robots.txt", "/sitemap.xml")}
    with SiteServer(SITE) as site, SiteServer(SITE) as other, SiteServer(bare) as none:
        starts = [f"{server.url}/" for server in (site, other, none)]
        audit = wa.crawl(starts, max_depth=1, **OPTIONS)
        for server, listed in ((site, True), (other, True), (none, False)):
            assert (f"{server.url}/orphan" in set(audit.raw["url"])) is listed
        assert list(audit.origin.robots_files) == [server.url for server in (site, other, none)]
