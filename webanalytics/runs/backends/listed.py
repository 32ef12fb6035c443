"""Jobs that are known in advance in the order in which they are fetched, and answers as they arrive."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from typing import TypeVar
from urllib.parse import urlsplit

from webanalytics.core.outcomes import Job
from webanalytics.urls import lacks_scheme

T = TypeVar("T")


def host_of(job: Job) -> str:
    """Return the host that a job is fetched from, "" if nothing is fetched or the URL is malformed."""
    try:
        if not isinstance(job.subject, str):
            return ""
        return urlsplit(f"//{job.subject}" if lacks_scheme(job.subject) else job.subject).netloc
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
        queues[host_of(job)].append(job)
    waiting = deque(queues.values())
    while waiting:
        queue = waiting.popleft()
        yield queue.popleft()
        if queue:
            waiting.append(queue)


async def merged(sources: Sequence[AsyncIterator[T]]) -> AsyncGenerator[T, None]:
    """Yield what all sources yield, as it arrives; they run concurrently and end together."""
    ready: asyncio.Queue[tuple[T] | BaseException | None] = asyncio.Queue()

    async def pull(source: AsyncIterator[T]) -> None:
        try:
            async for item in source:
                ready.put_nowait((item,))
        except Exception as error:  # handed to the consumer below
            ready.put_nowait(error)
        else:
            ready.put_nowait(None)

    tasks = [asyncio.create_task(pull(source)) for source in sources]
    try:
        running = len(tasks)
        while running:
            found = await ready.get()
            if isinstance(found, BaseException):
                raise found
            if found is None:
                running -= 1
            else:
                yield found[0]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Listed:
    """Jobs that are known in advance, the hosts in turn."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = interleave(jobs)

    async def next(self, *, wait: bool = True) -> Job | None:  # noqa: ARG002 - the protocol's
        """Return the next job."""
        return next(self._jobs, None)
