"""An SQLite file: one server has it, and commands that change keys open it beside that."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.service.account_stores import PLANS, Stores, call, new_key
from webanalytics.service.accounts import AccountsError, digest, open_accounts
from webanalytics.service.accounts.base import Key, Receipt
from webanalytics.service.accounts.store import Accounts
from webanalytics.service.settings import ServiceSettings

FREE: dict[str, Any] = {"operations": None, "networks": (), "expires": None}

OTHER_SERVER = """
import asyncio, sys
from tests.service.account_stores import PLANS, call, new_key
from webanalytics.service.accounts import open_accounts
from webanalytics.service.settings import ServiceSettings

async def main(url):
    accounts = await open_accounts(url, ServiceSettings(plans=PLANS), server=True)
    key = await new_key(accounts, "other", "small")
    await accounts.charge(call(key, 1), None)
    await accounts.reserve(call(key, 50, again="lost"))
    print("ready", flush=True)
    await asyncio.sleep(60)

asyncio.run(main(sys.argv[1]))
"""

CHANGES = """
import asyncio, sys
from tests.service.account_stores import PLANS
from webanalytics.service.accounts import open_accounts
from webanalytics.service.settings import ServiceSettings

FREE = {"operations": None, "networks": (), "expires": None}

async def main(url):
    for number in range(20):
        accounts = await open_accounts(url, ServiceSettings(plans=PLANS))
        _, key = await accounts.create_key(account=f"a{number}", plan="small", **FREE)
        await accounts.revoke_key(key.prefix)
        await accounts.close()

