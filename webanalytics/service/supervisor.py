"""``webanalytics serve``: binds the port, then serves it in this process or in several.

Several processes share one listening socket. With an SQLite database this process owns it and they
talk to it. A process that ends is replaced; when it keeps ending at once, less and less often.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path

from webanalytics.errors import ParameterError
from webanalytics.service.child import READY, SERVICE, WRONG, StopSignals, load, serve_until
from webanalytics.service.logs import Log
from webanalytics.service.metrics import FOLDER_VARIABLE, forget_process
from webanalytics.service.settings import ServiceSettings
from webanalytics.service.transport import BACKLOG

if sys.platform != "win32":
    import fcntl

ACCOUNTS = "webanalytics.service.accounts:open_accounts"
CHILD = "webanalytics.service.child"
MODULES = tuple(os.path.realpath(place) for place in sys.path)
"""Where modules are found: a process started by this one finds the same ones, and none in its folder."""

METRICS_PREFIX = "webanalytics-metrics-"
"""How the names of the folders begin in which the processes of one service keep their counters."""

FOLDER_TRIES = 10
"""How many new folders may be taken for ones left over by services that start at the same moment."""

STABLE_SECONDS = 10.0
"""A process that ran for so long has not failed at once."""

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
"""Seconds before a process that ended at once is replaced: doubled each time, up to this."""

MARGIN_SECONDS = 5.0
"""How much longer than the grace a process may take to stop."""


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    Raises
    ------
    ParameterError
        When the address is none of this machine's, or the port is taken or not allowed.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):  # a name that is unknown, or none that could be one
        raise ParameterError(
            "The `host` parameter must be an address or name of this machine.", "host"
        ) from None
    family, kind, protocol, _, address = found[0]
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise _bind_error(error, host, port) from None
    sock.setblocking(False)
    return sock


def _bind_error(error: OSError, host: str, port: int) -> ParameterError:
    if error.errno == errno.EADDRINUSE:
        sentence = f"The `port` parameter must be a free port; {port} on {host} is taken by another program."
        return ParameterError(sentence, "port")
    if error.errno in (errno.EACCES, errno.EPERM):
        sentence = f"The `port` parameter must be a port that this user may listen on; {port} is not."
        return ParameterError(sentence, "port")
    return ParameterError("The `host` parameter must be an address or name of this machine.", "host")


def url_of(sock: socket.socket) -> str:
    """Return the address of a listening socket as a URL."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if sock.family == socket.AF_INET6 else f"http://{host}:{port}"


