"""Runs that are killed with -9 and made again: no row lost, and none paid for twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as parquet
import pytest

import webanalytics as wa
from tests.effort import PROCESS_SECONDS
from tests.runs.hosted import runner
from tests.runs.hosted.proxy import Proxy, delay
from tests.runs.hosted.running import PRICES, Account, page, parts, same
from tests.service.live import Server
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.operations import AUDIT_PAGES
from webanalytics.runs.storage.checkpoint import WRITE_SECONDS

MESSAGES = [f"message {number}" for number in range(2000)]
PAGES = 200


@dataclass
class Killed:
    """A call that runs in a process of its own, and is killed."""

    folder: Path
    function: str
    inputs: list[str]
    arguments: dict[str, Any]
    backend: tuple[str, str] | None = None
    hosted: dict[str, Any] = field(default_factory=dict)

    @property
    def checkpoint(self) -> Path:
        return self.folder / "kept"

    @property
    def out(self) -> Path:
        return self.folder / "frame"

    def specification(self) -> str:
        made = {"function": self.function, "inputs": self.inputs, "arguments": self.arguments, "backend": self.backend,
                "hosted": self.hosted, "store": str(self.checkpoint), "out": str(self.out)}  # fmt: skip
        path = self.folder / "call.json"
        path.write_text(json.dumps(made))
        return str(path)

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, runner.__file__, self.specification()])

    def leg(self, progress: Callable[[], int], until: int) -> bool:
        """Run until the progress is reached and kill, or to the end; tell whether it was killed."""
        process = self.start()
        end = time.monotonic() + PROCESS_SECONDS
        while process.poll() is None and progress() < until:
            assert time.monotonic() < end
            time.sleep(0.002)
        if process.poll() is None:
            process.kill()
        return process.wait() == -signal.SIGKILL

    def finish(self) -> pd.DataFrame:
        """Run to the end, in this process, which never was the one that was killed, and return the frame."""
        runner.main(self.specification())
        return pd.read_pickle(self.out)

    @property
    def rows(self) -> int:
        """Rows that are safe in the checkpoint."""
        return sum(parquet.ParquetFile(path).metadata.num_rows for path in parts(self.checkpoint))


def killed_three_times(
    call: Killed,
    requests: Callable[[], int],
    moments: list[int],
    ledger: Callable[[], int],
    show: Callable[[str], Any],
) -> pd.DataFrame:
    """Run a call, kill it three times after so many requests more, and return the final frame.

    What is shown of each leg: rows that are safe, and the sum of the ledger beside them.
    """
    kills = 0
    for number, moment in enumerate(moments, 1):
        kills += call.leg(requests, requests() + moment)
        show(
            f"leg {number}: killed after {moment} requests; {call.rows:,} rows kept, {ledger():,} credits charged"
        )
    assert kills == len(moments)
    frame = call.finish()
    good = int((frame["status"] == "ok").sum())
    show(f"leg {len(moments) + 1}: to the end; {call.rows:,} rows kept, {ledger():,} credits charged")
    price = PRICES[call.function]
    show(f"frame: {len(frame):,} rows, {good:,} ok; {good:,} x {price} = {good * price:,} credits")
    return frame


@pytest.fixture(scope="module")
def pages() -> Iterator[SiteServer]:
    content = {f"/p{number}": page(str(number)) for number in range(PAGES)}
    with SiteServer(content, delay=0.01) as site:
        yield site


def settled(account: Account) -> int:
    """What the ledger says when the service is done with what it was asked; one that was killed holds on."""
    seen, since = (account.charged, account.held), time.monotonic()
    while (quiet := time.monotonic() - since) < 1.0 or (seen[1] and quiet < 10.0):
        time.sleep(0.05)
        if (now := (account.charged, account.held)) != seen:
            seen, since = now, time.monotonic()
    return seen[0]


def hmac_killed(
    server: Server, folder: Path, seed: int, show: Callable[[str], Any] = print
) -> tuple[pd.DataFrame, Account]:
    """2,000 messages at 25 a request, killed three times and resumed: the demonstration and the test."""
    account = Account.new(server)
    chance = random.Random(seed)
    with Proxy(server.base) as proxy:
        proxy.rule(lambda record: delay(chance.random() * 0.08))
        call = Killed(
            folder,
            "hmac",
            MESSAGES,
            {"secret": "k"},
            (proxy.base, account.key),
            {"batch_size": 25, "concurrency": 4},
        )
        moments = [chance.randint(3, 22) for _ in range(3)]
        frame = killed_three_times(call, lambda: len(proxy.requests), moments, lambda: settled(account), show)
    return frame, account


@pytest.mark.parametrize("seed", [1])
def test_messages_are_neither_lost_nor_paid_for_twice(server: Server, tmp_path: Path, seed: int) -> None:
    frame, account = hmac_killed(server, tmp_path, seed)
    same(frame, wa.hmac(MESSAGES, secret="k"))
    # Exactly, and not only "plus what was under way": a request that the kill cut off is made again with the
    # same inputs under the same Idempotency-Key, for its borders and key depend on the inputs' places and the
    # checkpoint's identity alone. The service answers it from what it kept, and charges nothing.
    assert account.charged == 2 * len(MESSAGES)


@pytest.mark.parametrize("seed", [3])
def test_an_audit_is_neither_lost_nor_paid_for_twice(
    server: Server, tmp_path: Path, pages: SiteServer, seed: int
) -> None:
    account = Account.new(server)
    chance = random.Random(seed)
    urls = [f"{pages.url}/p{number}" for number in range(PAGES)] + [f"{pages.url}/missing"]
    with Proxy(server.base) as proxy:
        call = Killed(tmp_path, "audit", urls, {}, (proxy.base, account.key), {"concurrency": 4})
        # Also while answers are on their way: some requests have come and their answers have not.
        moments = [chance.randint(9, 14) for _ in range(3)]
        frame = killed_three_times(
            call, lambda: len(proxy.requests), moments, lambda: settled(account), print
        )
    undisturbed = wa.audit(urls, backend=wa.Hosted(server.base, server.key()))
    same(frame, undisturbed)
    assert (frame["status"] == "ok").sum() == PAGES
    assert account.charged == 32 * PAGES  # exactly: see above


def test_fewer_messages_than_fill_the_connections(server: Server, tmp_path: Path) -> None:
    """The size of requests must not follow from how many inputs are left: other keys would be paid for again."""
    account = Account.new(server)
    messages = MESSAGES[:900]
    with Proxy(server.base) as proxy:
        # the last request is answered at once, all others are on their way when the run is killed
        proxy.rule(
            lambda record: None if record.json["inputs"][-1]["message"] == messages[-1] else delay(0.6)
        )
        call = Killed(tmp_path, "hmac", messages, {"secret": "k"}, (proxy.base, account.key))
        assert call.leg(lambda: call.rows, 1)
        proxy.clear()
        frame = call.finish()
    assert len(frame) == 900
    assert settled(account) == 2 * 900


def test_a_local_run_that_is_killed_loses_no_row(tmp_path: Path) -> None:
    call = Killed(tmp_path, "hmac", [f"message {number}" for number in range(60_000)], {"secret": "k"})
    kills = 0
    for _ in range(3):
        kills += call.leg(lambda: len(parts(call.checkpoint)), len(parts(call.checkpoint)) + 1)
    assert kills == 3
    assert 0 < call.rows < 60_000
    same(call.finish(), wa.hmac(call.inputs, secret="k"))


def test_a_local_audit_that_is_killed_does_no_page_again(tmp_path: Path) -> None:
    """Two pages at once are late: they come when the next part is due, and the last ones after the kill."""
    due = 1.5 * WRITE_SECONDS
    late = {20: due, 21: due, 38: due, 39: due, 58: 2 * due, 59: 2 * due}
    content = {
        f"/p{number}": Reply(body=page(str(number)), delay=late.get(number, 0.0)) for number in range(60)
    }
    with SiteServer(content, delay=0.01) as site:
        urls = [site.url + path for path in content]
        arguments = {"allow_private": True, "workers": 1, "robots": False, "concurrency": 2}
        call = Killed(tmp_path, "audit", urls, arguments)
        for rows in (20, 150):
            assert call.leg(lambda: call.rows, rows)
        kept, asked = call.rows // len(AUDIT_PAGES), len(site.requests)
        same(call.finish(), wa.audit(urls, **arguments))
        again = len(site.requests) - asked - len(urls)  # less those of the undisturbed run
        assert again == len(urls) - kept


def test_a_service_that_is_killed_and_comes_back(server: Server, tmp_path: Path, quick: None) -> None:
    """The service's process dies midway; it is started again on the same port within the patience."""
    (tmp_path / "service").mkdir()
    options = ("--allow-private", "--log-level", "warning")
    with Server(tmp_path / "service", options) as first:
        account = Account.new(first)
        port = int(first.base.rsplit(":", 1)[1])
        seen = threading.Event()
        frames: list[pd.DataFrame] = []

        def run() -> None:
            backend = wa.Hosted(first.base, account.key, concurrency=2, batch_size=10, patience=60)
            frames.append(wa.hmac(MESSAGES, secret="k", backend=backend, store=tmp_path / "kept"))

        thread = threading.Thread(target=run)
        thread.start()
        while len(parts(tmp_path / "kept")) < 8:
            seen.wait(0.005)
        first.stop(signal.SIGKILL)
        seen.wait(0.5)
        with Server(tmp_path / "service", options, port=port):
            thread.join(60)
            assert not thread.is_alive()
            same(frames[0], wa.hmac(MESSAGES, secret="k"))
            # What was charged has its answer kept in the same transaction, so it is not charged again.
            assert settled(account) == 2 * len(MESSAGES)
            assert frames[0].attrs["credits"]["used"] == 2 * len(MESSAGES)
