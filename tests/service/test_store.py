"""What every store does around its commands: cancelled callers, readiness, sweeps, by a clock that jumps."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.fetching import clock
from tests.service.account_stores import PLANS, call
from tests.service.books import Books
from webanalytics.errors import ParameterError
from webanalytics.service.accounts import AccountsError, digest, sqlite
from webanalytics.service.accounts.base import Key, NoCredits, Receipt, Reservation
from webanalytics.service.accounts.keys import Commands
from webanalytics.service.accounts.sqlite import KeyCache, ServerLock, SqliteAccounts
from webanalytics.service.accounts.store import Accounts, failure


class Slow(Accounts):
    """Accounts in memory, whose every command takes some seconds and may be made to fail."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__()
        self.books, self.seconds, self.room = Books(), seconds, True
        self.ran: list[tuple[Any, ...]] = []
        self.error: Exception | None = None

    async def run(self, command: Callable[..., Any], *arguments: Any) -> Any:
        self.ran.append((command.__name__, *arguments))
        await asyncio.sleep(self.seconds)
        if self.error is not None:
            raise self.error
        return self.books.do(command.__name__, *arguments)

    async def close(self) -> None:
        await self.stop_doing()

    def has_room(self) -> bool:
        return self.room


def test_what_goes_wrong_is_one_sentence_and_keeps_its_cause() -> None:
    ours = (AccountsError("A sentence."), ParameterError("A sentence.", "key"))
    assert [failure(error) for error in ours] == [*ours]
    for error, said in ((OSError("no space"), "no space"), (TimeoutError(), "TimeoutError")):
        found = failure(error)
        assert isinstance(found, AccountsError)
        assert str(found) == f"The accounts database failed: {said}."
        assert found.__cause__ is error


def test_every_method_is_its_command() -> None:
    async def body() -> None:
        store = Slow()
        text, key = await store.create_key(
            account="a", plan="small", operations=None, networks=(), expires=None
        )
        assert await store.find_key(digest(text)) == key
        assert await store.balance(key.account) == 100
        assert await store.charge(call(key, 10), None) == Receipt(10, 90)
        held = await store.reserve(call(key, 20))
        assert isinstance(held, Reservation)
        assert await store.settle(held, 5, None) == Receipt(5, 85)
        assert await store.reserve(call(key, 86)) == NoCredits(85)
        assert [row.credits for row in await store.list_keys()] == [85]
        assert (await store.restrict_key(key.prefix, operations=None, networks=(), expires=9.0)).expires == 9
        assert await store.change_plan("a", "pro") == 4_985
        assert (await store.revoke_key(key.prefix)).revoked == store.books.now
        another = await store.create_key(account="a", plan=None, operations=None, networks=(), expires=None)
        assert (await store.rotate_key(another[1].prefix, 0))[1].account == key.account

    clock.run(body())
    assert Accounts.has_room(Slow())


@pytest.mark.parametrize("again", [None, "once"])
def test_a_caller_who_is_gone_gets_his_credits_back_before_the_store_closes(again: str | None) -> None:
    async def body() -> None:
        store = Slow(3.0)
        key = store.books.key()
        waiting = [asyncio.create_task(store.reserve(call(key, 60, again=again))) for _ in range(2)]
        await asyncio.sleep(1)
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)
        assert all(task.cancelled() for task in waiting)
        assert asyncio.get_running_loop().time() == 1_001.0, "nobody waits for what is given back"
        await store.all_returned()
        assert asyncio.get_running_loop().time() == 1_006.0
        assert not store._returning
        assert store.books.rows("SELECT balance, held FROM accounts") == [(100, 0)]
        assert [row[0] for row in store.ran] == ["reserve", "reserve", "settle"], "one had none"
        await store.all_returned()

    clock.run(body())


def test_a_caller_who_is_gone_of_a_store_that_fails_is_nobodys_error() -> None:
    async def body() -> None:
        store = Slow(3.0)
        store.error = AccountsError("A sentence.")
        waiting = asyncio.create_task(store.reserve(call(store.books.key())))
        await asyncio.sleep(1)
        waiting.cancel()
        await asyncio.wait([waiting])
        await store.all_returned()
        with pytest.raises(AccountsError):
            await store.reserve(call(store.books.key()))

    clock.run(body())


def test_readiness_is_asked_for_once_a_second_and_at_once_after_a_failure() -> None:
    async def body() -> list[tuple[bool, int]]:
        store, found = Slow(), []
        for wait, error, room in (
            (0, None, True),
            (0.5, AccountsError("full"), True),  # known for a second
            (0.5, AccountsError("full"), True),
            (0.1, None, True),
            (0.1, None, False),
            (0.1, None, True),
            (0.1, None, True),
        ):
            await asyncio.sleep(wait)
            store.error, store.room = error, room
            found.append((await store.ready(), len(store.ran)))
        return found

    assert clock.run(body()) == [
        (True, 1),
        (True, 1),
        (False, 2),
        (True, 3),
        (False, 3),
        (True, 4),
        (True, 4),
    ]


