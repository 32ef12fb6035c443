"""What a page costs on a Dask cluster: processor time of the client, the scheduler, and the workers.

Twice: with rows that come back to the client, and with rows that workers write to a folder (`saved`).

The pages a second of many workers follow from these: the client and the scheduler are one process each.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

import pandas as pd
import psutil

from tests.benchmarks.corpus import corpus_pages

HOSTS, EACH = 40, 10
OPTIONS: dict[str, Any] = {"allow_private": True, "progress": False}
COUNTS = (2, 10, 30, 100)
KINDS = ("client", "scheduler", "workers")
CORE_SHARE = 0.9
"""Most of a core that a single process is counted on."""


def serve() -> None:
    """Serve the saved pages at all addresses of the loopback network, until standard input ends."""
    from tests.runs.backends.origin import Origin

    contents = list(corpus_pages().values())

    def answer(_host: str, path: str) -> tuple[int, dict[str, str], bytes]:
        if path == "/robots.txt":
            return 404, {}, b""
        return 200, {"Content-Type": "text/html"}, contents[int(path[1:]) % len(contents)]

    with Origin(answer) as origin:
        print(origin.port, flush=True)
        sys.stdin.read()


def _busy(pids: list[int]) -> float:
    """Return the processor seconds of processes and all that descend from them, ended ones included."""
    total = 0.0
    for pid in pids:
        process = psutil.Process(pid)
        for item in (process, *process.children(recursive=True)):
            times = item.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def measured() -> dict[str, float]:
    """Return milliseconds of processor time a page: of a call without a cluster, and of a cluster's three kinds."""
    from distributed import Client
    from distributed.deploy.subprocess import SubprocessCluster

    import webanalytics as wa

    code = "from tests.benchmarks.dask import serve; serve()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, text=True) as server:
        port = int(server.stdout.readline())  # type: ignore[union-attr]
        urls = [f"http://127.0.1.{host + 1}:{port}/{n}" for host in range(HOSTS) for n in range(EACH)]
        with (
            SubprocessCluster(n_workers=2, threads_per_worker=4, dashboard_address=":0") as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            client.wait_for_workers(2)
            backend = wa.Dask(client)
            workers = list(client.run(os.getpid).values())
            scheduler = client.run_on_scheduler(os.getpid)
            for where in (None, backend):
                wa.audit(urls[:80], backend=where, **OPTIONS)  # warm worker processes
            found = {}
            before, here = _busy([os.getpid()]), time.process_time()
            wa.audit(urls, **OPTIONS)
            found["parent"] = time.process_time() - here
            found["its workers"] = _busy([os.getpid()]) - before - found["parent"]
            before_all = [time.process_time(), _busy([scheduler]), _busy(workers)]
            wall = time.perf_counter()
            frame = wa.audit(urls, backend=backend, **OPTIONS).raw
            assert frame["status"].eq("ok").all()
            found["wall"] = time.perf_counter() - wall
            after = [time.process_time(), _busy([scheduler]), _busy(workers)]
            for name, first, last in zip(KINDS, before_all, after, strict=True):
                found[name] = last - first
        server.stdin.close()  # type: ignore[union-attr]
    return {name: 1000 * value / len(urls) for name, value in found.items()}


def pages_a_second(cost: dict[str, float], cores: int) -> float:
    """Return the pages a second of so many worker cores: as many as they analyse, the client or the scheduler lets."""
    single = max(cost["client"], cost["scheduler"])
    return min(cores * 1000 * CORE_SHARE / cost["workers"], 1000 * CORE_SHARE / single)


def report(rounds: int = 3) -> str:
    """Return both tables."""
    costs = pd.DataFrame([measured() for _ in range(rounds)]).median()
    rates = pd.DataFrame({"pages a second": {cores: pages_a_second(dict(costs), cores) for cores in COUNTS}})
    return (
        f"Dask: {HOSTS * EACH} pages of {HOSTS} hosts, whole audits, milliseconds of processor time a page\n"
        f"{costs.round(1).to_string()}\n\nSo, computed for further worker cores\n{rates.round(0).to_string()}"
    )
