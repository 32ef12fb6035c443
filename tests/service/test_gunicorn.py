"""Gunicorn from its own command line: two processes on one PostgreSQL, with all protections."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.effort import PROCESS_SECONDS
from tests.service import postgres
from tests.service.live import call, new_key
from tests.service.supervised import wait_until
from tests.service.test_concurrency import HMAC, ask_many

MODULE = "webanalytics.service.server.gunicorn"


class Gunicorn:
    """A running gunicorn, as the guide to deployment starts it."""

    def __init__(self, folder: Path, database: str) -> None:
        self.database, self.log = database, folder / "gunicorn.log"
        environment = {
            **os.environ,
            "WEBANALYTICS_DATABASE": database,
            "WEBANALYTICS_IMAGES": str(folder),
            "WEBANALYTICS_WORKERS": "1",
            "WEBANALYTICS_READ_TIMEOUT": "1.5",
        }
        command = [sys.executable, "-m", "gunicorn", "--workers", "2", "--bind", "127.0.0.1:0"]
        command += ["--no-control-socket", "-k", f"{MODULE}.Worker", f"{MODULE}:app"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder)
        assert wait_until(lambda: "listening on" in self.output, 30), self.output
        found = re.search(r"listening on (http://\S+)", self.output)
        assert found
        self.base = found[1]

    @property
    def output(self) -> str:
        return self.log.read_text()

    def workers(self) -> set[int]:
        """The server processes, not their own workers for pages."""
        return {child.pid for child in psutil.Process(self.process.pid).children()}

    def ready(self) -> bool:
        try:
            return call(self.base, "GET", "/readyz").status == 200
        except OSError:
            return False


@pytest.fixture(scope="module")
def gunicorn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gunicorn]:
    running = Gunicorn(tmp_path_factory.mktemp("gunicorn"), postgres.running().database())
    yield running
    if running.process.poll() is None:
        running.process.kill()
    running.process.wait()


def test_two_processes_charge_one_account_exactly(gunicorn: Gunicorn) -> None:
    key = new_key(gunicorn.database, plan="starter")
    assert len(gunicorn.workers()) == 2
    answers = asyncio.run(ask_many(gunicorn.base, key, "/v1/hmac", [HMAC] * 100))
    assert Counter(status for status, _ in answers) == {200: 100}
    name = gunicorn.database.split("/")[3].split("?")[0]
    account = f"(SELECT account FROM keys WHERE prefix = '{key[:8]}')"
    sql = postgres.running().sql
    assert sql(f"SELECT balance FROM accounts WHERE id = {account}", name) == str(25_000 - 200)
    assert sql(f"SELECT sum(delta) FROM ledger WHERE account = {account}", name) == str(25_000 - 200)


def test_the_protections_of_connections_hold(gunicorn: Gunicorn) -> None:
    host, _, port = gunicorn.base.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.sendall(b"POST /v1/hmac HTTP/1.1\r\nHost: x\r\n")  # and no end of the headers
        answer = client.recv(65536)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"did not arrive within 1.5 seconds" in answer
    assert b"Server: webanalytics\r\n" in answer


def test_a_killed_process_is_replaced(gunicorn: Gunicorn) -> None:
    before = gunicorn.workers()
    killed = min(before)
    os.kill(killed, signal.SIGKILL)
    assert wait_until(lambda: len(gunicorn.workers() - {killed}) == 2, 30)
    assert wait_until(gunicorn.ready, 30)
    assert gunicorn.process.poll() is None


def test_a_signal_stops_all(gunicorn: Gunicorn) -> None:
    workers = gunicorn.workers()
    gunicorn.process.send_signal(signal.SIGTERM)
    assert gunicorn.process.wait(60) == 0
    assert not any(psutil.pid_exists(worker) for worker in workers)
    assert "Traceback" not in gunicorn.output


def test_without_a_database_it_ends_with_a_sentence(tmp_path: Path) -> None:
    environment = {**os.environ, "WEBANALYTICS_DATABASE": "postgresql://shop:hunter2@127.0.0.1:1/none"}
    command = [sys.executable, "-m", "gunicorn", "--bind", "127.0.0.1:0", "--no-control-socket"]
    done = subprocess.run(
        [*command, "-k", f"{MODULE}.Worker", f"{MODULE}:app"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PROCESS_SECONDS,
    )
    assert done.returncode == 3
    assert "webanalytics: PostgreSQL cannot be reached" in done.stderr
    assert "hunter2" not in done.stderr
