"""Many calls at once, calls that fail among others, and processes that are killed."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service.account_stores import KINDS, Stores, call, new_key
from webanalytics.errors import ParameterError
from webanalytics.service.accounts import AccountsError, writer
from webanalytics.service.accounts.base import Call, NoCredits, Receipt, Reservation
from webanalytics.service.accounts.keys import Commands


@pytest.fixture(params=KINDS)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Stores:
    return Stores(request.param, tmp_path)


async def page(accounts: Any, key: Any, price: int) -> Receipt | NoCredits:
    """A call that takes time."""
    reservation = await accounts.reserve(call(key, price))
    if not isinstance(reservation, Reservation):
        return reservation
    await asyncio.sleep(0)
    return await accounts.settle(reservation, price, None)


def test_200_clients_and_credits_for_100(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            results = await asyncio.gather(*[accounts.charge(call(key, 1), None) for _ in range(200)])
            receipts = [result for result in results if isinstance(result, Receipt)]
            assert len(receipts) == 100
            assert sorted(receipt.remaining for receipt in receipts) == list(range(100))
            assert sorted(receipt.notice for receipt in receipts if receipt.notice) == [80, 95]
            assert results.count(NoCredits(0)) == 100

    asyncio.run(body())
    assert len(stores.ledger()) == 101
    stores.check()


def test_200_pages_and_credits_for_100(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            results = await asyncio.gather(*[page(accounts, key, 1) for _ in range(200)])
            receipts = [result for result in results if isinstance(result, Receipt)]
            assert len(receipts) == 100
            assert sorted(receipt.notice for receipt in receipts if receipt.notice) == [80, 95]

    asyncio.run(body())
    assert len(stores.ledger()) == 101
    stores.check()


def test_accounts_do_not_pay_for_each_other(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            keys = [await new_key(accounts, plan="small") for _ in range(5)]
            ways = [lambda key: accounts.charge(call(key, 3), None), lambda key: page(accounts, key, 3)]
            waiting = [way(key) for _ in range(20) for key in keys for way in ways]
            results = await asyncio.gather(*waiting)
            assert sum(isinstance(result, Receipt) for result in results) == 5 * 33
            assert [await accounts.balance(key.account) for key in keys] == [1] * 5

    asyncio.run(body())
    stores.check()


def test_one_request_id_is_charged_once_and_harms_no_other(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            twice = call(key, 1)
            calls = [call(key, 1), twice, call(key, 1), twice, call(key, 1)]
            results = await asyncio.gather(
                *[accounts.charge(one, None) for one in calls], return_exceptions=True
            )
            kinds = [type(result) for result in results]
            assert sorted(kinds, key=str) == [AccountsError] + [Receipt] * 4
            assert AccountsError in (kinds[1], kinds[3])
            assert await accounts.balance(key.account) == 96

    asyncio.run(body())
    stores.check()


def test_a_call_that_fails_harms_no_other(stores: Stores) -> None:
    """Text that no database takes, a key that is none, and a settlement that is refused."""

    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            wrong = Call(key, "hmac", "lone surrogate \ud800", 1)
            unknown = Reservation(999, 5, 0, None)
            results = await asyncio.gather(
                accounts.charge(call(key, 1), None),
                accounts.charge(wrong, None),
                page(accounts, key, 1),
                accounts.settle(unknown, 5, None),
                accounts.revoke_key("deadbeef"),
                accounts.charge(call(key, 1), None),
                return_exceptions=True,
            )
            assert [type(result) for result in results] == [
                Receipt,
                AccountsError,
                Receipt,
                AccountsError,
                ParameterError,
                Receipt,
            ]
            assert await accounts.balance(key.account) == 97

    asyncio.run(body())
    stores.check()


def test_a_reservation_nobody_waits_for_is_returned(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            waiting = asyncio.create_task(accounts.reserve(call(key, 100)))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert await reaches(accounts, key, 100)

    asyncio.run(body())
    stores.check()


async def reaches(accounts: Any, key: Any, credits_left: int) -> bool:
    """Whether an account soon has so many credits left."""
    for _ in range(200):
        if await accounts.balance(key.account) == credits_left:
            return True
        await asyncio.sleep(0.02)
    return False


def cancelled_after_commit(accounts: Any, one: Call) -> asyncio.Task[Any]:
    """A reservation whose caller is cancelled when it has been committed and not been told."""
    run = accounts.run

    async def run_and_cancel(command: Any, *arguments: Any) -> Any:
        result = await run(command, *arguments)
        if command is Commands.reserve:
            accounts.run = run
            waiting.cancel()
        return result

    accounts.run = run_and_cancel
    waiting = asyncio.create_task(accounts.reserve(one))
    return waiting


def test_a_reservation_that_was_committed_for_nobody_is_returned(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            one = call(key, 100, again="one")
            with pytest.raises(asyncio.CancelledError):
                await cancelled_after_commit(accounts, one)
            assert await reaches(accounts, key, 100)
            assert isinstance(await accounts.reserve(one), Reservation)  # its Idempotency-Key is free too

    asyncio.run(body())
    stores.check()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_store_that_closes_returns_first_what_nobody_waits_for(kind: str, tmp_path: Path) -> None:
    stores = Stores(kind, tmp_path)

    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            await asyncio.wait([cancelled_after_commit(accounts, call(key, 100))])

    asyncio.run(body())
    assert stores.query("SELECT id FROM reservations") == []
    stores.check()


# -- what goes wrong with the file ------------------------------------------------------------------


def pragma(name: str) -> Any:
    def command(_commands: Commands, _now: float) -> Iterator[Any]:
        rows = yield f"PRAGMA {name}", ()
        return rows[0][0]

    return command


def test_a_full_disk_fails_calls_and_nothing_else(tmp_path: Path) -> None:
    stores = Stores("sqlite", tmp_path)

    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            pages = await accounts.run(pragma("page_count"))
            await accounts.run(pragma(f"max_page_count = {pages}"))
            attempts = [
                accounts.charge(call(key, 1, again=f"a{n}"), bytes(range(256)) * 40) for n in range(20)
            ]
            results = await asyncio.gather(*attempts, return_exceptions=True)
            failed = [result for result in results if isinstance(result, AccountsError)]
            assert "full" in str(failed[0])
            stores.check()
            await accounts.run(pragma("max_page_count = 100000"))
            assert await accounts.charge(call(key, 1, again="again"), b"{}") == Receipt(
                1, 99 - (20 - len(failed))
            )

    asyncio.run(body())
    stores.check()


def test_a_file_locked_by_another_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    monkeypatch.setattr(writer, "BUSY_SECONDS", 0.05)
    stores = Stores("sqlite", tmp_path)

    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            other = sqlite3.connect(stores.file, isolation_level=None)
            with contextlib.closing(other):
                other.execute("BEGIN IMMEDIATE")
                assert not await accounts.ready()
                with pytest.raises(AccountsError, match="locked"):
                    await accounts.charge(call(key), None)
                other.execute("ROLLBACK")
                assert await accounts.ready()
                assert await accounts.charge(call(key), None) == Receipt(2, 98)

    asyncio.run(body())


def test_calls_beyond_the_queue_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer.Writer.__init__, "__kwdefaults__", {"most_waiting": 10, "most_in_group": 3})
    stores = Stores("sqlite", tmp_path)

    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts)
            waiting = [accounts.charge(call(key), None) for _ in range(30)]
            results = await asyncio.gather(*waiting, return_exceptions=True)
            assert [type(result) for result in results] == [Receipt] * 10 + [AccountsError] * 20

    asyncio.run(body())
    stores.check()


# -- kill -9 ----------------------------------------------------------------------------------------


async def load(accounts: Any, name: str) -> None:
    """Charge for ever, and write the request of each receipt."""
    key = await new_key(accounts, plan="pro")
    numbers = itertools.count()

    async def client(number: int) -> None:
        while True:
            one = Call(key, "hmac", f"{name}-{next(numbers)}", 1, 3)
            if number % 2:
                receipt = await accounts.charge(one, None)
            else:
                receipt = await accounts.settle(await accounts.reserve(one), 2, None)
            print(json.dumps([one.request_id, receipt.charged]), flush=True)

    await asyncio.gather(*[client(number) for number in range(16)])


def main(url: str, name: str) -> None:
    from tests.service.account_stores import PLANS
    from webanalytics.service.accounts import open_accounts
    from webanalytics.service.settings import Plan, ServiceSettings

    plans = {**PLANS, "pro": Plan("pro", 10**9, 0, True, None, 1)}

    async def body() -> None:
        await load(await open_accounts(url, ServiceSettings(plans=plans), server=True), name)

    asyncio.run(body())


def killed_under_load(stores: Stores, name: str, seconds: float) -> dict[str, int]:
    """Run a process under load, kill it, and return the receipts that came out of it."""
    code = f"from tests.service.test_accounts_concurrency import main; main({stores.url!r}, {name!r})"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout
        first = b"".join(process.stdout.readline() for _ in range(40))
        time.sleep(seconds)
        process.kill()
        rest = process.stdout.read()
    lines = (first + rest).splitlines(keepends=True)
    return dict(json.loads(line) for line in lines if line.endswith(b"\n"))


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_receipt_that_came_out_has_been_charged(kind: str, tmp_path: Path) -> None:
    stores = Stores(kind, tmp_path)
    stores.clock.now = time.time()
    received: dict[str, int] = {}
    for number in range(3):
        received |= killed_under_load(stores, f"run-{number}", 0.1 + 0.07 * number)
        stores.check()

    async def body() -> None:
        stores.clock.now += 3_600  # a database with other servers returns lost holds in time
        async with stores.open():
            assert stores.query("SELECT id FROM reservations") == []

    asyncio.run(body())
    stores.check()
    assert len(received) > 100
    charged = {
        request: -int(delta)
        for kind, delta, request in stores.ledger("kind, delta, request_id")
        if kind == "charge"
    }
    assert received.items() <= charged.items()
    assert len(charged) - len(received) <= 3 * 16  # at most what each client had under way
