"""Groups of jobs: all those of a host are in one, so that each host is asked by one task at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from webanalytics import loops
from webanalytics._version import __version__, how_to_install
from webanalytics.core.outcomes import ArchivedPage, Job, JobResult, PageRecord
from webanalytics.errors import BackendError, RowError
from webanalytics.fetching import Fetcher
from webanalytics.fetching.archives.pages import Reader
from webanalytics.fetching.gates import Elsewhere, HostKnown
from webanalytics.fetching.guard import check_url, host_key
from webanalytics.fetching.response import Problem
from webanalytics.fetching.robots import RobotsCopy, keeping
from webanalytics.runs.backends.base import Listed, RunSpec, Task
from webanalytics.runs.backends.content import file_content
from webanalytics.runs.backends.local import LocalBackend, affordable_settings
from webanalytics.runs.backends.pipeline import where_it_ended
from webanalytics.urls import lacks_scheme

LOOK_SECONDS = 0.25  # how often a group looks whether it is still wanted


@dataclass(frozen=True, repr=False)
class Group:
    """Jobs that one worker does; without a secret."""

    spec: RunSpec  # what is done with every job
    jobs: Sequence[Job]  # all those of their hosts
    # the hosts that may be asked, and what is known of each
    known: Mapping[str, HostKnown] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return what logs may show: no address, no text."""
        return f"<{len(self.jobs)} jobs>"


@dataclass(frozen=True, repr=False)
class Answered:
    """What a worker sends back."""

    results: Sequence[JobResult]  # one for each job that did not lead elsewhere
    # by number of a job the host that it leads to, which another worker may be asking
    led: Mapping[int, str] = field(default_factory=dict)
    known: Mapping[str, HostKnown] = field(default_factory=dict)  # what is now known of each host
    robots: Mapping[str, RobotsCopy] = field(default_factory=dict)  # the robots.txt that were read, by origin
    version: str = __version__  # version of this package on the worker

    def __repr__(self) -> str:
        return f"<{len(self.results)} results>"


def host_of(url: Any, options: Mapping[str, Any], *, page: bool = True) -> str:
    """Return the host that is asked for a URL, "" for one that is refused, and for what is none."""
    if not isinstance(url, str):
        return ""
    try:
        whole = f"https://{url.strip()}" if page and lacks_scheme(url) else url
        return host_key(check_url(whole, allow_private=options["allow_private"], ports=options["ports"]))
    except Problem:
        return ""


def site_of(host: str) -> str:
    """Return what hosts are asked together by: that of ``www.`` leads to the one without it, or from it.

    >>> site_of("www.example.com"), site_of("shop.example.com:8080")
    ('example.com', 'shop.example.com:8080')
    """
    return host.removeprefix("www.")


def grouped(jobs: Iterable[tuple[Job, set[str]]], size: int) -> list[tuple[list[Job], set[str]]]:
    """Return jobs and the hosts that each asks as groups of about a size, no host in two of them."""
    first: dict[str, str] = {}

    def root(site: str) -> str:
        while (above := first.setdefault(site, site)) != site:
            first[site] = site = first[above]
        return site

    given = [(job, hosts, [root(site_of(host)) for host in hosts]) for job, hosts in jobs]
    for _, _, sites in given:
        for site in sites[1:]:
            first[root(site)] = root(sites[0])
    together: dict[str | int, tuple[list[Job], set[str]]] = {}
    for job, hosts, sites in given:
        found = together.setdefault(root(sites[0]) if sites else job.number, ([], set()))
        found[0].append(job)
        found[1].update(hosts, *({site_of(host), f"www.{site_of(host)}"} for host in hosts))
    groups: list[tuple[list[Job], set[str]]] = []
    for more, hosts in together.values():
        if not groups or len(groups[-1][0]) + len(more) > size:
            groups.append(([], set()))
        groups[-1][0].extend(more)
        groups[-1][1].update(hosts)
    return groups


def distributed() -> Any:
    """Return the module of that name, or raise `BackendError` where it is not installed."""
    try:
        return import_module("distributed")
    except ImportError:
        raise BackendError(f"Dask is not installed: {how_to_install('dask')}.") from None


def attempt(group: Group) -> Answered | None:
    """Do a group in a task of Dask; it ends soon after nobody waits for it any more."""
    worker = distributed().get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled"

    return loops.run(_watched(group, wanted))


async def _watched(group: Group, wanted: Callable[[], bool]) -> Answered | None:
    work = asyncio.create_task(answer(group))
    try:
        while not (await asyncio.wait([work], timeout=LOOK_SECONDS))[0]:
            if not wanted():
                return None
        return work.result()
    finally:
        work.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await work


class _Held(LocalBackend):
    """Remembers pages that lead to hosts which another worker may be asking."""

    def __init__(self) -> None:
        self.led: dict[int, str] = {}

    async def answered(self, run: Any, job: Job) -> Sequence[JobResult]:
        try:
            return await super().answered(run, job)
        except Elsewhere as error:
            self.led[job.number] = error.host
            return ()


async def answer(group: Group) -> Answered:
    """Do a group on this machine."""
    task, backend = Task(group.spec), _Held()
    if task.operations[0].kind == "record":
        return Answered([result async for some in backend.run(task, group.jobs) for result in some])
    results: list[JobResult] = []
    async with keeping() as kept, Fetcher(affordable_settings(group.spec.options)) as fetcher:
        for host, known in group.known.items():
            fetcher.take(host, known)
        fetcher.keep_to(group.known.keys())
        window = min(len(group.jobs), 4 * int(group.spec.options["concurrency"]))
        async with aclosing(backend.stream(task, Listed(group.jobs), fetcher, window)) as found:
            async for some in found:
                results += some
        learnt = {host: fetcher.known_of(host) for host in group.known}
        return Answered(results, backend.led, learnt, kept.copies)


def travelling(task: Task, jobs: Sequence[Job]) -> tuple[list[Job], list[JobResult]]:
    """Return jobs with the content of files and archives here, and results for those that cannot be read."""
    operation, limit = task.operations[0], int(task.spec.options["max_download"])
    ready: list[Job] = []
    unreadable: list[JobResult] = []
    with Reader() as archives:
        for job in jobs:
            fetched = None
            try:
                if isinstance(job.subject, ArchivedPage):
                    record, failed = archives.page(job.subject, operation.subject, limit)
                    if failed is not None and failed.key != "status":  # an error page is read like another
                        fetched = where_it_ended(failed, record.fetched)
                        raise failed
                    body = record.body if failed is None else failed.content or b""
                    job = replace(job, subject=replace(record, body=body))
                elif isinstance(job.subject, Path):
                    content = file_content(job.subject, operation.subject, limit)
                    page = PageRecord(str(job.subject), content)
                    job = replace(job, subject=page if operation.kind == "page" else content)
                ready.append(job)
            except RowError as error:
                unreadable.append(task.failed(job, error, fetched))
    return ready, unreadable
