"""A crawl whose pages are fetched by a service: the same pages and links, read from the HTML it returns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import webanalytics as wa
from tests.audits.test_stored import cells
from tests.runs.hosted.running import Account, equal
from tests.service.live import Server
from webanalytics.fetching.testing import SiteServer

PAGES = {
    "/": b"<title>Home</title><p>Welcome to the house of lanterns<a href=/a>A</a><a href=/b rel=nofollow>B</a>",
    "/a": b"<title>A</title><p>Of lamps and wicks in all sizes<a href=/c>C</a><a href=/gone>gone</a>",
    "/b": b"<title>B</title><p>Never read",
    "/c": b"<title>C</title><p>The end of the house",
}
OWN = {"own": "p::text"}


def test_a_hosted_crawl_is_as_a_local_one(server: Server, tmp_path: Path) -> None:
    account = Account.new(server)
    with SiteServer(PAGES) as site:
        here = wa.crawl(site.url, allow_private=True, sitemap=None, progress=False, workers=1, extract=OWN)
        backend = wa.Hosted(server.base, account.key)
        there = wa.crawl(
            site.url,
            backend=backend,
            allow_private=True,
            sitemap=None,
            progress=False,
            store=tmp_path,
            extract=OWN,
        )
        charged = account.charged
        again = wa.crawl(
            site.url,
            backend=backend,
            allow_private=True,
            sitemap=None,
            progress=False,
            store=tmp_path,
            extract=OWN,
        )
    assert there.raw["url"].tolist() == here.raw["url"].tolist()
    assert len(there) == 4
    assert there.raw["error_type"].isna().tolist() == [True, True, True, False]
    # no service returns the page that it was sent with an HTTP error
    read = (here.raw["status"] == "ok").tolist()
    columns = ["title", "status", "error_type", "text", "links", "internal_links", "keywords", "own"]
    equal(here.raw[read][columns], there.raw[read][columns])
    left, right = here.origin.crawl, there.origin.crawl
    assert left is not None
    assert right is not None
    equal(left.skipped, right.skipped)
    assert list(left.links.urls) == list(right.links.urls)
    assert left.links.target.tolist() == right.links.target.tolist()
    assert there.raw.attrs["credits"]["used"] == charged > 0
    assert account.charged == charged
    equal(there.raw, again.raw)


def test_a_plan_without_html_cannot_crawl(server: Server) -> None:
    account = Account.new(server, plan="free")
    with SiteServer(PAGES) as site, pytest.raises(wa.ParameterError, match=r"`backend`.*responseBody"):
        wa.crawl(
            site.url,
            backend=wa.Hosted(server.base, account.key),
            allow_private=True,
            sitemap=None,
            progress=False,
        )


def test_a_hosted_crawl_in_a_folder_is_paid_for_once(server: Server, tmp_path: Path) -> None:
    account = Account.new(server)
    options: dict[str, Any] = {"allow_private": True, "sitemap": None, "progress": False, "extract": OWN}
    with SiteServer(PAGES) as site:
        backend = wa.Hosted(server.base, account.key)
        whole = wa.crawl(site.url, backend=backend, **options)
        before = account.charged
        kept = wa.crawl(site.url, backend=backend, store=tmp_path / "crawl", **options)
        charged = account.charged
        again = wa.crawl(site.url, backend=backend, store=tmp_path / "crawl", **options)
    assert kept.raw.attrs["credits"]["used"] == charged - before > 0
    assert account.charged == charged
    for audit in (kept, again, wa.load(tmp_path / "crawl")):
        for name in whole.raw.columns.drop(["elapsed", "fetched_at"]):
            assert cells(audit.raw[name]) == cells(whole.raw[name]), name
        equal(audit.links, whole.links)
