"""Idempotency-Key: the same call answers the same and is charged once, in every store."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from tests.service.account_stores import KINDS, Stores, call, new_key
from webanalytics.service.accounts import AccountsError
from webanalytics.service.accounts.base import Conflict, NoCredits, Receipt, Replay


@pytest.fixture(params=KINDS)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Stores:
    return Stores(request.param, tmp_path)


def test_a_charge_is_replayed(stores: Stores) -> None:
    answer = random.Random(1).randbytes(100_000) + b"\0" * 900_000

    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            assert await accounts.charge(call(key, again="one"), answer) == Receipt(2, 98)
            assert await accounts.charge(call(key, again="one"), b"other") == Replay(answer, 98)
            assert await accounts.reserve(call(key, again="one")) == Replay(answer, 98)
        async with stores.open() as accounts:
            assert await accounts.charge(call(key, again="one"), b"other") == Replay(answer, 98)

    asyncio.run(body())
    assert stores.ledger() == [("grant", "100"), ("charge", "-2")]
    stores.check()


def test_a_call_under_way_and_then_its_answer(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            reservation = await accounts.reserve(call(key, 10, again="one"))
            assert await accounts.reserve(call(key, 10, again="one")) == Conflict(True, 90)
            assert await accounts.charge(call(key, 10, again="one"), b"{}") == Conflict(True, 90)
            await accounts.settle(reservation, 10, b'{"status": "ok"}')
            assert await accounts.reserve(call(key, 10, again="one")) == Replay(b'{"status": "ok"}', 90)

    asyncio.run(body())
    stores.check()


def test_other_parameters_conflict(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            reservation = await accounts.reserve(call(key, again="one"))
            other = call(key, again="one", fingerprint=b"other")
            assert await accounts.reserve(other) == Conflict(False, 98)
            await accounts.settle(reservation, 2, b"{}")
            assert await accounts.charge(other, b"{}") == Conflict(False, 98)
            assert await accounts.charge(call(key, again="two", fingerprint=b"other"), b"{}") == Receipt(
                2, 96
            )

    asyncio.run(body())


def test_a_call_that_was_not_charged_may_come_again(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            reservation = await accounts.reserve(call(key, 10, again="one"))
            await accounts.settle(reservation, 0, None)
            assert await accounts.charge(call(key, 10, again="one", fingerprint=b"new"), b"{}") == Receipt(
                10, 90
            )
            assert await accounts.charge(call(key, 91, again="two"), b"{}") == NoCredits(90)
            assert await accounts.charge(call(key, 90, again="two"), b"{}") == Receipt(90, 0, 95)

    asyncio.run(body())
    stores.check()


def test_each_account_has_keys_of_its_own(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            mine, other = await new_key(accounts, "mine"), await new_key(accounts, "other")
            second = await new_key(accounts, "mine")
            await accounts.charge(call(mine, again="one"), b"mine")
            assert await accounts.charge(call(other, again="one"), b"other") == Receipt(2, 1_498)
            assert await accounts.charge(call(second, again="one"), b"second") == Replay(b"mine", 1_498)

    asyncio.run(body())


def test_answers_are_kept_for_their_time_and_then_dropped(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open(idempotency_seconds=100.0) as accounts:
            key = await new_key(accounts, plan="small")
            for name in ("one", "two", "three"):
                await accounts.charge(call(key, again=name), b"{}")
            stores.clock.now += 99
            assert await accounts.charge(call(key, again="one"), b"{}") == Replay(b"{}", 94)
            stores.clock.now += 1
            assert await accounts.charge(call(key, again="one"), b"{}") == Receipt(2, 92)
        async with stores.open(idempotency_seconds=100.0):
            assert stores.query("SELECT key FROM idempotency") == [("one",)]

    asyncio.run(body())


def test_a_call_that_was_lost_frees_its_key_in_time(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open(reservation_seconds=60.0) as accounts:
            key = await new_key(accounts, plan="small")
            lost = await accounts.reserve(call(key, 10, again="one"))
            stores.clock.now += 60
            retry = await accounts.reserve(call(key, 10, again="one"))
            assert retry.credits == 10
            # The lost one comes back after all: it would be the second charge of one call.
            with pytest.raises(AccountsError, match="later call"):
                await accounts.settle(lost, 10, b"late")
            assert await accounts.settle(lost, 0, None) == Receipt(0, 90)
            assert await accounts.settle(retry, 10, b"retry") == Receipt(10, 90)
            with pytest.raises(AccountsError, match="later call"):
                await accounts.settle(lost, 10, b"late")
            assert await accounts.reserve(call(key, 10, again="one")) == Replay(b"retry", 90)

    asyncio.run(body())
    assert stores.ledger() == [("grant", "100"), ("charge", "-10")]
    stores.check()


def test_a_late_call_whose_key_is_free_keeps_its_answer(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open(reservation_seconds=60.0) as accounts:
            key = await new_key(accounts, plan="small")
            late = await accounts.reserve(call(key, 10, 10, again="one"))
            stores.clock.now += 60
            assert await accounts.charge(call(key, 1), None) == Receipt(1, 99)
            assert await accounts.settle(late, 50, b"late") == Receipt(50, 49)
            assert await accounts.reserve(call(key, 10, 10, again="one")) == Replay(b"late", 49)

    asyncio.run(body())
    stores.check()


def test_the_same_call_from_many_clients_is_charged_once(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            results = await asyncio.gather(
                *[accounts.charge(call(key, again="one"), b"%d" % number) for number in range(50)]
            )
            receipts = [result for result in results if isinstance(result, Receipt)]
            replays = [result for result in results if isinstance(result, Replay)]
            assert (len(receipts), len(replays)) == (1, 49)
            assert {replay.answer for replay in replays} == {b"%d" % results.index(receipts[0])}

    asyncio.run(body())
    assert stores.ledger() == [("grant", "100"), ("charge", "-2")]


def test_of_many_calls_with_one_key_one_runs(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            results = await asyncio.gather(*[accounts.reserve(call(key, again="one")) for _ in range(50)])
            assert results.count(Conflict(True, 98)) == 49

    asyncio.run(body())
    stores.check()
