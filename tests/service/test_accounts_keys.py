"""Keys: made, found, listed, rotated, revoked and restricted, the same in every store."""

from __future__ import annotations

import asyncio
import hashlib
import re
import uuid
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from tests.service.account_stores import KINDS, Stores, call, moment, new_key
from webanalytics.errors import ParameterError
from webanalytics.service.accounts import digest, keys
from webanalytics.service.accounts.base import Receipt

RESTRICTED: dict[str, Any] = {
    "operations": frozenset({"hmac", "phone"}),
    "networks": (ip_network("192.0.2.0/24"), ip_network("2001:db8::/32")),
    "expires": moment("2027-01-01T00:00"),
}
FREE: dict[str, Any] = {"operations": None, "networks": (), "expires": None}


@pytest.fixture(params=KINDS)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Stores:
    return Stores(request.param, tmp_path)


def test_the_digest_is_sha256_of_the_lower_case_key() -> None:
    key = "F47AC10B-58CC-4372-A567-0E02B2C3D479"
    assert digest(key) == hashlib.sha256(b"f47ac10b-58cc-4372-a567-0e02b2c3d479").digest()


def test_a_key_is_shown_once_and_found_by_its_digest(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            text, key = await accounts.create_key(account="team", plan="pro", **RESTRICTED)
            parsed = uuid.UUID(text)
            assert (parsed.version, str(parsed)) == (4, text)
            assert key.prefix == text[:8]
            assert key.plan == "pro"
            assert {name: getattr(key, name) for name in RESTRICTED} == RESTRICTED
            assert key.revoked is None
            for _ in range(2):  # the second time from memory
                assert await accounts.find_key(digest(text.upper())) == key
            assert await accounts.find_key(digest(str(uuid.uuid4()))) is None
            secret = text[9:]
        if stores.kind != "postgresql":
            stored = b"".join(file.read_bytes() for file in stores.file.parent.iterdir())
            assert text[:8].encode() in stored
            assert secret.encode() not in stored
        async with stores.open() as accounts:
            assert await accounts.find_key(digest(text)) == key

    asyncio.run(body())


def test_an_account_may_have_many_keys(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            first = await new_key(accounts, "team", "small")
            second = await new_key(accounts, "team")
            third = await new_key(accounts, "team", "small")
            assert first.account == second.account == third.account
            with pytest.raises(ParameterError, match=r"left out or small") as caught:
                await new_key(accounts, "team", "pro")
            assert caught.value.parameter == "plan"
            assert await accounts.charge(call(first, 60), None) == Receipt(60, 40)
            assert await accounts.charge(call(second, 30), None) == Receipt(30, 10, 80)

    asyncio.run(body())
    assert stores.ledger() == [("grant", "100"), ("charge", "-60"), ("charge", "-30")]


def test_accounts_without_a_name_get_one_and_the_first_plan(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            first, second = await new_key(accounts), await new_key(accounts)
            assert first.account != second.account
            assert first.plan == "free"
            names = [row.account_name for row in await accounts.list_keys()]
            assert sorted(names) == sorted(f"account-{key.prefix}" for key in (first, second))

    asyncio.run(body())


@pytest.mark.parametrize("name", ["", " team", "team\n", "a\0b", "x" * 201])
def test_names_that_are_none(stores: Stores, name: str) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            with pytest.raises(ParameterError, match="`account`"):
                await new_key(accounts, name)
            assert await accounts.list_keys() == []

    asyncio.run(body())


def test_the_list_of_keys(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            created = stores.clock.now
            one = await new_key(accounts, "b")
            other = await new_key(accounts, "a", "small")
            third = await new_key(accounts, "b")
            stores.clock.now += 3_600
            await accounts.charge(call(one, 600), None)
            reservation = await accounts.reserve(call(other, 10))
            rows = await accounts.list_keys()
            assert [(row.account_name, row.key) for row in rows] == [("a", other), ("b", one), ("b", third)]
            assert [row.credits for row in rows] == [90, 900, 900]
            assert [row.created for row in rows] == [created] * 3
            assert [row.last_used for row in rows] == [created + 3_600, created + 3_600, None]
            await accounts.settle(reservation, 0, None)
            stores.clock.now = moment("2026-12-01T00:00")
            assert [row.credits for row in await accounts.list_keys()] == [100, 1_500, 1_500]

    asyncio.run(body())


def test_rotation_leaves_the_old_key_for_a_while(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            old_text, old = await accounts.create_key(account="team", plan="pro", **RESTRICTED)
            assert await accounts.find_key(digest(old_text)) == old
            text, new = await accounts.rotate_key(old.prefix.upper(), 3_600.0)
            assert new.account == old.account
            assert {name: getattr(new, name) for name in RESTRICTED} == RESTRICTED
            assert await accounts.find_key(digest(text)) == new
            found = await accounts.find_key(digest(old_text))
            assert found.revoked == stores.clock.now + 3_600
            # Rotating again does not make the old one live longer.
            await accounts.rotate_key(old.prefix, 7_200.0)
            found = await accounts.find_key(digest(old_text))
            assert found.revoked == stores.clock.now + 3_600
            await accounts.rotate_key(old.prefix, 0.0)
            with pytest.raises(ParameterError, match="revoked"):
                await accounts.rotate_key(old.prefix, 0.0)
            for keep in (-1.0, float("nan")):
                with pytest.raises(ParameterError, match="`keep`"):
                    await accounts.rotate_key(new.prefix, keep)
            stores.clock.now = RESTRICTED["expires"]
            with pytest.raises(ParameterError, match="expired"):
                await accounts.rotate_key(new.prefix, 0.0)

    asyncio.run(body())


def test_a_key_is_revoked_at_once_and_for_ever(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            text, key = await accounts.create_key(account=None, plan=None, **FREE)
            assert (await accounts.find_key(digest(text))).revoked is None
            revoked = await accounts.revoke_key(key.prefix)
            assert revoked.revoked == stores.clock.now
            assert await accounts.find_key(digest(text)) == revoked
            stores.clock.now += 10
            assert await accounts.revoke_key(key.prefix) == revoked
            await accounts.restrict_key(key.prefix, **FREE)
            assert (await accounts.find_key(digest(text))).revoked == revoked.revoked

    asyncio.run(body())


def test_restrictions_are_replaced(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            text, key = await accounts.create_key(account=None, plan=None, **FREE)
            await accounts.find_key(digest(text))
            for restrictions in (RESTRICTED, {**FREE, "operations": frozenset()}, FREE):
                restricted = await accounts.restrict_key(key.prefix, **restrictions)
                assert {name: getattr(restricted, name) for name in restrictions} == restrictions
                assert await accounts.find_key(digest(text)) == restricted

    asyncio.run(body())


def test_a_change_of_plan_shows_in_the_keys(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            text, _ = await accounts.create_key(account="team", plan="small", **FREE)
            assert (await accounts.find_key(digest(text))).plan == "small"
            await accounts.change_plan("team", "pro")
            assert (await accounts.find_key(digest(text))).plan == "pro"
            with pytest.raises(ParameterError, match="`account`"):
                await accounts.change_plan("nobody", "pro")

    asyncio.run(body())


def test_what_does_not_exist_is_named(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            for attempt in (
                lambda: accounts.rotate_key("deadbeef", 0.0),
                lambda: accounts.revoke_key("deadbeef"),
                lambda: accounts.restrict_key("deadbeef", **FREE),
            ):
                with pytest.raises(ParameterError, match="`key`") as caught:
                    await attempt()
                assert caught.value.parameter == "key"
            for attempt in (
                lambda: new_key(accounts, plan="gold"),
                lambda: accounts.change_plan("team", "gold"),
            ):
                with pytest.raises(ParameterError, match=re.escape("one of: free, small, pro")) as caught:
                    await attempt()
                assert caught.value.parameter == "plan"

    asyncio.run(body())


def test_a_prefix_names_one_key(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = "aaaaaaaa-58cc-4372-a567-0e02b2c3d479"
    drawn = [taken, "aaaaaaaa-0000-4000-8000-000000000000", "bbbbbbbb-0000-4000-8000-000000000000"]

    async def body() -> None:
        async with stores.open() as accounts:
            monkeypatch.setattr(keys.uuid, "uuid4", lambda: drawn.pop(0))
            assert [(await new_key(accounts)).prefix for _ in range(2)] == ["aaaaaaaa", "bbbbbbbb"]

    asyncio.run(body())


def test_one_name_created_by_many_at_once_is_one_account(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            made = await asyncio.gather(*[new_key(accounts, "team") for _ in range(4)])
            assert len({key.account for key in made}) == 1
            assert len({key.prefix for key in made}) == 4

    asyncio.run(body())
    assert stores.ledger() == [("grant", "1000"), ("bonus", "500")]


def test_unknown_keys_do_not_fill_the_memory(stores: Stores) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            for number in range(100):
                assert await accounts.find_key(digest(str(number))) is None
            cache = getattr(accounts, "_keys", None)
            assert cache is None or not cache._keys

    asyncio.run(body())
