"""The commands that move credits: charge, reserve, settle, and what keeps the months and holds in order.

Every command locks the row of its account first, so commands on one account run one after another
in any store; a command locks at most the accounts it is called for, in order of their numbers.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from webanalytics.service.accounts.base import (
    CHARGE,
    EXPIRE,
    Account,
    AccountsError,
    Call,
    Conflict,
    Entry,
    Hold,
    Idempotency,
    NoCredits,
    Receipt,
    Replay,
    Reservation,
    month,
)
from webanalytics.service.accounts.schema import Parameters, Steps, values
from webanalytics.service.settings import Plan

_LOAD = """SELECT id, plan, balance, bonus, held, cycle, allowance, granted, used, noticed
    FROM accounts WHERE id = $1 FOR NO KEY UPDATE"""
_SAVE = """UPDATE accounts SET plan = $1, balance = $2, bonus = $3, held = $4, cycle = $5, allowance = $6,
    granted = $7, used = $8, noticed = $9 WHERE id = $10"""
_ENTER = "INSERT INTO ledger (account, key, kind, delta, request_id, operation, at) VALUES "
_ENTER_ROWS = tuple(_ENTER + values(rows, 7) for rows in range(65))
_CHARGED = "SELECT delta FROM ledger WHERE request_id = $1 AND kind = 'charge'"
_SEEN = "UPDATE keys SET last_used = $1 WHERE id = $2"

_HOLD = """INSERT INTO reservations (account, request_id, credits, bonus, cycle, expires, process)
    VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id"""
_FREE = "DELETE FROM reservations WHERE id = $1 AND request_id = $2 RETURNING credits, bonus, cycle"
_FREE_OVERDUE = """DELETE FROM reservations WHERE account = $1 AND (expires <= $2 OR process = $3)
    RETURNING id, request_id, credits, bonus, cycle"""
_OVERDUE = """SELECT DISTINCT account FROM reservations WHERE expires <= $1 OR process = $2
    ORDER BY account LIMIT $3"""
_BEAT = """INSERT INTO processes (name, beats) VALUES ($1, 1)
    ON CONFLICT (name) DO UPDATE SET beats = processes.beats + 1"""

_EARLIER = "SELECT fingerprint, reservation, answer, expires FROM idempotency WHERE account = $1 AND key = $2"
_REMEMBER = """INSERT INTO idempotency (account, key, fingerprint, reservation, answer, expires)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (account, key) DO UPDATE SET fingerprint = excluded.fingerprint,
    reservation = excluded.reservation, answer = excluded.answer, expires = excluded.expires"""
_FORGET = "DELETE FROM idempotency WHERE reservation = $1"
_PRUNE = """DELETE FROM idempotency WHERE (account, key) IN (SELECT account, key FROM idempotency
    WHERE expires <= $1 AND reservation IS NULL ORDER BY expires LIMIT $2 FOR UPDATE SKIP LOCKED)"""

SEEN_SECONDS = 60.0
"""Seconds of precision with which the last use of a key is kept."""

DAYS_AHEAD = 31
"""How far a cycle may lie ahead: the clock of another server may go before, or have been wrong."""

SEEN_KEYS = 100_000
"""How many keys' last uses are kept in memory, so that they are written that rarely."""


