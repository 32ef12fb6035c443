"""The arithmetic of one account: how a month, a charge and a reservation change its credits.

Nothing here depends on a database. An account's credits are of three kinds: the month's allowance, the
bonus, and what is held for calls under way. Their sum is the balance, and the sum of the ledger.
The allowance is used before the bonus, because what is left of it ends with the month.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from webanalytics.service.config.settings import Plan

Entry = tuple[str, int]
"""Kind and change of one line of the ledger."""

GRANT, BONUS, EXPIRE, CHARGE, UPGRADE = "grant", "bonus", "expire", "charge", "upgrade"


def month(now: float) -> str:
    """Return the billing cycle of a moment: its calendar month in UTC.

    Examples
    --------
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
    """The credits of one account.

    Attributes
    ----------
    id : int
        Number of the account.
    plan : str
        Name of its plan.
    balance : int
        All its credits: the sum of its ledger.
    bonus : int
        Bonus credits in the balance, without those held.
    held : int
        Credits in the balance that are held for calls under way.
    cycle : str
        The month that was granted last, as ``YYYY-MM``.
    allowance : int
        What the plan granted for this cycle.
    granted : int
        Credits available for this cycle, bonus included: the base of the notices.
    used : int
        Credits charged in this cycle.
    noticed : int
        Highest percentage that a notice was sent for in this cycle.
    """

    id: int
    plan: str
    balance: int
    bonus: int
    held: int
    cycle: str
    allowance: int
    granted: int
    used: int
    noticed: int

    @classmethod
    def opened(cls, plan: Plan, cycle: str) -> Account:
        """Return a new account, without its number, with the plan's allowance and bonus."""
        whole = plan.monthly_credits + plan.bonus_credits
        return cls(
            0, plan.name, whole, plan.bonus_credits, 0, cycle, plan.monthly_credits, whole, used=0, noticed=0
        )

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
        """Spend some of what was held and release the rest; return how much of the rest has expired.

        A call is paid from the cycle it began in: the rest of that cycle's allowance is not carried over.
        """
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
