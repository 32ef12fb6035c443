"""Processes: how they start, share a port, are replaced and stop. Each test runs real ones."""

from __future__ import annotations

import signal
import socket
import threading
import time
from pathlib import Path

import pytest

from tests.service.supervised import BROKEN, SERVICE, Serving, command, gone, serving, start, wait_until
from webanalytics.errors import ParameterError
from webanalytics.service.supervisor import bind, url_of

TWO = {"processes": 2}


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
@pytest.mark.parametrize("processes", [1, 2])
def test_a_signal_finishes_what_is_under_way(processes: int, number: signal.Signals) -> None:
    with serving(processes=processes) as server:
        answers: list[str] = []
        asked = ask(server, "/1", answers)
        server.command.send_signal(number)
        assert wait_until(lambda: _refused(server.port), 5), "new connections are refused"
        assert answers == []
        status, log = server.wait()
        asked.join()
    assert status == 0
    assert answers[0].split()[2] == "True", "the service drained before it stopped listening"
    assert log.count("closed") == (processes if processes == 1 else processes + 1)
    assert "Traceback" not in log


def _refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError:
        return True
    return False


@pytest.mark.parametrize("processes", [1, 2])
def test_a_second_signal_ends_at_once(processes: int) -> None:
    with serving(processes=processes) as server:
        answers: list[str] = []
        asked = ask(server, "/20", answers)
        began = time.monotonic()
        server.command.terminate()
        time.sleep(0.5)
        server.command.terminate()
        status, _ = server.wait()
        asked.join()
    assert status == 128 + signal.SIGTERM
    assert time.monotonic() - began < 5
    assert "Error" in answers[0] or "Disconnected" in answers[0]


def test_the_grace_ends_what_takes_too_long() -> None:
    with serving(grace_seconds=0.5, **TWO) as server:
        asked = ask(server, "/20", [])
        began = time.monotonic()
        assert server.stop()[0] == 0
        asked.join()
    assert time.monotonic() - began < 5


def test_two_processes_answer_on_one_port_and_neither_owns_the_database() -> None:
    with serving(**TWO) as server:
        processes = server.processes(2)
        assert len(processes) == 2
        assert server.command.pid not in processes
        assert server.get().split()[1] == "False"
        folder = Path(server.get("/memory"))
        assert folder.is_dir()
        status, log = server.stop()
        assert status == 0
        assert log.index("accounts closed") > log.rindex("\nclosed")
        assert not folder.exists()


def test_one_process_serves_itself_and_owns_the_database() -> None:
    with serving() as server:
        assert server.get().split()[:2] == [str(server.command.pid), "True"]


def test_a_process_that_dies_is_replaced() -> None:
    with serving(**TWO) as server:
        before = server.processes(2)
        with pytest.raises(OSError):
            server.get("/exit")
        assert wait_until(lambda: len(server.processes(2) - before) == 1)
        assert server.command.poll() is None
        status, log = server.stop()
        assert status == 0
        assert '"event":"process ended"' in log


def test_a_process_that_keeps_dying_is_replaced_ever_more_slowly() -> None:
    with serving(**TWO) as server:
        server.processes(2)
        ended = 0
        until = time.monotonic() + 2.5
        while time.monotonic() < until:
            try:
                server.get("/exit", timeout=0.3)
            except OSError:
                ended += 1
                time.sleep(0.02)
        _, log = server.stop()
    # pauses of 0.5, 1 and 2 seconds leave room for three ends of each of two processes
    assert 2 <= log.count('"event":"process ended"') <= 6


def test_a_killed_supervisor_takes_its_processes_with_it() -> None:
    with serving(**TWO) as server:
        processes = server.processes(2)
        server.command.kill()
        assert wait_until(lambda: all(map(gone, processes))), processes
        assert _refused(server.port)


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


@pytest.mark.parametrize("processes", [1, 2])
def test_a_service_that_cannot_start_says_why_in_one_sentence(processes: int) -> None:
    process = start(command(BROKEN, processes=processes))
    _, log = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "The accounts database cannot be opened." in log
    assert "Traceback" not in log


def test_settings_are_not_on_the_command_line_of_a_process() -> None:
    secret = "postgresql://shop:hunter2@127.0.0.1/none"
    with serving(database=secret, **TWO) as server:
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
        done = start(command(SERVICE, port=port))
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
