"""Killed with -9 while an answer is on its way: the answer was paid for once, and is not paid for again.

The proxy passes a request on, and keeps the service's answer back until the client is dead.
"""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.effort import PROCESS_SECONDS
from tests.runs.hosted.faults import Answer, CutError, Exchange, Fault
from tests.runs.hosted.proxy import Proxy, Record
from tests.runs.hosted.running import Account, parts, same
from tests.runs.hosted.test_resume import Killed, settled
from tests.service.live import Server

MESSAGES = [f"message {number}" for number in range(250)]
PRICE = 2
SIZE = 25
SEEDS = range(4)
"""Each starts a process and kills it; in the first test one cuts ten batches, each at its own place."""


@dataclass(frozen=True)
class KeptBack(Fault):
    """The service answers, and nobody hears of it."""

    charged: threading.Semaphore

    async def act(self, exchange: Exchange) -> None:
        await exchange.forward()
        self.charged.release()
        await asyncio.sleep(3600)
        raise CutError


@dataclass(frozen=True)
class InPart(Fault):
    """Only the first inputs of a batch reach the service; the others fail with a 500 that passes."""

    passed: int

    async def act(self, exchange: Exchange) -> None:
        record: Record = exchange.record  # type: ignore[attr-defined]
        whole = record.json["inputs"]
        record.body = json.dumps({"inputs": whole[: self.passed]}).encode()
        object.__setattr__(record, "headers", _without_length(record))
        answer = await exchange.forward()
        found = json.loads(answer.body)
        if answer.status == 200:
            failed = {"status": "error", "error": "The server failed.", "data": None, "statusCode": 500}
            found["data"]["results"] += [failed] * (len(whole) - self.passed)
        body = json.dumps(found).encode()
        headers = tuple((name, value) for name, value in answer.headers if name.lower() != "content-length")
        await Answer(answer.status, headers, body).act(exchange)


def _without_length(record: Record) -> Any:
    kept = record.headers.copy()
    kept["Content-Length"] = str(len(record.body))
    return kept


@dataclass
class Holding:
    """A rule of the proxy: once it is armed, it keeps back the answers to requests that it is asked about."""

    wanted: Callable[[Record], bool]
    otherwise: Callable[[Record], Fault | None] = lambda record: None
    armed: bool = True
    charged: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    held: int = 0

    def __call__(self, record: Record) -> Fault | None:
        if self.armed and self.wanted(record):
            self.held += 1
            return KeptBack(self.charged)
        return self.otherwise(record)


def killed_while_held(call: Killed, rule: Holding, count: int) -> None:
    """Run until the answers to so many requests are kept back, and kill."""
    process = call.start()
    for _ in range(count):
        assert rule.charged.acquire(timeout=PROCESS_SECONDS)
    assert process.poll() is None
    process.kill()
    process.wait()
    rule.armed = False


def size(record: Record) -> int:
    return len(record.json["inputs"])


@pytest.fixture
def account(server: Server) -> Account:
    return Account.new(server)


@pytest.fixture
def signing(proxy: Proxy, account: Account, tmp_path: Path) -> Callable[..., Killed]:
    def make(**arguments: Any) -> Killed:
        hosted = {"batch_size": SIZE, "concurrency": 2}
        return Killed(
            tmp_path, "hmac", MESSAGES, {"secret": "k"} | arguments, (proxy.base, account.key), hosted
        )

    return make


def finished(call: Killed, account: Account, paid: int) -> pd.DataFrame:
    frame = call.finish()
    same(frame, wa.hmac(MESSAGES, secret="k"))
    assert settled(account) == PRICE * len(MESSAGES)
    assert frame.attrs["credits"]["used"] == PRICE * len(MESSAGES) - paid
    return frame


