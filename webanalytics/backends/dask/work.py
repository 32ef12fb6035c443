"""What runs on a worker of the cluster: one chunk of jobs, by the backend of one machine.

`steering` sends a `Chunk` and gets an `Answered`; both travel, so they are plain values.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from webanalytics._version import __version__
from webanalytics.backends.base import Keep, RunSpec, Task
from webanalytics.backends.local import Listed, LocalBackend, affordable_settings
from webanalytics.fetching import Fetcher
from webanalytics.fetching.carried import Elsewhere, HostKnown
from webanalytics.fetching.robots_kept import RobotsCopy, keeping
from webanalytics.outcomes import Job, JobResult

LOOK_SECONDS = 0.25
"""How often a chunk looks whether it is still wanted."""
TELL_SECONDS = 0.2
"""Shortest time between two reports of a chunk on how many of its jobs are done."""


@dataclass(frozen=True, repr=False)
class Chunk:
    """Jobs that one worker does, and what is known of their hosts.

    Attributes
    ----------
    name : str
        Its name on the cluster; nothing of its jobs.
    spec : RunSpec
        What is done with every job; without a secret.
    jobs : sequence of Job
        Never two chunks at a time with jobs of one host.
    known : Mapping
        What is known of each host that it may ask.
    keeps_to_hosts : bool
        Whether pages that lead to further hosts are left to the client.
    keep : callable, optional
        Writes the results here; without jobs it does other work on what is written.
    """

    name: str
    spec: RunSpec
    jobs: Sequence[Job]
    known: Mapping[str, HostKnown] = field(default_factory=dict)
    keeps_to_hosts: bool = True
    keep: Keep | None = None

    def __repr__(self) -> str:
        """Return what logs may show: no address, no text."""
        return f"<{len(self.jobs)} jobs of {self.name}>"


@dataclass(frozen=True, repr=False)
class Answered:
    """What a worker sends back.

    Attributes
    ----------
    results : sequence of JobResult
        One for each job that did not lead elsewhere.
    led : Mapping
        By number of a job the host that it leads to, which the worker may not ask.
    known : Mapping
        What is now known of each host.
    robots : Mapping
        The robots.txt that were read, by origin.
    version : str
        Version of this package on the worker.
    """

    results: Sequence[JobResult]
    known: Mapping[str, HostKnown] = field(default_factory=dict)
    robots: Mapping[str, RobotsCopy] = field(default_factory=dict)
    led: Mapping[int, str] = field(default_factory=dict)
    version: str = __version__

    def __repr__(self) -> str:
        """Return what logs may show."""
        return f"<{len(self.results)} results>"


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


class Unwanted(Exception):  # noqa: N818 - seen by nobody: who would has gone
    """The client has gone, or does not want the chunk any more."""


def answer(
    chunk: Chunk, wanted: Callable[[], bool] = lambda: True, tell: Callable[[int], None] = lambda _: None
) -> Answered:
    """Do a chunk, in a thread of a worker.

    Parameters
    ----------
    chunk : Chunk
        What to do.
    wanted : callable
        Returns whether the chunk is still wanted; if not, it ends within `LOOK_SECONDS`.
    tell : callable
        Takes how many jobs are done.

    Raises
    ------
    Unwanted
        When it was not.
    """
    return asyncio.run(_watched(chunk, wanted, tell))


async def _watched(chunk: Chunk, wanted: Callable[[], bool], tell: Callable[[int], None]) -> Answered:
    work = asyncio.create_task(_answered(chunk, tell))
    try:
        while not (await asyncio.wait([work], timeout=LOOK_SECONDS))[0]:
            if not wanted():
                raise Unwanted
        return work.result()
    finally:
        work.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await work


async def _answered(chunk: Chunk, tell: Callable[[int], None]) -> Answered:
    if chunk.keep is None:
        return await _done(chunk, tell)
    answered = await _done(chunk, tell) if chunk.jobs else Answered(())
    return replace(answered, results=await asyncio.to_thread(chunk.keep, answered.results))


async def _done(chunk: Chunk, tell: Callable[[int], None]) -> Answered:
    task, results = Task(chunk.spec), list[JobResult]()
    told = time.monotonic()
    if task.operations[0].kind == "record":
        async with aclosing(LocalBackend().run(task, chunk.jobs)) as groups:
            async for group in groups:
                results += group
        return Answered(results)
    async with keeping() as kept, Fetcher(affordable_settings(chunk.spec.options)) as fetcher:
        for host, known in chunk.known.items():
            fetcher.take(host, known)
        if chunk.keeps_to_hosts:
            fetcher.keep_to(chunk.known.keys())
        backend = _Held()
        stream = backend.stream(task, Listed(chunk.jobs), fetcher, len(chunk.jobs))
        async with aclosing(stream) as groups:
            async for group in groups:
                results += group
                if time.monotonic() - told >= TELL_SECONDS:
                    told = time.monotonic()
                    tell(len(results))
        learnt = {host: fetcher.known_of(host) for host in chunk.known}
        return Answered(results, learnt, kept.copies, backend.led)
