"""Work of one call that worker processes share, such as reading and counting the texts of many pages."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from webanalytics.core.run_options import resolve
from webanalytics.errors import BackendError
from webanalytics.runs.workers.pool import Worker, WorkerDiedError, idle_workers, worker_count

T = TypeVar("T")
Of = TypeVar("Of")


def shared_out(
    function: Callable[..., T], messages: Iterable[tuple[Of, tuple[Any, ...]]], share: bool
) -> Iterator[tuple[Of, T]]:
    """Yield what a function of a module returns for each message, in their order.

    A message is what it is of, which is yielded with the answer, and the arguments. Where work is to be
    shared, worker processes do it, as many as the options in use allow; what they cannot is done here.
    """
    options = resolve({})
    size, memory = worker_count(options["workers"]), options["worker_memory"]
    path, one_at_a_time = f"{function.__module__}:{function.__qualname__}", threading.Lock()
    busy: set[Worker] = set()
    over = threading.Event()

    def here(arguments: tuple[Any, ...]) -> T:
        with one_at_a_time:
            return function(*arguments)

    def answer(arguments: tuple[Any, ...]) -> T:
        try:
            worker = idle_workers.warm(memory) or idle_workers.new(memory, (path,))
        except BackendError:
            return here(arguments)
        busy.add(worker)
        if over.is_set():  # it was starting while the others were ended
            worker.process.kill()
        try:
            found: T = worker.exchange("call", (path, arguments))
        except WorkerDiedError:
            busy.discard(worker)
            worker.process.close()
            if over.is_set():
                raise
            return here(arguments)
        busy.discard(worker)
        idle_workers.give(worker)
        return found

    if not share or size < 2:
        yield from ((of, function(*arguments)) for of, arguments in messages)
        return
    waiting: deque[tuple[Of, Future[T]]] = deque()
    with ThreadPoolExecutor(size, thread_name_prefix="webanalytics-shared") as threads:
        try:
            for of, arguments in messages:
                waiting.append((of, threads.submit(answer, arguments)))
                while len(waiting) > 2 * size or (waiting and waiting[0][1].done()):
                    done, future = waiting.popleft()
                    yield done, future.result()
            while waiting:
                done, future = waiting.popleft()
                yield done, future.result()
        except BaseException:  # stopped: nobody waits for what was begun
            over.set()
            for _, future in waiting:
                future.cancel()
            while busy:
                busy.pop().process.kill()
            raise
