"""Steering without Dask: chunks are done by threads of this process, some of which are lost on purpose."""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import webanalytics as wa
from tests.backends.origin import BUSY, Origin, page
from tests.effort import BUSY_SECONDS
from webanalytics.backends.dask import Dask
from webanalytics.backends.dask.work import Answered, Chunk, Unwanted, answer
from webanalytics.outcomes import PageRecord
from webanalytics.testing import SiteServer

OPTIONS: dict[str, Any] = {"allow_private": True, "progress": False}
VARYING = ["elapsed", "fetched_at"]


class Threads:
    """Does chunks in threads; what a chunk holds goes through pickle, as on its way to a worker."""

    def __init__(self, count: int = 4, lose: Callable[[Chunk], bool] = lambda chunk: False) -> None:
        self._count, self._lose = count, lose
        self.chunks: list[Chunk] = []
        self.busy: defaultdict[str, int] = defaultdict(int)
        self.peak: defaultdict[str, int] = defaultdict(int)
        self.wanted = True
        self.ended = threading.Event()

    async def threads(self) -> int:
        return self._count

    def close(self) -> None:
        pass

    def followed(self, topic: str, take: Callable[[str, int], None]) -> Any:
        self.tell = take
        return _Nothing()

    async def answer(self, chunk: Chunk, topic: str) -> Answered | None:
        sent = pickle.loads(pickle.dumps(chunk))
        self.chunks.append(sent)
        for host in chunk.known:
            self.busy[host] += 1
            self.peak[host] = max(self.peak[host], self.busy[host])
        try:
            if await asyncio.to_thread(self._lose, sent):
                return None
            done = await asyncio.to_thread(self._work, sent)
            return pickle.loads(pickle.dumps(done))
        except asyncio.CancelledError:
            self.wanted = False
            raise
        finally:
            for host in chunk.known:
                self.busy[host] -= 1

    def _work(self, chunk: Chunk) -> Answered:
        try:
            return answer(chunk, lambda: self.wanted)
        except Unwanted:
            self.ended.set()
            raise


class _Nothing:
    async def __aenter__(self) -> None:
        pass

    async def __aexit__(self, *_: object) -> None:
        pass


def backend(threads: Threads, chunk: int = 10) -> Dask:
    made = Dask(SimpleNamespace(asynchronous=False, submit=None, nthreads=None), chunk=chunk)
    made._cluster = threads  # type: ignore[assignment]
    return made


def test_a_host_is_in_one_chunk_at_a_time_and_robots_txt_is_read_once() -> None:
    threads = Threads()
    with Origin(seconds=0.01) as origin:
        urls = origin.urls(5, 23)
        frame = wa.metadata(urls, backend=backend(threads), per_host=3, **OPTIONS)
        wanted = wa.metadata(urls, **OPTIONS)
        asked = len([visit for visit in origin.visits if visit.path == "/robots.txt"])
    assert_frame_equal(frame.drop(columns="elapsed"), wanted.drop(columns="elapsed"), check_flags=False)
    assert set(threads.peak.values()) == {1}
    assert max(len(chunk.jobs) for chunk in threads.chunks) <= 10
    assert asked == 5 + 5  # the second five are those of the call on this machine
    assert max(origin.peak.values()) <= 8


def test_the_delay_holds_from_one_chunk_to_the_next() -> None:
    threads = Threads()
    with Origin() as origin:
        wa.metadata(origin.urls(2, 9), backend=backend(threads, chunk=2), delay=0.4, **OPTIONS)
        assert min(origin.gaps().values()) >= BUSY * 0.4
        assert len(origin.visits) == 2 + 18
        assert set(origin.peak.values()) == {1}
    assert len(threads.chunks) >= 9


def test_a_crawl_delay_and_the_rules_travel() -> None:
    def strict(host: str, path: str) -> tuple[int, dict[str, str], bytes]:
        if path == "/robots.txt":
            return 200, {}, b"User-agent: *\nCrawl-delay: 0.4\nDisallow: /3"
        return page(host, path)

    with Origin(strict) as origin:
        frame = wa.metadata(origin.urls(1, 8), backend=backend(Threads(), chunk=2), **OPTIONS)
        began = [visit.began for visit in origin.pages()]
        assert min(later - sooner for sooner, later in pairwise(began)) >= BUSY * 0.4
        assert sorted(visit.path for visit in origin.visits) == sorted(
            ["/robots.txt", *(f"/{number}" for number in range(8) if number != 3)]
        )
    assert frame["error_type"].dropna().to_dict() == {3: "robots"}


