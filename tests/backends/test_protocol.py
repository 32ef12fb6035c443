"""What a backend is: a checked protocol, a specification that travels, and one family of answers."""

from __future__ import annotations

import json
import pickle
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import webanalytics as wa
from webanalytics.backends import dask
from webanalytics.backends.base import Backend, RunSpec, Task
from webanalytics.backends.dask import DaskBackend
from webanalytics.backends.local import LocalBackend
from webanalytics.operations import AUDIT_PAGES, FACTS, Operation
from webanalytics.outcomes import Job, JobResult, PackedOutcomes
from webanalytics.run_options import BACKEND_PARTS
from webanalytics.testing import SiteServer

URL = "https://api.example.com"
UNSTEADY = ["elapsed", "fetched_at"]
OPTIONS: dict[str, Any] = {"allow_private": True, "progress": False, "workers": 1}


def page(name: str) -> bytes:
    words = f"The keeper of lantern {name} walks up the stairs and writes a letter to her sister. " * 6
    return f"<html lang=en><title>Page {name}</title><h1>{name}</h1><p>{words}</p>".encode()


def client(threads: int = 4) -> Any:
    """What `DaskBackend` needs of a cluster's client, on threads of this process."""
    executor = ThreadPoolExecutor(threads)
    return SimpleNamespace(
        asynchronous=False,
        nthreads=lambda: {"a": threads // 2, "b": threads // 2},
        get_executor=lambda: executor,
    )


def backends() -> list[Any]:
    return [LocalBackend(), wa.Hosted(URL, "a-key"), DaskBackend(client())]


# ------------------------------------------------------------------ the protocol


def test_the_options_know_the_members_of_the_protocol() -> None:
    methods = {name for name in vars(Backend) if not name.startswith("_")}
    assert set(BACKEND_PARTS) == set(Backend.__annotations__) | methods


def test_all_backends_are_backends() -> None:
    for backend in backends():
        assert isinstance(backend, Backend)
        assert {backend.price(item) for item in AUDIT_PAGES} != {0} or not backend.priced


def test_families() -> None:
    local, hosted, on_dask = backends()
    assert local.family == on_dask.family != hosted.family
    assert hosted.family != wa.Hosted("https://other.example.com", "a-key").family
    assert [item.serves(FACTS) for item in (local, hosted, on_dask)] == [True, False, True]


@pytest.mark.parametrize("missing", BACKEND_PARTS)
def test_an_object_that_lacks_a_part_is_refused_by_name(missing: str) -> None:
    parts = {part: None for part in BACKEND_PARTS if part != missing}
    with pytest.raises(wa.ParameterError, match=f"`{missing}`") as caught:
        wa.use(SimpleNamespace(**parts))
    assert caught.value.parameter == "backend"
    with pytest.raises(wa.ParameterError, match=f"`{missing}`"):
        wa.dane("x", backend=SimpleNamespace(**parts))


# ------------------------------------------------------------------ the specification


def seen_task(call: Any, monkeypatch: pytest.MonkeyPatch) -> Task:
    """Return the task that a call on this machine makes."""
    seen: list[Task] = []
    monkeypatch.setattr(LocalBackend, "check", lambda self, task: seen.append(task))
    call()
    return seen[-1]


def test_a_specification_travels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pages = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>A</title>"]})
    call = lambda: wa.audit(pages, backend=LocalBackend(), checkpoint=tmp_path, **OPTIONS)  # noqa: E731
    spec = seen_task(call, monkeypatch).spec
    assert spec.operations == ("metadata", "text", "readability", "keywords", "facts")
    assert spec.resumable
    assert "backend" not in spec.options
    assert pickle.loads(pickle.dumps(spec)) == spec
    plain = json.loads(json.dumps(asdict(spec)))
    assert (
        RunSpec(**{**plain, "operations": tuple(plain["operations"]), "given": tuple(plain["given"])}) == spec
    )


def test_declarations_are_found_by_their_names() -> None:
    names = tuple(item.name for item in AUDIT_PAGES)
    assert Task(RunSpec(names, {})).operations == AUDIT_PAGES
    with pytest.raises(KeyError):
        _ = Task(RunSpec(("nothing",), {})).operations


# ------------------------------------------------------------------ a backend that is neither


class Elsewhere(LocalBackend):
    """Costs credits without HTTP, lacks facts, and answers each job at once or operation by operation."""

    name = "elsewhere"
    family = "elsewhere"
    priced = True
    durable = True

    def __init__(self, at_once: bool) -> None:
        self.at_once = at_once
        self.asked: list[tuple[str, ...]] = []

    def serves(self, operation: Operation) -> bool:
        return operation.name != "facts"

    def price(self, operation: Operation) -> int:
        return 3

    async def run(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[JobResult], None]:
        self.asked.append(task.spec.operations)
        async for group in super().run(task, jobs):
            for result in group:
                task.report.used += 9
                if self.at_once:
                    yield (result,)
                    continue
                for position, outcome in enumerate(result.outcomes):
                    yield (JobResult(result.number, (outcome,), result.fetched, position),)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_backend_that_lacks_operations_is_not_asked_about_them(at_once: bool) -> None:
    backend = Elsewhere(at_once)
    with SiteServer({"/a": page("a"), "/b": page("b")}) as site:
        urls = [f"{site.url}/a", f"{site.url}/b", f"{site.url}/gone"]
        got = wa.audit(urls, backend=backend, **OPTIONS)
        wanted = wa.audit(urls, **OPTIONS)
    assert backend.asked == [("metadata", "text", "readability", "keywords")]
    for column in ("title", "wordCount", "keywords", "links"):
        assert got[column].iloc[:2].tolist() == wanted[column].iloc[:2].tolist(), column
    assert got["responseBody"].fillna("").eq("").all()
    assert got.attrs["credits"] == {"used": 27, "left": None, "needed": 0}
    assert got.attrs["webanalytics"]["backend"] == "elsewhere"
    assert int(wa.estimate("dane", ["a", "b"], backend)) == 6


# ------------------------------------------------------------------ Dask, on threads of this process


def test_a_host_is_asked_by_one_chunk_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    running: dict[str, int] = {}
    peaks: dict[str, int] = {}
    sizes: list[int] = []

    def answer(spec: RunSpec, jobs: list[Job]) -> list[JobResult]:
        hosts = {job.subject.split("/")[2] for job in jobs}
        for host in hosts:
            running[host] = running.get(host, 0) + 1
            peaks[host] = max(peaks.get(host, 0), running[host])
        sizes.append(len(jobs))
        packed = PackedOutcomes(PackedOutcomes.pack([{"title": "x"}]))
        found = [JobResult(job.number, packed) for job in jobs]
        for host in hosts:
            running[host] -= 1
        return found

    monkeypatch.setattr(dask, "_answer", answer)
    urls = [f"http://host{number % 7}.example/{number}" for number in range(200)]
    frame = wa.metadata(urls, backend=DaskBackend(client(), chunk=5), **OPTIONS)
    assert frame["status"].eq("ok").all()
    assert set(peaks.values()) == {1}
    assert max(sizes) == 5


def test_files_are_read_where_the_call_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(page("a"))
    paths = [tmp_path / "a.html", tmp_path / "missing.html"]
    subjects: list[Any] = []
    real = dask._answer

    def answer(spec: RunSpec, jobs: list[Job]) -> list[JobResult]:
        subjects.extend(job.subject for job in jobs)
        return real(pickle.loads(pickle.dumps(spec)), pickle.loads(pickle.dumps(jobs)))

    monkeypatch.setattr(dask, "_answer", answer)
    got = wa.metadata(paths, backend=DaskBackend(client()), **OPTIONS)
    assert_frame_equal(got, wa.metadata(paths, **OPTIONS), check_flags=False)
    assert not any(isinstance(subject, Path) for subject in subjects)


def test_secrets_do_not_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "_answer", None)
    frame = wa.hmac(["a", "b"], secret="k", backend=DaskBackend(client()), progress=False)
    assert frame["hmac"].tolist() == wa.hmac(["a", "b"], secret="k")["hmac"].tolist()


