"""The process of a service: how it starts and stops. Each test runs a real one."""

from __future__ import annotations

import signal
import socket
import threading
import time

import pytest

from tests.effort import PROCESS_SECONDS
from tests.service.supervised import (
    BROKEN,
    SERVICE,
    Serving,
    serving,
    start_stub,
    wait_until,
)
from webanalytics.errors import ParameterError
from webanalytics.service.server.process import bind, url_of


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
def test_a_signal_finishes_what_is_under_way(number: signal.Signals) -> None:
    with serving() as server:
        answers: list[str] = []
        asked = ask(server, "/1", answers)
        server.command.send_signal(number)
        assert wait_until(lambda: _refused(server.port), 5), "new connections are refused"
        assert answers == []
        status, log = server.wait()
        asked.join()
    assert status == 0
    assert answers[0].split()[1] == "True", "the service drained before it stopped listening"
    assert log.count("closed") == 1
    assert "Traceback" not in log


def _refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError:
        return True
    return False


def test_a_second_signal_ends_at_once() -> None:
    with serving() as server:
        answers: list[str] = []
        asked = ask(server, "/90", answers)
        began = time.monotonic()
        server.command.send_signal(signal.SIGINT)
        time.sleep(0.5)
        server.command.send_signal(signal.SIGINT)
        status, _ = server.wait()
        asked.join()
    assert status == 128 + signal.SIGINT
    assert time.monotonic() - began < 60, "the request takes 90 seconds"
    assert "Error" in answers[0] or "Disconnected" in answers[0]


def test_the_grace_ends_what_takes_too_long() -> None:
    with serving(grace_seconds=0.5) as server:
        asked = ask(server, "/90", [])
        began = time.monotonic()
        assert server.stop()[0] == 0
        asked.join()
    assert time.monotonic() - began < 60, "the request takes 90 seconds"


def test_one_process_serves_itself() -> None:
    with serving() as server:
        assert server.get().split()[0] == str(server.command.pid)


def test_a_service_that_cannot_start_says_why_in_one_sentence() -> None:
    process = start_stub(BROKEN)
    _, log = process.communicate(timeout=PROCESS_SECONDS)
    assert process.returncode == 2
    assert "The accounts database cannot be opened." in log
    assert "Traceback" not in log


def test_a_taken_port_is_one_sentence() -> None:
    with bind("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        with pytest.raises(ParameterError) as raised:
            bind("127.0.0.1", port)
        assert str(raised.value) == (
            f"The `port` parameter must be a free port; {port} on 127.0.0.1 is taken by another program."
        )
        done = start_stub(SERVICE, port=port)
        _, log = done.communicate(timeout=PROCESS_SECONDS)
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
