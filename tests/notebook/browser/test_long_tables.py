"""A long table in a plain page, against pandas on the same frame: order, filters, search and what cells say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tests.notebook.browser.plain_page import PlainPage
from webanalytics.notebook.explorer.explorer import Explorer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

ROWS = 6_000
RANDOM = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {
        "url": [f"https://a.example/{row}" for row in range(ROWS)],
        "title": [f"Ähre {row % 7}" for row in range(ROWS)],
        "wordCount": RANDOM.integers(30_000, 50_000, ROWS),
        "indexable": RANDOM.random(ROWS) < 0.5,
        "elapsed": RANDOM.random(ROWS) / 1_000,
    }
)


def shown(panel: Locator) -> list[int]:
    rows = panel.locator("tbody tr[data-row]").all()
    return [int(row.get_attribute("data-row") or -1) for row in rows]


def opened(chromium: Browser, frame: pd.DataFrame) -> tuple[Page, Locator]:
    page = PlainPage(chromium, Explorer(frame)).draw()
    page.get_by_role("tab", name="Pages", exact=True).click()
    panel = page.locator(".wa-panel[data-tab=pages]")
    page.wait_for_function(
        "() => !document.querySelector('[data-tab=pages] .wa-count').textContent.includes('coming')"
    )
    return page, panel


def test_rows_are_those_of_pandas(chromium: Browser) -> None:
    page, panel = opened(chromium, FRAME)
    for ascending in (True, False):
        panel.locator("th[data-key=elapsed] button").click()
        expected = FRAME["elapsed"].sort_values(ascending=ascending, kind="stable").index.tolist()
        rows = shown(panel)
        assert rows == expected[: len(rows)]
    panel.locator("th[data-key=elapsed] button").click()
    panel.get_by_role("button", name="Column filters").click()
    count = panel.locator(".wa-count")
    panel.get_by_label("Filter by Seconds").fill("<0.00025")
    found = FRAME.index[FRAME["elapsed"] < 0.00025].tolist()
    assert shown(panel) == found[: len(shown(panel))]
    assert count.inner_text() == f"{len(found):,} of 6,000 pages"
    panel.get_by_label("Filter by Seconds").fill("")
    search = panel.get_by_role("searchbox")
    for said, expected_count in (("yes", FRAME["indexable"].sum()), ("true", 0), ("ÄHRE 3", ROWS // 7)):
        search.fill(said)
        assert count.inner_text() == f"{expected_count:,} of 6,000 pages", said
    search.fill("")
    cells = panel.locator("tbody tr[data-row] td:nth-child(5)")
    assert "0.000" not in cells.all_inner_texts()
    assert "< 0.001" in panel.locator("tbody").inner_text(), "a part of a millisecond is not nothing"
    page.get_by_role("tab", name="Overview").click()
    too_wide = page.locator(".wa-tile").evaluate_all("all => all.filter(e => e.scrollWidth > e.clientWidth)")
    assert f"{FRAME['wordCount'].sum():,}" in page.locator(".wa-tiles").inner_text()
    assert too_wide == []


def test_what_has_no_page_is_counted_as_an_address(chromium: Browser) -> None:
    frame = pd.DataFrame(
        {
            "url": [f"https://a.example/{row}" for row in range(4)],
            "status": ["ok", "ok", "error", "error"],
            "http_status": [200, 200, 404, 500],
            "error_type": [None, None, "http", "http"],
            "error": [None, None, "The page answered HTTP 404.", "The page answered HTTP 500."],
            "score": [71.0, 98.0, None, None],
        }
    )
    page, panel = opened(chromium, frame)
    assert panel.locator(".wa-count").inner_text() == "4 addresses"
    assert panel.locator("tbody tr[data-row='0']").inner_text().split("\t")[2] == "71"
    panel.get_by_role("searchbox").fill("404")
    assert panel.locator(".wa-count").inner_text() == "1 of 4 addresses"
    page.get_by_role("tab", name="Failures").click()
    assert page.locator(".wa-group summary").all_inner_texts() == [
        "1 address: The page answered HTTP 404. http",
        "1 address: The page answered HTTP 500. http",
    ]
    page.get_by_role("tab", name="Overview").click()
    figures = page.get_by_label("Key figures").inner_text().split("\n")
    assert figures[figures.index("Pages") + 1] == "3"  # what answers 404 is none
