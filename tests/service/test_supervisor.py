"""Processes: how they start, share a port, are replaced and stop. Each test runs real ones."""

from __future__ import annotations

import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.service.supervised import (
    BROKEN,
    DATABASE,
    SERVICE,
    Serving,
    gone,
    serving,
    start_stub,
    wait_until,
)
from webanalytics.errors import ParameterError
from webanalytics.service.server.process import url_of
from webanalytics.service.server.serve import bind

TWO: dict[str, Any] = {"processes": 2, "database": DATABASE}
ONE: dict[str, Any] = {}


def ask(server: Serving, path: str, answers: list[str]) -> threading.Thread:
    def work() -> None:
        try:
            answers.append(server.get(path))
        except OSError as error:
            answers.append(repr(error))

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.3)
    return thread


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("settings", [ONE, TWO], ids=["one", "two"])
def test_a_signal_finishes_what_is_under_way(settings: dict[str, Any], number: signal.Signals) -> None:
    with serving(**settings) as server:
        answers: list[str] = []
        asked = ask(server, "/1", answers)
        server.command.send_signal(number)
        assert wait_until(lambda: _refused(server.port), 5), "new connections are refused"
        assert answers == []
        status, log = server.wait()
        asked.join()
    assert status == 0
    assert answers[0].split()[1] == "True", "the service drained before it stopped listening"
    assert log.count("closed") == settings.get("processes", 1)
    assert "Traceback" not in log


def _refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError:
        return True
    return False


@pytest.mark.parametrize("settings", [ONE, TWO], ids=["one", "two"])
def test_a_second_signal_ends_at_once(settings: dict[str, Any]) -> None:
    with serving(**settings) as server:
        answers: list[str] = []
        asked = ask(server, "/90", answers)
        began = time.monotonic()
        server.command.send_signal(signal.SIGINT)
        time.sleep(0.5)
        server.command.send_signal(signal.SIGINT)
        status, _ = server.wait()
        asked.join()
    assert status == (0 if settings else 128 + signal.SIGINT)
    assert time.monotonic() - began < 60, "the request takes 90 seconds"
    assert "Error" in answers[0] or "Disconnected" in answers[0]


def test_the_grace_ends_what_takes_too_long() -> None:
    with serving(grace_seconds=0.5, **TWO) as server:
        asked = ask(server, "/90", [])
        began = time.monotonic()
        assert server.stop()[0] == 0
        asked.join()
    assert time.monotonic() - began < 60, "the request takes 90 seconds"


def test_two_processes_answer_on_one_port() -> None:
    with serving(**TWO) as server:
        processes = server.processes(2)
        assert len(processes) == 2
        assert server.command.pid not in processes
        folder = Path(server.get("/memory"))
        assert folder.is_dir()
        status, log = server.stop()
        assert status == 0
        assert log.count("closed") == 2
        assert not folder.exists()


def test_one_process_serves_itself() -> None:
    with serving() as server:
        assert server.get().split()[0] == str(server.command.pid)


def test_several_processes_on_sqlite_are_refused_with_a_sentence() -> None:
    done = start_stub(SERVICE, processes=2)
    _, log = done.communicate(timeout=30)
    assert done.returncode == 2
    assert log.startswith("The `processes` parameter must be 1 with an SQLite database; ")
    assert "PostgreSQL" in log


def test_a_process_that_dies_is_replaced() -> None:
    with serving(**TWO) as server:
        before = server.processes(2)
        with pytest.raises(OSError):
            server.get("/exit")
        assert wait_until(lambda: len(server.processes(2) - before) == 1)
        assert server.command.poll() is None
        status, log = server.stop()
        assert status == 0
        assert "exited with code 7" in log


def test_a_killed_gunicorn_takes_its_processes_with_it() -> None:
    with serving(**TWO) as server:
        processes = server.processes(2)
        server.command.kill()
        assert wait_until(lambda: all(map(gone, processes))), processes
        assert _refused(server.port)


def test_a_process_that_is_starting_hears_of_the_end() -> None:
    with serving(prepare="make_late", **TWO) as server:
        status, log = server.stop()
    assert status == 0
    assert "SIGKILL" not in log


def test_the_counters_of_a_killed_service_are_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    kept = [
        tmp_path / "webanalytics-metrics-file",
        tmp_path / "webanalytics-metrics-link",
        tmp_path / "other",
    ]
    kept[2].mkdir()
    kept[0].touch()
    kept[1].symlink_to(kept[2])
    with serving(**TWO) as killed:
        left = Path(killed.get("/memory"))
        assert left.parent == tmp_path
        processes = killed.processes(2)
        with serving(**TWO) as other:
            assert left.is_dir(), "the first still serves"
            used = Path(other.get("/memory"))
            killed.command.kill()
            assert wait_until(lambda: all(map(gone, processes))), processes
            assert left.is_dir()
            with serving(**TWO) as last:
                assert not left.exists()
                assert used.is_dir()
                assert last.stop()[0] == 0
    assert set(tmp_path.iterdir()) == set(kept)


@pytest.mark.parametrize("settings", [ONE, TWO], ids=["one", "two"])
def test_a_service_that_cannot_start_says_why_in_one_sentence(settings: dict[str, Any]) -> None:
    process = start_stub(BROKEN, **settings)
    _, log = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "The accounts database cannot be opened." in log
    assert "Traceback" not in log


def test_settings_are_not_on_the_command_line_of_a_process() -> None:
    with serving(**TWO) as server:
        for process in server.processes(2):
            assert b"hunter2" not in Path(f"/proc/{process}/cmdline").read_bytes()
            assert b"hunter2" not in Path(f"/proc/{process}/environ").read_bytes()
        _, log = server.stop()
        assert "hunter2" not in log


def test_a_taken_port_is_one_sentence() -> None:
    with bind("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        with pytest.raises(ParameterError) as raised:
            bind("127.0.0.1", port)
        assert str(raised.value) == (
            f"The `port` parameter must be a free port; {port} on 127.0.0.1 is taken by another program."
        )
        done = start_stub(SERVICE, port=port)
        _, log = done.communicate(timeout=30)
        assert done.returncode == 2
        assert log.strip() == str(raised.value)


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host", "a..b"])
def test_a_host_of_another_machine_is_one_sentence(host: str) -> None:
    with pytest.raises(ParameterError, match="The `host` parameter must be"):
        bind(host, 0)


def test_ipv6_addresses() -> None:
    try:
        sock = bind("::1", 0)
    except ParameterError:
        pytest.skip("this machine has no IPv6")
    with sock:
        assert url_of(sock) == f"http://[::1]:{sock.getsockname()[1]}"


def test_a_restart_takes_the_port_back_at_once() -> None:
    with bind("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        sock.setblocking(True)
        served, _ = sock.accept()
        served.close()  # the server closes first: its side waits in TIME_WAIT
        client.close()
    bind("127.0.0.1", port).close()
