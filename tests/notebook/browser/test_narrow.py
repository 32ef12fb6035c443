"""What a notebook shows in a narrow window, and a picture of the explorer in the dark."""

from __future__ import annotations

import pytest

from tests.notebook.browser.desk_page import DESK
from tests.notebook.browser.lab import Lab

TEXT = "The lamp is made of brass. It burns for a night. You can order it here. We send it soon. " * 3
AUDIT = f"""import pandas as pd
import webanalytics as wa
urls = [f"https://a.example/{{number}}" for number in range(3)]
html = "<html lang=en><title>Tea</title><p>{TEXT}"
audit = wa.audit(pd.DataFrame({{"url": urls, "html": html}}), progress=False)"""
LINES = """cells => cells.map(cell => {
    const range = document.createRange();
    range.selectNodeContents([...cell.childNodes].at(-1));
    return range.getClientRects().length;
})"""


@pytest.mark.parametrize("width", [700, 420])
def test_the_priorities_of_a_table_of_issues_are_not_broken(lab: Lab, width: int) -> None:
    notebook = lab(AUDIT, "audit.issues[audit.issues.priority != 'high']", width=width)
    priorities = notebook.output().locator("tbody tr td:first-child")
    assert set(priorities.evaluate_all(LINES)) == {1}
    rules = notebook.output().locator("tbody tr td:nth-child(2)")
    assert rules.evaluate_all("cells => cells.every(cell => cell.scrollWidth <= cell.clientWidth)")
    notebook.shot(f"issues-{width}")


def test_a_button_of_the_desk_says_what_it_does(lab: Lab) -> None:
    notebook = lab(DESK, width=420)
    notebook.output().get_by_role("checkbox", name="Crawl from this address").check()
    field = notebook.output().get_by_placeholder("https://example.org/ or https://example.org/sitemap.xml")
    field.fill("https://a.example/")
    field.blur()
    notebook.output().get_by_text("the pages that links of the site lead to").wait_for()
    button = notebook.output().locator("button.widget-upload", has_text="Upload CSV")
    assert button.evaluate("button => button.scrollWidth <= button.clientWidth")


def test_the_chart_of_the_explorer_follows_the_theme(lab: Lab) -> None:
    notebook = lab(
        AUDIT,
        "audit.plot.readability()",
        "wa.options.theme = 'dark'\nwa.explore(audit)",
        "wa.options.theme = 'auto'\nwa.explore(audit)",
    )
    turned = {}
    for cell in (2, 3):
        notebook.output(cell).get_by_role("tab", name="Readability").click()
        notebook.output(cell).locator(".wa-picture img").wait_for()
    for theme in ("Light", "Dark"):
        notebook.theme(f"JupyterLab {theme}")
        turned[theme] = [
            notebook.output(cell)
            .locator(".wa-picture")
            .evaluate("picture => getComputedStyle(picture).filter != 'none'")
            for cell in (1, 2, 3)
        ]
    assert turned == {"Light": [False, False, False], "Dark": [True, False, True]}, (
        "one was drawn in the dark"
    )
