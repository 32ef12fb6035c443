"""marimo and VS Code: what is shown there, in their light and dark themes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import webanalytics as wa
from tests.audits.saved import audit as saved_audit
from tests.notebook.browser.lab import SECONDS, _free_port, _stop
from tests.notebook.browser.plain_page import PlainPage
from webanalytics.notebook import charts
from webanalytics.notebook.explorer.explorer import Explorer
from webanalytics.notebook.issue_table import as_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CELLS = [
    '\n    import pandas as pd, webanalytics as wa\n    wa.options.progress = False\n    page = "<html lang=en><title>Tea {0}</title><h1>Tea</h1><p>Green tea is good in the morning. {0}</html>"\n    frame = pd.DataFrame({"url": [f"https://tea.example/{n}" for n in range(9)]})\n    frame["html"] = [page.format(n) for n in range(9)]\n    audit = wa.audit(frame, workers=1)\n    audit\n',
    "\n    audit.plot.issues_by_priority()\n",
    "\n    wa.explore(audit)\n",
    "\n    wa.app(frame)\n",
    "\n    wa.widgets.tlsa_checker()\n",
    "\n    wa.compare(audit, audit)\n",
]


def notebook() -> str:
    """A notebook of marimo's: each cell a function of the names that it takes from others."""
    parts = ["import marimo\n\napp = marimo.App()\n"]
    for number, cell in enumerate(CELLS):
        taken = (
            ""
            if not number
            else ", ".join(n for n in ("audit", "frame", "wa") if n in re.findall(r"\w+", cell))
        )
        given = "return audit, frame, wa" if not number else "return"
        parts.append(f"\n@app.cell\ndef _({taken}):\n{cell.strip(chr(10)).rstrip()}\n    {given}\n")
    return "\n".join(parts)


@pytest.fixture
def marimo(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Serve the notebook in a theme, and return its address."""
    started: list[subprocess.Popen[bytes]] = []

    def serve(theme: str) -> str:
        (tmp_path / "notebook.py").write_text(notebook())
        (tmp_path / ".marimo.toml").write_text(f'[display]\ntheme = "{theme}"\n')
        port = _free_port()
        command = [
            sys.executable,
            "-m",
            "marimo",
            "run",
            "notebook.py",
            "--headless",
            "--no-token",
            "--port",
            str(port),
        ]
        folders = {
            name: str(tmp_path / name) for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR")
        }
        with (tmp_path / "log").open("wb") as log:
            started.append(
                subprocess.Popen(
                    command,
                    cwd=tmp_path,
                    env=os.environ | folders,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            with suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).read()
                return f"http://127.0.0.1:{port}"
            time.sleep(0.2)
        raise RuntimeError((tmp_path / "log").read_text(errors="replace")[-2000:])

    yield serve
    for process in started:
        _stop(process)


def ground(page: Page, selector: str) -> tuple[int, ...]:
    colour = page.locator(selector).first.evaluate("element => getComputedStyle(element).backgroundColor")
    return tuple(map(int, re.findall(r"\d+", colour)[:3]))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_marimo_shows_audits_charts_and_the_explorer(
    theme: str, chromium: Browser, marimo: Callable[[str], str], tmp_path: Path
) -> None:
    context = chromium.new_context(viewport={"width": 1300, "height": 3200})
    page = context.new_page()
    page.set_default_timeout(SECONDS * 1000)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(marimo(theme))
    page.get_by_text("Comparison of tea.example").wait_for(timeout=3 * SECONDS * 1000)
    page.get_by_role("tab", name="Readability").wait_for()
    assert page.get_by_text("Something went wrong").count() == 0
    assert page.get_by_text("What to fix first, and the points that it gives").count() == 1  # the audit's own
    for form in ("Audit desk: audits pages from a form.", "TLSA checker: explains a DANE/TLSA record"):
        said = page.locator("p", has_text=form)
        assert "marimo does not show this form, which is made of ipywidgets" in said.inner_text()
    picture = page.locator("img.wa-picture")
    turned = picture.evaluate("image => getComputedStyle(image).filter")
    assert (turned != "none") is (theme == "dark")
    assert (max(ground(page, ".wa-explorer")) < 60) is (theme == "dark")
    page.get_by_role("tab", name="Issues").click()
    page.locator(".wa-panel[data-tab=issues]").get_by_text("Title too short").first.wait_for()
    if folder := os.environ.get("WEBANALYTICS_SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"marimo-{theme}.png", full_page=True)
    context.close()
    assert wrong == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_explorer_follows_vs_code(theme: str, chromium: Browser) -> None:
    plain = PlainPage(chromium, Explorer(saved_audit()))
    # VS Code's widgets (@vscode/jupyter-ipywidgets8) set JupyterLab's light colours in either theme
    plain.page.evaluate(
        """theme => {
            document.body.removeAttribute("data-jp-theme-light");
            document.body.className = `vscode-body vscode-${theme}`;
            document.documentElement.style.setProperty("--jp-layout-color0", "white");
            document.documentElement.style.setProperty("--jp-ui-font-color1", "rgba(0, 0, 0, 0.8)");
        }""",
        theme,
    )
    page = plain.draw()
    page.get_by_text("What to fix first").wait_for()
    assert (max(ground(page, ".wa-explorer")) < 60) is (theme == "dark")
    page.context.close()


def test_a_chosen_theme_is_that_of_the_explorer_in_any_notebook(chromium: Browser) -> None:
    with wa.option_context(theme="dark"):
        explorer = Explorer(saved_audit())
    page = PlainPage(chromium, explorer).draw()
    assert ground(page, ".wa-explorer") == (17, 17, 17)
    page.context.close()


def test_what_vs_code_shows_needs_no_script_and_loads_nothing() -> None:
    audit = saved_audit()
    chart: Any = charts.issues_by_priority(audit)
    shown = {
        "audit": audit._repr_html_(),
        "comparison": wa.compare(audit, audit)._repr_html_(),
        "issues": as_html(audit.issues),
        "chart": chart._repr_mimebundle_()[0]["text/html"],
        "explorer": Explorer(audit)._repr_mimebundle_()[0]["text/html"],
        "desk": wa.app()._repr_mimebundle_()["text/html"],
        "tool": wa.widgets.hmac_signer()._repr_mimebundle_()["text/html"],
    }
    for name, html in shown.items():
        assert type(html) is str, name
        assert not re.search(
            r"""<script|<link|<iframe|@import|(?:src|href)\s*=\s*(?!["']data:)|url\(""", html
        ), name
