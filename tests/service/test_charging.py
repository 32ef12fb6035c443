"""The rules of credits to the statement and the second, on a database in memory: no threads, no disk, no waiting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.service.account_stores import PLANS, call, moment
from tests.service.books import START, Books
from webanalytics.service.accounts import AccountsError
from webanalytics.service.accounts.base import Conflict, Key, NoCredits, Receipt, Replay
from webanalytics.service.accounts.keys import Commands
from webanalytics.service.accounts.schema import for_sqlite
from webanalytics.service.settings import ServiceSettings


def test_defaults_are_those_of_the_settings() -> None:
    rules, settings = Commands(PLANS), ServiceSettings({}, PLANS)
    assert rules.notices == tuple(settings.notices) == (80, 95)
    assert rules.idempotency_seconds == settings.idempotency_seconds
    assert rules.reservation_seconds == settings.reservation_seconds


@pytest.mark.parametrize(
    ("cycle", "now", "is_over"),
    [
        ("2026-11", "2026-11-01T00:00:00", False),
        ("2026-10", "2026-11-01T00:00:00", True),
        ("2026-12", "2026-11-21T05:00:00", False),
        ("2026-12", "2026-10-31T00:00:00", False),  # 31 days before
        ("2026-12", "2026-10-30T23:59:50", True),
        ("2027-11", "2026-11-21T05:00:00", True),
    ],
)
def test_a_cycle_lies_no_more_than_31_days_ahead(cycle: str, now: str, is_over: bool) -> None:
    assert Commands(PLANS).is_over(cycle, moment(now)) == is_over


def test_a_group_of_calls_is_charged_as_each_alone_would_be() -> None:
    books = Books()
    books.key("one")  # else accounts and keys had the same numbers
    one, other = books.key("one"), books.key("other")
    calls = [call(other, 10), call(one, 60), call(one, 50), call(one, 40), call(one, 1)]
    found = books.do("charge_group", calls)
    assert found == [Receipt(10, 90), Receipt(60, 40), NoCredits(40), Receipt(40, 0, 95), NoCredits(0)]
    opened = [statement.split()[0] for statement in books.said]
    assert opened == ["SELECT", "SELECT", "INSERT", "UPDATE", "UPDATE", "UPDATE", "UPDATE"], "each once"
    ledger = books.rows(
        "SELECT account, key, delta, request_id, operation, at FROM ledger WHERE kind = 'charge'"
    )
    paid = [calls[0], calls[1], calls[3]]
    assert ledger == [(c.key.account, c.key.id, -c.price, c.request_id, "hmac", START) for c in paid]
    assert books.rows("SELECT balance, used, noticed FROM accounts ORDER BY id") == [
        (0, 100, 95),
        (90, 10, 0),
    ]
    assert books.rows("SELECT last_used FROM keys ORDER BY id") == [(None,), (START,), (START,)]


def test_accounts_are_locked_in_the_order_of_their_numbers() -> None:
    books = Books()
    keys = [books.key(name) for name in "abc"]
    steps, numbers = books.rules.charge_group(books.now, [call(key, 1) for key in reversed(keys)]), []
    statement, parameters = next(steps)
    while statement.startswith("SELECT"):
        numbers += parameters
        statement, parameters = steps.send(books.rows(for_sqlite(statement).replace("?", str(parameters[0]))))
    assert numbers == sorted(key.account for key in keys)


@pytest.mark.parametrize(("count", "statements"), [(64, 1), (65, 2), (200, 4)])
def test_a_group_is_in_the_ledger_line_by_line_and_64_at_a_time(count: int, statements: int) -> None:
    books = Books()
    key = books.key(plan="pro")
    calls = [call(key, 3) for _ in range(count)]
    assert books.do("charge_group", calls)[-1] == Receipt(3, 5_000 - 3 * count, None)
    ids = books.rows("SELECT request_id FROM ledger WHERE kind = 'charge' ORDER BY id")
    assert ids == [(one.request_id,) for one in calls]
    assert books.spoke_of("ledger") == statements


def test_a_settlement_needs_nothing_of_others() -> None:
    books = Books(reservation_seconds=60.0)
    key = books.key()
    held = books.do("reserve", call(key, 60))
    books.do("reserve", call(key, 40))
    books.now += 60
    assert books.do("settle", held, 60, None) == Receipt(60, 0, None)
    assert not books.frees()


Work = Callable[[Books, Key, int], Any]


def by_charge(books: Books, key: Key, credits_needed: int) -> Any:
    return books.do("charge", call(key, credits_needed), None)


def by_group(books: Books, key: Key, credits_needed: int) -> Any:
    return books.do("charge_group", [call(key, credits_needed - 5), call(key, 5)])[-1]


def by_reserve(books: Books, key: Key, credits_needed: int) -> Any:
    return books.do("reserve", call(key, credits_needed // 5, 5))


@pytest.mark.parametrize("work", [by_charge, by_group, by_reserve])
@pytest.mark.parametrize(("needed", "freed"), [(10, False), (15, True), (90, True)])
def test_overdue_holds_are_looked_for_when_they_are_needed_and_only_then(
    work: Work, needed: int, freed: bool
) -> None:
    books = Books(reservation_seconds=60.0)
    key = books.key()
    books.do("reserve", call(key, 90))
    books.now += 60
    found = work(books, key, needed)
    assert found.remaining == (100 if freed else 10) - needed
    assert books.frees() == freed


@pytest.mark.parametrize("work", [by_charge, by_group, by_reserve])
def test_nobody_looks_for_holds_where_nothing_is_held(work: Work) -> None:
    books = Books()
    key = books.key()
    work(books, key, 500)
    assert not books.frees()


@pytest.mark.parametrize("work", [by_charge, by_group, by_reserve])
def test_the_last_use_of_a_key_is_kept_to_the_minute(work: Work) -> None:
    books = Books()
    key = books.key(plan="pro")
    seen = []
    for seconds in (0, 59, 1, 59.5, 0.5):
        books.now += seconds
        work(books, key, 10)
        seen.append(books.rows("SELECT last_used FROM keys")[0][0] - START)
    assert seen == [0, 0, 60, 60, 120]


def test_a_hold_is_stored_with_its_end_and_its_process() -> None:
    books = Books(reservation_seconds=77.0)
    key = books.key()
    one = call(key, 10, 3, again="once")
    held = books.do("reserve", one)
    assert (held.credits, held.remaining) == (30, 70)
    columns = "id, account, request_id, credits, bonus, cycle, expires, process"
    row = (held.id, key.account, one.request_id, 30, 0, "2026-11", START + 77, books.rules.process)
    assert books.rows(f"SELECT {columns} FROM reservations") == [row]
    kept = books.rows("SELECT key, fingerprint, reservation, answer, expires FROM idempotency")
    assert kept == [("once", b"same", held.id, None, START + 77)]


def test_how_long_an_earlier_sending_has_run() -> None:
    books = Books()
    key = books.key()
    books.do("reserve", call(key, 10, again="once"))
    books.now += 7
    found = books.do("charge", call(key, 10, again="once"), b"{}")
    assert found == Conflict(True, 90), "how long is no part of what it is"
    assert found.seconds == 7.0


def test_an_answer_is_kept_for_its_time_and_none_where_there_is_none() -> None:
    books = Books(idempotency_seconds=100.0)
    key = books.key()
    books.do("charge", call(key, 1, again="with"), b"{}")
    books.do("charge", call(key, 1, again="without"), None)
    books.do("charge", call(key, 1), b"{}")
    assert books.rows("SELECT key, answer, expires FROM idempotency") == [("with", b"{}", START + 100)]
    assert books.do("charge", call(key, 1, again="with"), b"{}") == Replay(b"{}", 97)


def test_a_lost_call_with_the_same_key_is_returned_first() -> None:
    books = Books(reservation_seconds=60.0)
    key = books.key()
    books.do("reserve", call(key, 10, again="once"))
    books.now += 60
    assert books.do("reserve", call(key, 10, again="once")).remaining == 90
    assert books.rows("SELECT COUNT(*) FROM reservations") == [(1,)]
    books.do("charge", call(key, 1, again="answered"), b"{}")
    books.now += books.rules.idempotency_seconds
    books.do("charge", call(key, 1, again="answered"), b"{}")
    assert not books.frees(), "an answer that is over holds nothing"


def test_a_reservation_without_its_call_is_not_settled() -> None:
    books = Books()
    held = books.do("reserve", call(books.key(), 10))
    with pytest.raises(AccountsError, match="for its own call"):
        books.do("settle", replace(held, call=None), 0, None)


def test_an_account_that_is_none_is_named() -> None:
    with pytest.raises(AccountsError, match=r"^There is no account 7\.$"):
        Books().do("charge", call(Key(1, 7, "abcdefgh", "small")), None)


def test_a_late_call_is_paid_from_other_overdue_holds_if_it_must() -> None:
    books = Books(reservation_seconds=60.0)
    key = books.key()
    late = books.do("reserve", call(key, 60))
    books.now += 50
    books.do("reserve", call(key, 40))
    books.now += 11
    assert books.do("charge", call(key, 10), None) == Receipt(10, 50)  # the late one is over by now
    books.now += 60
    assert books.do("settle", replace(late, credits=60), 50, None) == Receipt(50, 0, None)
    assert not books.frees(), "just what is left"
    later = replace(late, call=replace(late.call, request_id="another"))
    assert books.do("settle", later, 30, None) == Receipt(30, 10, 80)
    assert books.frees()
    assert books.rows("SELECT COUNT(*) FROM reservations") == [(0,)]


def test_a_late_call_frees_nothing_where_nothing_is_held() -> None:
    books = Books(reservation_seconds=60.0)
    key = books.key()
    late = books.do("reserve", call(key, 100))
    books.now += 60
    books.do("charge", call(key, 10), None)
    with pytest.raises(AccountsError, match="do not cover"):
        books.do("settle", late, 100, None)
    assert not books.frees()


def test_what_ends_with_its_month_is_entered_for_its_call() -> None:
    books = Books()
    key = books.key()
    lost = call(key, 60, again="once")
    held = books.do("reserve", lost)
    books.now = moment("2026-12-01T00:00")
    books.do("free_overdue", key.account, books.now, None)
    assert books.rows("SELECT COUNT(*) FROM reservations") == [(0,)]
    ended = books.rows(
        "SELECT account, key, delta, request_id, operation, at FROM ledger WHERE kind = 'expire'"
    )
    assert ended[-1] == (key.account, None, -60, lost.request_id, None, books.now)
    assert books.rows("SELECT balance, held FROM accounts") == [(100, 0)]
    assert books.rows("SELECT * FROM idempotency") == []
    assert held.credits == 60


def test_what_a_dead_process_held_is_free_before_its_time_and_its_keys_are_too() -> None:
    books, other = Books(), Commands(PLANS)
    key = books.key(plan="pro")
    mine = call(key, 10, again="mine")
    books.do("reserve", mine)
    books.rules, living = other, books.rules
    dead = books.do("reserve", call(key, 10, again="dead")), other.process
    assert books.do("reserve", call(key, 10, again="dead")) == Conflict(True, 4_980)
    books.rules = living
    books.do("free_overdue", key.account, books.now - 1, "nobody")
    assert books.rows("SELECT COUNT(*) FROM reservations") == [(2,)]
    books.do("free_overdue", key.account, books.now - 1, dead[1])
    assert books.rows("SELECT process FROM reservations") == [(living.process,)]
    assert books.do("reserve", call(key, 10, again="dead")).remaining == 4_980
    assert books.do("reserve", mine) == Conflict(True, 4_980)


def test_holds_of_other_accounts_are_left_alone() -> None:
    books = Books(reservation_seconds=60.0)
    keys = [books.key(name) for name in "ab"]
    for key in keys:
        books.do("reserve", call(key, 50))
    books.now += 59.5
    books.do("free_overdue", keys[0].account, books.now, None)
    assert books.rows("SELECT COUNT(*) FROM reservations") == [(2,)]
    books.now += 0.5
    books.do("free_overdue", keys[0].account, books.now, None)
    assert books.rows("SELECT account FROM reservations") == [(keys[1].account,)]
    books.do("free_overdue", keys[0].account, books.now, books.rules.process)
    assert books.rows("SELECT account FROM reservations") == [(keys[1].account,)]


def test_which_accounts_have_overdue_holds() -> None:
    books = Books(reservation_seconds=60.0)
    keys = [books.key(name) for name in "abc"]
    for key in reversed(keys):
        for _ in range(2):
            books.do("reserve", call(key, 1))
    numbers, mine = [key.account for key in keys], books.rules.process
    for until, dead, most, expected in (
        (START + 59, None, 9, []),
        (START + 59, "another", 9, []),
        (START + 60, None, 9, numbers),
        (START + 60, None, 2, numbers[:2]),
        (START, mine, 9, numbers),
    ):
        assert books.do("overdue_before", until, dead, most) == expected


def test_a_process_is_seen_to_live_until_it_is_buried() -> None:
    books, other = Books(), Commands(PLANS)
    first = books.rules
    assert [books.do("beat")[first.process] for _ in range(3)] == [1, 2, 3]
    books.rules = other
    assert books.do("beat") == {first.process: 3, other.process: 1}
    books.do("bury", first.process)
    assert books.do("beat") == {other.process: 2}


def test_answers_that_are_over_are_dropped_the_oldest_first_and_calls_under_way_never() -> None:
    books = Books(idempotency_seconds=100.0, reservation_seconds=10.0)
    key = books.key(plan="pro")
    books.do("reserve", call(key, 1, again="running"))
    for name, seconds in (("third", 3), ("first", 1), ("second", 2), ("later", 4)):
        books.now = START + seconds
        books.do("charge", call(key, 1, again=name), b"{}")
    books.now = START + 103
    kept = []
    for _ in range(4):
        books.do("prune", 1)
        kept.append({name for (name,) in books.rows("SELECT key FROM idempotency")})
    assert kept == [{"running", "later", *left} for left in (("second", "third"), ("third",), (), ())]


@pytest.mark.parametrize(
    ("day", "left"), [("2026-11-21T05:00", (400, 400)), ("2026-12-01T00:00", (1_400, 400))]
)
def test_of_a_bonus_that_was_held_what_is_not_used_comes_back(day: str, left: tuple[int, int]) -> None:
    """1,400 held are the allowance of 1,000 and 400 of the bonus of 500; of 1,100 charged, 100 are bonus."""
    books = Books()
    held = books.do("reserve", call(books.key(plan="free"), 100, 14))
    books.now = moment(day)
    books.do("settle", held, 1_100, None)
    assert books.rows("SELECT balance, bonus FROM accounts") == [left]
