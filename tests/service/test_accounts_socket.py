"""One process owns an SQLite file, and others work through it."""

from __future__ import annotations

import asyncio
import ipaddress
import random
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.service.account_stores import PLANS, Stores, call, new_key
from webanalytics.errors import ParameterError
from webanalytics.service.accounts import AccountsError, digest, open_accounts, ownership
from webanalytics.service.accounts.base import (
    Call,
    Conflict,
    Idempotency,
    Key,
    KeyRow,
    NoCredits,
    Receipt,
    Replay,
    Reservation,
)
from webanalytics.service.accounts.link import RemoteAccounts
from webanalytics.service.accounts.sqlite import SqliteAccounts
from webanalytics.service.accounts.wire import LENGTH, Frames, encode, frame, pack, unpack
from webanalytics.service.settings import ServiceSettings

FREE: dict[str, Any] = {"operations": None, "networks": (), "expires": None}

OTHER_PROCESS = """
import asyncio, sys
from tests.service.account_stores import PLANS, call, new_key
from webanalytics.service.accounts import open_accounts
from webanalytics.service.settings import ServiceSettings

async def main(url):
    accounts = await open_accounts(url, ServiceSettings(plans=PLANS))
    key = await new_key(accounts, "other", "small")
    await accounts.charge(call(key, 1), None)
    await accounts.reserve(call(key, 50, again="lost"))
    print("ready", flush=True)
    await asyncio.sleep(60)

asyncio.run(main(sys.argv[1]))
"""


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    stores = Stores("socket", tmp_path)
    stores.clock.now = time.time()
    return stores


def other_process(stores: Stores) -> subprocess.Popen[bytes]:
    """Another process that has charged 1 credit of 100 and holds 50."""
    command = [sys.executable, "-c", OTHER_PROCESS, stores.url]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout
    return process


async def opened(stores: Stores, **options: Any) -> Any:
    return await open_accounts(stores.url, ServiceSettings(plans=PLANS), clock=stores.clock, **options)


def test_the_second_works_through_the_first(stores: Stores) -> None:
    async def body() -> None:
        owner = await opened(stores, owner=True)
        client = await opened(stores)
        assert (type(owner), type(client)) == (SqliteAccounts, RemoteAccounts)
        with pytest.raises(AccountsError, match="in use"):
            await opened(stores, owner=True, wait=0.1)
        link = stores.file.with_name("link.db")
        link.symlink_to(stores.file)
        with pytest.raises(AccountsError, match="in use"):
            await open_accounts(f"sqlite:///{link}", ServiceSettings(), owner=True, wait=0.0)
        mode = stores.file.with_name("accounts.db.socket").stat().st_mode
        assert stat.S_ISSOCK(mode)
        assert mode & 0o777 == 0o600
        await client.close()
        await owner.close()
        with pytest.raises(AccountsError, match="closed"):
            await owner.ready() or await owner.balance(1)
        with pytest.raises(AccountsError, match="closed"):
            await client.balance(1)
        left = {path.name for path in stores.file.parent.iterdir()}
        assert left == {"accounts.db", "accounts.db.lock", "link.db"}

    asyncio.run(body())


def test_every_process_sees_a_change_at_once(stores: Stores) -> None:
    async def body() -> None:
        everyone = [await opened(stores) for _ in range(3)]
        for changing in everyone:
            text, key = await everyone[0].create_key(account="team", plan=None, **FREE)
            for accounts in everyone * 2:
                assert await accounts.find_key(digest(text)) == key
            restricted = await changing.restrict_key(key.prefix, **{**FREE, "expires": 5.0})
            for accounts in everyone:
                assert await accounts.find_key(digest(text)) == restricted
            revoked = await changing.revoke_key(key.prefix)
            for accounts in everyone:
                assert await accounts.find_key(digest(text)) == revoked
        for accounts in reversed(everyone):
            await accounts.close()

    asyncio.run(body())


def test_a_server_waits_for_a_command_to_end(stores: Stores) -> None:
    async def body() -> None:
        first = await opened(stores)
        second = asyncio.create_task(opened(stores, owner=True, wait=5.0))
        await asyncio.sleep(0.1)
        assert not second.done()
        await first.close()
        await (await second).close()

    asyncio.run(body())


def test_what_a_killed_process_held_is_returned(stores: Stores) -> None:
    async def body() -> None:
        owner = await opened(stores, owner=True)
        process = other_process(stores)
        assert process.stdout
        with process:
            await asyncio.to_thread(process.stdout.readline)
            key = (await owner.list_keys())[0].key
            assert await owner.balance(key.account) == 49
            assert await owner.reserve(call(key, 50, again="lost")) == Conflict(True, 49)
            process.kill()
        for _ in range(100):
            if await owner.balance(key.account) == 99:
                break
            await asyncio.sleep(0.02)
        reservation = await owner.reserve(call(key, 50, again="lost"))
        assert reservation.remaining == 49
        await owner.settle(reservation, 0, None)
        await owner.close()

    asyncio.run(body())
    stores.check()


