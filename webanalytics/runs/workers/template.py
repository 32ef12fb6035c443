"""The process that forks workers. A first call begins it before all other imports: this imports little."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from typing import IO

START_SECONDS = 120.0
_BOOTSTRAP = (
    "import gc, json, sys; gc.disable(); sys.path[:] = json.loads(sys.argv[1]); "  # imports leave little
)


def last_line(file: IO[bytes]) -> str:
    """Return the last line that a process wrote."""
    file.seek(0)
    lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "no message"


def command_of(code: str, *arguments: str) -> list[str]:
    """Return the command of a process that runs code with the modules that this one finds."""
    return [sys.executable, "-c", _BOOTSTRAP + code, json.dumps(sys.path), *arguments]


def _two_pipes() -> tuple[tuple[int, int], tuple[int, int]]:
    first = os.pipe()
    try:
        return first, os.pipe()
    except OSError:
        for end in first:
            os.close(end)
        raise


class ForkedProcess:
    """A worker forked by the template; known by a descriptor, since its number may be reused."""

    def __init__(self, pid: int, requests: IO[bytes], answers: IO[bytes], prepared: set[str]) -> None:
        self.pid, self.requests, self.answers, self.prepared = pid, requests, answers, prepared
        try:
            self._descriptor = os.pidfd_open(pid)
        except ProcessLookupError:  # it has ended already, as its pipes will show
            self._descriptor = -1

    @property
    def alive(self) -> bool:
        """Whether the process is still there."""
        return self._descriptor >= 0 and not select.select([self._descriptor], [], [], 0)[0]

    def kill(self) -> None:
        """End the process at once."""
        if self._descriptor >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    def close(self) -> None:
        """End the process and close its pipes."""
        self.kill()
        for pipe in (self.requests, self.answers):
            with contextlib.suppress(OSError):
                pipe.close()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def last_words(self) -> str:
        """Return what is known of the end of the process."""
        return "the worker process ended"


class Template:
    """The process that forks workers; started when the first one is needed."""

    _owner = 0
    _ended = False

    def __init__(self) -> None:
        self._own()

    def _own(self) -> None:
        """Begin anew in another process than before: after a fork all of it belongs to the parent."""
        if self._owner != os.getpid():
            self._process: subprocess.Popen[bytes] | None = None
            self._control: socket.socket | None = None
            self._stderr: IO[bytes] | None = None
            self._prepared: set[str] = set()
            self._lock, self._owner = threading.Lock(), os.getpid()

    @staticmethod
    def works_here() -> bool:
        """Return whether this system can fork workers from a template."""
        return sys.platform == "linux" and hasattr(os, "pidfd_open") and hasattr(signal, "pidfd_send_signal")

    def begin(self, names: tuple[str, ...]) -> None:
        """Start the process if it is not there, so that it imports the analyses while the call goes on."""
        self._own()
        with self._lock, contextlib.suppress(OSError):  # `fork` tries again, and says what was wrong
            if self.works_here() and (self._process is None or self._process.poll() is not None):
                self._start(names)

    def fork(self, memory: int, names: tuple[str, ...]) -> ForkedProcess:
        """Return a new worker that has the analyses imported."""
        from webanalytics.errors import BackendError
        from webanalytics.runs.workers.worker import PID

        self._own()
        with self._lock:
            if self._ended:
                raise BackendError("the worker process did not start: this process ends")
            if self._process is None or self._process.poll() is not None:
                self._start()
            assert self._process and self._control and self._stderr  # noqa: S101, PT018
            self._prepared.update(names)
            theirs, ours = _two_pipes()
            try:
                message = json.dumps([memory, sorted(self._prepared)]).encode()
                socket.send_fds(self._control, [message], [theirs[0], ours[1]])
                answer = self._control.recv(PID.size, socket.MSG_WAITALL)
                if len(answer) != PID.size:
                    self._process.wait(START_SECONDS)
                    raise OSError(last_line(self._stderr))
            except OSError as error:
                for pipe in (theirs[1], ours[0]):
                    os.close(pipe)
                self._close()
                raise BackendError(f"the worker process did not start: {error}") from error
            finally:
                os.close(theirs[0])
                os.close(ours[1])
            requests, answers = os.fdopen(theirs[1], "wb"), os.fdopen(ours[0], "rb")
            return ForkedProcess(PID.unpack(answer)[0], requests, answers, set(self._prepared))

    def _start(self, names: tuple[str, ...] = ()) -> None:
        self._close()
        self._prepared.update(names)
        self._control, theirs = socket.socketpair()
        self._control.settimeout(START_SECONDS)
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        code = "from webanalytics.runs.workers.worker import fork_for_ever; fork_for_ever(sys.argv[2:])"
        command = command_of(code, *names)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603
                command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=self._stderr
            )
        if self._ended:
            self._process.kill()

    def _close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        for end in (self._control, self._stderr):
            if end is not None:
                end.close()
        self._process = self._control = self._stderr = None
        self._prepared = set()

    def end(self) -> None:
        """End the template for good, also while a thread waits for it, as the exit of Python would then."""
        self._ended = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the template, and with it every worker that it forked."""
        self._own()
        with self._lock:
            self._close()


TEMPLATE = Template()
atexit.register(TEMPLATE.close)
