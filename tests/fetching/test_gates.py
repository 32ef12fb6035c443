"""When requests to hosts begin, to the moment, by a clock that jumps; and what their ends do to a host's pace."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from tests.fetching import clock
from webanalytics.fetching import gates
from webanalytics.fetching.gates import Limits, Waiting, turns_away
from webanalytics.fetching.pace import Pace
from webanalytics.fetching.response import Problem

BUSY = Problem("status", http_status=429)


def now() -> float:
    return asyncio.get_running_loop().time() - 1000.0


async def ask(limits: Limits, seconds: float, host: str = "a", crawl_delay: float = 0.0, **how: Any) -> float:
    """Hold a slot for some seconds; when it began."""
    async with limits.slot(host, crawl_delay, **how):
        began = now()
        await asyncio.sleep(seconds)
    return began


def starts(limits: Limits, count: int, seconds: float, **how: Any) -> list[float]:
    """When so many requests that come at one moment begin."""

    async def main() -> list[float]:
        found = await asyncio.gather(*(ask(limits, seconds, **how) for _ in range(count)))
        assert not limits._gates or limits.pace("a").not_before > now() + 1000, (
            "nothing is kept of idle hosts"
        )
        return found

    return clock.run(main())


@pytest.mark.parametrize(
    ("limits", "seconds", "how", "expected"),
    [
        (Limits(8, 2), 1.0, {}, [0, 0, 1, 1, 2]),
        (Limits(3, 8), 1.0, {}, [0, 0, 0, 1, 1]),
        (Limits(8, 8, 2.0), 0.5, {}, [0, 2, 4, 6, 8]),
        (Limits(8, 8, 2.0), 3.0, {}, [0, 2, 4, 6, 8]),
        (Limits(8, 2, 2.0), 5.0, {}, [0, 2, 5, 7, 10]),
        (Limits(8, 8), 0.5, {"crawl_delay": 3.0}, [0, 3, 6, 9, 12]),
        (Limits(8, 8), 5.0, {"crawl_delay": 3.0}, [0, 5, 10, 15, 20]),  # one at a time
        (Limits(8, 8), 5.0, {"crawl_delay": 0.5}, [0, 5, 10, 15, 20]),
        (Limits(8, 8, 2.0), 0.5, {"crawl_delay": 3.0}, [0, 3, 6, 9, 12]),
        (Limits(8, 8, 4.0), 0.5, {"crawl_delay": 3.0}, [0, 4, 8, 12, 16]),
    ],
)
def test_when_five_requests_begin(limits: Limits, seconds: float, how: Any, expected: list[float]) -> None:
    assert starts(limits, 5, seconds, **how) == pytest.approx(expected)


def test_a_delay_that_refusals_led_to_counts_like_the_callers() -> None:
    limits = Limits(8, 8)
    limits.pace("a").delay = 1.5
    assert starts(limits, 3, 0.1) == pytest.approx([0, 1.5, 3])


def test_a_pause_is_waited_for_and_forgotten_afterwards() -> None:
    limits = Limits(8, 8)
    limits.pace("a").pause(1000.0, 7.0)
    assert starts(limits, 3, 0.1) == pytest.approx([7, 7, 7])


def test_two_that_waited_for_a_slot_of_all_hosts_keep_apart() -> None:
    async def main() -> list[float]:
        limits = Limits(1, 8, 1.0)
        return await asyncio.gather(ask(limits, 5.0, "other"), ask(limits, 0.1), ask(limits, 0.1))

    assert clock.run(main()) == pytest.approx([0, 5, 6])


def test_a_host_that_one_request_leaves_still_has_the_others() -> None:
    async def main() -> list[float]:
        limits = Limits(8, 2)
        first = [asyncio.create_task(ask(limits, seconds)) for seconds in (1.0, 3.0)]
        await asyncio.sleep(1.5)
        return await asyncio.gather(*first, ask(limits, 1.0), ask(limits, 9.0), ask(limits, 9.0))

    assert clock.run(main()) == pytest.approx([0, 0, 1.5, 2.5, 3.0])


def test_what_fails_before_it_begins_leaves_no_more_slots_than_there_were() -> None:
    async def fails() -> None:
        raise RuntimeError

    async def main() -> list[float]:
        limits = Limits(8, 1)
        running = asyncio.create_task(ask(limits, 1.0))
        await asyncio.sleep(0.5)
        start, limits.ready = limits.ready, fails
        failing = asyncio.create_task(ask(limits, 1.0))
        await asyncio.wait([failing])
        assert isinstance(failing.exception(), RuntimeError)
        for _ in range(2):
            with pytest.raises(RuntimeError):
                await ask(limits, 1.0, "b")
        limits.ready = start
        return await asyncio.gather(running, *(ask(limits, 1.0, host) for host in "aabb"))

    assert clock.run(main()) == pytest.approx([0, 1, 2, 1, 2])


def test_what_is_first_goes_before_those_that_wait() -> None:
    async def main() -> list[float]:
        limits = Limits(8, 1)
        running = [asyncio.create_task(ask(limits, 1.0)) for _ in range(3)]
        await asyncio.sleep(0.5)
        first = await ask(limits, 1.0, first=True)
        return [first, *await asyncio.gather(*running)]

    assert clock.run(main()) == pytest.approx([1, 0, 2, 3])


@pytest.mark.parametrize("how", [{}, {"crawl_delay": 1.0}])
@pytest.mark.parametrize(("concurrency", "busy"), [(8, ["a"]), (2, ["b", "c"])])
def test_what_is_cancelled_while_it_waits_leaves_nothing_behind(
    how: Any, concurrency: int, busy: list[str]
) -> None:
    """It waits for its host, or for a slot of all hosts."""

    async def main() -> list[float]:
        limits = Limits(concurrency, 1)
        running = [asyncio.create_task(ask(limits, 10.0, host)) for host in busy]
        await asyncio.sleep(1)
        waiting = [asyncio.create_task(ask(limits, 5.0, **how)) for _ in range(4)]
        await asyncio.sleep(1)
        for task in waiting[:2]:
            task.cancel()
        began = await asyncio.gather(*waiting[2:])
        await asyncio.gather(*running)
        found = await asyncio.gather(ask(limits, 1.0), ask(limits, 1.0))
        assert found[1] - found[0] == pytest.approx(1.0)
        assert not limits._gates
        assert not limits._all.locked()
        return began

    assert clock.run(main()) == pytest.approx([10, 15])


@pytest.mark.parametrize(
    ("problem", "key"),
    [
        (BUSY, "host_refused"),
        (Problem("status", http_status=503), "host_given_up"),
        (Problem("timeout"), "host_given_up"),
    ],
)
def test_who_waits_for_a_host_that_is_given_up_is_told(
    problem: Problem, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        limits = Limits(8, 1)
        running = asyncio.create_task(ask(limits, 500.0))
        await asyncio.sleep(1)
        waiting = [asyncio.create_task(ask(limits, 1.0)) for _ in range(3)]
        for _ in range(5):
            await asyncio.sleep(40)
            limits.ended("a", asyncio.get_running_loop().time(), problem)
        found = await asyncio.gather(running, *waiting, return_exceptions=True)
        assert found[0] == 0
        assert [(error.key, error.details["count"]) for error in found[1:]] == [(key, 3)] * 3
        assert key in gates.GIVEN_UP
        assert next(iter(limits.hosts()))["connections"] == 0
        assert not limits._gates

    with caplog.at_level(logging.INFO, "webanalytics"):
        clock.run(main())
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"], "each is said once"
    assert caplog.messages[0].startswith("a is asked less: ")
    assert caplog.messages[1].startswith("a was given up after 3 failed requests in a row")


@pytest.mark.parametrize(
    ("problem", "how", "expected"),
    [
        # pages, failures, in_row, away, turned, good
        (None, {"page": "https://a/"}, (1, 0, 0, 0, False, "https://a/")),
        (None, {}, (1, 0, 0, 2, False, "")),
        (Problem("status", http_status=404), {"page": ""}, (1, 0, 0, 0, False, "")),
        (Problem("encoding"), {"page": ""}, (1, 1, 0, 2, False, "")),
        (Problem("certificate", why=""), {}, (1, 1, 0, 2, False, "")),
        (Problem("proxy_auth", http_status=407), {}, (1, 0, 0, 2, False, "")),
        (Problem("status", http_status=403), {"page": ""}, (1, 1, 0, 3, False, "")),
        (Problem("status", http_status=403), {"page": "", "doubt": True}, (1, 1, 1, 3, True, "")),
        (Problem("challenge", http_status=200, who="A wall"), {}, (1, 1, 0, 3, False, "")),
        (Problem("challenge", http_status=503, who="A wall"), {}, (1, 1, 1, 2, False, "")),
        (Problem("too_large", http_status=503), {}, (1, 0, 0, 2, False, "")),
    ],
)
def test_what_the_end_of_a_request_says_of_its_host(problem: Problem | None, how: Any, expected: Any) -> None:
    async def main() -> Pace:
        limits = Limits(8, 8)
        limits.pace("a").away = 2
        limits.ended("a", now() + 1000, problem, **how)
        return limits.pace("a")

    pace = clock.run(main())
    assert (pace.pages, pace.failures, pace.in_row, pace.away, pace.turned, pace.good) == expected


def test_a_wait_that_a_page_asks_for_with_its_refusal_is_kept() -> None:
    async def main() -> list[float]:
        found = []
        for status, doubt in ((429, False), (403, True)):
            limits = Limits(8, 8)
            problem = Problem("status", http_status=status, retry_after=9.0)
            limits.ended("a", now() + 1000, problem, doubt=doubt)
            found.append(await ask(limits, 0.0) - now() + 9.0)
        return found

    assert clock.run(main()) == pytest.approx([9.0, 9.0])


def test_a_login_to_a_proxy_is_not_asked_for_by_the_host() -> None:
    assert turns_away(Problem("status", http_status=403))
    assert not turns_away(Problem("proxy_auth", http_status=407))
    assert not turns_away(Problem("status", http_status=404))


def test_limits_are_those_of_the_paces_they_make() -> None:
    limits = Limits(8, 3, first_wait=2.0, longest_wait=9.0, adaptive=False)
    pace = limits.pace("a")
    assert (pace.most, pace.first_wait, pace.longest_wait, pace.adaptive) == (3, 2.0, 9.0, False)
    pace = Limits(8, 3).pace("a")
    assert (pace.most, pace.first_wait, pace.longest_wait, pace.adaptive) == (3, 0.5, 60.0, True)


def test_a_pace_goes_on_elsewhere_and_by_another_clock() -> None:
    async def main() -> float:
        limits, other = Limits(8, 8), Limits(8, 8)
        limits.pace("a").pause(1000.0, 7.0)
        known = limits.pace_of("a")
        assert known.not_before == 7.0
        await asyncio.sleep(100)
        other._gate("a")
        other.take("a", known)
        return await ask(other, 0.0)

    assert clock.run(main()) == pytest.approx(107)


def test_a_row_says_how_each_host_is_asked() -> None:
    async def main() -> list[dict[str, Any]]:
        limits = Limits(8, 4, 1.0)
        limits.ended("a", 1000.0, None)
        for at in range(3):
            limits.ended("b", 1000.0 + at, BUSY)
        limits.pace("b").delay = 2.0
        return list(limits.hosts())

    one, other = clock.run(main())
    assert one == {"host": "a", "pages": 1, "failures": 0, "delay": 1.0, "connections": 4, "note": ""}
    assert (other["delay"], other["connections"], other["note"]) == (2.0, 1, "slowed down (HTTP 429)")


def test_hosts_that_hold_a_run_up_are_told_the_longest_first() -> None:
    async def main() -> list[Waiting]:
        limits = Limits(8, 8)
        for host, wait in (("a", 5.0), ("b", 9.0), ("idle", 20.0)):
            limits.ended(host, 1000.0, Problem("status", http_status=429, retry_after=wait))
        limits.pace("by itself").pause(1000.0, 30.0)  # a delay, and no answer of the host
        hosts = ("a", "b", "b", "by itself", "free")
        tasks = [asyncio.create_task(ask(limits, 0.0, host)) for host in hosts]
        await asyncio.sleep(1)
        found = limits.waiting()
        await asyncio.gather(*tasks)
        assert limits.waiting() == []
        return found

    assert clock.run(main()) == [Waiting("b", 8.0, 2), Waiting("a", 4.0, 1)]


def test_queues_are_dropped_of_hosts_that_no_longer_matter() -> None:
    async def main() -> list[str]:
        limits = Limits(8, 8, max_idle=3)
        running = asyncio.create_task(ask(limits, 9.0, "in use"))
        limits.pace("paused").pause(1000.0, 9.0)
        limits.pace("was paused").pause(1000.0, 1.0)
        await asyncio.sleep(0)
        for host in ("paused", "was paused"):
            limits._gate(host)
        await asyncio.sleep(1)
        await ask(limits, 0.0, "new")
        kept = [*limits._gates]
        await running
        return kept

    assert clock.run(main()) == ["in use", "paused"]


def test_what_is_known_of_hosts_is_bounded_and_those_in_trouble_go_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gates, "MOST_HOSTS", 3)

    async def main() -> list[list[str]]:
        limits, kept = Limits(8, 8), []
        limits.ended("slowed", 1000.0, BUSY)
        running = asyncio.create_task(ask(limits, 1.0, "in use"))
        await asyncio.sleep(0)
        for host in ("one", "two", "three"):
            limits.pace(host)
            kept.append([*limits._paces])
        await running
        for host in limits._paces:
            limits.ended(host, 1000.0, BUSY)
        limits.pace("four")
        return [*kept, [*limits._paces]]

    slowed = ["slowed", "in use"]
    expected = [[*slowed, "one"], [*slowed, "two"], [*slowed, "three"], ["in use", "three", "four"]]
    assert clock.run(main()) == expected


def test_fewer_requests_are_under_way_as_those_in_progress_end() -> None:
    async def main() -> list[float]:
        limits = Limits(5, 9)
        tasks = [asyncio.create_task(ask(limits, 1.0)) for _ in range(5)]
        await asyncio.sleep(0)
        assert [limits.fewer() for _ in range(3)] == [2, 1, 1]
        return await asyncio.gather(*tasks, *(ask(limits, 1.0) for _ in range(3)))

    assert clock.run(main()) == pytest.approx([0, 0, 0, 0, 0, 1, 2, 3])
