"""How worker processes are started, watched and ended."""

from __future__ import annotations

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
from typing import IO, Protocol

from webanalytics.backends.template import PID
from webanalytics.errors import BackendError

START_SECONDS = 120.0
_BOOTSTRAP = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "


class Process(Protocol):
    """A worker process and its two pipes."""

    requests: IO[bytes]
    answers: IO[bytes]
    pid: int
    prepared: set[str]

    @property
    def alive(self) -> bool:
        """Whether the process is still there."""
        ...

    def kill(self) -> None:
        """End the process at once."""
        ...

    def close(self) -> None:
        """End the process and give its pipes back."""
        ...

    def last_words(self) -> str:
        """Return the last line the process wrote to standard error."""
        ...


def _last_line(file: IO[bytes]) -> str:
    file.seek(0)
    lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "no message"


def _command(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", _BOOTSTRAP + code, json.dumps(sys.path), *arguments]


class StartedProcess:
    """A worker that is a process of its own; the way that works everywhere."""

    def __init__(self, memory: int) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        command = _command(
            "from webanalytics.backends.worker import main; main(int(sys.argv[2]))", str(memory)
        )
        self._process = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr
        )
        assert self._process.stdin is not None  # noqa: S101
        assert self._process.stdout is not None  # noqa: S101
        self.requests, self.answers = self._process.stdin, self._process.stdout
        self.pid = self._process.pid
        self.prepared: set[str] = set()

    @property
    def alive(self) -> bool:
        """Whether the process is still there."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def close(self) -> None:
        """End the process and give its pipes back."""
        self._process.kill()
        self._process.wait()
        for pipe in (self.requests, self.answers, self._stderr):
            with contextlib.suppress(OSError):  # what could not be written is of no use any more
                pipe.close()

    def last_words(self) -> str:
        """Return the last line the process wrote to standard error."""
        return _last_line(self._stderr)


class ForkedProcess:
    """A worker forked by the template; known by a descriptor, for its number may be another's one day."""

    def __init__(self, pid: int, requests: IO[bytes], answers: IO[bytes], prepared: set[str]) -> None:
        self.pid, self.requests, self.answers, self.prepared = pid, requests, answers, prepared
        try:
            self._descriptor = os.pidfd_open(pid)
        except ProcessLookupError:  # it has ended already; its pipes say so to whoever asks
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
        """End the process and give its pipes back."""
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

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._stderr: IO[bytes] | None = None
        self._prepared: set[str] = set()

    @staticmethod
    def works_here() -> bool:
        """Whether this system can do it."""
        return sys.platform == "linux" and hasattr(os, "pidfd_open") and hasattr(signal, "pidfd_send_signal")

    def fork(self, memory: int, names: tuple[str, ...]) -> ForkedProcess:
        """Return a new worker that has the analyses imported.

        Raises
        ------
        BackendError
            Where the template cannot be started, or cannot import what is asked for.
        """
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            assert self._control is not None  # noqa: S101
            self._prepared.update(names)
            theirs, ours = os.pipe(), os.pipe()
            try:
                message = json.dumps([memory, sorted(self._prepared)]).encode()
                socket.send_fds(self._control, [message], [theirs[0], ours[1]])
                answer = self._control.recv(PID.size, socket.MSG_WAITALL)
                if len(answer) != PID.size:
                    raise OSError(self._last_words())
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

    def _last_words(self) -> str:
        if self._process is not None:
            self._process.wait(START_SECONDS)
        return _last_line(self._stderr) if self._stderr is not None else "no message"

    def _start(self) -> None:
        self._close()
        self._control, theirs = socket.socketpair()
        self._control.settimeout(START_SECONDS)
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        command = _command("from webanalytics.backends.template import main; main()")
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603
                command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=self._stderr
            )

    def _close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        for end in (self._control, self._stderr):
            if end is not None:
                end.close()
        self._process = self._control = self._stderr = None
        self._prepared = set()

    def close(self) -> None:
        """End the template, and with it every worker that it forked."""
        with self._lock:
            self._close()

    def forget(self) -> None:
        """Let go of a template that belongs to the parent of this process."""
        self._process = self._control = self._stderr = None
        self._prepared = set()
        self._lock = threading.Lock()
