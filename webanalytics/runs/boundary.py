"""Where a user's call enters the package, and its errors leave it: with the caller's line, not with ours.

`webanalytics.aio` is made with `awaited`; those of `runs.functions.plain` do the same work on an event loop
in a thread, for cells and scripts. While it waits, the caller's thread draws the progress that `runs.run`
reports to a `Run`; an interrupt leaves the finished rows.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import queue
import re
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec, TypeVar

from webanalytics import loops
from webanalytics.core.environment import kernel
from webanalytics.core.operations.secret import Secret
from webanalytics.core.run_options import RECORDS, check_served, options, options_for
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import AuditInterrupted, HostedError, ParameterError, WebAnalyticsError, WriteError
from webanalytics.runs.partial import Partial, begin, forget, keep

P = ParamSpec("P")
T = TypeVar("T")
Function = Callable[..., Coroutine[Any, Any, Any]]

VARIABLE = "WEBANALYTICS_TRACEBACK"
"""Environment variable: ``full`` keeps the frames of this package in the tracebacks of its own errors."""


def keeps_frames() -> bool:
    """Return whether tracebacks keep the frames of this package, for debugging it."""
    return os.environ.get(VARIABLE, "").strip().lower() == "full"


def check_call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise the error about arguments that a function does not take, before any work."""
    signature = signature_of(function)
    kind = kind_of_options(function)
    for key in kwargs if kind else ():
        if key in signature.parameters:
            continue
        if key not in RECORDS:
            own = options_for(kind)
            known = [*(name for name in signature.parameters if name != "options"), *own]
            hint = did_you_mean(key, known) or f"; the options are: {', '.join(sorted(own))}."
            if key in ("auth", "cookies", "headers"):
                hint = ": `access` has those of each host."
            raise ParameterError(f"The `{key}` parameter does not exist{hint}", key)
        check_served(function.__name__, kind, key)
    with suppress(TypeError):  # raised below, in Python's words and not chained to this one
        signature.bind(*args, **kwargs)
        return
    function(*args, **kwargs)


signature_of = functools.lru_cache(maxsize=64)(inspect.signature)


def kind_of_options(function: Callable[..., Any]) -> str:
    """Return the kind of functions whose options a function takes, or "" if it takes none."""
    options = signature_of(function).parameters.get("options")
    found = _OPTIONS.search("" if options is None else str(options.annotation))
    return "" if found is None else found[1].lower()


_OPTIONS = re.compile(r"(Page|Image|Record|Site|Host)Options")


