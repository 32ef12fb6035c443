"""Structured logs: one JSON line per request on standard error, never a key, a secret or a message.

Lines are rendered where they arise and written by the thread of a standard `QueueListener`, so that a slow
reader does not hold the service up; when too many wait, further ones are dropped, and their number is logged.
"""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import select
import sys
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from logging.handlers import QueueHandler, QueueListener
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import Any, BinaryIO

import orjson
import structlog

from webanalytics.service.config.settings import ServiceSettings
from webanalytics.service.results import Record

CAPACITY = 20_000
"""Lines that may wait to be written."""

GATHER_SECONDS = 0.01
"""Seconds for which lines gather before they are written: waking for each would cost the loop its turns."""

PIECE: int = getattr(select, "PIPE_BUF", 512)
"""Bytes that reach a pipe in one piece (POSIX, write), even with several processes."""

CLOSE_SECONDS = 2.0
"""Longest wait for a slow reader when the service stops."""

MAX_TEXT = 300
_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z
OWN_LOGGER = "webanalytics"
LOGGERS = (OWN_LOGGER, "aiohttp", "asyncio", None)
"""Loggers of the standard library whose records become lines; None is the root, for those of all others."""
WARNINGS = "py.warnings"
"""The name that warnings of Python have in the log, as in the standard library."""

BURST = 20
"""Lines that one place in the code may write within `BURST_SECONDS`; further ones are counted."""
BURST_SECONDS = 60.0
OPEN_LOGGERS = (OWN_LOGGER, "gunicorn")
"""Loggers whose arguments are shown: they quote no request."""

PLACES = 5
CAUSES = 3


def _place(frame: FrameType, line: int) -> str:
    path = Path(frame.f_code.co_filename)
    return f"{'/'.join(path.parts[-3:])}:{line} {frame.f_code.co_name}"


