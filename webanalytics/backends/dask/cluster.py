"""What is spoken with Dask: chunks out, answers back, progress, and the end of a chunk that nobody wants.

`steering` uses `Cluster`; `attempt` is the task that Dask runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any

from webanalytics._version import __version__, how_to_install
from webanalytics.backends.dask.work import Answered, Chunk, Unwanted, answer
from webanalytics.errors import BackendError, WriteError

BUSY_THREADS = 8
"""Results that are fetched from the cluster at one time."""
COUNT_SECONDS = 5.0
"""How often the threads of the cluster are counted: workers come and go."""


def distributed() -> Any:
    """Return the module of that name, or raise `BackendError` where it is not installed."""
    try:
        return import_module("distributed")
    except ImportError:
        raise BackendError(f"Dask is not installed: {how_to_install('dask')}.") from None


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def attempt(chunk: Chunk, topic: str) -> Answered | None:
    """Do a chunk on the worker that this runs on; None if another worker has begun it and ended.

    Dask runs a task again whose worker has ended. But its requests have been made, and it may be what ended
    the worker: that is for the client to judge, so a chunk begins only once.
    """
    dask = distributed()
    worker = dask.get_worker()
    key = worker.get_current_task()
    begun = dask.Event(chunk.name)
    if begun.is_set():
        return None
    begun.set()

    def wanted() -> bool:
        """Tell whether the scheduler still wants the task: it forgets what no client waits for."""
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled"

    def tell(done: int) -> None:
        worker.log_event(topic, {"chunk": chunk.name, "done": done})

    with suppress(Unwanted):
        return answer(chunk, wanted, tell)
    return None


class Cluster:
    """A client's cluster, as asynchronous calls of any event loop.

    Parameters
    ----------
    client : distributed.Client
        Not asynchronous.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._threads = ThreadPoolExecutor(BUSY_THREADS, thread_name_prefix="webanalytics-dask")

    def close(self) -> None:
        """End its threads."""
        self._threads.shutdown(wait=False)

    async def threads(self) -> int:
        """Return how many tasks the cluster runs at once; none while the scheduler does not answer."""
        try:
            found = await self._call(self._client.nthreads)
        except Exception:  # what is under way will say why
            return 0
        return sum(found.values())

    async def answer(self, chunk: Chunk, topic: str) -> Answered | None:
        """Have a chunk done; None if a worker has ended over it.

        Raises
        ------
        BackendError
            If the cluster cannot do it at all.
        WriteError
            If results cannot be written where they shall be kept.
        """
        loop = asyncio.get_running_loop()
        done = loop.create_future()

        def tell(_: Any) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(_set, done)

        future = self._client.submit(attempt, chunk, topic, key=chunk.name, pure=False)
        try:
            future.add_done_callback(tell)
            await done
            answered: Answered | None = await self._call(self._result, future, chunk)
            return answered
        finally:
            future.release()  # also ends it, if it is still under way

    def _result(self, future: Any, chunk: Chunk) -> Answered | None:
        dask = distributed()
        try:
            answered: Answered | None = future.result()
        except dask.KilledWorker:
            return None
        except WriteError:  # on a worker
            raise
        except Exception as error:
            raise BackendError(f"the Dask cluster did not finish a chunk: {error}") from error
        finally:
            with suppress(Exception):  # it may be gone
                dask.Event(chunk.name, client=self._client).clear()
        if answered is not None and answered.version != __version__:
            raise BackendError(
                f"the workers of the Dask cluster have webanalytics {answered.version}, and this machine has "
                f"{__version__}: install the same version."
            )
        return answered

    @asynccontextmanager
    async def followed(self, topic: str, take: Callable[[str, int], None]) -> AsyncIterator[None]:
        """Hand on what workers tell within the block: a chunk's name, and how many of its jobs are done."""
        loop = asyncio.get_running_loop()

        def on_event(event: tuple[float, dict[str, Any]]) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(take, event[1]["chunk"], event[1]["done"])

        self._client.subscribe_topic(topic, on_event)
        try:
            yield
        finally:
            with suppress(Exception):  # the client may be closed
                self._client.unsubscribe_topic(topic)

    async def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)
