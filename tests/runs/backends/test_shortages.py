"""What this machine has too little of is no fault of a page: it is asked again, with less at once."""

from __future__ import annotations

import asyncio
import errno
import json
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.errors import BackendError, shortage_of
from webanalytics.fetching import exchange as exchanges
from webanalytics.fetching import fetcher as fetching
from webanalytics.fetching.testing import SiteServer
from webanalytics.runs.backends import pipeline
from webanalytics.runs.workers import pool, template

PAGES = 480
CONTENT = {f"/p{number}": b"<title>Page %d</title>" % number for number in range(PAGES)}
SCRIPT = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
import webanalytics as wa
from webanalytics.runs.backends import local
{before}
urls = json.loads(sys.stdin.read())
frame = wa.metadata(urls, allow_private=True, robots=False, concurrency=300, per_host=100, progress=False)
frame[["url", "title", "status", "error"]].to_json(sys.argv[1], orient="records")
"""
REACT = "local.affordable = lambda concurrency: concurrency"


@pytest.fixture(scope="module")
def site():
    with SiteServer(CONTENT) as running:
        yield running


@pytest.mark.parametrize("before", ["", pytest.param(REACT, marks=pytest.mark.slow)], ids=["foreseen", "met"])
def test_few_file_descriptors_and_many_requests(tmp_path: Path, before: str) -> None:
    """256 are what macOS gives a process; each row must be right, whatever was asked for at once."""
    out = tmp_path / "rows.json"
    command = [sys.executable, "-c", SCRIPT.format(before=before), str(out)]
    with ExitStack() as stack:  # several hosts, for one gets at most 100 requests at once
        sites = [stack.enter_context(SiteServer(CONTENT, delay=0.3)) for _ in range(4)]
        urls = [f"{sites[number % 4].url}/p{number}" for number in range(PAGES)]
        subprocess.run(command, input=json.dumps(urls), text=True, check=True)
    rows = json.loads(out.read_text())
    assert [row["title"] for row in rows] == [f"Page {number}" for number in range(PAGES)], {
        row["error"] for row in rows
    }


NO_DESCRIPTORS_LEFT = """
import os, resource, sys, tempfile
from webanalytics.errors import shortage_of
from webanalytics.runs.workers import pool, template
workers = pool.WorkerPool(1, 1024)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
taken = []
try:
    while True:
        taken.append(os.dup(0))
except OSError:
    for descriptor in taken[-{free}:]:
        os.close(descriptor)
try:
    pool.idle_workers.new(1024, ())
except Exception as error:
    os.close(taken[0])
    sys.exit(shortage_of(error) or repr(error))
