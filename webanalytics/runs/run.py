"""One call: inputs to jobs, jobs to a backend, results to a frame, finished rows to a checkpoint.

Every function of `webanalytics.runs.functions` that answers row by row ends in `collect`.
"""

from __future__ import annotations

import asyncio
import functools
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pandas as pd

from webanalytics.core.access import Access
from webanalytics.core.access_by_host import access_for
from webanalytics.core.messages import for_terminal
from webanalytics.core.outcomes import UNUSABLE, Job, JobResult, Outcome, digest
from webanalytics.core.run_options import RECORDS, options, resolve
from webanalytics.errors import ParameterError, RowError, WriteError, warn_incomplete
from webanalytics.operations import AUDIT, OPERATIONS, Operation, by_function
from webanalytics.runs.backends.base import LOCAL_FAMILY, Backend, Report, RunSpec, Task
from webanalytics.runs.backends.local import LocalBackend
from webanalytics.runs.boundary import Run, current_run, is_refusal
from webanalytics.runs.frames.build import FrameBuilder
from webanalytics.runs.frames.inputs import Inputs, Rows, Texts, about_texts, read_inputs, read_texts
from webanalytics.runs.partial import Partial, identity_of, remember
from webanalytics.runs.storage.checkpoint import Checkpoint
from webanalytics.runs.storage.row_folder import SavingBuilder, keeps_rows

T = TypeVar("T")

STAYS_HERE = frozenset(("backend", "store", "redo", "progress"))
"""Options of a call that do not concern its backend."""
MANY_ROWS = 300
"""Rows from which frames are read and made in a thread."""
PAGE_WEIGHT = 50
"""How many rows of other kinds one page counts as."""
TURN_SECONDS = 0.005
"""Seconds of taking results before yielding to the event loop."""


def as_they_are(frame: pd.DataFrame, *_: int) -> pd.DataFrame:
    """Return rows unchanged."""
    return frame


@dataclass(frozen=True)
class Hooks:
    """What one function does beyond its backend's results."""

    # makes the rows that are kept from those of the operations, each by itself; it pickles
    rows: Callable[[pd.DataFrame], pd.DataFrame] = as_they_are
    # makes the final frame from the row-per-input frame; also used for partial results
    finish: Callable[[pd.DataFrame], pd.DataFrame] = as_they_are
    # makes of the frame of a partial result, and of how many rows were asked for, what the function returns
    partial: Callable[[pd.DataFrame, int], Any] = as_they_are
    # sees each result as it comes and returns what to keep
    on_answer: Callable[[JobResult, FrameBuilder], JobResult] | None = None
    # sees each result of a checkpoint, and returns what to keep, None for one to get anew
    on_restored: Callable[[JobResult, FrameBuilder], JobResult | None] | None = None
    # sees each group of a backend's results, and returns them with those that it adds
    on_group: Callable[[Sequence[JobResult]], Awaitable[Sequence[JobResult]]] | None = None
    # takes a job for a service, which lacks local parameters, and returns what to send; or a `RowError`
    prepare: Callable[[Job], Job] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)  # what else a checkpoint must have been made with
    # takes what the user names and passwords in addresses open
    on_logins: Callable[[Mapping[str, Access]], object] | None = None


_NO_HOOKS = Hooks()