def test_a_cluster_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(spec: RunSpec, jobs: list[Job]) -> list[JobResult]:
        raise RuntimeError("the worker died")

    monkeypatch.setattr(dask, "_answer", answer)
    with pytest.raises(wa.BackendError, match="Dask"):
        wa.dane(["a"], backend=DaskBackend(client()), progress=False)


def test_an_asynchronous_client_is_refused() -> None:
    with pytest.raises(wa.ParameterError, match="client"):
        DaskBackend(SimpleNamespace(asynchronous=True))


@pytest.mark.parametrize("dask_first", [True, False])
def test_backends_of_one_family_resume_each_other(dask_first: bool, tmp_path: Path) -> None:
    pages = {f"/{number}": page(str(number)) for number in range(6)}
    chosen = [DaskBackend(client(), chunk=2), None]
    first, second = chosen if dask_first else reversed(chosen)
    with SiteServer(pages) as site:
        urls = [site.url + path for path in pages]
        wa.audit(urls[:4], backend=first, checkpoint=tmp_path, **OPTIONS)
        before = len(site.requests)
        got = wa.audit(urls, backend=second, checkpoint=tmp_path, **OPTIONS)
        fetched = {request.target for request in list(site.requests)[before:]} - {"/robots.txt"}
        wanted = wa.audit(urls, **OPTIONS)
    assert fetched == {"/4", "/5"}
    assert_frame_equal(got.drop(columns=UNSTEADY), wanted.drop(columns=UNSTEADY), check_flags=False)
