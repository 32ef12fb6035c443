"""What an audit says of a real crawl of the made-up site, against its hand-written tables."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from tests.made_up_site import tables_of
from webanalytics.fetching.testing.crawl_site import CrawlSite, crawl_site

DEFAULT = {"link", "redirect", "refresh", "canonical", "frame"}


@pytest.fixture(scope="module")
def site() -> Iterator[CrawlSite]:
    with crawl_site() as served:
        yield served


@pytest.fixture(scope="module")
def audit(site: CrawlSite) -> wa.Audit:
    return wa.crawl(
        site.url,
        external="check",
        allow_private=True,
        workers=1,
        progress=False,
        timeout=BUSY_SECONDS,
    )


def test_depths_are_those_of_the_table(site: CrawlSite, audit: wa.Audit) -> None:
    found = dict(zip(audit.pages["url"], audit.pages["crawl_depth"], strict=True))
    expected = {
        page["url"]: page["depth"]
        for page in tables_of(site).pages
        if page["via"] in {*DEFAULT, "start", "sitemap"} and page["how"] != "pdf"
    }
    assert len(expected) > 180
    assert {url: None if pd.isna(found[url]) else int(found[url]) for url in expected} == expected


def test_orphans_are_the_pages_that_links_alone_do_not_find(site: CrawlSite, audit: wa.Audit) -> None:
    orphans = set(audit.pages.loc[audit.pages["orphan"].fillna(False), "url"])
    assert orphans == {
        page["url"] for page in tables_of(site).pages if page["via"] in ("sitemap", "canonical")
    }


def test_links_to_elsewhere_have_the_verdicts_of_the_table(site: CrawlSite, audit: wa.Audit) -> None:
    broken = audit.broken_links
    outside = broken[~broken["url"].str.startswith(site.url)]
    expected = {
        row["url"]: row["verdict"]
        for row in tables_of(site).checked
        if row["kind"] == "external" and row["verdict"] not in ("ok", "redirected", "refused")
    }
    assert dict(zip(outside["url"], outside["verdict"], strict=True)) == expected
    targets = {url for url, _ in expected.items()}
    hand = {(row["source"], row["target"]) for row in tables_of(site).links if row["target"] in targets}
    assert set(zip(outside["source"], outside["url"], strict=True)) == hand


def test_links_are_those_of_the_table(site: CrawlSite, audit: wa.Audit) -> None:
    links = audit.links
    anchors = links[links["kind"] == "link"].astype({"source": object, "target": object, "anchor": object})
    found = set(anchors[["source", "target", "anchor"]].itertuples(index=False, name=None))
    read = set(audit.raw.loc[audit.raw["status"] == "ok", "url"])
    hand = {
        (row["source"], row["target"], row["anchor"])
        for row in tables_of(site).links
        if row["kind"] == "link" and row["source"] in read
    }
    assert len(hand) > 1_000
    assert hand <= found


def test_each_page_of_the_table_is_reached_by_its_paths(site: CrawlSite, audit: wa.Audit) -> None:
    for page in tables_of(site).pages[::10]:
        if page["depth"] is not None and page["via"] in DEFAULT and page["how"] != "pdf":
            paths = audit.paths(page["url"])
            steps = paths[paths["kind"] != "redirect"].groupby("path").size() - 1
            assert set(steps) == {page["depth"]}, page["url"]


def test_traps_and_missing_pages_are_issues(site: CrawlSite, audit: wa.Audit) -> None:
    rules = audit.issues.groupby("rule")["url"].agg(set)
    assert not audit.issues.attrs["webanalytics"]["rules_failed"]
    assert len(rules["crawl_trap"]) == len(audit.traps)
    soft = {page["url"] for page in tables_of(site).pages if page["how"] == "soft"}
    assert soft <= rules["soft_404"]
    again = wa.Audit(audit.raw, audit.origin)
    assert again.issues.equals(audit.issues)
