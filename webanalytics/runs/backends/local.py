"""The backend of this machine: fetching on the event loop, analysis in worker processes.

`runs.run` hands it the jobs of a call; it is also what runs on each worker of a Dask cluster.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from webanalytics.core.outcomes import (
    ArchivedPage,
    Fetched,
    Job,
    JobResult,
    Outcome,
    PackedOutcomes,
    PageRecord,
    Particular,
    TextRecord,
    check_subject,
    outcome_of,
)
from webanalytics.errors import BackendError, ParameterError, RowError, WriteError, shortage_of
from webanalytics.fetching import Fetcher, FetchError, FetchSettings, Response
from webanalytics.fetching.archives.pages import Reader
from webanalytics.fetching.archives.warc_writer import check_place, recording
from webanalytics.fetching.data_urls import is_data_url
from webanalytics.fetching.response import LONGEST_HEADER, Asked
from webanalytics.operations import EXTRACT, RENDERING, Operation
from webanalytics.runs.backends.base import Backend, JobSource, Listed, Report, Task, merged
from webanalytics.runs.backends.content import (
    check_size,
    embedded_content,
    extracted,
    file_content,
    recorded_content,
)
from webanalytics.runs.backends.pipeline import (
    MOST_TRIES,
    Answering,
    Rendering,
    ShortageError,
    Shortages,
    affordable,
    check_browser,
    error_page,
    rendering,
    said_by,
    where_it_ended,
)
from webanalytics.runs.workers.pool import WorkerPool, begin_workers, worker_count
from webanalytics.runs.workers.worker import analysis_function
from webanalytics.urls import lacks_scheme

log = logging.getLogger("webanalytics")

WITHOUT_HTTPS = frozenset(("refused", "interrupted", "handshake", "connect_timeout"))
"""Failures after which a host without a scheme is tried with http: it has no https. A certificate
that is not valid is no reason: the row says so."""

WATCH_SECONDS = 1.0
"""Seconds between two looks at who is waited for."""

YIELD_SECONDS = 0.02
"""Seconds that record operations compute before yielding to the event loop."""


def fetch_settings(options: Mapping[str, Any]) -> FetchSettings:
    """Return a run's options about fetching."""
    known = {**options, "max_bytes": options["max_download"]}
    return FetchSettings(
        **{field.name: known[field.name] for field in fields(FetchSettings) if field.name in known}
    )


def affordable_settings(options: Mapping[str, Any]) -> FetchSettings:
    """Return them with no more connections than the process has file descriptors for."""
    settings = fetch_settings(options)
    return replace(settings, concurrency=affordable(settings.concurrency))


