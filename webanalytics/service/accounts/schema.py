"""The tables of both databases, their migrations, and how statements are written.

Business logic is generators that yield statements and receive rows (`Steps`): the same generator runs
on SQLite in the writer's thread and on PostgreSQL on an asyncio connection. Statements are written
once, in the common part of both dialects, with ``$1``, ``$2``, ... each used once and in order.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeVar

from webanalytics.service.accounts.base import AccountsError

T = TypeVar("T")

Parameters = tuple[Any, ...]
Rows = Sequence[Any]
"""Rows of a result: each can be indexed and unpacked like a tuple."""

Steps = Generator[tuple[str, Parameters], Rows, T]
"""A command: yields a statement with its parameters, receives its rows, returns its result."""

_POSTGRESQL_ONLY = re.compile(r"\s+FOR (NO KEY )?UPDATE( SKIP LOCKED)?")


@lru_cache(maxsize=1000)
def for_sqlite(statement: str) -> str:
    """Translate a statement for SQLite, which has one writer and needs no row locks.

    >>> for_sqlite("SELECT plan FROM accounts WHERE id = $1 FOR NO KEY UPDATE")
    'SELECT plan FROM accounts WHERE id = ?'
    """
    return re.sub(r"\$\d+", "?", _POSTGRESQL_ONLY.sub("", statement))


def values(rows: int, columns: int) -> str:
    """Return the placeholders of an INSERT of several rows.

    >>> values(2, 2)
    '($1, $2), ($3, $4)'
    """
    numbers = [[f"${row * columns + column + 1}" for column in range(columns)] for row in range(rows)]
    return ", ".join(f"({', '.join(row)})" for row in numbers)


Dialect = Literal["sqlite", "postgresql"]

TYPES: dict[Dialect, dict[str, str]] = {
    "sqlite": {"number": "INTEGER PRIMARY KEY AUTOINCREMENT", "real": "REAL", "bytes": "BLOB"},
    "postgresql": {
        "number": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "real": "DOUBLE PRECISION",
        "bytes": "BYTEA",
    },
}
"""What the words in braces in a migration mean."""

APPEND_ONLY: dict[Dialect, tuple[str, ...]] = {
    "sqlite": (
        "CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger"
        " BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
        "CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger"
        " BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
    ),
    "postgresql": (
        "CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql"
        " AS $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$",
        "CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger"
        " FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse()",
    ),
}

Migration = tuple[str | dict[Dialect, tuple[str, ...]], ...]

MIGRATIONS: tuple[Migration, ...] = (
    (
        """CREATE TABLE accounts (
            id {number},
            name TEXT NOT NULL UNIQUE,
            plan TEXT NOT NULL,
            balance BIGINT NOT NULL CHECK (balance >= 0),
            bonus BIGINT NOT NULL CHECK (bonus >= 0),
            held BIGINT NOT NULL CHECK (held >= 0),
            cycle TEXT NOT NULL,
            allowance BIGINT NOT NULL,
            granted BIGINT NOT NULL,
            used BIGINT NOT NULL,
            noticed INTEGER NOT NULL,
            created {real} NOT NULL,
            CHECK (balance >= bonus + held)
        )""",
        """CREATE TABLE keys (
            id {number},
            account BIGINT NOT NULL REFERENCES accounts (id),
            digest {bytes} NOT NULL UNIQUE,
            prefix TEXT NOT NULL UNIQUE,
            operations TEXT,
            networks TEXT NOT NULL,
            expires {real},
            revoked {real},
            created {real} NOT NULL,
            last_used {real}
        )""",
        """CREATE TABLE ledger (
            id {number},
            account BIGINT NOT NULL REFERENCES accounts (id),
            key BIGINT REFERENCES keys (id),
            kind TEXT NOT NULL,
            delta BIGINT NOT NULL,
            request_id TEXT,
            operation TEXT,
            at {real} NOT NULL,
            UNIQUE (request_id, kind)
        )""",
        APPEND_ONLY,
        """CREATE TABLE reservations (
            id {number},
            account BIGINT NOT NULL REFERENCES accounts (id),
            request_id TEXT NOT NULL,
            credits BIGINT NOT NULL CHECK (credits >= 0),
            bonus BIGINT NOT NULL CHECK (bonus >= 0),
            cycle TEXT NOT NULL,
            expires {real} NOT NULL
        )""",
        "CREATE INDEX reservations_expires ON reservations (expires)",
        "CREATE INDEX reservations_account ON reservations (account, expires)",
        """CREATE TABLE idempotency (
            account BIGINT NOT NULL REFERENCES accounts (id),
            key TEXT NOT NULL,
            fingerprint {bytes} NOT NULL,
            reservation BIGINT,
            answer {bytes},
            expires {real} NOT NULL,
            PRIMARY KEY (account, key)
        )""",
        "CREATE INDEX idempotency_expires ON idempotency (expires)",
        "CREATE INDEX idempotency_reservation ON idempotency (reservation)",
    ),
    (
        "ALTER TABLE reservations ADD COLUMN process TEXT",
        "CREATE TABLE processes (name TEXT PRIMARY KEY, beats BIGINT NOT NULL)",
    ),
)
"""Each step from one version of the schema to the next; a published one is never changed."""


def statements(migration: Migration, dialect: Dialect) -> list[str]:
    """Return the statements of one migration in a dialect."""
    texts: list[str] = []
    for part in migration:
        texts += [part] if isinstance(part, str) else part[dialect]
    for word, meaning in TYPES[dialect].items():
        texts = [text.replace(f"{{{word}}}", meaning) for text in texts]
    return texts


def migrate(dialect: Dialect, migrations: tuple[Migration, ...] | None = None) -> Steps[int]:
    """Bring a database to the newest version; return the version it had."""
    migrations = MIGRATIONS if migrations is None else migrations
    yield "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)", ()
    rows = yield "SELECT version FROM schema_version", ()
    found: Any = rows[0][0] if rows else 0
    newest = len(migrations)
    if found > newest:
        raise AccountsError(
            f"The database has schema version {found} and this program knows {newest}:"
            " install a newer webanalytics."
        )
    if not rows:
        yield "INSERT INTO schema_version (version) VALUES (0)", ()
    for migration in migrations[found:]:
        for statement in statements(migration, dialect):
            yield statement, ()
    if found < newest:
        yield "UPDATE schema_version SET version = $1", (newest,)
    return int(found)
