"""The two ways to have accounts, so that each test of the rules runs over all of them."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.service import postgres
from webanalytics.service.accounts import open_accounts
from webanalytics.service.accounts.base import Call, Idempotency, Key
from webanalytics.service.settings import Plan, ServiceSettings

KINDS = ("sqlite", "postgresql")

PLANS = {
    "free": Plan("free", 1_000, 500, False, 60, 10_000_000),
    "small": Plan("small", 100, 0, True, None, 10_000_000),
    "pro": Plan("pro", 5_000, 0, True, None, 10_000_000),
}

NUMBERS = itertools.count()


def moment(text: str) -> float:
    """Unix time of a date and time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


class Clock:
    """A clock that the test turns."""

    def __init__(self) -> None:
        self.now = moment("2026-11-21T05:00")

    def __call__(self) -> float:
        return self.now


class Stores:
    """Databases of one kind, made anew for a test."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.clock = Clock()
        self.file = folder / "accounts.db"
        self.url = f"sqlite:///{self.file}"
        if kind == "postgresql":
            self.server = postgres.running()
            self.url = self.server.database()
            self.database = self.url.split("/")[3].split("?")[0]

    @asynccontextmanager
    async def open(self, plans: dict[str, Plan] = PLANS, **settings: Any) -> AsyncIterator[Any]:
        """Open the accounts as a server does."""
        accounts = await open_accounts(
            self.url, ServiceSettings(settings, plans), clock=self.clock, server=True
        )
        try:
            yield accounts
        finally:
            await accounts.close()

    def query(self, statement: str) -> list[tuple[str, ...]]:
        """Look into the database behind the accounts' back; every value as text, null as nothing."""
        if self.kind == "postgresql":
            lines = self.server.sql(statement, self.database).splitlines()
            return [tuple(line.split("|")) for line in lines]
        connection = sqlite3.connect(self.file)
        try:
            rows = connection.execute(statement).fetchall()
        finally:
            connection.close()
        return [tuple("" if value is None else str(value) for value in row) for row in rows]

    def ledger(self, columns: str = "kind, delta") -> list[tuple[str, ...]]:
        return self.query(f"SELECT {columns} FROM ledger ORDER BY id")

    def check(self) -> None:
        """The books agree: balances with the ledger, holds with the reservations."""
        wrong = """SELECT id, balance, held FROM accounts WHERE balance < 0 OR held < 0 OR bonus < 0
            OR balance <> (SELECT COALESCE(SUM(delta), 0) FROM ledger WHERE ledger.account = accounts.id)
            OR held <> (SELECT COALESCE(SUM(credits), 0) FROM reservations WHERE account = accounts.id)"""
        assert self.query(wrong) == []


async def new_key(accounts: Any, account: str | None = None, plan: str | None = None) -> Key:
    """A key without restrictions."""
    _, key = await accounts.create_key(account=account, plan=plan, operations=None, networks=(), expires=None)
    return key


def call(
    key: Key, price: int = 2, inputs: int = 1, again: str | None = None, fingerprint: bytes = b"same"
) -> Call:
    """A call with a request id of its own; ``again`` is its Idempotency-Key."""
    idempotency = None if again is None else Idempotency(again, fingerprint)
    return Call(key, "hmac", f"request-{next(NUMBERS)}", price, inputs, idempotency)
