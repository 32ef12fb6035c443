"""Ctrl-C, once and again and again: the finished rows are there."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence

import pandas as pd
import pytest

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from webanalytics.core.outcomes import Job, JobResult
from webanalytics.runs.backends.base import Task
from webanalytics.runs.backends.local import LocalBackend
from webanalytics.runs.boundary import Run
from webanalytics.runs.frames.build import FrameBuilder

MESSAGES = [f"message {number}" for number in range(400)]


class Pressed(LocalBackend):
    """Answers half of the jobs; then somebody presses Ctrl-C, and once more for each further press."""

    def __init__(self, presses: int) -> None:
        self.presses = presses

    async def run(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[JobResult], None]:
        async for group in super().run(task, jobs[: len(jobs) // 2]):
            yield group
        try:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(BUSY_SECONDS)
        finally:  # the call is being ended: the next presses come while it waits for that
            for _ in range(self.presses - 1):
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.sleep(0.3)


@pytest.fixture(autouse=True)
def _as_in_a_terminal() -> Iterator[None]:
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


def interrupted(presses: int = 1) -> wa.AuditInterrupted:
    with pytest.raises(wa.AuditInterrupted) as caught:
        wa.hmac(MESSAGES, secret="k", backend=Pressed(presses), progress=False)
    return caught.value


def pressed_while_it_is_made(monkeypatch: pytest.MonkeyPatch, times: int = 1) -> None:
    make, left = FrameBuilder.frame, [KeyboardInterrupt()] * times

    def frame(self: FrameBuilder) -> pd.DataFrame:
        if left:
            raise left.pop()
        return make(self)

    monkeypatch.setattr(FrameBuilder, "frame", frame)


@pytest.mark.parametrize("presses", [1, 2, 3])
def test_no_number_of_presses_loses_a_finished_row(presses: int) -> None:
    expected = wa.hmac(MESSAGES[:200], secret="k")
    error = interrupted(presses)
    assert (error.rows, str(error)[:34]) == (200, "interrupted after 200 of 400 rows;")
    pd.testing.assert_series_equal(wa.last_partial()["hmac"], expected["hmac"])
    assert error.partial is wa.last_partial()


def test_a_press_while_the_frame_is_made_leaves_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    wa.hmac(["of another call"], secret="k")
    pressed_while_it_is_made(monkeypatch, 2)
    error = interrupted()  # nothing is made before it is asked for
    for ask in (lambda: error.partial, wa.last_partial):
        with pytest.raises(KeyboardInterrupt):
            ask()
    assert len(wa.last_partial()) == 200


def test_an_older_run_is_never_shown_for_a_newer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    older = interrupted().partial
    assert wa.last_partial() is older
    wa.hmac(["that ends well"], secret="k")
    assert wa.last_partial() is older  # the last one that was interrupted
    pressed_while_it_is_made(monkeypatch)
    newer = interrupted()
    with pytest.raises(KeyboardInterrupt):
        wa.last_partial()
    assert wa.last_partial() is newer.partial is not older


def test_a_press_while_the_whole_frame_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows are finished, and the last step is interrupted: they are all there."""
    make: Callable[[FrameBuilder], pd.DataFrame] = FrameBuilder.frame
    times: list[int] = []
    obeyed, cancel = threading.Event(), Run.cancel

    def frame(self: FrameBuilder) -> pd.DataFrame:
        times.append(1)
        if len(times) == 1:
            os.kill(os.getpid(), signal.SIGINT)
            assert obeyed.wait(BUSY_SECONDS)
        return make(self)

    def cancelled(self: Run) -> None:
        cancel(self)
        obeyed.set()

    monkeypatch.setattr(FrameBuilder, "frame", frame)
    monkeypatch.setattr(Run, "cancel", cancelled)
    with pytest.raises(wa.AuditInterrupted) as caught:
        wa.hmac(MESSAGES, secret="k", progress=False)
    assert caught.value.rows == len(wa.last_partial()) == 400


def test_what_is_kept_can_be_pickled() -> None:
    error = interrupted()
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    pd.testing.assert_frame_equal(again.partial, error.partial)


def test_a_cancelled_coroutine_keeps_its_rows_without_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    class Waits(LocalBackend):
        async def run(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[JobResult], None]:
            async for group in super().run(task, jobs[:200]):
                yield group
            reached.set()
            await asyncio.sleep(BUSY_SECONDS)

    def made_too_early(self: FrameBuilder) -> pd.DataFrame:
        raise AssertionError("no frame may be made before it is asked for")

    async def main() -> None:
        task = asyncio.ensure_future(wa.aio.hmac(MESSAGES, secret="k", backend=Waits()))
        await reached.wait()
        with monkeypatch.context() as patch:
            patch.setattr(FrameBuilder, "frame", made_too_early)
            task.cancel()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    reached = asyncio.Event()
    asyncio.run(main())
    assert len(wa.last_partial()) == 200
