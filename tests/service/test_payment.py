"""Idempotency-Keys and refusals without a server: what is the same call, and what a caller is told to do."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import zlib
from datetime import UTC, datetime, timedelta, timezone

import pytest

from tests.fetching import clock
from webanalytics.core.operations.secret import Secret
from webanalytics.service.accounts.base import Conflict, Key, NoCredits
from webanalytics.service.payment import (
    PACKED_BYTES,
    HeldCredits,
    Notices,
    conflict,
    idempotency,
    next_cycle,
    no_credits,
    pack_answer,
    to_the_end,
    unpack_answer,
)
from webanalytics.service.results import Problem, Result


def fingerprint(key: str = "once", what: str = "hmac", **parameters: object) -> bytes:
    made = idempotency(key, what, parameters)
    assert made is not None
    assert made.key == key
    return made.fingerprint


def test_one_call_has_one_fingerprint_and_another_call_another() -> None:
    assert idempotency(None, "hmac", {}) is None
    # RFC 2104 over the path and the parameters in the order of their names, keyed with the Idempotency-Key
    assert fingerprint("Key", b=2, a="x") == hmac.digest(b"Key", b'["hmac",{"a":"x","b":2}]', hashlib.sha256)
    others = [
        {"a": 1},
        {"a": 2},
        {"b": 1},
        {"a": b"1"},
        {"a": b"2"},
        {"a": Secret("1x")},
        {"a": Secret("2x")},
    ]
    found = {fingerprint(**given) for given in others}
    found |= {fingerprint("other", a=1), fingerprint(what="text", a=1)}
    assert len(found) == len(others) + 2
    assert fingerprint(a=Secret("1x")) == fingerprint(a=Secret(b"1x"))
    with pytest.raises(TypeError):
        fingerprint(a=object())


@pytest.mark.parametrize(("key", "taken"), [("!", True), ("~" * 255, True), ("", False), ("a" * 256, False), ("a b", False), ("\u00e9", False), ("a\n", False)])  # fmt: skip
def test_keys_are_up_to_255_visible_characters(key: str, taken: bool) -> None:
    if taken:
        assert idempotency(key, "hmac", {}) is not None
    else:
        with pytest.raises(Problem, match="`Idempotency-Key` header must be 1 to 255 visible") as refused:
            idempotency(key, "hmac", {})
        assert refused.value.status == 400


def test_a_key_that_is_taken() -> None:
    running, other = conflict(Conflict(True, 7, 3.0)), conflict(Conflict(False, 7))
    assert (running.status, running.retry_after, list(running.headers.values())) == (409, 3.0, ["7"])
    assert "still being worked on" in running.sentence
    assert [conflict(Conflict(True, 7, seconds)).retry_after for seconds in (0.0, 1.5, 11.0)] == [1, 1.5, 10]
    assert (other.status, other.retry_after, list(other.headers.values())) == (422, None, ["7"])
    assert "used with other parameters" in other.sentence


def test_credits_that_are_spent_and_credits_that_are_held() -> None:
    spent, held = no_credits(NoCredits(4, 5), 10), no_credits(NoCredits(4, 6), 10)
    assert (spent.status, spent.retry_after, list(spent.headers.values())) == (429, None, ["0"])
    assert "costs 10, 4 are left" in spent.sentence
    assert (held.status, held.retry_after, list(held.headers.values())) == (429, 2.0, ["10"])
    assert "last 6 credits are held" in held.sentence


def test_the_next_cycle_begins_on_the_first() -> None:
    days = [datetime(2026, month, 30, tzinfo=UTC) for month in (1, 11, 12)]
    assert [next_cycle(day) for day in days] == ["2026-02-01", "2026-12-01", "2027-01-01"]
    today = datetime.now(timezone.utc)  # noqa: UP017
    assert next_cycle() in {
        (today.replace(day=1) + timedelta(days=step)).strftime("%Y-%m-01") for step in (31, 32)
    }


@pytest.mark.parametrize("size", [10, PACKED_BYTES])
def test_kept_answers_come_back_and_large_ones_are_kept_small(size: int) -> None:
    envelope = {"status": "success", "error": None, "data": {"text": "x" * size, "number": 2**70}}
    kept = asyncio.run(pack_answer(envelope))
    assert (len(kept) < size // 10) == (size == PACKED_BYTES)
    assert size < PACKED_BYTES or zlib.decompress(kept)[:1] == b"{"
    assert asyncio.run(unpack_answer(kept)) == envelope


def test_who_waits_for_credits_gets_those_that_are_given_back() -> None:
    async def body() -> None:
        enough = HeldCredits(4)
        assert await enough.take(2)
        assert await enough.take(2), "nobody waits for what is there"
        credits_held = HeldCredits(5)
        assert await credits_held.take(4)
        waiting = asyncio.create_task(credits_held.take(4))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not waiting.done()
        credits_held.give(4, used=False)
        assert await waiting
        assert credits_held.spent == 0
        credits_held.give(4, used=True)
        assert credits_held.spent == 4
        assert not await credits_held.take(2)  # one is left, and nobody has any to give back
        assert await credits_held.take(1)

    asyncio.run(asyncio.wait_for(body(), 20))


def test_a_step_is_done_to_its_end_though_its_request_is_cancelled() -> None:
    async def body() -> None:
        done: list[str] = []

        async def step() -> str:
            await asyncio.sleep(0.01)
            done.append("charged")
            return "receipt"

        task = asyncio.create_task(to_the_end(step()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert done == ["charged"]
        assert await to_the_end(step()) == "receipt"

    asyncio.run(body())


def test_an_item_of_a_batch_pays_if_it_succeeds_and_only_then() -> None:
    async def body() -> None:
        held = HeldCredits(5)

        async def fails() -> Result:
            return Result(400, failure="A sentence.")

        async def breaks() -> Result:
            raise RuntimeError

        assert await held.pay(2, 7, fails) == Result(400, failure="A sentence.")
        with pytest.raises(RuntimeError):
            await held.pay(2, 7, breaks)
        assert held.spent == 0
        assert (await held.pay(5, 7, fails)).status == 400, "all credits are there again"

        async def succeeds() -> Result:
            return Result(200, {"a": 1})

        assert await held.pay(3, 7, succeeds) == Result(200, {"a": 1})
        assert held.spent == 3
        refused = await held.pay(3, 1, succeeds)
        assert refused.status == 429
        assert "costs 3, 1 are left" in str(refused.error)
        assert held.spent == 3

    asyncio.run(asyncio.wait_for(body(), 20))


class Said:
    """What is logged."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, object]]] = []

    def warning(self, event: str, **values: object) -> None:
        self.lines.append((event, values))


