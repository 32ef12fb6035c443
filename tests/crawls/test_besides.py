"""What a crawl knows besides its pages: own columns, robots.txt of all hosts, hosts that were given up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from tests.runs.hosted.running import equal
from webanalytics.cli import main
from webanalytics.errors import IncompleteRunWarning
from webanalytics.fetching.testing import Reply, SiteServer

OPTIONS: dict[str, Any] = {
    **{"allow_private": True, "workers": 1, "progress": False, "timeout": BUSY_SECONDS, "sitemap": None}
}
SHOP: dict[str, Any] = {
    "/": b"<title>Lamps</title><a href=/a>A</a><a href=/gone>Gone</a>",
    "/a": b"<title>A</title><p class=price>12 EUR</p><i>x</i><i>y</i><a href=/b>B</a>",
    "/b": b"<title>B</title><p class=price>15 EUR</p>",
    "/gone": Reply(404, {}, b"<title>Gone</title><p class=price>none"),
}
OWN: dict[str, Any] = {"cost": ".price::text", "letters": ["//i"]}


def test_own_columns_are_those_of_an_audit() -> None:
    with SiteServer(SHOP) as site:
        found = wa.crawl(site.url, extract=OWN, **OPTIONS)
        options = {name: value for name, value in OPTIONS.items() if name != "sitemap"}
        same = wa.audit(found.raw["url"].tolist(), extract=OWN, **options)
    rows = dict(
        zip(found.raw["title"], zip(found.raw["cost"], found.raw["letters"], strict=True), strict=True)
    )
    assert rows["A"] == ("12 EUR", ["x", "y"])
    assert rows["B"] == ("15 EUR", [])
    assert pd.isna(rows["Gone"][0])
    assert "extracted" not in found.raw.columns
    times = ["elapsed", "fetched_at"]
    left, right = found.raw.drop(columns=times), same.raw.drop(columns=times)
    equal(left, right)
    assert len(found.links) == 3
    assert found.raw.attrs["webanalytics"]["extract"] == same.raw.attrs["webanalytics"]["extract"]


def test_own_columns_come_from_a_checkpoint_too(tmp_path: Path) -> None:
    with SiteServer(SHOP) as site:
        first = wa.crawl(site.url, extract=OWN, store=tmp_path, **OPTIONS)
        before = len(site.requests)
        again = wa.crawl(site.url, extract=OWN, store=tmp_path, **OPTIONS)
        asked = {request.target for request in list(site.requests)[before:]}
        with pytest.raises(wa.ParameterError, match="`store`"):
            wa.crawl(site.url, extract={"cost": ".other"}, store=tmp_path, **OPTIONS)
    equal(first.raw, again.raw)
    assert not asked & SHOP.keys()  # not the page that answers 404 either
    assert first.raw["cost"].notna().sum() == 2


@pytest.mark.parametrize("wrong", [{"title": "h1"}, {"cost": "p["}, "h1", {"cost": []}])
def test_wrong_selectors_are_named_before_any_work(wrong: Any) -> None:
    with SiteServer(SHOP) as site, pytest.raises(wa.ParameterError, match="`extract`"):
        wa.crawl(site.url, extract=wrong, **OPTIONS)
    assert not site.requests


def test_own_columns_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--allow-private", "--no-progress", "--workers", "1", "--no-sitemap", "-f", "csv"]
    with SiteServer(SHOP) as site:
        main(["crawl", site.url, *flags, "--extract", "cost=.price::text", "--extract", "letters[]=//i"])
    printed = capsys.readouterr().out.splitlines()
    assert "cost" in printed[0].split(",")
    assert "12 EUR" in "".join(printed)


def test_the_robots_txt_of_all_hosts_of_the_site_and_of_no_other() -> None:
    pages = {"/": b"<title>Two</title>", "/robots.txt": b"User-agent: *\nDisallow: /x\nNonsense"}
    away = SiteServer({"/": b"<title>Away</title>", "/robots.txt": b"User-agent: *\nDisallow: /y"})
    with SiteServer(pages) as other, away:
        link = f"<title>One</title><a href={away.url}/>Away</a>".encode()
        with SiteServer({"/": link, "/robots.txt": b"User-agent: *\nDisallow: /z"}) as site:
            found = wa.crawl([site.url, other.url], external="check", **OPTIONS)
    files = found.origin.robots_files
    assert {name: (copy.text or "").splitlines()[1] for name, copy in files.items()} == {
        site.url: "Disallow: /z",
        other.url: "Disallow: /x",
    }
    assert [len(problems) for problems in found.origin.robots.values()] == [0, 1]
    assert found.origin.crawl is not None
    assert away.url + "/" in found.origin.crawl.checked["url"].tolist()


def test_a_host_that_was_given_up_is_said() -> None:
    busy = Reply(503, {"Retry-After": "86400"})
    links = "".join(f"<a href=/busy/{number}>{number}</a>" for number in range(20))
    pages: dict[str, Any] = {"/": f"<title>Home</title>{links}".encode()}
    pages |= {f"/busy/{number}": busy for number in range(20)}
    said = r"pages of 127\.0\.0\.1:\d+ could not be fetched"
    with SiteServer(pages) as site, pytest.warns(IncompleteRunWarning, match=said):
        found = wa.crawl(site.url, per_host=1, retries=0, robots=False, **OPTIONS)
    crawl = found.origin.crawl
    assert crawl is not None
    left = int((found.raw["error_key"] == "host_given_up").sum())
    assert left > 0
    host = site.url.removeprefix("http://")
    assert crawl.stopped.startswith(
        f"{left} pages of {host} could not be fetched. The host was given up after"
    )
    assert "HTTP 503" in crawl.stopped
