"""What is done around commands with PostgreSQL, on a database in memory in its place, by a clock that jumps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import asyncpg
import pytest

from tests.fetching import clock
from tests.service.account_stores import PLANS, call
from tests.service.books import Books
from webanalytics.errors import MissingExtraError, ParameterError
from webanalytics.service.accounts import AccountsError, postgres
from webanalytics.service.accounts.base import NoCredits, Receipt, Replay
from webanalytics.service.accounts.keys import Commands
from webanalytics.service.accounts.postgres import PostgresAccounts
from webanalytics.service.accounts.schema import for_sqlite

ADDRESS = "postgresql://user:word@host/name"


class Pool:
    """A pool of one connection to a database in memory; it keeps what is done, and fails when it is told to."""

    def __init__(self) -> None:
        self.books = Books()
        self.done: list[str] = []
        self.errors: list[Exception | None] = []  # of the next statements of commands
        self.fails: dict[str, Exception] = {}  # what else fails
        self.turn = asyncio.Lock()
        self.seconds = 0.0
        self.waits: set[float] = set()

    @asynccontextmanager
    async def acquire(self, **how: float) -> AsyncIterator[Pool]:
        self.waits.add(how["timeout"])
        async with self.turn:
            yield self

    def did(self, what: str) -> None:
        self.done.append(what)
        if what in self.fails:
            raise self.fails[what]

    async def fetch(self, statement: str, *parameters: Any) -> list[Any]:
        if self.seconds:
            await asyncio.sleep(self.seconds)
        if self.errors and (error := self.errors.pop(0)) is not None:
            raise error
        if "advisory" in statement:
            self.did(f"lock {parameters[0]:#x}")
            return []
        return self.books.database.execute(for_sqlite(statement), parameters).fetchall()

    def transaction(self, *, isolation: str) -> Any:
        async def ended(what: str) -> None:
            self.did(what)
            self.books.database.execute(what)

        async def start() -> None:
            self.did(f"begin {isolation}")
            self.books.database.execute("BEGIN")

        return SimpleNamespace(
            start=start, commit=lambda: ended("commit"), rollback=lambda: ended("rollback")
        )

    def terminate(self) -> None:
        if self.books.database.in_transaction:
            self.books.database.execute("ROLLBACK")
        self.did("terminate")

    async def close(self) -> None:
        self.did("close")


def made() -> tuple[Pool, PostgresAccounts]:
    pool: Any = Pool()
    return pool, PostgresAccounts(pool, pool.books.rules, lambda: pool.books.now)


async def opened(monkeypatch: pytest.MonkeyPatch, **options: Any) -> tuple[Pool, PostgresAccounts, Any]:
    pool, _ = made()
    asked: list[Any] = []

    async def create_pool(*args: Any, **kwargs: Any) -> Pool:
        asked.append((args, kwargs))
        return pool

    monkeypatch.setattr(postgres.asyncpg, "create_pool", create_pool)
    accounts = await PostgresAccounts.open(ADDRESS, pool.books.rules, lambda: pool.books.now, **options)
    return pool, accounts, asked


WHOLE = ["begin read_committed", "commit"]
BACK = ["begin read_committed", "rollback"]


def test_the_lock_of_migrations_is_the_same_in_every_version() -> None:
    assert postgres.MIGRATION_LOCK == 0x3BB2B130B730B63C  # servers of two versions may start together


def test_a_store_opens_with_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        pool, accounts, asked = await opened(monkeypatch, connections=7, statement_seconds=3.0)
        times = {"timeout": 3.0, "command_timeout": 3.0}
        named = {"server_settings": {"application_name": "webanalytics"}}
        assert asked == [((ADDRESS,), {"min_size": 1, "max_size": 7, **times, **named})]
        assert pool.done[:3] == ["begin read_committed", f"lock {postgres.MIGRATION_LOCK:#x}", "commit"]
        await accounts.close()
        assert pool.done[-1] == "close"
        assert pool.waits == {30.0}

    clock.run(body())


def test_a_store_sweeps_and_beats_when_it_begins_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        pool, _ = made()
        monkeypatch.setattr(f"{__name__}.Pool", lambda: pool)
        books = pool.books
        key = books.key()
        books.do("reserve", call(key, 60))
        books.now += books.rules.reservation_seconds
        _, accounts, _ = await opened(monkeypatch)
        beats = "SELECT name, beats FROM processes"
        assert await accounts.balance(key.account) == 100
        assert books.rows(beats) == [(books.rules.process, 1)]
        books.do("reserve", call(key, 60))
        books.now += books.rules.reservation_seconds
        await asyncio.sleep(59)
        assert books.rows(beats) == [(books.rules.process, 30)], "every two seconds"
        assert books.rows("SELECT balance, held FROM accounts") == [(100, 60)]
        await asyncio.sleep(2)
        assert books.rows("SELECT balance, held FROM accounts") == [(100, 0)], "every minute"
        await accounts.close()
        assert books.rows(beats) == [], "it will beat no more"
        await asyncio.sleep(200)
        assert books.rows(beats) == []

    clock.run(body())


def test_a_store_that_cannot_begin_closes_what_it_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        pool, _ = made()
        monkeypatch.setattr(f"{__name__}.Pool", lambda: pool)
        pool.errors = [OSError("no disk")]
        with pytest.raises(AccountsError, match=r"^The accounts database failed: no disk\.$"):
            await opened(monkeypatch)
        assert pool.done == [*BACK, "close"]

    clock.run(body())


@pytest.mark.parametrize(
    "error", [OSError("nobody"), asyncpg.PostgresError("nobody"), asyncpg.InterfaceError("nobody")]
)
def test_why_a_server_cannot_be_reached(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    async def create_pool(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(postgres.asyncpg, "create_pool", create_pool)
    with pytest.raises(AccountsError, match=r"^PostgreSQL cannot be reached: nobody\.$"):
        clock.run(PostgresAccounts.open(ADDRESS, Commands(PLANS), float))


def test_what_is_missing_or_no_address_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def create_pool(*_: Any, **__: Any) -> None:
        raise ValueError("port")

    monkeypatch.setattr(postgres.asyncpg, "create_pool", create_pool)
    with pytest.raises(ParameterError) as refused:
        clock.run(PostgresAccounts.open(ADDRESS, Commands(PLANS), float))
    assert refused.value.parameter == "database"
    monkeypatch.setattr(postgres, "asyncpg", None)
    with pytest.raises(MissingExtraError) as caught:
        clock.run(PostgresAccounts.open(ADDRESS, Commands(PLANS), float))
    said = 'a PostgreSQL database needs asyncpg: in the clone, pip install ".[postgres]"'
    assert str(caught.value) == said


def test_a_command_is_one_transaction_and_a_question_none() -> None:
    async def body() -> None:
        pool, accounts = made()
        key = pool.books.key()
        assert await accounts.run(Commands.charge, call(key, 10), None) == Receipt(10, 90)
        assert pool.done == WHOLE
        assert await accounts.balance(key.account) == 90
        assert pool.done == WHOLE

    clock.run(body())


@pytest.mark.parametrize("error", [AccountsError("No."), ParameterError("No.", "key")])
def test_a_refusal_is_raised_as_it_is_and_changes_nothing(error: Exception) -> None:
    def command(*_: Any) -> Any:
        yield "DELETE FROM accounts", ()
        raise error

    async def body() -> None:
        pool, accounts = made()
        pool.books.key()
        with pytest.raises(type(error)) as caught:
            await accounts.run(command)
        assert caught.value is error
        assert pool.done == BACK
        assert pool.books.rows("SELECT count(*) FROM accounts") == [(1,)]

    clock.run(body())


def test_an_error_that_does_not_pass_is_told_at_once() -> None:
    async def body() -> None:
        pool, accounts = made()
        pool.errors = [asyncpg.DataError("too long")]
        with pytest.raises(AccountsError, match=r"^The accounts database failed: too long\.$") as caught:
            await accounts.run(Commands.list_keys)
        assert isinstance(caught.value.__cause__, asyncpg.DataError)
        assert pool.done == BACK

    clock.run(body())


PASSING = [
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.UniqueViolationError,
    asyncpg.ConnectionDoesNotExistError,
    asyncpg.AdminShutdownError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    ConnectionResetError,
]


@pytest.mark.parametrize("kind", PASSING)
@pytest.mark.parametrize("way", ["run", "read"])
def test_what_passes_is_tried_five_times(way: str, kind: type[Exception]) -> None:
    async def body() -> None:
        pool, accounts = made()
        turns: list[int] = []

        async def other() -> None:
            turns.append(len(pool.errors))

        for failures in (4, 5):
            pool.done.clear()
            pool.errors = [kind(f"number {number}") for number in range(failures)]
            beside = asyncio.create_task(other())
            asked = getattr(accounts, way)(Commands.list_keys)
            if failures == 4:
                assert await asked == []
            else:
                with pytest.raises(AccountsError, match="failed: number 4") as caught:
                    await asked
                assert type(caught.value.__cause__) is kind
            last = WHOLE if failures == 4 else BACK
            assert pool.done == ([*BACK * 4, *last] if way == "run" else ["terminate"] * failures)
            await beside
        assert turns == [3, 4], "others have their turn before the next try"
        assert asyncio.get_running_loop().time() == 1_000.0, "nobody waits"

    clock.run(body())


def test_a_connection_that_cannot_roll_back_is_given_up() -> None:
    async def body() -> None:
        pool, accounts = made()
        pool.fails = {"rollback": OSError("gone"), "terminate": asyncpg.InterfaceError("given back")}
        pool.errors = [ConnectionResetError("gone")]
        assert await accounts.run(Commands.list_keys) == []
        assert pool.done == [*BACK, "terminate", *WHOLE]

    clock.run(body())


def test_a_command_that_is_cancelled_is_rolled_back() -> None:
    async def body() -> None:
        pool, accounts = made()
        pool.seconds = 5.0
        task = asyncio.create_task(accounts.run(Commands.beat))
        await asyncio.sleep(7)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        assert pool.done == BACK
        assert pool.books.rows("SELECT * FROM processes") == []

    clock.run(body())


@pytest.mark.parametrize("first", [1, 7])
def test_a_process_is_dead_after_four_beats_that_it_missed(first: int) -> None:
    async def body() -> None:
        pool, accounts = made()
        books = pool.books
        key = books.key()
        books.rules, mine = Commands(PLANS), books.rules
        other = books.rules.process
        books.do("reserve", call(key, 60))
        books.do("beat")
        books.rows(f"UPDATE processes SET beats = {first}")
        for beats in range(3):
            for missed in range(4):
                await accounts.beat()
                assert accounts._seen[other] == (first + beats, missed)
            books.do("beat")
        for _ in range(4):
            await accounts.beat()
        held = "SELECT held FROM accounts"
        assert books.rows(held) == [(60,)]
        await accounts.beat()
        assert books.rows(held) == [(0,)]
        assert books.rows("SELECT name FROM processes") == [(mine.process,)]
        await accounts.beat()
        assert set(accounts._seen) == {mine.process}, "whoever is gone is forgotten"

    clock.run(body())


def groups_of(accounts: PostgresAccounts, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Keep how many calls each attempt to charge a group has."""
    run, found = accounts.run, []

    async def counted(command: Callable[..., Any], *arguments: Any) -> Any:
        if command is Commands.charge_group:
            found.append(len(arguments[0]))
        return await run(command, *arguments)

    monkeypatch.setattr(accounts, "run", counted)
    return found


