"""The desk in a notebook, as tests use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.notebook.browser.lab import Notebook

if TYPE_CHECKING:
    from playwright.sync_api import Locator

DESK = "from webanalytics.notebook.widgets import app\ndesk = app()\ndesk"
TABS = ("Overview", "Issues", "To do", "Pages", "Metadata", "Readability", "Keywords", "Failures")


def key_of(tab: str) -> str:
    """Return what a tab is called in the page's own attributes."""
    return tab.lower().replace(" ", "-")


def pages_table(notebook: Notebook) -> Locator:
    return notebook.output().locator(".wa-panel[data-tab=pages] table.wa-table")


_CELLS = """(table, key) => {
    const place = [...table.querySelectorAll("thead th")].findIndex((cell) => cell.dataset.key === key);
    return [...table.querySelectorAll("tbody tr[data-row]")].map((row) => row.children[place].innerText);
}"""


def column(notebook: Notebook, key: str) -> list[str]:
    """The cells of one column of the rows that are drawn, from the top."""
    cells: list[str] = pages_table(notebook).evaluate(_CELLS, key)  # in one step: columns may come meanwhile
    return cells


def count(notebook: Notebook) -> Locator:
    return notebook.output().locator(".wa-panel[data-tab=pages] .wa-count")


def fill(notebook: Notebook, urls: list[str]) -> None:
    """Type URLs and allow the loopback address that the test's site has."""
    area = notebook.output().locator(".widget-textarea textarea")
    area.fill("\n".join(urls))
    area.blur()
    allow_loopback(notebook)


def allow_loopback(notebook: Notebook) -> None:
    notebook.output().locator(".jupyter-widget-Collapse-header", has_text="Options").click()
    notebook.output().get_by_label("Private and loopback addresses too").check()


def press(notebook: Notebook, name: str) -> None:
    notebook.output().get_by_role("button", name=name, exact=True).click()


def open_tab(notebook: Notebook, name: str) -> None:
    notebook.output().get_by_role("tab", name=name).click()


def audit(notebook: Notebook, urls: list[str], tab: str = "Pages") -> None:
    """Run the desk over URLs to its end and open a tab."""
    fill(notebook, urls)
    press(notebook, "Run")
    notebook.output().get_by_text("Done in").wait_for()
    open_tab(notebook, tab)


def numbers(cells: list[str]) -> list[float]:
    return [float(cell.replace(",", "")) for cell in cells if cell != "–"]
