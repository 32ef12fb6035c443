"""The ledger against a model in plain Python, under any order of calls, months, losses and restarts.

The model counts otherwise than the program: an account is a purse of lots (one of the month, one of
the bonus), a reservation carries the lots it took, and what returns to a month that is over is gone.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from tests.service.account_stores import PLANS, Stores, call, new_key
from webanalytics.service.accounts import AccountsError
from webanalytics.service.accounts.base import Call, Conflict, NoCredits, Receipt, Replay, Reservation

RESERVATION_SECONDS, IDEMPOTENCY_SECONDS = 600.0, 86_400.0
BONUS = "bonus"


@dataclass
class Held:
    """A reservation in the model: open while it has lots."""

    reservation: Reservation
    call: Call
    month: str
    expires: float
    lots: Counter[str] | None
    charged: int | None = None


@dataclass
class Saved:
    """An Idempotency-Key in the model: running while it has no answer."""

    fingerprint: bytes
    expires: float
    answer: bytes | None
    held: Held | None


@dataclass
class Purse:
    """One account in the model."""

    plan: str
    month: str
    lots: Counter[str] = field(default_factory=Counter)
    granted: int = 0
    start: int = 0
    used: int = 0
    told: int = 0

    def begin(self, month: str) -> None:
        if month > self.month or not self.start:
            self.lots = Counter({BONUS: self.lots[BONUS], month: PLANS[self.plan].monthly_credits})
            self.month, self.used, self.told = month, 0, 0
            self.granted = PLANS[self.plan].monthly_credits
            self.start = self.left

    @property
    def left(self) -> int:
        return self.lots.total()

    def take(self, amount: int) -> Counter[str]:
        taken = Counter({self.month: min(amount, self.lots[self.month])})
        taken[BONUS] = amount - taken[self.month]
        self.lots -= taken
        return taken

    def give(self, lots: Counter[str]) -> None:
        for name in (BONUS, self.month):
            self.lots[name] += lots[name]

    def use(self, amount: int) -> int | None:
        self.used += amount
        reached = [share for share in (80, 95) if self.used / self.start >= share / 100 and share > self.told]
        self.told = max(reached, default=self.told)
        return max(reached, default=None)


class Ledger(RuleBasedStateMachine):
    kind: ClassVar[str]
    shared: ClassVar[Stores]

    reservations = Bundle("reservations")
    prices = st.sampled_from([0, 1, 2, 10, 50, 190, 333])
    names = st.none() | st.sampled_from(["one", "two"])

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.stack = AsyncExitStack()
        self.folder = tempfile.TemporaryDirectory()
        one_database = self.kind == "postgresql"
        self.stores = self.shared if one_database else Stores(self.kind, Path(self.folder.name))
        self.clock = self.stores.clock
        self.clock.now = 1_790_000_000.0  # September 2026
        self.saved: dict[str, Saved] = {}
        self.held: list[Held] = []

    def wait(self, awaitable: Any) -> Any:
        return self.loop.run_until_complete(awaitable)

    def open(self) -> None:
        options = {"reservation_seconds": RESERVATION_SECONDS, "idempotency_seconds": IDEMPOTENCY_SECONDS}
        self.accounts = self.wait(self.stack.enter_async_context(self.stores.open(**options)))

    @initialize(plan=st.sampled_from(list(PLANS)))
    def begin(self, plan: str) -> None:
        self.open()
        self.key = self.wait(new_key(self.accounts, plan=plan))
        (row,) = [row for row in self.wait(self.accounts.list_keys()) if row.key == self.key]
        self.name = row.account_name
        self.purse = Purse(plan, "", Counter({BONUS: PLANS[plan].bonus_credits}))
        self.purse.begin(self.month)

    @property
    def month(self) -> str:
        return f"{datetime.fromtimestamp(self.clock.now, UTC):%Y-%m}"

    # -- calls ------------------------------------------------------------------------------------

    @property
    def all_held(self) -> int:
        return sum(held.lots.total() for held in self.held if held.lots is not None)

    def earlier(self, one: Call) -> Replay | Conflict | None:
        saved = self.saved.get(one.idempotency.key) if one.idempotency else None
        if saved is None or saved.expires <= self.clock.now:
            return None
        assert one.idempotency
        if saved.fingerprint != one.idempotency.fingerprint:
            return Conflict(False, self.purse.left)
        if saved.answer is None:
            return Conflict(True, self.purse.left)
        return Replay(saved.answer, self.purse.left)

    def save(self, one: Call, answer: bytes | None, held: Held | None) -> None:
        if one.idempotency:
            seconds = RESERVATION_SECONDS if answer is None else IDEMPOTENCY_SECONDS
            expires = self.clock.now + seconds
            self.saved[one.idempotency.key] = Saved(one.idempotency.fingerprint, expires, answer, held)

    @rule(price=prices, name=names, fingerprint=st.sampled_from([b"a", b"b"]))
    def charge(self, price: int, name: str | None, fingerprint: bytes) -> None:
        one = call(self.key, price, again=name, fingerprint=fingerprint)
        result = self.wait(self.accounts.charge(one, one.request_id.encode()))
        self.purse.begin(self.month)
        if earlier := self.earlier(one):
            assert result == earlier
        elif self.purse.left < price:
            assert result == NoCredits(self.purse.left, self.all_held)
        else:
            self.purse.take(price)
            assert result == Receipt(price, self.purse.left, self.purse.use(price))
            self.save(one, one.request_id.encode(), None)

    @rule(
        target=reservations,
        price=prices,
        inputs=st.integers(1, 20),
        name=names,
        fingerprint=st.sampled_from([b"a", b"b"]),
    )
    def reserve(self, price: int, inputs: int, name: str | None, fingerprint: bytes) -> Any:
        one = call(self.key, price, inputs, name, fingerprint)
        result = self.wait(self.accounts.reserve(one))
        self.purse.begin(self.month)
        if earlier := self.earlier(one):
            assert result == earlier
            return multiple()
        covered = [number * price for number in range(1, inputs + 1) if number * price <= self.purse.left]
        if not covered:
            assert result == NoCredits(self.purse.left, self.all_held)
            return multiple()
        lots = self.purse.take(covered[-1])
        assert (result.credits, result.remaining) == (covered[-1], self.purse.left)
        held = Held(result, one, self.month, self.clock.now + RESERVATION_SECONDS, lots)
        self.save(one, None, held)
        self.held.append(held)
        return held

    @rule(held=reservations, share=st.sampled_from([0.0, 0.3, 1.0]), answer=st.none() | st.just(b"answer"))
    def settle(self, held: Held, share: float, answer: bytes | None) -> None:
        amount = int(held.reservation.credits * share)
        try:
            result = self.wait(self.accounts.settle(held.reservation, amount, answer))
        except AccountsError:
            result = None
        self.purse.begin(self.month)
        if held.lots is not None:
            result_expected = self.settle_open(held, amount)
        elif held.charged is not None:
            assert result == Receipt(held.charged, self.purse.left)
            return
        elif not amount:
            assert result == Receipt(0, self.purse.left)
            return
        elif self.earlier(held.call) or self.purse.left < amount:
            assert result is None
            return
        else:
            self.purse.take(amount)
            held.charged = amount
            result_expected = Receipt(amount, self.purse.left, self.purse.use(amount))
        assert result == result_expected
        if answer is not None:
            self.save(held.call, answer, None)
        else:
            self.free(held)

    def settle_open(self, held: Held, amount: int) -> Receipt:
        assert held.lots is not None
        of_month = min(amount, held.lots[held.month])
        used = Counter({held.month: of_month, BONUS: amount - of_month})
        self.purse.give(held.lots - used)
        held.lots, held.charged = None, amount or None
        notice = self.purse.use(amount) if amount and held.month == self.purse.month else None
        return Receipt(amount, self.purse.left, notice)

    def free(self, held: Held) -> None:
        self.saved = {name: saved for name, saved in self.saved.items() if saved.held is not held}

    # -- time and accidents -----------------------------------------------------------------------

    def lose(self, before: float) -> None:
        for held in self.held:
            if held.lots is not None and held.expires <= before:
                self.purse.give(held.lots)
                held.lots = None
                self.free(held)

    @rule(seconds=st.sampled_from([1, 300, 599, 601, 86_400, 20 * 86_400, 31 * 86_400, 100 * 86_400]))
    def later(self, seconds: int) -> None:
        self.clock.now += seconds
        overdue = any(held.lots is not None and held.expires <= self.clock.now for held in self.held)
        self.wait(self.accounts.sweep(self.clock))
        if overdue:
            self.purse.begin(self.month)
        self.lose(self.clock.now)

    @rule()
    def restart(self) -> None:
        self.wait(self.stack.aclose())
        self.open()
        if self.kind != "postgresql":  # where other servers may run, only time returns what they hold
            if any(held.lots is not None for held in self.held):
                self.purse.begin(self.month)
            self.lose(float("inf"))

    @rule(plan=st.sampled_from(list(PLANS)))
    def change_plan(self, plan: str) -> None:
        left = self.wait(self.accounts.change_plan(self.name, plan))
        self.purse.begin(self.month)
        more = max(0, PLANS[plan].monthly_credits - self.purse.granted)
        self.purse.plan = plan
        self.purse.granted += more
        self.purse.start += more
        self.purse.lots[self.purse.month] += more
        assert left == self.purse.left

    @invariant()
    def balance(self) -> None:
        if hasattr(self, "purse"):
            left = self.wait(self.accounts.balance(self.key.account))
            if self.month > self.purse.month:  # shown as it will be once a call begins the month
                assert left == self.purse.lots[BONUS] + PLANS[self.purse.plan].monthly_credits
            else:
                assert left == self.purse.left

    def teardown(self) -> None:
        self.wait(self.stack.aclose())
        self.loop.close()
        if hasattr(self, "purse"):
            self.stores.check()
        self.folder.cleanup()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_ledger_is_what_the_model_says(kind: str, tmp_path: Path) -> None:
    machine = type(f"Ledger_{kind}", (Ledger,), {"kind": kind, "shared": Stores(kind, tmp_path)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=40 if kind == "sqlite" else 25,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
