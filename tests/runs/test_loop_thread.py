"""Plain functions: in scripts, in running loops, interrupted, and cleaned up."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.runs import partial
from webanalytics.runs.boundary import Run, run_plain
from webanalytics.runs.functions.plain import plain


def loop_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "webanalytics-loop"]


def test_value_and_events_reach_the_callers_thread() -> None:
    seen: list[str] = []
    run = Run()

    async def main() -> str:
        run.emit(lambda: seen.append(threading.current_thread().name))
        await asyncio.sleep(0)
        return threading.current_thread().name

    assert run_plain(main, run) == "webanalytics-loop"
    assert seen == ["MainThread"]
    assert loop_threads() == []


def test_works_inside_a_running_loop() -> None:
    async def cell() -> int:
        return len(wa.hmac(["a", "b"], secret="k"))

    assert asyncio.run(cell()) == 2


def test_an_error_keeps_its_type_and_traceback() -> None:
    async def boom() -> None:
        raise LookupError("x")

    with pytest.raises(LookupError) as caught:
        run_plain(boom, Run())
    assert any(entry.name == "boom" for entry in caught.traceback)


def test_a_failing_event_cancels_the_run() -> None:
    log = []
    run = Run()

    async def main() -> None:
        try:
            run.emit(lambda: 1 / 0)
            await asyncio.sleep(30)
        finally:
            log.append("cleaned up")

    start = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        run_plain(main, run)
    assert log == ["cleaned up"]
    assert time.monotonic() - start < BUSY_SECONDS


def test_context_variables_are_seen() -> None:
    variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable", default=0)
    variable.set(5)

    async def main() -> int:
        return variable.get()

    assert run_plain(main, Run()) == 5


def test_two_hundred_calls_leave_no_thread() -> None:
    async def one() -> int:
        return 1

    function = plain(one)
    assert [function() for _ in range(200)] == [1] * 200
    assert loop_threads() == []


def test_calls_from_several_threads_do_not_meet() -> None:
    results: dict[int, list[str]] = {}

    def call(number: int) -> None:
        results[number] = wa.hmac([f"{number}-{row}" for row in range(50)], secret="k")["message"].tolist()

    threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: [f"{number}-{row}" for row in range(50)] for number in range(8)}


@pytest.mark.parametrize("name", wa.aio.__all__)
def test_plain_and_asynchronous_forms_are_twins(name: str) -> None:
    twin, function = getattr(wa.aio, name), getattr(wa, name)
    assert inspect.iscoroutinefunction(twin)
    assert not inspect.iscoroutinefunction(function)
    assert inspect.signature(twin) == inspect.signature(function)
    assert function.__doc__ == twin.__doc__
    assert all(word in twin.__doc__ for word in ("Parameters\n", "Returns\n", "Raises\n"))


@pytest.fixture
def half_slow_server() -> Iterator[SiteServer]:
    pages = {f"/{number}": b"<title>page</title>" for number in range(6)}
    pages.update({f"/slow{number}": Reply(body=b"<p>late", delay=60.0) for number in range(6)})
    with SiteServer(pages) as server:
        yield server


@pytest.fixture
def half_slow_site(half_slow_server: SiteServer) -> list[str]:
    return [f"{half_slow_server.url}/{name}{n}" for n in range(6) for name in ("", "slow")]


def until_finished(rows: int) -> None:
    """Wait until a call in this process has so many finished rows."""
    end = time.monotonic() + BUSY_SECONDS
    while time.monotonic() < end and max((one.rows for one in partial._known), default=0) < rows:
        time.sleep(0.02)


def interrupt_with(rows: int) -> None:
    """Press Ctrl-C when the call that is about to begin has so many finished rows."""

    def press() -> None:
        until_finished(rows)
        os.kill(os.getpid(), signal.SIGINT)

    partial._known.clear()  # those of earlier tests
    threading.Thread(target=press).start()


@pytest.mark.parametrize("nested", [False, True], ids=["script", "running loop"])
def test_an_interrupt_hands_back_the_finished_rows(half_slow_site: list[str], nested: bool) -> None:
    index = [f"row {number}" for number in range(12)]
    wa.metadata(
        half_slow_site[:1], allow_private=True, robots=False
    )  # warm workers: the time below is the run's

    def call() -> float:
        interrupt_with(6)
        start = time.monotonic()
        import pandas as pd

        with pytest.raises(wa.AuditInterrupted) as caught:
            wa.metadata(pd.Series(half_slow_site, index=index), allow_private=True, robots=False, per_host=20)
        took = time.monotonic() - start
        found = caught.value.partial
        assert found["title"].tolist() == ["page"] * 6
        assert found.index.tolist() == index[::2]
        assert wa.last_partial() is found
        return took

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if nested:

            async def cell() -> float:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                return call()

            took = asyncio.run(cell())
        else:
            took = call()
    finally:
        signal.signal(signal.SIGINT, previous)
    assert took < BUSY_SECONDS
    assert loop_threads() == []


def test_a_cancelled_asynchronous_call_keeps_its_rows(half_slow_site: list[str]) -> None:
    async def main() -> None:
        partial._known.clear()
        options: dict[str, Any] = {"allow_private": True, "robots": False, "per_host": 20}
        call = asyncio.create_task(wa.aio.metadata(half_slow_site, **options))
        await asyncio.to_thread(until_finished, 6)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(main())
    found = wa.last_partial()
    assert found is not None
    assert found["title"].tolist() == ["page"] * 6