def test_calls_that_wait_are_charged_together(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        pool, accounts = made()
        groups = groups_of(accounts, monkeypatch)
        key = pool.books.key(plan="pro")
        found = await asyncio.gather(*[accounts.charge(call(key, 1), None) for _ in range(300)])
        assert found == [Receipt(1, 4_999 - number) for number in range(300)]
        assert groups == [256, 44]
        assert accounts._charging is None
        assert await accounts.charge(call(key, 4_701), None) == NoCredits(4_700)
        assert groups == [256, 44, 1]
        pool.done.clear()
        once = [call(key, 1, again="once") for _ in range(2)]
        assert await accounts.charge(once[0], b"{}") == Receipt(1, 4_699)
        assert await accounts.charge(once[1], b"{}") == Replay(b"{}", 4_699)
        assert pool.done == WHOLE * 2
        assert groups == [256, 44, 1], "a call with a key is one of its own"

    clock.run(body())


def test_who_comes_while_others_are_charged_is_in_the_next_group(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        pool, accounts = made()
        groups = groups_of(accounts, monkeypatch)
        key = pool.books.key(plan="pro")
        pool.seconds = 1.0
        first = asyncio.create_task(accounts.charge(call(key, 1), None))
        await asyncio.sleep(0.5)
        later = [asyncio.create_task(accounts.charge(call(key, 1), None)) for _ in range(3)]
        later[1].cancel()  # before it began
        await asyncio.sleep(0)
        later[2].cancel()  # while it waits: it is charged, as nobody can know
        await asyncio.wait([first, *later])
        assert (first.result(), later[0].result()) == (Receipt(1, 4_999), Receipt(1, 4_998))
        assert groups == [1, 2]
        assert await accounts.charge(call(key, 1), None) == Receipt(1, 4_996)

    clock.run(body())


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize(
    "error", [asyncpg.DataError("bad"), asyncpg.ForeignKeyViolationError("bad"), ValueError("bad")]
)
def test_a_call_that_fails_fails_alone(error: Exception, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        pool, accounts = made()
        groups = groups_of(accounts, monkeypatch)
        key = pool.books.key(plan="pro")
        pool.errors = [error] if size == 1 else [error, error]  # the group, and its first call
        calls = [accounts.charge(call(key, 1), None) for _ in range(size)]
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert str(found[0]) == "The accounts database failed: bad."
        assert isinstance(found[0], AccountsError)
        assert found[1:] == [Receipt(1, 4_999 - number) for number in range(size - 1)]
        assert groups == ([1] if size == 1 else [size, *[1] * size])

    clock.run(body())


def test_a_store_that_fails_fails_a_group_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        pool, accounts = made()
        groups = groups_of(accounts, monkeypatch)
        key = pool.books.key(plan="pro")
        pool.errors, pool.seconds = [OSError("no disk")], 1.0
        calls = [asyncio.create_task(accounts.charge(call(key, 1), None)) for _ in range(4)]
        await asyncio.sleep(0.5)
        calls[0].cancel()
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert isinstance(found[0], asyncio.CancelledError)
        assert [str(one) for one in found[1:]] == ["The accounts database failed: no disk."] * 3
        assert len({id(one) for one in found[1:]}) == 3, "each has a traceback of its own"
        assert groups == [4]
        assert await accounts.charge(call(key, 1), None) == Receipt(1, 4_999)

    clock.run(body())


def test_as_many_calls_wait_as_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "MOST_WAITING", 10)

    async def body() -> None:
        pool, accounts = made()
        key = pool.books.key(plan="pro")
        for _ in range(2):
            calls = [accounts.charge(call(key, 1), None) for _ in range(11)]
            found = await asyncio.gather(*calls, return_exceptions=True)
            assert [type(one) for one in found] == [*[Receipt] * 10, AccountsError]
            assert str(found[10]) == "The accounts database has too many calls waiting or is closed."

    clock.run(body())


@pytest.mark.parametrize(("count", "place"), [(0, 0), (300, 0), (300, 300)])
def test_a_store_closes_when_its_work_is_done(
    count: int, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body() -> None:
        pool, accounts = made()
        groups = groups_of(accounts, monkeypatch)
        key = pool.books.key(plan="pro")
        await accounts.beat()
        accounts.keep_doing(accounts.beat, 3.0)
        pool.seconds = 1.0
        commands: list[Any] = [accounts.charge(call(key, 1), None) for _ in range(count)]
        commands.insert(place, accounts.reserve(call(key, 100)))
        waiting = [asyncio.create_task(command) for command in commands]
        gone = waiting.pop(place)
        await asyncio.sleep(0.5)
        gone.cancel()
        closing = asyncio.create_task(accounts.close())
        await asyncio.sleep(0)
        with pytest.raises(AccountsError, match="or is closed"):
            await accounts.charge(call(key, 1), None)
        await closing
        assert all(isinstance(task.result(), Receipt) for task in waiting)
        assert groups == ([256, 44] if count else [])
        assert pool.books.rows("SELECT balance, held FROM accounts") == [(5_000 - count, 0)]
        assert pool.books.rows("SELECT * FROM processes") == []
        assert pool.done[-1] == "close"
        ended = len(pool.done)
        await asyncio.sleep(100)
        assert len(pool.done) == ended

    clock.run(body())


def test_a_store_whose_database_is_away_closes_nevertheless() -> None:
    async def body() -> None:
        pool, accounts = made()
        pool.errors = [OSError("away")]
        await accounts.close()
        assert pool.done == [*BACK, "close"]

    clock.run(body())
