"""An audit in a folder: memory of all processes while it runs, its speed from part to part, and what comes after.

The run fetches the saved pages under so many addresses of 50 hosts on loopback. The steps after it are also measured on
folders that are made of analysed rows under new addresses, so that they can be larger than a run has the time for.
`WEBANALYTICS_PICTURE_OF_FLAT` names a file for the picture of memory against pages.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.benchmarks.corpus import corpus_pages
from tests.benchmarks.memory import _resident
from webanalytics.audits.origin import Origin
from webanalytics.audits.storage.folders import keep_stored
from webanalytics.runs.frames.schema import make_series
from webanalytics.runs.storage.lazy_columns import frame_over
from webanalytics.runs.storage.parts import FRAME_ROWS, PART_ROWS, RowParts

HOSTS = 50
EVERY = 20
"""One page in so many differs in the second folder."""


def run() -> None:
    """Audit the addresses; in a process of its own."""
    import webanalytics as wa

    port, folder, pages = sys.argv[1], sys.argv[2], int(sys.argv[3])
    urls = [f"http://127.0.0.{1 + number % HOSTS}:{port}/{number}.html" for number in range(pages)]
    audit = wa.audit(urls, store=folder, allow_private=True, robots=False, progress=False)
    print(json.dumps({"rows": len(audit), "ok": int((audit.raw["status"] == "ok").sum())}))


def _watched(folder: Path, process: subprocess.Popen[str]) -> tuple[list[tuple[float, int, int]], str]:
    """Return seconds, parts written and bytes of all processes, as long as a process runs, and what it prints."""
    found: list[tuple[float, int, int]] = []
    start, done = time.perf_counter(), threading.Event()

    def watch() -> None:
        while not done.wait(0.5):
            parts = len(list(folder.glob("rows-*.parquet")))
            found.append((time.perf_counter() - start, parts, _resident(process.pid)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    output, _ = process.communicate()
    done.set()
    watcher.join()
    return found, output


def picture(found: list[tuple[float, int, int]], file: str) -> None:
    """Draw the memory of all processes against the pages that are done."""
    from webanalytics.notebook.drawing import style

    seconds = [second for second, *_ in found]
    parts = [number for _, number, _ in found]
    known = sorted(set(parts))
    pages = np.interp(
        seconds, [seconds[parts.index(n)] for n in known], [n * PART_ROWS / 1_000 for n in known]
    )
    with style.context():
        ax = style.start(None, 3.2)
        ax.plot(pages, [memory / 1e6 for *_, memory in found], color=style.BLUE, linewidth=1)
        ax.set_ylim(0, 1_000)
        ax.set_xlim(0)
        ax.grid(axis="y")
        ax.set_xlabel("thousand pages done")
        ax.set_ylabel("MB")
        ax.set_title("Memory of all processes during a run")
        ax.figure.savefig(file)


def the_run(pages: int, folder: Path) -> str:
    """Return the table of one run: peak of memory, and speed of the first and last parts."""
    from webanalytics.fetching.testing import SiteServer

    contents = list(corpus_pages().values())
    served = {f"/{number}.html": contents[number % len(contents)] for number in range(pages)}
    code = "from tests.benchmarks.flat import run; run()"
    with SiteServer(served, host="0.0.0.0") as server:
        port = server.url.rpartition(":")[2]
        process = subprocess.Popen(
            [sys.executable, "-c", code, port, str(folder), str(pages)], stdout=subprocess.PIPE, text=True
        )
        found, output = _watched(folder, process)
    if file := os.environ.get("WEBANALYTICS_PICTURE_OF_FLAT"):
        picture(found, file)
    rows = json.loads(output)
    lines = [f"Run of {pages:,} pages into a folder: {rows['ok']:,} ok, {found[-1][0]:.0f} s"]
    last = max(parts for _, parts, _ in found)
    for number in sorted({round(last * share) for share in (0.1, 0.25, 0.5, 0.75, 1)}):
        until = [(seconds, memory) for seconds, parts, memory in found if parts <= number]
        done = min(pages, number * PART_ROWS)
        lines.append(
            f"  {done:9,} pages  {until[-1][0]:7.0f} s  peak so far {max(m for _, m in until) / 1e6:5.0f} MB"
        )
    lines.append(f"  peak of all processes (proportional set size) {max(m for *_, m in found) / 1e6:.0f} MB")
    return "\n".join(lines)


def make_folder(pages: int, folder: Path, rows: pd.DataFrame, changed: bool = False) -> None:
    """Write a folder of analysed rows, each many times under a new address and with a title of its own."""
    folder.mkdir(parents=True)
    parts, tables = RowParts(folder, "audit"), []
    urls = [
        f"https://site{number % HOSTS}.example/{number % 9}/page-{number}.html" for number in range(pages)
    ]
    for start in range(0, pages, FRAME_ROWS):
        numbers = np.arange(start, min(pages, start + FRAME_ROWS))
        frame = rows.iloc[numbers % len(rows)].reset_index(drop=True)
        own = urls[start : start + len(numbers)]
        for name in ("url", "final_url", "canonical"):
            frame[name] = make_series(own, "string", frame.index)
        titles = [f"{title} {number}" for title, number in zip(frame["title"], numbers, strict=True)]
        if changed:
            titles = [
                f"{title} new" if number % EVERY == 0 else title
                for title, number in zip(titles, numbers, strict=True)
            ]
        frame["title"] = make_series(titles, "string", frame.index)
        named = [[{"href": url, "url": url, "place": "head"}] for url in own]
        frame["canonicals"] = make_series(named, "object", frame.index)
        tables.append(parts.table(frame, [f"{number:064x}" for number in numbers]))
        if len(tables) * FRAME_ROWS == PART_ROWS:
            parts.write(tables)
            tables = []
    if tables:
        parts.write(tables)
    index = pd.RangeIndex(pages)
    given = make_series(urls, "string", index).rename("url")
    places = np.arange(pages, dtype=np.int32)
    keep_stored(frame_over(parts, places, index, given), Origin(date="2026-11-01T00:00:00+00:00"))


def steps() -> None:
    """Measure what comes after a run; in a process of its own."""
    import resource

    import webanalytics as wa

    folder, other = Path(sys.argv[1]), Path(sys.argv[2])

    def step(name: str, do: Callable[[], Any], more: Callable[[Any], str] = lambda _: "") -> Any:
        wall, processor = time.perf_counter(), time.process_time()
        made = do()
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        print(
            f"  {name:18} {wall:7.1f} s, of processor {processor:7.1f} s, peak so far {peak:5.0f} MB{more(made)}",
            flush=True,
        )
        return made

    audit = step("load", lambda: wa.load(folder))
    step(
        "issues, summary",
        lambda: (audit.issues, audit.summary(), audit.score),
        lambda made: f", {len(made[0]):,} issues",
    )
    report = folder.with_suffix(".html")
    step("report", lambda: audit.report(report), lambda file: f", {file.stat().st_size / 1e6:.1f} MB")
    later = wa.load(other)
    step("issues of another", lambda: later.issues)
    step("compare", lambda: wa.compare(audit, later), lambda made: f", {len(made.changes):,} changes")


def the_steps(pages: int, folder: Path) -> str:
    """Return the table of the steps after a run of so many pages."""
    import webanalytics as wa

    saved = corpus_pages()
    frame = pd.DataFrame(
        {
            "url": [f"https://site.example/{name}" for name in saved],
            "html": [page.decode("utf-8", "replace") for page in saved.values()],
        }
    )
    rows = wa.audit(frame, progress=False).raw
    make_folder(pages, folder / "first", rows)
    make_folder(pages, folder / "second", rows, changed=True)
    code = "from tests.benchmarks.flat import steps; steps()"
    command = [sys.executable, "-c", code, str(folder / "first"), str(folder / "second")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return f"Steps after a run of {pages:,} pages (analysed rows, repeated):\n{done.stdout.rstrip()}"


def report() -> str:
    """Return the tables."""
    pages = int(os.environ.get("WEBANALYTICS_PAGES_OF_FLAT", "2000"))
    with tempfile.TemporaryDirectory() as folder:
        return "\n".join([the_run(pages, Path(folder, "run")), the_steps(pages, Path(folder))])
