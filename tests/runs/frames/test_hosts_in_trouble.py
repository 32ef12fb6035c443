"""What a frame and a run's progress say of hosts that were asked less, or given up."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import webanalytics as wa
from tests.fetching import clock
from webanalytics.fetching.gates import Waiting
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.runs.backends import local
from webanalytics.runs.backends.base import Report
from webanalytics.runs.frames.link_table import HOSTS
from webanalytics.runs.frames.schema import frame_of

LOCAL: dict[str, Any] = {"allow_private": True, "workers": 1, "progress": False, "robots": False}


def test_a_host_that_was_slowed_down_is_in_the_attrs() -> None:
    page = b"<title>Tea</title><p>Tea is made of leaves."
    tired = {f"/{n}": [Reply(429, {"Retry-After": "0"}), page] for n in range(4)}
    with SiteServer(tired) as server, SiteServer({"/": page}) as well:
        urls = [server.url + path for path in tired] + [well.url + "/"]
        frame = wa.metadata(urls, **LOCAL)
        assert frame["status"].tolist() == ["ok"] * 5
        (row,) = frame.attrs["webanalytics"]["hosts"]
        assert row["host"] == server.url.removeprefix("http://")
        assert (row["pages"], row["failures"], row["note"]) == (8, 4, "slowed down (HTTP 429)")
        assert list(frame_of(HOSTS, [row]).columns) == list(row)


def test_a_run_without_trouble_says_nothing() -> None:
    with SiteServer({"/": b"<title>Tea</title><p>Tea."}) as server:
        assert "hosts" not in wa.metadata([server.url + "/"], **LOCAL).attrs["webanalytics"]


class Told:
    """A fetcher whose hosts wait as told, second by second."""

    def __init__(self, waits: list[list[Waiting]]) -> None:
        self.waits = waits

    def waiting(self) -> list[Waiting]:
        return self.waits.pop(0) if self.waits else []

    def hosts(self) -> list[dict[str, Any]]:
        return [{"host": "a.example", "note": "given up"}, {"host": "b.example", "note": ""}]


@pytest.mark.parametrize("seconds", [10])
def test_the_progress_says_who_is_waited_for(seconds: int) -> None:
    notes: list[str] = []
    report = Report(note=notes.append)
    one, other = Waiting("a.example", 42.4, 1986), Waiting("b.example", 7.0, 1)

    async def main() -> None:
        async with local.watched(Told([[one], [one, other], []]), report):  # type: ignore[arg-type]
            await asyncio.sleep(seconds)

    clock.run(main())
    assert notes == [
        "waiting 42 s for a.example (1,986 rows)",
        "waiting 42 s for a.example (1,986 rows) and 1 more",
        "",
    ]
    assert report.hosts == [{"host": "a.example", "note": "given up"}]
