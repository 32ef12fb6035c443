"""What a backend is: a checked protocol, a specification that travels, and one family of answers."""

from __future__ import annotations

import json
import pickle
from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.core.outcomes import Job, JobResult
from webanalytics.fetching.testing import SiteServer
from webanalytics.operations import AUDIT_PAGES, FACTS, Operation
from webanalytics.runs.backends.base import PARTS, Backend, RunSpec, Task, streams
from webanalytics.runs.backends.dask import Dask
from webanalytics.runs.backends.local import LocalBackend

URL = "https://api.example.com"
UNSTEADY = ["elapsed", "fetched_at"]
OPTIONS: dict[str, Any] = {"allow_private": True, "progress": False, "workers": 1}


def page(name: str) -> bytes:
    words = f"The keeper of lantern {name} walks up the stairs and writes a letter to her sister. " * 6
    return f"<html lang=en><title>Page {name}</title><h1>{name}</h1><p>{words}</p>".encode()


def client() -> Any:
    """What `Dask` needs of a cluster's client before any work."""
    return SimpleNamespace(asynchronous=False, submit=None, nthreads=dict)


def backends() -> list[Any]:
    return [LocalBackend(), wa.Hosted(URL, "a-key"), Dask(client())]


# ------------------------------------------------------------------ the protocol


def test_who_takes_jobs_one_by_one() -> None:
    class Waves(LocalBackend):
        def run(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[JobResult], None]:
            raise NotImplementedError

    assert PARTS == ("name", "family", "priced", "durable", "serves", "price", "check", "run")
    assert [streams(backend) for backend in [*backends(), Waves()]] == [True, False, False, False]


def test_all_backends_are_backends() -> None:
    for backend in backends():
        assert isinstance(backend, Backend)
        assert {backend.price(item) for item in AUDIT_PAGES} != {0} or not backend.priced


def test_families() -> None:
    local, hosted, on_dask = backends()
    assert local.family == on_dask.family != hosted.family
    assert hosted.family != wa.Hosted("https://other.example.com", "a-key").family
    assert [item.serves(FACTS) for item in (local, hosted, on_dask)] == [True, False, True]


@pytest.mark.parametrize("missing", PARTS)
def test_an_object_that_lacks_a_part_is_refused_by_name(missing: str) -> None:
    parts = {part: None for part in PARTS if part != missing}
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
    call = lambda: wa.audit(pages, backend=LocalBackend(), store=tmp_path, **OPTIONS)  # noqa: E731
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
        assert got.raw[column].iloc[:2].tolist() == wanted.raw[column].iloc[:2].tolist(), column
    assert got.raw["responseBody"].fillna("").eq("").all()
    assert got.raw.attrs["credits"] == {"used": 27, "left": None, "needed": 0}
    assert got.raw.attrs["webanalytics"]["backend"] == "elsewhere"
    assert int(wa.estimate("dane", ["a", "b"], backend)) == 6
