"""The backend of this machine: fetching on the event loop, analysis in worker processes."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from webanalytics.analysis.registry import analysis_function
from webanalytics.backends.base import (
    Answer,
    Fetched,
    Job,
    Outcome,
    PackedOutcomes,
    SavedPage,
    Task,
    check_subject,
)
from webanalytics.backends.data_urls import data_url_content, is_data_url
from webanalytics.backends.room import Room
from webanalytics.backends.workers import WorkerDiedError, WorkerPool
from webanalytics.errors import BackendError, RowError
from webanalytics.fetching import Fetcher, FetchError, FetchSettings
from webanalytics.operations import Operation

log = logging.getLogger("webanalytics")

HELD_BYTES = 64_000_000
"""Bodies that wait for a worker before further fetches are held back, in bytes."""

YIELD_SECONDS = 0.02
"""How long record operations compute before the event loop has its turn."""

LONGEST_HEADER = 2_000
"""Characters of a header that are kept."""


def fetch_settings(options: dict[str, Any] | Any) -> FetchSettings:
    """Return the part of a run's options that is about fetching."""
    return FetchSettings(
        **{field.name: options[field.name] for field in fields(FetchSettings) if field.name in options}
    )


def worker_count(options: Any) -> int:
    """Return how many worker processes a run may have."""
    if options["workers"] is not None:
        return int(options["workers"])
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _host(job: Job) -> str:
    try:
        return urlsplit(job.subject).netloc if isinstance(job.subject, str) else ""
    except ValueError:
        return ""


def interleave(jobs: Sequence[Job]) -> Iterator[Job]:
    """Yield the jobs host by host in turn, so that a list sorted by host keeps many hosts busy.

    Examples
    --------
    >>> urls = ["http://a/1", "http://a/2", "http://a/3", "http://b/1"]
    >>> [job.subject for job in interleave([Job(n, url) for n, url in enumerate(urls)])]
    ['http://a/1', 'http://b/1', 'http://a/2', 'http://a/3']
    """
    queues: defaultdict[str, deque[Job]] = defaultdict(deque)
    for job in jobs:
        queues[_host(job)].append(job)
    waiting = deque(queues.values())
    while waiting:
        queue = waiting.popleft()
        yield queue.popleft()
        if queue:
            waiting.append(queue)


