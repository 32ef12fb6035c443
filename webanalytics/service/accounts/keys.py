"""The commands on keys, run by a store: find, create, list, rotate, revoke and restrict."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_network
from typing import Any

from webanalytics.errors import ParameterError, choice
from webanalytics.service.accounts.base import BONUS, GRANT, Account, AccountsError, Key, KeyRow, digest
from webanalytics.service.accounts.charges import Charging
from webanalytics.service.accounts.schema import Steps
from webanalytics.service.settings import Network, Plan

PREFIX = 8
"""Characters of a key that name it in logs and commands."""

NAME_CHARACTERS = 200
"""Longest name of an account."""

_COLUMNS = """keys.id, keys.account, keys.prefix, accounts.plan, keys.operations, keys.networks, keys.expires,
    keys.revoked"""
_KEY = f"SELECT {_COLUMNS} FROM keys JOIN accounts ON accounts.id = keys.account WHERE "  # noqa: S608
_BY_DIGEST = _KEY + "keys.digest = $1"
_BY_PREFIX = _KEY + "keys.prefix = $1"
_LIST = f"""SELECT {_COLUMNS}, accounts.name, keys.created, keys.last_used, accounts.balance - accounts.held,
    accounts.bonus, accounts.cycle FROM keys JOIN accounts ON accounts.id = keys.account
    ORDER BY accounts.name, keys.id"""  # noqa: S608
_BALANCE = "SELECT plan, balance - held, bonus, cycle FROM accounts WHERE id = $1"
_TAKEN = "SELECT 1 FROM keys WHERE prefix = $1"
_ADD_KEY = """INSERT INTO keys (account, digest, prefix, operations, networks, expires, created)
    VALUES ($1, $2, $3, $4, $5, $6, $7)"""
_REVOKE = "UPDATE keys SET revoked = $1 WHERE id = $2"
_RESTRICT = "UPDATE keys SET operations = $1, networks = $2, expires = $3 WHERE id = $4"
_BY_NAME = "SELECT id, plan FROM accounts WHERE name = $1"
_ADD_ACCOUNT = """INSERT INTO accounts (name, plan, balance, bonus, held, cycle, allowance, granted, used,
    noticed, created) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING id"""


def draw_key() -> str:
    """Return a new random key: a UUID of version 4."""
    return str(uuid.uuid4())


def key_of(row: Sequence[Any]) -> Key:
    """Make a key from the columns it is stored in."""
    number, account, prefix, plan, operations, networks, expires, revoked = row
    return Key(
        number,
        account,
        prefix,
        plan,
        None if operations is None else frozenset(json.loads(operations)),
        tuple(ip_network(network) for network in json.loads(networks)),
        expires,
        revoked,
    )


def _restrictions(operations: frozenset[str] | None, networks: tuple[Network, ...]) -> tuple[str | None, str]:
    """Return the columns that restrict a key."""
    names = None if operations is None else json.dumps(sorted(operations))
    return names, json.dumps([str(network) for network in networks])


class Commands(Charging):
    """All commands of a store."""

    def __init__(
        self, plans: Mapping[str, Plan], *, draw: Callable[[], str] = draw_key, **rules: Any
    ) -> None:
        super().__init__(plans, **rules)
        self.draw = draw

    def find_key(self, _now: float, digest: bytes) -> Steps[Key | None]:
        """Return the key with this digest."""
        rows = yield _BY_DIGEST, (digest,)
        return key_of(rows[0]) if rows else None

    def balance(self, now: float, account: int) -> Steps[int]:
        """Return the credits an account can spend."""
        rows = yield _BALANCE, (account,)
        if not rows:
            raise AccountsError(f"There is no account {account}.")
        return self._spendable(now, *rows[0])

    def list_keys(self, now: float) -> Steps[list[KeyRow]]:
        """Return all keys, by account."""
        found = []
        for row in (yield _LIST, ()):
            name, created, last_used, left, bonus, cycle = row[8:]
            spendable = self._spendable(now, row[3], left, bonus, cycle)
            found.append(KeyRow(key_of(row[:8]), name, created, last_used, spendable))
        return found

    def ready(self, _now: float) -> Steps[bool]:
        """Return True, after a write that changes nothing: a full disk and a read-only store refuse it."""
        yield "UPDATE schema_version SET version = version", ()
        return True

    def _spendable(self, now: float, plan: str, left: int, bonus: int, cycle: str) -> int:
        """Return the credits left, as of the current month."""
        if self.is_over(cycle, now):
            return bonus + self.plan(plan).monthly_credits
        return left

    def create_key(
        self,
        now: float,
        account: str | None,
        plan: str | None,
        operations: frozenset[str] | None,
        networks: tuple[Network, ...],
        expires: float | None,
    ) -> Steps[tuple[str, Key]]:
        """Create a key, and its account where that name is new."""
        text = yield from self._draw()
        number = yield from self._account(now, account, plan, text)
        return (yield from self._add_key(now, text, number, (*_restrictions(operations, networks), expires)))

    def rotate_key(self, now: float, prefix: str, keep: float) -> Steps[tuple[str, Key]]:
        """Create a key like another, which works ``keep`` seconds more."""
        if not keep >= 0:
            raise ParameterError("The `keep` parameter must be a number of seconds, 0 or more.", "keep")
        old = yield from self._named(prefix)
        for ended, word in ((old.revoked, "revoked"), (old.expires, "expired")):
            if ended is not None and ended <= now:
                raise ParameterError.on("key", f"names a key that is {word}: create a new one")
        text = yield from self._draw()
        columns = (*_restrictions(old.operations, old.networks), old.expires)
        added = yield from self._add_key(now, text, old.account, columns)
        until = now + keep if old.revoked is None else min(now + keep, old.revoked)
        yield _REVOKE, (until, old.id)
        return added

    def revoke_key(self, now: float, prefix: str) -> Steps[Key]:
        """Revoke a key at once."""
        key = yield from self._named(prefix)
        if key.revoked is None or key.revoked > now:
            yield _REVOKE, (now, key.id)
        return (yield from self._named(prefix))

    def restrict_key(
        self,
        _now: float,
        prefix: str,
        operations: frozenset[str] | None,
        networks: tuple[Network, ...],
        expires: float | None,
    ) -> Steps[Key]:
        """Replace the restrictions of a key."""
        key = yield from self._named(prefix)
        yield _RESTRICT, (*_restrictions(operations, networks), expires, key.id)
        return (yield from self._named(prefix))

    def _named(self, prefix: str) -> Steps[Key]:
        rows = yield _BY_PREFIX, (prefix.lower(),)
        if not rows:
            raise ParameterError.must_be("key", f"the first {PREFIX} characters of a key that exists")
        return key_of(rows[0])

    def _draw(self) -> Steps[str]:
        """Return a new key whose prefix no other has."""
        while True:
            text = self.draw()
            if not (yield _TAKEN, (text[:PREFIX],)):
                return text

    def _add_key(
        self, now: float, text: str, account: int, restrictions: tuple[str | None, str, float | None]
    ) -> Steps[tuple[str, Key]]:
        yield _ADD_KEY, (account, digest(text), text[:PREFIX], *restrictions, now)
        return text, (yield from self._named(text[:PREFIX]))

    def change_plan(self, now: float, account: str, plan: str) -> Steps[int]:
        """Move an account to another plan and return the credits left."""
        wanted = self._plan(plan)
        rows = yield _BY_NAME, (account,)
        if not rows:
            raise ParameterError.must_be("account", "the name of an account that exists")
        opened = yield from self._open(int(rows[0][0]), now)
        yield from self._enter(opened.id, opened.change(wanted), now)
        yield from self._save(opened)
        return opened.left

    def _plan(self, name: str) -> Plan:
        return self.plans[choice("plan", name, self.plans)]

    def _account(self, now: float, name: str | None, plan: str | None, text: str) -> Steps[int]:
        """Return the number of the account of that name; open it if the name is new."""
        wanted = None if plan is None else self._plan(plan)
        if name is not None:
            if not (0 < len(name) <= NAME_CHARACTERS and name.isprintable() and name == name.strip()):
                raise ParameterError.must_be(
                    "account", f"a name of 1 to {NAME_CHARACTERS} printable characters"
                )
            rows = yield _BY_NAME, (name,)
            if rows:
                if wanted is not None and wanted.name != rows[0][1]:
                    raise ParameterError.must_be(
                        "plan", f"left out or {rows[0][1]}, the plan of this account"
                    )
                return int(rows[0][0])
        wanted = wanted or next(iter(self.plans.values()))
        return (yield from self._add_account(now, name or f"account-{text[:PREFIX]}", wanted))

    def _add_account(self, now: float, name: str, plan: Plan) -> Steps[int]:
        new = Account.opened(plan, now)
        row = (new.balance, new.bonus, new.held, new.cycle, new.allowance, new.granted, new.used, new.noticed)
        rows = yield _ADD_ACCOUNT, (name, new.plan, *row, now)
        number = int(rows[0][0])
        grants = ((GRANT, plan.monthly_credits), (BONUS, plan.bonus_credits))
        yield from self._enter(number, [entry for entry in grants if entry[1]], now)
        return number
