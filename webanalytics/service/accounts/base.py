"""Accounts, keys and credits: the values that every store of them takes and returns.

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
from dataclasses import dataclass
from typing import Literal

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
    """The Idempotency-Key is taken: ``running`` by a call in progress, else by one with other parameters."""

    running: bool
    remaining: int


class AccountsError(Exception):
    """The store cannot be opened or reached; the message is one sentence for the operator."""
