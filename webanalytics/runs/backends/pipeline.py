"""Fetch, wait for memory, analyse in a worker, name the failure: the middle of a call on a page or image.

`LocalBackend` and the service's engine both work through `Answering`.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from webanalytics.errors import RowError
from webanalytics.fetching import Fetcher, Response
from webanalytics.fetching.exchange_record import Asked
from webanalytics.operations import Operation
from webanalytics.runs.workers.pool import WorkerDiedError, WorkerPool

INFLIGHT_BYTES = 64_000_000
"""Bytes of content that may wait for a worker before further fetches are held back."""


AHEAD = 4
"""Pages for each worker that may be fetched and not analysed: a run that is killed loses them."""


class InflightBytes:
    """Bytes waiting for a worker; while they exceed the limit, nothing further is fetched.

    Parameters
    ----------
    limit : int
        Bytes.
    workers : int
        How many workers there are, for `ready`.
    """

    def __init__(self, limit: int, workers: int = 1) -> None:
        self._limit = limit
        self._workers = workers
        self._free = asyncio.Event()
        self._free.set()
        self._line: deque[asyncio.Future[None]] = deque()
        self.count = self.pages = 0

    async def wait(self) -> None:
        """Wait until the bytes are below the limit."""
        await self._free.wait()

    async def ready(self) -> None:
        """Wait until the workers need a further page.

        Where pages come faster than they are analysed, one is let through for each that is done; where
        workers are about to run dry, all are.
        """
        if self.pages < AHEAD * self._workers and not self._line:
            return
        turn = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        await turn

    def _call_in(self) -> None:
        dry = self.pages <= 2 * self._workers
        while self._line and (dry or self.pages < AHEAD * self._workers):
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(None)
                if not dry:
                    return

    @contextmanager
    def hold(self, size: int) -> Iterator[None]:
        """Count bytes as waiting."""
        self._add(size)
        self.pages += 1
        try:
            yield
        finally:
            self.pages -= 1
            self._add(-size)
            self._call_in()

    def _add(self, size: int) -> None:
        self.count += size
        if self.count > self._limit:
            self._free.clear()
        else:
            self._free.set()


class Answering:
    """One fetcher and one pool of workers, with a bound on the content between them."""

    def __init__(self, fetcher: Fetcher, pool: WorkerPool) -> None:
        self._fetcher = fetcher
        self._pool = pool
        self.inflight = InflightBytes(INFLIGHT_BYTES, pool.size)

    async def fetch(
        self,
        url: str,
        operation: Operation,
        max_bytes: int | None = None,
        *,
        error_pages: bool = False,
        asked: Asked | None = None,
    ) -> Response:
        """Return the response to a URL, or raise `FetchError`; the caller waits for `inflight` first."""
        accept: Any = operation.kind
        return await self._fetcher.fetch(
            url, operation.subject, accept, max_bytes=max_bytes, error_pages=error_pages, asked=asked
        )

    async def analyse(
        self,
        operations: Sequence[Operation],
        settings: Mapping[str, Mapping[str, Any]],
        content: Any,
        deadline: float,
        prepared: tuple[str, ...] = (),
        parameter: str = "",
        apart: str = "",
    ) -> Any:
        """Return a worker's answer about content: packed outcomes of a page, a list of those of an image.

        Parameters
        ----------
        operations : sequence of Operation
            All of one kind, whose subject has one name.
        settings : Mapping
            Settings by operation name.
        content : tuple or bytes
            The arguments of `Page`, or an image.
        deadline : float
            Seconds that the analysis may take.
        prepared : tuple of str
            Paths of analyses that the worker must have imported; by default those of the operations.
        parameter : str
            The name by which errors call the content; by default that of the subject.
        apart : str
            Name of a page operation whose outcome is packed for itself; the answer is then a pair.

        Raises
        ------
        RowError
            With the key ``analysis_timeout`` or ``analysis_died``.
        """
        operation = operations[0]
        parameter = parameter or operation.subject
        paths = {item.name: item.analysis for item in operations}
        arguments = (paths, settings, content, *([apart] if apart else []))
        try:
            return await self._pool.run(
                operation.kind, prepared or tuple(paths.values()), arguments, deadline
            )
        except TimeoutError:
            raise RowError("analysis_timeout", parameter=parameter, seconds=deadline) from None
        except WorkerDiedError:
            raise RowError("analysis_died", parameter=parameter) from None


def worker_count(workers: int | None) -> int:
    """Return the most worker processes: as many as given, else one per processor."""
    if workers is not None:
        return workers
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