def _name(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def describe(error: BaseException) -> dict[str, Any]:
    """Return what may be logged about an exception: its type and innermost places, and its causes' types.

    A message may quote what a caller sent, a key or a secret included, so none is kept; neither are
    source lines. The number of a system error has a name of its own.

    Examples
    --------
    >>> try:
    ...     int("a secret")
    ... except ValueError as error:
    ...     describe(error)["exception"]
    'ValueError'
    """
    places = deque(traceback.walk_tb(error.__traceback__), maxlen=PLACES)
    found: dict[str, Any] = {
        "exception": _name(error),
        "places": [_place(*place) for place in reversed(places)],
    }
    if isinstance(error, OSError) and error.errno is not None:
        found["errno"] = errno.errorcode.get(error.errno, str(error.errno))
    causes: list[str] = []
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    while cause is not None and len(causes) < CAUSES:
        causes.append(_name(cause))
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    if causes:
        found["causes"] = causes
    return found


class Writer(QueueListener):
    """Writes lines to a file descriptor in its own thread; structlog uses it as a logger."""

    def __init__(self, file: int, capacity: int = CAPACITY) -> None:
        self.dropped = 0
        self._file = file
        self._capacity = capacity
        self._waiting: SimpleQueue[Any] = SimpleQueue()
        super().__init__(self._waiting)
        self.start()

    def msg(self, line: bytes) -> None:
        """Put a line into the queue; does not wait."""
        if self._waiting.qsize() >= self._capacity:
            self.dropped += 1
        else:
            self._waiting.put(line)

    debug = info = warning = error = msg

    def handle(self, record: Any) -> None:
        """Write a line, and those that arrive within a moment of it."""
        time.sleep(GATHER_SECONDS)
        piece = record
        while not self._waiting.empty():
            line = self._waiting.get()
            if line is None:
                self.enqueue_sentinel()
                break
            if len(piece) + len(line) > PIECE:
                self._write_piece(piece)
                piece = b""
            piece += line
        self._write_piece(piece)

    def _write_piece(self, piece: bytes) -> None:
        if self.dropped:
            self._write_dropped()
        self._write(piece)

    def _write_dropped(self) -> None:
        dropped = self.dropped
        self.dropped -= dropped
        stamp = structlog.processors.TimeStamper(fmt="iso", utc=True, key="time")
        fields = {"level": "warning", "event": "log lines dropped", "lines": dropped}
        self._write(_render(None, "warning", stamp(None, "warning", fields)))

    def _write(self, content: bytes) -> None:
        try:
            while content:
                content = content[os.write(self._file, content) :]
        except OSError:  # the reader has gone: the service continues without a log
            pass

    def close(self) -> None:
        """Write the remaining lines, unless the reader is too slow."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self.enqueue_sentinel()
        thread.join(CLOSE_SECONDS)
        if not thread.is_alive() and self.dropped:
            self._write_dropped()


def _render(_logger: Any, _method: str, event: Any) -> bytes:
    """Return an event as a line of JSON, its time and level first; JSON escapes every control character."""
    return _dump({name: event.pop(name) for name in ("time", "level", "event")} | event)


def _dump(ordered: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(ordered, default=_type_name, option=_OPTIONS)
    except TypeError:  # a lone surrogate, or a number of more than 64 bits
        return json.dumps(ordered, default=_type_name, skipkeys=True).encode() + b"\n"


def _type_name(value: Any) -> str:
    """Return the type's name for a value that JSON cannot hold: its text might reveal too much."""
    return type(value).__name__


class JsonFormatter(logging.Formatter):
    """Formats a record of the standard library's loggers as a line.

    Other libraries' arguments are left out, since they may quote a request.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        text = record.getMessage() if record.name.split(".")[0] in OPEN_LOGGERS else str(record.msg)
        fields: dict[str, Any] = {"logger": record.name, "text": text.split("\n")[0][:MAX_TEXT]}
        if record.exc_info and record.exc_info[1] is not None:
            fields.update(describe(record.exc_info[1]))
        if left_out := getattr(record, "left_out", 0):
            fields["left_out"] = left_out
        moment = datetime.fromtimestamp(record.created, UTC)
        ordered = {"time": moment, "level": record.levelname.lower(), "event": "log", **fields}
        return _dump(ordered).decode().removesuffix("\n")


class Sample:
    """Which of the lines that requests can cause at will are written: the first few a minute of each place.

    Examples
    --------
    >>> sample = Sample(burst=2)
    >>> [sample.take("multipart.py:139", second) for second in (0, 1, 2, 3, 70)]
    [0, 0, None, None, 2]
    """

    def __init__(self, burst: int = BURST, seconds: float = BURST_SECONDS) -> None:
        self._burst, self._seconds = burst, seconds
        self._places: dict[str, tuple[float, int]] = {}  # when its minute began, and its lines since then

    def take(self, place: str, now: float) -> int | None:
        """Return how many lines of a place were left out before this one; None if this one is, too."""
        began, count = self._places.get(place, (now, 0))
        if now - began >= self._seconds:
            self._places[place] = (now, 1)
            return max(0, count - self._burst)
        self._places[place] = (began, count + 1)
        return 0 if count < self._burst else None


class _Handler(QueueHandler):
    """Puts records of the standard library's loggers into the queue, as lines."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer.queue)
        self._writer = writer
        self._sample = Sample()
        self.setFormatter(JsonFormatter())

    def prepare(self, record: logging.LogRecord) -> Any:
        """Return the line."""
        return self.format(record).encode() + b"\n"

    def handle(self, record: logging.LogRecord) -> bool:
        """Put a record into the queue, unless its place has written enough for now."""
        left_out = self._sample.take(f"{record.pathname}:{record.lineno}", record.created)
        if left_out is None:
            return False
        record.left_out = left_out
        return bool(super().handle(record))

    def enqueue(self, record: Any) -> None:
        """Put a line into the queue, or count it as dropped."""
        self._writer.msg(record)


def _log_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,  # noqa: ARG001 - the log is the only place
    line: object = None,  # noqa: ARG001
) -> None:
    """Log a warning of Python by its kind and place alone: aiohttp's quote what was sent."""
    text = str(message) if category.__module__.split(".")[0] == OWN_LOGGER else ""
    logger = logging.getLogger(WARNINGS)
    where = "/".join(Path(filename).parts[-3:])
    said = f"{category.__qualname__} at {where}:{lineno}" + (f": {text}" if text else "")
    if logger.isEnabledFor(logging.WARNING):
        logger.handle(logger.makeRecord(WARNINGS, logging.WARNING, filename, lineno, said, (), None))


