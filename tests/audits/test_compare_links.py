"""What changed in the links of a site, from one crawl to another."""

from __future__ import annotations

import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.crawled import HOST, at, crawl, failed, link, page
from webanalytics.runs.frames.link_table import CHECKED
from webanalytics.runs.frames.schema import frame_of

OTHER = "https://other.example/x"


def checked(verdict: str, status: int) -> pd.DataFrame:
    return frame_of(CHECKED, [{"url": OTHER, "kind": "external", "verdict": verdict, "http_status": status}])


@pytest.fixture(scope="module")
def comparison() -> wa.Comparison:
    before = crawl(
        {
            "/": ["/a", "/gone", link("/breaks", "Tea"), OTHER, link("/private", "P")],
            "/a": ["/b", "/mended"],
            "/b": ["/orphan"],
            "/c": [],
        },
        failed("/mended", "status", status=404),
        checked=checked("ok", 200),
    )
    after = crawl(
        {
            "/": [
                "/a",
                "/new",
                link("/breaks", "Tea"),
                link("/breaks", "More"),
                OTHER,
                link("/private", "P"),
                "/c",
            ],
            "/a": ["/mended"],
            "/new": ["/b"],
            "/b": [],
            "/c": [],
        },
        failed("/breaks", "status", status=410),
        failed("/private", "status", status=403),
        page("/orphan"),
        checked=checked("gone", 404),
    )
    return wa.compare(before, after)


def test_links_that_came_went_broke_and_were_mended(comparison: wa.Comparison) -> None:
    links = comparison.links.fillna("")
    shown = [
        tuple(value.removeprefix(HOST) for value in row)
        for row in links[["change", "source", "target", "anchor", "before", "after"]].to_numpy().tolist()
    ]
    assert set(shown) == {
        ("broken", "/", "/breaks", "Tea", "ok", "gone"),
        ("broken", "/", OTHER, "", "ok", "gone"),
        ("mended", "/a", "/mended", "", "gone", "ok"),
        ("removed", "/", "/gone", "", "ok", ""),
        ("removed", "/a", "/b", "", "ok", "ok"),
        ("removed", "/b", "/orphan", "", "ok", "ok"),
        ("added", "/", "/new", "", "", "ok"),
        ("added", "/", "/c", "", "ok", "ok"),
        ("added", "/new", "/b", "", "ok", "ok"),
    }
    assert [row[0] for row in shown] == ["broken"] * 2 + ["mended"] + ["removed"] * 3 + ["added"] * 3


def test_depth_and_orphans(comparison: wa.Comparison) -> None:
    depths = comparison.depths.astype(object).where(comparison.depths.notna(), None)
    assert depths.to_numpy().tolist() == [[at("/orphan"), 3, None, None], [at("/c"), None, 1, None]]
    assert comparison.orphans.fillna("").to_numpy().tolist() == [
        ["new", at("/orphan"), ""],
        ["fixed", at("/c"), ""],
    ]


def test_the_parts_of_a_comparison_have_them(comparison: wa.Comparison, tmp_path: object) -> None:
    assert {"Changed links", "Changed depth", "Changed orphans"} <= set(comparison.parts())
    given = wa.Audit(comparison.before.raw)
    assert "Changed links" not in wa.compare(given, given).parts()
    assert wa.compare(given, given).links.empty


def test_two_equal_crawls_differ_in_nothing() -> None:
    audit = crawl({"/": ["/a", "/b"], "/a": ["/"]})
    same = wa.compare(audit, audit)
    assert same.links.empty
    assert same.depths.empty
    assert same.orphans.empty


def test_a_report_of_two_crawls_lists_the_changed_links(comparison: wa.Comparison, tmp_path: object) -> None:
    path = comparison.report(f"{tmp_path}/report.html")
    text = path.read_text("utf-8")
    assert "Changed links" in text
    assert 'id="site"' in text
