"""The inside of a worker process: analyses of content that may be hostile.

A worker reads one pickled message at a time from its standard input and answers on its standard
output. It is a plain ``python -c`` process, not a multiprocessing child, so that a script needs
no ``if __name__ == "__main__"`` guard and nothing of the notebook is forked. It imports the
analyses alone and ends by itself when its parent is gone or has been silent for long.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import struct
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from webanalytics.analysis.registry import analysis_function
from webanalytics.backends.base import PackedOutcomes
from webanalytics.errors import ErrorType, RowError

HEADER = struct.Struct(">Q")
IDLE_SECONDS = 300.0
TRIM_EVERY = 32
UNEXPECTED = "made the analysis fail with"
"""What the sentence of a failure says that is the analysis's own fault, not its content's."""

Result = tuple[dict[str, Any] | None, str | None, ErrorType | None]


def _guarded(subject: str, name: str, function: Any, *arguments: Any, **settings: Any) -> Result:
    """Call an analysis; whatever it raises becomes a failed result."""
    try:
        return function(*arguments, **settings), None, None
    except RowError as error:
        return None, error.sentence, error.error_type
    except (MemoryError, RecursionError):
        reason = "needs more memory than a worker has"
    except Exception as error:  # a page must never end the run
        reason = f"{UNEXPECTED} {type(error).__name__}"
    return None, f"The `{subject}` parameter names content whose {name} cannot be had: it {reason}.", "parse"


def answer_page(
    names: tuple[str, ...], settings: dict[str, dict[str, Any]], page: tuple[Any, ...]
) -> list[Result]:
    """Answer the page operations from one parse."""
    from webanalytics.analysis.page import Page

    shared = Page(*page)
    return [_guarded("url", name, analysis_function(name), shared, **settings[name]) for name in names]


def answer_image(names: tuple[str, ...], settings: dict[str, dict[str, Any]], content: bytes) -> list[Result]:
    """Answer the image operations."""
    return [_guarded("image", name, analysis_function(name), content, **settings[name]) for name in names]


def prepare(names: tuple[str, ...]) -> list[Result]:
    """Import what the operations need, before any deadline runs."""
    for name in names:
        warm = getattr(sys.modules[analysis_function(name).__module__], "warm_up", None)
        if warm is not None:
            warm()
    # What is imported stays: no collection needs to look at it again, or to write to memory that a
    # worker shares with the template it was forked from.
    gc.collect()
    gc.freeze()
    return []


def _packed_page(*arguments: Any) -> bytes:
    return PackedOutcomes.pack(answer_page(*arguments))


HANDLERS: dict[str, Callable[..., Any]] = {"page": _packed_page, "image": answer_image, "prepare": prepare}


def _limit_memory(mebibytes: int) -> None:
    try:
        import resource
    except ImportError:  # not a POSIX system
        return
    if sys.platform == "linux":
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
    try:
        import ctypes

        ctypes.CDLL("libc.so.6").malloc_trim(0)
    except (OSError, AttributeError, ImportError):  # another C library, which has its own ways
        pass


def _next_message(requests: BinaryIO) -> bytes | None:
    if os.name == "posix" and not select.select([requests], [], [], IDLE_SECONDS)[0]:
        return None
    header = requests.read(HEADER.size)
    return requests.read(HEADER.unpack(header)[0]) if len(header) == HEADER.size else None


def serve(requests: BinaryIO, answers: BinaryIO, memory: int) -> None:
    """Answer messages until the parent closes the pipe or has been silent for long."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its workers
    _limit_memory(memory)
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
    """Be a worker that was started as a process of its own."""
    requests, answers = _private_pipes()
    serve(requests, answers, memory)
