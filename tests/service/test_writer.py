"""The thread that writes to an SQLite file: what it holds to, what it commits together, and for what it waits."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import queue
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.effort import BUSY_SECONDS
from tests.service.account_stores import PLANS, Stores, call, new_key
from tests.service.books import START
from webanalytics.service.accounts import AccountsError, writer
from webanalytics.service.accounts.base import Conflict, Receipt
from webanalytics.service.accounts.keys import Commands
from webanalytics.service.accounts.writer import Writer


def pragma(name: str) -> Any:
    def command(_commands: Commands, _now: float) -> Iterator[Any]:
        rows = yield f"PRAGMA {name}", ()
        return rows[0][0]

    return command


def modes_in(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}


def opened_in(folder: Path) -> list[str]:
    """The files in a folder that this process has open."""
    found = [str(item.readlink()) for item in Path("/proc/self/fd").iterdir() if item.is_symlink()]
    return [name for name in found if name.startswith(str(folder))]


def test_what_was_answered_is_on_the_disk_and_no_other_user_reads_it(tmp_path: Path) -> None:
    stores = Stores("sqlite", tmp_path)

    async def body() -> dict[str, Any]:
        async with stores.open() as accounts:
            await new_key(accounts)
            modes = modes_in(tmp_path)
            assert {*modes.values()} == {0o600}, modes
            assert {"accounts.db", "accounts.db.lock", "accounts.db.turn"} <= {*modes}
            return {
                name: await accounts.run(pragma(name))
                for name in ("journal_mode", "synchronous", "foreign_keys")
            }

    # https://sqlite.org/pragma.html: 2 is FULL, which is durable with a write-ahead log
    assert asyncio.run(body()) == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
    assert not (tmp_path / "accounts.db-wal").exists(), "the last one to close writes the log into the file"


def test_a_store_that_is_closed_has_nothing_open(tmp_path: Path) -> None:
    stores = Stores("sqlite", tmp_path)

    async def body() -> None:
        async with stores.open() as accounts:
            await new_key(accounts)
        await accounts.close()
        assert not opened_in(tmp_path)
        with pytest.raises(AccountsError, match=r"^The accounts database is closed\.$"):
            await accounts.balance(1)

    asyncio.run(body())


def test_charges_that_come_together_are_one_group_and_others_keep_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: list[int] = []
    undone: list[Writer] = []
    together = Commands.charge_group

    def charge_group(self: Commands, now: float, calls: Any) -> Any:
        groups.append(sum(one.inputs for one in calls))
        return together(self, now, calls)

    monkeypatch.setattr(Commands, "charge_group", charge_group)
    monkeypatch.setattr(Writer, "_roll_back", undone.append)

    async def body() -> None:
        async with Stores("sqlite", tmp_path).open() as accounts:
            key = await new_key(accounts, plan="small")
            await accounts.charge(call(key, 1), None)
            assert groups == []
            await asyncio.gather(*(accounts.charge(call(key, 1), None) for _ in range(20)))
            assert groups == [20]
            found = await asyncio.gather(
                accounts.charge(call(key, 1), None),
                accounts.charge(call(key, 1, again="once"), b"{}"),
                accounts.reserve(call(key, 5)),
                accounts.charge(call(key, 1), None),
                accounts.reserve(call(key, 5, again="once", fingerprint=b"other")),
            )
            assert groups == [20, 2]
            assert [type(one).__name__ for one in found] == [
                "Receipt",
                "Receipt",
                "Reservation",
                "Receipt",
                "Conflict",
            ]
            assert found[4] == Conflict(False, 71)
            assert undone == [], "nothing was tried in vain"

    asyncio.run(body())


def test_as_many_calls_wait_as_may_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Writer.__init__, "__kwdefaults__", {"on_change": None, "most_waiting": 10, "most_in_group": 3}
    )

    async def body() -> None:
        async with Stores("sqlite", tmp_path).open() as accounts:
            key = await new_key(accounts, plan="pro")
            for _ in range(5):
                calls = [accounts.charge(call(key, 1), None) for _ in range(11)]
                found = await asyncio.gather(*calls, return_exceptions=True)
                assert [type(one) for one in found] == [*[Receipt] * 10, AccountsError]
                assert str(found[10]) == "The accounts database has too many calls waiting."

    asyncio.run(body())


class Waits:
    """A queue that says how long it was waited for."""

    def __init__(self, *jobs: list[str] | None) -> None:
        self.jobs, self.waits = [*jobs], []  # type: ignore[var-annotated]

    def get(self, timeout: float | None) -> list[str] | None:
        self.waits.append(timeout)
        if not self.jobs:
            raise queue.Empty
        return self.jobs.pop(0)


@pytest.mark.parametrize(
    ("jobs", "look_at", "found", "waits"),
    [
        ((["a"], ["b"]), None, (["a", "b"], False), [None, 0.0, 0.0]),
        ((["a", "b"], ["c"], ["d"]), None, (["a", "b", "c"], False), [None, 0.0]),
        ((["a"], None), None, (["a"], True), [None, 0.0]),
        ((), 1_000.25, ([], False), [0.25]),
        ((["a"],), 999.0, (["a"], False), [0.0, 0.0]),
    ],
)
def test_nobody_waits_for_more_than_has_come(
    jobs: Any, look_at: float | None, found: Any, waits: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer.time, "monotonic", lambda: 1_000.0)
    came = Waits(*jobs)
    on_change = None if look_at is None else print
    one: Any = SimpleNamespace(_queue=came, _most_in_group=3, _on_change=on_change, _look_at=look_at)
    assert Writer._next_group(one) == found
    assert came.waits == waits


def test_commits_of_others_are_noticed_and_looked_for_ten_times_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, called = [1_000.0], []
    answers: list[Any] = [(1,), (1,), (2,), sqlite3.OperationalError("locked"), (2,)]

    def execute(statement: str) -> Any:
        assert statement == "PRAGMA data_version"
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return SimpleNamespace(fetchone=lambda: answer)

    monkeypatch.setattr(writer.time, "monotonic", lambda: now[0])
    one: Any = SimpleNamespace(
        _on_change=lambda: None, _look_at=0.0, _version=(1,), _cursor=SimpleNamespace(execute=execute)
    )
    one._call = lambda callback: called.append(now[0])
    for at in (0.0, 0.05, 0.11, 0.22, 0.33, 0.44):
        now[0] = 1_000.0 + at
        Writer._look(one)
    assert answers == [], "not at 0.05"
    # one change, then one that cannot be known, and what was seen before it is not known to be the same
    assert [round(at - 1_000.0, 2) for at in called] == [0.22, 0.33, 0.44]
    one._on_change = None
    Writer._look(one)


def test_who_waits_is_told_of_what_others_commit_and_of_nothing_else(tmp_path: Path) -> None:
    async def body() -> None:
        told = asyncio.Event()
        path = tmp_path / "accounts.db"
        one = Writer(path, Commands(PLANS), lambda: START, on_change=told.set)
        await one.open()
        await asyncio.wait_for(told.wait(), BUSY_SECONDS)  # what was before it came is not known to it
        told.clear()
        await one.submit(Commands.beat, ())
        await asyncio.sleep(3 * writer.LOOK_SECONDS)
        assert not told.is_set(), "its own"
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("DELETE FROM processes")
            await asyncio.wait_for(told.wait(), BUSY_SECONDS)
        await one.close()

    asyncio.run(body())


def test_sqlite_older_than_it_may_be_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def opened() -> None:
        async with Stores("sqlite", tmp_path).open() as accounts:
            await new_key(accounts)

    monkeypatch.setattr(writer.sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(AccountsError, match=r"^The accounts need SQLite 3\.35 or newer\.$"):
        asyncio.run(opened())
    monkeypatch.setattr(writer.sqlite3, "sqlite_version_info", (3, 35, 0))
    asyncio.run(opened())


@contextlib.contextmanager
def another_writes(folder: Path) -> Iterator[None]:
    """Hold the turn as another of our processes does: the lock is of the file as it was opened."""
    with (folder / "accounts.db.turn").open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def test_who_writes_has_the_turn_and_gives_it_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        async with Stores("sqlite", tmp_path).open() as accounts:
            key = await new_key(accounts, plan="small")
            with monkeypatch.context() as patch, another_writes(tmp_path):
                patch.setattr(writer, "BUSY_SECONDS", 0.05)
                for _ in range(2):
                    with pytest.raises(
                        AccountsError, match=r"^The accounts database is busy; repeat the command\.$"
                    ):
                        await accounts.charge(call(key, 1), None)
            with another_writes(tmp_path):
                waiting = asyncio.create_task(accounts.charge(call(key, 1), None))
                await asyncio.sleep(0.05)
                assert not waiting.done()
            assert await waiting == Receipt(1, 99)

    asyncio.run(body())


class Closes:
    """A connection that notes whether it is closed in the turn of its process."""

    def __init__(self, real: sqlite3.Connection, folder: Path) -> None:
        self.real, self.folder, self.in_turn = real, folder, []  # type: ignore[var-annotated]

    def close(self) -> None:
        try:
            with another_writes(self.folder):
                self.in_turn.append(False)
        except BlockingIOError:
            self.in_turn.append(True)
        self.real.close()


def test_a_file_is_closed_in_its_turn(tmp_path: Path) -> None:
    async def body() -> list[bool]:
        async with Stores("sqlite", tmp_path).open() as accounts:
            closes = Closes(accounts._writer._connection, tmp_path)
            accounts._writer._connection = closes
        return closes.in_turn

    assert asyncio.run(body())[0]


def test_a_file_is_closed_though_it_is_nobodys_turn_to_wait_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body() -> None:
        async with Stores("sqlite", tmp_path).open() as accounts:
            await new_key(accounts)
            monkeypatch.setattr(writer, "BUSY_SECONDS", 0.05)
            held = contextlib.ExitStack()
            held.enter_context(another_writes(tmp_path))
        assert [name for name in opened_in(tmp_path) if not name.endswith(".turn")] == []
        held.close()

    asyncio.run(body())


def test_what_is_no_database_is_not_left_open(tmp_path: Path) -> None:
    (tmp_path / "accounts.db").write_text("This is no database. " * 100)

    async def body() -> None:
        async with Stores("sqlite", tmp_path).open():
            pass

    with pytest.raises(AccountsError, match="not a database") as caught:
        asyncio.run(body())
    assert opened_in(tmp_path) == []
    assert caught.value.__cause__ is not None


def test_what_came_before_the_end_is_answered(tmp_path: Path) -> None:
    async def body() -> None:
        async with Stores("sqlite", tmp_path).open() as accounts:
            key = await new_key(accounts, plan="small")
            charged = accounts._writer.submit(Commands.charge, (call(key, 1), None))
            await accounts._writer.close()
            assert charged.done()
            assert charged.result() == Receipt(1, 99)

    asyncio.run(body())


class Refuses:
    """A cursor that cannot commit once."""

    def __init__(self, real: sqlite3.Cursor) -> None:
        self.real, self.times = real, 1

    def execute(self, statement: str, *parameters: Any) -> Any:
        if statement == "COMMIT" and self.times:
            self.times -= 1
            raise sqlite3.OperationalError("disk is full")
        return self.real.execute(statement, *parameters)


def test_what_cannot_be_committed_is_told_and_undone(tmp_path: Path) -> None:
    async def body() -> None:
        async with Stores("sqlite", tmp_path).open() as accounts:
            key = await new_key(accounts, plan="small")
            accounts._writer._cursor = Refuses(accounts._writer._cursor)
            calls = [accounts.charge(call(key, 10), None) for _ in range(3)]
            for error in await asyncio.gather(*calls, return_exceptions=True):
                assert str(error) == "The accounts database failed: disk is full."
            assert await accounts.charge(call(key, 10), None) == Receipt(10, 90)

    asyncio.run(body())
