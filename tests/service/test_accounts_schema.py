"""Tables and their migrations, and databases that cannot be opened."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.effort import PROCESS_SECONDS
from tests.service.account_stores import Stores, call, new_key
from tests.service.postgres import program
from webanalytics.errors import MissingExtraError, ParameterError
from webanalytics.service.accounts import AccountsError, open_accounts, postgres, schema
from webanalytics.service.accounts.base import Receipt
from webanalytics.service.settings import ServiceSettings

NEWER = (*schema.MIGRATIONS, ("ALTER TABLE accounts ADD COLUMN note TEXT",))
BROKEN = (
    *schema.MIGRATIONS,
    ("ALTER TABLE accounts ADD COLUMN note TEXT", "ALTER TABLE nothing ADD COLUMN x TEXT"),
)


@pytest.fixture(params=["sqlite", "postgresql"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Stores:
    return Stores(request.param, tmp_path)


def version(stores: Stores) -> list[tuple[str, ...]]:
    return stores.query("SELECT version FROM schema_version")


async def opened(stores: Stores) -> None:
    async with stores.open() as accounts:
        assert await accounts.ready()


def test_an_empty_database_becomes_the_newest(stores: Stores) -> None:
    for _ in range(2):
        asyncio.run(opened(stores))
        assert version(stores) == [(str(len(schema.MIGRATIONS)),)]


def test_nothing_is_written_where_nothing_is_new() -> None:
    steps = schema.migrate("postgresql")
    said = [next(steps)[0], steps.send([])[0]]
    with pytest.raises(StopIteration) as end:
        steps.send([(len(schema.MIGRATIONS),)])
    assert end.value.value == len(schema.MIGRATIONS)
    assert [statement.split()[0] for statement in said] == ["CREATE", "SELECT"]


def test_version_0_becomes_the_newest(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", ())
        with pytest.raises(AccountsError):  # there are no tables yet
            asyncio.run(opened(stores))
    assert version(stores) == [("0",)]
    asyncio.run(opened(stores))
    assert version(stores) == [(str(len(schema.MIGRATIONS)),)]


def test_an_older_database_keeps_what_it_has(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    async def before() -> Any:
        async with stores.open() as accounts:
            key = await new_key(accounts, "team", "small")
            await accounts.charge(call(key, 7), None)
            return key

    async def after(key: Any) -> None:
        async with stores.open() as accounts:
            assert [row.key for row in await accounts.list_keys()] == [key]
            assert await accounts.charge(call(key, 3), None) == Receipt(3, 90)

    key = asyncio.run(before())
    monkeypatch.setattr(schema, "MIGRATIONS", NEWER)
    asyncio.run(after(key))
    assert version(stores) == [(str(len(NEWER)),)]
    assert stores.query("SELECT COALESCE(note, 'none') FROM accounts") == [("none",)]
    stores.check()


def test_a_migration_that_fails_changes_nothing(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    asyncio.run(opened(stores))
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", BROKEN)
        with pytest.raises(AccountsError, match="nothing"):
            asyncio.run(opened(stores))
    assert version(stores) == [(str(len(schema.MIGRATIONS)),)]
    asyncio.run(opened(stores))
    with pytest.raises((sqlite3.Error, subprocess.CalledProcessError)):
        stores.query("SELECT note FROM accounts")


def test_a_newer_database_is_refused(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", NEWER)
        asyncio.run(opened(stores))
    with pytest.raises(AccountsError, match="install a newer webanalytics"):
        asyncio.run(opened(stores))
    assert version(stores) == [(str(len(NEWER)),)]


def change(stores: Stores, statement: str) -> None:
    if stores.kind == "postgresql":
        stores.server.sql(statement, stores.database)
        return
    connection = sqlite3.connect(stores.file, isolation_level=None)
    try:
        connection.execute(statement)
    finally:
        connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger SET delta = 1000000",
        "UPDATE ledger SET operation = 'x' WHERE id = 1",
        "DELETE FROM ledger",
        "DELETE FROM ledger WHERE id = 1",
        "TRUNCATE ledger",
        "UPDATE accounts SET balance = -1",
        "UPDATE accounts SET held = balance + 1",
        "UPDATE accounts SET bonus = -1",
    ],
)
def test_the_tables_refuse_what_must_not_be(stores: Stores, statement: str) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            await new_key(accounts)

    asyncio.run(body())
    with pytest.raises((sqlite3.Error, subprocess.CalledProcessError)):
        change(stores, statement)
    assert stores.ledger() == [("grant", "1000"), ("bonus", "500")]


def test_servers_may_start_together(tmp_path: Path) -> None:
    stores = Stores("postgresql", tmp_path)
    code = f"""
