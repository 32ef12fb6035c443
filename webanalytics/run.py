"""One run: inputs to jobs, jobs to a backend, answers to a frame, with progress and partial results."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import aclosing
from contextvars import ContextVar
from typing import Any

import pandas as pd

from webanalytics.backends.base import Answer, Task
from webanalytics.backends.local import LocalBackend
from webanalytics.errors import AuditInterrupted
from webanalytics.frames.build import FrameBuilder
from webanalytics.frames.inputs import Inputs, read_inputs
from webanalytics.operations import Operation
from webanalytics.settings import resolve

REDRAW_SECONDS = 0.05
"""Shortest time between two changes of a progress bar."""

_last_partial: pd.DataFrame | None = None


def last_partial() -> pd.DataFrame | None:
    """Return the finished rows of the last interrupted run, None where there was none.

    Returns
    -------
    pandas.DataFrame or None
        The frame the run would have returned, without the rows that were not finished.
    """
    return _last_partial


def _keep(frame: pd.DataFrame) -> pd.DataFrame:
    global _last_partial
    _last_partial = frame
    return frame


class Run:
    """What a running call shares with whoever waits for it."""

    def __init__(self) -> None:
        self.emit: Callable[[Callable[[], None]], None] = lambda event: event()
        self.partial: Callable[[], pd.DataFrame] | None = None
        self.total: int | None = None
        self._showing = False
        self._unseen = 0
        self._seen_at = 0.0
        self._bar: Any = None

    def start(self, total: int, partial: Callable[[], pd.DataFrame], name: str, wanted: bool | None) -> None:
        """Say how much there is to do, and where the finished rows are."""
        self.total, self.partial = total, partial
        self._showing = total > 1 and bar_wanted(wanted)
        if self._showing:
            self.emit(lambda: self._open(total, name))

    def step(self) -> None:
        """Say that one more input has its answer."""
        if not self._showing:
            return
        self._unseen += 1
        now = time.monotonic()
        if now - self._seen_at >= REDRAW_SECONDS:
            count, self._unseen, self._seen_at = self._unseen, 0, now
            self.emit(lambda: self._update(count))

    def _open(self, total: int, name: str) -> None:
        self._bar = progress_bar(total, name)

    def _update(self, count: int) -> None:
        if self._bar is not None:
            self._bar.update(count)

    def close(self) -> None:
        """Take the progress bar away."""
        if self._bar is not None:
            self._bar.update(self._unseen)
            self._bar.close()
            self._bar = None

    def interrupted(self) -> AuditInterrupted | None:
        """Return the exception that carries the finished rows, None before there were any inputs."""
        return None if self.partial is None else AuditInterrupted(_keep(self.partial()), self.total)


current_run: ContextVar[Run | None] = ContextVar("webanalytics_run", default=None)


def in_notebook() -> bool:
    """Tell whether a notebook kernel runs this process."""
    shell = sys.modules.get("IPython")
    ipython = shell.get_ipython() if shell is not None else None
    return ipython is not None and hasattr(ipython, "kernel")


def bar_wanted(wanted: bool | None) -> bool:
    """Tell whether to draw a bar; left open, only where somebody would see it."""
    return wanted if wanted is not None else in_notebook() or sys.stderr.isatty()


def progress_bar(total: int, name: str) -> Any:
    """Return a bar: a widget in notebooks, text on standard error elsewhere."""
    if in_notebook():
        from tqdm.auto import tqdm
    else:
        from tqdm import tqdm
    return tqdm(total=total, desc=name, leave=False, unit="row", mininterval=0.1, dynamic_ncols=True)


async def collect(
    operations: tuple[Operation, ...],
    inputs: Inputs,
    parameter: str,
    *,
    column: str | None = None,
    settings: Mapping[str, Mapping[str, Any]],
    options: Mapping[str, Any],
    finish: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame,
    on_answer: Callable[[Answer, FrameBuilder], Answer] | None = None,
) -> pd.DataFrame:
    """Answer every input and return the frame.

    Parameters
    ----------
    operations : tuple of Operation
        One operation, or those of an audit.
    inputs : list, Series, DataFrame, ...
        See `webanalytics.frames.inputs.read_inputs`.
    parameter : str
        The caller's name for the inputs.
    column : str, optional
        Column of a DataFrame that holds the inputs.
    settings : mapping
        Settings by operation name, as the caller gave them.
    options : mapping
        Options of this call.
    finish : callable
        Makes the final frame from the row-per-input frame; also used for partial results.
    on_answer : callable, optional
        Sees each answer as it comes and returns what to keep.
    """
    checked = {item.name: item.check_settings(settings.get(item.name, {})) for item in operations}
    resolved = resolve(options)
    rows = read_inputs(inputs, operations[0], parameter, column)
    builder = FrameBuilder(rows, operations)
    own = current_run.get()
    run = own or Run()

    def result() -> pd.DataFrame:
        return finish(builder.frame())

    name = operations[0].name if len(operations) == 1 else "audit"
    run.start(len(rows.jobs), result, name, resolved["progress"])
    try:
        async with aclosing(LocalBackend().run(Task(operations, checked, resolved), rows.jobs)) as answers:
            async for answer in answers:
                builder.add(on_answer(answer, builder) if on_answer else answer)
                run.step()
    except BaseException as error:
        if own is None or isinstance(error, Exception):  # nobody else will keep the rows that are done
            _keep(result())
        raise
    finally:
        if own is None:
            run.close()
    return result()
