"""The client's side of a run: chunks go out host by host, answers and what is known of hosts come back.

At most one chunk with jobs of a host is under way in the whole cluster, and what is known of the host, its
pace and its robots.txt, travels with it. So a host is asked as one machine would ask it.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from webanalytics.archives.pages import Reader
from webanalytics.backends.base import JobSource, Keep, Keeper, RunSpec, Task
from webanalytics.backends.content import file_content
from webanalytics.backends.dask.cluster import COUNT_SECONDS
from webanalytics.backends.dask.lanes import Lanes
from webanalytics.backends.dask.work import Answered, Chunk
from webanalytics.backends.error_pages import where_it_ended
from webanalytics.errors import BackendError, ParameterError, RowError
from webanalytics.fetching import Fetcher
from webanalytics.fetching.guard import check_url, host_key
from webanalytics.fetching.response import Problem
from webanalytics.fetching.robots_kept import keep
from webanalytics.operations import Operation
from webanalytics.outcomes import ArchivedPage, Job, JobResult, Outcome, PageRecord
from webanalytics.urls import lacks_scheme

log = logging.getLogger("webanalytics")

RECORDS_AT_ONCE = 2_000
"""Most records of a chunk: each takes microseconds."""
MOST_WAITING = 5_000
"""Jobs that wait for their host before further ones are taken from the source."""
HOLD_SECONDS = 1.0
"""A host that may not be asked for longer than this is waited for here, not by a worker."""

Asked = tuple[list[str], list[Job], Answered | None]


class Workers(Protocol):
    """What does chunks: `webanalytics.backends.dask.cluster.Cluster`."""

    async def threads(self) -> int:
        """Return how many chunks it does at once."""
        ...

    async def answer(self, chunk: Chunk, topic: str) -> Answered | None:
        """Return the answer to a chunk, None if a worker has ended over it."""
        ...


class Steering:
    """One run on a cluster.

    Parameters
    ----------
    task : Task
        Without a secret.
    source : JobSource
        Its jobs.
    fetcher : Fetcher
        Keeps what is known of hosts; it makes no request here.
    workers : Workers
        Do the chunks.
    size : int
        Most pages or images of a chunk.

    Attributes
    ----------
    topic : str
        Where workers tell how far they are.
    """

    def __init__(self, task: Task, source: JobSource, fetcher: Fetcher, workers: Workers, size: int) -> None:
        options = {**task.spec.options, "workers": task.spec.options["workers"] or 1}
        self._spec: RunSpec = replace(task.spec, options=options)
        self._task, self._source, self._fetcher, self._workers = task, source, fetcher, workers
        self._operation: Operation = task.operations[0]
        is_record = self._operation.kind == "record"
        self._lanes = Lanes(RECORDS_AT_ONCE if is_record else size, float(options["delay"]))
        self._host_of: dict[int, str] = {}
        self._threads = 1
        self._under_way: set[asyncio.Task[Asked]] = set()
        self._joining: set[asyncio.Task[None]] = set()
        self._done: dict[str, int] = {}
        # new for each run, also for those that continue a checkpoint: a task of this name begins once
        self.topic = f"webanalytics-{uuid.uuid4().hex}"
        self._numbers = 0
        self._fed = asyncio.Event()
        self._room = asyncio.Event()
        self._archives = Reader()

    def told(self, chunk: str, done: int) -> None:
        """Take note of how many jobs of a chunk are done."""
        if chunk in self._done:
            self._done[chunk] = done
            self._task.report.ahead(sum(self._done.values()))

    async def results(self) -> AsyncGenerator[Sequence[JobResult], None]:
        """Yield the results chunk by chunk, as they arrive."""
        feeding = asyncio.create_task(self._feed())
        counting = asyncio.create_task(self._count())
        try:
            while True:
                self._fed.clear()
                for failed in await self._send():
                    yield (failed,)
                under_way = not feeding.done() or bool(self._lanes.waiting or self._under_way)
                if not self._join(last=not under_way) and not under_way:
                    break
                for asked in await self._some(feeding):
                    results = self._taken(asked)
                    if results:
                        yield results
                if feeding.done():
                    feeding.result()
        finally:
            tasks = [feeding, counting, *self._under_way, *self._joining]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._archives.close()
            self._task.report.hosts = [row for row in self._fetcher.hosts() if row["note"]]

    # ---------------------------------------------------------------- jobs in

    async def _feed(self) -> None:
        """Take jobs from the source, as long as not too many wait."""
        taken = 0
        while (job := await self._source.next()) is not None:
            host = self._host(job)
            self._host_of[job.number] = host
            self._lanes.add(job, host)
            self._fed.set()
            taken += 1
            if taken % 100 == 0:
                await asyncio.sleep(0)
            while self._lanes.waiting >= MOST_WAITING:
                self._room.clear()
                await self._room.wait()
        self._fed.set()

    def _host(self, job: Job) -> str:
        """Return the host that a job asks, "" if it asks none."""
        url = job.subject
        if self._operation.kind == "record" or not isinstance(url, str):
            return ""
        options = self._spec.options
        if self._operation.kind == "page" and lacks_scheme(url):
            url = f"https://{url}"
        try:
            return host_key(
                check_url(url, allow_private=options["allow_private"], ports=options.get("ports"))
            )
        except Problem:  # a row that says so: nothing is asked
            return ""

    async def _count(self) -> None:
        """Count the threads of the cluster, again and again."""
        while True:
            threads = await self._workers.threads()
            self._task.report.note("" if threads else "waiting for workers of the Dask cluster")
            self._threads = threads or 1
            self._fed.set()
            await asyncio.sleep(COUNT_SECONDS)

    # ---------------------------------------------------------------- chunks out, answers back

    async def _send(self) -> list[JobResult]:
        """Send chunks while workers want some; return the results of files that cannot be read."""
        unreadable: list[JobResult] = []
        while self._lanes.waiting:
            # a few more than there are threads: a worker that is done has the next one at once
            free = self._threads + max(1, self._threads // 4) - len(self._under_way)
            if free <= 0:
                break
            lanes, jobs = self._lanes.chunk(_now(), free)
            if not jobs:
                break
            if any(isinstance(job.subject, (Path, ArchivedPage)) for job in jobs):
                jobs, failed = await asyncio.to_thread(_read, self._task, jobs, self._archives)
                unreadable += failed
            if jobs:
                self._under_way.add(asyncio.create_task(self._ask(lanes, jobs)))
        self._room.set()
        return unreadable

    def _name(self) -> str:
        self._numbers += 1
        return f"{self.topic}-{self._numbers}"

    def _join(self, *, last: bool) -> bool:
        """Have joined what is due of what the workers wrote; return whether any of it is under way."""
        keeper = self._task.keeper
        while keeper is not None and (work := keeper.join(last=last)) is not None:
            self._joining.add(asyncio.create_task(self._joined(keeper, work)))
        return bool(self._joining)

    async def _joined(self, keeper: Keeper, work: Keep) -> None:
        try:
            answered = await self._workers.answer(Chunk(self._name(), self._spec, (), keep=work), self.topic)
        except (BackendError, ParameterError) as error:  # it may be full, or a part damaged
            log.warning("parts in the folder of `save_to` stay small: %s", error)
            answered = None
        keeper.joined(work, None if answered is None else answered.results)

    async def _ask(self, lanes: list[str], jobs: list[Job]) -> Asked:
        name = self._name()
        known = {host: self._fetcher.known_of(host) for host in self._hosts(lanes)}
        keep = None if self._task.keeper is None else self._task.keeper.keep(jobs)
        chunk = Chunk(name, self._spec, jobs, known, self._lanes.keeps_to_hosts(lanes), keep)
        self._done[name] = 0
        try:
            return lanes, jobs, await self._workers.answer(chunk, self.topic)
        finally:
            del self._done[name]
            self._task.report.ahead(sum(self._done.values()))

    async def _some(self, feeding: asyncio.Task[None]) -> list[Asked]:
        """Wait until there is something to do, and return the answers that are there."""
        fed = asyncio.create_task(self._fed.wait())
        try:
            await asyncio.wait(
                {fed, *self._under_way, *self._joining, *([] if feeding.done() else [feeding])},
                timeout=self._wait(),
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            fed.cancel()
        for joining in [task for task in self._joining if task.done()]:
            self._joining.remove(joining)
            joining.result()
        done = [task for task in self._under_way if task.done()]
        self._under_way.difference_update(done)
        return [task.result() for task in done]

    def _wait(self) -> float | None:
        """Return the seconds until a host may be asked again that is waited for."""
        moment = self._lanes.next_moment()
        return None if moment is None else max(0.0, moment - _now())

    def _taken(self, asked: Asked) -> Sequence[JobResult]:
        """Take what a chunk brought, or the loss of its worker, and return results."""
        lanes, jobs, answered = asked
        if answered is None:
            results: Sequence[JobResult] = [
                self._blamed(job) for job in self._lanes.lost(jobs, self._host_of)
            ]
            for host in self._hosts(lanes):  # a request may have been made just before
                self._fetcher.rest(host)
        else:
            results = answered.results
            for origin, copy in answered.robots.items():
                keep(origin, copy)
            for host, known in answered.known.items():
                self._fetcher.take(host, known)
            for job in jobs:
                if job.number in answered.led:
                    self._lead(job, answered.led[job.number])
        for result in results:
            self._host_of.pop(result.number, None)
        for lane in lanes:
            wait = max(self._fetcher.known_of(host).wait for host in self._hosts([lane]))
            self._lanes.free(lane, _now() + wait if wait > HOLD_SECONDS else 0.0)
        return results

    def _lead(self, job: Job, other: str) -> None:
        """Take back a job whose page leads to another host."""
        host = self._host_of[job.number]
        if host:
            self._lanes.led(job, host, other)
        else:
            self._host_of[job.number] = other
            self._lanes.add(job, other)

    def _hosts(self, lanes: list[str]) -> set[str]:
        """Return the hosts of lanes."""
        return {host for lane in lanes for host in self._lanes.members(lane)}

    def _blamed(self, job: Job) -> JobResult:
        """Return the failure of a job that has ended one worker after another."""
        failed = Outcome.failed(RowError("analysis_died", parameter=self._operation.subject))
        several = len(self._task.operations) - bool(self._spec.apart)
        return JobResult(job.number, (failed,) * several)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _read(task: Task, jobs: Sequence[Job], archives: Reader) -> tuple[list[Job], list[JobResult]]:
    """Return jobs with the content of files and archives here, and results for those that cannot be read."""
    operation, limit = task.operations[0], int(task.spec.options["max_download"])
    several = len(task.operations) - bool(task.spec.apart)
    travelling: list[Job] = []
    unreadable: list[JobResult] = []
    for job in jobs:
        if isinstance(job.subject, ArchivedPage):
            record, failed = archives.page(job.subject, operation.subject, limit)
            if failed is None or failed.key == "status":  # an error page is read like another one
                body = record.body if failed is None else failed.content or b""
                travelling.append(replace(job, subject=replace(record, body=body)))
            else:
                outcomes = (Outcome.failed(failed),) * several
                unreadable.append(JobResult(job.number, outcomes, where_it_ended(failed, record.fetched)))
            continue
        if not isinstance(job.subject, Path):
            travelling.append(job)
            continue
        try:
            content = file_content(job.subject, operation.subject, limit)
        except RowError as error:
            unreadable.append(JobResult(job.number, (Outcome.failed(error),) * several))
        else:
            page = operation.kind == "page"
            subject = PageRecord(str(job.subject), content) if page else content
            travelling.append(replace(job, subject=subject))
    return travelling, unreadable
