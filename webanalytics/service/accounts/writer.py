"""The one thread that writes to an SQLite file: all commands that have arrived are committed together.

There is no timer. While one group is being committed the next one gathers, so a lone command never waits
and many commands share one flush to the disk. Nothing is answered before its commit.

A server and a command next to it take turns through their own lock: before SQLite 3.51.3 two processes
that write or checkpoint at the same instant can damage a file (https://sqlite.org/wal.html, "The
WAL-reset bug"), and SQLite's own waiting is unfair.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from webanalytics.service.accounts.base import AccountsError, Reservation
from webanalytics.service.accounts.keys import Commands
from webanalytics.service.accounts.schema import Steps, for_sqlite, migrate
from webanalytics.service.accounts.store import failure

if sys.platform != "win32":
    import fcntl

T = TypeVar("T")

MOST_WAITING = 20_000
"""Most commands waiting for the writer; further ones are refused."""

MOST_IN_GROUP = 512
"""Commands from which a transaction takes no more."""

BUSY_SECONDS = 5.0
"""Seconds for which another program (a command, a backup, the sqlite3 shell) may hold the file."""

TURN_SECONDS = 0.002
"""Seconds between attempts to write while another of our processes writes."""

LOOK_SECONDS = 0.1
"""Seconds between checks for other processes' commits."""

OLDEST_SQLITE = (3, 35, 0)
"""The first with RETURNING (https://sqlite.org/lang_returning.html)."""


@dataclass(slots=True, eq=False)
class Job:
    """One command queued for the writer."""

    command: Callable[..., Steps[Any]]
    arguments: tuple[Any, ...]
    future: asyncio.Future[Any]
    result: Any = None
    error: Exception | None = None

    @property
    def groups(self) -> bool:
        """Whether it can share its statements with other charges."""
        return self.command is Commands.charge and self.arguments[0].idempotency is None


