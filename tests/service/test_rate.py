"""Requests a minute, in memory and in Redis."""

from __future__ import annotations

import asyncio
import math
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from webanalytics.errors import ParameterError
from webanalytics.service.admission import Rate, RateLimiter


def hits(limiter: RateLimiter, account: int, count: int, limit: int = 5) -> list[Rate]:
    async def main() -> list[Rate]:
        return [await limiter.hit(account, limit) for _ in range(count)]

    return asyncio.run(main())


def test_the_limit_is_the_limit_and_each_account_has_its_own() -> None:
    limiter = RateLimiter("memory://")
    before = time.time()
    rates = hits(limiter, 1, 7)
    assert [rate.allowed for rate in rates] == [True] * 5 + [False] * 2
    assert [rate.remaining for rate in rates] == [4, 3, 2, 1, 0, 0, 0]
    # a request may go on when the first is a minute old
    assert math.floor(before) + 60 <= rates[-1].reset <= math.ceil(time.time()) + 60
    assert 58 <= rates[-1].retry_after <= 61
    assert hits(limiter, 2, 1)[0].remaining == 4


@pytest.mark.parametrize("storage", ["nonsense", "nonsense://", "memcached://localhost", ""])
def test_a_wrong_storage_is_named(storage: str) -> None:
    with pytest.raises(ParameterError, match="`rate_limit_storage`"):
        RateLimiter(storage)


def test_without_redis_this_process_counts_by_itself(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("redis", reason="the extra redis is not installed")
    limiter = RateLimiter("redis://:a-password@127.0.0.1:9/0")
    assert [rate.allowed for rate in hits(limiter, 1, 6)] == [True] * 5 + [False]
    assert "counted here alone" in caplog.text
    assert "a-password" not in caplog.text


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    """A Redis server of its own."""
    pytest.importorskip("redis", reason="the extra redis is not installed")
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.02)
        yield f"redis://127.0.0.1:{port}/0"
        process.terminate()


def test_processes_that_share_redis_share_the_limit(redis: str) -> None:
    async def main() -> list[bool]:
        limiters = [RateLimiter(redis), RateLimiter(redis)]
        allowed = [(await limiters[number % 2].hit(1, 5)).allowed for number in range(8)]
        for limiter in limiters:
            await limiter.close()
        return allowed

    assert asyncio.run(main()) == [True] * 5 + [False] * 3
