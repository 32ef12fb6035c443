"""A pool of worker processes in which a hanging or crashing analysis costs one row and one worker.

Backends ask it through `webanalytics.runs.backends.pipeline`; what runs inside of a worker is
`workers.worker`.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import pickle
import subprocess
import tempfile
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from webanalytics.errors import BackendError, shortage_of
from webanalytics.runs.workers.template import START_SECONDS, TEMPLATE, ForkedProcess, command_of, last_line
from webanalytics.runs.workers.worker import HEADER

TRIES = 3
"""New workers that may end over one message before the message is blamed."""


class StartedProcess:
    """A worker that is a process of its own; the way that works everywhere."""

    def __init__(self, memory: int) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        command = command_of(
            "from webanalytics.runs.workers.worker import main; main(int(sys.argv[2]))", str(memory)
        )
        self._process = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr
        )
        assert self._process.stdin and self._process.stdout  # noqa: S101, PT018
        self.requests, self.answers = self._process.stdin, self._process.stdout
        self.pid = self._process.pid
        self.prepared: set[str] = set()

    @property
    def alive(self) -> bool:
        """Whether the process is still there."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def close(self) -> None:
        """End the process and close its pipes."""
        self._process.kill()
        self._process.wait()
        for pipe in (self.requests, self.answers, self._stderr):
            with contextlib.suppress(OSError):  # what could not be written no longer matters
                pipe.close()

    def last_words(self) -> str:
        """Return the last line the process wrote to standard error."""
        return last_line(self._stderr)


Process = StartedProcess | ForkedProcess


class WorkerDiedError(Exception):
    """The worker ended in the middle of a message: killed, crashed or out of memory."""


class Worker:
    """One worker process; `exchange` blocks and is called from a thread of the pool."""

    def __init__(self, process: Process, memory: int, generation: int) -> None:
        self.memory = memory
        self.process = process
        self.generation = generation

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
        self._owner = os.getpid()
        self._generation = 0

    def warm(self, memory: int) -> Worker | None:
        """Return a warm worker with this memory limit, if there is one, without waiting."""
        with self._lock:
            if self._owner != os.getpid():  # after a fork the pipes belong to the parent
                self._workers, self._owner = [], os.getpid()
            for worker in [worker for worker in self._workers if worker.memory == memory]:
                self._workers.remove(worker)
                if worker.process.alive:
                    return worker
                worker.process.close()
        return None

    def new(self, memory: int, names: tuple[str, ...]) -> Worker:
        """Return a new worker."""
        generation = self._generation
        if TEMPLATE.works_here():
            with contextlib.suppress(BackendError):  # something outside ended the template: try a second one
                return Worker(TEMPLATE.fork(memory, names), memory, generation)
            return Worker(TEMPLATE.fork(memory, names), memory, generation)
        try:
            return Worker(StartedProcess(memory), memory, generation)
        except OSError as error:
            raise BackendError(f"the worker process did not start: {error}") from error

    def give(self, worker: Worker) -> None:
        """Keep a worker, unless all were ended since it was started."""
        with self._lock:
            if worker.generation == self._generation:
                self._workers.append(worker)
                return
        worker.process.close()

    def close(self) -> None:
        """End all idle workers, and those that are still being started or busy once they are given back."""
        with self._lock:
            self._generation += 1
            workers, self._workers = self._workers, []
        for worker in workers:
            worker.process.close()
        TEMPLATE.close()


idle_workers = _Idle()
close_idle_workers = idle_workers.close
begin_workers = TEMPLATE.begin
atexit.register(close_idle_workers)


def _keep_started(starting: Future[Worker]) -> None:
    if starting.exception() is None:
        idle_workers.give(starting.result())


def worker_count(workers: int | None) -> int:
    """Return the most worker processes: as many as given, else one per processor."""
    if workers is not None:
        return workers
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class WorkerPool:
    """At most ``size`` worker processes at a time, for the length of one run."""

    def __init__(self, size: int, memory: int) -> None:
        self._memory = memory
        self.size = size
        self._slots = asyncio.Semaphore(size)
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="webanalytics-worker")
        # Looked up and kept now: once descriptors are short, it is said that no folder is usable.
        with contextlib.suppress(FileNotFoundError):
            tempfile.gettempdir()

    async def __aenter__(self) -> WorkerPool:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False)

    async def run(
        self, kind: str, names: tuple[str, ...], arguments: tuple[Any, ...], deadline: float
    ) -> Any:
        """Return the worker's answer."""
        async with self._slots:
            warm = idle_workers.warm(self._memory)
            if warm is not None:
                with contextlib.suppress(WorkerDiedError, BackendError):  # killed while it was idle, perhaps
                    return await self._ask(warm, kind, names, arguments, deadline)
            for _ in range(TRIES - 1):
                try:
                    return await self._ask(await self._start(names), kind, names, arguments, deadline)
                except WorkerDiedError:  # the system may have ended it, to have memory for something else
                    pass
                except BackendError as error:
                    if shortage_of(error):
                        raise
            return await self._ask(await self._start(names), kind, names, arguments, deadline)

    async def _ask(
        self, worker: Worker, kind: str, names: tuple[str, ...], arguments: tuple[Any, ...], deadline: float
    ) -> Any:
        try:
            if not worker.process.prepared.issuperset(names):
                await self._prepare(worker, names)
            async with asyncio.timeout(deadline):
                answer = await self._call(worker.exchange, kind, arguments)
        except BaseException:  # a worker that did not finish its message cannot be used again
            worker.process.kill()
            self._threads.submit(worker.process.close)
            raise
        idle_workers.give(worker)
        return answer

    async def _start(self, names: tuple[str, ...]) -> Worker:
        starting = self._threads.submit(idle_workers.new, self._memory, names)
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