class Log:
    """The log of one process.

    With ``capture`` it also holds what the standard library's loggers and the running event loop report.
    """

    def __init__(
        self, settings: ServiceSettings, stream: BinaryIO | None = None, *, capture: bool = True
    ) -> None:
        target = stream or sys.__stderr__
        # Without a standard error, as of some daemons, its number may be that of any other file.
        self.writer = Writer(target.fileno() if target else os.open(os.devnull, os.O_WRONLY))
        level = logging.getLevelNamesMapping()[settings.log_level.upper()]
        self._logger = structlog.wrap_logger(
            self.writer,
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
                _render,
            ],
            wrapper_class=structlog.make_filtering_bound_logger(level),
        ).bind()
        self._level = level
        self._restore: list[Callable[[], None]] = []
        if capture:
            self._capture_loggers()
            self._capture_loop()

    def _capture_loggers(self) -> None:
        handler = _Handler(self.writer)
        handler.setLevel(self._level)
        for name in LOGGERS:
            logger = logging.getLogger(name)
            self._restore.append(partial(setattr, logger, "propagate", logger.propagate))
            self._restore.append(partial(logger.removeHandler, handler))
            logger.addHandler(handler)
            logger.propagate = False
        self._capture_warnings()

    def _capture_warnings(self) -> None:
        """Write Python's warnings, too; aiohttp's are all shown, else Python would keep the text of each."""
        kept = warnings.catch_warnings()
        kept.__enter__()
        self._restore.append(partial(kept.__exit__, None, None, None))
        warnings.filterwarnings("always", category=RuntimeWarning, module=r"aiohttp\.")
        warnings.showwarning = _log_warning

    def _capture_loop(self) -> None:
        """Write what the loop would report: its own handler shows exceptions with their messages."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._restore.append(partial(loop.set_exception_handler, loop.get_exception_handler()))
        loop.set_exception_handler(self._loop_failed)

    def request(self, record: Record, seconds: float) -> None:
        """Write the line of a finished request."""
        if self._level > logging.INFO:
            return
        # Past structlog's chain, which would cost a request several times as much as the line itself.
        self.writer.msg(
            _dump(
                {
                    "time": datetime.now(UTC),
                    "level": "info",
                    "event": "request",
                    **record.notes,
                    "id": record.request_id,
                    "key": record.key,
                    "operation": record.operation,
                    "status": record.status,
                    "credits": record.credits,
                    "milliseconds": round(seconds * 1e6) / 1000,
                    "inputs": record.inputs,
                }
            )
        )

    def notice(self, **fields: Any) -> None:
        """Write that an account has used a percentage of its credits."""
        self._logger.warning("credits", **fields)

    def failure(self, record: Record, what: str) -> None:
        """Write that something the service depends on failed a request."""
        self._logger.error("failure", id=record.request_id, operation=record.operation, what=what)

    def exception(self, record: Record, error: BaseException) -> None:
        """Write the type and place of an exception that ended a request."""
        self._logger.error("exception", id=record.request_id, operation=record.operation, **describe(error))

    def info(self, event: str, **fields: Any) -> None:
        """Write a line of level info."""
        self._logger.info(event, **fields)

    def warning(self, event: str, **fields: Any) -> None:
        """Write a line of level warning."""
        self._logger.warning(event, **fields)

    def write(self, level: str, event: str, fields: Mapping[str, Any]) -> None:
        """Write a line of a level by name."""
        write = {"debug": self._logger.debug, "info": self._logger.info, "warning": self._logger.warning}
        write.get(level, self._logger.error)(event, **fields)

    def _loop_failed(self, _loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        error = context.get("exception")
        fields = describe(error) if isinstance(error, BaseException) else {}
        text = str(context.get("message", ""))[:MAX_TEXT]
        self.write("error", "log", {"logger": "asyncio", "text": text, **fields})

    def close(self) -> None:
        """Write the remaining lines, and restore the standard library's loggers."""
        for restore in reversed(self._restore):
            restore()
        self._restore.clear()
        self.writer.close()
