"""A pool of worker processes in which a hanging or crashing analysis costs one row and one worker."""

from __future__ import annotations

import asyncio
import atexit
import os
import pickle
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from webanalytics.backends.processes import START_SECONDS, Process, StartedProcess, Template
from webanalytics.backends.worker import HEADER
from webanalytics.errors import BackendError


class WorkerDiedError(Exception):
    """The worker ended in the middle of a message: killed, crashed or out of memory."""


class Worker:
    """One worker process; `exchange` blocks and is called from a thread of the pool."""

    def __init__(self, process: Process, memory: int) -> None:
        self.memory = memory
        self.process = process

    def exchange(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        """Send one message and return the answer."""
        message = pickle.dumps((kind, arguments), protocol=5)
        requests, answers = self.process.requests, self.process.answers
        try:
            requests.write(HEADER.pack(len(message)))
            requests.write(message)
            requests.flush()
            header = answers.read(HEADER.size)
            answer = answers.read(HEADER.unpack(header)[0]) if len(header) == HEADER.size else b""
            return pickle.loads(answer)  # noqa: S301 - written by our own worker
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
            raise WorkerDiedError(self.process.last_words()) from error


class _Idle:
    """Warm workers kept for the next call of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._workers: list[Worker] = []
        self._template = Template()
        self._owner = os.getpid()

    def warm(self, memory: int) -> Worker | None:
        """Return a warm worker with this memory limit, if there is one; does not wait for anything."""
        with self._lock:
            if self._owner != os.getpid():  # after a fork the pipes belong to the parent
                self._workers, self._owner = [], os.getpid()
                self._template.forget()
            for worker in [worker for worker in self._workers if worker.memory == memory]:
                self._workers.remove(worker)
                if worker.process.alive:
                    return worker
                worker.process.close()
        return None

    def new(self, memory: int, names: tuple[str, ...]) -> Worker:
        """Return a new worker."""
        if self._template.works_here():
            try:
                return Worker(self._template.fork(memory, names), memory)
            except BackendError:  # something outside ended the template: a second one is worth the try
                return Worker(self._template.fork(memory, names), memory)
        try:
            return Worker(StartedProcess(memory), memory)
        except OSError as error:
            raise BackendError(f"the worker process did not start: {error}") from error

    def give(self, worker: Worker) -> None:
        with self._lock:
            self._workers.append(worker)

    def close(self) -> None:
        """End all idle workers."""
        with self._lock:
            workers, self._workers = self._workers, []
        for worker in workers:
            worker.process.close()
        self._template.close()


_idle = _Idle()
close_idle_workers = _idle.close
atexit.register(close_idle_workers)


def _keep_started(starting: Future[Worker]) -> None:
    if starting.exception() is None:
        _idle.give(starting.result())


class WorkerPool:
    """At most ``size`` worker processes at a time, for the length of one run.

    Parameters
    ----------
    size : int
        Processes that may work at once.
    memory : int
        Address space of each in MiB (Linux).
    """

    def __init__(self, size: int, memory: int) -> None:
        self._memory = memory
        self._slots = asyncio.Semaphore(size)
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="webanalytics-worker")

    async def __aenter__(self) -> WorkerPool:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False)

    async def run(
        self, kind: str, names: tuple[str, ...], arguments: tuple[Any, ...], deadline: float
    ) -> Any:
        """Return the worker's answer.

        Raises
        ------
        TimeoutError
            The answer took longer than ``deadline`` seconds; the worker has been killed.
        WorkerDiedError
            The worker crashed.
        BackendError
            A worker process cannot be started at all.
        """
        async with self._slots:
            warm = _idle.warm(self._memory)
            if warm is not None:
                try:
                    return await self._ask(warm, kind, names, arguments, deadline)
                except (WorkerDiedError, BackendError):  # it may have been killed while it was idle
                    pass
            return await self._ask(await self._start(names), kind, names, arguments, deadline)

    async def _ask(
        self, worker: Worker, kind: str, names: tuple[str, ...], arguments: tuple[Any, ...], deadline: float
    ) -> Any:
        try:
            if not worker.process.prepared.issuperset(names):
                await self._prepare(worker, names)
            async with asyncio.timeout(deadline):
                answer = await self._call(worker.exchange, kind, arguments)
        except BaseException:  # a worker that did not finish its message is of no use to anyone
            worker.process.kill()
            self._threads.submit(worker.process.close)
            raise
        _idle.give(worker)
        return answer

    async def _start(self, names: tuple[str, ...]) -> Worker:
        starting = self._threads.submit(_idle.new, self._memory, names)
        try:
            return await asyncio.shield(asyncio.wrap_future(starting))
        except asyncio.CancelledError:
            # The process may be on its way: keep it for later. The callback is the thread's own, for
            # the event loop may be closed by then.
            starting.add_done_callback(_keep_started)
            raise

    async def _prepare(self, worker: Worker, names: tuple[str, ...]) -> None:
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._call(worker.exchange, "prepare", (names,))
        except (TimeoutError, WorkerDiedError) as error:
            raise BackendError(f"the worker process did not start: {error}") from error
        worker.process.prepared.update(names)

    async def _call(self, function: Any, *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)
