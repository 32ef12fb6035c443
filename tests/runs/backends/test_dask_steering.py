"""Groups of jobs without a cluster: threads of this process do them, some of which are lost on purpose."""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from tests.runs.backends.origin import BUSY, Answer, Origin, page
from tests.runs.hosted.running import equal
from webanalytics.core.outcomes import Job, PageRecord
from webanalytics.fetching.testing import SiteServer
from webanalytics.runs.backends.dask import Dask
from webanalytics.runs.backends.dask_groups import Answered, Group, answer, attempt, grouped

distributed = pytest.importorskip("distributed")

OPTIONS: dict[str, Any] = {"allow_private": True, "progress": False}
VARYING = ["elapsed", "fetched_at"]


class Threads:
    """A client whose cluster is threads: what a group holds goes through pickle, as on its way to a worker."""

    asynchronous = False

    def __init__(self, count: int = 4, lose: Callable[[Group], bool] = lambda group: False) -> None:
        self._count, self._lose = count, lose
        self._threads = ThreadPoolExecutor(count)
        self.groups: list[Group] = []
        self.busy: defaultdict[str, int] = defaultdict(int)
        self.peak: defaultdict[str, int] = defaultdict(int)

    def close(self) -> None:
        self._threads.shutdown()

    def nthreads(self) -> dict[str, int]:
        return {"a worker": self._count}

    def submit(self, function: Any, group: Group, *, key: str, pure: bool) -> Any:
        assert function is attempt
        future = self._threads.submit(self._done, pickle.loads(pickle.dumps(group)))
        future.release = lambda: None  # type: ignore[attr-defined]
        return future

    def _done(self, group: Group) -> Answered:
        self.groups.append(group)
        for host in group.known:
            self.busy[host] += 1
            self.peak[host] = max(self.peak[host], self.busy[host])
        try:
            if self._lose(group):
                raise distributed.KilledWorker("a task", "a worker", 3)
            done: Answered = pickle.loads(pickle.dumps(asyncio.run(answer(group))))
            return done
        finally:
            for host in group.known:
                self.busy[host] -= 1


def backend(threads: Threads, chunk: int = 10) -> Dask:
    return Dask(threads, chunk=chunk)


def test_a_host_is_in_one_group_and_robots_txt_is_read_once() -> None:
    threads = Threads()
    with Origin(seconds=0.01) as origin:
        urls = origin.urls(5, 23)
        frame = wa.metadata(urls, backend=backend(threads), per_host=3, **OPTIONS)
        wanted = wa.metadata(urls, **OPTIONS)
        asked = len([visit for visit in origin.visits if visit.path == "/robots.txt"])
    equal(frame.drop(columns="elapsed"), wanted.drop(columns="elapsed"), check_flags=False)
    assert set(threads.peak.values()) == {1}
    assert len(threads.groups) == 5  # a host is never divided
    assert asked == 5 + 5  # the second five are those of the call on this machine
    assert max(origin.peak.values()) <= 8


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


