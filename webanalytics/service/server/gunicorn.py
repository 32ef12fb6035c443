"""Several server processes under gunicorn, which starts, replaces and stops them; they need PostgreSQL.

``webanalytics serve --processes 4`` runs gunicorn with `Worker`. With settings from the environment so does
``gunicorn -k webanalytics.service.server.gunicorn.Worker webanalytics.service.server.gunicorn:app``;
aiohttp's own worker would serve without the protections of `webanalytics.service.server.connection`.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any

from aiohttp.worker import GunicornWebWorker
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.errors import HaltServer
from gunicorn.glogging import Logger

from webanalytics.errors import ParameterError, WebAnalyticsError
from webanalytics.service.accounts.base import AccountsError
from webanalytics.service.config.configuration import read_settings
from webanalytics.service.config.settings import ServiceSettings
from webanalytics.service.logs import JsonFormatter, Log, describe
from webanalytics.service.server.process import Opening, Servable, announce, open_service, serve_until

METRICS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
METRICS_PREFIX = "webanalytics-metrics-"
"""Prefix of the folders in which the processes of one service keep their counters."""

FOLDER_TRIES = 10
"""How many new folders may be taken for ones left over by services that start at the same moment."""

MARGIN_SECONDS = 5
"""Seconds beyond the grace period that a process may take to stop."""

HANG_SECONDS = 60
"""Seconds after which a process with a blocked event loop is replaced."""

AGAIN_SECONDS = 2.0
"""Wait of a replacement that cannot start, while its database is down for example, before it is replaced."""

FAILED = 1
"""Exit status of a process that gunicorn replaces."""


def app(settings: ServiceSettings) -> AbstractAsyncContextManager[Servable]:
    """Open the service: what gunicorn's command line names as the application."""
    return open_service(settings)


class Worker(GunicornWebWorker):
    """One server process: TERM finishes requests in progress, QUIT ends it at once."""

    def init_signals(self) -> None:
        """Take signals from gunicorn alone: Ctrl-C in a terminal reaches every process."""
        super().init_signals()
        self.loop.add_signal_handler(signal.SIGINT, lambda: None)
        self.loop.add_signal_handler(signal.SIGQUIT, os._exit, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM,))

    async def _run(self) -> None:
        self._stop = asyncio.Event()
        watching = self.loop.create_task(self._watch())
        log: Log | None = None
        try:
            self._settings = self._read_settings()
            log = Log(self._settings, capture=False)
            self._announcing = log
            await serve_until(self._stop, self._settings, self._socks(), self.wsgi, ready=self._ready)
        except (WebAnalyticsError, AccountsError) as error:
            sys.stderr.write(f"webanalytics: {error}\n")
            await self._failed()
        except Exception as error:  # gunicorn would write its message, which may hold a secret
            if log is not None:
                log.write("error", "exception", describe(error))
            await self._failed()
        finally:
            watching.cancel()
            if log is not None:
                log.close()
            signal.set_wakeup_fd(-1)  # the loop closes the pipe before it gives signals back

    def _read_settings(self) -> ServiceSettings:
        given: ServiceSettings | None = getattr(self.app, "settings", None)
        if given is not None:
            return given
        if self.cfg.is_ssl:
            raise ParameterError("The `certfile` parameter must be left out; let a proxy do TLS.", "certfile")
        settings = read_settings({}, os.environ)
        sock = self._socks()[0]
        most = 0.95 * self.cfg.graceful_timeout
        changes: dict[str, Any] = {"grace_seconds": min(settings.grace_seconds, most)}
        if sock.family != socket.AF_UNIX:
            changes |= dict(zip(("host", "port"), sock.getsockname(), strict=False))
        return settings.replace(processes=self.cfg.workers, **changes)

    def _socks(self) -> list[socket.socket]:
        return [getattr(sock, "sock", sock) for sock in self.sockets]

    def _ready(self) -> None:
        self.booted = True
        if self.age == 1:
            announce(self._socks()[0], self._settings, self._announcing)

    async def _failed(self) -> None:
        """End the whole service if a first process cannot start, else only this process."""
        if not self.booted and self.age <= self.cfg.workers:
            self.exit_code = Arbiter.WORKER_BOOT_ERROR
            return
        self.exit_code = FAILED
        if not self.booted:
            await asyncio.sleep(AGAIN_SECONDS)

    async def _watch(self) -> None:
        """Report to gunicorn that the loop is alive; stop on request, or when gunicorn is gone."""
        while self.alive and self.ppid == os.getppid():
            self.notify()
            await self._wait_next_notify()
        self._stop.set()
        while True:  # stopping takes as long as the grace
            self.notify()
            await asyncio.sleep(1)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Stop gracefully, without waiting for the next second."""
        super().handle_exit(sig, frame)
        self._notify_waiter_done()


class _Logger(Logger):  # type: ignore[misc]
    """Gunicorn's own messages as lines of JSON on standard error, exceptions without their messages."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonFormatter())


