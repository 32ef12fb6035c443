"""Memory and processes of an audit that renders 1,000 pages of a React shop, and what the last half of it gains.

Every two seconds the proportional set sizes of its process, of its workers and of its browsers with what drives them
are added up; how many processes of browsers there are once the audit is over is counted before its process ends.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import fmean, linear_regression
from typing import Any

import psutil

from tests.benchmarks.frameworks import LANTERNS, built, pages
from tests.watching import looking
from webanalytics.fetching.testing import SiteServer

PAGES = 1_000
EVERY = 2.0
KINDS = ("own process", "workers", "browsers")


def audit_all() -> None:
    """Render the pages of a site, and wait to be told that what is left was counted."""
    import webanalytics as wa

    urls = [f"{sys.argv[1]}/lanterns/{LANTERNS[n % len(LANTERNS)]['slug']}?n={n}" for n in range(PAGES)]
    begin = time.perf_counter()
    audit = wa.audit(urls, render="all", workers=2, allow_private=True, timeout=60, progress=False)
    seconds = time.perf_counter() - begin
    found = audit.raw
    told = {
        "seconds": seconds,
        "rendered": int(found["rendered"].sum()),
        "whole": int((found["rendered_words"] >= 20).sum()),
        "notes": int((found["render_note"] != "").sum()),
    }
    print(json.dumps(told), flush=True)
    sys.stdin.readline()


def held(pid: int) -> dict[str, tuple[float, int]]:
    """Return megabytes and processes of each kind."""
    found = {kind: [0.0, 0] for kind in KINDS}
    for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
        with suppress(psutil.Error):
            line = " ".join(process.cmdline())
            browser = "chrom" in line or "playwright" in line
            kind = KINDS[0] if process.pid == pid else KINDS[2] if browser else KINDS[1]
            found[kind][0] += process.memory_full_info().pss / 1e6
            found[kind][1] += 1
    return {kind: (size, int(count)) for kind, (size, count) in found.items()}


@contextmanager
def sampled(pid: int) -> Iterator[list[tuple[float, dict[str, tuple[float, int]]]]]:
    """Take a sample every two seconds."""
    samples: list[tuple[float, dict[str, tuple[float, int]]]] = []
    begin = time.monotonic()

    def look() -> None:
        with suppress(psutil.Error):
            samples.append((time.monotonic() - begin, held(pid)))

    with looking(look, EVERY):
        yield samples


def lines(samples: list[tuple[float, dict[str, tuple[float, int]]]]) -> Iterator[str]:
    """Return what each kind held, and what the last half gained by least squares."""
    times = [when for when, _ in samples]
    half = next(index for index, when in enumerate(times) if when >= times[-1] / 2)
    for kind in (*KINDS, "all"):
        sizes = [sum(got[one][0] for one in (KINDS if kind == "all" else (kind,))) for _, got in samples]
        slope = linear_regression(times[half:], sizes[half:]).slope
        parts = [fmean(sizes[len(sizes) * n // 4 : len(sizes) * (n + 1) // 4]) for n in range(4)]
        yield (
            f"  {kind}: quarters {', '.join(f'{part:.0f}' for part in parts)} MB, peak {max(sizes):.0f} MB,"
            f" last half {60 * slope:+.2f} MB a minute"
        )


def report() -> str:
    """Return the table."""
    code = "from tests.benchmarks.rendered_pages import audit_all; audit_all()"
    with tempfile.TemporaryDirectory() as folder:
        site = pages(built("react", Path(folder)))
    with SiteServer(site) as server:
        child = subprocess.Popen(
            [sys.executable, "-c", code, server.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert child.stdin
        assert child.stdout
        with sampled(child.pid) as samples:
            told: dict[str, Any] = json.loads(child.stdout.readline())
        left = held(child.pid)["browsers"][1]
        spent = psutil.Process(child.pid).cpu_times()
        child.communicate("\n")
        requests = len(server.requests)
    head = (
        f"{PAGES:,} pages: {told['rendered']:,} rendered, {told['whole']:,} with their words, {told['notes']} with a note,"
        f" {told['seconds']:.0f} s ({told['seconds'] / PAGES:.2f} s a page), {requests:,} requests;"
        f" processor {spent.user + spent.system:.0f} s in its process,"
        f" {spent.children_user + spent.children_system:.0f} s in those it started;"
        f" processes of browsers left: {left}; {len(samples):,} samples"
    )
    return "\n".join([head, *lines(samples)])