@pytest.mark.parametrize(("seconds", "ready"), [(4.9, True), (5.1, False)])
def test_a_store_that_takes_longer_than_five_seconds_is_not_ready(seconds: float, ready: bool) -> None:
    assert clock.run(Slow(seconds).ready()) is ready


@pytest.mark.parametrize("lost", [False, True])
def test_a_sweep_goes_on_until_nothing_is_overdue(lost: bool) -> None:
    async def body() -> None:
        store = Slow()
        keys = [store.books.key(f"{number:03}") for number in range(150)]
        for key in keys:
            store.books.do("reserve", call(key, 10))
        store.books.now += 0 if lost else store.books.rules.reservation_seconds
        await store.sweep(lambda: store.books.now, lost=lost, dead="nobody")
        until = math.inf if lost else store.books.now
        batches = [row for row in store.ran if row[0] == "overdue_before"]
        assert batches == [("overdue_before", until, "nobody", 100)] * 3
        assert store.ran[1] == ("free_overdue", keys[0].account, until, "nobody")
        assert len(store.ran) == 3 + 150 + 1
        assert store.ran[-1] == ("prune", 500)
        assert store.books.rows("SELECT COUNT(*) FROM reservations") == [(0,)]
        store.books.do("reserve", call(keys[0], 10))
        await store.sweep(lambda: store.books.now)
        assert store.books.rows("SELECT COUNT(*) FROM reservations") == [(1,)], (
            "not all, unless they are lost"
        )

    clock.run(body())


def test_what_is_done_again_and_again_outlives_a_failure_and_ends_with_the_store() -> None:
    async def body() -> list[float]:
        store, done = Slow(), []

        async def step() -> None:
            done.append(asyncio.get_running_loop().time() - 1_000.0)
            if len(done) == 1:
                raise AccountsError("A sentence.")

        store.keep_doing(step, 10.0)
        await asyncio.sleep(35)
        task = store._kept[0]
        await store.stop_doing()
        assert task.done()
        assert store._kept == []
        await asyncio.sleep(35)
        return done

    assert clock.run(body()) == [10.0, 20.0, 30.0]


# -- a server's lock and its keys in memory ----------------------------------------------------------


def key(number: int = 1) -> Key:
    return Key(number, 1, "abcdefgh", "small")


async def found(value: Any) -> Any:
    return value


def test_keys_in_memory_are_bounded_and_the_oldest_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "MOST_KEYS", 3)

    async def body() -> None:
        cache = KeyCache()
        for number in range(5):
            assert await cache.fill(b"%d" % number, found(key(number))) == key(number)
        assert await cache.fill(b"none", found(None)) is None
        kept = [cache.get(name) for name in (b"0", b"1", b"2", b"3", b"4", b"none")]
        assert kept == [None, None, key(2), key(3), key(4), None]
        cache.clear()
        assert cache.get(b"4") is None

    clock.run(body())


def test_what_was_looked_up_during_a_change_is_not_kept() -> None:
    async def body() -> None:
        cache = KeyCache()

        async def slowly(changes: int) -> Key:
            for _ in range(changes):
                await asyncio.sleep(1)
                cache.clear()
            return key()

        for changes in (1, 2):
            assert await cache.fill(b"a", slowly(changes)) == key()
            assert cache.get(b"a") is None
        await cache.fill(b"a", slowly(0))
        assert cache.get(b"a") == key()

    clock.run(body())


def test_a_lock_is_one_servers_and_no_other_user_reads_it(tmp_path: Path) -> None:
    lock = ServerLock.take(tmp_path / "accounts.db")
    assert lock is not None
    assert (tmp_path / "accounts.db.lock").stat().st_mode & 0o777 == 0o600
    opened = len([*Path("/proc/self/fd").iterdir()])
    assert [ServerLock.take(tmp_path / "accounts.db") for _ in range(5)] == [None] * 5
    assert len([*Path("/proc/self/fd").iterdir()]) == opened
    lock.release()
    again = ServerLock.take(tmp_path / "accounts.db")
    assert again is not None
    again.release()


def test_a_lock_that_cannot_be_had_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AccountsError) as caught:
        ServerLock.take(tmp_path / "none" / "accounts.db")
    assert str(caught.value) == "The accounts database cannot be opened: No such file or directory."
    closed: list[int] = []
    close = sqlite.os.close
    monkeypatch.setattr(sqlite.os, "close", lambda number: (closed.append(number), close(number)))

    def flock(*_: Any) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(sqlite.fcntl, "flock", flock)
    with pytest.raises(AccountsError) as caught:
        ServerLock.take(tmp_path / "accounts.db")
    assert str(caught.value) == "The accounts database cannot be locked: No locks available."
    assert len(closed) == 1


