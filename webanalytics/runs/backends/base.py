"""The protocol of backends, which answer a call's jobs.

`webanalytics.runs.run` makes a `Task` of each call and hands its jobs to a backend. Those that are known in
advance are fetched in the order of `interleave`, and answered as they arrive.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable
from urllib.parse import urlsplit

from webanalytics.core.outcomes import Fetched, Job, JobResult, Outcome
from webanalytics.errors import ParameterError, RowError
from webanalytics.operations import DECLARED, Operation
from webanalytics.urls import lacks_scheme

if TYPE_CHECKING:
    from webanalytics.fetching import Fetcher

LOCAL_FAMILY = "local"
"""Family of the backends that run this package's own analyses, wherever that is."""
WAVE = 100
"""Most jobs that a backend is asked for at once which takes whole lists alone."""


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What a run does with every job, in plain values: it pickles and, without a secret, is JSON."""

    operations: tuple[str, ...]  # names of the operations: one, or those of an audit
    settings: Mapping[str, Mapping[str, Any]]  # checked settings by operation name
    # the run's options, except those for the calling process (backend, checkpoint, progress)
    options: Mapping[str, Any] = field(default_factory=dict)
    given: tuple[str, ...] = ()  # options given in the call itself
    identity: str = ""  # the same for a run and those that resume it: requests can be recognised by it
    resumable: bool = False  # whether there is a checkpoint, so that a later run may continue this one
    # name of an operation whose outcomes are not kept with those of the others: see `JobResult.apart`
    apart: str = ""


@dataclass(slots=True)
class Report:
    """What a backend reports about a run besides its results."""

    used: int = 0  # credits that were charged for this run's answers
    left: int | None = None  # credits left on the account, as last reported
    credits_needed: int = 0  # credits that the unsent inputs would need
    stop_reason: str = ""  # why some inputs were not sent; empty if all were
    # premium fields that the account's plan does not include
    premium_missing: set[str] = field(default_factory=set)
    # hosts that were asked less or given up: columns of `webanalytics.runs.frames.link_table.HOSTS`
    hosts: list[dict[str, Any]] = field(default_factory=list)
    note: Callable[[str], None] = lambda _: None  # takes a few words that are shown next to the progress bar


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it is written down before it is sent."""

    key: str  # its Idempotency-Key
    operation: str  # name of the operation
    numbers: tuple[int, ...]  # numbers of its jobs, in order
    salt: tuple[int, ...]  # what the key was made with besides the inputs, to check that they are the same
    alone: bool  # whether it was no batch

    def of(self, numbers: tuple[int, ...]) -> Sent:
        """Return the same request for the jobs of another run."""
        return replace(self, numbers=numbers)


class Journal(Protocol):
    """What was sent under which key: kept by a run with a checkpoint, written by a priced backend."""

    def pending(self) -> Sequence[Sent]:
        """Return the requests of earlier runs whose answers are not known."""

    def is_used(self, key: str) -> bool:
        """Return whether an earlier run has sent a request under a key."""

    async def sending(self, sent: Sent) -> None:
        """Write down a request; when this returns, it may be sent."""

    def answered(self, key: str) -> None:
        """Note that what a request gave is in the checkpoint."""


@dataclass(frozen=True, slots=True)
class Task:
    """One run as its backend sees it: its specification, which can be sent elsewhere, and where to report.

    A run in several calls of the backend has a fetcher, which knows how fast hosts were asked before.
    """

    spec: RunSpec
    report: Report = field(default_factory=Report)
    journal: Journal | None = None
    fetcher: Fetcher | None = None

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The declarations of the run's operations."""
        return tuple(DECLARED[name] for name in self.spec.operations)

    def failed(self, job: Job, error: RowError, fetched: Fetched | None = None) -> JobResult:
        """Return the result of a job that failed as a whole."""
        several = len(self.spec.operations) - bool(self.spec.apart)
        return JobResult(job.number, (Outcome.failed(error),) * several, fetched)


def refuse_saving(options: Mapping[str, Any], where: str) -> None:
    """Raise `ParameterError` for what needs pages to be fetched here: saving, and secrets of hosts."""
    for name, why in _STAYS_HERE.items():
        if options.get(name) is not None:
            raise ParameterError.must_be(name, f"left out {where}: {why}")


_STAYS_HERE = {
    "archive": "pages are saved where they are fetched on this machine",
    "proxy": "it is for pages that this machine fetches",
    "access": "passwords, tokens and cookies do not leave this machine",
    "bot_key": "keys do not leave this machine",
}


class JobSource(Protocol):
    """Jobs that are not known in advance: what is answered decides what comes next."""

    async def next(self, *, wait: bool = True) -> Job | None:
        """Return the next job, or wait for one; None after the last, and instead of waiting."""


@runtime_checkable
class Backend(Protocol):
    """Where the work is done; what `backend=` and `webanalytics.use` accept."""

    name: str  # name of the backend in frames and messages
    # backends of one family give the same answers, and can resume each other's checkpoints
    family: str = LOCAL_FAMILY
    priced: bool = False  # whether answers cost credits
    # whether each group of results is written to the checkpoint before further work begins
    durable: bool = False

    def serves(self, operation: Operation) -> bool:  # noqa: ARG002 - for services
        """Return whether this backend answers an operation; a service does not send facts of pages."""
        return True

    def price(self, operation: Operation) -> int:  # noqa: ARG002 - for services
        """Return the credits of one success."""
        return 0

    def check(self, task: Task) -> None:
        """Raise `ParameterError` for a task that this backend cannot do, before any work."""

    def run(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[JobResult], None]:
        """Yield the results in groups, as they arrive; every job gets all the outcomes it needs."""

    def stream(
        self,
        task: Task,
        source: JobSource,
        fetcher: Fetcher,  # noqa: ARG002 - for backends that fetch from here
        window: int,  # noqa: ARG002 - for backends that have many jobs under way at once
    ) -> AsyncGenerator[Sequence[JobResult], None]:
        """Yield the results of a crawl's jobs, which become known one by one; by default in waves of `run`.

        `fetcher` is that of the crawl: it is polite to each host. So many jobs as `window` says may be under
        way at once.
        """
        return in_waves(self, task, source)


PARTS = tuple(name for name in Backend.__annotations__ | vars(Backend) if name[0] != "_" and name != "stream")
"""What an object must have to be a backend; without `stream` it crawls in waves."""


def streams(backend: Backend) -> bool:
    """Return whether a backend takes jobs one by one: whether what defines its `run` also has a `stream`."""
    defined = (vars(item).keys() & {"run", "stream"} for item in type(backend).__mro__)
    return "stream" in next(filter(None, defined), ())


async def in_waves(
    backend: Backend, task: Task, source: JobSource
) -> AsyncGenerator[Sequence[JobResult], None]:
    """Yield the results of jobs that become known, from calls of `run` with all that are known by then."""
    while not task.report.stop_reason and (job := await source.next()) is not None:
        jobs = [job]
        while len(jobs) < WAVE and (job := await source.next(wait=False)) is not None:
            jobs.append(job)
        async with aclosing(backend.run(task, jobs)) as groups:
            async for group in groups:
                yield group


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
