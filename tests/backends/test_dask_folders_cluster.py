"""Worker processes that write their rows to a shared folder and to a server of S3; workers and clients killed."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.test_stored import pages, plainly, same
from tests.backends import s3_server
from tests.backends.origin import Origin
from tests.backends.test_dask_cluster import until
from tests.backends.test_dask_folders import keys, listed
from webanalytics.backends.dask import cluster as spoken
from webanalytics.errors import WriteError
from webanalytics.frames import remote_store
from webanalytics.runs import claims

distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),  # worker processes start slowly on a busy machine
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
OPTIONS: dict[str, Any] = {"allow_private": True, "progress": False}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with (
        s3_server.running(),
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as made,
    ):
        yield made


@pytest.fixture
def backend(client: Any) -> wa.Dask:
    client.wait_for_workers(2, timeout=60)
    return wa.Dask(client)


@pytest.fixture(params=["file", "s3"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return (tmp_path / "audit").as_uri()
    return f"{s3_server.ADDRESS}/{uuid.uuid4().hex}"


def test_the_audit_is_that_of_a_folder_on_this_machine(
    client: Any, backend: wa.Dask, address: str, tmp_path: Path
) -> None:
    made = wa.audit(pages(), backend=backend, save_to=address, progress=False)
    wanted = wa.audit(pages(), save_to=tmp_path / "local", progress=False)
    same(made, wanted)
    pd.testing.assert_frame_equal(plainly(made.issues), plainly(wanted.issues))
    same(wa.load(address), wanted)
    assert len(keys(address)) == len(set(keys(address))) == 30
    assert len([name for name in listed(address) if name.startswith("rows-")]) == 1
    kept = f"{client.get_scheduler_logs()}{client.get_worker_logs()}{client.get_events()}"
    assert "5e4Zx9" not in kept


def test_what_passes_through_the_client_does_not_grow_with_the_texts(
    client: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: Counter[str] = Counter()

    class Counting(spoken.Cluster):
        def _result(self, future: Any, chunk: Any) -> Any:
            answered = super()._result(future, chunk)
            passed["answers"] += len(pickle.dumps(answered))
            return answered

    class Ranges(remote_store._Ranges):
        def readinto(self, buffer: Any) -> int:
            count = super().readinto(buffer)
            passed["read"] += count
            return count

    monkeypatch.setattr(remote_store, "_Ranges", Ranges)
    backend = wa.Dask(client)
    backend._cluster = Counting(client)

    def weight(words: int) -> tuple[int, int]:
        said = " ".join(f"lamp{number * number}" for number in range(words))
        frame = pd.DataFrame(
            {
                "url": [f"https://a.example/{number}" for number in range(40)],
                "html": [f"<title>Page {number}</title><p>{said} {number}</p>" for number in range(40)],
            }
        )
        passed.clear()
        made = wa.audit(frame, backend=backend, save_to=f"{address}-{words}", progress=False)
        found = passed["answers"], passed["read"]
        assert made.raw["text"].str.len().min() > 5 * words
        return found

    small, large = weight(20), weight(2_000)
    assert large[0] < 1.05 * small[0]
    assert large[1] <= 1.2 * small[1]  # what parts say of themselves, and columns of numbers


def test_what_workers_may_not_write_is_a_sentence(backend: wa.Dask, tmp_path: Path) -> None:
    def close() -> None:
        from webanalytics.frames.store import Store

        def refused(*_: Any) -> None:
            raise PermissionError(13, "5e4Zx9")

        Store.write_before = Store.write  # type: ignore[attr-defined]
        Store.write = refused  # type: ignore[method-assign, assignment]

    def open_again() -> None:
        from webanalytics.frames.store import Store

        Store.write = Store.write_before  # type: ignore[attr-defined, method-assign]

    backend.client.run(close)
    try:
        with pytest.raises(WriteError, match="every worker can write to: Permission denied") as caught:
            wa.audit(pages(4), backend=backend, save_to=(tmp_path / "x").as_uri(), progress=False)
    finally:
        backend.client.run(open_again)
    assert "5e4Zx9" not in str(caught.value)


def test_a_dask_frame_is_answered_by_the_cluster_that_has_it(client: Any, address: str) -> None:
    dd = pytest.importorskip("dask.dataframe")
    with Origin() as origin, client.as_current():
        frame = pd.DataFrame({"url": origin.urls(5, 4), "other": range(20)})
        made = wa.metadata(dd.from_pandas(frame, npartitions=4), save_to=address, **OPTIONS)
        wanted = wa.metadata(frame, **OPTIONS)
    assert made.attrs["webanalytics"]["backend"] == "dask"
    same(made.drop(columns="elapsed"), wanted.drop(columns="elapsed"))


SCRIPT = """
import sys
import webanalytics as wa
if __name__ == "__main__":
    scheduler, address, *urls = sys.argv[1:]
    with wa.Dask(scheduler) as backend:
        wa.audit(urls, backend=backend, save_to=address, per_host=2, allow_private=True, progress=False)
"""


def test_a_killed_client_leaves_what_is_done(
    client: Any, backend: wa.Dask, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "DEAD_SECONDS", 2.0)

    def running(dask_worker: Any) -> int:  # within the test: it travels by value
        return len(dask_worker.state.all_running_tasks)

    with Origin(seconds=0.05) as origin:
        urls = origin.urls(7, 20)
        arguments = [sys.executable, "-c", SCRIPT, client.scheduler.address, address, *urls]
        with subprocess.Popen(arguments, stdout=-3, stderr=-3) as process:
            until(lambda: len(origin.pages()) > 60)
            process.kill()
            process.wait()
        until(lambda: not any(client.run(running).values()))  # they have seen that nobody wants them
        done, asked = len(set(keys(address))), len(origin.pages())
        made = wa.audit(urls, backend=backend, save_to=address, **OPTIONS)
        assert len(origin.pages()) - asked == 140 - done
        assert 10 <= done < 140
        again = wa.audit(urls, backend=backend, save_to=address, **OPTIONS)
        assert len(origin.pages()) - asked == 140 - done
        wanted = wa.audit(urls, **OPTIONS)
    assert set(Counter(keys(address)).values()) == {1}
    same(made.raw.drop(columns="elapsed"), wanted.raw.drop(columns="elapsed"))
    same(again.raw.drop(columns="elapsed"), wanted.raw.drop(columns="elapsed"))


# ------------------------------------------------------------------ workers end: this comes last


def test_a_killed_worker_leaves_no_row_twice(client: Any, backend: wa.Dask, address: str) -> None:
    got: list[wa.Audit] = []
    with Origin(seconds=0.05) as origin:
        urls = origin.urls(7, 20)
        call = threading.Thread(
            target=lambda: got.append(wa.audit(urls, backend=backend, save_to=address, per_host=2, **OPTIONS))
        )
        call.start()
        until(lambda: len(origin.pages()) > 60)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        call.join()
        requests = len(origin.pages())
        wanted = wa.audit(urls, **OPTIONS)
    (made,) = got
    same(made.drop(columns="elapsed"), wanted.raw.drop(columns="elapsed"))
    same(wa.load(address), made)
    assert 140 <= requests <= 150
    assert set(Counter(keys(address)).values()) == {1}
