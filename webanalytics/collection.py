"""One call: inputs to jobs, jobs to a backend, answers to a frame, finished rows to a checkpoint."""

from __future__ import annotations

import asyncio
import functools
import time
import uuid
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence, Sized
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pandas as pd

from webanalytics.again import identity_of, remember
from webanalytics.backends.base import Answer, Backend, Job, Outcome, Task
from webanalytics.backends.local import LocalBackend
from webanalytics.checkpoints import Checkpoint
from webanalytics.errors import HostedError, IncompleteRunWarning, ParameterError, RowError
from webanalytics.frames.build import FrameBuilder
from webanalytics.frames.inputs import Inputs, Rows, read_inputs
from webanalytics.operations import Operation
from webanalytics.run import Run, current_run, keep_partial
from webanalytics.settings import resolve

T = TypeVar("T")

MANY_ROWS = 300
"""Rows from which frames are read and made beside the event loop."""
PAGE_WEIGHT = 50
"""How many other rows a page counts for."""
TURN_SECONDS = 0.005
"""How long answers are taken before the event loop has its turn."""


@dataclass(frozen=True)
class Hooks:
    """What one function does beyond its backend's answers.

    Attributes
    ----------
    finish : callable
        Makes the final frame from the row-per-input frame; also used for partial results.
    on_answer : callable, optional
        Sees each answer as it comes and returns what to keep.
    on_restored : callable, optional
        Sees each answer of a checkpoint, and returns what to keep, None for one to get anew.
    on_group : callable, optional
        Sees each group of answers of a backend elsewhere, and returns them with those that it adds.
    prepare : callable, optional
        Takes a job for a backend elsewhere and returns what to send, or raises `RowError`.
    extra : Mapping
        What else a checkpoint must have been made with.
    """

    finish: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame
    on_answer: Callable[[Answer, FrameBuilder], Answer] | None = None
    on_restored: Callable[[Answer, FrameBuilder], Answer | None] | None = None
    on_group: Callable[[Sequence[Answer]], Awaitable[Sequence[Answer]]] | None = None
    prepare: Callable[[Job], Job] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


_NO_HOOKS = Hooks()


