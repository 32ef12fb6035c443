"""Accounts, keys and credits, in SQLite or PostgreSQL.

``base``
    The values that go in and out of a store, and the arithmetic of one account.
``charges``, ``keys``
    The commands, written once for both databases as generators over statements.
``schema``
    The tables, their migrations, and how statements are written.
``store``
    What a store can do, and what stores have in common.
``writer``, ``sqlite``
    SQLite: one writing thread, for one server process and ``webanalytics keys`` next to it.
``postgres``
    PostgreSQL: for any number of server processes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from webanalytics.errors import ParameterError
from webanalytics.service.accounts.base import AccountsError, digest
from webanalytics.service.accounts.keys import Commands
from webanalytics.service.accounts.postgres import PostgresAccounts
from webanalytics.service.accounts.sqlite import open_sqlite
from webanalytics.service.accounts.store import Accounts
from webanalytics.service.settings import ServiceSettings

__all__ = ["Accounts", "AccountsError", "digest", "open_accounts"]

SQLITE = "sqlite:///"
_POSTGRESQL = ("postgresql://", "postgres://")

WAIT_SECONDS = 3.0
"""Seconds to wait for another server of an SQLite file that is about to end."""


async def open_accounts(
    # ``sqlite:///relative.db``, ``sqlite:////absolute.db`` or ``postgresql://user:password@host/name``
    url: str,
    settings: ServiceSettings,  # plans, notices, and how long saved answers and reservations last
    *,
    clock: Callable[[], float] = time.time,  # Unix time
    # whether the accounts are opened to serve: then an SQLite file is locked, and reservations left by its
    # last server are released
    server: bool = False,
    wait: float = WAIT_SECONDS,  # seconds to wait for another server of an SQLite file that is about to end
) -> Accounts:
    """Open a store of accounts; its tables are created or migrated as needed."""
    commands = Commands(
        settings.plans,
        notices=settings.notices,
        idempotency_seconds=settings.idempotency_seconds,
        reservation_seconds=settings.reservation_seconds,
    )
    if url.startswith(SQLITE) and len(url) > len(SQLITE) and "\0" not in url:
        path = Path(url.removeprefix(SQLITE))
        return await open_sqlite(path, commands, clock, server=server, wait=wait)
    if url.startswith(_POSTGRESQL):
        return await PostgresAccounts.open(url, commands, clock)
    raise ParameterError.must_be("database", "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME")
