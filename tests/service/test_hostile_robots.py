"""A robots.txt that is expensive to match holds up nobody: a real service beside a hostile site."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.effort import BUSY_SECONDS, slowdown
from tests.service.live import Server, processor_seconds
from webanalytics.fetching.testing import Reply, SiteServer

LONG = "a" * 8_000
RULES = [f"Disallow: /*{'a' * 30}*{'a' * number}b\n" for number in range(1, 90)]
ROBOTS = "User-agent: *\n" + "".join(RULES) * 40
REDIRECTS = 9


@pytest.fixture(scope="module")
def hostile() -> Iterator[SiteServer]:
    """A site whose robots.txt has thousands of rules that nearly match each of its long addresses."""
    content: dict[str, bytes | Reply] = {
        "/robots.txt": Reply(200, {"Content-Type": "text/plain"}, ROBOTS.encode())
    }
    for number in range(REDIRECTS):
        content[f"/{LONG}{number}"] = Reply(302, {"Location": f"/{LONG}{number + 1}"}, b"")
    content[f"/{LONG}{REDIRECTS}"] = b"<title>The end</title>"
    with SiteServer(content) as site:
        yield site


def test_a_hostile_robots_txt_costs_little_and_stops_nobody(tmp_path: Path, hostile: SiteServer) -> None:
    late: list[float] = []
    done = threading.Event()

    def healthy(server: Server) -> None:
        while not done.wait(0.05):
            began = time.monotonic()
            assert server.call("GET", "/healthz").status == 200
            late.append(time.monotonic() - began)

    with Server(tmp_path) as server:
        key = server.key(plan="free")
        server.post("/v1/metadataextractor", key, url=hostile.url)  # workers are started
        watcher = threading.Thread(target=healthy, args=(server,))
        before = processor_seconds(server)
        watcher.start()
        answer = server.post("/v1/metadataextractor", key, url=f"{hostile.url}/{LONG}0")
        spent = processor_seconds(server) - before
        done.set()
        watcher.join()
    print(
        f"{answer.status}: {spent:.2f} s of processor time, /healthz late by {max(late, default=0.0):.3f} s at most"
    )
    assert answer.status == 200
    assert spent / slowdown() < 2, "each address is matched in linear time"
    assert max(late, default=0.0) < BUSY_SECONDS
