"""One JupyterLab server and one Chromium for all browser tests; a fresh page and kernel for each."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from tests.audits.report_data import MadeAudit, made_audit
from tests.notebook.browser.lab import CHROMIUM_FLAGS, SECONDS, Lab, LabServer, jupyterlab
from tests.notebook.browser.report_page import Reader
from webanalytics.audits.report import write_report
from webanalytics.fetching.testing import SampleSite, sample_site

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what lies in this folder, and give it the time a busy machine needs."""
    config.addinivalue_line("markers", "browser: drives a real browser; in a pytest process of its own")
    for item in items:
        if "tests/notebook/browser/" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.timeout(300))


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A JupyterLab server with all its files in a temporary folder."""
    for module in ("jupyterlab", "ipykernel"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    with jupyterlab(tmp_path_factory.mktemp("jupyterlab")) as server:
        yield server


class Browsers:
    """Starts a Chromium when the first test needs one, and another one after one that has died."""

    def __init__(self, launch: Callable[[], Browser]) -> None:
        self._launch = launch
        self._browser: Browser | None = None

    def working(self) -> Browser:
        """Return a browser that can open a page."""
        if self._browser is not None and not self._answers(self._browser):
            self.close()
        if self._browser is None:
            self._browser = self._launch()
        return self._browser

    @staticmethod
    def _answers(browser: Browser) -> bool:
        if not browser.is_connected():
            return False
        try:
            browser.new_context().close()
        except Exception:  # playwright's: the process has gone or cannot start another
            return False
        return True

    def close(self) -> None:
        """Close the browser, if there is one."""
        browser, self._browser = self._browser, None
        if browser is not None:
            with suppress(Exception):  # it may be dead
                browser.close()


@pytest.fixture(scope="session")
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browsers]:
    """The source of headless Chromiums, that of the system."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("chromium is not installed")
    playwright.expect.set_options(timeout=SECONDS * 1000)
    settings = {
        "executable_path": path,
        "args": list(CHROMIUM_FLAGS),
        "timeout": SECONDS * 1000,
        "env": os.environ | {"XDG_CONFIG_HOME": str(tmp_path_factory.mktemp("chromium"))},
    }
    with playwright.sync_playwright() as driver:
        found = Browsers(lambda: driver.chromium.launch(**settings))
        yield found
        found.close()


@pytest.fixture
def chromium(browsers: Browsers) -> Browser:
    """A Chromium that works: one that a test before has killed costs that test alone."""
    return browsers.working()


@pytest.fixture
def lab(request: pytest.FixtureRequest, chromium: object, lab_server: LabServer) -> Iterator[Lab]:
    """``lab("import webanalytics as wa", "wa.widgets.tlsa_checker()")`` opens and runs such a notebook.

    The test fails when the browser's console held an error.
    """
    name = re.sub(r"\W+", "-", request.node.name)
    factory = Lab(lab_server, chromium, name)  # type: ignore[arg-type]
    yield factory
    errors = [error for notebook in factory.opened for error in notebook.console_errors]
    for notebook in factory.opened:
        notebook.close()
    assert errors == []


@pytest.fixture(scope="module")
def site() -> Iterator[SampleSite]:
    """The sample site, which the notebook's kernel fetches from."""
    with sample_site() as server:
        yield server


@pytest.fixture
def reader(chromium: Browser) -> Iterator[Reader]:
    """Opens reports; the test fails where one logged, asked or loaded anything."""
    reader = Reader(chromium)
    yield reader
    for context in chromium.contexts:
        context.close()
    assert reader.wrong == []


@pytest.fixture(scope="module")
def audit() -> MadeAudit:
    return made_audit(260)


@pytest.fixture(scope="module")
def report(audit: MadeAudit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    changes = {
        "Changed fields": pd.DataFrame({"url": [audit.pages["url"][4]], "before": ["Old"], "after": ["New"]})
    }
    file = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(file, audit.pages, audit.issues, audit.summary, changes=changes)
