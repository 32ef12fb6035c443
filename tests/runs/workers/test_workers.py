"""The pool of worker processes: hanging, crashing and greedy analyses."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from tests.effort import BUSY_SECONDS, PROCESS_SECONDS
from tests.fresh import printed
from webanalytics.core.outcomes import PackedOutcomes
from webanalytics.operations import HMAC, METADATA, TEXT
from webanalytics.runs.backends import local
from webanalytics.runs.backends.base import RunSpec, Task
from webanalytics.runs.workers import pool as workers
from webanalytics.runs.workers.pool import WorkerDiedError, WorkerPool
from webanalytics.runs.workers.template import Template

PATH = "webanalytics.page.trouble:analyse"


@pytest.fixture(params=["forked", "started"])
def broken_analysis(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An importable analysis that hangs, dies or eats memory, as the page asks; workers of both kinds."""
    if request.param == "started":
        monkeypatch.setattr(Template, "works_here", staticmethod(lambda: False))
    elif sys.platform != "linux":
        pytest.skip("workers are forked from a template on Linux only")
    module = tmp_path / "sitecustomize.py"
    module.write_text(
        textwrap.dedent(
            """
            import os, sys, time, types
            def analyse(page):
                what = page.content
                if what == "hang":
                    while True: pass
                if what == "die": os._exit(3)
                if what == "eat": return {"x": bytearray(3_000_000_000)}
                if what == "deep":
                    def f(): return f()
                    return f()
                if what == "raise": raise KeyError("secret detail")
                if what == "print": print("noise on standard output")
                return {"pid": os.getpid()}
            fake = types.ModuleType("webanalytics.page.trouble")
            fake.analyse = analyse
            analyse.__module__ = "webanalytics.page.trouble"
            sys.modules["webanalytics.page.trouble"] = fake
            """
        )
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    workers.close_idle_workers()
    yield
    workers.close_idle_workers()


def ask(*contents: str, deadline: float = 20.0, size: int = 2) -> list[object]:
    async def main() -> list[object]:
        async with WorkerPool(size, 1024) as pool:
            jobs = [
                pool.run("page", (PATH,), ({"trouble": PATH}, {"trouble": {}}, (content, "u")), deadline)
                for content in contents
            ]
            return await asyncio.gather(*jobs, return_exceptions=True)

    return [
        [(item.data, item.error, item.error_type) for item in PackedOutcomes(answer)]
        if isinstance(answer, bytes)
        else answer
        for answer in asyncio.run(main())
    ]


def test_a_hanging_page_costs_itself_and_one_worker(broken_analysis: None) -> None:
    ask("fine", "fine")
    start = time.monotonic()
    answers = ask("hang", *["fine"] * 20, deadline=3.0)
    assert isinstance(answers[0], TimeoutError)
    assert all(answer[0][1] is None for answer in answers[1:])
    assert time.monotonic() - start < BUSY_SECONDS


def test_a_crash_costs_its_own_row(broken_analysis: None) -> None:
    answers = ask("fine", "die", "fine", "die", "fine")
    assert [isinstance(answer, WorkerDiedError) for answer in answers] == [False, True, False, True, False]


@pytest.mark.skipif(sys.platform != "linux", reason="the memory limit of a process is Linux's")
def test_memory_is_limited(broken_analysis: None) -> None:
    ((data, error, kind),) = ask("eat")[0]
    assert data is None
    assert kind == "parse"
    assert "memory" in error


@pytest.mark.parametrize("content", ["deep", "raise"])
def test_whatever_an_analysis_raises_is_a_row(broken_analysis: None, content: str) -> None:
    ((data, error, kind),) = ask(content)[0]
    assert data is None
    assert kind == "parse"
    assert error.startswith("The `url` parameter ")
    assert error.count(". ") == 0
    assert "secret detail" not in error


def test_what_a_library_prints_does_not_disturb(broken_analysis: None) -> None:
    ((data, error, _),) = ask("print")[0]
    assert error is None
    assert data["pid"] != os.getpid()


def test_workers_stay_warm_between_runs(broken_analysis: None) -> None:
    first = ask("fine", size=1)[0][0][0]["pid"]
    second = ask("fine", size=1)[0][0][0]["pid"]
    assert first == second


def test_no_more_workers_than_asked_for(broken_analysis: None) -> None:
    pids = {answer[0][0]["pid"] for answer in ask(*["fine"] * 30, size=2)}
    assert len(pids) <= 2


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked from a template on Linux only")
def test_a_lost_template_is_replaced(broken_analysis: None) -> None:
    ask("fine", size=1)
    workers = _own_workers()
    for worker in workers:
        worker.kill()
    psutil.wait_procs(workers, timeout=5)
    ((data, error, _),) = ask("fine", size=1)[0]
    assert error is None
    assert data["pid"] != os.getpid()


def test_a_cancelled_run_leaves_no_busy_worker(broken_analysis: None) -> None:
    async def main() -> None:
        async with WorkerPool(1, 1024) as pool:
            paths, arguments = (PATH,), ({"trouble": PATH}, {"trouble": {}}, ("hang", "u"))
            job = asyncio.create_task(pool.run("page", paths, arguments, 60.0))
            await asyncio.sleep(1.5)
            job.cancel()
            with pytest.raises(asyncio.CancelledError):
                await job

    asyncio.run(main())
    deadline = time.monotonic() + BUSY_SECONDS
    while time.monotonic() < deadline and _busy_children():
        time.sleep(0.1)
    assert not _busy_children()


def _busy_children() -> list[psutil.Process]:
    found = []
    for worker in _own_workers():
        with contextlib.suppress(psutil.NoSuchProcess):
            busy = worker.status() != psutil.STATUS_ZOMBIE and worker.cpu_percent(0.1) > 50
            found += [worker] if busy else []
    return found


def _own_workers() -> list[psutil.Process]:
    """This process's workers and their template: not the services that other tests have started, nor theirs."""
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if "webanalytics.runs.workers" in " ".join(child.cmdline()):
                found += [*child.children(recursive=True), child]
    return found


def test_a_script_without_a_main_guard_works(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import pandas as pd\nimport webanalytics as wa\n"
        "print(wa.metadata(pd.DataFrame({'url': ['http://a.example/'], 'html': ['<title>Hi</title>']})).title[0])\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path.cwd(),
        timeout=PROCESS_SECONDS,
    )
    assert done.stdout.splitlines() == ["Hi"]
    assert done.stderr == ""


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    code = (
        "import os, pandas as pd, webanalytics as wa\n"
        "wa.metadata(pd.DataFrame({'url': ['http://a.example/'], 'html': ['<p>']}))\n"
        "import psutil; print([c.pid for c in psutil.Process().children(recursive=True)], flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PROCESS_SECONDS
    )
    pids = [int(part) for part in done.stdout.strip(" []\n").split(",")]
    assert pids
    deadline = time.monotonic() + BUSY_SECONDS
    while time.monotonic() < deadline and any(psutil.pid_exists(pid) for pid in pids):
        time.sleep(0.1)
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_a_worker_imports_nothing_heavy() -> None:
    code = (
        "import sys, webanalytics.runs.workers.worker as w; from webanalytics.operations import AUDIT\n"
        "w.prepare(tuple(item.analysis for item in AUDIT))\n"
        "print(sorted({'pandas', 'pydantic', 'aiohttp', 'matplotlib', 'nltk', 'ipywidgets', 'PIL'} & set(sys.modules)))"
    )
    assert printed(code).strip() == "[]"


def test_a_call_has_its_template_import_the_analyses_at_its_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began: list[tuple[str, ...]] = []
    monkeypatch.setattr(local, "begin_workers", began.append)
    for operations in ((METADATA, TEXT), (HMAC,)):
        settings = {item.name: {} for item in operations}
        spec = RunSpec(tuple(settings), settings, options={}, given=(), identity="", resumable=False)
        local.LocalBackend().check(Task(spec))
    assert began == [(METADATA.analysis, TEXT.analysis)]


@pytest.mark.skipif(not Template.works_here(), reason="workers are forked on Linux only")
def test_a_template_that_has_begun_forks_workers_with_what_it_imported() -> None:
    template = Template()
    try:
        template.begin((METADATA.analysis,))
        process = template._process
        worker = template.fork(2048, (METADATA.analysis,))
        assert template._process is process
        assert worker.prepared == {METADATA.analysis}
        template.begin((TEXT.analysis,))  # it is there already
        assert template._process is process
        worker.close()
    finally:
        template.close()
