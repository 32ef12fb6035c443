"""Peak memory of all processes together over a crawl of 20,000 pages of 100 kB."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from tests.benchmarks.crawl import OURS, served
from tests.benchmarks.memory import _resident

PAGES = 20_000
SIZE = 100_000


def report() -> str:
    """Return the figure."""
    import webanalytics

    if not hasattr(webanalytics, "crawl"):
        return "webanalytics has no crawl."
    peak, done = 0, threading.Event()
    with served(False, count=PAGES, delay=0.0, size=SIZE) as start, tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "crawler.py"
        script.write_text(OURS)
        process = subprocess.Popen(
            [sys.executable, str(script), start, str(PAGES)], stdout=subprocess.DEVNULL
        )

        def watch() -> None:
            nonlocal peak
            while not done.wait(0.5):
                peak = max(peak, _resident(process.pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        status = process.wait()
        done.set()
        watcher.join()
    return f"Crawl of {PAGES:,} pages of {SIZE // 1000} kB: status {status}, peak of all processes {peak / 1e6:.0f} MB (goal: under 1,200)"
