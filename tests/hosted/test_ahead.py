"""The next request is on its way while an answer is worked on; what answers teach holds for it all the same."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from typing import Any

import pytest

import webanalytics as wa
from tests.hosted.calls import sign
from tests.hosted.proxy import Fault, Proxy, Record, out_of_credits, status
from webanalytics.backends.hosted import http as exchange
from webanalytics.backends.hosted.wire import LARGE_BODY, batch_request
from webanalytics.errors import IncompleteRunWarning
from webanalytics.operations import OPERATIONS
from webanalytics.operations.secret import Secret
from webanalytics.outcomes import Job

Make = Callable[..., wa.Hosted]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note when a request begins and when an answer is read."""
    noted: list[str] = []
    once, read = exchange.Exchange._once, exchange.read_object

    async def noted_once(self: Any, *arguments: Any) -> Any:
        noted.append("sent")
        found = await once(self, *arguments)
        noted.append("come")
        return found

    def noted_read(content: bytes) -> Any:
        noted.append("read")
        return read(content)

    monkeypatch.setattr(exchange.Exchange, "_once", noted_once)
    monkeypatch.setattr(exchange, "read_object", noted_read)
    return noted


def went_ahead(steps: list[str]) -> int:
    """Return how many requests began between an answer and its reading."""
    return sum(
        steps[place : place + 2] == ["come", "sent"] and "read" in steps[place + 2 :]
        for place in range(len(steps))
    )


def test_a_request_is_sent_before_the_answer_before_it_is_read(
    proxy: Proxy, hosted: Make, steps: list[str]
) -> None:
    frame = sign(200, hosted(batch_size=10, concurrency=1))
    assert (frame["status"] == "ok").all()
    assert steps[:3] == ["sent", "come", "read"]  # nothing is sent on the word of an unknown server
    assert went_ahead(steps)
    assert proxy.at_once == 1
    assert len(proxy.requests) == 20


@pytest.mark.parametrize("options", [{"budget": 10_000}, {"store": "run"}])
def test_where_an_answer_decides_what_is_sent_it_is_read_first(
    hosted: Make, steps: list[str], tmp_path: Any, options: dict[str, Any]
) -> None:
    if "store" in options:
        options = {"store": tmp_path / "run"}
    sign(100, hosted(batch_size=10, concurrency=1), **options)
    assert not went_ahead(steps)


def test_requests_that_wait_are_made_anew_for_a_server_that_takes_fewer(proxy: Proxy, hosted: Make) -> None:
    def refuse(record: Record) -> Fault | None:
        return status(413, "") if len(record.json["inputs"]) > 10 else None

    proxy.rule(refuse)
    frame = sign(160, hosted(batch_size=40, concurrency=1))
    assert (frame["status"] == "ok").all()
    sizes = [len(record.json["inputs"]) for record in proxy.requests]
    assert sizes == [40, 20, *[10] * 16]


def test_requests_that_wait_are_not_sent_without_credits(proxy: Proxy, hosted: Make) -> None:
    proxy.plan(None, out_of_credits())
    with pytest.warns(IncompleteRunWarning, match="No credits are left"):
        frame = sign(200, hosted(batch_size=25, concurrency=1))
    assert (frame["status"] == "ok").sum() == 25
    assert len(proxy.requests) == 2


@pytest.mark.parametrize("secret", ['a "secret" of \u00e9 and \U0001f600', "\\"])
def test_a_batch_is_the_json_of_its_inputs(secret: str) -> None:
    messages = ["plain", "", 'quoted "\\" and \n\t\x00\x7f', "\u00e9\u4e2d\U0001f600\u2028", "x" * 100]
    jobs = [Job(number, message) for number, message in enumerate(messages)]
    settings = {"secret": Secret(secret.encode()), "algorithm": "sha256", "some": 1, "other": None}
    same = {**settings, "secret": secret}
    for given, told in ((settings, same), ({}, {})):
        body = batch_request(OPERATIONS["hmac"], jobs, given, "key").make_body()
        inputs = [{"message": message, **told} for message in messages]
        assert body == json.dumps({"inputs": inputs}, ensure_ascii=False).encode()


def test_a_large_batch_is_the_same_as_a_stream() -> None:
    jobs = [Job(number, "x" * 1000) for number in range(LARGE_BODY // 1000)]
    body = batch_request(OPERATIONS["hmac"], jobs, {}, "key").make_body()
    assert isinstance(body, io.BytesIO)
    assert json.loads(body.getvalue()) == {"inputs": [{"message": "x" * 1000} for _ in jobs]}


def test_a_turn_of_the_loop_carries_one_piece_of_work() -> None:
    async def main() -> list[str]:
        turns, noted = exchange.Turns(), []

        async def work(name: str) -> None:
            async with turns:
                noted.append(name)

        async def clock() -> None:
            for _ in range(8):
                noted.append("-")
                await asyncio.sleep(0)

        cancelled = asyncio.create_task(work("cancelled"))
        await asyncio.sleep(0)
        cancelled.cancel()  # in its turn: the others are let in
        await asyncio.gather(work("a"), work("b"), work("c"), clock())
        return noted

    noted = asyncio.run(main())
    assert [name for name in noted if name != "-"] == ["a", "b", "c"]
    assert all("-" in noted[noted.index(one) : noted.index(other)] for one, other in ("ab", "bc"))
