"""Pictures of a crawl: its depth, its sections, and the links between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes

import webanalytics as wa
from tests.audits.crawled import HOST, crawl, failed, link
from tests.audits.sites import moved
from tests.notebook.charts.reading import labels, texts, title
from webanalytics.errors import ParameterError
from webanalytics.notebook.charts import crawl_depth, link_flow, site_map
from webanalytics.notebook.charts.crawl import CLASSES, DEEPEST
from webanalytics.notebook.charts.site_map import Box, squarified

Picture = Callable[[Axes], Any]


@pytest.fixture(scope="module")
def site() -> wa.Audit:
    pages = {
        "/": ["/docs/api/a", "/docs/api/b", "/blog/x", "/old", "/missing", link("/blog/y", rel=1)],
        "/docs/api/a": ["/docs/api/b", "/docs/api/b", "/", "/slow"],
        "/old": [link("/blog/x", kind="redirect")],
        "/blog/x": ["/", link("https://other.example/z"), link("/a.png", kind="image")],
    }
    return crawl(
        pages,
        moved("/old", "/blog/x"),
        failed("/missing", "status", status=404),
        failed("/slow", "timeout", seconds=30),
    )


def test_depth_has_one_bar_for_each_number_of_clicks(site: wa.Audit, picture: Picture) -> None:
    ax = crawl_depth(site)
    assert labels(ax) == ["start", "1 click", "not linked"]
    assert [text for text in texts(ax) if "%" in text] == ["1  (14%)", "5  (71%)", "1  (14%)"]
    legend: Any = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["read", "redirected", "client error (4xx)"]
    assert title(ax) == "Depth of 7 pages"  # as many as the bars show
    assert "1 failed (1 timeout)" in texts(ax)
    picture(ax)


def test_bars_of_one_depth_add_up() -> None:
    frame = pd.DataFrame({"crawl_depth": [1] * 6, "http_status": [200, 200, 404, 410, 500, None]})
    ax = crawl_depth(frame)
    bars = sorted((bar.get_x(), bar.get_width(), bar.get_facecolor()) for bar in ax.patches)
    assert [(start, width) for start, width, _ in bars] == [(0, 3), (3, 2), (5, 1)]
    assert len({colour for *_, colour in bars}) == 3
    assert len(set(CLASSES.values())) == len(CLASSES)


def test_very_deep_pages_share_a_bar() -> None:
    ax = crawl_depth(pd.DataFrame({"crawl_depth": [*range(40)]}))
    assert labels(ax)[-1] == f"{DEEPEST} or more"
    assert ax.patches[-1].get_width() == 40 - DEEPEST


def test_areas_of_a_map_are_in_proportion_to_pages(picture: Picture) -> None:
    paths = ["/a/x/1", "/a/x/2", "/a/y/1", "/b/1", "/"]
    frame = pd.DataFrame({"url": [HOST + path for path in paths], "link_score": [0, 10, 50, 90, None]})
    ax = site_map(frame, by="link_score")
    named = [text.get_text() for text in ax.texts]
    assert {"a  3 pages", "b  1 page", "(top level)  1 page", "x", "y"} <= set(named)
    colours = {patch.get_facecolor() for patch in ax.patches}
    assert len(colours) == 4  # 0 to 20, 40 to 60, 80 to 100, and unknown
    picture(ax)


def test_a_map_of_an_audit_counts_its_issues(site: wa.Audit, picture: Picture) -> None:
    ax = site_map(site)
    assert title(ax) == "6 pages by section and issues"
    assert "docs  2 pages" in {text.get_text() for text in ax.texts}
    picture(ax)
    picture(site_map(site, by="link_score"))


def test_pages_of_many_hosts_are_cut_by_hosts() -> None:
    frame = pd.DataFrame(
        {"url": [f"https://www.{name}.example/de/{n}/x" for name in "abc" for n in range(3)]}
    )
    said = {text.get_text() for text in site_map(frame).texts}
    assert {"a.example  3 pages", "b.example  3 pages", "c.example  3 pages"} <= said


def test_many_sections_share_an_area() -> None:
    urls = [f"{HOST}/section-{place}/{page}" for place in range(50) for page in range(1 + (place == 0))]
    ax = site_map(pd.DataFrame({"url": urls, "issues_high": range(len(urls))}), top=4)
    assert "46 smaller sections  46 pages" in {text.get_text() for text in ax.texts}
    assert len(ax.patches) == 50  # each in a colour of its own
    hosts = pd.DataFrame({"url": [f"https://a{place}.example/de/{n}" for place in range(50) for n in (1, 2)]})
    said = [text.get_text() for text in site_map(hosts, top=4).texts]
    assert "46 smaller hosts  92 pages" in said
    assert said.count("de") <= sum(text.startswith("a") for text in said), "no folder without its host"
    with pytest.raises(ParameterError, match="`by`"):
        site_map(hosts, by="score")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="`top`"):
        site_map(hosts, top=61)


def test_pages_that_are_alone_in_their_sections_are_told_in_a_sentence(picture: Picture) -> None:
    ax = site_map(pd.DataFrame({"url": [f"https://a{place}.example/de/x" for place in range(91)]}))
    assert not ax.axison
    assert [text.get_text() for text in ax.texts] == [
        "Each page is the only one of its section: there are no areas to compare."
    ]
    picture(ax)


@given(st.lists(st.integers(1, 100_000), min_size=1, max_size=25))
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
def test_rectangles_fill_their_area_and_lie_apart(values: list[int]) -> None:
    values = sorted(values, reverse=True)
    outer = Box(2, 3, 100, 60)
    boxes = squarified(values, outer)
    areas = np.array([box.width * box.height for box in boxes])
    assert areas == pytest.approx(np.array(values) / sum(values) * 6_000, rel=1e-6, abs=1e-6)
    for place, box in enumerate(boxes):
        assert box.x >= 2 - 1e-5
        assert box.y >= 3 - 1e-5
        assert box.x + box.width <= 102 + 1e-5
        assert box.y + box.height <= 63 + 1e-5
        for other in boxes[:place]:
            across = min(box.x + box.width, other.x + other.width) - max(box.x, other.x)
            along = min(box.y + box.height, other.y + other.height) - max(box.y, other.y)
            assert min(across, along) <= 1e-5


def test_links_between_sections_are_counted(site: wa.Audit, picture: Picture) -> None:
    ax = link_flow(site)
    # without what redirects to it, other sites and pictures, and each pair of pages once
    assert labels(ax) == ["(top level)", "docs", "blog"]
    (image,) = ax.images
    cells: Any = image.get_array()
    assert cells.tolist() == [[2, 2, 2], [2, 1, 0], [1, 0, 0]]
    assert "rows link, columns are linked to" in texts(ax)
    picture(ax)


def test_links_as_texts_are_counted_as_those_of_an_audit(site: wa.Audit) -> None:
    plain = site.links.astype(dict.fromkeys(("source", "target", "kind"), object))
    (one,), (other,) = link_flow(plain).images, link_flow(site.links).images
    assert one.get_array().tolist() == other.get_array().tolist()


def test_forty_sections_are_readable(picture: Picture) -> None:
    urls = [f"{HOST}/a-long-name-of-section-{place}/x" for place in range(45)]
    frame = pd.DataFrame({"source": urls, "target": urls[1:] + urls[:1]})
    ax = link_flow(frame, max_sections=40)
    assert len(labels(ax)) == 40
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {90.0}
    assert any("40 of 45 sections" in text for text in texts(ax))
    picture(ax)
