"""Accounts, keys and credits: what every store of them can do, and the values it takes and returns.

The life of a charge
--------------------
Operations that take time (pages, images, batches, queries) `reserve` their credits before the work
and `settle` after it: what was used is charged, the rest returned. Operations that take microseconds
(one HMAC, record or number) are computed first and charged at once by `charge`. An answer is sent
only after the commit of its `settle` or `charge`, so what was sent has been charged; nothing is
charged before it was computed; a reservation whose process died is released.

The ledger is append-only; an account's balance is the sum of its entries, kept in the same
transaction, and never below zero.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from webanalytics.service.addresses import Network


def digest(key: str) -> bytes:
    """Return the stored form of a key: the SHA-256 of its canonical lower-case text.

    A key has 122 random bits, so a fast digest is enough: there is nothing to guess.

    Examples
    --------
    >>> digest("F47AC10B-58CC-4372-A567-0E02B2C3D479") == digest("f47ac10b-58cc-4372-a567-0e02b2c3d479")
    True
    """
    return hashlib.sha256(key.lower().encode()).digest()


@dataclass(frozen=True, slots=True)
class Key:
    """One API key as stored: never the key itself.

    Attributes
    ----------
    id : int
        Number of the key.
    account : int
        Number of its account.
    prefix : str
        First eight characters of the key: its name in logs and commands.
    plan : str
        Plan of the account.
    operations : frozenset of str or None
        Names of the operations it may call (``Operation.name``); None for all.
    networks : tuple of Network
        Networks that calls may come from; empty for any.
    expires : float or None
        Unix time from which it is expired.
    revoked : float or None
        Unix time from which it is revoked; after a rotation this may lie in the future.
    """

    id: int
    account: int
    prefix: str
    plan: str
    operations: frozenset[str] | None = None
    networks: tuple[Network, ...] = ()
    expires: float | None = None
    revoked: float | None = None

    def state(self, now: float) -> Literal["active", "revoked", "expired"]:
        """Return the key's state at a moment, Unix time."""
        if self.revoked is not None and self.revoked <= now:
            return "revoked"
        if self.expires is not None and self.expires <= now:
            return "expired"
        return "active"


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One line of ``webanalytics keys list``."""

    key: Key
    account_name: str
    created: float
    last_used: float | None
    credits: int


@dataclass(frozen=True, slots=True)
class Idempotency:
    """The caller's Idempotency-Key, and a digest of operation and parameters."""

    key: str
    fingerprint: bytes


@dataclass(slots=True)  # each request makes one; if it were frozen, that would take four times as long
class Call:
    """A call to be paid for.

    ``price`` is that of one success, and there may be at most ``inputs`` of them; ``request_id`` names
    the entries in the ledger.
    """

    key: Key
    operation: str
    request_id: str
    price: int
    inputs: int = 1
    idempotency: Idempotency | None = None


@dataclass(frozen=True, slots=True)
class Reservation:
    """Credits held for a call in progress: a whole number of prices, maybe fewer than requested.

    Attributes
    ----------
    id : int
        Number of the reservation; never given twice.
    credits : int
        Credits held.
    remaining : int
        Credits left in the account besides them.
    call : Call or None
        The call they are held for; every store sets it.
    """

    id: int
    credits: int
    remaining: int
    call: Call | None = None


@dataclass(slots=True)
class Receipt:
    """What a finished call cost.

    ``notice`` is the percentage of the month's credits (80 or 95) that this charge reached first.
    """

    charged: int
    remaining: int
    notice: int | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """The saved answer of an earlier call with the same Idempotency-Key."""

    answer: bytes
    remaining: int


@dataclass(frozen=True, slots=True)
class NoCredits:
    """The credits left do not cover one success.

    Attributes
    ----------
    remaining : int
        Credits left in the account.
    held : int
        Credits held by calls in progress: some of them may be returned.
    """

    remaining: int
    held: int = 0


@dataclass(frozen=True, slots=True)
class Conflict:
    """The Idempotency-Key is taken: ``running`` by a call in progress, else by one with other parameters.

    ``seconds`` is for how long the call has been in progress.
    """

    running: bool
    remaining: int
    seconds: float = field(default=0.0, compare=False)


class AccountsError(Exception):
    """The store cannot be opened or reached; the message is one sentence for the operator."""


class Accounts(Protocol):
    """A store of accounts. Every method is one transaction, committed when it returns."""

    async def find_key(self, digest: bytes) -> Key | None:
        """Return the key with this SHA-256 digest; revoked and expired ones too."""
        ...

    async def balance(self, account: int) -> int:
        """Return the credits left, the month's allowance included."""
        ...

    async def charge(self, call: Call, answer: bytes | None) -> Receipt | Replay | NoCredits | Conflict:
        """Charge one success that has been computed; keep ``answer`` where there is an Idempotency-Key.

        The answer is kept as given: the caller compresses it first if needed.
        """
        ...

    async def reserve(self, call: Call) -> Reservation | Replay | NoCredits | Conflict:
        """Hold credits for as many of ``call.inputs`` successes as the balance covers, at least one.

        If the caller is cancelled meanwhile, the credits are returned.
        """
        ...

    async def settle(
        self,
        reservation: Reservation,
        credits: int,  # noqa: A002 - the field's own word
        answer: bytes | None,
    ) -> Receipt:
        """Charge ``credits`` of a reservation and return the rest; 0 releases it entirely.

        ``answer`` is kept for the reservation's Idempotency-Key; without one the key is free again.
        """
        ...

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
        ...

    async def list_keys(self) -> Sequence[KeyRow]:
        """Return all keys, by account."""
        ...

    async def rotate_key(self, prefix: str, keep: float) -> tuple[str, Key]:
        """Return a new key with the same restrictions; the old one works ``keep`` seconds more."""
        ...

    async def revoke_key(self, prefix: str) -> Key:
        """Revoke a key at once."""
        ...

    async def restrict_key(
        self,
        prefix: str,
        *,
        operations: frozenset[str] | None,
        networks: tuple[Network, ...],
        expires: float | None,
    ) -> Key:
        """Replace the restrictions of a key."""
        ...

    async def change_plan(self, account: str, plan: str) -> int:
        """Move an account to another plan and return the credits left.

        A bigger allowance counts from the running month on; a smaller one from the next.
        """
        ...

    async def ready(self) -> bool:
        """Return whether the store answers."""
        ...

    async def close(self) -> None:
        """Finish pending work and close the store."""
        ...
