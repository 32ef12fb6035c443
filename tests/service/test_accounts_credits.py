"""What an account may spend: allowance, bonus, months, holds and notices, the same in every store."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.service.account_stores import KINDS, PLANS, Stores, call, moment, new_key
from webanalytics.service.accounts import AccountsError
from webanalytics.service.accounts.base import NoCredits, Receipt
from webanalytics.service.accounts.charges import Charging
from webanalytics.service.settings import Plan


@pytest.fixture(params=KINDS)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Stores:
    return Stores(request.param, tmp_path)


def test_a_free_account_begins_with_its_allowance_and_its_bonus(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="free")
            assert await accounts.balance(key.account) == 1_500
            assert await accounts.charge(call(key, 2), None) == Receipt(2, 1_498)

    asyncio.run(body())
    assert stores.ledger() == [("grant", "1000"), ("bonus", "500"), ("charge", "-2")]
    stores.check()


def test_the_ledger_names_the_call(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts)
            one = call(key, 2)
            await accounts.charge(one, None)
            other = call(key, 10)
            await accounts.settle(await accounts.reserve(other), 10, None)
            expected = [
                (str(key.account), str(key.id), "charge", "-2", one.request_id, "hmac"),
                (str(key.account), str(key.id), "charge", "-10", other.request_id, "hmac"),
            ]
            assert stores.ledger("account, key, kind, delta, request_id, operation")[2:] == expected

    asyncio.run(body())


@pytest.mark.parametrize(("used", "left"), [(300, 1_500), (1_000, 1_500), (1_200, 1_300), (1_500, 1_000)])
def test_a_new_month_grants_anew_and_keeps_the_bonus(stores: Stores, used: int, left: int) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts)
            await accounts.charge(call(key, used), None)
            stores.clock.now = moment("2026-12-01T00:00")
            assert await accounts.balance(key.account) == left
            assert await accounts.charge(call(key, 1), None) == Receipt(1, left - 1)

    asyncio.run(body())
    ended = [("expire", str(used - 1_000))] if used < 1_000 else []
    assert stores.ledger()[3:] == [*ended, ("grant", "1000"), ("charge", "-1")]
    stores.check()


def test_months_turn_at_midnight_utc_and_never_back(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            left = {}
            for time in (
                "2026-11-30T23:59:59",
                "2026-12-01T00:00:00",
                "2026-11-30T23:59:59",
                "2026-12-31T23:59:59",
                "2027-06-15T12:00:00",  # months without a call grant nothing
            ):
                stores.clock.now = moment(time)
                await accounts.charge(call(key, 10), None)
                left[len(left)] = await accounts.balance(key.account)
            assert list(left.values()) == [90, 90, 80, 70, 90]

    asyncio.run(body())
    assert [row for row in stores.ledger() if row[0] == "grant"] == [("grant", "100")] * 3
    stores.check()


def test_a_reservation_holds_as_many_prices_as_are_covered(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            first = await accounts.reserve(call(key, 7, 10))
            assert (first.credits, first.remaining) == (70, 30)
            second = await accounts.reserve(call(key, 7, 10))
            assert (second.credits, second.remaining) == (28, 2)
            assert await accounts.reserve(call(key, 7, 10)) == NoCredits(2, 98)
            assert await accounts.charge(call(key, 3), None) == NoCredits(2, 98)
            stores.check()
            assert await accounts.settle(first, 35, None) == Receipt(35, 37)
            assert await accounts.settle(second, 0, None) == Receipt(0, 65)
            assert await accounts.charge(call(key, 65), None) == Receipt(65, 0, 95)
            assert await accounts.reserve(call(key, 1)) == NoCredits(0)

    asyncio.run(body())
    assert stores.ledger() == [("grant", "100"), ("charge", "-35"), ("charge", "-65")]
    stores.check()


def test_an_operation_that_costs_nothing_needs_no_credits(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            await accounts.charge(call(key, 100), None)
            assert await accounts.charge(call(key, 0), None) == Receipt(0, 0)
            reservation = await accounts.reserve(call(key, 0, 5))
            assert (reservation.credits, reservation.remaining) == (0, 0)
            assert await accounts.settle(reservation, 0, None) == Receipt(0, 0)

    asyncio.run(body())
    stores.check()


def test_settling_twice_charges_once(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            reservation = await accounts.reserve(call(key, 10, 3))
            assert await accounts.settle(reservation, 20, None) == Receipt(20, 80)
            assert await accounts.settle(reservation, 30, None) == Receipt(20, 80)
            assert await accounts.settle(reservation, 0, None) == Receipt(20, 80)

    asyncio.run(body())
    assert stores.ledger() == [("grant", "100"), ("charge", "-20")]
    stores.check()


def test_a_reservation_is_settled_for_no_more_than_it_holds(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            reservation = await accounts.reserve(call(key, 10))
            for wrong in (11, -1):
                with pytest.raises(AccountsError):
                    await accounts.settle(reservation, wrong, None)
            assert await accounts.settle(reservation, 10, None) == Receipt(10, 90)

    asyncio.run(body())
    stores.check()


def test_a_reservation_is_settled_for_its_own_call(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            mine, other = await accounts.reserve(call(key, 40)), await accounts.reserve(call(key, 50))
            # The numbers are exchanged: neither may free what the other holds.
            with pytest.raises(AccountsError, match="do not cover"):
                await accounts.settle(replace(other, id=mine.id), 50, None)
            assert await accounts.settle(mine, 40, None) == Receipt(40, 10)
            assert await accounts.settle(other, 50, None) == Receipt(50, 10, 80)

    asyncio.run(body())
    stores.check()


def test_a_lost_reservation_is_returned_when_another_call_needs_it(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open(reservation_seconds=60.0) as accounts:
            key = await new_key(accounts, plan="small")
            await accounts.reserve(call(key, 50, 2))
            assert await accounts.charge(call(key, 10), None) == NoCredits(0, 100)
            stores.clock.now += 60
            assert await accounts.charge(call(key, 10), None) == Receipt(10, 90)

    asyncio.run(body())
    stores.check()


def test_an_overdue_reservation_is_charged_anew_while_credits_last(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open(reservation_seconds=60.0) as accounts:
            key = await new_key(accounts, plan="small")
            slow = await accounts.reserve(call(key, 30, 2))
            slower = await accounts.reserve(call(key, 40))
            stores.clock.now += 61
            assert await accounts.charge(call(key, 10), None) == Receipt(10, 90)
            stores.check()
            assert await accounts.settle(slow, 60, None) == Receipt(60, 30)
            assert await accounts.settle(slow, 60, None) == Receipt(60, 30)
            with pytest.raises(AccountsError, match="do not cover"):
                await accounts.settle(slower, 40, None)
            assert await accounts.settle(slower, 30, None) == Receipt(30, 0, 95), "just what is left"

    asyncio.run(body())
    assert stores.ledger() == [("grant", "100"), *[("charge", amount) for amount in ("-10", "-60", "-30")]]
    stores.check()


def test_the_last_uses_in_memory_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webanalytics.service.accounts.charges.SEEN_KEYS", 3)
    rules = Charging(PLANS)
    noted = [bool(list(rules._see(key, 0.0))) for key in (1, 1, 2, 3, 4, 5)]
    assert noted == [True, False, True, True, True, True]
    assert sorted(rules._seen) == [4, 5]


def test_a_month_that_begins_with_a_refusal_is_in_the_books(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            await accounts.charge(call(key, 30), None)
            stores.clock.now = moment("2026-12-01T00:01")
            assert await accounts.charge(call(key, 101), None) == NoCredits(100)

    asyncio.run(body())
    assert stores.ledger() == [("grant", "100"), ("charge", "-30"), ("expire", "-70"), ("grant", "100")]
    stores.check()


def test_a_call_is_paid_from_the_month_it_began_in(stores: Stores) -> None:
    """600 of November's 1,000 are held over midnight: 100 are charged, 500 end with November."""

    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts)
            reservation = await accounts.reserve(call(key, 10, 60))
            stores.clock.now = moment("2026-12-01T00:01")
            assert await accounts.charge(call(key, 1), None) == Receipt(1, 1_499)
            stores.check()
            assert await accounts.settle(reservation, 100, None) == Receipt(100, 1_499)

    asyncio.run(body())
    assert stores.ledger()[2:] == [
        ("expire", "-400"),
        ("grant", "1000"),
        ("charge", "-1"),
        ("charge", "-100"),
        ("expire", "-500"),
    ]
    stores.check()


