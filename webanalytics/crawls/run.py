"""One crawl: jobs from the frontier to a backend, answers back, and in the end an audit of the pages.

`webanalytics.crawls.function` calls `crawl`; it does for a crawl what `runs.run` does for inputs known in
advance.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from webanalytics.audits.requests.bodies import FactsOfBodies
from webanalytics.audits.requests.link_checker import check
from webanalytics.audits.requests.sources import with_image_sizes
from webanalytics.core.outcomes import Job, JobResult
from webanalytics.crawls.admission import Admission
from webanalytics.crawls.facts import (
    Listed,
    crawl_facts,
    cut_off,
    given_up,
    read_listed,
    to_check,
    with_resources,
)
from webanalytics.crawls.frontier import AHEAD, Frontier
from webanalytics.crawls.page_answers import Joining, read
from webanalytics.crawls.rows import Laying, RowsInFolder, RowsInMemory
from webanalytics.crawls.scope import Scope
from webanalytics.crawls.soft404 import Walls, seen_in, soft_404s
from webanalytics.errors import ParameterError, warn_incomplete
from webanalytics.fetching import Fetcher
from webanalytics.fetching.archives.warc_writer import recording
from webanalytics.operations import EXTRACT, OUTLINKS, Operation
from webanalytics.runs.backends.base import WAVE, Backend, Report, RunSpec, Task, in_waves, streams
from webanalytics.runs.backends.local import LocalBackend, affordable_settings
from webanalytics.runs.boundary import Run, current_run
from webanalytics.runs.frames.link_table import CrawlFacts
from webanalytics.runs.partial import Partial
from webanalytics.runs.run import STAYS_HERE, TURN_SECONDS, in_places, tell_of
from webanalytics.runs.storage.checkpoint import Checkpoint
from webanalytics.runs.storage.row_folder import Lay
from webanalytics.runs.workers.pool import worker_count

log = logging.getLogger("webanalytics")

TICK_SECONDS = 0.5
"""How long a finished page may wait for the checkpoint."""
MOST_READY = 4_000
"""Most pages that wait in memory for their turn where the others are in a folder."""

Finish = Callable[[pd.DataFrame, CrawlFacts, Listed], Any]
"""Makes the audit of the frame, of what is known besides, and of the sitemap."""


@dataclass(frozen=True)
class Call:
    """A crawl as it was asked for: scope, operations, their settings, options, and which of them were given.

    The operations are those whose answers make the frame, and `OUTLINKS`, the last; `lay` makes the rows of
    frames of their answers.
    """

    scope: Scope
    operations: tuple[Operation, ...]
    settings: Mapping[str, Mapping[str, Any]]
    options: Mapping[str, Any]
    given: tuple[str, ...]
    body: bool
    lay: Lay
    finish: Finish


async def crawl(call: Call) -> Any:
    """Crawl, and return the audit."""
    return await _Crawl(call).audit()


class _Crawl:
    """A crawl in progress; the source of its backend's jobs."""

    def __init__(self, call: Call) -> None:
        self._call, self._options = call, call.options
        self._backend: Backend = call.options["backend"] or LocalBackend()
        self._streams = streams(self._backend)
        self._here = self._backend.serves(OUTLINKS)
        self._spec = RunSpec(
            operations=tuple(item.name for item in call.operations),
            settings={item.name: dict(call.settings.get(item.name, {})) for item in call.operations},
            options={key: value for key, value in call.options.items() if key not in STAYS_HERE},
            given=tuple(key for key in call.given if key not in STAYS_HERE),
            identity=uuid.uuid4().hex,
            resumable=call.options["store"] is not None,
            apart=OUTLINKS.name if self._here else "",
        )
        self._run = current_run.get() or Run()
        self._report = Report(note=self._run.note)
        self._backend.check(self._task())
        self._admission = Admission(call.scope, call.options["access"])
        self._laying = Laying(call.operations[:-1], call.lay, self._admission)
        self._rows: RowsInMemory | RowsInFolder = RowsInMemory(self._laying, {})
        self._frontier = Frontier(
            self._admission,
            self._most_under_way(),
            read,
            self._rows.take,
            ahead=AHEAD if self._streams else 0,
            most_ready=None if call.options["store"] is None else MOST_READY,
            brings=call.options["archive"] is None,  # which has one fetch for each row
        )
        self._changed = asyncio.Event()
        self._jobs: dict[int, Job] = {}
        self._store: Checkpoint | None = None
        self._storing = asyncio.Lock()
        self._joining = Joining(len(call.operations))
        self._listed = Listed()
        self._checked: list[dict[str, Any]] = []
        self._soft: frozenset[str] = frozenset()
        self._walls: Walls = {}
        self._hosts: list[dict[str, Any]] = []
        self._partial = Partial(self._finished, lambda: len(self._frontier.rows))

    def _task(self) -> Task:
        """Return the task for the backend: what it does not serve is read from the pages it returns."""
        names = tuple(item.name for item in self._call.operations if self._backend.serves(item))
        return Task(replace(self._spec, operations=names), self._report)

    def _most_under_way(self) -> int:
        """Return how many pages of one host are fetched, or wait for a worker, at once.

        More would be decided on too early: what waits in the frontier can still turn out to be a trap.
        """
        if not self._streams:
            return WAVE
        return int(self._options["per_host"]) + 4 * worker_count(self._options["workers"])

    async def audit(self) -> Any:
        """Return the audit of all pages; whatever ends the crawl before, what is there is kept."""
        with self._run.ending(self._partial, lambda: self._frontier.found):
            try:
                frame = await self._crawled()
            except BaseException:
                self._frontier.cut()  # now: rows are counted, and a folder that is closed keeps none
                raise
            finally:
                await self._close()
            found = (*self._listed.unread(), *given_up(frame), *cut_off(self._admission), *self._walls)
            told = [part for part in (self._frontier.stopped, self._report.stop_reason, *found) if part]
            if told:
                self._run.emit(functools.partial(warn_incomplete, " ".join(told)))
            return await asyncio.to_thread(self._audit, frame, told)

    async def _crawled(self) -> pd.DataFrame:
        """Fetch the pages, then what is asked besides, and return the frame of the pages."""
        await self._begin()
        async with AsyncExitStack() as stack:
            archive = await stack.enter_async_context(recording(self._options["archive"]))
            take = None if archive is None else archive.take
            fetcher = await stack.enter_async_context(
                Fetcher(affordable_settings(self._options), recorder=take)
            )
            tasks = [asyncio.create_task(self._read_sitemap(fetcher)), asyncio.create_task(self._tick())]
            stack.push_async_callback(_ended, tasks)
            # else a worker elsewhere asks for them too
            await asyncio.gather(*map(fetcher.robots_of, self._admission.origins))
            await self._pages(fetcher)
            await tasks[0]
            await self._keep(all_of_them=True)
            frame = await asyncio.to_thread(self._rows.frame)
            if archive is not None:
                await archive.take_rows([(row.number, row.url) for row in self._frontier.rows])
            await self._besides(fetcher, frame)
            if self._call.scope.image_sizes:
                frame = await with_image_sizes(frame, self._options)
            self._hosts = fetcher.hosts()
        return frame

    async def _begin(self) -> None:
        if self._spec.resumable:
            await asyncio.to_thread(self._open_checkpoint)
        self._run.start(
            max(self._frontier.found, 1), self._partial, "crawl", self._options["progress"], grows=True
        )

    def _open_checkpoint(self) -> None:
        extra = {"start": list(self._call.scope.starts)}
        again = self._options["redo"] == "failed"
        store = Checkpoint(self._options["store"], self._spec, self._backend.family, extra, forgets=True)
        try:
            kept = store.restore_all(failed_again=again)
            self._rows = RowsInFolder(self._laying, kept, store.path, OUTLINKS, failed_again=again)
            self._frontier.settle = self._rows.take
        except BaseException:
            store.close()
            raise
        self._store, self._spec = store, replace(self._spec, identity=store.identity)
        self._report.premium_missing.update(store.premium_missing)

    async def _read_sitemap(self, fetcher: Fetcher) -> None:
        """Read sitemaps while pages are fetched; the frontier ends with their pages."""
        scope = self._call.scope
        try:
            self._listed = await read_listed(scope.sitemap, self._admission.origins, self._options, fetcher)
        finally:  # an error is raised when the pages are done
            if scope.sitemap:
                self._admission.take_sitemap(self._listed.urls)
            self._frontier.advance()
            self._changed.set()

    async def _tick(self) -> None:
        """Write finished pages to the checkpoint, also while everything waits for a slow server."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            await self._keep(at_once=True)

    async def _keep(self, *, at_once: bool = False, all_of_them: bool = False) -> None:
        """Write what is finished to the checkpoint, and rows to the folder of `store`."""
        if self._store is not None:
            async with self._storing:
                await self._store.write(at_once=at_once)
                await self._rows.write(self._store, all_of_them=all_of_them)

    async def _close(self) -> None:
        """Write what is left, and close the checkpoint."""
        if self._store is None:
            return
        try:
            await self._rows.write(self._store, all_of_them=True)
        finally:
            await self._store.aclose()

    async def _pages(self, fetcher: Fetcher) -> None:
        backend, task, operations = self._backend, self._task(), self._call.operations
        served = [place for place, item in enumerate(operations) if backend.serves(item)]
        window = min(int(self._options["concurrency"]) * 4, 4 * self._most_under_way())
        streamed = backend.stream(task, self, fetcher, window) if self._streams else None
        async with (
            FactsOfBodies(
                self._options,
                keep=self._call.body,
                operations=operations,
                read=tuple(item for item in operations if not backend.serves(item)),
                extract=self._call.settings.get(EXTRACT.name),
            ) as bodies,
            aclosing(streamed or in_waves(backend, replace(task, fetcher=fetcher), self)) as groups,
        ):
            async for group in groups:
                await self._take(group if self._here else await bodies.add(in_places(group, served)))

    def _check_links(self) -> None:
        """Raise `ParameterError` where the service returns no HTML to read links from."""
        if self._frontier.blind and not self._here:
            raise ParameterError(
                "The `backend` parameter must be an API that returns the HTML of pages (`responseBody`, a "
                f"Premium field), from which a crawl reads their links; {self._backend.name} does not.",
                "backend",
            )

    async def next(self, *, wait: bool = True) -> Job | None:
        """Return the next job for the backend, waiting for one if asked to; None at the end of the crawl."""
        self._check_links()
        while not self._frontier.ended:
            self._changed.clear()
            job = await self._restored_or(self._frontier.next())
            if job is not None or not wait:
                return job
            if not self._frontier.ended:
                await self._changed.wait()
        return None

    async def _restored_or(self, job: Job | None) -> Job | None:
        """Return a job unless the checkpoint has its answer; then the next one."""
        turn = time.monotonic()
        while job is not None:
            self._jobs[job.number] = job
            result = self._rows.restored(job)
            if result is None:
                return job
            self._settle([result], kept=True)
            if time.monotonic() - turn > TURN_SECONDS:
                await asyncio.sleep(0)
                turn = time.monotonic()
            job = self._frontier.next()
        return None

    async def _take(self, group: Sequence[JobResult]) -> None:
        if self._store is not None:
            self._store.take(group, self._jobs)
        self._settle([result for part in group if (result := self._joining.add(part)) is not None])
        await self._keep(at_once=self._backend.durable)

    def _settle(self, results: Sequence[JobResult], *, kept: bool = False) -> None:
        before = len(self._frontier.rows)
        for result in results:
            self._frontier.take(result, kept=kept)
            del self._jobs[result.number]
        self._run.grow(self._frontier.found)
        self._run.step(len(self._frontier.rows) - before)
        self._changed.set()

    async def _besides(self, fetcher: Fetcher, frame: pd.DataFrame) -> None:
        """Ask for what is wanted besides the pages: soft 404s, links to elsewhere, resources."""
        self._report.note("looking for soft 404s")
        self._soft = await soft_404s(fetcher, seen_in(frame), self._walls)
        targets = to_check(self._admission)
        done = 0

        def on_row(row: dict[str, Any]) -> None:
            nonlocal done
            done += 1
            self._checked.append(row)
            self._report.note(f"{done:,} of {len(targets):,} links checked")

        if targets:
            self._checked = await check(fetcher, targets, on_row)

    def _finished(self) -> Any:
        """Return the audit of what an interrupted crawl has."""
        self._frontier.cut()
        why = self._admission.leave_out_rest()
        frame = self._rows.frame()
        return self._audit(frame, [why, *given_up(frame)])

    def _audit(self, frame: pd.DataFrame, reasons: Sequence[str]) -> Any:
        facts = crawl_facts(self._admission, self._checked, self._hosts, (self._soft, self._walls), reasons)
        if self._call.scope.resources == "check":
            frame = with_resources(frame, facts)
        frame.attrs["webanalytics"]["crawl"] = {
            "fetched": self._frontier.fetched,
            "dropped": self._frontier.dropped,
            "query": list(self._call.scope.query) or ["keep"],
            "stopped": facts.stopped,
        }
        tell_of(frame, self._report, self._backend, self._options)
        return self._call.finish(frame, facts, self._listed)


async def _ended(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError, Exception):
            await task