@pytest.mark.parametrize(
    ("status", "tries"), [("204 No Content", 1), ("300 Choices", 4), ("302 Found", 4), ("503 Busy", 4)]
)
def test_a_notice_is_tried_four_times_with_pauses_that_double(
    status: str, tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    asked: list[bytes] = []
    bodies: list[dict[str, object]] = []
    wait, said = asyncio.sleep, Said()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await wait(0)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        size = int(re.search(rb"(?i)content-length: (\d+)", await reader.readuntil(b"\r\n\r\n"))[1])  # type: ignore[index]
        bodies.append(json.loads(await reader.readexactly(size)))
        head = f"HTTP/1.1 {status}\r\nLocation: /other\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        writer.write(head.encode())
        await writer.drain()
        writer.close()

    async def body() -> None:
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            notices = Notices(f"http://127.0.0.1:{port}/hook", said, 3.0)  # type: ignore[arg-type]
            monkeypatch.setattr("webanalytics.service.payment.asyncio.sleep", sleep)
            notices.notify(Key(1, 7, "abcdefgh", "pro"), 80, 1_000)
            assert not pauses, "nobody waits for it"
            await notices.close()
            await wait(0)
            assert not notices._tasks, "what is done is not kept"

    asyncio.run(body())
    assert asked == [b"POST /hook HTTP/1.1\r\n"] * tries
    assert [pause for pause in pauses if pause] == [3.0, 6.0, 12.0][: tries - 1]
    told = {"event": "credits", "account": 7, "plan": "pro", "percent": 80, "remaining": 1_000}
    assert bodies == [told] * tries
    assert said.lines[0] == ("credits", {"account": 7, "plan": "pro", "percent": 80, "remaining": 1_000})
    assert said.lines[1:] == ([("webhook", {"account": 7, "percent": 80})] if tries > 1 else [])


def test_a_notice_that_hangs_is_waited_for_ten_seconds_at_the_end() -> None:
    async def body() -> tuple[float, bool]:
        notices = Notices("http://a.example/hook", Said())  # type: ignore[arg-type]

        async def hangs(_: object) -> None:
            await asyncio.sleep(10_000)

        notices._post = hangs  # type: ignore[method-assign]
        notices.notify(Key(1, 7, "abcdefgh", "pro"), 80, 1_000)
        (task,) = notices._tasks
        await notices.close()
        await asyncio.sleep(0)
        return asyncio.get_running_loop().time(), task.cancelled()

    assert clock.run(body()) == (1_010.0, True)
