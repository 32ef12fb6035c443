"""Peak memory of all processes together over an audit of 5,000 URLs."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time

from tests.benchmarks.corpus import corpus_pages

URLS = 5000


def audit_many() -> None:
    """Audit 5,000 different URLs that serve the saved pages."""
    import webanalytics as wa

    base = sys.argv[1]
    frame = wa.audit(
        [f"{base}/{number}.html" for number in range(URLS)],
        allow_private=True,
        robots=False,
        per_host=32,
        progress=False,
    )
    print(json.dumps({"rows": len(frame), "ok": int((frame.raw["status"] == "ok").sum())}))


def _resident(pid: int) -> int:
    """Return the proportional set size of a process and its children, in bytes."""
    import psutil

    total = 0
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    for process in family:
        try:
            total += process.memory_full_info().pss
        except psutil.NoSuchProcess:
            continue
    return total


def report() -> str:
    """Return the table."""
    from webanalytics.fetching.testing import SiteServer

    contents = list(corpus_pages().values())
    pages = {f"/{number}.html": contents[number % len(contents)] for number in range(URLS)}
    peak, done = 0, threading.Event()
    with SiteServer(pages) as server:
        code = "from tests.benchmarks.memory import audit_many; audit_many()"
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-c", code, server.url], stdout=subprocess.PIPE, text=True
        )

        def watch() -> None:
            nonlocal peak
            while not done.wait(0.2):
                peak = max(peak, _resident(process.pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        output, _ = process.communicate()
        done.set()
        watcher.join()
    rows = json.loads(output)
    return "\n".join(
        [
            f"Audit of {URLS} URLs: {rows['rows']} rows, {rows['ok']} ok, {time.perf_counter() - start:.0f} s",
            f"  peak of all processes together (proportional set size) {peak / 1e6:.0f} MB (goal: under 600)",
        ]
    )