async def collect(
    operations: tuple[Operation, ...],
    inputs: Inputs | Texts,
    parameter: str,
    *,
    column: str | None = None,
    settings: Mapping[str, Mapping[str, Any]],
    options: Mapping[str, Any],
    hooks: Hooks = _NO_HOOKS,
) -> pd.DataFrame:
    """Answer every input and return the frame."""
    checked = {item.name: item.check_settings(settings.get(item.name, {})) for item in operations}
    resolved = resolve(options)
    spec = RunSpec(
        operations=tuple(item.name for item in operations),
        settings=checked,
        options={key: value for key, value in resolved.items() if key not in STAYS_HERE},
        given=tuple(key for key in options if key not in STAYS_HERE),
        identity=uuid.uuid4().hex,
        resumable=resolved["store"] is not None,
    )
    backend: Backend = resolved["backend"] or LocalBackend()
    backend.check(Task(spec))
    if isinstance(inputs, Texts):
        _check_texts(inputs, backend, operations[0])
        hooks = replace(hooks, finish=lambda frame, finish=hooks.finish: about_texts(finish(frame)))  # type: ignore[misc]
        rows = await in_thread(MANY_ROWS, read_texts, inputs, column)
    else:
        rows = await in_thread(_size(inputs), read_inputs, inputs, operations[0], parameter, column)
    if rows.logins and hooks.on_logins is not None:
        hooks.on_logins(rows.logins)
    spec = replace(spec, options=access_for(spec.options, (job.subject for job in rows.jobs), rows.logins))
    if rows.logins:
        try:
            backend.check(Task(spec))
        except ParameterError:
            raise ParameterError.on(
                parameter,
                f"must hold no password where {backend.name} fetches: it does not leave this machine",
            ) from None
    return await _Call(operations, spec, backend, rows, hooks, resolved).frame()


def _size(inputs: Any) -> int:
    try:
        return len(inputs)
    except TypeError:  # a generator, or an array of no dimension
        return 0


def _check_texts(texts: Texts, backend: Backend, operation: Operation) -> None:
    if backend.family == LOCAL_FAMILY:
        return
    if operation.alternative is None or operation.alternative.local:
        raise ParameterError.must_be(
            "texts", f"left out with a hosted backend, whose {operation.path} takes the URL of a page only"
        )
    if texts.language:
        raise ParameterError.must_be("language", "left out with a hosted backend, which detects it")


async def in_thread(size: int, function: Callable[..., T], *arguments: Any) -> T:
    """Call a function, in a thread where there is much to do: the event loop goes on meanwhile."""
    if size < MANY_ROWS:
        return function(*arguments)
    return await asyncio.to_thread(function, *arguments)


def in_places(results: Sequence[JobResult], served: Sequence[int]) -> list[JobResult]:
    """Return results operation by operation, with their places among all operations of a call."""
    found: list[JobResult] = []
    for result in results:
        if result.position is not None:
            found.append(replace(result, position=served[result.position]))
            continue
        for place, outcome in zip(served, result.outcomes, strict=True):
            found.append(replace(result, outcomes=(outcome,), position=place))
    return found


def tell_of(frame: pd.DataFrame, report: Report, backend: Backend, options: Mapping[str, Any]) -> None:
    """Note in the attrs of a frame which hosts were in trouble, what it cost, and who answered."""
    about = frame.attrs["webanalytics"]
    if backend.priced:
        needed = report.credits_needed
        frame.attrs["credits"] = {"used": report.used, "left": report.left, "needed": needed}
        about["premium_left_out"] = sorted(report.premium_missing)
    if report.hosts:
        about["hosts"] = list(report.hosts)
    if options["backend"] is not None:
        about["backend"] = backend.name


