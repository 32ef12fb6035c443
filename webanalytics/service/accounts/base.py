"""Accounts, keys and credits: the values that every store takes and returns, and an account's arithmetic.

The life of a charge
--------------------
Operations that take time (pages, images, batches, queries) `reserve` their credits before the work
and `settle` after it: what was used is charged, the rest returned. Operations that take microseconds
(one HMAC, record or number) are computed first and charged at once by `charge`. An answer is sent
only after the commit of its `settle` or `charge`, so what was sent has been charged; nothing is
charged before it was computed; a reservation whose process died is released.

The ledger is append-only; an account's balance is the sum of its entries, kept in the same
transaction, and never below zero.

An account's credits are of three kinds: the month's allowance, the bonus, and what is held for calls under
way. Their sum is the balance, and the sum of the ledger. The allowance is used before the bonus, because
what is left of it ends with the month. Nothing here depends on a database.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from webanalytics.service.settings import Network, Plan


def digest(key: str) -> bytes:
    """Return the stored form of a key: the SHA-256 of its canonical lower-case text.

    A key has 122 random bits, so a fast digest is enough: there is nothing to guess.

    >>> digest("F47AC10B-58CC-4372-A567-0E02B2C3D479") == digest("f47ac10b-58cc-4372-a567-0e02b2c3d479")
    True
    """
    return hashlib.sha256(key.lower().encode()).digest()


@dataclass(frozen=True, slots=True)
class Key:
    """One API key as stored: never the key itself."""

    id: int  # number of the key
    account: int  # number of its account
    prefix: str  # first eight characters of the key: its name in logs and commands
    plan: str  # plan of the account
    # names of the operations it may call (``Operation.name``); None for all
    operations: frozenset[str] | None = None
    networks: tuple[Network, ...] = ()  # networks that calls may come from; empty for any
    expires: float | None = None  # Unix time from which it is expired
    # Unix time from which it is revoked; after a rotation this may lie in the future
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
    """A call to be paid for."""

    key: Key
    operation: str
    request_id: str
    price: int
    inputs: int = 1
    idempotency: Idempotency | None = None


@dataclass(frozen=True, slots=True)
class Reservation:
    """Credits held for a call in progress: a whole number of prices, maybe fewer than requested."""

    id: int  # number of the reservation; never given twice
    credits: int  # credits held
    remaining: int  # credits left in the account besides them
    call: Call | None = None  # the call they are held for; every store sets it


@dataclass(slots=True)
class Receipt:
    """What a finished call cost."""

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
    """The credits left do not cover one success."""

    remaining: int  # credits left in the account
    held: int = 0  # credits held by calls in progress: some of them may be returned


@dataclass(frozen=True, slots=True)
class Conflict:
    """The Idempotency-Key is taken: ``running`` by a call in progress, else by one with other parameters."""

    running: bool
    remaining: int
    seconds: float = field(default=0.0, compare=False)


class AccountsError(Exception):
    """The store cannot be opened or reached; the message is one sentence for the operator."""


Entry = tuple[str, int]
"""Kind and change of one line of the ledger."""

GRANT, BONUS, EXPIRE, CHARGE, UPGRADE = "grant", "bonus", "expire", "charge", "upgrade"


def month(now: float) -> str:
    """Return the billing cycle of a moment: its calendar month in UTC.

    >>> month(0.0)
    '1970-01'
    """
    return time.strftime("%Y-%m", time.gmtime(now))


@dataclass(frozen=True, slots=True)
class Hold:
    """What a reservation took from an account: how much, how much of it bonus, and in which cycle."""

    credits: int
    bonus: int
    cycle: str


@dataclass(slots=True)
class Account:
    """The credits of one account."""

    id: int  # number of the account
    plan: str  # name of its plan
    balance: int  # all its credits: the sum of its ledger
    bonus: int  # bonus credits in the balance, without those held
    held: int  # credits in the balance that are held for calls under way
    cycle: str  # the month that was granted last, as ``YYYY-MM``
    allowance: int  # what the plan granted for this cycle
    granted: int  # credits available for this cycle, bonus included: the base of the notices
    used: int  # credits charged in this cycle
    noticed: int  # highest percentage that a notice was sent for in this cycle

    @classmethod
    def opened(cls, plan: Plan, now: float) -> Account:
        """Return a new account, without its number, with the plan's allowance and bonus."""
        whole = plan.monthly_credits + plan.bonus_credits
        monthly, bonus = plan.monthly_credits, plan.bonus_credits
        return cls(0, plan.name, whole, bonus, 0, month(now), monthly, whole, used=0, noticed=0)

    @property
    def left(self) -> int:
        """Credits that can be spent."""
        return self.balance - self.held

    def turn(self, cycle: str, plan: Plan) -> list[Entry]:
        """Begin a cycle: the remaining allowance expires, the bonus stays, the plan grants a new one."""
        rest = self.left - self.bonus
        self.cycle, self.used, self.noticed = cycle, 0, 0
        self.allowance = plan.monthly_credits
        self.balance += plan.monthly_credits - rest
        self.granted = self.left
        return [entry for entry in ((EXPIRE, -rest), (GRANT, plan.monthly_credits)) if entry[1]]

    def change(self, plan: Plan) -> list[Entry]:
        """Move to another plan; a larger allowance than this cycle's adds the difference."""
        more = max(0, plan.monthly_credits - self.allowance)
        self.plan = plan.name
        self.allowance += more
        self.balance += more
        self.granted += more
        return [(UPGRADE, more)] if more else []

    def _take(self, amount: int) -> int:
        """Return how much of ``amount`` is bonus, and deduct that from the bonus."""
        bonus = max(0, amount - (self.left - self.bonus))
        self.bonus -= bonus
        return bonus

    def charge(self, amount: int) -> None:
        """Spend credits that are left."""
        self._take(amount)
        self.balance -= amount
        self.used += amount

    def hold(self, amount: int) -> Hold:
        """Hold credits that are left for a call."""
        bonus = self._take(amount)
        self.held += amount
        return Hold(amount, bonus, self.cycle)

    def settle(self, hold: Hold, amount: int) -> int:
        """Spend some of what was held and release the rest; return how much of the rest has expired."""
        allowance = hold.credits - hold.bonus
        bonus = max(0, amount - allowance)
        self.held -= hold.credits
        self.bonus += hold.bonus - bonus
        self.balance -= amount
        if hold.cycle == self.cycle:
            self.used += amount
            return 0
        ended = allowance - (amount - bonus)
        self.balance -= ended
        return ended

    def notice(self, percentages: Iterable[int]) -> int | None:
        """Return the highest percentage of the cycle's credits reached and not yet notified, and note it."""
        used, granted = self.used * 100, self.granted
        reached = [share for share in percentages if share > self.noticed and used >= share * granted]
        if not reached or not granted:
            return None
        self.noticed = max(reached)
        return self.noticed
