"""Pages that lead to other hosts: both are asked as one, so that no host is asked by two workers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from pandas.testing import assert_frame_equal

import webanalytics as wa
from tests.backends.origin import BUSY, Answer, Origin, page
from tests.backends.test_dask_steering import OPTIONS, Threads, backend
from webanalytics.backends.dask.lanes import MOST_TOGETHER, Lanes
from webanalytics.outcomes import Job


def leading(to: Any) -> Answer:
    """Return answers by which every page of 127.0.0.1 leads to the same path of another host."""

    def answer(host: str, path: str) -> tuple[int, dict[str, str], bytes]:
        if host == "127.0.0.1" and path != "/robots.txt":
            return 301, {"Location": f"http://{to(path)}:{ports[0]}{path}"}, b""
        return page(host, path)

    ports: list[int] = []
    answer.ports = ports  # type: ignore[attr-defined]
    return answer


def test_two_hosts_of_which_one_leads_to_the_other_are_asked_as_one() -> None:
    answer = leading(lambda path: "127.0.0.2")
    threads = Threads()
    with Origin(answer) as origin:
        answer.ports.append(origin.port)  # type: ignore[attr-defined]
        urls = [*origin.urls(1, 12), *origin.urls(2, 12)[12:]]
        got = wa.metadata(urls, backend=backend(threads, chunk=3), delay=0.3, **OPTIONS)
        assert min(origin.gaps().values()) >= BUSY * 0.3
        assert set(origin.peak.values()) == {1}
        asked = Counter((visit.host, visit.path) for visit in origin.visits)
        wanted = wa.metadata(urls, **OPTIONS)
    assert_frame_equal(got.drop(columns="elapsed"), wanted.drop(columns="elapsed"), check_flags=False)
    assert asked["127.0.0.1", "/robots.txt"] == asked["127.0.0.2", "/robots.txt"] == 1
    # the pages of the first chunk were asked again, once both were one; none of the others
    assert sum(count - 1 for (host, _), count in asked.items() if host == "127.0.0.1") == 3


def test_a_host_that_leads_to_very_many_is_followed() -> None:
    answer = leading(lambda path: f"127.0.0.{2 + int(path[1:])}")
    threads = Threads()
    with Origin(answer) as origin:
        answer.ports.append(origin.port)  # type: ignore[attr-defined]
        got = wa.metadata(origin.urls(1, 40), backend=backend(threads, chunk=5), **OPTIONS)
        asked = Counter(visit.path for visit in origin.visits if visit.host == "127.0.0.1")
    assert got["status"].eq("ok").all()
    assert got["redirects"].str.len().eq(1).all()
    assert sum(asked.values()) - asked["/robots.txt"] <= 40 + 2 * MOST_TOGETHER


@pytest.mark.parametrize("first_freed", ["a", "b"])
def test_lanes_that_join_while_both_are_busy_wait_for_both(first_freed: str) -> None:
    lanes = Lanes(1)
    for number, host in enumerate("aabb"):
        lanes.add(Job(number, host), host)
    (_, (job,)), _ = lanes.chunk(0.0, 2), lanes.chunk(0.0, 2)
    lanes.led(job, "a", "b")
    assert lanes.members("a") == {"a", "b"}
    lanes.free(first_freed, 0.0)
    assert lanes.chunk(0.0, 2) == ([], [])
    lanes.free("b" if first_freed == "a" else "a", 0.0)
    sent = []
    while lanes.waiting:
        names, jobs = lanes.chunk(0.0, 2)
        assert names == ["a"]
        assert lanes.chunk(0.0, 2) == ([], [])
        sent += [item.number for item in jobs]
        lanes.free("a", 0.0)
    assert sent == [0, 1, 3]