import asyncio
from tests.service.account_stores import new_key
from webanalytics.service.accounts import open_accounts
from webanalytics.service.settings import ServiceSettings

async def main():
    accounts = await open_accounts({stores.url!r}, ServiceSettings())
    await asyncio.gather(*[new_key(accounts, "team") for _ in range(5)])
    await accounts.close()

asyncio.run(main())
"""
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(4)]
    assert [process.wait(PROCESS_SECONDS) for process in processes] == [0] * 4
    assert stores.query("SELECT COUNT(*) FROM accounts") == [("1",)]
    assert stores.query("SELECT COUNT(*) FROM keys") == [("20",)]
    assert version(stores) == [(str(len(schema.MIGRATIONS)),)]


def test_the_schema_is_changed_once_by_many_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stores = Stores("postgresql", tmp_path)

    async def body() -> None:
        opening = [open_accounts(stores.url, ServiceSettings()) for _ in range(8)]
        for accounts in await asyncio.gather(*opening):
            await accounts.close()

    for migrations in (schema.MIGRATIONS, NEWER):
        monkeypatch.setattr(schema, "MIGRATIONS", migrations)
        asyncio.run(body())
        assert version(stores) == [(str(len(migrations)),)]


def test_connections_that_end_are_made_anew(tmp_path: Path) -> None:
    stores = Stores("postgresql", tmp_path)

    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            end_all = (
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                f" WHERE datname = '{stores.database}' AND pid <> pg_backend_pid()"
            )
            for left in (98, 96, 94):
                stores.server.sql(end_all)
                assert await accounts.charge(call(key), None) == Receipt(2, left)
                stores.server.sql(end_all)
                assert await accounts.balance(key.account) == left

    asyncio.run(body())
    stores.check()


# -- addresses --------------------------------------------------------------------------------------


def attempt(url: str) -> None:
    async def body() -> None:
        accounts = await open_accounts(url, ServiceSettings(), wait=0.0)
        await accounts.close()

    asyncio.run(body())


@pytest.mark.parametrize(
    "url",
    [
        "",
        "sqlite",
        "sqlite://",
        "sqlite:///",
        "sqlite://file.db",
        "mysql://user@host/name",
        "/file.db",
        "postgresql+asyncpg://user@host/name",
        "sqlite:///a\0b",
        "postgresql://user:word@host:port/name",
    ],
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(ParameterError, match="`database`") as caught:
        attempt(url)
    assert caught.value.parameter == "database"


def test_a_relative_and_an_absolute_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    attempt("sqlite:///relative.db")
    attempt(f"sqlite:////{tmp_path.relative_to('/')}/absolute.db")
    assert {path.name for path in tmp_path.glob("*.db")} == {"relative.db", "absolute.db"}
    assert (tmp_path / "relative.db").stat().st_mode & 0o777 == 0o600


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("This is no database. " * 100)
    (tmp_path / "folder.db").mkdir()
    for name in ("none/accounts.db", "text.db", "folder.db"):
        with pytest.raises(AccountsError):
            attempt(f"sqlite:///{tmp_path / name}")
    (tmp_path / "text.db").unlink()
    attempt(f"sqlite:///{tmp_path / 'text.db'}")  # the failure left nothing behind


def test_a_server_that_cannot_be_reached_and_no_password_told(tmp_path: Path) -> None:
    for host in ("127.0.0.1:1", "nowhere.invalid"):
        with pytest.raises(AccountsError, match="cannot be reached") as caught:
            attempt(f"postgresql://user:secret-word@{host}/name")
        assert "secret-word" not in str(caught.value)


def test_a_server_that_does_not_answer_in_time_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async def create_pool(*_: Any, **__: Any) -> None:
        raise TimeoutError  # as asyncpg does, without a word

    monkeypatch.setattr(postgres.asyncpg, "create_pool", create_pool)
    with pytest.raises(AccountsError, match=r"^PostgreSQL cannot be reached: no answer\.$"):
        attempt("postgresql://user@host/name")


def test_asyncpg_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "asyncpg", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[postgres\]"'):
        attempt("postgresql://user@host/name")


def test_the_helper_finds_the_server_or_says_so() -> None:
    assert program("no-such-program-anywhere") is None
