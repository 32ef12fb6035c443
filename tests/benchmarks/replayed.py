"""What a Dask scheduler and a client cost with 200 workers, whose tasks return saved answers at once.

Three processes: the scheduler, the client, and all workers together, whose analyses are left out. So the processor
time of the first two is what a cluster of 200 machines would ask of them; the network between machines is not in it.
Also the bytes of a page: as HTML, compressed for the network, in an archive, in a folder, and as an answer.
"""

from __future__ import annotations

import asyncio
import gzip
import logging
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import psutil

from tests.benchmarks.corpus import corpus_pages
from webanalytics.core.outcomes import JobResult
from webanalytics.runs.backends.dask_groups import Answered, Group, answer

WORKERS = 200
CALLS = {
    "wa.Dask, 25 pages a task": (200, 25, False),
    "the same with a store": (200, 25, True),
    "5 pages a task, a store": (400, 5, True),
}
"""Hosts, pages of each, and whether the client keeps the rows in a folder."""
TASKS = 2_000
"""Tasks that return a number, as those of one archive each."""
IDLE_SECONDS = 10.0
OPTIONS: dict[str, Any] = {"allow_private": True, "progress": False}


class _Keeping:
    """A client that does a group in a thread and keeps its results."""

    asynchronous = False

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self.results: list[JobResult] = []

    def nthreads(self) -> dict[str, int]:
        return {"here": 1}

    def submit(self, _function: Any, group: Group, **_: Any) -> Any:
        future = self._thread.submit(self._done, group)
        future.release = lambda: None  # type: ignore[attr-defined]
        return future

    def _done(self, group: Group) -> Answered:
        done: Answered = asyncio.run(answer(group))
        self.results += done.results
        return done


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def saved(folder: Path) -> tuple[list[JobResult], dict[str, float]]:
    """Return the answers of a cluster for the saved pages, and the kB of a page on each of its ways."""
    import webanalytics as wa
    from webanalytics.fetching.testing import SiteServer

    pages = list(corpus_pages().values())
    client = _Keeping()
    with SiteServer({f"/{number}.html": page for number, page in enumerate(pages)}) as site:
        urls = [f"{site.url.rstrip('/')}/{number}.html" for number in range(len(pages))]
        wa.audit(urls, backend=wa.Dask(client), delay=0, **OPTIONS)
        wa.audit(urls, archive=folder / "site.warc.gz", store=folder / "rows", delay=0, **OPTIONS)
    assert len(client.results) == len(pages)
    sizes = {
        "HTML": sum(map(len, pages)),
        "compressed": sum(len(gzip.compress(page, 6)) for page in pages),
        "archive": (folder / "site.warc.gz").stat().st_size,
        "folder": _size(folder / "rows"),
        "answer": len(pickle.dumps(client.results)),
    }
    return client.results, {name: size / len(pages) / 1_000 for name, size in sizes.items()}


def scheduler() -> None:
    """Run a scheduler until standard input ends; in a process of its own."""
    from distributed import Scheduler

    logging.getLogger("distributed").setLevel(logging.CRITICAL)

    async def main() -> None:
        async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as made:
            print(made.address, flush=True)
            await asyncio.to_thread(sys.stdin.read)

    asyncio.run(main())


def workers() -> None:
    """Run all workers, which replay the answers of a file, until standard input ends; in a process of its own."""
    import dask
    from distributed import Worker

    from webanalytics.runs.backends import dask as groups

    address, file = sys.argv[1:3]
    answers: Sequence[JobResult] = pickle.loads(Path(file).read_bytes())

    def replayed(group: Group) -> Answered:
        found = [replace(answers[job.number % len(answers)], number=job.number) for job in group.jobs]
        return Answered(found, known=group.known)

    groups.attempt = replayed  # what travels is its name

    async def main() -> None:
        made = [Worker(address, nthreads=1, memory_limit=0, dashboard=False) for _ in range(WORKERS)]
        await asyncio.gather(*made)
        await asyncio.to_thread(sys.stdin.read)
        await asyncio.gather(*(worker.close(nanny=False) for worker in made), return_exceptions=True)

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    quiet = {"distributed.worker.profile.enabled": False, "distributed.admin.system-monitor.interval": "60 s"}
    with dask.config.set(quiet):  # so many in one process would do little else
        asyncio.run(main())