async def collect(
    operations: tuple[Operation, ...],
    inputs: Inputs,
    parameter: str,
    *,
    column: str | None = None,
    settings: Mapping[str, Mapping[str, Any]],
    options: Mapping[str, Any],
    hooks: Hooks = _NO_HOOKS,
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
    hooks : Hooks
        What the function does beyond its backend's answers.
    """
    checked = {item.name: item.check_settings(settings.get(item.name, {})) for item in operations}
    resolved = resolve(options)
    backend: Backend = resolved["backend"] or LocalBackend()
    task = Task(operations, checked, resolved, options, uuid.uuid4().hex)
    backend.check(task)
    size = len(inputs) if isinstance(inputs, Sized) else 0
    rows = await aside(size, read_inputs, inputs, operations[0], parameter, column)
    return await _Collection(task, backend, rows, hooks).run()


async def aside(size: int, function: Callable[..., T], *arguments: Any) -> T:
    """Call a function, in a thread where there is much to do: the event loop goes on meanwhile."""
    if size < MANY_ROWS:
        return function(*arguments)
    return await asyncio.to_thread(function, *arguments)


class _Collection:
    """One call under way."""

    def __init__(self, task: Task, backend: Backend, rows: Rows, hooks: Hooks) -> None:
        self._task, self._backend, self._rows, self._hooks = task, backend, rows, hooks
        self._builder = FrameBuilder(rows, task.operations)
        self._jobs: Sequence[Job] = rows.jobs
        self._store: Checkpoint | None = None
        self._own = current_run.get()
        self._run = self._own or Run()

    @property
    def _size(self) -> int:
        weight = PAGE_WEIGHT if self._task.operations[0].kind == "page" else 1
        return len(self._rows.labels) * weight

    def _frame(self) -> pd.DataFrame:
        frame = self._hooks.finish(self._builder.frame())
        if self._backend.paid:
            report = self._task.report
            frame.attrs["credits"] = {"used": report.used, "left": report.left, "needed": report.needed}
            frame.attrs["webanalytics"] |= {
                "backend": self._backend.name,
                "premium_left_out": sorted(report.left_out),
            }
        return frame

    async def run(self) -> pd.DataFrame:
        """Return the frame of all inputs."""
        try:
            await self._open()
            if self._backend.paid and self._store is None:
                identity = await aside(
                    len(self._rows.jobs), identity_of, self._task, self._backend.name, self._rows.jobs
                )
                self._task = replace(self._task, identity=identity)
            operations = self._task.operations
            name = operations[0].name if len(operations) == 1 else "audit"
            self._run.start(
                len(self._rows.jobs), self._frame, name, self._task.options["progress"], self._builder.done
            )
            self._task.report.note = self._run.note
            await self._answers()
        except ParameterError:  # a refused checkpoint: nothing was begun
            raise
        except BaseException as error:
            if self._backend.paid and self._store is None:
                remember(self._task, self._backend.name, self._rows.jobs)
            if self._own is None or isinstance(error, Exception):  # nobody else will keep the rows
                partial = keep_partial(await aside(self._size, self._frame))
                if isinstance(error, HostedError):
                    error.keep(partial, len(self._rows.labels))
            raise
        finally:
            if self._store is not None:
                await self._store.aclose()
            if self._own is None:
                self._run.close()
        if self._task.report.why:
            self._run.emit(functools.partial(warnings.warn, self._task.report.why, IncompleteRunWarning))
        return await aside(self._size, self._frame)

    async def _open(self) -> None:
        """Open the checkpoint, where there is one, and take what it has."""
        folder = self._task.options["checkpoint"]
        if folder is None:
            return
        again = self._task.options["retry"] == "failed"

        def read() -> tuple[Checkpoint, list[Answer], list[Job]]:
            store = Checkpoint(folder, self._task, self._backend.name, self._hooks.extra)
            try:
                return store, *store.restore(self._rows.jobs, failed_again=again)
            except BaseException:
                store.close()
                raise

        store, answers, self._jobs = await asyncio.to_thread(read)
        self._store, self._task = store, replace(self._task, identity=store.identity)
        if self._backend.paid:
            self._task.report.left_out.update(store.left_out)
        lost = [answer for answer in answers if not self._restore(answer)]
        if lost:  # a file of the answer is gone
            self._jobs = sorted(
                [*self._jobs, *(self._rows.jobs[answer.number] for answer in lost)],
                key=lambda job: job.number,
            )

    def _restore(self, answer: Answer) -> bool:
        hook = self._hooks.on_restored
        try:
            kept = answer if hook is None else hook(answer, self._builder)
        except (KeyError, TypeError, ValueError):  # a checkpoint may hold anything
            kept = None
        if kept is not None:
            self._builder.add(kept)
        return kept is not None

    async def _answers(self) -> None:
        jobs, failed = await aside(len(self._jobs), self._prepared)
        await self._take(failed)
        if not jobs:
            return
        asked, add = self._task, self._hooks.on_group
        if self._backend.paid:
            asked = replace(asked, operations=_served(asked))
        async with aclosing(self._backend.run(asked, jobs)) as groups:
            async for group in groups:
                await self._take(await add(group) if add is not None and self._backend.paid else group)

    def _prepared(self) -> tuple[Sequence[Job], list[Answer]]:
        """Return the jobs as the backend wants them, and the answers to those it need not be asked."""
        if not self._backend.paid:
            return self._jobs, []
        served, prepare = len(_served(self._task)), self._hooks.prepare or _as_it_is
        jobs, known = [], []
        for job in self._jobs:
            wanted = job.wanted and tuple(place for place in job.wanted if place < served)
            if wanted == ():
                known += [Answer(job.number, (Outcome({}),), position=place) for place in job.wanted or ()]
                continue
            try:
                jobs.append(prepare(job if wanted == job.wanted else replace(job, wanted=wanted)))
            except RowError as error:
                known.append(Answer(job.number, (Outcome.failed(error),)))
        return jobs, known

    async def _take(self, group: Sequence[Answer]) -> None:
        on_answer = self._hooks.on_answer
        kept, done, turn = [], 0, time.monotonic()
        ended: asyncio.CancelledError | None = None
        for answer in group:
            kept.append(on_answer(answer, self._builder) if on_answer else answer)
            done += self._builder.add(kept[-1])
            if time.monotonic() - turn > TURN_SECONDS and ended is None:
                try:
                    await asyncio.sleep(0)
                except asyncio.CancelledError as error:  # not before what was paid for is safe
                    ended = error
                turn = time.monotonic()
        if self._store is not None:
            self._store.take(kept, self._rows.jobs)
        if ended is not None:
            raise ended
        if self._store is not None:
            await self._store.write(at_once=self._backend.paid)
        self._run.step(done)


def _served(task: Task) -> tuple[Operation, ...]:
    """Return the operations of a task that a service has; they come before those that it has not."""
    return tuple(operation for operation in task.operations if operation.path)


def _as_it_is(job: Job) -> Job:
    return job
