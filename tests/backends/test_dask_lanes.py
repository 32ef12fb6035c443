"""Which jobs go out next: one chunk of a host at a time, and those that end workers alone."""

from __future__ import annotations

import random

import pytest

from webanalytics.backends.dask.lanes import CHUNK_BYTES, MOST_TRIES, Lanes
from webanalytics.outcomes import Job, PageRecord


def filled(hosts: dict[str, int], size: int = 10, delay: float = 0.0) -> tuple[Lanes, dict[int, str]]:
    lanes, host_of = Lanes(size, delay), {}
    for host, count in hosts.items():
        for _ in range(count):
            number = len(host_of)
            host_of[number] = host
            lanes.add(Job(number, f"http://{host}/{number}"), host)
    return lanes, host_of


def numbers(jobs: list[Job]) -> list[int]:
    return [job.number for job in jobs]


@pytest.mark.parametrize("free", [1, 3, 50])
@pytest.mark.parametrize("seed", range(5))
def test_whatever_the_order_no_host_is_in_two_chunks_and_every_job_goes_out_once(
    seed: int, free: int
) -> None:
    chance = random.Random(seed)
    lanes, host_of = filled({f"h{number}": chance.randint(1, 60) for number in range(40)})
    under_way: list[tuple[list[str], list[Job]]] = []
    sent: list[int] = []
    while lanes.waiting or under_way:
        hosts, jobs = lanes.chunk(0.0, free)
        if jobs and len(under_way) < free:
            busy = {host for others, _ in under_way for host in others}
            assert not busy & set(hosts)
            assert {host_of[job.number] for job in jobs} == set(hosts)
            assert len(jobs) <= 10
            sent += numbers(jobs)
            under_way.append((hosts, jobs))
            continue
        if jobs:
            under_way.append((hosts, jobs))
            sent += numbers(jobs)
        for host in under_way.pop(chance.randrange(len(under_way)))[0]:
            lanes.free(host, 0.0)
    assert sorted(sent) == list(host_of)


def test_hosts_share_a_chunk_where_there_are_more_of_them_than_chunks() -> None:
    lanes, _ = filled({f"h{number}": 30 for number in range(20)})
    hosts, jobs = lanes.chunk(0.0, free=4)
    assert len(hosts) == 5
    assert len(jobs) == 10
    alone, _ = filled({"a": 30})
    assert numbers(alone.chunk(0.0, free=4)[1]) == list(range(10))


def test_a_chunk_of_a_slow_host_is_short() -> None:
    lanes, _ = filled({"a": 30}, delay=4.0)
    assert len(lanes.chunk(0.0, free=1)[1]) == 2
    lanes, _ = filled({"a": 30}, delay=60.0)
    assert len(lanes.chunk(0.0, free=1)[1]) == 1


def test_a_host_that_asked_for_a_pause_is_waited_for() -> None:
    lanes, _ = filled({"a": 20, "b": 5})
    assert lanes.chunk(0.0, free=2)[0] == ["a"]
    lanes.free("a", not_before=7.0)
    assert lanes.next_moment() == 7.0
    assert lanes.chunk(6.9, free=2)[0] == ["b"]
    assert lanes.chunk(6.9, free=2) == ([], [])
    assert lanes.chunk(7.0, free=2)[0] == ["a"]


def test_a_host_keeps_its_pause_while_it_has_no_jobs() -> None:
    lanes, _ = filled({"a": 1})
    lanes.chunk(0.0, free=1)
    lanes.free("a", not_before=7.0)
    lanes.add(Job(9, "http://a/9"), "a")
    assert lanes.chunk(6.0, free=1) == ([], [])
    assert lanes.chunk(7.0, free=1)[0] == ["a"]


def test_jobs_of_a_lost_chunk_go_alone_and_three_losses_blame_one() -> None:
    lanes, host_of = filled({"a": 12})
    _, jobs = lanes.chunk(0.0, free=1)
    assert lanes.lost(jobs, host_of) == []
    lanes.free("a", 0.0)
    deaths, answered, blamed = 1, [], []
    while lanes.waiting:
        _, jobs = lanes.chunk(0.0, free=1)
        if 4 in numbers(jobs):
            assert numbers(jobs) == [4]
            deaths += 1
            blamed += numbers(lanes.lost(jobs, host_of))
        else:
            answered += numbers(jobs)
        lanes.free("a", 0.0)
    assert deaths == MOST_TRIES == 3
    assert blamed == [4]
    assert sorted(answered) == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11]


def test_suspects_of_two_hosts_do_not_go_together() -> None:
    lanes, host_of = filled({"a": 2, "b": 2})
    hosts, jobs = lanes.chunk(0.0, free=1)
    assert hosts == ["a", "b"]
    lanes.lost(jobs, host_of)
    for host in hosts:
        lanes.free(host, 0.0)
    for _ in range(4):
        hosts, jobs = lanes.chunk(0.0, free=1)
        assert len(jobs) == 1
        lanes.free(hosts[0], 0.0)


def test_content_bounds_a_chunk_and_needs_no_host() -> None:
    lanes = Lanes(10)
    for number in range(10):
        lanes.add(Job(number, PageRecord("http://a/", b"x" * (CHUNK_BYTES // 2))), "")
    sizes = []
    while lanes.waiting:
        hosts, jobs = lanes.chunk(0.0, free=9)
        assert hosts == []
        sizes.append(len(jobs))
    assert sizes == [2] * 5
