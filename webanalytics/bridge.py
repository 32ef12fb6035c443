"""Plain functions from async ones: the same work, started from a cell, a script or a running loop."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import queue
import threading
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from webanalytics.operations.secret import Secret
from webanalytics.run import Run, current_run

P = ParamSpec("P")
T = TypeVar("T")

WAKE_SECONDS = 0.2
"""The caller's wait is cut into such steps, for not every system interrupts a longer one."""

GRACE_SECONDS = 5.0
"""How long an interrupted run may clean up."""

_DONE = object()


class _LoopThread(threading.Thread):
    """Runs one coroutine on an event loop of its own."""

    def __init__(self, main: Callable[[], Coroutine[Any, Any, Any]], events: queue.SimpleQueue[Any]) -> None:
        self._context = contextvars.copy_context()
        super().__init__(name="webanalytics-loop", daemon=True)
        self._main = main
        self._events = events
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._cancelled = False
        self.value: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Run the coroutine to its end and say so."""
        self._context.run(self._work)

    def _work(self) -> None:
        try:
            with asyncio.Runner() as runner:
                self.value = runner.run(self._supervised())
        except BaseException as error:  # raised again in the caller's thread
            self.error = error
        finally:
            self._events.put(_DONE)

    async def _supervised(self) -> Any:
        with self._lock:
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
            if self._cancelled:
                raise asyncio.CancelledError
        return await self._main()

    def cancel(self) -> None:
        """Cancel the coroutine from another thread."""
        with self._lock:
            self._cancelled = True
            if self._loop is not None and self._task is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._task.cancel)


def _next(events: queue.SimpleQueue[Any]) -> Any:
    # A function of its own: an interrupt that arrives in `except queue.Empty` with `continue` in it is
    # raised outside of an enclosing `try` on some versions of CPython, and the run would go on.
    while True:
        try:
            return events.get(timeout=WAKE_SECONDS)
        except queue.Empty:
            pass


def run_plain(main: Callable[[], Coroutine[Any, Any, T]], run: Run) -> T:
    """Return what the coroutine returns; on Ctrl-C cancel it, wait for its clean-up, and raise.

    Progress is drawn here, in the caller's thread, where a notebook expects it.
    """
    events: queue.SimpleQueue[Any] = queue.SimpleQueue()
    run.emit = events.put
    thread = _LoopThread(main, events)
    try:
        thread.start()
        while (event := _next(events)) is not _DONE:
            event()
    except BaseException:
        thread.cancel()
        thread.join(GRACE_SECONDS)
        raise
    finally:
        run.close()
    thread.join()
    if thread.error is not None:
        raise thread.error
    value: T = thread.value
    return value


def plain(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return the plain form of an async function: same signature, same documentation.

    Raises
    ------
    AuditInterrupted
        From the plain function, on Ctrl-C or "Interrupt kernel": it carries the finished rows.
    """

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        if kwargs.get("secret"):  # this frame may be printed with its variables when the call fails
            kwargs["secret"] = Secret(kwargs["secret"])  # type: ignore[arg-type]
        run = Run()
        token = current_run.set(run)
        try:
            return run_plain(lambda: function(*args, **kwargs), run)
        except KeyboardInterrupt as interrupt:
            raise run.interrupted() or interrupt from None
        finally:
            current_run.reset(token)

    # a coroutine function in disguise would mislead notebooks and inspect
    del wrapper.__dict__["__wrapped__"]
    wrapper.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return wrapper