asyncio.run(main(sys.argv[1]))
"""


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    stores = Stores("sqlite", tmp_path)
    stores.clock.now = time.time()
    return stores


def process(stores: Stores, code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code, stores.url], stdout=subprocess.PIPE)


async def opened(stores: Stores, **options: Any) -> Any:
    return await open_accounts(stores.url, ServiceSettings(plans=PLANS), clock=stores.clock, **options)


def test_a_second_server_is_refused_with_a_sentence(stores: Stores) -> None:
    async def body() -> None:
        first = await opened(stores, server=True)
        with pytest.raises(AccountsError, match=r"another server; .* need PostgreSQL"):
            await opened(stores, server=True, wait=0.1)
        link = stores.file.with_name("link.db")
        link.symlink_to(stores.file)
        with pytest.raises(AccountsError, match="another server"):
            await open_accounts(f"sqlite:///{link}", ServiceSettings(), server=True, wait=0.0)
        await first.close()
        with pytest.raises(AccountsError, match="closed"):
            await first.balance(1)
        assert not await first.ready()
        left = {path.name for path in stores.file.parent.iterdir()}
        assert left == {"accounts.db", "accounts.db.lock", "accounts.db.turn", "link.db"}
        await (await opened(stores, server=True, wait=0.0)).close()

    asyncio.run(body())


def test_a_server_waits_for_the_last_one_to_end(stores: Stores) -> None:
    async def body() -> None:
        first = await opened(stores, server=True)
        second = asyncio.create_task(opened(stores, server=True, wait=10.0))
        await asyncio.sleep(0.1)
        assert not second.done()
        await first.close()
        await (await second).close()

    asyncio.run(body())


def test_a_change_is_known_to_a_server_that_is_never_idle(stores: Stores) -> None:
    async def charging(server: Accounts, key: Key) -> None:
        while True:
            await server.charge(call(key, 1), None)

    async def body() -> None:
        server = await opened(stores, server=True)
        beside = await opened(stores)
        text, key = await beside.create_key(account="team", plan=None, **FREE)
        assert await server.find_key(digest(text)) == key
        busy = [asyncio.create_task(charging(server, key)) for _ in range(3)]
        revoked = await beside.revoke_key(key.prefix)
        assert await server.find_key(digest(text)) == revoked
        for task in busy:
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)
        await beside.close()
        await server.close()

    asyncio.run(body())
    stores.check()


def test_a_change_beside_a_server_is_known_to_it_when_the_command_returns(stores: Stores) -> None:
    async def body() -> None:
        server = await opened(stores, server=True)
        beside = await opened(stores)
        text, key = await beside.create_key(account="team", plan=None, **FREE)
        for _ in range(2):  # the second time from memory
            assert await server.find_key(digest(text)) == key
        for changing in (beside, server):
            restricted = await changing.restrict_key(key.prefix, **{**FREE, "expires": 5.0})
            assert await server.find_key(digest(text)) == restricted
            assert await beside.find_key(digest(text)) == restricted
        revoked = await beside.revoke_key(key.prefix)
        assert await server.find_key(digest(text)) == revoked
        await beside.close()
        assert await server.charge(call(key, 1), None) == Receipt(1, 1_499)
        await server.close()

    asyncio.run(body())
    stores.check()


def test_a_warm_key_costs_no_query(stores: Stores) -> None:
    async def body() -> None:
        server = await opened(stores, server=True)
        text, key = await server.create_key(account="team", plan=None, **FREE)
        other = await new_key(server, plan="pro")
        await server.find_key(digest(text))
        for _ in range(3):
            await server.charge(call(other, 1), None)  # our own commits do not clear the memory
        await asyncio.sleep(0.3)
        submitted: list[Any] = []
        server._writer.submit = lambda *command: submitted.append(command)
        assert await server.find_key(digest(text)) == key
        assert submitted == []
        del server._writer.submit
        await server.close()

    asyncio.run(body())


def test_commands_beside_a_server_under_load_keep_the_books_exact(stores: Stores) -> None:
    async def body() -> None:
        server = await opened(stores, server=True)
        key = await new_key(server, plan="pro")
        with process(stores, CHANGES) as changes:
            charged = 0
            while changes.poll() is None:
                receipts = await asyncio.gather(*[server.charge(call(key, 1), None) for _ in range(10)])
                assert all(isinstance(receipt, Receipt) for receipt in receipts)
                charged += 10
                await asyncio.sleep(0.02)
            assert changes.returncode == 0
        assert await server.balance(key.account) == 5_000 - charged
        assert len(await server.list_keys()) == 21
        await server.close()

    asyncio.run(body())
    stores.check()


def test_what_a_killed_server_held_is_returned_by_the_next(stores: Stores) -> None:
    async def body() -> None:
        with process(stores, OTHER_SERVER) as other:
            assert other.stdout
            await asyncio.to_thread(other.stdout.readline)
            beside = await opened(stores)
            key = (await beside.list_keys())[0].key
            assert await beside.balance(key.account) == 49
            other.kill()
        await beside.close()
        beside = await opened(stores)
        assert await beside.balance(key.account) == 49, "a command releases nothing"
        await beside.close()
        server = await opened(stores, server=True)
        assert await server.balance(key.account) == 99
        reservation = await server.reserve(call(key, 50, again="lost"))
        assert reservation.remaining == 49
        await server.settle(reservation, 0, None)
        await server.close()

    asyncio.run(body())
    stores.check()


def test_a_command_that_stops_while_it_writes_holds_nobody_up_for_ever(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    from webanalytics.service.accounts import writer

    monkeypatch.setattr(writer, "BUSY_SECONDS", 0.3)
    holding = f"import fcntl, time; f = open({str(stores.file) + '.turn'!r}, 'a'); fcntl.flock(f, 2); print(flush=True); time.sleep(60)"

    async def body() -> None:
        server = await opened(stores, server=True)
        key = await new_key(server, plan="small")
        with process(stores, holding) as stuck:
            assert stuck.stdout
            await asyncio.to_thread(stuck.stdout.readline)
            with pytest.raises(AccountsError, match="busy"):
                await server.charge(call(key, 1), None)
            stuck.send_signal(signal.SIGKILL)
        assert await server.charge(call(key, 1), None) == Receipt(1, 99)
        await server.close()

    asyncio.run(body())
    stores.check()
