"""The chapter of the site, and the links on the cards of pages, in the report of a crawl."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from lxml import html

import webanalytics as wa
from tests.audits.crawled import HOST, at, crawl, failed, link
from webanalytics.audits.graph.neighbours import neighbours_frame
from webanalytics.runs.frames.link_table import CHECKED, SKIPPED, TRAPS
from webanalytics.runs.frames.schema import frame_of

EVIL = '<img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def audit() -> wa.Audit:
    return crawl(
        {
            "/": [
                link("/a", "Tea"),
                link("/a", EVIL),
                link("/404", "Old"),
                link("javascript:alert(1)//", "X"),
            ],
            "/a": [link("/", "Home", rel=1), link("/404", "Older"), "https://other.example/x"],
            "/orphan": [],
        },
        failed("/404", "status", status=404),
        skipped=frame_of(SKIPPED, [{"url": at("/c"), "reason": "depth", "links": 2}] * 2),
        checked=frame_of(
            CHECKED, [{"url": "https://other.example/x", "verdict": "gone", "http_status": 410}]
        ),
        traps=frame_of(TRAPS, [{"pattern": f"/x/{EVIL}", "fetched": 3, "evidence": "They are equal."}]),
    )


@pytest.fixture(scope="module")
def written(audit: wa.Audit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return audit.report(tmp_path_factory.mktemp("report") / "report.html")


def data_of(path: Path) -> dict[str, Any]:
    (text,) = html.parse(path).xpath('//script[@id="data"]/text()')
    found: dict[str, Any] = json.loads(text)
    return found


def test_the_chapter_tells_depth_weight_and_what_was_left_out(written: Path) -> None:
    (chapter,) = html.parse(written).xpath('//section[@aria-labelledby="site"]')
    tables = chapter.xpath(".//table")
    rows = [[" ".join(cell.text_content().split()) for cell in row] for row in tables[0].xpath(".//tr")]
    assert rows == [
        ["Clicks", "Addresses", "Read", "4xx"],
        ["start", "1", "1", "·"],
        ["1", "2", "1", "1"],
        ["not linked", "1", "1", "·"],
    ]
    assert len(tables[1].xpath(".//tbody/tr")) == 3
    assert "deeper than max_depth" in tables[2].text_content()
    assert [details.xpath("string(summary)") for details in chapter.xpath(".//details")] == [
        "Broken links, with every page that has them 3",
        "Orphans, to which no page links 1",
        "Traps 1",
        "Seen and left out 2",
    ]


def test_broken_links_are_listed_with_every_page_that_has_them(written: Path) -> None:
    data = data_of(written)
    (broken,) = (change for change in data["changes"] if change["name"].startswith("Broken links"))
    cells = data["cells"]
    rows = [
        tuple(cells[broken["columns"][name][row]] for name in ("url", "anchor", "leads_to", "verdict"))
        for row in range(broken["rows"])
    ]
    assert rows == [
        (at("/"), "Old", at("/404"), "gone"),
        (at("/a"), "Older", at("/404"), "gone"),
        (at("/a"), "", "https://other.example/x", "gone"),
    ]


def test_each_page_has_its_links_with_their_texts(written: Path) -> None:
    data = data_of(written)
    around, cells = data["links"], data["cells"]
    row = [cells[place] for place in data["pages"]["url"]].index(at("/a"))
    shown = {}
    for side, found in around.items():
        places = range(found["starts"][row], found["starts"][row + 1])
        shown[side] = [
            (
                found["page"][place],
                cells[found["url"][place]],
                cells[found["text"][place]],
                found["links"][place],
            )
            for place in places
        ]
    assert shown["in"] == [(0, None, f"Tea | {EVIL}", 2)]
    assert [(url, text) for _, url, text, _ in shown["out"]] == [
        (None, "Home"),
        (None, "Older"),
        ("https://other.example/x", ""),
    ]
    assert around["in"]["nofollow"][around["in"]["starts"][0]] == 1


def test_nothing_of_a_page_is_markup(written: Path) -> None:
    text = written.read_text("utf-8")
    assert EVIL not in text
    assert not re.search(r'href="javascript', text)


def test_the_report_of_some_rows_has_their_links_alone(audit: wa.Audit, tmp_path: Path) -> None:
    part = audit.select(audit.raw["url"] == at("/a"))
    data = data_of(part.report(tmp_path / "report.html"))
    assert data["links"]["out"]["starts"] == [0, 3]


def test_an_audit_of_given_pages_has_no_such_chapter(audit: wa.Audit, tmp_path: Path) -> None:
    path = wa.Audit(audit.raw).report(tmp_path / "report.html")
    assert not html.parse(path).xpath('//section[@aria-labelledby="site"]')
    assert "links" not in data_of(path)


def test_many_pages_show_fewer_links_each() -> None:
    pages = {f"/{place}": [f"/{other}" for other in range(40)] for place in range(40)}
    made = crawl(pages, starts=["/0"])
    frame = neighbours_frame(made.site.graph, made.raw["url"].tolist(), most_rows=400)
    assert frame.groupby(["url", "side"]).size().max() == 5
    assert isinstance(frame, pd.DataFrame)
    assert frame["url"].str.startswith(HOST).all()
