"""`Dask`, the backend that users make; runs begin here."""

from __future__ import annotations

import os
import weakref
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from types import TracebackType
from typing import Any, Self

from webanalytics.backends.base import LOCAL_FAMILY, JobSource, Task, refuse_saving
from webanalytics.backends.dask.cluster import Cluster, distributed
from webanalytics.backends.dask.steering import Steering
from webanalytics.backends.local import Listed, LocalBackend, affordable_settings
from webanalytics.errors import BackendError, ParameterError
from webanalytics.fetching import Fetcher
from webanalytics.operations import Operation
from webanalytics.operations.secret import Secret
from webanalytics.outcomes import Job, JobResult

CONNECT_SECONDS = 20
THREADS = 4
"""Threads of a worker of a local cluster: each waits for the network most of the time."""


class Dask:
    """Answers on a Dask cluster.

    Use it as ``backend=`` of a call, or for all calls with `webanalytics.use`. Frames are the same as on this
    machine. Needs the extra ``dask``; the cluster needs this package, in the same version.

    Parameters
    ----------
    client : distributed.Client or str, optional
        A client that is not asynchronous, or the address of a scheduler, such as ``tcp://scheduler:8786``.
        Without it, a cluster of processes is started on this machine, and closed with the backend.
    chunk : int, default 10
        Most pages or images of one task, from 1 to 1000: what is lost when a worker dies.

    Raises
    ------
    ParameterError
        For anything but a client or an address, and for an asynchronous client.
    BackendError
        If Dask is not installed, or no scheduler answers at the address.

    Notes
    -----
    At most one task with pages of a host is under way at a time; its pace and the rules of its robots.txt
    travel with the tasks. So `delay` and `per_host` hold for the whole cluster, and robots.txt is asked for
    once. `concurrency` and `workers`, the processes for analysis, are those of one task. A call with a secret
    is answered on this machine: what is sent to a cluster can end in its logs.

    With an address such as ``s3://bucket/folder`` as `save_to`, workers write the rows of their pages there
    and send back only where they are.

    A task whose worker dies is not repeated as it is: its inputs are asked for one by one, and one that has
    ended three workers is a row with an error.

    Examples
    --------
    >>> import webanalytics as wa
    >>> with wa.Dask() as cluster:  # doctest: +SKIP
    ...     wa.metadata(["https://example.org/"], backend=cluster)
    """

    name = "dask"
    family = LOCAL_FAMILY
    priced = False
    durable = False

    def __init__(self, client: Any = None, *, chunk: int = 10) -> None:
        if not isinstance(chunk, int) or isinstance(chunk, bool) or not 1 <= chunk <= 1000:
            raise ParameterError("The `chunk` parameter must be an integer from 1 to 1000.", "chunk")
        owned: list[Any] = []
        if client is None:
            client, cluster = _local()
            owned = [client, cluster]
        elif isinstance(client, str):
            client = _connected(client)
            owned = [client]
        elif not hasattr(client, "submit") or not hasattr(client, "nthreads"):
            raise ParameterError(
                "The `client` parameter must be a distributed.Client, the address of a scheduler such as "
                "tcp://scheduler:8786, or None for a cluster on this machine.",
                "client",
            )
        elif client.asynchronous:
            raise ParameterError(
                "The `client` parameter must be a client that is not asynchronous.", "client"
            )
        self.client = client
        self._chunk = chunk
        self._cluster = Cluster(client)
        self._finalizer = weakref.finalize(self, _closed, self._cluster, owned)

    def __repr__(self) -> str:
        return f"Dask({self.client!r})"

    def close(self) -> None:
        """Close what was opened here: the local cluster, the connection to an address; not a given client."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def serves(self, operation: Operation) -> bool:  # noqa: ARG002 - the protocol's
        """Return True: its workers have this package."""
        return True

    def price(self, operation: Operation) -> int:  # noqa: ARG002 - the protocol's
        """Return 0."""
        return 0

    def check(self, task: Task) -> None:
        """Raise `ParameterError` if the backend or its client is closed, and where pages are to be saved."""
        if not self._finalizer.alive or getattr(self.client, "status", "running") == "closed":
            raise ParameterError(
                "The `backend` parameter must be a Dask backend that is not closed.", "backend"
            )
        refuse_saving(task.spec.options, "with a Dask cluster")

    async def run(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[JobResult], None]:
        """Yield the results chunk by chunk, in the order they are finished."""
        async with (
            Fetcher(affordable_settings(task.spec.options)) as fetcher,
            aclosing(self.stream(task, Listed(jobs), fetcher, len(jobs))) as groups,
        ):
            async for group in groups:
                yield group

    async def stream(
        self,
        task: Task,
        source: JobSource,
        fetcher: Fetcher,
        window: int,  # noqa: ARG002 - the cluster's threads say how many jobs are under way at once
    ) -> AsyncGenerator[Sequence[JobResult], None]:
        """Yield the results of jobs as they become known; what is learnt of hosts stays with the fetcher."""
        given = (value for settings in task.spec.settings.values() for value in settings.values())
        if any(isinstance(value, Secret) for value in given):
            jobs = [job async for job in _all(source)]
            results = LocalBackend().run(task, jobs)
        else:
            results = self._steered(task, source, fetcher)
        async with aclosing(results) as groups:
            async for group in groups:
                yield group

    async def _steered(
        self, task: Task, source: JobSource, fetcher: Fetcher
    ) -> AsyncGenerator[Sequence[JobResult], None]:
        steering = Steering(task, source, fetcher, self._cluster, self._chunk)
        async with (
            self._cluster.followed(steering.topic, steering.told),
            aclosing(steering.results()) as groups,
        ):
            async for group in groups:
                yield group


async def _all(source: JobSource) -> AsyncGenerator[Job, None]:
    while (job := await source.next()) is not None:
        yield job


def _connected(address: str) -> Any:
    dask = distributed()
    try:
        return dask.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BackendError(f"no Dask scheduler answers at {address}: {error}") from None


def _local() -> tuple[Any, Any]:
    """Start a cluster on this machine: one worker for each processor, each a process with its own keeper."""
    dask = distributed()
    cluster = dask.LocalCluster(
        n_workers=os.cpu_count() or 1, threads_per_worker=THREADS, dashboard_address=":0"
    )
    return dask.Client(cluster, set_as_default=False), cluster


def _closed(cluster: Cluster, owned: list[Any]) -> None:
    cluster.close()
    for item in owned:
        with suppress(Exception):  # the cluster may have gone
            item.close()