def test_the_bonus_held_over_a_month_comes_back(stores: Stores) -> None:
    """1,400 held are 1,000 allowance and 400 bonus; of 1,100 charged, 100 are bonus."""

    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts)
            reservation = await accounts.reserve(call(key, 100, 14))
            stores.clock.now = moment("2026-12-01T00:01")
            assert await accounts.balance(key.account) == 1_100
            assert await accounts.settle(reservation, 1_100, None) == Receipt(1_100, 1_400)

    asyncio.run(body())
    stores.check()


def test_notices_at_80_and_95_percent_once_a_month(stores: Stores) -> None:
    """Of 1,500 credits 80% are 1,200 and 95% are 1,425."""

    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts)
            prices = (1_199, 1, 1, 223, 1, 75)
            told = [(await accounts.charge(call(key, price), None)).notice for price in prices]
            assert told == [None, 80, None, None, 95, None]
            stores.clock.now = moment("2026-12-01T00:00")  # 1,000 credits, the bonus is used up
            reservation = await accounts.reserve(call(key, 100, 10))
            assert (await accounts.settle(reservation, 800, None)).notice == 80
            stores.clock.now = moment("2027-01-01T00:00")
            told = [(await accounts.charge(call(key, price), None)).notice for price in (799, 1, 149, 1)]
            assert told == [None, 80, None, 95], "a month begins with nothing used"
            stores.clock.now = moment("2027-02-01T00:00")
            assert (await accounts.charge(call(key, 1), None)).notice is None

    asyncio.run(body())


def test_a_bigger_plan_counts_at_once_and_a_smaller_one_next_month(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, "team", "small")
            await accounts.charge(call(key, 30), None)
            assert await accounts.change_plan("team", "pro") == 4_970
            assert await accounts.change_plan("team", "small") == 4_970
            assert await accounts.change_plan("team", "pro") == 4_970  # not granted twice
            assert await accounts.change_plan("team", "small") == 4_970
            stores.clock.now = moment("2026-12-01T00:00")
            assert await accounts.balance(key.account) == 100
            assert await accounts.charge(call(key, 1), None) == Receipt(1, 99)

    asyncio.run(body())
    assert stores.ledger()[:3] == [("grant", "100"), ("charge", "-30"), ("upgrade", "4900")]
    stores.check()


def test_a_plan_that_is_gone_is_told_and_changes_nothing(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="pro")
        stores.clock.now = moment("2026-12-01T00:00")
        async with stores.open({"small": Plan("small", 100, 0, True, None, 1)}) as accounts:
            with pytest.raises(AccountsError, match="'pro'"):
                await accounts.charge(call(key, 1), None)
        async with stores.open(PLANS) as accounts:
            assert await accounts.charge(call(key, 1), None) == Receipt(1, 4_999)

    asyncio.run(body())
    stores.check()


def test_an_account_that_does_not_exist(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            with pytest.raises(AccountsError, match="no account 12345"):
                await accounts.balance(12345)

    asyncio.run(body())