def test_the_owner_is_killed_and_another_takes_its_place(stores: Stores) -> None:
    async def body() -> None:
        process = other_process(stores)
        assert process.stdout
        with process:
            await asyncio.to_thread(process.stdout.readline)
            client = await opened(stores)
            assert isinstance(client, RemoteAccounts)
            text, key = await client.create_key(account="other", plan=None, **FREE)
            assert await client.find_key(digest(text)) == key
            process.send_signal(19)  # it stops, so that calls are under way when it is killed
            waiting = [asyncio.create_task(client.charge(call(key, 1), None)) for _ in range(5)]
            await asyncio.sleep(0.05)
            process.kill()
            results = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(result) for result in results] == [AccountsError] * 5
        assert not await client.ready()
        with pytest.raises(AccountsError, match="has ended"):
            await client.find_key(digest(text))
        assert stores.file.with_name("accounts.db.socket").exists()
        owner = await opened(stores, owner=True)  # over the stale socket
        assert await owner.balance(key.account) == 99
        assert await client.ready()  # it found the new owner
        assert await client.charge(call(key, 1), None) == Receipt(1, 98)
        await client.close()
        await owner.close()

    asyncio.run(body())
    stores.check()


def test_a_file_far_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = Path(tempfile.mkdtemp(prefix="t"))  # short, whatever the path of pytest's own folder
    monkeypatch.setattr(ownership.tempfile, "gettempdir", lambda: str(temporary))
    folder = tmp_path / ("deep" * 20) / ("deeper" * 20)
    folder.mkdir(parents=True)
    stores = Stores("socket", folder)

    def look() -> Path:
        (private,) = temporary.iterdir()
        assert private.stat().st_mode & 0o777 == 0o700
        assert len(list(private.iterdir())) == 1
        return private

    async def body() -> None:
        async with stores.open() as accounts:
            assert await accounts.ready()
            assert isinstance(accounts, RemoteAccounts)
            private = look()
        private.chmod(0o755)
        with pytest.raises(AccountsError, match="this user alone"):
            await opened(stores)
        private.rmdir()
        private.symlink_to(folder)
        with pytest.raises(AccountsError, match="this user alone"):
            await opened(stores)

    try:
        asyncio.run(body())
    finally:
        shutil.rmtree(temporary)


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        LENGTH.pack(2**32 - 1),
        LENGTH.pack(3) + b"[[[",
        LENGTH.pack(4) + b"null",
        frame([b"null"]),
        frame([encode([])]),
        frame([encode([0])]),
        frame([encode([1, "charge"])]),
        frame([encode([1, "charge", ["Call"], None])]),
        frame([encode([1, "settle", ["os.system", "x"]])]),
        frame([encode([1, "settle", 1, 2, 3])]),
        frame([encode([1, "free_overdue", 1, 1e300])]),
        frame([encode([1, "__init__", {}])]),
        frame([encode([1, "balance", "x"]), encode([1, "create_key", 1, 2, 3, 4, 5])]),
        random.Random(3).randbytes(1_000),
    ],
)
def test_nonsense_on_the_socket_harms_nobody(stores: Stores, sent: bytes) -> None:
    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts, plan="small")
            path = str(stores.file.with_name("accounts.db.socket"))
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(sent)
            writer.write_eof()
            answer = await asyncio.wait_for(reader.read(), 5)
            writer.close()
            await writer.wait_closed()
            for message in Frames().feed(answer):
                assert isinstance(unpack(message[1]), AccountsError)
            assert await accounts.charge(call(key, 1), None) == Receipt(1, 99)

    asyncio.run(body())


def test_only_the_owner_listens(stores: Stores) -> None:
    path = stores.file.with_name("x.socket")
    path.write_text("something else")
    listening = ownership.listen(path)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    listening.close()


# -- values on the wire -----------------------------------------------------------------------------

INTEGERS = st.integers(-(2**53), 2**53)
TEXT = st.text(max_size=20)
TIMES = st.none() | st.floats(allow_nan=False)
NETWORKS = st.builds(ipaddress.ip_network, st.ip_addresses())
KEYS = st.builds(
    Key,
    INTEGERS,
    INTEGERS,
    TEXT,
    TEXT,
    st.none() | st.frozensets(TEXT, max_size=3),
    st.lists(NETWORKS, max_size=3).map(tuple),
    TIMES,
    TIMES,
)
CALLS = st.builds(
    Call, KEYS, TEXT, TEXT, INTEGERS, INTEGERS, st.none() | st.builds(Idempotency, TEXT, st.binary())
)
VALUES = st.one_of(
    KEYS,
    CALLS,
    st.builds(KeyRow, KEYS, TEXT, st.floats(allow_nan=False), TIMES, INTEGERS),
    st.builds(Reservation, INTEGERS, INTEGERS, INTEGERS, CALLS),
    st.builds(Receipt, INTEGERS, INTEGERS, st.none() | INTEGERS),
    st.builds(Replay, st.binary(), INTEGERS),
    st.builds(NoCredits, INTEGERS, INTEGERS),
    st.builds(Conflict, st.booleans(), INTEGERS),
    st.tuples(TEXT, KEYS),
    st.lists(KEYS, max_size=2),
    st.booleans(),
)


@given(st.lists(VALUES, max_size=5), st.integers(1, 50))
def test_values_travel_unchanged_in_any_pieces(values: list[Any], size: int) -> None:
    stream = b"".join(frame([encode([number, pack(value)])]) for number, value in enumerate(values))
    frames, messages = Frames(), []
    for start in range(0, len(stream), size):
        messages += frames.feed(stream[start : start + size])
    assert [unpack(message[1]) for message in messages] == values
    assert [type(unpack(message[1])) for message in messages] == [type(value) for value in values]


def test_errors_travel_as_what_they_are() -> None:
    error = unpack(orjson.loads(orjson.dumps(pack(ParameterError("The `plan` parameter.", "plan")))))
    assert (type(error), str(error), error.parameter) == (ParameterError, "The `plan` parameter.", "plan")
    error = unpack(orjson.loads(orjson.dumps(pack(AccountsError("Full.")))))
    assert (type(error), str(error)) == (AccountsError, "Full.")
