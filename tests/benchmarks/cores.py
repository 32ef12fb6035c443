"""Pages a second of a whole audit over loopback: on one core, and on all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.benchmarks.corpus import corpus_pages

REPEATS = 4
DELAY = 0.1


def serve_and_audit() -> float:
    """Audit the saved pages from a loopback server with a delay, and return pages a second."""
    import time

    import webanalytics as wa
    from webanalytics.testing import SiteServer

    pages = corpus_pages()
    paths = {f"/{copy}/{number}.html": content for copy in range(REPEATS) for number, content in enumerate(pages.values())}
    with SiteServer(paths, delay=DELAY) as server:
        urls = [server.url + path for path in paths]
        options = {"allow_private": True, "robots": False, "per_host": 64, "concurrency": 64, "progress": False}
        wa.audit(urls[:20], **options)  # warm workers
        start = time.perf_counter()
        frame = wa.audit(urls, **options)
        took = time.perf_counter() - start
    assert (frame["status"] == "ok").all()
    return len(urls) / took


def _measured(cores: set[int]) -> float:
    code = "from tests.benchmarks.cores import serve_and_audit; import json; print(json.dumps(serve_and_audit()))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
        capture_output=True,
        text=True,
        check=True,
    )
    return float(json.loads(done.stdout))


def report(rounds: int = 3) -> str:
    """Return the table: server, fetching and analysis share the cores named."""
    cores = sorted(os.sched_getaffinity(0))
    pairs = [(_measured({cores[0]}), _measured(set(cores[:2]))) for _ in range(rounds)]
    one, two = (sorted(values)[rounds // 2] for values in zip(*pairs, strict=True))
    ratio = sorted(second / first for first, second in pairs)[rounds // 2]
    return "\n".join(
        [
            f"Audit of {99 * REPEATS} pages over loopback, each after {DELAY * 1000:.0f} ms, pages a second, "
            f"median of {rounds}",
            f"  one core {one:6.1f}    two cores {two:6.1f}    ratio {ratio:.2f} (goal: at least 1.8)",
        ]
    )
