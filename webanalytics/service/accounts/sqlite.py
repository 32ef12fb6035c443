"""Accounts in an SQLite file: opened by the one process that owns it, or reached through that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from webanalytics.service.accounts.base import (
    AccountsError,
    Call,
    Conflict,
    Key,
    NoCredits,
    Receipt,
    Replay,
)
from webanalytics.service.accounts.cache import KeyCache
from webanalytics.service.accounts.keys import Commands
from webanalytics.service.accounts.link import OwnerLink, RemoteAccounts
from webanalytics.service.accounts.ownership import Ownership, listen, socket_path
from webanalytics.service.accounts.statements import Steps
from webanalytics.service.accounts.store import Store
from webanalytics.service.accounts.writer import Writer

T = TypeVar("T")

TRY_AGAIN_SECONDS = 0.05
"""Between two tries to own a file, or to reach its owner."""


class SqliteAccounts(Store):
    """The owner of an SQLite file.

    Parameters
    ----------
    path : Path
        The file.
    writer : Writer
        Its writer, not yet open.
    ownership : Ownership
        The proof that this process owns the file.
    """

    def __init__(self, path: Path, writer: Writer, ownership: Ownership) -> None:
        super().__init__()
        self._writer, self._ownership = writer, ownership
        self._keys = KeyCache()
        self._socket = socket_path(path)
        self._links: set[OwnerLink] = set()
        self._server: asyncio.Server | None = None

    async def open(self, clock: Callable[[], float]) -> None:
        """Open the file, release what its last owner left under way, and listen."""
        await self._writer.open()
        await self.sweep(clock, lost=True)
        self._server = await asyncio.get_running_loop().create_unix_server(
            lambda: OwnerLink(self._writer.submit, self.change, self._links),
            sock=listen(self._socket),
        )
        self.keep_sweeping(clock)

    async def run(self, command: Callable[..., Steps[T]], *arguments: Any) -> T:
        """Run a command in the writer's next transaction."""
        return await self._writer.submit(command, arguments)

    async def change(self, command: Callable[..., Steps[T]], *arguments: Any) -> T:
        """Run a command that changes keys; when this returns, no process knows the old ones."""
        result = await self._writer.submit(command, arguments)
        self._keys.clear()
        if self._links:
            await asyncio.gather(*[link.forget() for link in self._links])
        return result

    async def find_key(self, digest: bytes) -> Key | None:
        """Return the key with this SHA-256 digest, from memory where it is there."""
        key = self._keys.get(digest)
        if key is not None:
            return key
        return await self._keys.fill(digest, self._writer.submit(Commands.find_key, (digest,)))

    async def charge(self, call: Call, answer: bytes | None) -> Receipt | Replay | NoCredits | Conflict:
        """Charge one success that has been computed."""
        return await self._writer.submit(Commands.charge, (call, answer))

    async def close(self) -> None:
        """Finish what was begun, close the file and let it go."""
        await self.stop_sweeping()
        await self.all_returned()
        if self._server is not None:
            self._server.close()
        await self._writer.close()
        for link in list(self._links):
            link.close()
        await asyncio.sleep(0)  # their transports end in the next turn
        if self._server is not None:
            self._socket.unlink(missing_ok=True)
            self._server = None
            self._ownership.release()


async def open_sqlite(
    path: Path, commands: Commands, clock: Callable[[], float], *, owner: bool, wait: float
) -> Store:
    """Open a file as its owner, or reach its owner.

    Parameters
    ----------
    path : Path
        The file.
    commands : Commands
        The business logic, if we are the owner.
    clock : callable
        Unix time.
    owner : bool
        Refuse to work through another process.
    wait : float
        How long to wait for an owner that starts or ends, in seconds.
    """
    path = _checked(path)
    loop = asyncio.get_running_loop()
    until = loop.time() + wait
    while True:
        ownership = Ownership.take(path)
        if ownership is not None:
            return await _own(path, commands, clock, ownership)
        if not owner:
            remote = RemoteAccounts(socket_path(path))
            try:
                await remote.connect()
            except OSError:  # it starts or ends
                pass
            else:
                return remote
        if loop.time() >= until:
            raise AccountsError("The accounts database is in use by another process.")
        await asyncio.sleep(TRY_AGAIN_SECONDS)


def _checked(path: Path) -> Path:
    """Return the one name of a file, whatever links lead to it."""
    path = path.resolve()
    if not path.parent.is_dir():
        raise AccountsError("The folder of the accounts database does not exist.")
    return path


async def _own(
    path: Path, commands: Commands, clock: Callable[[], float], ownership: Ownership
) -> SqliteAccounts:
    writer = Writer(path, commands, clock)
    try:
        accounts = SqliteAccounts(path, writer, ownership)
        await accounts.open(clock)
    except BaseException as error:
        await writer.close()
        ownership.release()
        if isinstance(error, OSError):
            raise AccountsError(
                f"The accounts database cannot be opened: {error.strerror or error}."
            ) from error
        raise
    return accounts