def _locked(folder: str) -> int | None:
    """Lock a folder and return its descriptor; None where it is in use, gone or not this user's."""
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
def metrics_folder() -> Iterator[tuple[str, int]]:
    """Make a folder for counters, and remove those of services that were killed.

    A folder is locked by its service's processes, which all have its descriptor: one that can be
    locked belongs to nobody, whatever became of its service.

    Yields
    ------
    tuple of str and int
        The folder, and the descriptor that the processes are to inherit.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{METRICS_PREFIX}*"):
        lock = _locked(str(left))
        if lock is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)
    folder, descriptor = _new_folder()
    try:
        yield folder, descriptor
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


class Supervisor:
    """Keeps server processes running.

    Parameters
    ----------
    settings : ServiceSettings
        The configuration; ``processes`` says how many.
    sock : socket.socket
        The listening socket they share.
    service, accounts : str
        ``module:name`` of the functions that open a service and the accounts.
    log : Log
        Gets a line whenever a process ends or is replaced.
    """

    def __init__(
        self, settings: ServiceSettings, sock: socket.socket, service: str, accounts: str, log: Log
    ) -> None:
        self._settings = settings
        self._sock = sock
        self._service = service
        self._accounts = accounts
        self._log = log
        self._children: dict[int, Process] = {}
        self._stop = asyncio.Event()
        self._failed = False
        self._folder = ""
        self._lock = -1

    async def run(self) -> int:
        """Serve until a signal, and return the exit status."""
        self._stop = StopSignals(at_once=self._kill).received
        with metrics_folder() as (self._folder, self._lock):
            async with self._owned_accounts():
                ready = [asyncio.Event() for _ in range(self._settings.processes)]
                keepers = [asyncio.create_task(self._keep(event)) for event in ready]
                await self._wait_for(ready)
                if not self._stop.is_set():
                    announce(self._sock, self._settings, self._log)
                await self._stop.wait()
                self._sock.close()
                await self._end(keepers)
        return WRONG if self._failed else 0

    async def _wait_for(self, ready: list[asyncio.Event]) -> None:
        """Wait until all processes serve, or one of them cannot."""
        everyone = asyncio.gather(*(event.wait() for event in ready))
        stopped = asyncio.create_task(self._stop.wait())
        await asyncio.wait((everyone, stopped), return_when=asyncio.FIRST_COMPLETED)
        everyone.cancel()
        stopped.cancel()
        with suppress(asyncio.CancelledError):
            await everyone

    @asynccontextmanager
    async def _owned_accounts(self) -> AsyncIterator[None]:
        """Own an SQLite database for the processes: it takes one writer only."""
        if not self._settings.database.startswith("sqlite:"):
            yield
            return
        accounts = await load(self._accounts)(self._settings.database, self._settings, owner=True)
        try:
            yield
        finally:
            await accounts.close()

    async def _start(self) -> Process:
        environment = {
            **os.environ,
            FOLDER_VARIABLE: self._folder,
            "PYTHONPATH": os.pathsep.join(MODULES),
        }
        command = (sys.executable, "-P", "-m", CHILD)
        files = (self._sock.fileno(), self._lock)
        # Each has a session of its own: Ctrl-C is for the supervisor, which stops them.
        child = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, pass_fds=files, start_new_session=True, env=environment
        )
        self._children[child.pid] = child
        settings = self._settings.to_mapping()
        order = {"settings": settings, "service": self._service, "socket": self._sock.fileno()}
        if child.stdin is not None:
            child.stdin.write(json.dumps(order).encode() + b"\n")
        return child

    async def _keep(self, ready: asyncio.Event) -> None:
        """Keep one process running until the service stops."""
        loop = asyncio.get_running_loop()
        pause = 0.0
        while not self._stop.is_set():
            began = loop.time()
            child = await self._start()
            if self._stop.is_set():
                child.terminate()
            if child.stdout is not None and await child.stdout.readline() == READY:
                ready.set()
            status = await child.wait()
            if child.stdin is not None:
                child.stdin.close()
            del self._children[child.pid]
            forget_process(child.pid, self._folder)
            if self._stop.is_set():
                return
            if not ready.is_set():  # it has never worked: that is for the operator
                self._failed = True
                self._stop.set()
                return
            self._log.warning("process ended", process=child.pid, exit_status=status)
            stable = loop.time() - began >= STABLE_SECONDS
            pause = FIRST_PAUSE if stable or not pause else min(2 * pause, LONGEST_PAUSE)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), 0.0 if stable else pause)

    async def _end(self, keepers: list[asyncio.Task[None]]) -> None:
        """Have all processes finish what is under way."""
        for child in list(self._children.values()):
            with suppress(ProcessLookupError):
                child.terminate()
        _, late = await asyncio.wait(keepers, timeout=self._settings.grace_seconds + MARGIN_SECONDS)
        if late:
            self._kill()
            await asyncio.wait(late)

    def _kill(self) -> None:
        for child in list(self._children.values()):
            with suppress(ProcessLookupError):
                child.send_signal(signal.SIGKILL)
        shutil.rmtree(self._folder, ignore_errors=True)


def announce(sock: socket.socket, settings: ServiceSettings, log: Log) -> None:
    """Tell that the service answers, to a person and in the log."""
    url = url_of(sock)
    print(f"webanalytics is listening on {url}", file=sys.stderr, flush=True)
    log.info("listening", url=url, processes=settings.processes)
    if settings.processes > 1 and settings.rate_limit_storage.startswith("memory:"):
        log.warning("each process counts requests a minute by itself: set rate_limit_storage to redis://...")


async def _run(settings: ServiceSettings, sock: socket.socket, service: str, accounts: str) -> int:
    several = settings.processes > 1
    log = Log(settings, capture=several)
    try:
        if several:
            return await Supervisor(settings, sock, service, accounts, log).run()
        stop = StopSignals().received
        ready = partial(announce, sock, settings, log)
        await serve_until(stop, settings, sock, service, owner=True, ready=ready)
        log.info("stopped")
        return 0
    finally:
        log.close()


def serve(settings: ServiceSettings, service: str = SERVICE, accounts: str = ACCOUNTS) -> int:
    """Serve until a signal, and return the exit status.

    Parameters
    ----------
    settings : ServiceSettings
        The configuration.
    service : str
        ``module:name`` of the function that opens a service.
    accounts : str
        ``module:name`` of the function that opens the accounts, for several processes on SQLite.

    Returns
    -------
    int
        0 after a graceful stop, 2 when a process could not start.

    Raises
    ------
    ParameterError
        When the port cannot be listened on.
    """
    with bind(settings.host, settings.port) as sock:
        return asyncio.run(_run(settings.replace(port=sock.getsockname()[1]), sock, service, accounts))
