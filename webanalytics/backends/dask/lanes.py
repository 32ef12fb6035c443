"""Which jobs may go out next: at most one chunk with jobs of a host is under way.

`steering` asks `Lanes` for chunks. It knows no clock and no network: times are given to it.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from heapq import heappop, heappush
from math import ceil

from webanalytics.outcomes import Job, PageRecord, TextRecord

MOST_TRIES = 3
"""Workers that may end over one job before the job is blamed."""
CHUNK_SECONDS = 10.0
"""A chunk of a host that is asked once in some seconds takes about this long at most."""
MOST_TOGETHER = 8
"""Hosts that are asked as one because pages of one lead to another."""
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
        self._busy: Counter[str] = Counter()
        self._lane_of: dict[str, str] = {}
        self._members: dict[str, set[str]] = {}
        self._wandering: set[str] = set()
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
        host = self._lane(host)
        lane = self._jobs[host]
        lane.append(job)
        if len(lane) == 1:
            self._queue(host)

    def next_moment(self) -> float | None:
        """Return when the next host may be asked again that is waited for."""
        return self._later[0][0] if self._later else None

    def chunk(self, now: float, free: int) -> tuple[list[str], list[Job]]:
        """Return the lanes and the jobs of the next chunk; there are none if all hosts are busy.

        A lane has the name of its host, or of one of them: see `members`.

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
            lane = self._jobs.get(host)
            if not lane or self._busy[host]:  # it has joined another since, or stands here twice
                self._ready.popleft()
                continue
            if self._is_suspect(lane[0]) and jobs:
                break
            self._ready.popleft()
            self._busy[host] += 1
            hosts.append(host)
            jobs += self._taken(lane, max(1, min(self._at_once, self._size // together)))
            if self._is_suspect(jobs[-1]):
                break
        return hosts, jobs

    def free(self, host: str, not_before: float) -> None:
        """Say that a lane's jobs are done, and when its hosts may be asked again."""
        host = self._lane(host)
        self._busy[host] -= 1
        self._not_before[host] = max(not_before, self._not_before.get(host, 0.0))
        if self._jobs.get(host):
            self._queue(host)
        else:
            self._jobs.pop(host, None)
            if not self._busy[host]:
                del self._busy[host]

    def members(self, lane: str) -> set[str]:
        """Return the hosts of a lane."""
        return self._members.get(lane, {lane})

    def keeps_to_hosts(self, lanes: Sequence[str]) -> bool:
        """Return whether pages of these lanes that lead to further hosts come back."""
        return not self._wandering.intersection(map(self._lane, lanes))

    def led(self, job: Job, host: str, other: str) -> None:
        """Take back a job whose page leads to another host: from now on both are one lane.

        A host that leads to very many others, as one for short addresses does, is let go there instead.
        """
        lane, joining = self._lane(host), self._lane(other)
        hosts = self.members(lane) | self.members(joining)
        if len(hosts) > MOST_TOGETHER:
            self._wandering.add(lane)
        elif lane != joining:
            self._join(lane, joining, hosts)
        self.waiting += 1
        self._jobs[lane].appendleft(job)
        self._queue(lane)

    def _join(self, lane: str, joining: str, hosts: set[str]) -> None:
        self._members[lane] = hosts
        self._members.pop(joining, None)
        for host in hosts:
            self._lane_of[host] = lane
        self._jobs[lane].extend(self._jobs.pop(joining, ()))
        self._busy[lane] += self._busy.pop(joining, 0)
        if joining in self._wandering:
            self._wandering.add(lane)
        moment = max(self._not_before.pop(joining, 0.0), self._not_before.get(lane, 0.0))
        if moment:
            self._not_before[lane] = moment

    def _lane(self, host: str) -> str:
        return self._lane_of.get(host, host)

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
            host = self._lane(hosts[job.number])
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
        if self._busy[host]:
            return
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
