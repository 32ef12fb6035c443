"""A cluster of three worker processes: politeness at the origin, workers that die, calls that are stopped."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import pytest
from pandas.testing import assert_frame_equal

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from tests.runs.backends.origin import BUSY, Origin
from webanalytics.runs.backends import dask as spoken

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),  # the first one starts three worker processes, which a busy machine does slowly
    # of worker processes that end in the middle of something, as they shall here
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
OPTIONS: dict[str, Any] = {"allow_private": True, "progress": False}
WORKERS = 3
VARYING = ["elapsed", "fetched_at"]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    cluster = distributed.LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0")
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"})  # to start again
    with patient, cluster, distributed.Client(cluster, set_as_default=False) as made:
        backend = wa.Dask(made)
        with Origin() as origin:  # every worker has its analysis processes: what follows takes seconds
            wa.audit(origin.urls(WORKERS * 2, 2), backend=backend, **OPTIONS)
        yield made


@pytest.fixture
def backend(client: Any) -> wa.Dask:
    client.wait_for_workers(2, timeout=60)  # a keeper may give up a worker that was killed
    return wa.Dask(client)


def until(found: Callable[[], object]) -> None:
    end = time.monotonic() + 4 * BUSY_SECONDS
    while not found():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_cluster_is_as_polite_as_one_machine(backend: wa.Dask) -> None:
    with Origin(seconds=0.01) as origin:
        urls = origin.urls(12, 6)
        frame = wa.metadata(urls, backend=backend, delay=1.0, **OPTIONS)
        gaps, peaks, visits = origin.gaps(), dict(origin.peak), len(origin.visits)
        wanted = wa.metadata(urls, **OPTIONS)
    assert min(gaps.values()) >= BUSY
    assert median(gaps.values()) >= 0.9
    assert set(peaks.values()) == {1}
    assert visits == 12 * (6 + 1)
    assert_frame_equal(frame.drop(columns="elapsed"), wanted.drop(columns="elapsed"), check_flags=False)


def test_per_host_holds_over_all_workers(backend: wa.Dask) -> None:
    with Origin(seconds=0.05) as origin:
        frame = wa.metadata(origin.urls(2, 40), backend=backend, per_host=2, **OPTIONS)
        assert max(origin.peak.values()) == 2
        assert len(origin.visits) == 2 + 80
    assert frame["status"].eq("ok").all()


def test_a_call_that_is_stopped_makes_no_further_request(backend: wa.Dask) -> None:
    async def main(urls: list[str]) -> None:
        call = asyncio.create_task(wa.aio.audit(urls, backend=backend, delay=0.1, **OPTIONS))
        await asyncio.to_thread(until, lambda: len(origin.pages()) > 160)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    with Origin() as origin:
        urls = origin.urls(4, 100)
        small = [url for url in urls if urlsplit(url).hostname == urlsplit(urls[0]).hostname]
        asyncio.run(main([url for url in urls if url not in small[5:]]))  # a host that is soon done
        time.sleep(4.0)  # of four hosts, each asked ten times a second, all that are left
        asked = len(origin.pages())
    assert asked < 160 + 2 * 4 * 10  # what two seconds take
    rows = wa.last_partial()
    assert isinstance(rows, wa.Audit)
    assert sorted(rows.pages["url"]) == sorted(small[:5])


def test_nothing_of_an_address_is_in_what_the_scheduler_keeps(client: Any, backend: wa.Dask) -> None:
    with Origin() as origin:
        wa.metadata([f"{url}?token=5e4Zx9" for url in origin.urls(2, 3)], backend=backend, **OPTIONS)
    kept = client.run_on_scheduler(_all_kept)
    logs = f"{client.get_scheduler_logs()}{client.get_worker_logs()}{client.get_events()}"
    assert "webanalytics-" in kept
    assert "5e4Zx9" not in kept + logs


def _all_kept(dask_scheduler: Any) -> str:
    return f"{list(dask_scheduler.tasks)}{dask_scheduler.transition_log}{dask_scheduler._broker._topics}"


def test_an_address_is_connected_to_and_left(client: Any) -> None:
    address = client.scheduler.address
    with wa.Dask(address) as backend:
        frame = wa.dane(["x"], backend=backend, progress=False)
        own = backend.client
    assert frame.attrs["webanalytics"]["backend"] == "dask"
    assert own.status == "closed"
    assert client.status == "running"


def test_an_address_where_nobody_answers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spoken, "CONNECT_SECONDS", 0.5)
    with pytest.raises(wa.BackendError, match=r"tcp://127\.0\.0\.1:9"):
        wa.Dask("tcp://127.0.0.1:9")


def test_a_cluster_of_its_own_ends_with_the_backend() -> None:
    with wa.Dask() as backend:
        pids = list(backend.client.run(os.getpid).values())
        assert wa.phones(["+12085813945"], backend=backend, progress=False)["status"].tolist() == ["ok"]
    assert pids
    assert os.getpid() not in pids
    until(lambda: not any(_is_running(pid) for pid in pids))


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_workers_of_another_version_are_refused(backend: wa.Dask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spoken, "__version__", "99.0")
    with pytest.raises(wa.BackendError, match="install the same version"):
        wa.dane(["x"], backend=backend, progress=False)


# ------------------------------------------------------------------ workers end: these come last


def poison() -> Any:
    """Return a plugin that ends the worker which fetches a page whose address says so.

    It is made in a function so that it travels by value: the workers do not have these tests.
    """

    class Poison(distributed.WorkerPlugin):  # type: ignore[misc, name-defined]
        def setup(self, worker: Any) -> None:
            from webanalytics.runs.backends.base import Listed
            from webanalytics.runs.backends.local import LocalBackend

            stream = LocalBackend.stream

            async def poisoned(self: Any, task: Any, source: Any, fetcher: Any, window: int) -> Any:
                jobs = []
                while (job := await source.next()) is not None:
                    jobs.append(job)
                    if "poison" in str(job.subject):
                        await fetcher.fetch(job.subject)
                        os.kill(os.getpid(), signal.SIGKILL)
                async for group in stream(self, task, Listed(jobs), fetcher, window):
                    yield group

            LocalBackend.stream = poisoned  # type: ignore[method-assign, assignment]

    return Poison()


def test_the_group_of_a_killed_worker_is_done_again(client: Any, backend: wa.Dask) -> None:
    got: list[wa.Audit] = []
    with Origin(seconds=0.05) as origin:
        urls = origin.urls(7, 40)
        call = threading.Thread(
            target=lambda: got.append(wa.audit(urls, backend=backend, per_host=2, **OPTIONS))
        )
        call.start()
        until(lambda: len(origin.pages()) > 60)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        call.join()
        requests = len(origin.pages())
        assert max(origin.peak.values()) <= 2 + 2  # those of the dead worker end a moment later
    (audit,) = got
    assert audit.pages["status"].eq("ok").all()
    assert len(audit.pages) == 280
    assert 280 <= requests <= 280 + 2 * 40


def _allow_one_failure(dask_scheduler: Any) -> None:
    dask_scheduler.allowed_failures = 1


def test_a_page_that_ends_its_workers_is_a_row(client: Any, backend: wa.Dask) -> None:
    client.register_plugin(poison(), name="poison")
    client.run_on_scheduler(
        _allow_one_failure
    )  # Dask's own number is three: each worker takes seconds to start
    try:
        with Origin() as origin:
            urls = origin.urls(3, 12)
            urls.insert(5, f"http://127.0.0.1:{origin.port}/poison")
            frame = wa.metadata(urls, backend=backend, **OPTIONS)
            paths = [visit.path for visit in origin.visits]
    finally:
        client.unregister_worker_plugin("poison")
    assert paths.count("/poison") >= 2
    bad = frame["url"].str.endswith("poison")
    assert frame.loc[bad, "error_type"].tolist() == ["parse"]
    assert frame.loc[~bad, "status"].eq("ok").all()