class _Run:
    """One run over pages or images, with what its jobs share."""

    def __init__(
        self, task: Task, fetcher: Fetcher, pool: WorkerPool, rendered: Rendering | None = None
    ) -> None:
        options = task.spec.options
        self._task = task
        self._shortages = Shortages(fetcher.limits.fewer, task.report.note)
        self._answering = Answering(fetcher, pool)
        fetcher.limits.ready = self._answering.inflight.ready
        self._pool, self._rendered = pool, rendered
        self._operations = tuple(item for item in task.operations if item is not EXTRACT)
        self._extract = task.spec.settings[EXTRACT.name] if EXTRACT in task.operations else None
        self._operation = self._operations[0]
        self._subject = self._operation.subject
        self._all = task.operations
        self._is_page = self._operation.kind == "page"
        text = self._operation.alternative
        self._text_parameter = self._subject if text is None else text.name
        self._settings = {name: dict(task.spec.settings.get(name, {})) for name in task.spec.operations}
        self._apart = task.spec.apart
        self._deadline = float(options["parse_timeout"])
        self._max_bytes = int(options["max_download"])
        self._error_pages = len(self._operations) > 1
        self._archives: Reader | None = None
        self._turn = asyncio.Lock()

    async def answer(self, job: Job) -> JobResult:
        """Answer one job; a shortage of this machine is waited out, any error of the page is its outcome."""
        tries, answered = 0, self._shortages.answered
        while True:
            try:
                result = await self._answer(job)
            except ShortageError as shortage:
                tries += 1
                others = self._shortages.answered > answered
                if tries >= MOST_TRIES and others and isinstance(shortage.instead, FetchError):
                    return self._failed(job, shortage.instead)
                await self._shortages.wait(shortage, tries - 1)
            else:
                self._shortages.passed()
                return result

    def _failed(self, job: Job, error: RowError) -> JobResult:
        return self._task.failed(job, error, _ended(job, error) if isinstance(error, FetchError) else None)

    async def _answer(self, job: Job) -> JobResult:
        """Answer one job, or raise `ShortageError`."""
        fetched: Fetched | None = None
        failed: RowError
        try:
            check_subject(job.subject, self._operation)
            if isinstance(job.subject, ArchivedPage):
                job, then = await self._from_archive(job, job.subject)
                if then is not None:
                    raise then
            content, page, fetched, told = await self._content(job)
            parameter = self._text_parameter if isinstance(job.subject, TextRecord) else self._subject
            with self._answering.inflight.hold(len(content)):
                found = await self._answering.analyse(
                    self._operations,
                    self._settings if not told else {**self._settings, RENDERING.name: told},
                    (content, *page) if self._is_page else content,
                    self._deadline,
                    parameter=parameter,
                    apart=self._apart,
                )
                found, alone = found if self._apart else (found, None)
                if self._extract is not None:
                    more = await extracted(self._pool, (content, *page), self._extract)
                    found = PackedOutcomes.pack([*PackedOutcomes(found).unpack(), more])
            outcomes = PackedOutcomes(found) if self._is_page else tuple(map(outcome_of, found))
            apart = None if alone is None else PackedOutcomes(alone)
            return JobResult(job.number, outcomes, fetched, apart=apart)
        except RowError as error:
            if isinstance(error, FetchError) and error.short:
                raise ShortageError(error.short, error) from None
            if isinstance(error, FetchError):
                return await self._error_page(job, error) or self._failed(job, error)
            if short := shortage_of(error):  # a file that could not be opened
                raise ShortageError(short) from None
            failed = error
        except Exception as error:
            if short := shortage_of(error):
                raise ShortageError(short) from None
            if isinstance(error, (BackendError, WriteError)):
                raise
            log.exception("an input could not be answered")
            failed = RowError("unreadable_content", parameter=self._subject, exception=type(error).__name__)
        return self._task.failed(job, failed, fetched)

    async def _error_page(self, job: Job, error: FetchError) -> JobResult | None:
        """Return what is known of a page that came with an HTTP error, in an audit."""
        if not self._error_pages:
            return None
        url = job.subject.url if isinstance(job.subject, PageRecord) else job.subject
        fetched = _ended(job, error)
        read = await error_page(
            self._answering, self._all, self._settings, error, url, fetched, self._deadline
        )
        return JobResult(job.number, read, fetched) if read else None

    async def _content(self, job: Job) -> tuple[Any, tuple[Any, ...], Fetched, dict[str, Any]]:
        """Return the content, the other arguments of `Page`, how it was fetched, and what rendering says."""
        subject = job.subject
        if isinstance(subject, TextRecord):
            size = len(subject.text.encode("utf-8", "replace"))
            check_size(size, self._text_parameter, self._max_bytes)
            text, *others = subject.page
            return text, tuple(others), Fetched(bytes=size, source="saved"), {}
        if isinstance(subject, PageRecord):
            return *recorded_content(subject, self._subject, self._max_bytes, refusals=self._error_pages), {}
        if isinstance(subject, Path):
            path = str(subject)
            content = await asyncio.to_thread(file_content, subject, self._subject, self._max_bytes)
            return content, (path, path, ""), Fetched(path, bytes=len(content), source="saved"), {}
        if isinstance(subject, bytes):
            check_size(len(subject), self._subject, self._max_bytes)
            return subject, ("", "", ""), Fetched(bytes=len(subject), source="saved"), {}
        if not self._is_page and is_data_url(subject):
            content = embedded_content(subject, self._subject)
            check_size(len(content), self._subject, self._max_bytes)
            return content, ("", "", ""), Fetched(bytes=len(content)), {}
        await self._answering.inflight.wait()
        response = await self._fetched(subject, Asked(subject, job.number))
        fetched = Fetched(
            response.final_url,
            response.redirects,
            response.http_status,
            response.elapsed,
            len(response.content),
            redirect_kinds=response.redirect_kinds,
            certificate=response.certificate,
            steps=response.steps,
            **said_by(response.headers) | {"content_type": response.content_type[:LONGEST_HEADER]},
        )
        if self._rendered is not None and self._is_page:
            with self._answering.inflight.hold(len(response.content), pages=0):
                shown = await self._rendered.shown(subject, response)
            return shown.content, shown.page, fetched, shown.settings
        return response.content, (subject, response.final_url, response.content_type), fetched, {}

    def close(self) -> None:
        """Close the archives that were read."""
        if self._archives is not None:
            self._archives.close()

    async def _from_archive(self, job: Job, page: ArchivedPage) -> tuple[Job, FetchError | None]:
        """Return a job with its page read from an archive, and what failed in its fetch or its reading."""
        await self._answering.inflight.wait()
        async with self._turn:  # in the order of the jobs, which is the best one to read in
            self._archives = reader = self._archives or Reader()
            record, error = await asyncio.to_thread(reader.page, page, self._subject, self._max_bytes)
        return replace(job, subject=record), error

    async def _fetched(self, url: str, asked: Asked) -> Response:
        """Return the response to a URL; a host without a scheme is tried with https, and then with http."""
        if not self._is_page or not lacks_scheme(url) or await asyncio.to_thread(_is_file, url):
            return await self._fetch(url, asked)
        try:
            return await self._fetch(f"https://{url}", asked)
        except FetchError as error:
            if error.key not in WITHOUT_HTTPS or error.redirects:
                raise
        return await self._fetch(f"http://{url}", asked)

    async def _fetch(self, url: str, asked: Asked) -> Response:
        return await self._answering.fetch(
            url, self._operation, error_pages=self._error_pages, asked=asked if self._is_page else None
        )