@dataclass(frozen=True)
class Source:
    """What a call is given: the one place that asks. Plain inputs are known at a glance."""

    # inputs of Python and pandas; a table or column of another library; a Dask DataFrame or Series
    kind: Literal["plain", "table", "dask"]
    inputs: Any  # the first argument of the call

    @classmethod
    def of(cls, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Source:
        """Return what a call of a function with these arguments is given."""
        from webanalytics.runs.frames.foreign import is_plain  # pandas takes time to load

        inputs = args[0] if args else kwargs.get(next(iter(signature_of(function).parameters), ""))
        if is_plain(inputs) and is_plain(kwargs.get("texts")):
            return cls("plain", inputs)
        dask = type(inputs).__module__.partition(".")[0] == "dask" and hasattr(inputs, "map_partitions")
        return cls("dask" if dask else "table", inputs)

    async def answer(self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what the function answers, in the kind of table that it was given."""
        if self.kind == "plain":
            return await function(*args, **kwargs)
        if self.kind == "dask":
            from webanalytics.runs.dask_frames import lazily

            return await lazily(function, self.inputs, kwargs)
        from webanalytics.runs.frames.kinds import as_kind, kind_of_call

        kind = kind_of_call(function, args, kwargs)
        return as_kind(await function(*args, **kwargs), kind)


def awaited(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return a coroutine function whose errors leave without the frames of this package."""

    @functools.wraps(function)
    async def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            if kwargs.get("secret"):  # this frame may be printed with its variables when the call fails
                kwargs["secret"] = Secret(kwargs["secret"])  # type: ignore[arg-type]
            check_call(function, args, kwargs)
            source = Source.of(function, args, kwargs)
            return await source.answer(function, args, kwargs)  # type: ignore[no-any-return]
        except WebAnalyticsError as error:
            if keeps_frames():
                raise
            raise error.with_traceback(None) from None

    return wrapper


WAKE_SECONDS = 0.2
"""The caller waits in steps of this length: on some systems a longer wait cannot be interrupted."""

GRACE_SECONDS = 5.0
"""How long an interrupted run may clean up."""

REDRAW_SECONDS = 0.05
"""Shortest time between two changes of a progress bar."""

PATIENCE = 2.0
"""Seconds after which work that needs no network shows a bar."""

_DONE = object()


def is_refusal(error: BaseException) -> bool:
    """Return whether a call was refused, as for its checkpoint: nothing was begun."""
    return isinstance(error, ParameterError) and not isinstance(error, WriteError)


class Run:
    """What a running call shares with the thread that waits for it."""

    def __init__(self) -> None:
        self.emit: Callable[[Callable[[], None]], None] = lambda event: event()
        self.partial: Partial | None = None
        self.total: int | None = None
        self.thread: _LoopThread | None = None
        self._showing = False
        self._unseen = 0
        self._seen_at = 0.0
        self._bar: Any = None

    def start(
        self,
        total: int,
        partial: Partial,
        name: str,
        wanted: bool | None,
        done: int = 0,
        *,
        grows: bool = False,
    ) -> None:
        """Begin: how much there is to do, how much of it is done, and how to get the finished rows."""
        before, self.total, self.partial = self.partial, total, partial
        partial.is_over = self._is_over
        begin(partial)
        forget(before)
        self._showing = (total > 1 or grows) and bar_wanted(wanted)
        if self._showing:
            self.emit(lambda: self._open(total, name, done))

    def grow(self, total: int) -> None:
        """Say that there is more to do than was known."""

        def show(bar: Any) -> None:
            bar.total = total
            if hasattr(bar, "container"):  # a widget, which knows its end from the beginning
                bar.container.children[1].max = total
            bar.refresh()

        if total != self.total:
            self.total = total
            self._on_bar(show)

    def note(self, text: str) -> None:
        """Show a few words next to the bar."""
        self._on_bar(lambda bar: bar.set_postfix_str(text))

    def step(self, count: int = 1) -> None:
        """Count further inputs as answered."""
        self._unseen += count
        now = time.monotonic()
        if self._showing and self._unseen and now - self._seen_at >= REDRAW_SECONDS:
            seen, self._unseen, self._seen_at = self._unseen, 0, now
            self._on_bar(lambda bar: bar.update(seen))

    def _open(self, total: int, name: str, done: int) -> None:
        self._bar = progress_bar(total, name, done)

    def _on_bar(self, change: Callable[[Any], object]) -> None:
        """Change the bar in the thread that draws it, if one is drawn."""

        def draw() -> None:
            if self._bar is not None:
                change(self._bar)

        if self._showing:
            self.emit(draw)

    def close(self) -> None:
        """Remove the progress bar."""
        if self._bar is not None:
            self._bar.update(self._unseen)
            self._bar.close()
            self._bar = None

    def _is_over(self) -> bool:
        return self.thread is not None and (self.thread.cancelled or not self.thread.is_alive())

    def cancel(self) -> None:
        """End the call from outside; its finished rows are safe, and the bar says so."""
        if self.thread is None:
            return
        self.thread.cancel()
        if self._bar is not None and self.partial is not None:
            self._bar.set_postfix_str(f"keeping {self.partial.rows:,} finished rows")

    @contextmanager
    def ending(self, partial: Partial, total: Callable[[], int]) -> Iterator[None]:
        """Keep the finished rows of a call that does not come to its end, unless somebody else will."""
        alone = current_run.get() is None
        try:
            yield
        except BaseException as error:
            if is_refusal(error):
                forget(partial, refused=True)
            elif alone or isinstance(error, Exception):
                keep(partial)
                if isinstance(error, (HostedError, WriteError)):
                    error.keep(partial, total(), partial.rows)
            raise
        finally:
            if alone:
                self.close()
        if alone:
            forget(partial)

    def finished(self) -> None:
        """Forget the finished rows: the call has returned them all."""
        forget(self.partial)
        self.partial = self.thread = None

    def interrupted(self) -> AuditInterrupted | None:
        """Return the exception that carries the finished rows, None before there were any inputs."""
        self.cancel()  # once more: a second Ctrl-C may have come before the first was obeyed
        if self.partial is None:
            return None
        keep(self.partial)
        return AuditInterrupted(self.partial, self.total, self.partial.rows)


current_run: ContextVar[Run | None] = ContextVar("webanalytics_run", default=None)


shown_by: ContextVar[Callable[[int, int, str], None] | None] = ContextVar(
    "webanalytics_shown_by", default=None
)
"""What shows how much is done, of how much, and of what, where that is no bar of its own."""


def bar_wanted(wanted: bool | None) -> bool:
    """Return whether to draw a bar; by default only where somebody would see it."""
    return wanted if wanted is not None else kernel() is not None or sys.stderr.isatty()


def progress_bar(total: int, name: str, done: int = 0, unit: str = "row", delay: float = 0) -> Any:
    """Return a bar: a widget in notebooks, text on standard error elsewhere."""
    if kernel() is not None:
        from tqdm.notebook import tqdm
    else:
        from tqdm import tqdm
    how: dict[str, Any] = {"leave": False, "mininterval": 0.1, "dynamic_ncols": True}
    if kernel() is None or delay:
        return tqdm(total=total, initial=done, desc=name, unit=unit, delay=delay, **how)
    from IPython.display import display

    bar = tqdm(total=total, initial=done, desc=name, unit=unit, display=False, **how)
    shown: Any = display(bar.container, display_id=True)  # type: ignore[no-untyped-call]

    def end(close: bool = False, **style: Any) -> None:
        bar.display(close=close, **style)
        shown.update({"text/plain": ""} if close else bar.container, raw=close)

    bar.disp = end  # saved notebooks, and those without widgets, show the text of the beginning else
    return bar


def watched(items: Iterable[T], total: int, name: str, unit: str) -> Iterator[T]:
    """Yield items; after two seconds a bar says how many a second are done, and how long the rest takes."""
    if (show := shown_by.get()) is not None:
        for done, item in enumerate(items, 1):
            yield item
            show(done, total, name)
        return
    if not bar_wanted(options.progress):
        yield from items
        return
    bar = progress_bar(total, name, unit=unit, delay=PATIENCE)
    try:
        for item in items:
            yield item
            bar.update()
    finally:
        bar.close()


class _LoopThread(threading.Thread):
    """Runs one coroutine on its own event loop."""

    def __init__(self, main: Callable[[], Coroutine[Any, Any, Any]], events: queue.SimpleQueue[Any]) -> None:
        work = copy_context().run
        super().__init__(target=work, args=(self._work,), name="webanalytics-loop", daemon=True)
        self._main = main
        self._events = events
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self.cancelled = False
        self.value: Any = None
        self.error: BaseException | None = None

    def _work(self) -> None:
        """Run the coroutine to its end and put a mark among the events."""
        try:
            self.value = loops.run(self._supervised())
        except BaseException as error:  # raised again in the caller's thread
            self.error = error
        finally:
            with self._lock:
                self._task = None  # whose context knows the run, which knows this thread
            self._events.put(_DONE)

    async def _supervised(self) -> Any:
        with self._lock:
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
            if self.cancelled:
                raise asyncio.CancelledError
        return await self._main()

    def cancel(self) -> None:
        """Cancel the coroutine from another thread."""
        with self._lock:
            self.cancelled = True
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
    """Return what the coroutine returns; on Ctrl-C cancel it, wait for its clean-up, and raise."""
    events: queue.SimpleQueue[Any] = queue.SimpleQueue()
    run.emit = events.put
    run.thread = thread = _LoopThread(main, events)
    try:
        thread.start()
        while (event := _next(events)) is not _DONE:
            event()
    except BaseException:
        run.cancel()
        thread.join(GRACE_SECONDS)
        raise
    finally:
        run.close()
    thread.join()
    if thread.error is not None:
        raise thread.error
    value: T = thread.value
    return value
