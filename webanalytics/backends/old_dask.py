"""Experimental: a Dask cluster as a backend; its workers run `LocalBackend` on chunks of jobs.

At most one chunk of a host runs at a time, so that ``per_host`` holds over the whole cluster; ``delay`` holds
within a chunk.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from concurrent.futures import Executor
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

from webanalytics.archives.pages import Reader
from webanalytics.backends.base import RunSpec, Task, refuse_saving
from webanalytics.backends.content import file_content
from webanalytics.backends.error_pages import where_it_ended
from webanalytics.backends.local import LocalBackend, host_of, merged
from webanalytics.errors import BackendError, ParameterError, RowError
from webanalytics.operations.secret import Secret
from webanalytics.outcomes import ArchivedPage, Job, JobResult, Outcome, PageRecord


class DaskBackend(LocalBackend):
    """Answers on a Dask cluster; a call with a secret is answered locally, as secrets are not sent.

    Parameters
    ----------
    client : distributed.Client
        The cluster's synchronous client; this package must be installed on its workers.
    chunk : int, default 20
        Jobs of one task: the most that is lost when a worker dies.

    Raises
    ------
    ParameterError
        For an asynchronous client.
    """

    name = "dask"

    def __init__(self, client: Any, chunk: int = 20) -> None:
        if client.asynchronous:
            raise ParameterError(
                "The `client` parameter must be a client that is not asynchronous.", "client"
            )
        self._client = client
        self._chunk = chunk

    def check(self, task: Task) -> None:
        """Raise `ParameterError` where pages are to be saved."""
        refuse_saving(task.spec.options, "with a Dask cluster")

    async def run(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[JobResult], None]:
        """Yield the results chunk by chunk, in the order they are finished."""
        given = (value for settings in task.spec.settings.values() for value in settings.values())
        if any(isinstance(value, Secret) for value in given):
            groups = super().run(task, jobs)
        else:
            options = {**task.spec.options, "workers": task.spec.options["workers"] or 1}
            spec = replace(task.spec, options=options)
            threads = await asyncio.to_thread(self._client.nthreads)
            lanes: defaultdict[int, list[Job]] = defaultdict(list)
            for job in jobs:
                key = host_of(job) or str(job.number)
                lanes[crc32(key.encode("utf-8", "replace")) % (2 * sum(threads.values()) or 1)].append(job)
            executor = self._client.get_executor()
            groups = merged([self._lane(executor, Task(spec), lane) for lane in lanes.values()])
        async with aclosing(groups):
            async for group in groups:
                yield group

    async def _lane(self, executor: Executor, task: Task, jobs: list[Job]) -> AsyncIterator[list[JobResult]]:
        """Yield the results of one chunk after another: each host has one lane."""
        for start in range(0, len(jobs), self._chunk):
            chunk = jobs[start : start + self._chunk]
            with Reader() as archives:
                travelling, unreadable = await asyncio.to_thread(_read, task, chunk, archives)
            if unreadable:
                yield unreadable
            try:
                yield await asyncio.wrap_future(executor.submit(_answer, task.spec, travelling))
            except BackendError:
                raise
            except Exception as error:
                raise BackendError(f"the Dask cluster did not finish a chunk: {error}") from error


def _read(task: Task, jobs: Sequence[Job], archives: Reader) -> tuple[list[Job], list[JobResult]]:
    """Return jobs with the content of files on this machine, and results for those that cannot be read."""
    operation, limit = task.operations[0], int(task.spec.options["max_bytes"])
    travelling: list[Job] = []
    unreadable: list[JobResult] = []
    for job in jobs:
        if isinstance(job.subject, ArchivedPage):  # the archive is on this machine
            record, error = archives.page(job.subject, operation.subject, limit)
            if error is None:
                travelling.append(replace(job, subject=record))
            else:
                outcomes = (Outcome.failed(error),) * len(task.operations)
                unreadable.append(JobResult(job.number, outcomes, where_it_ended(error, record.fetched)))
            continue
        if not isinstance(job.subject, Path):
            travelling.append(job)
            continue
        try:
            content = file_content(job.subject, operation.subject, limit)
        except RowError as error:
            failed = (Outcome.failed(error),) * len(task.operations)
            unreadable.append(JobResult(job.number, failed))
        else:
            page = operation.kind == "page"
            subject = PageRecord(str(job.subject), content) if page else content
            travelling.append(replace(job, subject=subject))
    return travelling, unreadable


def _answer(spec: RunSpec, jobs: list[Job]) -> list[JobResult]:
    """Answer a chunk in a worker of the cluster."""

    async def main() -> list[JobResult]:
        return [result async for group in LocalBackend().run(Task(spec), jobs) for result in group]

    return asyncio.run(main())