class Charging:
    """The commands on credits, with the rules they follow."""

    def __init__(
        self,
        plans: Mapping[str, Plan],
        notices: Iterable[int] = (80, 95),
        idempotency_seconds: float = 86_400.0,
        reservation_seconds: float = 600.0,
    ) -> None:
        self.plans = dict(plans)
        self.notices = tuple(notices)
        self.idempotency_seconds = idempotency_seconds
        self.reservation_seconds = reservation_seconds
        self.process = secrets.token_hex(16)
        self._seen: dict[int, float] = {}

    def is_over(self, cycle: str, now: float) -> bool:
        """Return whether another cycle than an account's begins, also after a clock has been far ahead."""
        current = month(now)
        return cycle < current or (cycle > current and cycle > month(now + DAYS_AHEAD * 86_400))

    def plan(self, name: str) -> Plan:
        """Return the plan of an account."""
        try:
            return self.plans[name]
        except KeyError:
            raise AccountsError(f"An account has the plan {name!r}, which the configuration lacks.") from None

    def _open(self, number: int, now: float, needed: int = 0) -> Steps[Account]:
        """Lock an account, begin its month if it is a new one, and free overdue holds if they matter."""
        rows = yield _LOAD, (number,)
        if not rows:
            raise AccountsError(f"There is no account {number}.")
        account = Account(*rows[0])
        if self.is_over(account.cycle, now):
            entries = account.turn(month(now), self.plan(account.plan))
            yield from self._enter(number, entries, now)
            yield from self._save(account)
        if account.held and account.left < needed:
            yield from self._free_overdue(account, now)
        return account

    def _save(self, account: Account) -> Steps[None]:
        row = (account.plan, account.balance, account.bonus, account.held, account.cycle, account.allowance)
        yield _SAVE, (*row, account.granted, account.used, account.noticed, account.id)

    def _enter(
        self, account: int, entries: Sequence[Entry], now: float, call: Call | None = None
    ) -> Steps[None]:
        """Write lines of the ledger."""
        for kind, delta in entries:
            of_call = (call.request_id, call.operation) if call else (None, None)
            yield _ENTER_ROWS[1], (account, call.key.id if call else None, kind, delta, *of_call, now)

    def _see(self, key: int, now: float) -> Steps[None]:
        """Record the use of a key if the last record is older than a minute."""
        if now - self._seen.get(key, -SEEN_SECONDS) >= SEEN_SECONDS:
            if len(self._seen) >= SEEN_KEYS:
                self._seen.clear()
            self._seen[key] = now
            yield _SEEN, (now, key)

    def charge(
        self, now: float, call: Call, answer: bytes | None
    ) -> Steps[Receipt | Replay | NoCredits | Conflict]:
        """Charge one success that has been computed; keep its answer for the Idempotency-Key."""
        account = yield from self._open(call.key.account, now, call.price)
        if call.idempotency is not None:
            earlier = yield from self._earlier(account, call.idempotency, now)
            if earlier is not None:
                return earlier
        if account.left < call.price:
            return NoCredits(account.left, account.held)
        account.charge(call.price)
        receipt = Receipt(call.price, account.left, account.notice(self.notices))
        yield from self._enter(account.id, [(CHARGE, -call.price)], now, call)
        yield from self._save(account)
        if call.idempotency is not None and answer is not None:
            yield from self._remember(account.id, call.idempotency, None, answer, now)
        yield from self._see(call.key.id, now)
        return receipt

    def charge_group(self, now: float, calls: Sequence[Call]) -> Steps[list[Receipt | NoCredits]]:
        """Charge many calls without an Idempotency-Key: each account and its ledger are written once."""
        accounts: dict[int, Account] = {}
        needed: dict[int, int] = {}
        for call in calls:
            needed[call.key.account] = needed.get(call.key.account, 0) + call.price
        for number in sorted(needed):
            accounts[number] = yield from self._open(number, now, needed[number])
        results: list[Receipt | NoCredits] = []
        rows: list[Parameters] = []
        for call in calls:
            account, price = accounts[call.key.account], call.price
            if account.left < price:
                results.append(NoCredits(account.left, account.held))
                continue
            account.charge(price)
            results.append(Receipt(price, account.left, account.notice(self.notices)))
            rows.append((account.id, call.key.id, CHARGE, -price, call.request_id, call.operation, now))
        yield from self._enter_rows(rows)
        for number in dict.fromkeys(row[0] for row in rows):
            yield from self._save(accounts[number])
        for key in dict.fromkeys(row[1] for row in rows):
            yield from self._see(key, now)
        return results

    def _enter_rows(self, rows: list[Parameters]) -> Steps[None]:
        most = len(_ENTER_ROWS) - 1
        for start in range(0, len(rows), most):
            some = rows[start : start + most]
            yield _ENTER_ROWS[len(some)], tuple(chain.from_iterable(some))

    def reserve(self, now: float, call: Call) -> Steps[Reservation | Replay | NoCredits | Conflict]:
        """Hold credits for as many of the call's inputs as the balance covers, at least one."""
        account = yield from self._open(call.key.account, now, call.price * call.inputs)
        if call.idempotency is not None:
            earlier = yield from self._earlier(account, call.idempotency, now)
            if earlier is not None:
                return earlier
        successes = min(call.inputs, account.left // call.price) if call.price else call.inputs
        if successes < 1:
            return NoCredits(account.left, account.held)
        hold = account.hold(successes * call.price)
        yield from self._save(account)
        expires = now + self.reservation_seconds
        row = (account.id, call.request_id, hold.credits, hold.bonus, hold.cycle, expires, self.process)
        number = int((yield _HOLD, row)[0][0])
        if call.idempotency is not None:
            yield from self._remember(account.id, call.idempotency, number, None, now)
        yield from self._see(call.key.id, now)
        return Reservation(number, hold.credits, account.left, call)

    def settle(
        self, now: float, reservation: Reservation, amount: int, answer: bytes | None
    ) -> Steps[Receipt]:
        """Charge some of a reservation and return the rest."""
        call = reservation.call
        if call is None or not 0 <= amount <= reservation.credits:
            raise AccountsError("A reservation is settled for its own call and at most for its credits.")
        account = yield from self._open(call.key.account, now)
        rows = yield _FREE, (reservation.id, call.request_id)
        if rows:
            ended = account.settle(Hold(*rows[0]), amount)
        else:
            earlier = yield from self._settled(call)
            if earlier is not None:
                return Receipt(earlier, account.left)
            if not amount:
                return Receipt(0, account.left)
            yield from self._charge_late(account, call, amount, now)
            ended = 0
        notice = account.notice(self.notices) if amount else None
        entries = [entry for entry in ((CHARGE, -amount), (EXPIRE, -ended)) if entry[1]]
        yield from self._enter(account.id, entries, now, call)
        yield from self._save(account)
        if call.idempotency is not None:
            if answer is None:
                yield _FORGET, (reservation.id,)
            else:
                yield from self._remember(account.id, call.idempotency, None, answer, now)
        return Receipt(amount, account.left, notice)

    def _settled(self, call: Call) -> Steps[int | None]:
        """Return what a call has been charged, if anything."""
        rows = yield _CHARGED, (call.request_id,)
        return -int(rows[0][0]) if rows else None

    def _charge_late(self, account: Account, call: Call, amount: int, now: float) -> Steps[None]:
        """Charge a call whose reservation has been returned."""
        if call.idempotency is not None:
            taken = yield from self._earlier(account, call.idempotency, now)
            if taken is not None:
                raise AccountsError("The reservation is over and a later call has its Idempotency-Key.")
        if account.held and account.left < amount:
            yield from self._free_overdue(account, now)
        if account.left < amount:
            raise AccountsError("The reservation is over and the credits left do not cover the call.")
        account.charge(amount)

    def _earlier(
        self, account: Account, idempotency: Idempotency, now: float
    ) -> Steps[Replay | Conflict | None]:
        """Look for an earlier call with the same Idempotency-Key."""
        rows = yield _EARLIER, (account.id, idempotency.key)
        if not rows:
            return None
        fingerprint, reservation, answer, expires = rows[0]
        if expires <= now:
            if reservation is not None:
                yield from self._free_overdue(account, now)
            return None
        if fingerprint != idempotency.fingerprint:
            return Conflict(False, account.left)
        if answer is None:
            return Conflict(True, account.left, now - (expires - self.reservation_seconds))
        return Replay(answer, account.left)

    def _remember(
        self,
        account: int,
        idempotency: Idempotency,
        reservation: int | None,
        answer: bytes | None,
        now: float,
    ) -> Steps[None]:
        """Keep a call that runs (its reservation) or is done (its answer)."""
        expires = now + (self.reservation_seconds if answer is None else self.idempotency_seconds)
        row = (account, idempotency.key, idempotency.fingerprint, reservation, answer, expires)
        yield _REMEMBER, row

    def _free_overdue(self, account: Account, now: float, dead: str | None = None) -> Steps[None]:
        """Return the credits of an account's expired reservations, and of those of a dead process."""
        rows = yield _FREE_OVERDUE, (account.id, now, dead)
        for number, request_id, *hold in rows:
            ended = account.settle(Hold(*hold), 0)
            if ended:
                entry = (account.id, None, EXPIRE, -ended, request_id, None, now)
                yield _ENTER_ROWS[1], entry
            yield _FORGET, (number,)
        if rows:
            yield from self._save(account)

    def overdue_before(self, _now: float, until: float, dead: str | None, most: int) -> Steps[list[int]]:
        """Return accounts with expired reservations, or with some of a dead process."""
        rows = yield _OVERDUE, (until, dead, most)
        return [int(row[0]) for row in rows]

    def free_overdue(self, now: float, account: int, until: float, dead: str | None) -> Steps[None]:
        """Return the credits of an account's reservations that end before ``until``, or of a dead process."""
        opened = yield from self._open(account, now)
        yield from self._free_overdue(opened, until, dead)

    def beat(self, _now: float) -> Steps[dict[str, int]]:
        """Show that this process lives; return how often each process has."""
        yield _BEAT, (self.process,)
        rows = yield "SELECT name, beats FROM processes", ()
        return {str(name): int(beats) for name, beats in rows}

    def bury(self, _now: float, process: str) -> Steps[None]:
        """Forget a process, none of whose reservations is left."""
        yield "DELETE FROM processes WHERE name = $1", (process,)

    def prune(self, now: float, most: int) -> Steps[None]:
        """Drop a bounded number of expired saved answers."""
        yield _PRUNE, (now, most)
