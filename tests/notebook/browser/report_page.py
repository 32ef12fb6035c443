"""A report in the browser, as tests read it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WATCH = """addEventListener("securitypolicyviolation", event => console.error(
    `policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`))"""


class Reader:
    """Opens reports, and notes everything that none may do."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self.wrong: list[str] = []

    def open(self, file: Path, fragment: str = "", **options: Any) -> Page:
        context = self._browser.new_context(**{"viewport": {"width": 1400, "height": 900}} | options)
        context.add_init_script(WATCH)
        page = context.new_page()
        page.on("console", lambda message: self.wrong.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (self.wrong.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: self._requested(request.url))
        page.goto(f"{file.as_uri()}{fragment}")
        return page

    def _requested(self, url: str) -> None:
        if not url.startswith("file:"):
            self.wrong.append(f"request: {url[:200]}")


def until(page: Page, expression: str, argument: Any = None) -> None:
    """Wait for something in the page, without the eval in it that its policy forbids."""
    end = time.monotonic() + 30
    while not page.evaluate(expression, argument):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(20)


def matches(page: Page, text: str) -> None:
    until(page, "text => document.getElementById('matches').textContent === text", text)


def shown(page: Page) -> list[int]:
    """Numbers of the pages in the list, in its order."""
    return [int(row.get_attribute("data-page") or 0) for row in page.locator("#list [data-page]").all()]