class _Arbiter(Arbiter):  # type: ignore[misc]
    def spawn_worker(self) -> Any:
        """Start a process, for which TERM waits until it can act on it: gunicorn sends it once."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM,))
        try:
            return super().spawn_worker()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def handle_int(self) -> None:
        """Stop gracefully on the first Ctrl-C; gunicorn ends at once on the second."""
        raise StopIteration


class _Gunicorn(BaseApplication):  # type: ignore[misc]
    """Gunicorn as ``webanalytics serve`` runs it: by settings, with nothing on its command line."""

    def __init__(self, settings: ServiceSettings, sock: int, opening: Opening, folder: str) -> None:
        self.settings, self._sock, self._opening, self._folder = settings, sock, opening, folder
        super().__init__()

    def load_config(self) -> None:
        """Translate the settings."""
        values = {
            "bind": f"fd://{self._sock}",
            "workers": self.settings.processes,
            "worker_class": f"{__name__}.Worker",
            "graceful_timeout": int(self.settings.grace_seconds) + MARGIN_SECONDS,
            "timeout": HANG_SECONDS,
            "loglevel": self.settings.log_level,
            "logger_class": _Logger,
            "control_socket_disable": True,
            "proc_name": "webanalytics",
            "child_exit": self._child_exit,
        }
        for name, value in values.items():
            if name in self.cfg.settings:  # older ones have no control socket
                self.cfg.set(name, value)

    def load(self) -> Opening:
        """Return what a worker opens."""
        return self._opening

    def _child_exit(self, _arbiter: Any, worker: Any) -> None:
        from webanalytics.service.metrics import forget_process

        forget_process(worker.pid, self._folder)


def serve_processes(settings: ServiceSettings, sock: socket.socket, opening: Opening) -> int:
    """Serve a bound socket with several processes until a signal, and return the exit status."""
    master = os.getpid()
    with metrics_folder() as folder:
        os.environ[METRICS_VARIABLE] = folder
        try:
            _Arbiter(_Gunicorn(settings, sock.detach(), opening, folder)).run()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else FAILED
            if os.getpid() != master:  # a worker, which has come back from its fork: the rest is the master's
                os._exit(status)
            return 2 if status else 0
        except HaltServer:  # two processes could not start, and gunicorn was stopping for the first
            return 2
    return 0


def _locked(folder: str) -> int | None:
    """Lock a folder and return its descriptor; None if it is in use, gone or another user's."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_uid == os.getuid() and Path(folder).exists():
            return descriptor
    except OSError:  # another has it
        pass
    os.close(descriptor)
    return None


def _new_folder() -> tuple[str, int]:
    """Make a folder and lock it."""
    for _ in range(FOLDER_TRIES):
        folder = tempfile.mkdtemp(prefix=METRICS_PREFIX)
        descriptor = _locked(folder)
        if descriptor is not None:
            return folder, descriptor
        shutil.rmtree(folder, ignore_errors=True)
    folder = tempfile.mkdtemp(prefix=METRICS_PREFIX)  # no locks on this file system: nobody removes it
    return folder, os.open(folder, os.O_RDONLY | os.O_CLOEXEC)


@contextmanager
def metrics_folder() -> Iterator[str]:
    """Make a folder for counters, and remove those of services that were killed.

    A folder is locked by its service's processes, which inherit its descriptor: one that can be locked is
    unused, however its service ended.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{METRICS_PREFIX}*"):
        lock = _locked(str(left))
        if lock is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)
    folder, descriptor = _new_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)
