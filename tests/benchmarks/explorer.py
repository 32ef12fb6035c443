"""The explorer of many pages in JupyterLab: until it is seen, until a tab has its columns, and frames while it scrolls.

``--pages N`` says of how many rows, which are those of real pages again and again. The browser is headless and draws without a graphics card.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

from tests.benchmarks.waiting import real
from tests.notebook.browser.lab import CHROMIUM_FLAGS, Lab, jupyterlab

_MADE = (
    "import pandas as pd, webanalytics as wa\n"
    "rows = wa.load({folder!r}).raw\n"
    "raw = pd.concat([rows] * -(-{pages} // len(rows)), ignore_index=True).head({pages})\n"
    "raw.attrs = rows.attrs\n"
    "audit = wa.Audit(raw)\n"
    "wa.explore(wa.Audit(rows))"
)
_SHOWN = "import time\nbegun = time.time()\nexplorer = wa.explore(audit)\nmade = time.time()\nexplorer"
_WATCH = """() => { window.seen = []; new MutationObserver(() => {
    if (document.querySelectorAll('.wa-explorer').length > window.seen.length) window.seen.push(Date.now() / 1000);
}).observe(document.body, { childList: true, subtree: true }); }"""
_PANEL = ".jp-Cell:last-child .wa-panel[data-tab=pages]"
_SCROLL = """([selector, pixels]) => new Promise((done) => {
    const node = document.querySelector(selector), times = [];
    let last = performance.now();
    const step = () => {
        times.push(performance.now() - last);
        last = performance.now();
        node.scrollTop += pixels;
        if (times.length < 120) requestAnimationFrame(step);
        else done(1000 * (times.length - 2) / times.slice(2).reduce((sum, time) => sum + time));
    };
    requestAnimationFrame(step);
})"""


def report() -> str:
    """Return the table."""
    from playwright.sync_api import sync_playwright

    pages = int(os.environ.get("WEBANALYTICS_PAGES_OF_FLAT", "2000"))
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as driver:
        folder = Path(os.environ.get("WEBANALYTICS_WAITING") or scratch) / "real"
        real(folder)
        chromium = driver.chromium.launch(executable_path=shutil.which("chromium"), args=list(CHROMIUM_FLAGS))
        with jupyterlab(Path(scratch) / "lab") as server:
            lab = Lab(server, chromium, "explorer")
            notebook = lab(_MADE.format(folder=str(folder), pages=pages), _SHOWN, run=False)
            notebook.page.evaluate(_WATCH)
            notebook.run_all()
            notebook.page.wait_for_function("() => window.seen.length > 1")
            begun, made = map(float, notebook.execute("print(begun, made)").split())
            lines = [
                f"{pages:,} pages, seconds after the call",
                f"  made {made - begun:.2f}, seen {notebook.page.evaluate('window.seen.at(-1)') - begun:.2f}",
            ]
            notebook.output().get_by_role("tab", name="Pages").click()
            opened = time.monotonic()
            count = f"document.querySelector('{_PANEL} .wa-count').textContent"
            notebook.page.wait_for_function(f"() => {count} === '{pages:,} pages'")
            lines.append(f"  columns of the tab Pages {time.monotonic() - opened:.2f} after it is opened")
            for pixels in (100, 1_700):
                frames = notebook.page.evaluate(_SCROLL, [f"{_PANEL} .wa-scroll", pixels])
                lines.append(f"  {frames:.0f} frames a second at {pixels:,} pixels a frame")
            notebook.close()
        chromium.close()
    return "\n".join(lines)