class _Call:
    """One call in progress: it begins, runs its backend, and ends with a frame, whole or partial."""

    def __init__(
        self,
        operations: tuple[Operation, ...],
        spec: RunSpec,
        backend: Backend,
        rows: Rows,
        hooks: Hooks,
        options: Mapping[str, Any],
    ) -> None:
        self._operations, self._spec, self._backend, self._rows = operations, spec, backend, rows
        self._hooks, self._options = hooks, options
        self._builder = FrameBuilder(rows, operations)
        self._jobs: Sequence[Job] = rows.jobs
        self._store: Checkpoint | None = None
        self._run = current_run.get() or Run()
        self._partial = Partial(
            lambda: hooks.partial(self._finished(), len(rows.labels)), lambda: self._builder.rows_done
        )
        self._report = Report(note=self._run.note)
        self._served = tuple(place for place, item in enumerate(operations) if backend.serves(item))

    async def frame(self) -> pd.DataFrame:
        """Return the frame of all inputs; whatever ends the call before, the finished rows are kept."""
        with self._run.ending(self._partial, lambda: len(self._rows.labels)):
            try:
                return await self._whole_frame()
            except BaseException as error:
                if self._backend.priced and self._store is None and not is_refusal(error):
                    remember(self._spec, self._backend.name, self._rows.jobs)
                raise

    async def _whole_frame(self) -> pd.DataFrame:
        try:
            await self._begin()
            await self._ask()
        finally:
            if self._store is not None:
                try:
                    await self._write_rows(all_of_them=True)
                finally:
                    await self._store.aclose()
        if self._report.stop_reason:
            self._run.emit(functools.partial(warn_incomplete, for_terminal(self._report.stop_reason)))
        weight = PAGE_WEIGHT if self._operations[0].kind == "page" else 1
        return await in_thread(len(self._rows.labels) * weight, self._finished)

    async def _begin(self) -> None:
        """Take up what an earlier run has left, and show the progress from there."""
        jobs = self._rows.jobs
        if self._spec.resumable:
            await self._open_checkpoint()
        elif self._backend.priced:
            identity = await in_thread(len(jobs), identity_of, self._spec, self._backend.name, jobs)
            self._spec = replace(self._spec, identity=identity)
        name = "audit" if len(self._operations) > 1 else self._operations[0].name
        self._run.start(len(jobs), self._partial, name, self._options["progress"], self._builder.done)

    async def _open_checkpoint(self) -> None:
        again = self._options["redo"] == "failed"

        def read() -> tuple[Checkpoint, list[JobResult], list[Job]]:
            # of a row that was paid for in parts, what succeeded is not paid for again
            in_parts = self._backend.priced and len(self._operations) > 1
            in_rows = keeps_rows(self._operations) and self._hooks.on_restored is None and not in_parts
            store = Checkpoint(
                self._options["store"], self._spec, self._backend.family, self._hooks.extra, forgets=in_rows
            )
            try:
                if in_rows:
                    self._builder = SavingBuilder(
                        self._rows, self._operations, store.path, self._hooks.rows, failed_again=again
                    )
                return store, *store.restore(self._rows.jobs, self._builder.is_kept, failed_again=again)
            except BaseException:
                store.close()
                raise

        store, results, self._jobs = await asyncio.to_thread(read)
        self._store, self._spec = store, replace(self._spec, identity=store.identity)
        self._report.premium_missing.update(store.premium_missing)
        lost = [result for result in results if not self._restore(result)]
        if lost:  # a file of the result is gone
            self._jobs = sorted(
                [*self._jobs, *(self._rows.jobs[result.number] for result in lost)],
                key=lambda job: job.number,
            )

    def _restore(self, result: JobResult) -> bool:
        hook = self._hooks.on_restored
        try:
            kept = result if hook is None else hook(result, self._builder)
        except (KeyError, TypeError, ValueError):  # a checkpoint may hold anything
            kept = None
        if kept is not None:
            self._builder.add(kept)
        return kept is not None

    async def _ask(self) -> None:
        """Run the backend on what it serves, and take its results as they arrive."""
        prepare = None if self._backend.family == LOCAL_FAMILY else self._hooks.prepare
        jobs = self._jobs
        known: list[JobResult] = []
        if prepare is not None or len(self._served) < len(self._operations):
            jobs, known = await in_thread(len(jobs), self._prepared, prepare)
        await self._take(known)
        if not jobs:
            return
        names = tuple(self._spec.operations[place] for place in self._served)
        journal = None if self._store is None or not self._backend.priced else self._store.journal
        task = Task(replace(self._spec, operations=names), self._report, journal)
        async with aclosing(self._backend.run(task, jobs)) as groups:
            async for group in groups:
                if len(names) < len(self._operations):
                    group = in_places(group, self._served)
                await self._take(group if self._hooks.on_group is None else await self._hooks.on_group(group))

    def _prepared(self, prepare: Callable[[Job], Job] | None) -> tuple[Sequence[Job], list[JobResult]]:
        """Return the jobs prepared for the backend, and the results that do not need it."""
        jobs: list[Job] = []
        known: list[JobResult] = []
        for job in self._jobs:
            if job.wanted is not None:
                wanted = tuple(self._served.index(place) for place in job.wanted if place in self._served)
                if not wanted:  # only what this backend never answers is missing
                    known += [JobResult(job.number, (Outcome({}),), position=place) for place in job.wanted]
                    continue
                job = replace(job, wanted=wanted)
            try:
                jobs.append(job if prepare is None else prepare(job))
            except RowError as error:
                known.append(JobResult(job.number, (Outcome.failed(error),)))
        return jobs, known

    async def _take(self, group: Sequence[JobResult]) -> None:
        on_answer = self._hooks.on_answer
        kept, done, turn = [], 0, time.monotonic()
        ended: asyncio.CancelledError | WriteError | None = None
        for result in group:
            try:
                kept.append(on_answer(result, self._builder) if on_answer else result)
            except WriteError as error:  # what came before it is finished
                ended = error
                break
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
            await self._store.write(at_once=self._backend.durable)
        await self._write_rows()
        self._run.step(done)

    async def _write_rows(self, *, all_of_them: bool = False) -> None:
        """Write finished rows to the folder of `store`; answers in its log that they make needless go."""
        builder, store = self._builder, self._store
        if isinstance(builder, SavingBuilder) and store is not None and (builder.due or all_of_them):

            def write() -> list[int]:
                store.before_rows()
                return builder.write(all_of_them=all_of_them)

            finished = await asyncio.to_thread(write)
            store.forget(digest(self._rows.jobs[number].subject) for number in finished)

    def _finished(self) -> pd.DataFrame:
        frame = self._builder.frame()
        saved = isinstance(self._builder, SavingBuilder)
        frame = self._hooks.finish(frame if saved else self._hooks.rows(frame))
        tell_of(frame, self._report, self._backend, self._options)
        return frame


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a call would cost at most: failed inputs cost nothing."""

    operation: str  # name of the function
    rows: int  # of the result
    inputs: int  # distinct ones that can be sent; equal ones are asked about once
    credits: int  # if every input succeeds; 0 on this machine

    def __int__(self) -> int:
        return self.credits


def estimate(operation: str, inputs: Inputs, backend: Any = None, *, column: str | None = None) -> Estimate:
    """Return what a call would cost, without making it.

    Parameters
    ----------
    operation : str
        Name of a function: ``"metadata"``, ``"text"``, ``"audit"``, ``"phones"`` and so on.
    inputs : str, bytes, path, iterable, Series, Index or DataFrame
        What would be given to it.
    backend : Hosted, optional
        Where the work would be done; by default that of `webanalytics.use`.
    column : str, optional
        Column of a DataFrame that holds the inputs.

    Returns
    -------
    Estimate
        Rows, distinct inputs and credits.

    Raises
    ------
    ParameterError
        For an unknown operation, or inputs of another kind.

    Examples
    --------
    >>> from webanalytics import Hosted
    >>> backend = Hosted("https://api.example.com", "22bce1bb-4929-4c08-a13f-6061b2c16adc")
    >>> estimate("text", ["https://a.example/", "https://a.example/", "https://b.example/"], backend)
    Estimate(operation='text', rows=3, inputs=2, credits=20)
    """
    operations = _operations(operation)
    backend = RECORDS["backend"].check(backend) or options.backend
    rows = read_inputs(inputs, operations[0], "inputs", column)
    good = sum(job.subject is not None and job.subject is not UNUSABLE for job in rows.jobs)
    price = 0 if backend is None else sum(backend.price(item) for item in operations)
    return Estimate(operation, len(rows.labels), good, good * price)


def _operations(name: str) -> tuple[Operation, ...]:
    if name == "audit":
        return AUDIT
    operation = by_function(name)
    if operation is None:
        raise ParameterError.one_of("operation", ["audit", *(item.function for item in OPERATIONS.values())])
    return (operation,)
