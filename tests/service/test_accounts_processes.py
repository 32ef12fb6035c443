"""Servers that share accounts: what a killed one held is free in seconds, what a living one holds is not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.service.account_stores import KINDS, Stores, call, moment, new_key
from webanalytics.core.messages import Message
from webanalytics.service.accounts import AccountsError
from webanalytics.service.accounts.base import Conflict, Receipt, Replay, Reservation
from webanalytics.service.accounts.postgres import MISSED_BEATS
from webanalytics.service.payment import conflict


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    return Stores("postgresql", tmp_path)


async def kill(accounts: Any) -> None:
    """End a server as kill -9 does: nothing is returned, nothing forgotten."""
    await accounts.stop_doing()
    accounts._pool.terminate()


def test_what_a_killed_process_held_is_free_after_some_beats_of_another(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as living:
            await living.stop_doing()
            key = await new_key(living, plan="small")
            opened = stores.open()
            killed = await opened.__aenter__()
            await killed.reserve(call(key, 10, again="one"))
            await killed.reserve(call(key, 20))
            await kill(killed)
            for _ in range(MISSED_BEATS):
                assert await living.reserve(call(key, 10, again="one")) == Conflict(True, 70)
                await living.beat()
            await living.beat()
            retry = await living.reserve(call(key, 10, again="one"))
            assert isinstance(retry, Reservation)
            assert (await living.settle(retry, 10, b"{}")).remaining == 90
        assert stores.query("SELECT count(*) FROM processes") == [("0",)]

    asyncio.run(body())
    assert stores.ledger() == [("grant", "100"), ("charge", "-10")]
    stores.check()


def test_what_a_living_process_holds_stays(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as first, stores.open() as second:
            await first.stop_doing()
            await second.stop_doing()
            key = await new_key(first, plan="small")
            held = await first.reserve(call(key, 10, again="one"))
            for _ in range(3 * MISSED_BEATS):
                await second.beat()
                await first.beat()
            assert await second.reserve(call(key, 10, again="one")) == Conflict(True, 90)
            assert await first.settle(held, 10, b"{}") == Receipt(10, 90)
            assert await second.reserve(call(key, 10, again="one")) == Replay(b"{}", 90)

    asyncio.run(body())
    stores.check()


def test_a_process_that_was_taken_for_dead_charges_nothing_twice(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as stalled, stores.open() as other:
            await stalled.stop_doing()
            await other.stop_doing()
            key = await new_key(other, plan="small")
            held = await stalled.reserve(call(key, 10, again="one"))
            alone = await stalled.reserve(call(key, 5, again="two"))
            for _ in range(MISSED_BEATS + 1):
                await other.beat()
            retry = await other.reserve(call(key, 10, again="one"))
            with pytest.raises(AccountsError, match="later call"):
                await stalled.settle(held, 10, b"late")
            assert await other.settle(retry, 10, b"{}") == Receipt(10, 90)
            assert await stalled.settle(alone, 5, b"late") == Receipt(5, 85)
            await stalled.beat()
            assert await stalled.reserve(call(key, 5, again="two")) == Replay(b"late", 85)

    asyncio.run(body())
    assert stores.ledger() == [("grant", "100"), ("charge", "-10"), ("charge", "-5")]
    stores.check()


def test_a_database_that_was_away_makes_nobody_dead(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as first, stores.open() as second:
            await first.stop_doing()
            await second.stop_doing()
            key = await new_key(first, plan="small")
            await first.reserve(call(key, 10, again="one"))
            run = second.run

            async def away(*_: Any) -> Any:
                raise AccountsError("away")

            for _ in range(3 * MISSED_BEATS):
                second.run = away
                with pytest.raises(AccountsError):
                    await second.beat()
            second.run = run
            await second.beat()
            assert await second.reserve(call(key, 10, again="one")) == Conflict(True, 90)

    asyncio.run(body())


def test_beats_go_on_by_themselves(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webanalytics.service.accounts.postgres.BEAT_SECONDS", 0.01)

    async def body() -> None:
        async with stores.open():
            while stores.query("SELECT beats FROM processes WHERE beats > 5") == []:  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(body(), 60))


def test_who_asks_again_is_told_to_wait_as_long_again_but_never_long(stores: Stores) -> None:
    async def body() -> list[float | None]:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            await accounts.reserve(call(key, 10, again="one"))
            waits = []
            for seconds in (0, 3, 4, 300):
                stores.clock.now += seconds
                found = await accounts.reserve(call(key, 10, again="one"))
                assert isinstance(found, Conflict)
                problem = conflict(found)
                assert isinstance(problem.failure, Message)
                assert (problem.status, problem.failure.key) == (409, "call_running")
                waits.append(problem.retry_after)
            return waits

    assert asyncio.run(body()) == [1.0, 3.0, 7.0, 10.0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_clock_that_was_far_ahead_begins_its_month_again(kind: str, tmp_path: Path) -> None:
    stores = Stores(kind, tmp_path)

    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            assert await accounts.charge(call(key, 10), None) == Receipt(10, 90)
            stores.clock.now = moment("2027-12-26T05:00")
            assert await accounts.charge(call(key, 30), None) == Receipt(30, 70)
            stores.clock.now = moment("2026-11-21T05:00")
            assert await accounts.balance(key.account) == 100
            assert await accounts.charge(call(key, 1), None) == Receipt(1, 99)
            stores.clock.now = moment("2026-12-01T00:00")
            assert await accounts.charge(call(key, 1), None) == Receipt(1, 99)

    asyncio.run(body())
    stores.check()


@pytest.mark.parametrize("kind", KINDS)
def test_servers_whose_clocks_differ_begin_a_month_once(kind: str, tmp_path: Path) -> None:
    stores = Stores(kind, tmp_path)

    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            for _ in range(5):  # one clock is a few seconds ahead, the other is still in the old month
                stores.clock.now = moment("2026-12-01T00:00")
                await accounts.charge(call(key, 10), None)
                stores.clock.now = moment("2026-11-30T23:59")
                await accounts.charge(call(key, 1), None)

    asyncio.run(body())
    granted = [delta for kind, delta in stores.ledger() if kind == "grant"]
    assert granted == ["100", "100"]
    stores.check()
