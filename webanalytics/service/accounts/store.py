"""What every store of accounts can do, each method one command, and the removal of expired entries."""

from __future__ import annotations

import asyncio
import contextlib
import math
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from webanalytics.errors import ParameterError
from webanalytics.service.accounts.base import (
    AccountsError,
    Call,
    Conflict,
    Key,
    KeyRow,
    NoCredits,
    Receipt,
    Replay,
    Reservation,
)
from webanalytics.service.accounts.keys import Commands
from webanalytics.service.accounts.schema import Steps
from webanalytics.service.settings import Network

T = TypeVar("T")


def failure(error: Exception) -> Exception:
    """Return the error for the caller for one that a database or a command raised."""
    if isinstance(error, (AccountsError, ParameterError)):
        return error
    described = AccountsError(f"The accounts database failed: {str(error) or type(error).__name__}.")
    described.__cause__ = error
    return described


SWEEP_SECONDS = 60.0
"""Seconds between sweeps for expired reservations and saved answers."""

SWEEP_ACCOUNTS = 100
SWEEP_ANSWERS = 500
"""Most accounts and saved answers of one sweep, so that it never holds up other commands."""

READY_EVERY = 1.0
"""Seconds between two writes for readiness."""

READY_SECONDS = 5.0
"""Seconds within which a working store answers."""


class Accounts(ABC):
    """A store of accounts. Every method is one transaction, committed when it returns."""

    def __init__(self) -> None:
        self._kept: list[asyncio.Task[None]] = []
        self._written_at: float | None = None
        self._returning: set[asyncio.Task[None]] = set()

    @abstractmethod
    async def run(self, command: Callable[..., Steps[T]], *arguments: Any) -> T:
        """Run a command (an unbound method of `Commands`) in a transaction and return its result."""

    @abstractmethod
    async def close(self) -> None:
        """Finish what was begun and close the store."""

    async def read(self, command: Callable[..., Steps[T]], *arguments: Any) -> T:
        """Run a command of one statement that changes nothing."""
        return await self.run(command, *arguments)

    async def change(self, command: Callable[..., Steps[T]], *arguments: Any) -> T:
        """Run a command that changes keys or plans."""
        return await self.run(command, *arguments)

    async def find_key(self, digest: bytes) -> Key | None:
        """Return the key with this SHA-256 digest; revoked and expired ones too."""
        return await self.read(Commands.find_key, digest)

    async def balance(self, account: int) -> int:
        """Return the credits left, the month's allowance included."""
        return await self.read(Commands.balance, account)

    async def charge(self, call: Call, answer: bytes | None) -> Receipt | Replay | NoCredits | Conflict:
        """Charge one success that has been computed; keep ``answer`` where there is an Idempotency-Key."""
        return await self.run(Commands.charge, call, answer)

    async def reserve(self, call: Call) -> Reservation | Replay | NoCredits | Conflict:
        """Hold credits for as many of ``call.inputs`` successes as the balance covers, at least one."""
        reserving = asyncio.create_task(self.run(Commands.reserve, call))
        try:
            await asyncio.wait([reserving])
        except asyncio.CancelledError:
            returning = asyncio.create_task(self._return(reserving))
            self._returning.add(returning)
            returning.add_done_callback(self._returning.discard)
            raise
        return reserving.result()

    async def _return(self, reserving: asyncio.Task[Reservation | Replay | NoCredits | Conflict]) -> None:
        with contextlib.suppress(AccountsError):  # it is returned when it expires
            result = await reserving
            if isinstance(result, Reservation):
                await self.settle(result, 0, None)

    async def all_returned(self) -> None:
        """Wait until the credits of cancelled callers have been returned."""
        while self._returning:
            await asyncio.wait(self._returning)

    async def settle(
        self,
        reservation: Reservation,
        credits: int,  # noqa: A002 - the field's own word
        answer: bytes | None,
    ) -> Receipt:
        """Charge ``credits`` of a reservation and return the rest; 0 releases it entirely.

        ``answer`` is kept for the reservation's Idempotency-Key; without one the key is free again.
        """
        return await self.run(Commands.settle, reservation, credits, answer)

    async def create_key(
        self,
        *,
        account: str | None,
        plan: str | None,
        operations: frozenset[str] | None,
        networks: tuple[Network, ...],
        expires: float | None,
    ) -> tuple[str, Key]:
        """Create a key, and its account where that name is new; return the key in clear, once."""
        return await self.change(Commands.create_key, account, plan, operations, networks, expires)

    async def list_keys(self) -> Sequence[KeyRow]:
        """Return all keys, by account."""
        return await self.read(Commands.list_keys)

    async def rotate_key(self, prefix: str, keep: float) -> tuple[str, Key]:
        """Return a new key like the old one, which works ``keep`` seconds more."""
        return await self.change(Commands.rotate_key, prefix, keep)

    async def revoke_key(self, prefix: str) -> Key:
        """Revoke a key at once."""
        return await self.change(Commands.revoke_key, prefix)

    async def restrict_key(
        self,
        prefix: str,
        *,
        operations: frozenset[str] | None,
        networks: tuple[Network, ...],
        expires: float | None,
    ) -> Key:
        """Replace the restrictions of a key."""
        return await self.change(Commands.restrict_key, prefix, operations, networks, expires)

    async def change_plan(self, account: str, plan: str) -> int:
        """Move an account to another plan and return the credits left."""
        return await self.change(Commands.change_plan, account, plan)

    async def ready(self) -> bool:
        """Return whether the ledger can be written; that it could holds for a moment: everybody may ask."""
        now = asyncio.get_running_loop().time()
        if self._written_at is not None and now - self._written_at < READY_EVERY and self.has_room():
            return True
        writable = await self._writable()
        self._written_at = now if writable else None
        return writable

    async def _writable(self) -> bool:
        if not self.has_room():
            return False
        try:
            return await asyncio.wait_for(self.run(Commands.ready), READY_SECONDS)
        except (AccountsError, TimeoutError):
            return False

    def has_room(self) -> bool:
        """Return whether there is room on the disk, where that is known."""
        return True

    async def sweep(self, clock: Callable[[], float], lost: bool = False, dead: str | None = None) -> None:
        """Return overdue reservations, a dead process's, or with ``lost`` all; drop old saved answers."""
        until = math.inf if lost else clock()
        while accounts := await self.read(Commands.overdue_before, until, dead, SWEEP_ACCOUNTS):
            for account in accounts:
                await self.run(Commands.free_overdue, account, until, dead)
        await self.run(Commands.prune, SWEEP_ANSWERS)

    def keep_doing(self, step: Callable[[], Awaitable[None]], seconds: float) -> None:
        """Do something periodically until `stop_doing`."""

        async def doing() -> None:
            while True:
                await asyncio.sleep(seconds)
                with contextlib.suppress(AccountsError):
                    await step()

        self._kept.append(asyncio.create_task(doing(), name="keep accounts"))

    async def stop_doing(self) -> None:
        """Stop what is done periodically."""
        for task in self._kept:
            task.cancel()
        await asyncio.gather(*self._kept, return_exceptions=True)
        self._kept.clear()
