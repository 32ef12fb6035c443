"""A process that has everything imported and forks a worker whenever the pool asks for one (Linux).

Workers made this way share the memory of what is imported, 80 MB each, and start in milliseconds,
also to replace one that had to be killed. The template itself is a plain process without threads
that does nothing else, so forking it is safe; the notebook is never forked.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import struct
from collections.abc import Sequence

from webanalytics.runs.workers.worker import prepare, serve

PID = struct.Struct(">q")
_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """Have the kernel end this process with the template, even in the middle of a hanging parse."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main(names: Sequence[str] = ()) -> None:
    """Fork a worker for each message on standard input, a socket, until its other end is closed.

    The analyses named are imported before the first message.
    """
    control = socket.socket(fileno=0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps ended workers
    prepare(tuple(names))
    while True:
        message, pipes, _, _ = socket.recv_fds(control, 65536, 2)
        if not message:
            return
        memory, needed = json.loads(message)
        prepare(tuple(needed))
        pid = os.fork()
        if pid == 0:
            _be_worker(control, pipes, memory)
        for pipe in pipes:
            os.close(pipe)
        control.sendall(PID.pack(pid))


def _be_worker(control: socket.socket, pipes: list[int], memory: int) -> None:
    status = 1
    try:
        _die_with_parent()
        control.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        requests, answers = (os.fdopen(pipe, mode) for pipe, mode in zip(pipes, ("rb", "wb"), strict=True))
        serve(requests, answers, memory)  # type: ignore[arg-type]
        status = 0
    finally:
        os._exit(status)  # without the clean-up that belongs to the template
