"""Files that are written whole or not at all: used wherever the package writes a file."""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def written_whole(path: Path, *, durable: bool = False, mode: int | None = None) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces ``path`` when the block ends without an error.

    A reader of ``path`` sees the old file or the new one, never a part of it, even if the process is
    killed. After an error nothing is left behind. A durable file is flushed to the disk before it is renamed;
    permissions are by default those of new files, and no more than those of a file that is replaced.
    """
    temporary = path.with_name(f".{path.stem[:40]}-{secrets.token_hex(8)}.tmp")
    # not tempfile: the file gets the mode that the user's umask gives; an existing link is not followed
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if mode is None else 0o600))
    try:
        yield temporary
        if mode is not None:
            temporary.chmod(mode)
        else:
            _keep_narrow(temporary, path)
        if durable:
            _flush(temporary)
        temporary.replace(path)
        if durable:
            with suppress(OSError):  # not every system can flush a folder
                _flush(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def claim(file: int | IO[bytes], seconds: float = 0.0) -> bool:
    """Lock a file until it is closed, and return whether no other process had it all these seconds.

    Windows has no such locks, nor have some networks' file systems: there nobody is kept out.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(0.05)
        except (ImportError, OSError):
            return True
        else:
            return True


def _keep_narrow(temporary: Path, path: Path) -> None:
    """Take the permissions away that the file to be replaced does not give either."""
    try:
        before = path.lstat().st_mode
    except OSError:  # there is none
        return
    made = stat.S_IMODE(temporary.stat().st_mode)
    if stat.S_ISREG(before) and made & ~before & 0o077:
        temporary.chmod(made & (before | 0o700))


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