def test_files_are_read_where_the_call_is_made(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(page("", "/a")[2])
    paths = [tmp_path / "a.html", tmp_path / "missing.html"]
    threads = Threads()
    got = wa.metadata(paths, backend=backend(threads), **OPTIONS)
    equal(got, wa.metadata(paths, **OPTIONS), check_flags=False)
    assert all(isinstance(job.subject, PageRecord) for group in threads.groups for job in group.jobs)


def test_secrets_do_not_travel_and_nothing_of_a_job_can_be_logged() -> None:
    threads = Threads()
    frame = wa.hmac(["a", "b"], secret="k", backend=backend(threads), progress=False)
    assert frame["hmac"].tolist() == wa.hmac(["a", "b"], secret="k")["hmac"].tolist()
    assert threads.groups == []
    with Origin() as origin:
        wa.metadata([f"{origin.urls(1, 1)[0]}?token=5e4Zx"], backend=backend(threads), **OPTIONS)
    (group,) = threads.groups
    assert "5e4Zx" not in f"{group!r}{asyncio.run(answer(group))!r}"


@pytest.mark.parametrize("dask_first", [True, False])
def test_backends_of_one_family_resume_each_other(dask_first: bool, tmp_path: Path) -> None:
    chosen = [backend(Threads(), chunk=2), None]
    first, second = chosen if dask_first else reversed(chosen)
    with Origin() as origin:
        urls = origin.urls(1, 6)
        wa.audit(urls[:4], backend=first, store=tmp_path, **OPTIONS)
        before = len(origin.visits)
        got = wa.audit(urls, backend=second, store=tmp_path, **OPTIONS)
        fetched = {visit.path for visit in origin.visits[before:]} - {"/robots.txt"}
        wanted = wa.audit(urls, **OPTIONS)
    assert fetched == {"/4", "/5"}
    equal(got.raw.drop(columns=VARYING), wanted.raw.drop(columns=VARYING), check_flags=False)


def test_a_crawl_is_the_same_and_reads_robots_txt_once(site_of_links: dict[str, bytes]) -> None:
    with SiteServer(site_of_links) as site:
        wanted = wa.crawl(site.url, allow_private=True, progress=False)
        before = [request.target for request in site.requests]
        threads = Threads()
        got = wa.crawl(site.url, backend=backend(threads, chunk=4), allow_private=True, progress=False)
        asked = [request.target for request in list(site.requests)[len(before) :]]
    assert len(threads.groups) > 2  # wave by wave
    assert sorted(asked) == sorted(before)
    equal(got.raw.drop(columns=VARYING), wanted.raw.drop(columns=VARYING), check_flags=False)
    equal(got.links, wanted.links)
    equal(got.issues, wanted.issues)


@pytest.fixture
def site_of_links() -> dict[str, bytes]:
    links = {number: [number * 2 + 1, number * 2 + 2] for number in range(30)}
    pages = {
        f"/{number}": f"<title>Page {number}</title>".encode()
        + b"".join(f"<a href=/{to}>to {to}</a>".encode() for to in links.get(number, []) if to < 30)
        for number in range(30)
    }
    return {"/": b"<title>Start</title><a href=/0>first</a>", "/robots.txt": b"User-agent: *\n", **pages}


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


def test_what_ends_its_workers_alone_is_a_row() -> None:
    threads = Threads(lose=lambda group: any(job.subject.endswith("/7") for job in group.jobs))
    with Origin() as origin:
        frame = wa.audit(origin.urls(1, 20), backend=backend(threads), **OPTIONS)
        visits = len(origin.pages())
    lost = [group for group in threads.groups if any(job.subject.endswith("/7") for job in group.jobs)]
    assert [len(group.jobs) for group in lost] == [20, 1]
    assert visits == 19
    assert frame.pages["status"].tolist() == ["ok"] * 7 + ["error"] + ["ok"] * 12
    assert frame.pages["error_type"].dropna().tolist() == ["parse"]


def test_finished_groups_of_an_interrupted_call_are_rows() -> None:
    waits = threading.Event()

    def lose(group: Group) -> bool:
        return "127.0.0.1:" in group.jobs[0].subject and not waits.wait(BUSY_SECONDS)

    threads = Threads(lose=lose)

    async def main(urls: list[str]) -> None:
        made = backend(threads, chunk=1)
        call = asyncio.create_task(wa.aio.metadata(urls, backend=made, **OPTIONS))
        await asyncio.to_thread(until, lambda: len(origin.pages()) >= 9)
        await asyncio.sleep(1.0)  # what was asked for last is on its way
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    with Origin() as origin:
        try:
            asyncio.run(main(origin.urls(4, 3)))
        finally:
            waits.set()
            threads.close()  # before the origin ends, which they may be asking
    rows = wa.last_partial()
    assert rows is not None
    assert 3 <= rows["status"].eq("ok").sum() <= 9


@given(st.lists(st.sets(st.sampled_from("abcdefgh"), max_size=3), max_size=20), st.integers(1, 6))
def test_no_host_is_in_two_groups(hosts: list[set[str]], size: int) -> None:
    groups = grouped(
        [(Job(number, ""), {f"{host}.example" for host in asked}) for number, asked in enumerate(hosts)], size
    )
    assert sorted(job.number for jobs, _ in groups for job in jobs) == list(range(len(hosts)))
    seen: set[str] = set()
    for jobs, asked in groups:
        assert not asked & seen
        seen |= asked
        assert {f"{host}.example" for job in jobs for host in hosts[job.number]} <= asked


def until(found: Callable[[], bool]) -> None:
    end = time.monotonic() + BUSY_SECONDS
    while not found():
        assert time.monotonic() < end
        time.sleep(0.02)


def leading(to: Callable[[str], str], ports: list[int]) -> Answer:
    """Return answers by which every page of 127.0.0.1 leads to the same path of another host."""

    def answered(host: str, path: str) -> tuple[int, dict[str, str], bytes]:
        if host == "127.0.0.1" and path != "/robots.txt":
            return 301, {"Location": f"http://{to(path)}:{ports[0]}{path}"}, b""
        return page(host, path)

    return answered


@pytest.mark.parametrize("several", [False, True])
def test_a_host_that_others_lead_to_is_asked_when_nobody_asks_it(several: bool) -> None:
    ports: list[int] = []
    threads = Threads()
    with Origin(leading(lambda path: f"127.0.0.{2 + int(path[1:]) * several % 5}", ports)) as origin:
        ports.append(origin.port)
        urls = [*origin.urls(1, 6), *origin.urls(2, 6)[6:]]
        got = wa.metadata(urls, backend=backend(threads, chunk=3), delay=0.3, **OPTIONS)
        assert min(origin.gaps().values()) >= BUSY * 0.3
        assert set(origin.peak.values()) == {1}
        asked = Counter((visit.host, visit.path) for visit in origin.visits)
        wanted = wa.metadata(urls, **OPTIONS)
    equal(got.drop(columns="elapsed"), wanted.drop(columns="elapsed"), check_flags=False)
    assert asked["127.0.0.1", "/robots.txt"] == asked["127.0.0.2", "/robots.txt"] == 1
    assert set(threads.peak.values()) == {1}