@pytest.mark.parametrize("seed", SEEDS)
def test_a_repetition_whose_answer_was_lost(
    proxy: Proxy, account: Account, signing: Callable[..., Killed], seed: int
) -> None:
    """A part of each batch fails for the moment; their repetitions are charged, and their answers lost."""
    chance = random.Random(seed)
    shares: dict[str, int] = {}

    def in_part(record: Record) -> Fault | None:
        key = record.headers["Idempotency-Key"]
        share = shares.setdefault(key, chance.randint(1, SIZE - 1))
        return InPart(share) if size(record) == SIZE else None

    rule = Holding(lambda record: size(record) < SIZE, in_part)
    proxy.rule(rule)
    call = signing()
    killed_while_held(call, rule, 2)
    paid = settled(account)
    assert paid > PRICE * call.rows, "nothing was paid for and lost"
    finished(call, account, paid)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_batch_that_a_budget_cut(
    proxy: Proxy, account: Account, signing: Callable[..., Killed], seed: int
) -> None:
    """Batches are as large as the budget is at that moment; a later run has another one."""
    chance = random.Random(seed)
    budget = PRICE * chance.randint(3 * SIZE + 1, 5 * SIZE - 1)
    while budget % (PRICE * SIZE) == 0:
        budget += PRICE
    rule = Holding(lambda record: size(record) < SIZE)
    proxy.rule(rule)
    call = signing(budget=budget)
    killed_while_held(call, rule, 1)
    paid = settled(account)
    assert paid > PRICE * call.rows
    finished(replace(call, arguments={"secret": "k"}), account, paid)


def test_killed_again_while_it_repeats(
    proxy: Proxy, account: Account, signing: Callable[..., Killed]
) -> None:
    """What is repeated keeps its key, however often its answer is lost."""
    rule = Holding(lambda record: True)
    proxy.rule(rule)
    call = signing()
    for _ in range(3):
        rule.armed = True
        killed_while_held(call, rule, 2)
        assert settled(account) == PRICE * 2 * SIZE
        assert call.rows == 0
    assert len({record.headers["Idempotency-Key"] for record in proxy.requests}) == 2
    finished(call, account, PRICE * 2 * SIZE)


def test_a_budget_holds_for_repetitions_too(
    server: Server, proxy: Proxy, account: Account, signing: Callable[..., Killed]
) -> None:
    """What it would cost to repeat a request is not known; it may never have arrived."""
    rule = Holding(lambda record: True)
    proxy.rule(rule)
    call = signing()
    killed_while_held(call, rule, 2)
    paid = settled(account)
    backend = wa.Hosted(proxy.base, account.key, batch_size=SIZE, concurrency=2)
    with pytest.warns(wa.errors.IncompleteRunWarning):
        frame = wa.hmac(
            MESSAGES, secret="k", backend=backend, store=call.checkpoint, budget=PRICE * (SIZE - 1)
        )
    assert settled(account) <= paid + PRICE * (SIZE - 1)
    assert (frame["status"] == "error").sum() >= 2 * SIZE
    finished(call, account, settled(account))


def test_a_journal_that_is_damaged_costs_no_row(
    proxy: Proxy, account: Account, signing: Callable[..., Killed]
) -> None:
    call = signing()
    rule = Holding(lambda record: len(proxy.requests) > 4)
    proxy.rule(rule)
    killed_while_held(call, rule, 2)
    journal = call.checkpoint / "sent.jsonl"
    lines = journal.read_bytes().splitlines()
    hostile = [
        b"{",
        b"[]",
        b'{"answered": 3}',
        b'{"key": "' + b"0" * 64 + b'", "operation": "hmac"}',
        b"\xff",
    ]
    journal.write_bytes(b"\n".join([*hostile, *lines, lines[-1][:40]]))
    assert parts(call.checkpoint)
    finished(call, account, settled(account))


def test_other_inputs_than_then_are_asked_anew(
    server: Server, proxy: Proxy, account: Account, signing: Callable[..., Killed]
) -> None:
    rule = Holding(lambda record: True)
    proxy.rule(rule)
    call = signing()
    killed_while_held(call, rule, 2)
    backend = wa.Hosted(proxy.base, account.key, batch_size=SIZE)
    frame = wa.hmac(MESSAGES[10:60], secret="k", backend=backend, store=call.checkpoint)
    same(frame, wa.hmac(MESSAGES[10:60], secret="k"))