async def as_answered(
    jobs: Iterator[Job], answer: Callable[[Job], Awaitable[Answer]], window: int
) -> AsyncGenerator[Answer, None]:
    """Answer jobs with ``window`` of them under way, and yield the answers as they come."""
    ready: asyncio.Queue[Answer | BaseException | None] = asyncio.Queue()

    async def pull() -> None:
        try:
            for job in jobs:
                ready.put_nowait(await answer(job))
        except Exception as error:  # handed to the consumer below
            ready.put_nowait(error)
        else:
            ready.put_nowait(None)

    tasks = [asyncio.create_task(pull()) for _ in range(window)]
    try:
        running = window
        while running:
            item = await ready.get()
            if isinstance(item, BaseException):
                raise item
            if item is None:
                running -= 1
            else:
                yield item
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Run:
    """One run over pages or images: what its jobs share."""

    def __init__(self, task: Task, fetcher: Fetcher, pool: WorkerPool) -> None:
        self._fetcher = fetcher
        self._pool = pool
        self._operation = task.operations[0]
        self._kind = self._operation.kind
        self._subject = self._operation.subject
        self._names = tuple(operation.name for operation in task.operations)
        self._settings = {name: dict(task.settings.get(name, {})) for name in self._names}
        self._deadline = float(task.options["parse_timeout"])
        self._max_bytes = int(task.options["max_bytes"])
        self._room = Room(HELD_BYTES)

    async def answer(self, job: Job) -> Answer:
        """Answer one job; whatever goes wrong with it is its own outcome."""
        fetched: Fetched | None = None
        outcomes: Sequence[Outcome]
        try:
            check_subject(job.subject, self._operation)
            content, page, fetched = await self._content(job.subject)
            with self._room.hold(len(content)):
                outcomes = await self._analyse((content, *page) if self._kind == "page" else (content,))
        except FetchError as error:
            outcomes = self._all_failed(error)
            fetched = Fetched(
                error.final_url or None,
                tuple(error.redirects),
                error.http_status,
                error.elapsed or None,
                error.bytes or None,
            )
        except RowError as error:
            outcomes = self._all_failed(error)
        except BackendError:
            raise
        except Exception as error:
            log.exception("an input could not be answered")
            outcomes = self._all_failed(
                RowError(
                    f"The `{self._subject}` parameter names content that could not be read "
                    f"({type(error).__name__}).",
                    "parse",
                )
            )
        return Answer(job.number, outcomes, fetched)

    def _all_failed(self, error: RowError) -> tuple[Outcome, ...]:
        return (Outcome.failed(error),) * len(self._names)

    async def _content(self, subject: Any) -> tuple[Any, tuple[str, str, str], Fetched]:
        """Return the content, the rest of what a page is made from, and how it was had."""
        if isinstance(subject, SavedPage):
            html = subject.html
            size = (
                len(html)
                if isinstance(html, bytes) or html.isascii()
                else len(html.encode("utf-8", "replace"))
            )
            self._check_size(size)
            return subject.html, (subject.url, subject.url, ""), Fetched(subject.url, bytes=size)
        if isinstance(subject, bytes):
            self._check_size(len(subject))
            return subject, ("", "", ""), Fetched(bytes=len(subject))
        if isinstance(subject, Path):
            content = await asyncio.to_thread(self._read, subject)
            return content, (str(subject), str(subject), ""), Fetched(str(subject), bytes=len(content))
        if self._kind == "image" and is_data_url(subject):
            try:
                content = data_url_content(subject)
            except ValueError:
                raise RowError(
                    f"The `{self._subject}` parameter must be a well-formed data: URL.", "invalid"
                ) from None
            self._check_size(len(content))
            return content, ("", "", ""), Fetched(bytes=len(content))
        await self._room.wait()
        response = await self._fetcher.fetch(subject, parameter=self._subject, accept=self._accept)
        fetched = Fetched(
            response.final_url,
            response.redirects,
            response.http_status,
            response.elapsed,
            len(response.content),
            response.content_type[:LONGEST_HEADER],
            "\n".join(response.headers.getall("X-Robots-Tag", ()))[:LONGEST_HEADER],
        )
        return response.content, (subject, response.final_url, response.content_type), fetched

    @property
    def _accept(self) -> Any:
        return self._kind

    def _read(self, path: Path) -> bytes:
        try:
            with path.open("rb") as file:
                content = file.read(self._max_bytes + 1)
        except OSError as error:
            raise RowError(
                f"The `{self._subject}` parameter names a file that cannot be read: {error.strerror}.",
                "invalid",
            ) from None
        self._check_size(len(content))
        return content

    def _check_size(self, size: int) -> None:
        if size > self._max_bytes:
            raise RowError(
                f"The `{self._subject}` parameter names content larger than {self._max_bytes} bytes.",
                "too_large",
            )

    async def _analyse(self, content: tuple[Any, ...]) -> Sequence[Outcome]:
        arguments = (self._names, self._settings, content if self._kind == "page" else content[0])
        try:
            results = await self._pool.run(self._kind, self._names, arguments, self._deadline)
        except TimeoutError:
            return self._all_failed(
                RowError(
                    f"The `{self._subject}` parameter names content that takes longer than "
                    f"{self._deadline:g} seconds to analyse.",
                    "timeout",
                )
            )
        except WorkerDiedError:
            return self._all_failed(
                RowError(f"The `{self._subject}` parameter names content that ended its analysis.", "parse")
            )
        return (
            PackedOutcomes(results) if self._kind == "page" else tuple(Outcome(*result) for result in results)
        )


def _record(operation: Operation, settings: dict[str, Any], subject: Any) -> Outcome:
    try:
        check_subject(subject, operation)
        return Outcome(analysis_function(operation.name)(subject, **settings))
    except RowError as error:
        return Outcome.failed(error)


class LocalBackend:
    """Answers every operation on this machine."""

    name = "local"
    paid = False

    def check(self, task: Task) -> None:
        """Accept every task."""

    async def run(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[Answer], None]:
        """Yield the answers in groups, in the order they are finished."""
        run = self._records if task.operations[0].kind == "record" else self._contents
        async with aclosing(run(task, jobs)) as groups:
            async for answers in groups:
                yield answers

    async def _records(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[Answer], None]:
        (operation,) = task.operations
        settings = dict(task.settings[operation.name])
        turn, group = time.monotonic(), []
        for job in jobs:
            group.append(Answer(job.number, (_record(operation, settings, job.subject),)))
            if time.monotonic() - turn > YIELD_SECONDS:
                yield group
                await asyncio.sleep(0)
                turn, group = time.monotonic(), []
        if group:
            yield group

    async def _contents(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[Answer], None]:
        options = task.options
        async with AsyncExitStack() as stack:
            pool = await stack.enter_async_context(
                WorkerPool(worker_count(options), options["worker_memory"])
            )
            fetcher = await stack.enter_async_context(Fetcher(fetch_settings(options)))
            run = _Run(task, fetcher, pool)
            window = min(len(jobs), 4 * int(options["concurrency"]))
            async with aclosing(as_answered(interleave(jobs), run.answer, window)) as answers:
                async for answer in answers:
                    yield (answer,)