class Writer:
    """A thread with the only connection to an SQLite file."""

    def __init__(
        self,
        path: Path,
        commands: Commands,
        clock: Callable[[], float],
        *,
        on_change: Callable[[], None] | None = None,
        most_waiting: int = MOST_WAITING,
        most_in_group: int = MOST_IN_GROUP,
    ) -> None:
        self._path, self._commands, self._clock = path, commands, clock
        self._most_waiting, self._most_in_group = most_waiting, most_in_group
        self._on_change = on_change
        self._version: tuple[int] | None = None
        self._look_at = 0.0  # when the next check is due
        self._waiting = 0
        self._gathered: list[Job] = []  # in this turn of the loop
        self._queue: queue.SimpleQueue[list[Job] | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread: threading.Thread | None = None
        self._closing = False

    async def open(self) -> None:
        """Start the thread, open the file and bring its schema to the newest version."""
        opened = self._loop.create_future()
        self._thread = threading.Thread(target=self._work, args=(opened,), name="accounts", daemon=True)
        self._thread.start()
        await opened

    def submit(self, command: Callable[..., Steps[T]], arguments: tuple[Any, ...]) -> asyncio.Future[T]:
        """Queue a command; the future has its result once it is on the disk."""
        if self._closing:
            raise AccountsError("The accounts database is closed.")
        if self._waiting >= self._most_waiting:
            raise AccountsError("The accounts database has too many calls waiting.")
        self._waiting += 1
        future: asyncio.Future[T] = self._loop.create_future()
        if not self._gathered:
            self._loop.call_soon(self._hand_over)
        self._gathered.append(Job(command, arguments, future))
        return future

    def _hand_over(self) -> None:
        """Queue the commands of one turn of the loop together, so that the thread wakes once for them."""
        self._queue.put(self._gathered)
        self._gathered = []

    async def close(self) -> None:
        """Finish what is queued, close the file and end the thread."""
        if self._closing or self._thread is None:
            return
        self._closing = True
        self._hand_over()
        self._queue.put(None)
        await self._loop.run_in_executor(None, self._thread.join)
        await asyncio.sleep(0)  # the last group is delivered

    def _deliver(self, group: Sequence[Job]) -> None:
        self._waiting -= len(group)
        for job in group:
            future = job.future
            if future.done():
                if isinstance(job.result, Reservation) and not self._closing:  # nobody waits for it
                    self.submit(Commands.settle, (job.result, 0, None))
            elif job.error is not None:
                future.set_exception(job.error)
            else:
                future.set_result(job.result)

    def _call(self, callback: Callable[..., object], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to be notified
            self._loop.call_soon_threadsafe(callback, *arguments)

    def _work(self, opened: asyncio.Future[None]) -> None:
        try:
            self._connect()
        except Exception as error:  # any failure to open is the caller's answer
            self._call(_settle, opened, failure(error))
            return
        self._call(_settle, opened, None)
        try:
            ended = False
            while not ended:
                jobs, ended = self._next_group()
                if jobs:
                    self._run_group(jobs)
                self._look()
                if jobs:
                    self._call(self._deliver, jobs)
        finally:
            self._close()

    def _connect(self) -> None:
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise AccountsError("The accounts need SQLite 3.35 or newer.")
        self._path.touch(mode=0o600)
        self._connection = sqlite3.connect(
            self._path, timeout=BUSY_SECONDS, isolation_level=None, cached_statements=256
        )
        self._turn_lock = os.open(f"{self._path}.turn", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._cursor = self._connection.cursor()
        try:
            with self._turn():
                for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
                    self._cursor.execute(f"PRAGMA {setting}").fetchall()
                self._cursor.execute("BEGIN IMMEDIATE")
                self._drive(migrate("sqlite"))
                self._cursor.execute("COMMIT")
        except Exception:
            self._close()
            raise

    def _close(self) -> None:
        """Close the file; the last one to do so writes the log into it."""
        with contextlib.suppress(AccountsError), self._turn():
            self._connection.close()
        self._connection.close()
        os.close(self._turn_lock)

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Keep our other processes from writing meanwhile."""
        until = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                fcntl.flock(self._turn_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise AccountsError("The accounts database is busy; repeat the command.") from None
                time.sleep(TURN_SECONDS)
        try:
            yield
        finally:
            fcntl.flock(self._turn_lock, fcntl.LOCK_UN)

    def _look(self) -> None:
        """Notice commits of other processes: the data version changes with those, not with our own."""
        now = time.monotonic()
        if self._on_change is None or now < self._look_at:
            return
        self._look_at = now + LOOK_SECONDS
        try:
            version = self._cursor.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:  # whether there was a change is unknown
            version = None
        if version is None or version != self._version:
            self._call(self._on_change)
        self._version = version

    def _next_group(self) -> tuple[list[Job], bool]:
        """Wait briefly for jobs; return all that have arrived by then, and whether they are the last."""
        group: list[Job] = []
        wait = None if self._on_change is None else max(0.0, self._look_at - time.monotonic())
        with contextlib.suppress(queue.Empty):
            while len(group) < self._most_in_group:
                jobs = self._queue.get(timeout=wait)
                if jobs is None:
                    return group, True
                group += jobs
                wait = 0.0
        return group, False

    def _run_group(self, jobs: Sequence[Job]) -> None:
        try:
            with self._turn():
                self._transact(jobs)
        except AccountsError as error:
            self._fail(jobs, error)

    def _transact(self, jobs: Sequence[Job]) -> None:
        """Run jobs in one transaction; if one fails, run each in its own."""
        try:
            self._cursor.execute("BEGIN IMMEDIATE")
        except Exception as error:  # the thread lives on; every caller is notified
            self._fail(jobs, error)
            return
        try:
            self._run_jobs(jobs)
        except Exception as error:
            self._roll_back()
            if len(jobs) == 1:
                self._fail(jobs, error)
            else:
                for job in jobs:
                    self._transact([job])
            return
        try:
            self._cursor.execute("COMMIT")
        except Exception as error:
            self._roll_back()
            self._fail(jobs, error)

    def _run_jobs(self, jobs: Sequence[Job]) -> None:
        now = self._clock()
        charges = [job for job in jobs if job.groups] if len(jobs) > 1 else []
        if charges:
            calls = [job.arguments[0] for job in charges]
            results = self._drive(self._commands.charge_group(now, calls))
            for job, result in zip(charges, results, strict=True):
                job.result = result
            if len(charges) == len(jobs):
                return
            jobs = [job for job in jobs if not job.groups]
        for job in jobs:
            job.result = self._drive(job.command(self._commands, now, *job.arguments))

    def _drive(self, steps: Steps[T]) -> T:
        """Run one command's statements."""
        cursor = self._cursor
        try:
            statement, parameters = next(steps)
            while True:
                rows = cursor.execute(for_sqlite(statement), parameters).fetchall()
                statement, parameters = steps.send(rows)
        except StopIteration as stop:
            result: T = stop.value
            return result

    def _roll_back(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._cursor.execute("ROLLBACK")

    def _fail(self, jobs: Sequence[Job], error: Exception) -> None:
        for job in jobs:
            job.result, job.error = None, failure(error)


def _settle(future: asyncio.Future[None], error: Exception | None) -> None:
    if not future.done():
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
