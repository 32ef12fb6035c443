"""Accounts in an SQLite file, used by one server at a time and by ``webanalytics keys`` next to it."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from webanalytics.service.accounts.base import AccountsError, Call, Conflict, Key, NoCredits, Receipt, Replay
from webanalytics.service.accounts.keys import Commands
from webanalytics.service.accounts.schema import Steps
from webanalytics.service.accounts.store import SWEEP_SECONDS, Accounts
from webanalytics.service.accounts.writer import LOOK_SECONDS, Writer

if sys.platform != "win32":
    import fcntl

T = TypeVar("T")

TRY_AGAIN_SECONDS = 0.05
"""Seconds between attempts to get a file that another server still has."""

MOST_KEYS = 10_000
"""Most keys in memory; unknown ones are never kept."""

ROOM = 1_000_000
"""Bytes of the disk without which calls are about to fail."""

SEEN_SECONDS = 2.5 * LOOK_SECONDS
"""Seconds after which a server has noticed a change that another process committed."""

TAKEN = (
    "The accounts database is in use by another server; "
    "several server processes need PostgreSQL (--database postgresql://...)."
)


class ServerLock:
    """An exclusive lock on ``FILE.lock``, whose holder serves; released when the process ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, database: Path) -> ServerLock | None:
        """Return the lock of a database, or None while another server holds it."""
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
        """Release the lock. The file stays: removing it would let two processes lock two files."""
        os.close(self._descriptor)


class KeyCache:
    """The keys found since the last change of any key, so that a warm key costs no query.

    A look-up in progress during a change is not kept, as it may have seen the previous state.
    """

    def __init__(self) -> None:
        self._keys: dict[bytes, Key] = {}
        self._changes = 0

    def get(self, digest: bytes) -> Key | None:
        """Return a key that is in memory."""
        return self._keys.get(digest)

    async def fill(self, digest: bytes, looking_up: Awaitable[Key | None]) -> Key | None:
        """Await a look-up, keep what it finds and return it."""
        changes = self._changes
        key = await looking_up
        if key is not None and changes == self._changes:
            if len(self._keys) >= MOST_KEYS:
                del self._keys[next(iter(self._keys))]
            self._keys[digest] = key
        return key

    def clear(self) -> None:
        """Forget all keys."""
        self._keys.clear()
        self._changes += 1


class SqliteAccounts(Accounts):
    """An SQLite file and its writer; a server also keeps keys in memory, and the lock."""

    def __init__(self, writer: Writer, keys: KeyCache, path: Path, lock: ServerLock | None) -> None:
        super().__init__()
        self._writer, self._keys, self._path, self._lock = writer, keys, path, lock

    async def open(self, clock: Callable[[], float]) -> None:
        """Open the file; a server also releases reservations that the last one left."""
        await self._writer.open()
        if self._lock is not None:
            await self.sweep(clock, lost=True)
            self.keep_doing(lambda: self.sweep(clock), SWEEP_SECONDS)

    async def run(self, command: Callable[..., Steps[T]], *arguments: Any) -> T:
        """Run a command in the writer's next transaction."""
        return await self._writer.submit(command, arguments)

    async def change(self, command: Callable[..., Steps[T]], *arguments: Any) -> T:
        """Run a command that changes keys; when this returns, a running server has noticed it."""
        result = await self._writer.submit(command, arguments)
        self._keys.clear()
        if self._lock is None:
            lock = ServerLock.take(self._path)
            if lock is None:
                await asyncio.sleep(SEEN_SECONDS)
            else:
                lock.release()
        return result

    async def find_key(self, digest: bytes) -> Key | None:
        """Return the key with this SHA-256 digest; in a server from memory if it is cached."""
        key = self._keys.get(digest) if self._lock is not None else None
        if key is not None:
            return key
        return await self._keys.fill(digest, self._writer.submit(Commands.find_key, (digest,)))

    async def charge(self, call: Call, answer: bytes | None) -> Receipt | Replay | NoCredits | Conflict:
        """Charge one success that has been computed."""
        return await self._writer.submit(Commands.charge, (call, answer))

    def has_room(self) -> bool:
        """Return whether the disk has room for the log of some calls."""
        try:
            return shutil.disk_usage(self._path.parent).free >= ROOM
        except OSError:
            return False

    async def close(self) -> None:
        """Finish pending work, close the file and release the lock."""
        await self.stop_doing()
        await self.all_returned()
        await self._writer.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None


async def open_sqlite(
    path: Path, commands: Commands, clock: Callable[[], float], *, server: bool, wait: float
) -> Accounts:
    """Open a file, for a server or for a command next to it."""
    path = _checked(path)
    lock = await _locked(path, wait) if server else None
    keys = KeyCache()
    writer = Writer(path, commands, clock, on_change=keys.clear if server else None)
    try:
        accounts = SqliteAccounts(writer, keys, path, lock)
        await accounts.open(clock)
    except BaseException:
        await writer.close()
        if lock is not None:
            lock.release()
        raise
    return accounts


def _checked(path: Path) -> Path:
    """Return the canonical name of a file, whatever links lead to it."""
    path = path.resolve()
    if not path.parent.is_dir():
        raise AccountsError("The folder of the accounts database does not exist.")
    return path


async def _locked(path: Path, wait: float) -> ServerLock:
    loop = asyncio.get_running_loop()
    until = loop.time() + wait
    while (lock := ServerLock.take(path)) is None:
        if loop.time() >= until:
            raise AccountsError(TAKEN)
        await asyncio.sleep(TRY_AGAIN_SECONDS)
    return lock
