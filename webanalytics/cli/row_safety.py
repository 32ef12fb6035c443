"""How the command line loses no finished row: signals while it works, places that are full, rows on the disk.

A call of many pages with ``-o`` and a file of Parquet or Arrow runs as with ``--store``, into a folder beside
the file that is removed in the end; memory holds neither the rows nor the file.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

import pandas as pd

from webanalytics.cli.names import as_flags
from webanalytics.core.messages import for_terminal
from webanalytics.errors import MissingExtraError, ParameterError, WriteError
from webanalytics.operations import AUDIT, by_function
from webanalytics.runs.frames.output_files import FORMATS, IN_PARTS, write_frame, write_text, wrong_suffix
from webanalytics.runs.frames.terminal import counted_rows, failures, print_table
from webanalytics.runs.storage.row_folder import keeps_rows

UNWRITTEN = 4
"""Exit status if something could not be written where it was asked for."""
INTERRUPTED, TERMINATED = 130, 143
"""Exit statuses after SIGINT, and after SIGTERM or SIGHUP: 128 and the number of the first of them."""


NEEDED = {
    ".xlsx": ("excel", "xlsxwriter", "writing Excel files"),
    ".parquet": ("parquet", "pyarrow", "writing Parquet files"),
    ".arrow": ("parquet", "pyarrow", "writing Arrow files"),
}
"""Packages without which a format cannot be written."""


HANGUP = getattr(signal, "SIGHUP", signal.SIGTERM)
"""What a terminal sends that is closed; there is none on Windows."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, which cron, systemd and containers send, or SIGHUP: it ends a run as Ctrl-C does."""


def say(message: Any) -> None:
    """Print a line to standard error, in one piece."""
    print(for_terminal(f"webanalytics: {message}"), file=sys.stderr)


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], Any], *signals: signal.Signals) -> Iterator[None]:
    before: dict[signal.Signals, Any] = {}
    with suppress(ValueError):
        for number in signals:
            before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


