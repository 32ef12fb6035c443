"""Who owns an SQLite file: one process at a time, which the others reach through a socket.

Several processes writing one file in WAL mode are slow at the tail, and before SQLite 3.51.3 they
can damage it (https://sqlite.org/wal.html, "The WAL-reset bug"). So the owner alone opens the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import stat
import sys
import tempfile
from pathlib import Path

from webanalytics.service.accounts.base import AccountsError

if sys.platform != "win32":
    import fcntl

LONGEST_SOCKET = 100
"""Longest path of a socket in bytes: a little less than the 104 to 108 that systems allow."""


class Ownership:
    """An exclusive lock on ``FILE.lock``; it ends with the process, however that ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, database: Path) -> Ownership | None:
        """Return the ownership of a database, or None while another has it."""
        if sys.platform == "win32":
            raise AccountsError("Accounts in SQLite need a Unix system; use PostgreSQL here.")
        try:
            descriptor = os.open(f"{database}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise AccountsError(f"The accounts database cannot be opened: {error.strerror}.") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError as error:
            os.close(descriptor)
            raise AccountsError(f"The accounts database cannot be locked: {error.strerror}.") from error
        return cls(descriptor)

    def release(self) -> None:
        """End the ownership. The file stays: removing it would let two processes lock two files."""
        os.close(self._descriptor)


def socket_path(database: Path) -> Path:
    """Return where the owner of a database listens: beside it, or in a private folder for a long path."""
    beside = Path(f"{database}.socket")
    if len(os.fsencode(beside)) <= LONGEST_SOCKET:
        return beside
    folder = Path(tempfile.gettempdir()) / f"webanalytics-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise AccountsError(f"The folder {folder} must be a folder of this user alone.")
    return folder / (hashlib.sha256(os.fsencode(database)).hexdigest()[:24] + ".socket")


def listen(path: Path) -> socket.socket:
    """Return a listening socket that only this user can connect to; a stale one gives way.

    Only the owner may call this: a socket found here belonged to an owner that has ended.
    """
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listening.bind(str(path))
        listening.listen()
    except OSError:
        listening.close()
        raise
    finally:
        os.umask(before)
    listening.setblocking(False)
    return listening
