"""Which jobs may go out next: at most one chunk with jobs of a host is under way.

`steering` asks `Lanes` for chunks. It knows no clock and no network: times are given to it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from heapq import heappop, heappush
from math import ceil

from webanalytics.outcomes import Job, PageRecord, TextRecord

MOST_TRIES = 3
"""Workers that may end over one job before the job is blamed."""
CHUNK_SECONDS = 10.0
"""A chunk of a host that is asked once in some seconds takes about this long at most."""
CHUNK_BYTES = 4_000_000
"""Content that travels with a chunk, from which on it gets no further job."""


class Lanes:
    """Jobs by host.

    Parameters
    ----------
    size : int
        Most jobs of a chunk.
    delay : float
        Seconds between two requests to a host.

    Examples
    --------
    >>> lanes = Lanes(2)
    >>> for number in range(3):
    ...     lanes.add(Job(number, f"http://a.example/{number}"), "a.example")
    >>> hosts, jobs = lanes.chunk(now=0.0, free=1)
    >>> hosts, [job.number for job in jobs]
    (['a.example'], [0, 1])
    >>> lanes.chunk(now=0.0, free=1)
    ([], [])
    >>> lanes.free(hosts[0], not_before=0.0)
    >>> [job.number for job in lanes.chunk(now=0.0, free=1)[1]]
    [2]
    """

    def __init__(self, size: int, delay: float = 0.0) -> None:
        self._size = size
        self._at_once = max(1, min(size, int(CHUNK_SECONDS / delay))) if delay > 0 else size
        self._jobs: defaultdict[str, deque[Job]] = defaultdict(deque)
        self._ready: deque[str] = deque()
        self._later: list[tuple[float, str]] = []
        self._busy: set[str] = set()
        self._not_before: dict[str, float] = {}
        self._hostless: deque[Job] = deque()
        self._tries: dict[int, int] = {}
        self.waiting = 0

    def add(self, job: Job, host: str) -> None:
        """Take a job: of a host, or of none, "", if it needs no request."""
        self.waiting += 1
        if not host:
            self._hostless.append(job)
            return
        lane = self._jobs[host]
        lane.append(job)
        if len(lane) == 1 and host not in self._busy:
            self._queue(host)

    def next_moment(self) -> float | None:
        """Return when the next host may be asked again that is waited for."""
        return self._later[0][0] if self._later else None

    def chunk(self, now: float, free: int) -> tuple[list[str], list[Job]]:
        """Return the hosts and the jobs of the next chunk; there are none if all hosts are busy.

        Parameters
        ----------
        now : float
            The present.
        free : int
            How many chunks are wanted: hosts share one where there are more of them.
        """
        while self._later and self._later[0][0] <= now:
            self._ready.append(heappop(self._later)[1])
        if self._hostless:
            return [], self._taken(self._hostless, self._size)
        hosts: list[str] = []
        jobs: list[Job] = []
        together = min(self._size, max(1, ceil(len(self._ready) / max(1, free))))
        while self._ready and len(hosts) < together:
            host = self._ready[0]
            lane = self._jobs[host]
            if self._is_suspect(lane[0]) and jobs:
                break
            self._ready.popleft()
            self._busy.add(host)
            hosts.append(host)
            jobs += self._taken(lane, max(1, min(self._at_once, self._size // together)))
            if self._is_suspect(jobs[-1]):
                break
        return hosts, jobs

    def free(self, host: str, not_before: float) -> None:
        """Say that a host's jobs are done, and when it may be asked again."""
        self._busy.discard(host)
        self._not_before[host] = not_before
        if self._jobs.get(host):
            self._queue(host)
        else:
            self._jobs.pop(host, None)

    def lost(self, jobs: Sequence[Job], hosts: dict[int, str]) -> list[Job]:
        """Take back the jobs of a chunk whose worker has ended; return those that have ended too many.

        Each of the others goes out alone, so that one that ends its workers takes no other with it.
        """
        blamed = []
        for job in reversed(jobs):
            self._tries[job.number] = self._tries.get(job.number, 0) + 1
            if self._tries[job.number] >= MOST_TRIES:
                blamed.append(job)
                continue
            self.waiting += 1
            host = hosts[job.number]
            (self._jobs[host] if host else self._hostless).appendleft(job)
        return blamed

    def _is_suspect(self, job: Job) -> bool:
        return job.number in self._tries

    def _taken(self, lane: deque[Job], most: int) -> list[Job]:
        """Take jobs from a lane; one that has ended a worker goes alone."""
        jobs = [lane.popleft()]
        size = _weight(jobs[0])
        while lane and len(jobs) < most and size < CHUNK_BYTES:
            if self._is_suspect(jobs[0]) or self._is_suspect(lane[0]):
                break
            jobs.append(lane.popleft())
            size += _weight(jobs[-1])
        self.waiting -= len(jobs)
        return jobs

    def _queue(self, host: str) -> None:
        moment = self._not_before.pop(host, 0.0)
        if moment > 0.0:
            heappush(self._later, (moment, host))
        else:
            self._ready.append(host)


def _weight(job: Job) -> int:
    """Return how many bytes of content travel with a job, about."""
    content = job.subject
    if isinstance(content, PageRecord):
        content = content.body
    elif isinstance(content, TextRecord):
        content = content.text
    return len(content) if isinstance(content, (bytes, str)) else 0
