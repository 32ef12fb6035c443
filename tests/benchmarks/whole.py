"""What a whole `wa.audit(frame)` costs beyond its analyses, and how soon the first call of a process answers."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from statistics import median

import pandas as pd

import webanalytics as wa
from tests.benchmarks.corpus import corpus_pages
from tests.benchmarks.service import busy_seconds
from webanalytics.operations import AUDIT_PAGES
from webanalytics.runs.workers.pool import idle_workers
from webanalytics.runs.workers.worker import answer_page

TIMES = 2
_FIRST = """
import time
import pandas as pd
pages = pd.DataFrame({"url": ["https://example.org/"], "html": ["<p>One page of text.</p>"]})
began = time.perf_counter()
import webanalytics as wa
imported = time.perf_counter()
assert wa.audit(pages, progress=False).raw["status"].tolist() == ["ok"]
print(imported - began, time.perf_counter() - imported)
"""


def _busy_workers() -> float:
    """Return the processor seconds of the idle workers so far."""
    return sum(busy_seconds(worker.process.pid) for worker in idle_workers._workers)


def _in_this_process(frame: pd.DataFrame) -> float:
    paths = {operation.name: operation.analysis for operation in AUDIT_PAGES}
    settings = {operation.name: operation.check_settings({}) for operation in AUDIT_PAGES}
    began = time.process_time()
    for url, html in zip(frame["url"], frame["html"], strict=True):
        answer_page(paths, settings, (html, url, url, ""))
    return time.process_time() - began


def _whole_call(frame: pd.DataFrame) -> tuple[float, float]:
    """Return the processor seconds of this process and of its worker."""
    here, there = time.process_time(), _busy_workers()
    found = wa.audit(frame, workers=1, progress=False)
    assert (found.raw["status"] == "ok").all()
    return time.process_time() - here, _busy_workers() - there


def _first_call() -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", _FIRST], stdout=-1, check=True, text=True)
    imported, answered = map(float, done.stdout.split())
    return imported, answered


def run(rounds: int = 3) -> dict[str, float]:
    """Return the figures."""
    pages = list(corpus_pages().items()) * TIMES
    frame = pd.DataFrame(
        {
            "url": [f"https://example.org/{row}" for row in range(len(pages))],
            "html": [html for _, html in pages],
        }
    )
    wa.audit(frame.head(20), workers=1, progress=False)
    _in_this_process(frame.head(20))
    gc.collect()
    gc.freeze()  # as workers do
    alone, here, there = [], [], []
    for _ in range(rounds):
        alone.append(_in_this_process(frame))
        one, other = _whole_call(frame)
        here.append(one)
        there.append(other)
    ratios = [(one + other) / base for one, other, base in zip(here, there, alone, strict=True)]
    first = [_first_call() for _ in range(rounds)]
    return {
        "pages": len(pages),
        "alone": median(alone),
        "there": median(there),
        "here": median(here),
        "ratio": median(ratios),
        "import": median(one for one, _ in first),
        "first": median(other for _, other in first),
    }


def report() -> str:
    """Return the table."""
    found = run()
    return "\n".join(
        [
            f"wa.audit of {found['pages']:.0f} pages from a frame, processor seconds, median of 3",
            f"  analyses in one process {found['alone']:.2f}, in the worker {found['there']:.2f}, "
            f"around them {found['here']:.2f}: ratio {found['ratio']:.2f} (goal: at most 1.10)",
            f"  import {found['import']:.2f} s (goal: under 0.25),"
            f" first row of a first call {found['first']:.2f} s after it (goal: under 0.5)",
        ]
    )
