"""A Dask cluster as a backend: `Dask` is what a user makes; runs begin here."""

from __future__ import annotations

import asyncio
import math
import os
import uuid
import weakref
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import replace
from typing import Any, Self

from webanalytics._version import __version__
from webanalytics.core.operations.secret import Secret
from webanalytics.core.outcomes import Job, JobResult
from webanalytics.errors import BackendError, ParameterError, RowError, whole_number
from webanalytics.fetching import Fetcher
from webanalytics.fetching.robots import keep
from webanalytics.runs.backends.base import Backend, RunSpec, Task, refuse_saving
from webanalytics.runs.backends.dask_groups import (
    Answered,
    Group,
    attempt,
    distributed,
    grouped,
    host_of,
    travelling,
)
from webanalytics.runs.backends.local import LocalBackend, affordable_settings

CONNECT_SECONDS = 20
COUNT_SECONDS = 5.0
"""How often the threads of the cluster are counted: workers come and go."""
RECORDS = 2_000
"""Most records of a group: each takes microseconds."""
THREADS = 4
"""Threads of a worker of a local cluster: each waits for the network most of the time."""


class Dask(Backend):
    """Answers on a Dask cluster.

    Use it as ``backend=`` of a call, or for all calls with `webanalytics.use`. Frames are the same as on this
    machine. Needs the extra ``dask``; the cluster needs this package, in the same version.

    Parameters
    ----------
    client : distributed.Client or str, optional
        A client that is not asynchronous, or the address of a scheduler, such as ``tcp://scheduler:8786``.
        Without it, a cluster of processes is started on this machine, and closed with the backend.
    chunk : int, default 100
        Most pages or images of one task, from 1 to 1000, unless they are of one host: those are never
        divided.

    Raises
    ------
    ParameterError
        For anything but a client or an address, and for an asynchronous client.
    BackendError
        If Dask is not installed, or no scheduler answers at the address.

    Notes
    -----
    All pages of a host are in one task, so `delay` and `per_host` hold for the whole cluster, and robots.txt
    is asked for once. Pages that lead to another host wait until nobody asks that one. Rows come task by
    task. `concurrency` and `workers`, the processes for analysis, are those of one task. A call with a secret
    is answered on this machine: what is sent to a cluster can end in its logs.

    A task whose worker dies is done again; after the third time its inputs are asked for one by one, and one
    that ends its workers alone is a row with an error.

    Examples
    --------
    >>> import webanalytics as wa
    >>> with wa.Dask() as cluster:  # doctest: +SKIP
    ...     wa.metadata(["https://example.org/"], backend=cluster)
    """

    name = "dask"

    def __init__(self, client: Any = None, *, chunk: int = 100) -> None:
        whole_number("chunk", chunk, 1, 1000)
        owned: list[Any] = []
        if client is None:
            owned = _local()
            client = owned[0]
        elif isinstance(client, str):
            client = _connected(client)
            owned = [client]
        elif not hasattr(client, "submit") or not hasattr(client, "nthreads"):
            raise ParameterError.must_be(
                "client",
                "a distributed.Client, the address of a scheduler such as tcp://scheduler:8786, or None "
                "for a cluster on this machine",
            )
        elif client.asynchronous:
            raise ParameterError.must_be("client", "a client that is not asynchronous")
        self.client = client
        self._chunk = chunk
        self._finalizer = weakref.finalize(self, _closed, owned)

    def __repr__(self) -> str:
        return f"Dask({self.client!r})"

    def close(self) -> None:
        """Close what was opened here: the local cluster, the connection to an address; not a given client."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def check(self, task: Task) -> None:
        """Raise `ParameterError` if the backend or its client is closed, and where pages are to be saved."""
        if not self._finalizer.alive or getattr(self.client, "status", "running") == "closed":
            raise ParameterError.must_be("backend", "a Dask backend that is not closed")
        refuse_saving(task.spec.options, "with a Dask cluster")

    async def run(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[JobResult], None]:
        """Yield the results group by group, in the order they are finished."""
        given = (value for settings in task.spec.settings.values() for value in settings.values())
        async with AsyncExitStack() as stack:
            if any(isinstance(value, Secret) for value in given):  # no secret leaves this process
                results = LocalBackend().run(task, jobs)
            else:
                fetcher = task.fetcher or Fetcher(affordable_settings(task.spec.options))
                if task.fetcher is None:
                    await stack.enter_async_context(fetcher)
                results = self._rounds(task, jobs, fetcher)
            async for group in await stack.enter_async_context(aclosing(results)):
                yield group

    async def _rounds(
        self, task: Task, jobs: Sequence[Job], fetcher: Fetcher
    ) -> AsyncGenerator[Sequence[JobResult], None]:
        """Yield results; pages that lead to other hosts wait until nobody asks those any more."""
        options, operation = task.spec.options, task.operations[0]
        spec = replace(task.spec, options={**options, "workers": options["workers"] or 1})
        hosts: dict[int, set[str]] = {job.number: set() for job in jobs}
        for job in jobs if operation.kind != "record" else ():
            hosts[job.number].update({host_of(job.subject, options, page=operation.kind == "page")} - {""})
        left = {job.number: job for job in jobs}
        while left:
            asked, left = left, {}
            most = RECORDS
            if operation.kind != "record":  # there are to be two groups for each thread
                most = min(self._chunk, math.ceil(len(asked) / (2 * max(1, await self._threads()))))
            groups = deque(grouped(((job, hosts[number]) for number, job in asked.items()), most))
            async with aclosing(self._answers(task, spec, groups, fetcher)) as answers:
                async for answered in answers:
                    for host, known in answered.known.items():
                        fetcher.take(host, known)
                    for origin, copy in answered.robots.items():
                        keep(origin, copy)
                    for number, host in answered.led.items():
                        hosts[number].add(host)
                        left[number] = asked[number]
                    yield answered.results
        task.report.hosts = [row for row in fetcher.hosts() if row["note"]]

    async def _threads(self) -> int:
        """Return how many tasks the cluster runs at once; none while the scheduler does not answer."""
        try:
            found = await asyncio.to_thread(self.client.nthreads)
        except Exception:  # what is under way will say why
            return 0
        return sum(found.values())

    async def _answers(
        self, task: Task, spec: RunSpec, groups: deque[tuple[list[Job], set[str]]], fetcher: Fetcher
    ) -> AsyncGenerator[Answered, None]:
        """Yield answers as they arrive, with a few more groups under way than there are threads."""
        under_way: set[asyncio.Task[list[Answered]]] = set()
        try:
            while groups or under_way:
                room = 2 * (await self._threads()) if groups else 0
                task.report.note("" if room or not groups else "waiting for workers of the Dask cluster")
                while groups and len(under_way) < max(1, room):
                    jobs, hosts = groups.popleft()
                    ready, unreadable = await asyncio.to_thread(travelling, task, jobs)
                    if unreadable:
                        yield Answered(unreadable)
                    if ready:
                        known = {host: fetcher.known_of(host) for host in hosts}
                        under_way.add(asyncio.create_task(self._ask(task, Group(spec, ready, known))))
                if not under_way:
                    continue
                done, under_way = await asyncio.wait(
                    under_way, timeout=COUNT_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                for answered in (found for one in done for found in one.result()):
                    yield answered
        finally:
            for one in under_way:
                one.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _ask(self, task: Task, group: Group) -> list[Answered]:
        """Have a group done; of one whose workers end again and again, each job is done alone."""
        answered = await self._submitted(group)
        if answered is not None:
            return [answered]
        if len(group.jobs) > 1:
            return [one for job in group.jobs for one in await self._ask(task, replace(group, jobs=[job]))]
        error = RowError("analysis_died", parameter=task.operations[0].subject)
        return [Answered([task.failed(group.jobs[0], error)])]

    async def _submitted(self, group: Group) -> Answered | None:
        """Have a group done, again if its worker ends; None for one that has ended too many."""
        dask, loop = distributed(), asyncio.get_running_loop()
        done = asyncio.Event()

        def tell(_: Any) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(done.set)

        future = self.client.submit(attempt, group, key=f"webanalytics-{uuid.uuid4().hex}", pure=False)
        try:
            future.add_done_callback(tell)
            await done.wait()
            answered: Answered | None = await asyncio.to_thread(future.result)
        except dask.KilledWorker:
            return None
        except Exception as error:
            raise BackendError(f"the Dask cluster did not finish a group of inputs: {error}") from error
        finally:
            future.release()  # also ends it, if it is still under way
        if answered is None:
            raise BackendError("the Dask cluster has given up a group of inputs.")
        if answered.version != __version__:
            raise BackendError(
                f"the workers of the Dask cluster have webanalytics {answered.version}, and this machine has "
                f"{__version__}: install the same version."
            )
        return answered


def _connected(address: str) -> Any:
    try:
        return distributed().Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BackendError(f"no Dask scheduler answers at {address}: {error}") from None


def _local() -> list[Any]:
    """Start a cluster on this machine: one worker for each processor, each a process."""
    dask = distributed()
    cluster = dask.LocalCluster(
        n_workers=os.cpu_count() or 1, threads_per_worker=THREADS, dashboard_address=":0"
    )
    return [dask.Client(cluster, set_as_default=False), cluster]


def _closed(owned: list[Any]) -> None:
    for item in owned:
        with suppress(Exception):  # the cluster may have gone
            item.close()
