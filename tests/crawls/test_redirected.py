"""What a redirect leads to is asked for once, and is the same row as when it is asked for itself."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import webanalytics as wa
from tests.crawls.simulated import Made, Write, crawl, words
from tests.crawls.test_crawl import OPTIONS, TIMES, page, paths
from tests.runs.hosted.running import equal
from webanalytics.fetching.testing import Reply, SiteServer

MOVED = [f"/old{number}" for number in range(6)]
SITE: dict[str, Any] = {
    "/": page("Home", *MOVED, "/first", "/slow", "/lost", "/both", "/both/"),
    **{old: Reply(301, {"Location": f"{old}/"}) for old in MOVED},
    **{f"{old}/": page(old, f"{old}/more") for old in MOVED},
    **{f"{old}/more": page(f"{old} more", "/") for old in MOVED},
    "/first": Reply(302, {"Location": "/second"}),
    "/second": Reply(308, {"Location": "/third"}),
    "/third": page("Third", "/"),
    "/slow": Reply(301, {"Location": "/quick"}, delay=1.0),
    "/quick": page("Quick", "/"),
    "/lost": Reply(301, {"Location": "/nowhere"}),
    "/both": Reply(301, {"Location": "/both/"}),
    "/both/": page("Both", "/"),
}


def test_it_is_asked_for_once_and_has_a_row_like_any_other() -> None:
    with SiteServer(SITE) as site:
        audit = wa.crawl(site.url, **OPTIONS)
        asked = [request.target for request in site.requests if request.target in SITE]
        one_by_one = wa.audit(audit.raw["url"].tolist(), **OPTIONS)
    assert {path for path in asked if asked.count(path) > 1} <= {"/both/"}  # a link leads there, too
    assert sorted(paths(site, audit.raw["url"])) == sorted([*SITE, "/nowhere"])
    equal(audit.raw.drop(columns=TIMES), one_by_one.raw.drop(columns=TIMES))
    took = dict(zip(paths(site, audit.raw["url"]), audit.raw["elapsed"], strict=True))
    assert took["/slow"] - took["/quick"] >= 0.99


def test_a_folder_keeps_the_row(tmp_path: Path) -> None:
    with SiteServer(SITE) as site:
        audit = wa.crawl(site.url, store=tmp_path, **OPTIONS)
        before = len(site.requests)
        again = wa.crawl(site.url, store=tmp_path, **OPTIONS)
        assert not [request.target for request in list(site.requests)[before:] if request.target in SITE]
    whole = wa.load(tmp_path)
    for other in (again, whole):
        assert other.raw["url"].tolist() == audit.raw["url"].tolist()
        assert list(other.raw["text"]) == list(audit.raw["text"])
        assert other.raw["elapsed"].equals(audit.raw["elapsed"])  # none is known below half a millisecond


def test_an_archive_has_a_fetch_for_each_row(tmp_path: Path) -> None:
    with SiteServer(SITE) as site:
        audit = wa.crawl(site.url, archive=tmp_path / "site.warc", **OPTIONS)
    read = wa.audit(tmp_path / "site.warc", progress=False)
    assert read.raw["url"].tolist() == audit.raw["url"].tolist()
    assert read.raw["text"].equals(audit.raw["text"])


def moved(path: str) -> Made | None:
    """Return a site whose links all lead to pages by way of a redirect."""
    number = int(path.strip("/") or 0)
    if path != "/" and not path.endswith("/"):
        return Made(to=f"{path}/")
    return Made([f"/{(number * 3 + step) % 200}" for step in range(1, 4)], words(path))


@pytest.mark.parametrize("seed", range(3))
def test_a_site_of_redirects_takes_one_request_a_link(seed: int) -> None:
    found = crawl(moved, seed=seed)
    pages = {path for path in found.rows if path.endswith("/")}
    assert len(pages) == 1 + 200
    assert found.fetched <= len(found.rows) - len(pages) + 1
    assert found.depths == crawl(moved, seed=seed, at_once=1).depths


def anything(seed: int) -> Write:
    """Return a site at random: pages, chains of redirects that end or fail, and pages that are missing."""
    chance = random.Random(seed)
    kinds = [1.0, *(chance.random() for _ in range(39))]
    links = [[f"/{chance.randrange(40)}" for _ in range(chance.randint(1, 4))] for _ in kinds]
    leads = [
        chance.randrange(place) if place else 0 for place in range(40)
    ]  # to one before it: none is endless

    def write(path: str) -> Made | None:
        place = int(path.strip("/") or 0)
        if kinds[place] < 0.4:
            return Made(to=f"/{leads[place]}")
        return Made(error="timeout") if kinds[place] < 0.5 else Made(links[place], words(path))

    return write


@pytest.mark.parametrize("seed", range(20))
def test_what_is_found_does_not_depend_on_it(seed: int) -> None:
    scope: dict[str, Any] = random.Random(seed).choice([{}, {"max_pages": 9}, {"max_depth": 2}])
    found = [
        crawl(anything(seed), seed=order, at_once=at_once, brings=brings, listed=["/3", "/5"], **scope)
        for order, at_once, brings in ((0, 12, True), (1, 1, True), (2, 5, False))
    ]
    rows, depths, skipped = zip(*((each.rows, each.depths, each.skipped) for each in found), strict=True)
    assert rows[0] == rows[1] == rows[2]
    assert depths[0] == depths[1] == depths[2]
    assert skipped[0] == skipped[1] == skipped[2]
