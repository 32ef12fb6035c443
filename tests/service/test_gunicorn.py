"""Gunicorn from its own command line: two processes on one PostgreSQL, with all protections."""

from __future__ import annotations

import asyncio
import os
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
from tests.service.live import Gunicorn
from tests.service.supervised import wait_until
from tests.service.test_concurrency import HMAC, ask_many


def ready(server: Gunicorn) -> bool:
    try:
        return server.call("GET", "/readyz").status == 200
    except OSError:
        return False


@pytest.fixture(scope="module")
def gunicorn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gunicorn]:
    folder = tmp_path_factory.mktemp("gunicorn")
    quick = {"WEBANALYTICS_WORKERS": "1", "WEBANALYTICS_READ_TIMEOUT": "1.5"}
    with Gunicorn(folder, database=postgres.running().database(), environment=quick) as running:
        yield running


def test_two_processes_charge_one_account_exactly(gunicorn: Gunicorn) -> None:
    key = gunicorn.key(plan="starter")
    assert len(gunicorn.processes()) == 2
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
    before = gunicorn.processes()
    killed = min(before)
    os.kill(killed, signal.SIGKILL)
    assert wait_until(lambda: len(gunicorn.processes() - {killed}) == 2, 30)
    assert wait_until(lambda: ready(gunicorn), 30)
    assert gunicorn.process.poll() is None


def test_a_signal_stops_all(gunicorn: Gunicorn) -> None:
    workers = gunicorn.processes()
    gunicorn.process.send_signal(signal.SIGTERM)
    assert gunicorn.process.wait(PROCESS_SECONDS) == 0
    assert wait_until(lambda: not any(psutil.pid_exists(worker) for worker in workers), 30)
    assert "Traceback" not in gunicorn.output


@pytest.mark.parametrize(
    ("workers", "database", "sentence"),
    [
        ("1", "postgresql://shop:hunter2@127.0.0.1:1/none", "PostgreSQL cannot be reached"),
        ("2", "sqlite:///hunter2.db", "several server processes need PostgreSQL"),
    ],
)
def test_without_a_database_for_all_it_ends_with_a_sentence(
    tmp_path: Path, workers: str, database: str, sentence: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *Gunicorn(tmp_path).arguments(), "--workers", workers],
        env={**os.environ, "WEBANALYTICS_DATABASE": database},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PROCESS_SECONDS,
    )
    assert done.returncode == 3
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert "shop:hunter2" not in done.stderr
