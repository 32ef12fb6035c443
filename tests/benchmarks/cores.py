"""Pages a second of a whole audit over loopback: on one core, and on all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from statistics import median

from tests.benchmarks.corpus import corpus_pages

REPEATS = 8
DELAY = 0.1


def audit_pages(base: str, count: int) -> dict[str, float]:
    """Audit the pages of a server and return pages a second, and the processor seconds of this process."""
    import time

    import webanalytics as wa

    urls = [f"{base}/{number}.html" for number in range(count)]
    options = {"allow_private": True, "robots": False, "per_host": 64, "concurrency": 64, "progress": False}
    wa.audit(urls[:20], **options)  # warm workers
    start, busy = time.perf_counter(), time.process_time()
    frame = wa.audit(urls, **options)
    took = time.perf_counter() - start
    assert (frame.raw["status"] == "ok").all()
    return {"rate": count / took, "busy": (time.process_time() - busy) / took}


def _measured(cores: set[int]) -> dict[str, float]:
    """Measure one audit, server and all, on the cores given."""
    count = len(corpus_pages()) * REPEATS
    serve = "from tests.benchmarks.cores import serve; serve()"
    confined = {"preexec_fn": lambda: os.sched_setaffinity(0, cores), "text": True}
    with subprocess.Popen([sys.executable, "-c", serve], stdin=-1, stdout=-1, **confined) as server:  # type: ignore[call-overload]
        base = server.stdout.readline().strip()
        code = f"from tests.benchmarks.cores import *; print(json.dumps(audit_pages({base!r}, {count})))"
        done = subprocess.run([sys.executable, "-c", code], stdout=-1, check=True, **confined)  # type: ignore[call-overload]
        server.stdin.close()
    return dict(json.loads(done.stdout))


def serve() -> None:
    """Serve the saved pages, each after a delay, until standard input ends."""
    from webanalytics.fetching.testing import SiteServer

    contents = list(corpus_pages().values())
    pages = {f"/{number}.html": contents[number % len(contents)] for number in range(len(contents) * REPEATS)}
    with SiteServer(pages, delay=DELAY) as server:
        print(server.url, flush=True)
        sys.stdin.read()


def report(rounds: int = 5) -> str:
    """Return the table: server, fetching and analysis share the cores named."""
    cores = sorted(os.sched_getaffinity(0))
    pairs = [(_measured({cores[0]}), _measured(set(cores[:2]))) for _ in range(rounds)]
    one, two = (median(pair[side]["rate"] for pair in pairs) for side in (0, 1))
    ratio = median(second["rate"] / first["rate"] for first, second in pairs)
    busy = median(second["busy"] for _, second in pairs)
    return "\n".join(
        [
            f"Audit of {99 * REPEATS} pages over loopback, each after {DELAY * 1000:.0f} ms, pages a second, "
            f"median of {rounds}",
            f"  one core {one:6.1f}    two cores {two:6.1f}    ratio {ratio:.2f} (goal: at least 1.8)",
            f"  of the two cores the process that fetches and collects takes {busy:.2f}",
        ]
    )