def _ended(job: Job, error: FetchError) -> Fetched:
    """Return how a fetch that failed came to its end."""
    return where_it_ended(error, job.subject.fetched if isinstance(job.subject, PageRecord) else Fetched())


@asynccontextmanager
async def watched(fetcher: Fetcher, report: Report) -> AsyncIterator[None]:
    """Say in a run's progress which host is waited for; in the end report the hosts that were in trouble."""
    watch = asyncio.create_task(_watch(fetcher, report))
    try:
        yield
    finally:
        watch.cancel()
        report.hosts = [row for row in fetcher.hosts() if row["note"]]


async def _watch(fetcher: Fetcher, report: Report) -> None:
    shown = ""
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        waits = fetcher.waiting()
        text = ""
        if waits:
            host, seconds, requests = waits[0]
            others = f" and {len(waits) - 1} more" if len(waits) > 1 else ""
            text = f"waiting {seconds:.0f} s for {host} ({requests:,} rows){others}"
        if text != shown:
            report.note(text)
            shown = text


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _record(operation: Operation, settings: dict[str, Any], subject: Any) -> Outcome:
    particular = isinstance(subject, Particular)
    if particular:
        subject, settings = subject.subject, {**settings, **dict(subject.settings)}
    analyse = analysis_function(operation.analysis)
    try:
        check_subject(subject, operation)
        return Outcome(analyse(subject, **settings))
    except RowError as error:
        return Outcome.failed(error)
    except ParameterError as error:
        if not particular:
            raise
        return Outcome(None, str(error), "invalid")
    except (ImportError, OSError, MemoryError):
        raise
    except Exception as error:  # of another package, say: one row must not cost the others
        log.exception("an input could not be answered")
        told = {"operation": operation.name, "exception": type(error).__name__}
        return Outcome.failed(RowError("analysis_failed", parameter=operation.subject, **told))


class LocalBackend(Backend):
    """Answers every operation on this machine."""

    name = "local"
    hosts: frozenset[str] | None = None  # the only ones that are asked, also after redirects; None for any

    def check(self, task: Task) -> None:
        """Raise `ParameterError` where pages cannot be saved; workers begin to import what the task needs."""
        place = task.spec.options.get("archive")
        if place is not None and task.operations[0].kind == "page":
            check_place(Path(place))
        if task.operations[0].kind == "page":
            check_browser(task.spec.options)
        if task.operations[0].kind != "record":
            begin_workers(tuple(operation.analysis for operation in task.operations))

    async def run(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[JobResult], None]:
        """Yield the answers in groups, in order of completion."""
        run = self._records if task.operations[0].kind == "record" else self._contents
        async with aclosing(run(task, jobs)) as groups:
            async for answers in groups:
                yield answers

    async def _records(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[JobResult], None]:
        (operation,) = task.operations
        settings = dict(task.spec.settings[operation.name])
        turn, group = time.monotonic(), []
        for job in jobs:
            group.append(JobResult(job.number, (_record(operation, settings, job.subject),)))
            if time.monotonic() - turn > YIELD_SECONDS:
                yield group
                await asyncio.sleep(0)
                turn, group = time.monotonic(), []
        if group:
            yield group

    async def _contents(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[JobResult], None]:
        window = min(len(jobs), 4 * int(task.spec.options["concurrency"]))
        place = task.spec.options.get("archive") if task.operations[0].kind == "page" else None
        settings = replace(affordable_settings(task.spec.options), hosts=self.hosts)
        async with (
            nullcontext() if place is None else recording(place) as archive,
            Fetcher(settings, recorder=None if archive is None else archive.take) as fetcher,
            aclosing(self.stream(task, Listed(jobs), fetcher, window)) as groups,
        ):
            async for group in groups:
                yield group

    async def stream(
        self, task: Task, source: JobSource, fetcher: Fetcher, window: int
    ) -> AsyncGenerator[Sequence[JobResult], None]:
        """Yield the answers to pages or images in order of completion, so many jobs under way at once."""
        options = task.spec.options
        workers = WorkerPool(worker_count(options["workers"]), options["worker_memory"])
        async with (
            workers as pool,
            rendering(options, fetcher, pool, task.spec.settings) as rendered,
            watched(fetcher, task.report),
        ):
            run = _Run(task, fetcher, pool, rendered)

            async def answers() -> AsyncIterator[Sequence[JobResult]]:
                while (job := await source.next()) is not None:
                    yield await self.answered(run, job)

            try:
                async with aclosing(merged([answers() for _ in range(window)])) as groups:
                    async for group in groups:
                        yield group
            finally:
                run.close()

    async def answered(self, run: _Run, job: Job) -> Sequence[JobResult]:
        """Return what is yielded for a job."""
        return (await run.answer(job),)
