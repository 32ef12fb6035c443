"""Memory of all processes while a crawl goes on, page by page: in memory, and with `store`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from tests.benchmarks.crawl import served
from tests.benchmarks.memory import _resident

POINTS = 6
LARGEST = 300_000
"""Saved pages up to this size are 106 kB on average."""


def run() -> None:
    """Crawl a site, and print memory against pages; in a process of its own."""
    import webanalytics as wa
    from webanalytics.runs import partial

    start, pages, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3] or None
    found: list[tuple[int, float]] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(1):
            rows = partial._known[0].rows if partial._known else 0
            found.append((rows, round(_resident(os.getpid()) / 1e6)))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    wa.crawl(start, max_pages=pages, store=folder, allow_private=True, robots=False, progress=False)
    done.set()
    watcher.join()
    print(json.dumps(found))


def _line(start: str, pages: int, folder: str) -> str:
    code = "from tests.benchmarks.flat_crawl import run; run()"
    command = [sys.executable, "-W", "ignore", "-c", code, start, str(pages), folder]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    cells = []
    for number in range(POINTS):
        low, high = (pages * place / POINTS for place in (number, number + 1))
        cells.append(f"{max((memory for rows, memory in found if low < rows <= high), default=0):7.0f}")
    return f"{'in a folder' if folder else 'in memory':12} {' '.join(cells)}   peak {max(m for _, m in found):.0f}"


def report() -> str:
    """Return the table."""
    pages = int(os.environ.get("WEBANALYTICS_PAGES_OF_FLAT", "6000"))
    head = " ".join(f"{pages * number // POINTS:7,}" for number in range(1, POINTS + 1))
    lines = [f"Most MB of all processes since the number before\n{'':12} {head}"]
    with (
        served(False, count=pages + 100, delay=0.0, largest=LARGEST) as start,
        tempfile.TemporaryDirectory() as folder,
    ):
        lines += [_line(start, pages, str(Path(folder, "crawl"))), _line(start, pages, "")]
    return "\n".join(lines)
