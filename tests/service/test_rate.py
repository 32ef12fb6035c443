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
    assert 0 < rates[-1].retry_after <= 61
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


class Redis:
    """A Redis server of its own, which can be restarted: it forgets everything."""

    def __init__(self, folder: Path) -> None:
        pytest.importorskip("redis", reason="the extra redis is not installed")
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("redis-server is not installed")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        self._command = [program, *options]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.02)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    server = Redis(tmp_path)
    yield server
    server.stop()


def test_processes_that_share_redis_share_the_limit(redis: Redis) -> None:
    async def main() -> list[bool]:
        limiters = [RateLimiter(redis.url), RateLimiter(redis.url)]
        allowed = [(await limiters[number % 2].hit(1, 5)).allowed for number in range(8)]
        for limiter in limiters:
            await limiter.close()
        return allowed

    assert asyncio.run(main()) == [True] * 5 + [False] * 3


def test_what_others_took_is_not_counted_for_a_process(redis: Redis) -> None:
    """Requests that are refused are nobody's: when the window moves on, all may come through one process."""

    async def main() -> tuple[list[bool], Rate]:
        first, second = RateLimiter(redis.url), RateLimiter(redis.url)
        allowed = [(await first.hit(1, 4)).allowed for _ in range(4)]
        allowed += [(await second.hit(1, 4)).allowed for _ in range(6)]
        rate = await second._hit(second._own, 1, 4)
        for limiter in (first, second):
            await limiter.close()
        return allowed, rate

    allowed, rate = asyncio.run(main())
    assert allowed == [True] * 4 + [False] * 6
    assert rate.remaining == 3


@pytest.mark.parametrize("restarts", [1, 3])
def test_a_restart_of_redis_lifts_no_limit(redis: Redis, restarts: int) -> None:
    async def main() -> list[Rate]:
        limiter = RateLimiter(redis.url)
        rates = [await limiter.hit(1, 6) for _ in range(2)]
        for _ in range(restarts):
            redis.stop()
            rates.append(await limiter.hit(1, 6))
            redis.start()
            rates.append(await limiter.hit(1, 6))
        rates += [await limiter.hit(1, 6) for _ in range(6)]
        await limiter.close()
        return rates

    rates = asyncio.run(main())
    assert sum(rate.allowed for rate in rates) == 6
    assert [rate.remaining for rate in rates[:5]] == [5, 4, 3, 2, 1]
    assert rates[-1].retry_after > 30


@pytest.mark.parametrize("shared", [False, True])
def test_a_clock_that_was_set_back_refuses_nobody_until_it_is_there_again(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, shared: bool
) -> None:
    storage = request.getfixturevalue("redis").url if shared else "memory://"
    now = time.time

    async def main() -> list[Rate]:
        limiter = RateLimiter(storage)
        monkeypatch.setattr(time, "time", lambda: now() + 86_400)
        rates = [await limiter.hit(1, 5) for _ in range(6)]
        monkeypatch.setattr(time, "time", now)
        rates += [await limiter.hit(1, 5) for _ in range(6)]
        await limiter.close()
        return rates

    rates = asyncio.run(main())
    assert [rate.allowed for rate in rates] == 2 * [True, True, True, True, True, False]
    assert 0 < rates[-1].retry_after <= 61