@pytest.mark.parametrize(("free", "room"), [(999_999, False), (1_000_000, True), (OSError(), False)])
def test_a_megabyte_of_the_disk_is_room(
    free: Any, room: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def usage(folder: Path) -> Any:
        assert folder == tmp_path
        if isinstance(free, OSError):
            raise free
        return SimpleNamespace(free=free)

    monkeypatch.setattr(sqlite.shutil, "disk_usage", usage)
    assert SqliteAccounts(None, KeyCache(), tmp_path / "accounts.db", None).has_room() is room  # type: ignore[arg-type]


def test_a_server_waits_as_long_as_it_is_told_for_the_last_one(tmp_path: Path) -> None:
    async def body() -> None:
        loop, path = asyncio.get_running_loop(), tmp_path / "accounts.db"
        lock = ServerLock.take(path)
        assert lock is not None
        with pytest.raises(AccountsError, match="in use by another server"):
            await sqlite._locked(path, 0.0)
        assert loop.time() == 1_000.0
        with pytest.raises(AccountsError, match="in use by another server"):
            await sqlite._locked(path, 3.0)
        assert 1_003.0 <= loop.time() < 1_003.1
        loop.call_later(1.0, lock.release)
        second = await sqlite._locked(path, 3.0)
        assert 1_004.0 <= loop.time() < 1_004.3
        second.release()

    clock.run(body())


@pytest.mark.parametrize("serves", [True, False])
def test_a_server_sweeps_when_it_begins_and_every_minute(serves: bool, tmp_path: Path) -> None:
    swept: list[tuple[float, bool]] = []

    class Swept(SqliteAccounts):
        async def sweep(
            self, clock: Callable[[], float], lost: bool = False, dead: str | None = None
        ) -> None:
            swept.append((asyncio.get_running_loop().time() - 1_000.0, lost))

    async def body() -> None:
        async def nothing() -> None:
            pass

        file: Any = SimpleNamespace(open=nothing, close=nothing)
        lock = ServerLock.take(tmp_path / "accounts.db") if serves else None
        accounts = Swept(file, KeyCache(), tmp_path / "accounts.db", lock)
        await accounts.open(lambda: 0.0)
        await asyncio.sleep(130)
        await accounts.close()
        await asyncio.sleep(130)

    clock.run(body())
    assert swept == ([(0.0, True), (60.0, False), (120.0, False)] if serves else [])


def test_a_store_closes_its_file_after_the_credits_of_cancelled_callers_are_back(tmp_path: Path) -> None:
    async def body() -> list[float]:
        closed: list[float] = []

        async def close() -> None:
            closed.append(asyncio.get_running_loop().time() - 1_000.0)

        file: Any = SimpleNamespace(close=close)
        accounts = SqliteAccounts(file, KeyCache(), tmp_path / "accounts.db", None)
        returning = asyncio.create_task(asyncio.sleep(5.0))
        accounts._returning.add(returning)
        returning.add_done_callback(accounts._returning.discard)
        await accounts.close()
        return closed

    assert clock.run(body()) == [5.0]


def test_a_store_that_cannot_begin_leaves_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sweep(*_: Any, **__: Any) -> None:
        raise AccountsError("A sentence.")

    monkeypatch.setattr(SqliteAccounts, "sweep", sweep)

    async def body(path: Path) -> None:
        await sqlite.open_sqlite(path, Commands(PLANS), lambda: 0.0, server=True, wait=0.0)

    opened = len([*Path("/proc/self/fd").iterdir()])
    with pytest.raises(AccountsError, match=r"^A sentence\.$"):
        asyncio.run(body(tmp_path / "accounts.db"))
    assert len([*Path("/proc/self/fd").iterdir()]) == opened
    assert not (tmp_path / "accounts.db-wal").exists()
    lock = ServerLock.take(tmp_path / "accounts.db")
    assert lock is not None
    lock.release()
    with pytest.raises(AccountsError, match=r"^The folder of the accounts database does not exist\.$"):
        asyncio.run(body(tmp_path / "none" / "accounts.db"))


def test_a_command_without_a_server_leaves_room_for_one(tmp_path: Path) -> None:
    async def body() -> None:
        path = tmp_path / "accounts.db"
        accounts = await sqlite.open_sqlite(path, Commands(PLANS), lambda: 0.0, server=False, wait=0.0)
        await accounts.create_key(account="a", plan=None, operations=None, networks=(), expires=None)
        lock = ServerLock.take(path)
        assert lock is not None
        lock.release()
        await accounts.close()

    asyncio.run(body())
