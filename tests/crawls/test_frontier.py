"""The order of a crawl, its limits and its scope, on sites in memory whose answers come in any order."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

from tests.crawls.simulated import ORIGIN, Made, crawl, words
from webanalytics.runs.frames.link_table import KINDS


def site(pages: dict[str, Made]) -> Any:
    return pages.get


def tree(path: str) -> Made | None:
    """Return a page with three pages below it, to four levels, with a query loop and links back."""
    found = re.fullmatch(r"/((?:[abc]\d/){0,4})", path)
    if not found:
        return None
    depth = len(found[1]) // 3
    below = [f"{path}{name}{depth}/" for name in "abc"] if depth < 4 else []
    return Made([*below, "/", "/missing", "https://other.example/x", "/feed?x=1"], words(path))


def test_the_same_whatever_the_order_of_the_answers() -> None:
    chance = random.Random(7)
    names = [f"/p{number}" for number in range(150)]
    web = {name: Made(chance.sample(names, 6), words(name)) for name in names}
    web["/"] = Made(chance.sample(names, 8), words("/"))
    web["/p3"], web["/p9"] = Made(to="/p77"), Made(to="/p3")
    web["/cal?d=1"] = Made(["/cal?d=2"])
    found = [
        crawl(site(web), seed=seed, at_once=1 + 7 * (seed % 5), slow=names[seed], max_pages=120)
        for seed in range(10)
    ]
    assert {len(one.rows) for one in found} == {120}
    for one in found[1:]:
        assert one.rows == found[0].rows
        assert one.skipped == found[0].skipped
        assert list(one.links.urls) == list(found[0].links.urls)
        assert np.array_equal(one.links.target, found[0].links.target)


def test_traps_do_not_depend_on_the_order_of_answers() -> None:
    def write(path: str) -> Made | None:
        found = re.fullmatch(r"/list\?(?:a=(\d))?&?(?:b=(\d))?&?(?:c=(\d))?", path)
        if path == "/":
            return Made(["/list?a=1", "/real"], words("home"))
        if path == "/real":
            return Made(["/"], words("real"))
        if not found:
            return None
        chosen = {name: value for name, value in zip("abc", found.groups(), strict=True) if value}
        asked = [{**chosen, name: str(value)} for name in "abc" for value in range(8)]
        links = ["&".join(f"{name}={one[name]}" for name in sorted(one)) for one in asked]
        return Made([f"/list?{link}" for link in links], "The list")

    first, *others = [crawl(write, seed=seed, at_once=3 + seed) for seed in range(8)]
    assert first.reasons("trap")
    for one in others:
        assert (one.rows, one.skipped, one.traps) == (first.rows, first.skipped, first.traps)


def test_breadth_first_in_the_order_of_links() -> None:
    found = crawl(tree, sitemap=None)
    pages = [path for path in found.rows if path not in ("/missing", "/feed?x=1")]
    depths = [path.count("/") - 1 for path in pages]
    assert depths == sorted(depths)
    assert len(pages) == 1 + 3 + 9 + 27 + 81
    assert pages[:7] == ["/", "/a0/", "/b0/", "/c0/", "/a0/a1/", "/a0/b1/", "/a0/c1/"]
    assert found.skipped == {"https://other.example/x": ("external", "other.example", 1, ORIGIN + "/")}


def test_one_slow_page_holds_nothing_up() -> None:
    asked: list[str] = []

    def write(path: str) -> Made | None:
        asked.append(path)
        return tree(path)

    found = crawl(write, slow="/a0/", sitemap=None)
    assert asked.index("/a0/") > 60  # what is not below it was fetched ahead
    assert found.rows == crawl(tree, sitemap=None).rows
    assert len(asked) == len(set(asked)) == found.fetched
    assert found.dropped == 0


def test_max_pages_is_kept_and_said() -> None:
    found = crawl(tree, max_pages=20, sitemap=None)
    assert len(found.rows) == 20
    assert found.rows == crawl(tree, sitemap=None).rows[:20]
    assert found.fetched <= 20 + found.dropped
    assert f"stopped at 20 of at least {20 + len(found.reasons('limit'))} pages" in found.stopped
    assert "max_pages=" in found.stopped
    left = found.reasons("limit")
    assert left
    assert left.isdisjoint(found.rows)
    assert all(found.skipped[path][1] == "max_pages=20" for path in left)
    every = crawl(tree, sitemap=None, max_pages=len(crawl(tree, sitemap=None).rows))
    assert every.stopped == ""
    assert not every.reasons("limit")


def test_max_depth() -> None:
    found = crawl(tree, max_depth=1, sitemap=None)
    assert [path for path in found.rows if path.endswith("/")] == ["/", "/a0/", "/b0/", "/c0/"]
    assert found.skipped["/a0/b1/"] == ("depth", "max_depth=1", 2, ORIGIN + "/a0/")


def test_patterns_keep_addresses_out() -> None:
    found = crawl(tree, include=("/a0/", "/b0/"), exclude=(r"/b0/a", "*?x=1"), sitemap=None)
    assert found.skipped["/c0/"][:2] == ("pattern", "include")
    assert found.skipped["/b0/a1/"][:2] == ("pattern", "/b0/a")
    assert found.rows[:3] == ["/", "/a0/", "/b0/"]
    assert len(found.rows) == 1 + (1 + 3 + 9 + 27) + (1 + 2 + 6 + 18)


def test_redirects_are_edges_and_cost_no_click() -> None:
    web = {
        "/": Made(["/old", "/far"], words(1)),
        "/old": Made(to="/older"),
        "/older": Made(to="/new"),
        "/new": Made(["/deep"], words(2)),
        "/far": Made(["/new"], words(3)),
        "/deep": Made([], words(4)),
    }
    found = crawl(site(web), sitemap=None)
    assert dict(zip(found.rows, found.depths, strict=True)) == {
        "/": 0,
        "/old": 1,
        "/far": 1,
        "/older": 1,
        "/new": 1,
        "/deep": 2,
    }
    table = found.links
    redirect = KINDS.index("redirect")
    edges = [
        (table.urls[source].removeprefix(ORIGIN), table.urls[target].removeprefix(ORIGIN))
        for source, target, kind in zip(table.source, table.target, table.kind, strict=True)
        if kind == redirect
    ]
    assert edges == [("/old", "/older"), ("/older", "/new"), ("/older", "/new")]


def test_a_redirect_elsewhere_is_external_and_one_of_the_start_is_the_site() -> None:
    def write(path: str) -> Made | None:
        return {
            "/": Made(to="https://www.a.example/"),
            "https://www.a.example/": Made(["/x", "/out"], words(1)),
            "https://www.a.example/x": Made([], words(2)),
            "https://www.a.example/out": Made(to="https://elsewhere.example/"),
            "https://elsewhere.example/": Made(["/never"], words(3)),
        }.get(path)

    found = crawl(write, sitemap=None)
    assert found.rows == ["/", *(f"https://www.a.example{path}" for path in ("/", "/x", "/out"))]
    assert found.skipped == {
        "https://elsewhere.example/": ("external", "elsewhere.example", 1, "https://www.a.example/out")
    }


def test_what_only_a_sitemap_lists_comes_last_and_has_no_depth() -> None:
    web = {
        "/": Made(["/a"], words(1)),
        "/a": Made([], words(2)),
        "/orphan": Made(["/found"], words(3)),
        "/found": Made([], words(4)),
    }
    found = crawl(site(web), listed=["/orphan", "/a"])
    assert list(zip(found.rows, found.depths, strict=True)) == [
        ("/", 0),
        ("/a", 1),
        ("/orphan", None),
        ("/found", None),
    ]


@pytest.mark.parametrize(
    ("link", "scope", "reason"),
    [
        (("/x", "link", 1), {}, "nofollow"),
        (("/x", "link", 2), {}, "nofollow"),
        (("/x", "link", 4), {}, "nofollow"),
        (("/x", "link", 1), {"nofollow": True}, None),
        (("/x", "hreflang", 0), {}, "kind"),
        (("/x", "next", 0), {}, "kind"),
        (("/x", "form", 0), {}, "kind"),
        (("/x", "hreflang", 0), {"follow": ("link", "hreflang")}, None),
        (("/x", "canonical", 0), {}, None),
        (("/x", "frame", 0), {}, None),
        (("/x", "refresh", 0), {}, None),
        (("/x", "canonical", 0), {"follow": ("link",)}, "kind"),
    ],
)
def test_which_links_are_followed(link: Any, scope: dict[str, Any], reason: str | None) -> None:
    found = crawl(site({"/": Made([link], words(1)), "/x": Made([], words(2))}), sitemap=None, **scope)
    assert (found.skipped.get("/x") or (None,))[0] == reason
    assert ("/x" in found.rows) == (reason is None)


def test_another_link_to_the_same_address_may_be_followed() -> None:
    web = {
        "/": Made([("/x", "link", 1), ("/y", "hreflang", 0), "/a"], words(1)),
        "/a": Made(["/x", "/y"], words(2)),
        "/x": Made([], words(3)),
        "/y": Made([], words(4)),
    }
    found = crawl(site(web), sitemap=None)
    assert list(zip(found.rows, found.depths, strict=True)) == [("/", 0), ("/a", 1), ("/x", 2), ("/y", 2)]
    assert found.skipped == {}


def test_a_page_that_says_nofollow() -> None:
    web = {"/": Made(["/x"], words(1), nofollow=True), "/x": Made([], words(2))}
    assert crawl(site(web), sitemap=None).reasons("nofollow") == {"/x"}
    assert crawl(site(web), sitemap=None, nofollow=True).rows == ["/", "/x"]


def test_resources_are_no_addresses_of_pages() -> None:
    web = {"/": Made([("/i.png", "image", 0), ("/s.js", "script", 0), ("/c.css", "stylesheet", 0)], "x")}
    found = crawl(site(web), sitemap=None)
    assert (found.rows, found.skipped) == (["/"], {})
    assert len(found.links) == 3


def test_robots_and_files_are_skipped_but_not_the_start() -> None:
    web = {
        "/": Made(["/blocked", "/a.pdf", "/dead"], words(1)),
        "/blocked": Made(error="robots"),
        "/a.pdf": Made(error="not_html"),
        "/dead": Made(error="timeout"),
    }
    found = crawl(site(web), sitemap=None)
    assert found.rows == ["/", "/dead"]
    assert {path: skip[0] for path, skip in found.skipped.items()} == {
        "/blocked": "robots",
        "/a.pdf": "not_html",
    }
    assert crawl(site({"/": Made(error="robots")}), sitemap=None).rows == ["/"]


def test_parameters_are_dropped_on_demand_only() -> None:
    web = {"/": Made(["/a?utm_source=x", "/a?b=1&gclid=2", "/a?b=1", "/a"], words(1))}

    def write(path: str) -> Made | None:
        return web.get(path) or (Made([], words(path)) if path.startswith("/a") else None)

    assert len(crawl(write, sitemap=None).rows) == 5
    assert crawl(write, sitemap=None, query=("tracking",)).rows == ["/", "/a", "/a?b=1"]
    assert crawl(write, sitemap=None, query=("drop",)).rows == ["/", "/a"]
    assert crawl(write, sitemap=None, query=("b",)).rows == ["/", "/a?utm_source=x", "/a?gclid=2", "/a"]


def test_subdomains_by_the_public_suffix_list() -> None:
    def write(path: str) -> Made | None:
        if path == "/":
            return Made(["https://shop.a.example/", "https://b.example/", "https://example/"], words(1))
        return Made([], words(path)) if path.startswith("https://shop.") else None

    assert crawl(write, sitemap=None).rows == ["/"]
    assert crawl(write, sitemap=None, subdomains=True).rows == ["/", "https://shop.a.example/"]
