"""What axe-core, the checker of accessibility that browsers' tools use, says of everything that is shown.

``WEBANALYTICS_AXE`` names its script, ``axe.min.js`` of the npm package ``axe-core``; `.ci/run` fetches it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import webanalytics as wa
from tests.notebook.browser.desk_page import DESK, TABS, audit, key_of, open_tab
from tests.notebook.browser.lab import Lab
from tests.notebook.browser.plain_page import PlainPage
from webanalytics.fetching.testing import SampleSite
from webanalytics.notebook.explorer.explorer import Explorer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SCRIPT = os.environ.get("WEBANALYTICS_AXE", "")
pytestmark = pytest.mark.skipif(not SCRIPT, reason="WEBANALYTICS_AXE does not name axe.min.js of axe-core")
DOCS = Path(__file__).parents[3] / "docs"
THEMES = ("light", "dark")
LANGUAGES = {(390, "light"): "de", (390, "dark"): "fr", (1400, "light"): "es"}
"""Languages besides English, each at one width and in one theme: style sheets do not depend on them."""

RUN = """async place => {
    const { violations } = await axe.run(place ?? document, { resultTypes: ["violations"] });
    return violations.filter(found => ["serious", "critical"].includes(found.impact)).flatMap(
        found => found.nodes.map(node => `${found.id}: ${node.target.join(" ")}: ${node.failureSummary}`));
}"""


def serious(page: Page, place: str | None = None) -> list[str]:
    """Return what axe-core calls serious or critical in a page, or in a part of it."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(Path(SCRIPT).read_text("utf-8"))
    found: list[str] = page.evaluate(RUN, place)
    return found


@pytest.fixture(scope="module")
def crawled(site: SampleSite) -> wa.Audit:
    return wa.crawl(site.url, allow_private=True, progress=False, workers=1)


@pytest.mark.parametrize("theme", THEMES)
def test_the_explorer(chromium: Browser, crawled: wa.Audit, theme: str) -> None:
    page = PlainPage(chromium, Explorer(crawled), dark=theme == "dark").draw()
    page.locator(".wa-panel[data-tab=overview] .wa-finding").first.wait_for()
    for tab in ("Metadata", *TABS, "Site"):  # first with a page that nobody has chosen
        page.locator(f"[role=tab][data-tab={key_of(tab)}]").click()
        if tab in ("Issues", "Pages"):
            page.locator(f".wa-panel[data-tab={key_of(tab)}] tbody tr[data-row='0'] td").nth(2).click()
        page.wait_for_timeout(500)
        assert serious(page) == [], tab


def test_a_check_that_finds_nothing_would_be_none(chromium: Browser) -> None:
    page = chromium.new_context().new_page()
    page.set_content("<title>x</title><img src='data:,'><p style='color:#ccc;background:#fff'>Hard to read")
    assert {found.partition(":")[0] for found in serious(page)} >= {"image-alt", "color-contrast"}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", [390, 1400])
def test_the_report(chromium: Browser, crawled: wa.Audit, tmp_path: Path, theme: str, width: int) -> None:
    before = wa.Audit(crawled.raw.iloc[1:], crawled.origin)
    languages = {"en", LANGUAGES.get((width, theme), "en")}
    files = [crawled.report(tmp_path / f"{name}.html", language=name) for name in languages]
    for file in (*files, wa.compare(before, crawled).report(tmp_path / "changes.html")):
        settings = {"viewport": {"width": width, "height": 900}, "color_scheme": theme}
        page = chromium.new_context(**settings, bypass_csp=True).new_page()  # type: ignore[arg-type]
        page.goto(file.as_uri())
        page.locator("#list tbody a").first.wait_for()
        page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
        page.wait_for_timeout(300)
        assert serious(page) == [], file.name
        page.locator("#list tbody a").first.click()
        page.get_by_role("dialog").wait_for()
        assert serious(page) == [], f"a card of {file.name}"
        page.context.close()


def test_the_desk(lab: Lab, site: SampleSite) -> None:
    notebook = lab(DESK)
    headers = notebook.output().locator(".jupyter-widget-Collapse-header")
    opened = ("Fetches at once", "User name")
    for theme, header, field in zip(
        ("JupyterLab Light", "JupyterLab Dark"), headers.all(), opened, strict=True
    ):
        notebook.theme(theme)
        header.click()
        notebook.output().get_by_label(field).wait_for()
        notebook.shot(f"desk-form-{field.split()[0].lower()}")
        assert serious(notebook.page, ".jp-OutputArea") == [], theme
    audit(notebook, site.pages[:8], "Overview")
    for tab in ("Overview", "Issues", "Pages"):
        open_tab(notebook, tab)
        assert serious(notebook.page, ".jp-OutputArea") == [], tab


@pytest.mark.timeout(900)
def test_the_documentation(chromium: Browser, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(DOCS), str(tmp_path / "site")]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    pages = ("index", "guides/audits", "guides/charts", "reference/api", "rules/index", "rules/title_missing")
    for theme in THEMES:
        for name in pages:
            page = chromium.new_context(color_scheme=theme).new_page()  # type: ignore[arg-type]
            page.goto((tmp_path / "site" / f"{name}.html").as_uri())
            assert serious(page) == [], f"{name}, {theme}"
            page.context.close()
