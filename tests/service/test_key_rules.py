"""The rules of keys and accounts to the second and the character, on a database in memory."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.account_stores import PLANS, call, moment
from tests.service.books import START, Books
from webanalytics.errors import ParameterError
from webanalytics.service.accounts import AccountsError, digest
from webanalytics.service.accounts.base import Account, Call, Conflict, Key, NoCredits, Reservation
from webanalytics.service.settings import Plan


def refused(books: Books, command: str, *arguments: Any) -> tuple[str, str | None]:
    """The sentence of a wrong call, and the parameter that it names."""
    with pytest.raises(ParameterError) as caught:
        books.do(command, *arguments)
    return str(caught.value), caught.value.parameter


def test_a_balance_is_without_what_is_held_and_of_its_own_account() -> None:
    books = Books()
    one, other = books.key("one"), books.key("other", "free")
    books.do("reserve", call(one, 30))
    assert [books.do("balance", key.account) for key in (one, other)] == [70, 1_500]
    books.now = moment("2026-12-01T00:00")
    assert [books.do("balance", key.account) for key in (one, other)] == [100, 1_500]
    with pytest.raises(AccountsError, match=r"^There is no account 9\.$"):
        books.do("balance", 9)


def test_a_key_is_found_by_the_digest_of_its_text_alone() -> None:
    books = Books()
    text, key = books.do("create_key", "a", "small", frozenset({"hmac"}), (), START + 9)
    books.key("b")
    assert books.do("find_key", digest(text.upper())) == key
    assert books.do("find_key", digest("another")) is None
    assert (key.prefix, key.plan, key.operations, key.expires) == (text[:8], "small", {"hmac"}, START + 9)


@pytest.mark.parametrize(
    ("expires", "revoked", "state"),
    [
        (None, None, "active"),
        (START, None, "expired"),
        (START + 0.5, None, "active"),
        (None, START, "revoked"),
        (START + 1, START + 0.5, "active"),
        (START, START, "revoked"),
    ],
)
def test_a_key_ends_at_its_very_moment(expires: float | None, revoked: float | None, state: str) -> None:
    assert Key(1, 1, "abcdefgh", "small", expires=expires, revoked=revoked).state(START) == state


def test_a_key_that_has_ended_is_not_rotated() -> None:
    books = Books()
    _, old = books.do("create_key", "a", None, None, (), START + 10)
    books.now += 9.5
    books.do("rotate_key", old.prefix, 0)
    said = "The `key` parameter names a key that is {}: create a new one."
    assert refused(books, "rotate_key", old.prefix, 0) == (said.format("revoked"), "key")
    _, new = books.do("create_key", "a", None, None, (), START + 10)
    books.now = START + 10
    assert refused(books, "rotate_key", new.prefix, 0) == (said.format("expired"), "key")
    for keep in (-0.5, float("nan")):
        sentence = "The `keep` parameter must be a number of seconds, 0 or more."
        assert refused(books, "rotate_key", new.prefix, keep) == (sentence, "keep")


def test_a_rotated_key_ends_with_the_first_of_its_ends() -> None:
    books = Books()
    key = books.key()
    books.key("another")
    ends = []
    for keep in (100, 200, 50):
        books.now += 1
        books.do("rotate_key", key.prefix, keep)
        ends += [end - START for (end,) in books.rows("SELECT revoked FROM keys WHERE revoked IS NOT NULL")]
    assert ends == [101, 101, 53]


def test_a_key_that_would_end_later_is_revoked_now_and_its_end_stays() -> None:
    books = Books()
    key = books.key()
    books.do("rotate_key", key.prefix, 100)
    for moment_of_call in (START + 5, START + 5, START + 50):
        books.now = moment_of_call
        assert books.do("revoke_key", key.prefix.upper()).revoked == START + 5
    assert "UPDATE" not in " ".join(books.said)
    assert books.rows("SELECT COUNT(*) FROM keys WHERE revoked IS NULL") == [(1,)]


def test_restrictions_are_those_of_one_key() -> None:
    books = Books()
    key, other = books.key("a"), books.key("b")
    restricted = books.do("restrict_key", key.prefix, frozenset({"text", "hmac"}), (), START + 3)
    assert (restricted.operations, restricted.expires) == ({"hmac", "text"}, START + 3)
    assert books.rows("SELECT operations, networks, expires FROM keys ORDER BY id") == [
        ('["hmac", "text"]', "[]", START + 3),
        (None, "[]", None),
    ]
    assert other.operations is None
    assert refused(books, "restrict_key", "none", None, (), None) == (
        "The `key` parameter must be the first 8 characters of a key that exists.",
        "key",
    )


@pytest.mark.parametrize("name", ["", " a", "a ", "a\tb", "a\x7f", "x" * 201])
def test_a_name_that_is_none(name: str) -> None:
    said = "The `account` parameter must be a name of 1 to 200 printable characters."
    assert refused(Books(), "create_key", name, None, None, (), None) == (said, "account")


@pytest.mark.parametrize("name", ["a", "a b", "x" * 200, None])
def test_a_name_that_is_one(name: str | None) -> None:
    books = Books()
    text, _ = books.do("create_key", name, None, None, (), None)
    assert books.rows("SELECT name, plan FROM accounts") == [(name or f"account-{text[:8]}", "free")]


def test_a_second_key_is_of_the_same_account_and_plan() -> None:
    books = Books()
    books.key("other", "pro")
    first = books.key("team")
    assert [books.key("team", plan).account for plan in (None, "small")] == [first.account] * 2  # type: ignore[arg-type]
    assert refused(books, "create_key", "team", "pro", None, (), None) == (
        "The `plan` parameter must be left out or small, the plan of this account.",
        "plan",
    )
    assert refused(books, "create_key", "team", "gold", None, (), None)[1] == "plan"


def test_what_a_new_account_is_granted_is_in_its_ledger() -> None:
    books = Books()
    books.key("a", "free")
    books.key("b", "small")
    assert books.rows("SELECT account, key, kind, delta, request_id, operation, at FROM ledger") == [
        (1, None, "grant", 1_000, None, None, START),
        (1, None, "bonus", 500, None, None, START),
        (2, None, "grant", 100, None, None, START),
    ]
    columns = "balance, bonus, held, cycle, allowance, granted, used, noticed, created"
    assert books.rows(f"SELECT {columns} FROM accounts") == [
        (1_500, 500, 0, "2026-11", 1_000, 1_500, 0, 0, START),
        (100, 0, 0, "2026-11", 100, 100, 0, 0, START),
    ]


def test_another_plan_is_for_one_account_and_once() -> None:
    books = Books()
    books.key("other")
    books.key("team")
    assert [books.do("change_plan", "team", plan) for plan in ("pro", "pro", "small")] == [5_000] * 3
    assert books.rows("SELECT plan, balance, allowance, granted FROM accounts") == [
        ("small", 100, 100, 100),
        ("small", 5_000, 5_000, 5_000),
    ]
    assert books.rows("SELECT account, delta FROM ledger WHERE kind = 'upgrade'") == [(2, 4_900)]
    said = "The `account` parameter must be the name of an account that exists."
    assert refused(books, "change_plan", "nobody", "pro") == (said, "account")


def test_the_list_has_every_column_of_every_key() -> None:
    books = Books()
    two, one = books.key("b", "free"), books.key("a")
    books.now += 5
    books.do("charge", call(two, 100), None)
    books.do("reserve", call(one, 30))
    rows = books.do("list_keys")
    assert [(row.key, row.account_name, row.created, row.last_used, row.credits) for row in rows] == [
        (one, "a", START, START + 5, 70),
        (two, "b", START, START + 5, 1_400),
    ]
    books.now = moment("2026-12-01T00:00")
    assert [row.credits for row in books.do("list_keys")] == [100, 1_500]


def test_readiness_is_a_write_that_changes_nothing() -> None:
    books = Books()
    before = books.rows("SELECT version FROM schema_version")
    assert books.do("ready") is True
    assert books.said[0].startswith("UPDATE ")
    assert books.rows("SELECT version FROM schema_version") == before


def test_who_has_no_credits_is_never_told_how_much_is_used() -> None:
    account = Account.opened(Plan("none", 0, 0, False, None, 1), START)
    account.charge(0)
    assert account.notice((80, 95)) is None
    account = Account.opened(PLANS["small"], START)
    assert [account.notice((80, 95)) for amount in (79, 1, 14, 1, 5) if account.charge(amount) is None] == [
        *(None, 80, None, 95, None)
    ]


def test_what_is_left_out_of_the_values() -> None:
    key = Key(1, 1, "abcdefgh", "small")
    assert Call(key, "hmac", "id", 2).inputs == 1
    assert NoCredits(3).held == 0
    assert Conflict(True, 3).seconds == 0
    assert Reservation(1, 2, 3).call is None
