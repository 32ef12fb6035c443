"""Accounts, keys and credits, in SQLite or PostgreSQL.

``base``
    What a store can do, and the values that go in and out.
``model``
    The arithmetic of one account.
``charging``, ``keys``
    The commands, written once for both databases as generators over statements.
``schema``
    The tables and their migrations.
``store``, ``cache``
    What the stores have in common.
``writer``, ``sqlite``, ``ownership``, ``link``, ``wire``
    SQLite: one thread that writes, one process that owns the file, and how others reach it.
``postgres``
    PostgreSQL.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from webanalytics.errors import ParameterError
from webanalytics.service.accounts.base import Accounts, AccountsError
from webanalytics.service.accounts.keys import Commands, digest
from webanalytics.service.accounts.postgres import PostgresAccounts
from webanalytics.service.accounts.sqlite import open_sqlite
from webanalytics.service.settings import ServiceSettings

__all__ = ["Accounts", "AccountsError", "digest", "open_accounts"]

SQLITE = "sqlite:///"
_POSTGRESQL = ("postgresql://", "postgres://")

WAIT_SECONDS = 3.0
"""How long to wait for the owner of an SQLite file that starts or ends."""


async def open_accounts(
    url: str,
    settings: ServiceSettings,
    *,
    clock: Callable[[], float] = time.time,
    owner: bool = False,
    wait: float = WAIT_SECONDS,
) -> Accounts:
    """Open a store of accounts; its tables are created, or brought up to date, as needed.

    An SQLite file has one owner at a time; where another process owns it, the accounts returned
    work through that process, by its settings.

    Parameters
    ----------
    url : str
        ``sqlite:///relative.db``, ``sqlite:////absolute.db`` or ``postgresql://user:password@host/name``.
    settings : ServiceSettings
        Plans, notices, and how long saved answers and reservations last.
    clock : callable
        Unix time.
    owner : bool
        Raise instead of working through another process: for a server.
    wait : float
        Seconds to wait for an owner of an SQLite file that is about to start or to end.

    Raises
    ------
    ParameterError
        The address is neither of the two.
    MissingExtraError
        asyncpg is not installed.
    AccountsError
        The database cannot be opened, is newer than this program, or is owned by another process.
    """
    commands = Commands(
        settings.plans,
        notices=settings.notices,
        idempotency_seconds=settings.idempotency_seconds,
        reservation_seconds=settings.reservation_seconds,
    )
    if url.startswith(SQLITE) and len(url) > len(SQLITE) and "\0" not in url:
        path = Path(url.removeprefix(SQLITE))
        return await open_sqlite(path, commands, clock, owner=owner, wait=wait)
    if url.startswith(_POSTGRESQL):
        return await PostgresAccounts.open(url, commands, clock)
    raise ParameterError(
        "The `database` parameter must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME.", "database"
    )
