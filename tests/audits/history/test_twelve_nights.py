"""Twelve nights of a site: changes, flaps, two outages, noise and a deployment, and all that is told of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import webanalytics as wa
from tests.audits.history.nights import PATHS, Watch, page, site
from webanalytics.fetching.testing import Reply

ALERTS = """
[[alert]]
when = "noindex"
[[alert]]
when = "lost"
[[alert]]
when = "down"
[[alert]]
when = "refused"
[[alert]]
when = "changed"
field = "title"
segment = "/shop/*"
[[alert]]
when = "changed"
field = "robots.txt"
[[alert]]
when = "issues"
rule = "description_missing"
runs = "2 of 3"
"""
NO_INDEX = {path: page(path, robots="noindex") for path in ("/shop/p4", "/shop/p5")}
NEW_TITLE = {"/shop/p3": page("/shop/p3", title="A better lamp")}
NEW_ROBOTS = {"/robots.txt": b"User-agent: *\nDisallow: /private\nDisallow: /tmp\n"}
LACKING = {path: page(path, description="") for path in ("/shop/p7", "/shop/p8")}
DEPLOYED = {path: page(path, title=f"{path[-2:]} | Lamps of Bremen") for path in PATHS}
LATER = (
    DEPLOYED
    | NEW_ROBOTS
    | {
        "/shop/p5": page("/shop/p5", title="p5 | Lamps of Bremen", robots="noindex"),
        **{path: page(path, title=f"{path[-2:]} | Lamps of Bremen", description="") for path in LACKING},
    }
)
AWAY = Reply(503, {}, b"Away")
NIGHTS: list[tuple[str, Any, int, list[str]]] = [
    ("the first one", site(), 0, []),
    (
        "a title in the shop, and one in the blog, which nobody asked for",
        site(NEW_TITLE | {"/blog/b1": page("/blog/b1", title="News")}),
        1,
        ["new title 1 (/shop/* 1)"],
    ),
    ("noindex on two pages", site(NEW_TITLE | NO_INDEX), 1, ["new noindex 2 (/shop/* 2)"]),
    (
        "a description is away for one night",
        site(NEW_TITLE | NO_INDEX | {"/shop/p6": page("/shop/p6", description="")}),
        0,
        [],
    ),
    (
        "one of the two may be indexed again",
        site(NEW_TITLE | {"/shop/p5": NO_INDEX["/shop/p5"]}),
        0,
        ["resolved noindex 1 (/shop/* 1)"],
    ),
    ("nothing answers here", None, 3, ["new nothing could be fetched 1 (Lamps 1)"]),
    ("nor the night after", None, 3, []),
    (
        "all is back, with another robots.txt",
        site(NEW_TITLE | NEW_ROBOTS | {"/shop/p5": NO_INDEX["/shop/p5"]}),
        1,
        ["new robots.txt 1 (/* 1)", "resolved nothing could be fetched 1 (Lamps 1)"],
    ),
    (
        "the site is away",
        {**dict.fromkeys(("/", *PATHS), AWAY), **NEW_ROBOTS},
        1,
        ["new down 1 (host 1)"],
    ),
    (
        "it is back, and two pages have no description",
        site(NEW_TITLE | NEW_ROBOTS | LACKING | {"/shop/p5": NO_INDEX["/shop/p5"]}),
        0,
        ["resolved down 1 (host 1)"],
    ),
    (
        "a deployment touches all pages, and loses one",
        site({**LATER, "/shop/p1": Reply(404, {"Content-Type": "text/html"}, b"<title>No")}),
        1,
        ["new lost 1 (/shop/* 1)", "new title 11 (/shop/* 11)", "new description_missing 2 (/shop/* 2)"],
    ),
    (
        "the lost page is back; the one with noindex cannot be read; one description is there",
        site({**LATER, "/shop/p5": AWAY, "/shop/p7": DEPLOYED["/shop/p7"]}),
        0,
        ["resolved lost 1 (/shop/* 1)"],
    ),
]


@pytest.mark.slow
def test_twelve_nights(tmp_path: Path) -> None:
    watched = Watch(tmp_path, ALERTS)
    shown = (Path(__file__).parents[3] / "docs/measurements/rows.md").read_text("utf-8")
    for night, (what, _, status, told) in enumerate(NIGHTS, 1):
        assert f"| {night} | {what} | {status} | {'; '.join(f'`{one}`' for one in told)} |\n" in shown
    for what, pages, status, told in NIGHTS:
        assert (what, watched.run(pages)) == (what, (status, told))
    kept = wa.history(tmp_path / "history")
    assert len(kept) == 10, "all nights but the two on which nothing answered"
    assert kept.scores()["good"].tolist() == [True] * 6 + [False] + [True] * 3
    left = {(item["what"], item["where"].removeprefix(watched.url)) for item in watched.state["items"]}
    assert left == {("noindex", "/shop/p5"), *(("description_missing", path) for path in LACKING)}
    assert watched.state["outbox"] == []
    titles = kept.page(f"{watched.url}/shop/p3", ["title"])
    assert titles["changed"].tolist() == [None, ["title"], [], [], [], [], None, [], ["title"], []]
