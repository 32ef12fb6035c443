"""Readiness: a ledger that cannot be written makes `/readyz` say so."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.service.account_stores import Stores
from webanalytics.service.accounts import store
from webanalytics.service.accounts.keys import Commands

FULL = """CREATE TRIGGER full BEFORE UPDATE ON schema_version
BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"""
"""The disk is full: reading goes on, and every write is refused."""


def statement(text: str) -> Any:
    def command(_commands: Commands, _now: float) -> Iterator[Any]:
        yield text, ()

    return command


def test_a_ledger_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "READY_EVERY", 0.0)

    async def body() -> None:
        async with Stores("sqlite", tmp_path).open() as accounts:
            assert await accounts.ready()
            await accounts.run(statement(FULL))
            assert not await accounts.ready()
            await accounts.run(statement("DROP TRIGGER full"))
            assert await accounts.ready()

    asyncio.run(body())


def test_a_disk_without_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        async with Stores("sqlite", tmp_path).open() as accounts:
            assert await accounts.ready()
            with monkeypatch.context() as patch:
                patch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4096))
                assert not await accounts.ready()
            assert await accounts.ready()

    asyncio.run(body())


def test_asking_often_writes_seldom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "READY_EVERY", 3600.0)
    written, real = [], Commands.ready

    def ready(self: Commands, now: float) -> Any:
        written.append(now)
        return real(self, now)

    monkeypatch.setattr(Commands, "ready", ready)

    async def body() -> None:
        async with Stores("sqlite", tmp_path).open() as accounts:
            for _ in range(50):
                assert await accounts.ready()

    asyncio.run(body())
    assert len(written) == 1