def test_a_host_that_refuses_is_given_up_for_the_whole_cluster_and_reported() -> None:
    def refusing(host: str, path: str) -> tuple[int, dict[str, str], bytes]:
        if path != "/robots.txt" and host == "127.0.0.2":
            return 429, {"Retry-After": "600"}, b"no"
        return page(host, path)

    with Origin(refusing) as origin:
        urls = origin.urls(2, 60)
        frame = wa.metadata(urls, backend=backend(Threads(), chunk=5), per_host=2, **OPTIONS)
        asked = [visit for visit in origin.pages() if visit.host == "127.0.0.2"]
    (row,) = frame.attrs["webanalytics"]["hosts"]
    assert row["host"] == f"127.0.0.2:{origin.port}"
    assert row["connections"] == 0
    assert row["note"].startswith("given up")
    assert len(asked) < 30
    assert frame["status"].tolist() == ["ok"] * 60 + ["error"] * 60


def test_a_lost_chunk_is_asked_for_one_by_one_and_what_ends_three_workers_is_a_row() -> None:
    threads = Threads(lose=lambda chunk: any(job.subject.endswith("/7") for job in chunk.jobs))
    with Origin() as origin:
        frame = wa.audit(origin.urls(1, 20), backend=backend(threads), **OPTIONS)
        visits = len(origin.pages())
    lost = [chunk for chunk in threads.chunks if any(job.subject.endswith("/7") for job in chunk.jobs)]
    assert [len(chunk.jobs) for chunk in lost] == [10, 1, 1]
    assert visits == 19
    assert frame.raw["status"].tolist() == ["ok"] * 7 + ["error"] + ["ok"] * 12
    assert frame.raw["error_type"].dropna().tolist() == ["parse"]


def test_after_a_loss_the_delay_is_kept_too() -> None:
    lost: list[str] = []

    def lose(chunk: Chunk) -> bool:
        if lost or len(threads.chunks) < 2:
            return False
        answer(chunk)  # its requests are made; what they brought is lost
        lost.append(chunk.name)
        return True

    threads = Threads(lose=lose)
    with Origin() as origin:
        frame = wa.metadata(origin.urls(1, 6), backend=backend(threads, chunk=2), delay=0.5, **OPTIONS)
        assert min(origin.gaps().values()) >= BUSY * 0.5
        assert len(origin.visits) == 1 + 6 + 2
    assert lost
    assert frame["status"].eq("ok").all()


