"""Fetches from hosts in trouble, by a clock that jumps: what a server answers is made up, nothing is sent."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from multidict import CIMultiDict
from yarl import URL

from tests.fetching import clock
from webanalytics.fetching import Fetcher, FetchError, FetchSettings, fetcher
from webanalytics.fetching.exchange import RawResponse
from webanalytics.fetching.response import Problem

Behaviour = Callable[[URL, float], Any]


class World:
    """Hosts that behave as told; remembers who was asked when."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **hosts: Behaviour) -> None:
        self.hosts = hosts
        self.asked: list[tuple[str, float]] = []
        self.now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        monkeypatch.setattr(fetcher, "exchange", self.exchange)

    async def exchange(
        self, session: Any, url: URL, wanted: Any, settings: Any, seconds: float, log: Any
    ) -> RawResponse:
        host = str(url.raw_host).partition(".")[0]
        self.asked.append((host, asyncio.get_running_loop().time() - 1000.0))
        self.now[host] += 1
        self.most[host] = max(self.most[host], self.now[host])
        try:
            took, problem = self.hosts[host](url, self.asked[-1][1])
            await asyncio.sleep(min(took, seconds))
            if took > seconds:
                raise Problem("timeout", seconds=f"{settings.timeout:g}")
            if isinstance(problem, RawResponse):
                return problem
            if problem is not None:
                raise problem
        finally:
            self.now[host] -= 1
        return RawResponse(200, CIMultiDict(), b"<title>ok</title>")

    def fetch(self, urls: list[str], **changes: Any) -> tuple[list[Any], float, list[dict[str, Any]]]:
        """Results, seconds until each came and rows of hosts."""

        async def main() -> Any:
            loop = asyncio.get_running_loop()
            async with Fetcher(FetchSettings(**{"robots": False, **changes}), names=Nobody()) as fetcher:

                async def one(url: str) -> tuple[Any, float]:
                    try:
                        found: Any = await fetcher.fetch(url)
                    except FetchError as error:
                        found = error
                    return found, loop.time() - 1000.0

                return await asyncio.gather(*map(one, urls)), fetcher.hosts()

        answers, hosts = clock.run(main())
        return [found for found, _ in answers], [at for _, at in answers], hosts


class Nobody:
    async def resolve(self, *_: Any, **__: Any) -> Any:
        raise OSError

    async def close(self) -> None:
        pass


def fine(url: URL, now: float) -> tuple[float, None]:
    return 0.1, None


def busy(status: int = 429, wait: float | None = None) -> Behaviour:
    return lambda url, now: (
        0.1,
        Problem("status", status=status, again=True, retry_after=wait, http_status=status),
    )


def hanging(url: URL, now: float) -> tuple[float, None]:
    return 1e9, None


def urls(host: str, count: int) -> list[str]:
    return [f"https://{host}.example/{number}" for number in range(count)]


def keys(found: list[Any]) -> Counter[str]:
    return Counter(error.key if isinstance(error, FetchError) else "ok" for error in found)


def test_two_thousand_pages_of_a_host_that_asks_for_a_minute_each_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world = World(monkeypatch, tired=busy(wait=60.0), good=fine)
    with caplog.at_level(logging.INFO, "webanalytics"):
        found, times, hosts = world.fetch(urls("tired", 2000) + urls("good", 200))
    assert max(times) < 300
    assert keys(found[:2000]) == {
        "host_refused": 2000 - keys(found)["status"],
        "status": keys(found)["status"],
    }
    assert keys(found[2000:]) == {"ok": 200}
    assert max(times[2000:]) < 5  # nobody else waits
    assert sum(host == "tired" for host, _ in world.asked) < 20
    said = next(error for error in found if isinstance(error, FetchError) and error.key == "host_refused")
    assert said.error_type == "refused"
    assert "(HTTP 429)" in said.sentence
    assert {row["host"]: row["connections"] for row in hosts} == {"tired.example": 0, "good.example": 8}
    assert [record.getMessage() for record in caplog.records] == [
        "tired.example is asked less: HTTP 429",
        f"tired.example was {hosts[0]['note']}",
    ]


def test_a_host_whose_pages_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, stuck=hanging, good=fine)
    found, times, hosts = world.fetch(urls("stuck", 2000) + urls("good", 100))
    assert max(times) < 300
    assert keys(found)["ok"] == 100
    assert keys(found)["timeout"] + keys(found)["host_given_up"] == 2000
    assert keys(found)["timeout"] < 20
    assert hosts[0]["note"].endswith("(no answer in time)")


def test_a_host_that_is_busy_for_a_quarter_of_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three hundred pages few are lost, and it is asked as before in the end."""

    def restarting(url: URL, now: float) -> Any:
        return busy(503)(url, now) if 5 < now < 20 else (0.1, None)

    found, times, hosts = World(monkeypatch, shop=restarting).fetch(urls("shop", 3000))
    assert keys(found)["ok"] >= 2970
    assert "host_given_up" not in keys(found)
    assert hosts[0]["connections"] == 8
    assert max(times) < 120


def test_a_host_that_bears_three_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch)

    def narrow(url: URL, now: float) -> Any:
        return busy()(url, now) if world.now["narrow"] > 3 else (0.1, None)

    world.hosts["narrow"] = narrow
    found, _, hosts = world.fetch(urls("narrow", 500), retries=4)
    assert keys(found)["ok"] >= 495
    assert hosts[0]["note"] == "slowed down (HTTP 429)"
    late = world.asked[-100:]
    assert len(late) / (late[-1][1] - late[0][1]) > 5  # a page each 0.1 s from two or three connections


def test_never_more_at_once_nor_sooner_than_the_caller_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def moody(url: URL, now: float) -> Any:
        return busy()(url, now) if int(now) % 7 == 3 else (0.3, None)

    world = World(monkeypatch, moody=moody)
    world.fetch(urls("moody", 200), per_host=3, delay=0.25)
    starts = sorted(at for _, at in world.asked)
    assert world.most["moody"] <= 3
    assert min(late - early for early, late in pairwise(starts)) >= 0.25 - 1e-6


def test_who_waits_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    World(monkeypatch, tired=busy(wait=42.0))

    async def main() -> Any:
        async with Fetcher(FetchSettings(robots=False), names=Nobody()) as fetcher:
            tasks = [asyncio.create_task(fetcher.fetch(url)) for url in urls("tired", 20)]
            await asyncio.sleep(1)
            waiting = fetcher.waiting()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            return waiting, fetcher.waiting()

    (before, after) = clock.run(main())
    (host, seconds, requests) = before[0]
    assert (host, requests) == ("tired.example", 20)
    assert seconds == pytest.approx(41.1, abs=0.1)
    assert after == []


def test_a_given_up_host_is_not_asked_for_its_robots_either(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, stuck=hanging)
    found, times, _ = world.fetch(urls("stuck", 500), robots=True)
    assert keys(found).keys() <= {"timeout", "host_given_up"}
    assert max(times) < 300
    assert len(world.asked) < 20


def test_a_fetcher_for_many_callers_gives_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, tired=busy(503))
    found, _, hosts = world.fetch(urls("tired", 200), adaptive=False)
    assert keys(found) == {"status": 200}
    assert len(world.asked) == 600  # each with its two further tries
    assert hosts[0]["note"] == ""
