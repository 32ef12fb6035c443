"""What many requests share: a commit, a write of the log, a page of the ledger's index."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from tests.service.account_stores import Stores, call, new_key
from webanalytics.service import headers
from webanalytics.service.accounts.base import Receipt
from webanalytics.service.accounts.writer import Writer
from webanalytics.service.headers import new_request_id


def test_calls_of_one_turn_of_the_loop_share_one_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = Stores("sqlite", tmp_path)
    sizes: list[int] = []
    run_group: Callable[..., None] = Writer._run_group

    def counting(writer: Writer, jobs: Sequence[Any]) -> None:
        sizes.append(len(jobs))
        run_group(writer, jobs)

    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts)
            monkeypatch.setattr(Writer, "_run_group", counting)
            receipts = await asyncio.gather(*(accounts.charge(call(key), None) for _ in range(40)))
            assert {type(receipt) for receipt in receipts} == {Receipt}
            assert sizes == [40]

    asyncio.run(body())
    stores.check()


def test_a_call_of_the_last_turn_is_charged_before_the_accounts_close(tmp_path: Path) -> None:
    stores = Stores("sqlite", tmp_path)

    async def body() -> None:
        async with stores.open() as accounts:
            key = await new_key(accounts)
            charging = asyncio.ensure_future(accounts.charge(call(key, 7), None))
            await asyncio.sleep(0)
        assert isinstance(await charging, Receipt)

    asyncio.run(body())
    stores.check()
    assert ("charge", "-7") in stores.ledger()


def test_identifiers_of_requests_come_in_the_order_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    began = 1_790_000_000_123
    moments = iter(range(began, began + 100))
    monkeypatch.setattr(headers, "time", SimpleNamespace(time_ns=lambda: next(moments) * 1_000_000))
    found = [new_request_id() for _ in range(100)]
    assert found == sorted(found)
    assert len(set(found)) == 100
    assert {(UUID(each).version, UUID(each).variant) for each in found} == {(7, "specified in RFC 4122")}
    assert int(UUID(found[0])) >> 80 == began


def test_the_ledgers_index_grows_at_its_end(tmp_path: Path) -> None:
    """Each charge would else rewrite a page of the index somewhere."""
    stores = Stores("sqlite", tmp_path)

    async def body() -> None:
        async with stores.open() as accounts:
            await new_key(accounts)

    asyncio.run(body())
    connection = sqlite3.connect(stores.file)
    row = "INSERT INTO ledger (account, kind, delta, request_id, at) VALUES (1, 'charge', 0, ?, 0)"
    connection.executemany(row, ((new_request_id(),) for _ in range(20_000)))
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.executemany(row, ((new_request_id(),) for _ in range(100)))
    connection.commit()
    _, pages, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    connection.close()
    assert pages < 30
