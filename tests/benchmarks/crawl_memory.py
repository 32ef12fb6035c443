"""Peak memory of all processes together over a crawl of 20,000 pages: the saved ones under many addresses."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from statistics import mean

from tests.benchmarks.corpus import corpus_pages
from tests.benchmarks.crawl import served
from tests.benchmarks.memory import _resident

PAGES = 20_000
CRAWLER = """
import json, sys, webanalytics as wa
if __name__ == "__main__":
    audit = wa.crawl(sys.argv[1], max_pages=int(sys.argv[2]), allow_private=True, progress=False)
    held = int(audit.memory_usage(deep=True).sum())
    print(json.dumps({"rows": len(audit), "ok": int((audit["status"] == "ok").sum()), "held": held}))
"""


def report() -> str:
    """Return the figure."""
    peak, done = 0, threading.Event()
    with served(False, count=PAGES, delay=0.0) as start, tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "crawler.py"
        script.write_text(CRAWLER)
        process = subprocess.Popen(
            [sys.executable, str(script), start, str(PAGES)], stdout=subprocess.PIPE, text=True
        )

        def watch() -> None:
            nonlocal peak
            while not done.wait(0.5):
                peak = max(peak, _resident(process.pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        output, _ = process.communicate()
        done.set()
        watcher.join()
    found = json.loads(output)
    size = mean(map(len, corpus_pages().values())) / 1000
    return (
        f"Crawl of {found['rows']:,} pages ({found['ok']:,} ok) of {size:.0f} kB on average: peak of all processes"
        f" {peak / 1e6:.0f} MB (goal: under 1,200), of which the frame holds {found['held'] / 1e6:.0f} MB"
    )
