"""Many clients at once, and the process killed under them: every credit is accounted for."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import time
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.effort import BUSY_SECONDS
from tests.service import postgres
from tests.service.live import Gunicorn, Server
from tests.service.pages import RICH_PAGE
from webanalytics.fetching.testing import SiteServer

HMAC = {"message": "m", "secret": "s"}


async def ask_many(base: str, key: str, path: str, bodies: list[dict[str, Any]]) -> list[tuple[int, str]]:
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(base, connector=connector, headers={"x-api-key": key}) as session:

        async def one(body: dict[str, Any]) -> tuple[int, str]:
            async with session.post(path, json=body) as answer:
                await answer.read()
                return answer.status, answer.headers["x-api-remaining-credits"]

        return await asyncio.gather(*(one(body) for body in bodies))


def ledger(server: Server, prefix: str) -> tuple[int, int]:
    """Return an account's balance, and the sum of its ledger."""
    if server.database.startswith("postgresql"):
        name = server.database.split("/")[3].split("?")[0]
        row = postgres.running().sql(
            "SELECT balance, (SELECT sum(delta) FROM ledger WHERE ledger.account = accounts.id) FROM accounts"
            f" WHERE id = (SELECT account FROM keys WHERE prefix = '{prefix}')",
            name,
        )
        return tuple(map(int, row.split("|")))  # type: ignore[return-value]
    path = server.database.removeprefix("sqlite:///")
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        (account,) = connection.execute("SELECT account FROM keys WHERE prefix = ?", (prefix,)).fetchone()
        (balance,) = connection.execute("SELECT balance FROM accounts WHERE id = ?", (account,)).fetchone()
        (total,) = connection.execute(
            "SELECT sum(delta) FROM ledger WHERE account = ?", (account,)
        ).fetchone()
        return balance, total
    finally:
        connection.close()


def leave(server: Server, key: str, credits: int) -> None:  # noqa: A002
    """Spend all but some credits of a key on the plan starter."""
    spend = 25_000 - credits
    while spend:
        inputs = min(200, spend // 2)
        assert server.post("/v1/hmac/batch", key, inputs=[HMAC] * inputs).data["succeeded"] == inputs
        spend -= 2 * inputs


@pytest.mark.parametrize(("path", "price"), [("/v1/hmac", 2), ("/v1/websitereadability", 10)])
def test_200_clients_with_credits_for_100_calls(server: Server, path: str, price: int) -> None:
    key = server.key(plan="starter")
    leave(server, key, 100 * price)
    with SiteServer({"/": RICH_PAGE}) as site:
        body = HMAC if path == "/v1/hmac" else {"url": f"{site.url}/"}
        answers = asyncio.run(ask_many(server.base, key, path, [body] * 200))
    assert Counter(status for status, _ in answers) == {200: 100, 429: 100}
    short = {remaining for status, remaining in answers if status == 429}
    if path == "/v1/hmac":  # charged at once; credits that a page holds may still come back
        assert short == {"0"}
    assert ledger(server, key[:8]) == (0, 0)


async def load(server: Server, key: str, page: str, counts: Counter[str], stop: asyncio.Event) -> None:
    """Send calls and repeat each until it is answered, as a careful client does."""
    number = 0
    tasks = set()

    async def until_answered(index: int) -> None:
        path, body = ("/v1/hmac", HMAC) if index % 4 else ("/v1/websitereadability", {"url": page})
        headers = {"x-api-key": key, "Idempotency-Key": f"call-{index}"}
        while True:
            try:
                async with (
                    aiohttp.ClientSession(server.base, timeout=aiohttp.ClientTimeout(total=20)) as session,
                    session.post(path, json=body, headers=headers) as answer,
                ):
                    await answer.read()
                    counts[f"{path} {answer.status}"] += 1
                    if answer.status == 200:
                        return
            except (aiohttp.ClientError, TimeoutError):
                counts["lost"] += 1
            await asyncio.sleep(0.05)

    while not stop.is_set():
        while len(tasks) < 32:
            task = asyncio.create_task(until_answered(number))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            number += 1
        await asyncio.sleep(0.002)
    await asyncio.gather(*tasks)
    counts["calls"] = number


def started_again(server: Server) -> None:
    """Start until the port is free, as a service manager does: orphaned workers end within about a second."""
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            server.__enter__()
            return
        except AssertionError:
            if "must be a free port" not in server.output or time.monotonic() > end:
                raise
            time.sleep(0.2)


@pytest.mark.parametrize("kind", [Server, Gunicorn])
def test_kill_under_load(tmp_path: Path, kind: type[Server]) -> None:
    """Killed three times; afterwards what clients received, what was charged and the ledger agree."""
    names = {"ALLOW_PRIVATE": "1", "WORKERS": "1", "RESERVATION_SECONDS": "1"}
    quick = {f"WEBANALYTICS_{name}": value for name, value in names.items()}
    database = postgres.running().database() if kind is Gunicorn else ""
    counts: Counter[str] = Counter()
    with (
        SiteServer({"/": RICH_PAGE}) as site,
        kind(tmp_path, environment=quick, database=database) as server,
    ):
        key = server.key(plan="mega")
        server.port = int(server.base.rpartition(":")[2])

        async def scenario() -> None:
            stop = asyncio.Event()
            clients = asyncio.create_task(load(server, key, f"{site.url}/", counts, stop))
            for _ in range(3):
                await asyncio.sleep(1.2)
                server.process.send_signal(signal.SIGKILL)
                await asyncio.to_thread(server.process.wait)
                await asyncio.to_thread(started_again, server)
            await asyncio.sleep(0.5)
            stop.set()
            await clients

        asyncio.run(scenario())
        balance, total = ledger(server, key[:8])
        answered = counts["/v1/hmac 200"], counts["/v1/websitereadability 200"]
        print(dict(counts), "balance", balance)
        # every call was repeated until it was answered, under one Idempotency-Key: each is charged once
        assert sum(answered) == counts["calls"]
        assert counts["lost"] > 0
        assert balance == total == 2_500_000 - 2 * answered[0] - 10 * answered[1]
