"""Business logic without a database: generators that yield statements and receive rows.

The same generator runs on SQLite in the writer's thread and on PostgreSQL on an asyncio connection.
Statements are written once, in the common part of both dialects, with ``$1``, ``$2``, ... each used
once and in order.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

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

    Examples
    --------
    >>> for_sqlite("SELECT plan FROM accounts WHERE id = $1 FOR NO KEY UPDATE")
    'SELECT plan FROM accounts WHERE id = ?'
    """
    return re.sub(r"\$\d+", "?", _POSTGRESQL_ONLY.sub("", statement))


def values(rows: int, columns: int) -> str:
    """Return the placeholders of an INSERT of several rows.

    Examples
    --------
    >>> values(2, 2)
    '($1, $2), ($3, $4)'
    """
    numbers = [[f"${row * columns + column + 1}" for column in range(columns)] for row in range(rows)]
    return ", ".join(f"({', '.join(row)})" for row in numbers)