"""


@pytest.mark.parametrize("free", [1, 2, 3, 4])
def test_a_worker_that_lacks_a_descriptor_says_so(free: int) -> None:
    """`tempfile` says that there is no folder for its files where it could not open the first one."""
    command = [sys.executable, "-c", NO_DESCRIPTORS_LEFT.format(free=free)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr.strip() == "file descriptors"


def short(number: int) -> aiohttp.ClientConnectorError:
    error = OSError(number, "short of something")
    return aiohttp.ClientConnectorError(
        aiohttp.client_reqrep.ConnectionKey("a", 80, False, True, None, None, None), error
    )


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "SHORTEST_PAUSE", 0.001)
    monkeypatch.setattr(pipeline, "LONGEST_PAUSE", 0.01)


def failing(monkeypatch: pytest.MonkeyPatch, make: Callable[[], Exception], times: int) -> list[int]:
    """Let the first exchanges fail by an error of the system."""
    real, count = fetching.exchange, [0]

    async def exchange(
        connections: Any, url: Any, wanted: Any, settings: Any, seconds: float, log: Any
    ) -> Any:
        count[0] += 1
        if count[0] <= times:
            raise exchanges._named(make(), [], settings, exchanges._Count(None, seconds))
        return await real(connections, url, wanted, settings, seconds, log)

    monkeypatch.setattr(fetching, "exchange", exchange)
    return count


def metadata(urls: list[str], **options: Any) -> pd.DataFrame:
    return wa.metadata(urls, allow_private=True, progress=False, **options)


@pytest.mark.parametrize(
    "make",
    [
        lambda: short(errno.EMFILE),
        lambda: short(errno.ENFILE),
        lambda: short(errno.EADDRNOTAVAIL),
        lambda: short(errno.ENOBUFS),
        MemoryError,
        lambda: OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
    ids=["process", "system", "ports", "buffers", "memory", "kernel"],
)
@pytest.mark.parametrize("robots", [True, False])
def test_a_shortage_that_passes_leaves_no_row(
    site: SiteServer,
    monkeypatch: pytest.MonkeyPatch,
    quick: None,
    make: Callable[[], Exception],
    robots: bool,
) -> None:
    asked = failing(monkeypatch, make, 9)
    frame = metadata([f"{site.url}/p{number}" for number in range(6)], robots=robots)
    assert frame["title"].tolist() == [f"Page {number}" for number in range(6)]
    assert asked[0] > 9


def test_a_shortage_that_stays_ends_the_run_and_names_concurrency(
    site: SiteServer, monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    monkeypatch.setattr(pipeline, "PATIENCE_SECONDS", 0.2)
    failing(monkeypatch, lambda: short(errno.EMFILE), 10**9)
    with pytest.raises(
        BackendError, match=r"^The `concurrency` parameter must be smaller: .*file descriptors"
    ):
        metadata([f"{site.url}/p1", f"{site.url}/p2"], robots=False)


def test_one_page_alone_does_not_end_the_run_of_others(
    site: SiteServer, monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    """An address that only looks like a shortage is a row when others are answered."""
    real = fetching.exchange

    async def exchange(
        connections: Any, url: Any, wanted: Any, settings: Any, seconds: float, log: Any
    ) -> Any:
        if url.path == "/p3":
            raise exchanges._named(short(errno.EADDRNOTAVAIL), [], settings, exchanges._Count(None, seconds))
        return await real(connections, url, wanted, settings, seconds, log)

    monkeypatch.setattr(fetching, "exchange", exchange)
    frame = metadata([f"{site.url}/p{number}" for number in range(80)], robots=False, concurrency=2)
    assert frame["error_type"].fillna("").tolist() == [""] * 3 + ["connection"] + [""] * 76


def test_workers_that_cannot_be_started_for_the_moment(
    site: SiteServer, monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    real, left = template._two_pipes, [OSError(errno.EMFILE, "Too many open files")] * 5

    def pipes() -> Any:
        if left:
            raise left.pop()
        return real()

    pool.close_idle_workers()
    monkeypatch.setattr(template, "_two_pipes", pipes)
    frame = metadata([f"{site.url}/p{number}" for number in range(4)], robots=False)
    assert frame["title"].tolist() == [f"Page {number}" for number in range(4)]
    assert not left


def test_an_address_of_a_kind_that_this_machine_lacks_is_no_shortage() -> None:
    said = "Connect call failed ('2001:db8::1', 443, 0, 0)"
    assert shortage_of(OSError(errno.EADDRNOTAVAIL, said)) == ""
    assert shortage_of(OSError(errno.EADDRNOTAVAIL, "Connect call failed ('192.0.2.1', 443)")) == "ports"


class Silent(aiohttp.abc.AbstractResolver):
    """A name server that does not answer, until it does: then there is one host, and any other is unknown."""

    def __init__(self, times: int, knows: bool = True) -> None:
        self.left, self.knows = times, knows

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_INET) -> list[Any]:
        if self.left:
            self.left -= 1
            raise OSError(None, "Timeout while contacting DNS servers")
        if host == "example.com" and self.knows:
            return []
        if host != "pages.test":
            raise OSError(None, "Server returned general failure")
        return [
            {"hostname": host, "host": "127.0.0.1", "port": port, "family": family, "proto": 0, "flags": 0}
        ]

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("times", [0, 1, 7])
def test_a_name_server_that_is_away_is_waited_for(
    site: SiteServer, monkeypatch: pytest.MonkeyPatch, quick: None, times: int
) -> None:
    monkeypatch.setattr(fetching, "resolver", lambda: Silent(times))
    port = site.url.rsplit(":", 1)[1]
    frame = metadata([f"http://pages.test:{port}/p1", f"http://broken.test:{port}/p1"], robots=False)
    assert frame["title"].fillna("").tolist() == ["Page 1", ""]
    assert frame["error_type"].fillna("").tolist() == [
        "",
        "dns",
    ]  # its own name server is broken, ours is not


def test_a_name_server_that_stays_away_ends_the_run(
    site: SiteServer, monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    monkeypatch.setattr(pipeline, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(fetching, "resolver", lambda: Silent(10**9))
    with pytest.raises(BackendError, match=r"^The name server of this machine must answer"):
        metadata(["http://pages.test/", "http://others.test/"])


def test_requests_are_halved_as_they_end() -> None:
    from webanalytics.fetching.gates import Limits

    async def main() -> int:
        limits, most, now = Limits(8, 100), 0, 0
        start = asyncio.Event()

        async def one() -> None:
            nonlocal most, now
            async with limits.slot("host"):
                await start.wait()
                now += 1
                most = max(most, now)
                await asyncio.sleep(0)
                now -= 1

        tasks = [asyncio.create_task(one()) for _ in range(60)]
        await asyncio.sleep(0)
        assert limits.fewer() == 4
        assert limits.fewer() == 2
        start.set()
        await asyncio.gather(*tasks[:8])
        most = 0
        await asyncio.gather(*tasks[8:])
        return most

    assert asyncio.run(main()) == 2
