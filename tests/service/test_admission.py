"""Places, turns and room: bounded, and fair between accounts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webanalytics.runs.backends.pipeline import InflightBytes
from webanalytics.service.admission import Admission, FairSlots
from webanalytics.service.results import Problem


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await test()

    asyncio.run(main())


def test_places_are_bounded_and_given_back() -> None:
    async def test() -> None:
        admission = Admission(3)
        async with AsyncExitStack() as stack:
            for account in (1, 2, 3):
                await stack.enter_async_context(admission.place(account))
            with pytest.raises(Problem) as refused:
                await stack.enter_async_context(admission.place(4))
            assert refused.value.status == 503
            assert refused.value.retry_after
        assert admission.taken == 0
        async with admission.place(4):
            assert admission.taken == 1

    run(test)


def test_the_number_of_places_taken_is_told() -> None:
    async def test() -> None:
        told: list[int] = []
        admission = Admission(3, on_change=told.append)
        async with admission.place(1), admission.place(2):
            pass
        assert told == [1, 2, 1, 0]

    run(test)


def test_an_account_that_holds_most_places_is_refused_before_the_others() -> None:
    async def test() -> None:
        admission = Admission(10)
        async with AsyncExitStack() as stack:
            for _ in range(6):
                await stack.enter_async_context(admission.place(1))
            with pytest.raises(Problem):
                await stack.enter_async_context(admission.place(1))
            for account in (2, 2, 3, 4):
                await stack.enter_async_context(admission.place(account))
            with pytest.raises(Problem):
                await stack.enter_async_context(admission.place(5))

    run(test)


@settings(max_examples=60)
@given(st.integers(1, 12), st.lists(st.tuples(st.integers(1, 3), st.booleans()), max_size=60))
def test_a_new_account_finds_a_place_while_any_is_free(limit: int, steps: list[tuple[int, bool]]) -> None:
    async def test() -> None:
        admission = Admission(limit)
        held: dict[int, list[AsyncExitStack]] = {1: [], 2: [], 3: []}
        for account, enter in steps:
            if enter:
                stack = AsyncExitStack()
                try:
                    await stack.enter_async_context(admission.place(account))
                except Problem:
                    assert 2 * admission.taken > limit or admission.taken == limit
                else:
                    held[account].append(stack)
            elif held[account]:
                await held[account].pop().aclose()
            assert admission.taken == sum(map(len, held.values())) <= limit
        if admission.taken < limit:
            async with admission.place(99):
                pass
        for stacks in held.values():
            for stack in stacks:
                await stack.aclose()
        assert admission.taken == 0

    run(test)


def test_accounts_get_slots_in_turn() -> None:
    async def test() -> None:
        turns, order = FairSlots(1), []

        async def work(account: int) -> None:
            async with turns.turn(account):
                order.append(account)
                await asyncio.sleep(0)

        accounts = [1, 1, 1, 1, 2, 3, 2]
        await asyncio.gather(*map(work, accounts))
        assert order == [1, 1, 2, 3, 1, 2, 1]

    run(test)


def test_an_account_holds_its_share_at_most() -> None:
    async def test() -> None:
        turns, now, most = FairSlots(None, 2), {1: 0, 2: 0}, {1: 0, 2: 0}

        async def work(account: int) -> None:
            async with turns.turn(account):
                now[account] += 1
                most[account] = max(most[account], now[account])
                await asyncio.sleep(0.001)
                now[account] -= 1

        await asyncio.gather(*(work(1 + number % 2) for number in range(20)))
        assert most == {1: 2, 2: 2}

    run(test)


def test_who_waits_too_long_is_told_so_and_who_leaves_leaves_no_trace() -> None:
    async def test() -> None:
        turns = FairSlots(1, seconds=0.05)
        async with turns.turn(1):
            leaving = asyncio.create_task(turns.turn(2).__aenter__())
            await asyncio.sleep(0)
            leaving.cancel()
            with pytest.raises(Problem) as refused:
                async with turns.turn(3):
                    pass
            assert refused.value.status == 503
        assert not turns._waiting
        async with turns.turn(4):
            pass
        assert not turns._held
        assert turns._taken == 0

    run(test)


def test_a_slot_granted_to_one_who_is_cancelled_is_given_on() -> None:
    async def test() -> None:
        turns = FairSlots(1, seconds=1)
        first = turns.turn(1)
        await first.__aenter__()
        second = asyncio.create_task(turns.turn(2).__aenter__())
        await asyncio.sleep(0)
        await first.__aexit__(None, None, None)  # the slot is the second's now, which has not run yet
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        async with turns.turn(3):
            pass
        assert turns._taken == 0

    run(test)


def test_room_holds_fetches_back_while_much_waits() -> None:
    async def test() -> None:
        room = InflightBytes(100)
        with room.hold(60):
            await room.wait()
            with room.hold(60):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(room.wait(), 0.02)
                waiting = asyncio.create_task(room.wait())
                await asyncio.sleep(0)
            await waiting
        assert room.count == 0

    run(test)


def test_accounts_in_debt_leave_slots_to_the_others() -> None:
    """Pages that hang until their deadline take half of the workers, however many accounts send them."""

    async def test() -> None:
        now = [0.0]
        turns = FairSlots(4, clock=lambda: now[0])
        hanging: set[int] = set()
        going_on = asyncio.Event()

        async def hang(account: int) -> None:
            async with turns.turn(account):
                hanging.add(account)
                await going_on.wait()

        for account in range(10):
            turns.charge(account, 15.0)
        tasks = [asyncio.create_task(hang(account)) for account in range(10)]
        await asyncio.sleep(0)
        assert len(hanging) == 2
        for _ in range(100):  # another account never waits
            async with turns.turn(77):
                pass
        async with turns.turn(77):
            now[0] = 61.0  # four seconds for each that was wasted
        await asyncio.sleep(0)
        assert len(hanging) == 4
        going_on.set()
        await asyncio.gather(*tasks)

    run(test)


def test_a_debt_has_an_end_and_one_slot_is_left_to_it() -> None:
    async def test() -> None:
        now = [0.0]
        turns = FairSlots(1, clock=lambda: now[0])
        for _ in range(1_000):
            turns.charge(1, 60.0)
        async with turns.turn(1):
            pass
        now[0] = 300.0
        assert not turns._in_debt(1)

    run(test)