def test_files_are_read_where_the_call_is_made(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(page("", "/a")[2])
    paths = [tmp_path / "a.html", tmp_path / "missing.html"]
    threads = Threads()
    got = wa.metadata(paths, backend=backend(threads), **OPTIONS)
    assert_frame_equal(got, wa.metadata(paths, **OPTIONS), check_flags=False)
    assert all(isinstance(job.subject, PageRecord) for chunk in threads.chunks for job in chunk.jobs)


def test_secrets_do_not_travel_and_nothing_of_a_job_can_be_logged() -> None:
    threads = Threads()
    frame = wa.hmac(["a", "b"], secret="k", backend=backend(threads), progress=False)
    assert frame["hmac"].tolist() == wa.hmac(["a", "b"], secret="k")["hmac"].tolist()
    assert threads.chunks == []
    with Origin() as origin:
        wa.metadata([f"{origin.urls(1, 1)[0]}?token=5e4Zx"], backend=backend(threads), **OPTIONS)
    (chunk,) = threads.chunks
    assert "5e4Zx" not in f"{chunk!r}{chunk.name}{answer(chunk)!r}"


@pytest.mark.parametrize("dask_first", [True, False])
def test_backends_of_one_family_resume_each_other(dask_first: bool, tmp_path: Path) -> None:
    chosen = [backend(Threads(), chunk=2), None]
    first, second = chosen if dask_first else reversed(chosen)
    with Origin() as origin:
        urls = origin.urls(1, 6)
        wa.audit(urls[:4], backend=first, checkpoint=tmp_path, **OPTIONS)
        before = len(origin.visits)
        got = wa.audit(urls, backend=second, checkpoint=tmp_path, **OPTIONS)
        fetched = {visit.path for visit in origin.visits[before:]} - {"/robots.txt"}
        wanted = wa.audit(urls, **OPTIONS)
    assert fetched == {"/4", "/5"}
    assert_frame_equal(got.raw.drop(columns=VARYING), wanted.raw.drop(columns=VARYING), check_flags=False)


def test_a_crawl_is_the_same_and_reads_robots_txt_once(site_of_links: dict[str, bytes]) -> None:
    with SiteServer(site_of_links) as site:
        wanted = wa.crawl(site.url, allow_private=True, progress=False)
        before = [request.target for request in site.requests]
        threads = Threads()
        got = wa.crawl(site.url, backend=backend(threads, chunk=4), allow_private=True, progress=False)
        asked = [request.target for request in list(site.requests)[len(before) :]]
    assert len(threads.chunks) > 2
    assert sorted(asked) == sorted(before)
    left_out = [column for column in VARYING if column in wanted]
    assert_frame_equal(
        pd.DataFrame(got).drop(columns=left_out),
        pd.DataFrame(wanted).drop(columns=left_out),
        check_flags=False,
    )
    assert_frame_equal(got.links, wanted.links)
    assert_frame_equal(got.issues, wanted.issues)


@pytest.fixture
def site_of_links() -> dict[str, bytes]:
    links = {number: [number * 2 + 1, number * 2 + 2] for number in range(30)}
    pages = {
        f"/{number}": f"<title>Page {number}</title>".encode()
        + b"".join(f"<a href=/{to}>to {to}</a>".encode() for to in links.get(number, []) if to < 30)
        for number in range(30)
    }
    return {"/": b"<title>Start</title><a href=/0>first</a>", "/robots.txt": b"User-agent: *\n", **pages}


def test_a_call_that_is_cancelled_ends_its_chunks() -> None:
    threads = Threads(count=2)

    async def main(urls: list[str]) -> None:
        call = asyncio.create_task(wa.aio.metadata(urls, backend=backend(threads), delay=0.2, **OPTIONS))
        await asyncio.to_thread(_until, lambda: len(origin.visits) >= 5)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    with Origin() as origin:
        asyncio.run(main(origin.urls(2, 200)))
        assert threads.ended.wait(BUSY_SECONDS)
        time.sleep(0.5)
        count = len(origin.visits)
        time.sleep(1.0)
        assert len(origin.visits) == count


def test_progress_counts_pages_before_their_chunk_is_done() -> None:
    from webanalytics.runs.blocking import Run

    shown: list[int] = []
    run = Run()
    run._showing, run._update = True, shown.append  # type: ignore[method-assign, assignment]
    run._redraw = lambda: _at_once(run)  # type: ignore[method-assign]
    run.ahead(4)
    run.ahead(7)
    run.ahead(0)
    run.step(10)
    assert shown == [4, 3, 3]


def _until(found: Callable[[], bool]) -> None:
    end = time.monotonic() + BUSY_SECONDS
    while not found():
        assert time.monotonic() < end
        time.sleep(0.02)


def _at_once(run: Any) -> None:
    run._seen_at = 0.0
    type(run)._redraw(run)


def test_an_asynchronous_client_is_refused() -> None:
    with pytest.raises(wa.ParameterError, match="client"):
        Dask(SimpleNamespace(asynchronous=True, submit=None, nthreads=None))


@pytest.mark.parametrize("client", [3, object(), ["tcp://x"]])
def test_what_is_no_client_is_refused(client: Any) -> None:
    with pytest.raises(wa.ParameterError, match=r"distributed\.Client") as caught:
        wa.Dask(client)
    assert caught.value.parameter == "client"


@pytest.mark.parametrize("chunk", [0, 1001, 2.5, True, "x"])
def test_a_wrong_chunk_is_refused(chunk: Any) -> None:
    with pytest.raises(wa.ParameterError, match="chunk"):
        wa.Dask(SimpleNamespace(asynchronous=False, submit=None, nthreads=None), chunk=chunk)


def test_a_closed_backend_is_refused_before_any_work() -> None:
    closed = backend(Threads())
    closed.close()
    with pytest.raises(wa.ParameterError, match="backend"):
        wa.dane(["x"], backend=closed)