def _terminate(number: int, _: FrameType | None) -> None:
    if number == HANGUP != signal.SIGTERM:
        signal.signal(HANGUP, signal.SIG_IGN)  # the shell and the system may both send it
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(2).st_mode):  # what is said to a closed terminal fails
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    raise Terminated


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM end a run as Ctrl-C does, and so SIGHUP, unless that is ignored as with nohup."""
    ignored = signal.getsignal(HANGUP) == signal.SIG_IGN
    with _handled(_terminate, signal.SIGTERM, *(() if ignored else (HANGUP,))):
        yield


@contextmanager
def keeping(rows: int, *, told: bool) -> Iterator[None]:
    """Keep finished rows, which takes seconds when there are many: only a second further signal ends it."""
    if told:
        say(f"keeping {rows:,} finished rows")
    pressed = 0

    def handler(number: int, _: FrameType | None) -> None:
        nonlocal pressed
        pressed += 1
        if pressed > 1:
            raise (Terminated if number == signal.SIGTERM else KeyboardInterrupt)
        say(f"still keeping {rows:,} finished rows; once more ends this without them")

    with _handled(handler, signal.SIGINT, signal.SIGTERM):
        yield


def can_be_written(name: str | None, parameter: str = "output", *, table: bool = True) -> None:
    """Refuse, before any work, a table of no known format, or a file for which something is missing."""
    if name is None:
        return
    path = Path(name)
    if table and path.suffix.lower().lstrip(".") not in FORMATS:
        raise wrong_suffix(path)
    if not path.parent.is_dir():
        raise ParameterError.must_be(parameter, f"in an existing folder, and there is no `{path.parent}`")
    if not os.access(path.parent, os.W_OK):
        raise ParameterError.must_be(parameter, "a file in a folder that can be written to")
    if path.exists() and not path.is_file() and not path.is_symlink():
        raise ParameterError.must_be(parameter, "a file, or a name that is free")
    package = NEEDED.get(path.suffix.lower())
    if package is not None and find_spec(package[1]) is None:
        raise MissingExtraError(*package)


def written(frame: pd.DataFrame, name: str, write: Callable[[], Path]) -> bool:
    """Write a table and say where; return False if it had to be somewhere else, with the reason."""
    try:
        path = write()
    except Exception as error:  # hours of work may be in the rows: whatever it is, they are kept
        said = str(error) if isinstance(error, ParameterError) else f"{name} could not be written: {error!r}."
        full = isinstance(error, WriteError)
        elsewhere(frame, Path(name) if full else Path(name).with_suffix(".jsonl"), said)
        return False
    why = failures(frame, as_flags)
    print(for_terminal(f"{counted_rows(frame)} in {path}{why and f'; {why}'}"), file=sys.stderr)
    return True


def printed(frame: pd.DataFrame, write: Callable[[], None]) -> bool:
    """Print a table to standard output, which may be a file on a full disk."""
    try:
        write()
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else it fails again at the end
        elsewhere(frame, Path("rows.csv"), f"Standard output could not be written: {error.strerror}.")
        return False
    return True


def shown(frame: pd.DataFrame, name: str | None) -> int:
    """Write a table to a file, else print it: as CSV into a pipe; return the exit status."""
    if name is not None:
        return 0 if written(frame, name, lambda: write_frame(frame, name)) else UNWRITTEN
    show = print_table if sys.stdout.isatty() else partial(write_text, kind="csv")
    return 0 if printed(frame, lambda: show(frame, sys.stdout)) else UNWRITTEN


def elsewhere(frame: pd.DataFrame, path: Path, said: str) -> None:
    """Write a table to the first place that takes it, and say which: else as CSV to standard output."""
    for place in _places():
        try:
            folder = Path(tempfile.mkdtemp(prefix="webanalytics-", dir=place))
            kept = write_frame(frame, folder / path.name)
        except (OSError, ParameterError):
            with suppress(OSError, UnboundLocalError):
                folder.rmdir()
            continue
        say(f"{said} The {len(frame):,} rows are in {kept} instead.")
        return
    say(f"{said} No other place could be written to either: the {len(frame):,} rows follow as CSV.")
    write_text(frame, sys.stdout, "csv")


def _places() -> Iterator[Path]:
    for find in (tempfile.gettempdir, Path.home, Path.cwd):
        with suppress(OSError, RuntimeError):
            yield Path(find())


def tried(write: Callable[[], Path | str], told: str) -> bool:
    """Write a report or a saved audit and say where; return False, and say why, if it could not be."""
    try:
        print(f"{told} {write()}", file=sys.stderr)
    except (ParameterError, OSError) as error:
        say(error)
        return False
    return True


def status_of(interrupt: BaseException) -> int:
    """Return the exit status after a signal."""
    chain: BaseException | None = interrupt
    while chain is not None:
        if isinstance(chain, Terminated):
            return TERMINATED
        chain = chain.__context__
    return INTERRUPTED


MANY = 1_000
"""Rows from which a table is not held in memory."""


@contextmanager
def kept_on_disk(
    inputs: Any, keywords: Mapping[str, Any], arguments: argparse.Namespace
) -> Iterator[dict[str, str]]:
    """Yield the further arguments of a call whose rows go to the disk as they finish; none for any other."""
    if not _is_long(inputs, keywords, arguments):
        yield {}
        return
    output = Path(arguments.output)
    folder = tempfile.mkdtemp(prefix=f".{output.name}-", dir=output.parent)
    try:
        yield {"store": folder}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_long(inputs: Any, keywords: Mapping[str, Any], arguments: argparse.Namespace) -> bool:
    if arguments.output is None or Path(arguments.output).suffix.lower().lstrip(".") not in IN_PARTS:
        return False
    if arguments.format is not None or keywords.get("store"):
        return False
    if keywords.get("resources") == "check" or keywords.get("image_sizes"):  # they look at all rows again
        return False
    operation = by_function(arguments.function)
    operations = AUDIT if arguments.function == "audit" else () if operation is None else (operation,)
    listed = inputs is None or len(inputs) >= MANY  # None: the pages of sitemaps
    return bool(operations) and operations[0].kind == "page" and keeps_rows(operations) and listed
