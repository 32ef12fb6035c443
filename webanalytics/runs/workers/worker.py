"""The inside of a worker process: analyses of content that may be hostile, found by their paths.

A worker reads one pickled message at a time from its standard input and answers on its standard
output. It is a plain ``python -c`` process, not a multiprocessing child, so that a script needs
no ``if __name__ == "__main__"`` guard and nothing of the notebook is forked. It imports the
analyses alone and ends by itself when its parent is gone or has been silent for long.

On Linux a template, which has everything imported, forks a worker whenever the pool asks for one: they share
the memory of what is imported, 80 MB each, and start in milliseconds. The template is a plain process without
threads that does nothing else, so forking it is safe.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import pickle
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any, BinaryIO

from webanalytics.core.messages import Message
from webanalytics.core.outcomes import PackedOutcomes
from webanalytics.errors import RowError

HEADER = struct.Struct(">Q")
IDLE_SECONDS = 300.0
QUIET_SECONDS = 0.1  # a call of one page needs its processors itself
TRIM_EVERY = 32

Result = dict[str, Any] | Message
"""The result of an analysis: its answer, or why it failed."""


@cache
def analysis_function(path: str) -> Callable[..., dict[str, Any]]:
    """Return the function at a path such as ``webanalytics.records.hmac.signature:analyse``."""
    module, _, name = path.partition(":")
    function: Callable[..., dict[str, Any]] = getattr(import_module(module), name)
    return function


def collectors(paths: tuple[str, ...]) -> tuple[Any, ...]:
    """Return what the page operations take from the elements of a page, so that one walk serves them all."""
    modules = (sys.modules.get(analysis_function(path).__module__) for path in paths)
    return tuple(found for module in modules for found in getattr(module, "COLLECTORS", ()))


def _guarded(subject: str, name: str, function: Any, *arguments: Any, **settings: Any) -> Result:
    """Call an analysis; whatever it raises becomes a failed result."""
    try:
        result: dict[str, Any] = function(*arguments, **settings)
        return result
    except RowError as error:
        return error.message
    except (MemoryError, RecursionError):
        return Message("analysis_memory", {"parameter": subject, "operation": name})
    except Exception as error:  # a page must never end the run
        exception = type(error).__name__
        return Message("analysis_failed", {"parameter": subject, "operation": name, "exception": exception})


def answer_page(
    paths: Mapping[str, str], settings: dict[str, dict[str, Any]], page: tuple[Any, ...]
) -> list[Result]:
    """Answer page operations, given by name with the path of their analysis, from one parse."""
    from webanalytics.page.page import Page

    shared = Page(*page)
    shared.expected = collectors(tuple(paths.values()))
    return [
        _guarded("text" if shared.is_text else "url", name, analysis_function(path), shared, **settings[name])
        for name, path in paths.items()
    ]


def answer_image(
    paths: Mapping[str, str], settings: dict[str, dict[str, Any]], content: bytes
) -> list[Result]:
    """Answer image operations, given by name with the path of their analysis."""
    return [
        _guarded("image", name, analysis_function(path), content, **settings[name])
        for name, path in paths.items()
    ]


COLLECTION_THRESHOLDS = (10_000, 10, 10)
"""How many new objects a worker makes before the garbage collector looks at them; Python's own are 700."""


def prepare(paths: tuple[str, ...], *, first: bool = False) -> list[Result]:
    """Import what analyses need, before any deadline runs; first only what every page does."""
    for path in paths:
        module = sys.modules[analysis_function(path).__module__]
        for name in ("warm_up",) if first else ("warm_up", "warm_up_more"):
            getattr(module, name, list)()
    # What is imported stays: no collection needs to look at it again, or to write to memory that a
    # worker shares with the template it was forked from.
    if not first:
        gc.collect()
    gc.freeze()
    return []


def _packed_page(
    paths: Mapping[str, str], settings: dict[str, dict[str, Any]], page: tuple[Any, ...], apart: str = ""
) -> bytes | tuple[bytes, bytes]:
    answers = answer_page(paths, settings, page)
    if not apart:
        return PackedOutcomes.pack(answers)
    alone = answers.pop(list(paths).index(apart))
    return PackedOutcomes.pack(answers), PackedOutcomes.pack([alone])


def _call(path: str, arguments: tuple[Any, ...]) -> Any:
    return analysis_function(path)(*arguments)


HANDLERS: dict[str, Callable[..., Any]] = {
    "page": _packed_page,
    "image": answer_image,
    "call": _call,
    "prepare": prepare,
}


def _limit_memory(mebibytes: int) -> None:
    if sys.platform == "linux":
        import resource

        size = mebibytes * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _private_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Take standard input and output for messages alone; what libraries print goes to stderr."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return requests, answers


def _give_back_memory() -> None:
    """Hand freed memory back to the system: glibc keeps what a large page took (Linux)."""
    with suppress(OSError, AttributeError):  # another C library, which has its own ways
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _next_message(requests: BinaryIO) -> bytes | None:
    if os.name == "posix" and not select.select([requests], [], [], IDLE_SECONDS)[0]:
        return None
    header = requests.read(HEADER.size)
    return requests.read(HEADER.unpack(header)[0]) if len(header) == HEADER.size else None


def serve(requests: BinaryIO, answers: BinaryIO, memory: int) -> None:
    """Answer messages until the parent closes the pipe or has been silent for long."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its workers
    _limit_memory(memory)
    # A page is some thousand objects, none of which refers to itself: collections would find nothing.
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    gc.enable()
    served = 0
    while (message := _next_message(requests)) is not None:
        kind, arguments = pickle.loads(message)  # noqa: S301 - written by the parent process
        answer = pickle.dumps(HANDLERS[kind](*arguments), protocol=5)
        answers.write(HEADER.pack(len(answer)))
        answers.write(answer)
        answers.flush()
        served += 1
        if served % TRIM_EVERY == 0:
            _give_back_memory()


def main(memory: int) -> None:
    """Work as a process that was started on its own."""
    serve(*_private_pipes(), memory)


PID = struct.Struct(">q")
_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """Have the kernel end this process with the template, even in the middle of a hanging parse."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def fork_for_ever(names: Sequence[str] = ()) -> None:
    """Fork a worker for each message on standard input, a socket, until its other end is closed."""
    control = socket.socket(fileno=0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps ended workers
    prepare(tuple(names), first=True)
    known, later, pid = set(names), list(names), 0
    while True:
        # The first worker is wanted at once; the others find here what few pages need, and share it.
        while later and (not select.select([control], [], [], QUIET_SECONDS)[0] or pid):
            prepare((later.pop(),))
        message, pipes, _, _ = socket.recv_fds(control, 65536, 2)
        if not message:
            return
        memory, needed = json.loads(message)
        new = set(needed).difference(known)
        prepare(tuple(new), first=True)
        known |= new
        later += new
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
        serve(os.fdopen(pipes[0], "rb"), os.fdopen(pipes[1], "wb"), memory)
        status = 0
    finally:
        os._exit(status)  # without the clean-up that belongs to the template
