"""Structured logs: one JSON line a request on standard error, never a key, a secret or a message.

Lines are written by a thread, so that a reader who falls behind does not hold the service up; when
too many wait, further ones are dropped, counted, and the count is a line.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, BinaryIO

import orjson
import structlog

from webanalytics.service.failures import describe
from webanalytics.service.results import Record
from webanalytics.service.settings import ServiceSettings

CAPACITY = 20_000
"""Lines that may wait to be written."""

PAUSE_SECONDS = 0.05
"""How long lines are collected before they are written together."""

CLOSE_SECONDS = 2.0
"""Longest wait for a slow reader when the service ends."""

ATOMIC_BYTES = 4096
"""What is written to a pipe in one piece, also beside other processes (PIPE_BUF on Linux)."""

MAX_TEXT = 300
_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z
OWN_LOGGER = "webanalytics"
LOGGERS = (OWN_LOGGER, "aiohttp", "asyncio")
"""Loggers of the standard library whose records become lines."""


class Writer:
    """Writes lines to a file descriptor, in a thread of its own.

    Parameters
    ----------
    file : int
        The file descriptor.
    capacity : int
        Lines that may wait.
    """

    def __init__(self, file: int, capacity: int = CAPACITY) -> None:
        self.dropped = 0
        self._file = file
        self._capacity = capacity
        self._lines: list[bytes] = []
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def msg(self, line: bytes) -> None:
        """Put a line into the queue; does not wait."""
        with self._lock:
            if len(self._lines) >= self._capacity:
                self.dropped += 1
                return
            self._lines.append(line)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="logs", daemon=True)
                self._thread.start()
        if not self._wake.is_set():
            self._wake.set()

    debug = info = warning = error = msg

    def _run(self) -> None:
        while not self._closing.is_set():
            self._wake.wait()
            self._closing.wait(PAUSE_SECONDS)
            self._wake.clear()
            self._write_waiting()

    def _write_waiting(self) -> None:
        with self._lock:
            lines, self._lines = self._lines, []
            dropped, self.dropped = self.dropped, 0
        if dropped:
            lines.append(_line("warning", "log lines dropped", {"lines": dropped}))
        piece: list[bytes] = []
        size = 0
        for line in lines:
            if piece and size + len(line) > ATOMIC_BYTES:
                self._write(b"".join(piece))
                piece, size = [], 0
            piece.append(line)
            size += len(line)
        if piece:
            self._write(b"".join(piece))

    def _write(self, content: bytes) -> None:
        try:
            while content:
                content = content[os.write(self._file, content) :]
        except OSError:  # nobody reads any more: the service goes on without a log
            pass

    def close(self) -> None:
        """Write what waits, unless the reader is too slow for that."""
        self._closing.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)
            if self._thread.is_alive():
                return
        self._write_waiting()


def _line(level: str, event: str, fields: Mapping[str, Any]) -> bytes:
    """Return one line outside structlog's chain."""
    stamp = structlog.processors.TimeStamper(fmt="iso", utc=True, key="time")
    return _render(None, level, stamp(None, level, {"level": level, "event": event, **fields}))


def _render(_logger: Any, _method: str, event: Any) -> bytes:
    """Return an event as a line of JSON, its time and level first; JSON escapes every control character."""
    return _dump({name: event.pop(name) for name in ("time", "level", "event")} | event)


def _dump(ordered: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(ordered, default=_type_name, option=_OPTIONS)
    except TypeError:  # a lone surrogate, or a number of more than 64 bits
        return json.dumps(ordered, default=_type_name, skipkeys=True).encode() + b"\n"


def _type_name(value: Any) -> str:
    """Stand for a value that JSON has nothing for: its text might tell too much."""
    return type(value).__name__


class _Handler(logging.Handler):
    """Turns records of the standard library's loggers into lines."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; other libraries' arguments are left out, since they may quote a request."""
        text = record.getMessage() if record.name.split(".")[0] == OWN_LOGGER else str(record.msg)
        fields: dict[str, Any] = {"logger": record.name, "text": text.split("\n")[0][:MAX_TEXT]}
        if record.exc_info and record.exc_info[1] is not None:
            fields.update(describe(record.exc_info[1]))
        self._log.write(record.levelname.lower(), "log", fields)


class Log:
    """The log of one process.

    Parameters
    ----------
    settings : ServiceSettings
        ``log_level``.
    stream : file object, optional
        Where lines go instead of standard error; it needs a file descriptor.
    capture : bool
        Whether what the standard library's loggers and the running event loop report becomes lines.
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
        handler = _Handler(self)
        handler.setLevel(self._level)
        for name in LOGGERS:
            logger = logging.getLogger(name)
            self._restore.append(partial(setattr, logger, "propagate", logger.propagate))
            self._restore.append(partial(logger.removeHandler, handler))
            logger.addHandler(handler)
            logger.propagate = False

    def _capture_loop(self) -> None:
        """Write what the loop would report: its own way shows exceptions with their messages."""
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
                    "milliseconds": round(seconds * 1000, 3),
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
        """Write what waits, and leave the standard library's loggers as they were."""
        for restore in reversed(self._restore):
            restore()
        self._restore.clear()
        self.writer.close()
