"""Answers of the kernel that come while a reader does something: nothing that was chosen is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

import webanalytics as wa
from tests.notebook.browser.plain_page import PlainPage
from webanalytics.notebook.explorer.explorer import Explorer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

URLS = [f"https://a.example/{number}" for number in range(40)]
ROW = ".wa-panel[data-tab=pages] tbody tr[data-row='{}']"


@pytest.fixture
def late(chromium: Browser) -> PlainPage:
    """An explorer whose kernel has not yet said what the issues are."""
    html = [f"<title>Page {number}</title><p>Tea" for number in range(40)]
    audit = wa.audit(pd.DataFrame({"url": URLS, "html": html}), progress=False, workers=1)
    made = PlainPage(chromium, Explorer(audit))
    made.holding = True
    made.draw().get_by_role("tab", name="Pages").click()
    return made


def columns(page: Page) -> int:
    return page.locator(".wa-panel[data-tab=pages] thead tr").first.locator("th").count()


def test_the_keyboard_stays_where_it_is(late: PlainPage) -> None:
    page, before = late.page, columns(late.page)
    page.locator(ROW.format(0)).focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    late.release()
    page.wait_for_function(
        "before => document.querySelectorAll('.wa-panel[data-tab=pages] thead tr:first-child th').length > before",
        arg=before,
    )
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("tr[aria-selected=true]").first.get_attribute("data-row") == "4"
    assert page.evaluate("model.get('selected')") == 4


def test_a_row_pressed_while_an_answer_comes_is_chosen(late: PlainPage) -> None:
    page = late.page
    page.locator(ROW.format(2)).hover()
    page.mouse.down()
    late.release()
    page.wait_for_timeout(50)
    page.mouse.up()
    page.locator("tr[aria-selected=true]").first.wait_for()
    assert page.evaluate("model.get('selected')") == 2
    page.locator(".wa-panel[data-tab=pages] .wa-page-title").get_by_text(URLS[2]).wait_for()
    assert columns(page) > 4, "what came meanwhile is drawn after the click"


def test_a_page_chosen_while_it_is_asked_for_unasked_is_shown(late: PlainPage) -> None:
    page = late.page
    page.get_by_role("tab", name="Metadata").click()  # asks for the first page, which nobody chose
    page.get_by_role("tab", name="Pages").click()
    page.locator(ROW.format(0)).locator("td").nth(2).click()
    late.release()
    page.locator(".wa-panel[data-tab=pages] .wa-page-title").get_by_text(URLS[0]).wait_for()


def test_how_far_the_work_is_is_said_until_its_answer_comes(
    chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webanalytics.notebook.explorer.explorer.TELL_SECONDS", 0.0)
    html = [f"<title>Page {number}</title><p>Tea" for number in range(40)]
    audit = wa.audit(pd.DataFrame({"url": URLS, "html": html}), progress=False, workers=1)
    made = PlainPage(chromium, Explorer(audit))
    made.holding = True
    page, status = made.draw(), ".wa-explorer > .wa-note[role=status]"
    page.wait_for_timeout(100)
    *told, answer = made.held
    assert '"progress": "Contents: 40 of 40"' in "".join(told)
    made.held = [text for text in told if "Contents: 40 of 40" in text]
    made.release()
    page.locator(status).get_by_text("Contents: 40 of 40").wait_for()
    made.held = [answer]
    made.release()
    page.get_by_role("tab", name="Issues (").wait_for()
    assert page.locator(status).text_content() == ""