def one_archive(number: int) -> int:
    """Stand for the audit of an archive."""
    return number


@contextmanager
def _process(function: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    code = f"from tests.benchmarks.replayed import {function}; {function}()"
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdin=-1, stdout=-1, text=True
    ) as process:
        try:
            yield process
        finally:
            process.stdin.close()  # type: ignore[union-attr]


@contextmanager
def _cluster(answers: Path) -> Iterator[tuple[Any, int]]:
    """Run a scheduler and all workers; yield a client and the number of the scheduler's process."""
    from distributed import Client

    with _process("scheduler") as one:
        address = one.stdout.readline().strip()  # type: ignore[union-attr]
        with _process("workers", address, str(answers)), Client(address, set_as_default=False) as client:
            client.wait_for_workers(WORKERS, timeout=300)
            yield client, one.pid


class _Busy:
    """Processor time of the client and the scheduler during a block, seconds; and of the clock."""

    def __init__(self, scheduler: int) -> None:
        self._scheduler = psutil.Process(scheduler)

    def _now(self) -> tuple[float, float, float]:
        times = self._scheduler.cpu_times()
        return time.process_time(), times.user + times.system, time.perf_counter()

    def __enter__(self) -> _Busy:
        self._began = self._now()
        return self

    def __exit__(self, *_: object) -> None:
        self.client, self.scheduler, self.clock = (
            now - began for now, began in zip(self._now(), self._began, strict=True)
        )


def measured() -> tuple[pd.DataFrame, dict[str, float]]:
    """Return processor time of client and scheduler, and the kB of a page; ``idle`` is ms a second."""
    import webanalytics as wa

    rows: dict[str, tuple[int | None, int, _Busy]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results, sizes = saved(folder)
        file = folder / "answers"
        file.write_bytes(pickle.dumps(results))
        with _cluster(file) as (client, pid):
            for kind, (hosts, each, stored) in CALLS.items():
                urls = [f"https://site{host}.example/{page}" for page in range(each) for host in range(hosts)]
                backend = wa.Dask(client, chunk=each)
                with _Busy(pid) as busy:
                    store = folder / kind if stored else None
                    audit = wa.audit(urls, backend=backend, store=store, **OPTIONS)
                assert audit.raw["status"].eq("ok").all()
                rows[kind] = (len(audit), hosts, busy)
            with _Busy(pid) as busy:
                done = client.gather(client.map(one_archive, range(TASKS), pure=False))
            assert sum(done) == sum(range(TASKS))
            rows["a call for each archive"] = (None, TASKS, busy)
            with _Busy(pid) as busy:
                time.sleep(IDLE_SECONDS)
            sizes["idle"] = 1_000 * busy.scheduler / busy.clock
    table = pd.DataFrame(
        {
            kind: {
                "pages": pages,
                "tasks": tasks,
                "client, ms a page": 1_000 * busy.client / pages if pages else None,
                "scheduler, ms a page": 1_000 * busy.scheduler / pages if pages else None,
                "client, ms a task": 1_000 * busy.client / tasks,
                "scheduler, ms a task": 1_000 * busy.scheduler / tasks,
                "s on the clock": busy.clock,
            }
            for kind, (pages, tasks, busy) in rows.items()
        }
    )
    return table, sizes


def report() -> str:
    """Return the tables."""
    table, sizes = measured()
    idle = sizes.pop("idle")
    kilobytes = ", ".join(f"{name} {size:.1f}" for name, size in sizes.items())
    return (
        f"{WORKERS} workers of Dask that replay answers: processor time of client and scheduler\n"
        f"{table.round(3).to_string(na_rep='')}\n\n"
        f"scheduler with nothing to do but to keep {WORKERS} workers: {idle:.0f} ms a second\nkB a page: {kilobytes}"
    )
