"""The tables of both databases, their migrations, and how statements are written.

Business logic is generators that yield statements and receive rows (`Steps`): the same generator runs
on SQLite in the writer's thread and on PostgreSQL on an asyncio connection. Statements are written
once, in the common part of both dialects, with ``$1``, ``$2``, ... each used once and in order.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from functools import lru_cache
from pathlib import Path
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

Migration = tuple[str, ...]
"""Its statements; one below ``-- sqlite`` or ``-- postgresql`` is for that dialect alone."""

MIGRATIONS: tuple[Migration, ...] = tuple(
    tuple(path.read_text("utf-8").strip().split("\n\n"))
    for path in sorted(Path(__file__).with_name("migrations").glob("*.sql"), key=lambda path: int(path.stem))
)
"""Each step from one version of the schema to the next; a published one is never changed."""


def statements(migration: Migration, dialect: Dialect) -> list[str]:
    """Return the statements of one migration in a dialect."""
    others = tuple(f"-- {other}\n" for other in TYPES if other != dialect)
    texts = [text for text in migration if not text.startswith(others)]
    for word, meaning in TYPES[dialect].items():
        texts = [text.replace(f"{{{word}}}", meaning) for text in texts]
    return texts


def migrate(dialect: Dialect) -> Steps[int]:
    """Bring a database to the newest version; return the version it had."""
    yield "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)", ()
    rows = yield "SELECT version FROM schema_version", ()
    found: Any = rows[0][0] if rows else 0
    newest = len(MIGRATIONS)
    if found > newest:
        raise AccountsError(
            f"The database has schema version {found} and this program knows {newest}:"
            " install a newer webanalytics."
        )
    if not rows:
        yield "INSERT INTO schema_version (version) VALUES (0)", ()
    for migration in MIGRATIONS[found:]:
        for statement in statements(migration, dialect):
            yield statement, ()
    if found < newest:
        yield "UPDATE schema_version SET version = $1", (newest,)
    return int(found)
