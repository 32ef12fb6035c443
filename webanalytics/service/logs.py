"""Structured logs: one JSON line per request on standard error, never a key, a secret or a message.

Lines are made where they arise, and the thread of a standard `QueueListener` writes them, so that a slow
reader does not hold the service up; when too many wait, further ones are dropped and counted.
"""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import sys
import traceback
import warnings
from collections import deque
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from logging.handlers import QueueListener
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

import orjson

from webanalytics.service.results import Record
from webanalytics.service.settings import ServiceSettings

CAPACITY = 20_000
"""Lines that may wait to be written."""

CLOSE_SECONDS = 2.0
"""Longest wait for a slow reader when the service stops."""

MAX_TEXT = 300
PLACES = 5
OWN_LOGGER = "webanalytics"
"""The logger whose arguments are shown: it quotes no request."""
LOGGERS = (OWN_LOGGER, "aiohttp", "asyncio", None)
"""Loggers of the standard library whose records become lines; None is the root, for those of all others."""

_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z


def _name(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _place(file: str, line: int) -> str:
    return f"{'/'.join(Path(file).parts[-3:])}:{line}"


def describe(error: BaseException) -> dict[str, Any]:
    """Return what may be logged about an exception: its type and innermost places, and its cause's type.

    A message may quote what a caller sent, a key or a secret included, so none is logged; neither are
    source lines. The number of a system error has a name of its own.

    >>> try:
    ...     int("a secret")
    ... except ValueError as error:
    ...     describe(error)["exception"]
    'ValueError'
    """
    frames = deque(traceback.walk_tb(error.__traceback__), maxlen=PLACES)
    places = [f"{_place(frame.f_code.co_filename, line)} {frame.f_code.co_name}" for frame, line in frames]
    found: dict[str, Any] = {"exception": _name(error), "places": places[::-1]}
    if isinstance(error, OSError) and error.errno is not None:
        found["errno"] = errno.errorcode.get(error.errno, str(error.errno))
    cause = error.__cause__ or error.__context__
    if cause is not None:
        found["cause"] = _name(cause)
    return found


def _dump(event: Mapping[str, Any]) -> bytes:
    """Return a line; JSON escapes every control character."""
    try:
        return orjson.dumps(event, default=_type_name, option=_OPTIONS)
    except TypeError:  # a lone surrogate, or a number of more than 64 bits
        return json.dumps(event, default=_type_name, skipkeys=True).encode() + b"\n"


def _type_name(value: Any) -> str:
    """Return the type's name for a value that JSON cannot hold: its text might reveal too much."""
    return type(value).__name__


class Writer(QueueListener):
    """Writes lines to a file descriptor in its own thread."""

    def __init__(self, file: int, capacity: int = CAPACITY) -> None:
        self.dropped = 0
        self._file = file
        self._capacity = capacity
        self._waiting: SimpleQueue[Any] = SimpleQueue()
        super().__init__(self._waiting)
        self.start()

    def add(self, line: bytes) -> None:
        """Put a line into the queue; does not wait."""
        if self._waiting.qsize() >= self._capacity:
            self.dropped += 1
        else:
            self._waiting.put(line)

    def handle(self, record: Any) -> None:
        """Write a line: in one call, so that those of several processes do not mix (POSIX, write)."""
        if self.dropped:
            self._write_dropped()
        self._write(record)

    def _write_dropped(self) -> None:
        dropped = self.dropped
        self.dropped -= dropped
        self._write(_dump({"level": "warning", "event": "log lines dropped", "lines": dropped}))

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


class _Handler(logging.Handler):
    """Writes records of the standard library's loggers; what other libraries quote is left out."""

    def __init__(self, log: Log, level: int) -> None:
        super().__init__(level)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write the first line of a record's text."""
        own = record.name.split(".")[0] == OWN_LOGGER
        text = record.getMessage() if own else str(record.msg)
        fields: dict[str, Any] = {"logger": record.name, "text": text.split("\n")[0][:MAX_TEXT]}
        if record.exc_info and record.exc_info[1] is not None:
            fields.update(describe(record.exc_info[1]))
        self._log.write(record.levelno, "log", **fields)


class Log:
    """The log of one process.

    With ``capture`` it also holds what the standard library's loggers, Python's warnings and the running
    event loop report.
    """

    def __init__(
        self, settings: ServiceSettings, stream: BinaryIO | None = None, *, capture: bool = True
    ) -> None:
        target = stream or sys.__stderr__
        # Without a standard error, as of some daemons, its number may be that of any other file.
        self.writer = Writer(target.fileno() if target else os.open(os.devnull, os.O_WRONLY))
        level = logging.getLevelNamesMapping()[settings.log_level.upper()]
        self._level = level
        self._captured = ExitStack()
        if capture:
            self._capture_loggers(level)
            self._capture_warnings()
            self._capture_loop()

    def _capture_loggers(self, level: int) -> None:
        handler = _Handler(self, level)
        for name in LOGGERS:
            logger = logging.getLogger(name)
            self._captured.callback(setattr, logger, "propagate", logger.propagate)
            self._captured.callback(logger.removeHandler, handler)
            logger.addHandler(handler)
            logger.propagate = False

    def _capture_warnings(self) -> None:
        """Write Python's warnings by kind and place, but none of aiohttp: those quote what was sent."""
        self._captured.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"aiohttp\.")
        warnings.showwarning = lambda _message, category, file, line, *_: self.warning(
            "log", logger="py.warnings", text=f"{category.__qualname__} at {_place(file, line)}"
        )

    def _capture_loop(self) -> None:
        """Write what the loop would report: its own handler shows exceptions with their messages."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._captured.callback(loop.set_exception_handler, loop.get_exception_handler())
        loop.set_exception_handler(self._loop_failed)

    def _loop_failed(self, _loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        error = context.get("exception")
        fields = describe(error) if isinstance(error, BaseException) else {}
        self.error("log", logger="asyncio", text=str(context.get("message", ""))[:MAX_TEXT], **fields)

    def request(self, record: Record, seconds: float) -> None:
        """Write the line of a finished request."""
        known = {
            "id": record.request_id,
            "key": record.key,
            "operation": record.operation,
            "status": record.status,
            "credits": record.credits,
            "milliseconds": round(seconds * 1e6) / 1000,
            "inputs": record.inputs,
        }
        self.write(logging.INFO, "request", **{**record.notes, **known})

    def info(self, event: str, **fields: Any) -> None:
        """Write a line of level info."""
        self.write(logging.INFO, event, **fields)

    def warning(self, event: str, **fields: Any) -> None:
        """Write a line of level warning."""
        self.write(logging.WARNING, event, **fields)

    def error(self, event: str, **fields: Any) -> None:
        """Write a line of level error."""
        self.write(logging.ERROR, event, **fields)

    def write(self, level: int, event: str, **fields: Any) -> None:
        """Write a line of a level of the module `logging`."""
        if level >= self._level:
            name = logging.getLevelName(min(level, logging.ERROR)).lower()
            self.writer.add(_dump({"time": datetime.now(UTC), "level": name, "event": event, **fields}))

    def close(self) -> None:
        """Write the remaining lines, and restore the standard library's loggers."""
        self._captured.close()
        self.writer.close()
