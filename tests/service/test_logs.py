"""Log lines: what is in them, what never is, and that writing them holds nothing up."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import re
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import multipart
from aiohttp.multipart import parse_content_disposition

from tests.effort import BUSY_SECONDS
from webanalytics.service import logs
from webanalytics.service.logs import Log, Writer, describe
from webanalytics.service.results import Record
from webanalytics.service.settings import ServiceSettings


@contextmanager
def logging_to(file: Path, level: str = "info", **more: Any) -> Iterator[Log]:
    with file.open("wb") as stream:
        log = Log(ServiceSettings({"log_level": level}), stream, **more)
        try:
            yield log
        finally:
            log.close()


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1]]


def test_a_request_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "log"
    before = datetime.now(UTC)
    with logging_to(file) as log:
        log.request(Record("an-id", 0.0, "f47ac10b", "hmac", 200, 2, 1, {"error": "x"}), 0.0123456)
    (line,) = lines(file)
    moment = datetime.fromisoformat(line.pop("time"))
    assert moment.utcoffset() is not None
    assert before <= moment <= datetime.now(UTC)
    assert line == {
        "level": "info",
        "event": "request",
        "id": "an-id",
        "key": "f47ac10b",
        "operation": "hmac",
        "status": 200,
        "credits": 2,
        "milliseconds": 12.346,
        "inputs": 1,
        "error": "x",
    }


def test_notices_failures_and_warnings_are_lines(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with logging_to(file) as log:
        log.warning("credits", account=7, plan="pro", percent=80, remaining=50_000)
        log.error("failure", id="an-id", what="accounts")
        log.warning("webhook", account=7)
    notice, failure, warning = lines(file)
    assert (notice["event"], notice["percent"], notice["account"]) == ("credits", 80, 7)
    assert (failure["level"], failure["what"], failure["id"]) == ("error", "accounts", "an-id")
    assert (warning["level"], warning["event"]) == ("warning", "webhook")


@pytest.mark.parametrize(("level", "expected"), [("debug", 4), ("info", 4), ("warning", 3), ("error", 2)])
def test_the_level_leaves_lesser_lines_out(tmp_path: Path, level: str, expected: int) -> None:
    file = tmp_path / "log"
    with logging_to(file, level) as log:
        log.request(Record("an-id", 0.0), 0.1)
        log.warning("w")
        log.error("failure", id="an-id", what="accounts")
        logging.getLogger("webanalytics.service").error("e")
    assert len(lines(file)) == expected


def test_nothing_breaks_a_line(tmp_path: Path) -> None:
    file = tmp_path / "log"
    hostile = 'a\nb\r\u2028\x00\x1b[31m"}{\u202e'
    with logging_to(file) as log:
        log.request(Record(hostile, 0.0, hostile, hostile, notes={"x": {1: object()}, "id": "no"}), 0.1)
        log.warning("odd", text="lone \ud800", number=float("nan"))
        log.warning("plain")
    assert len(file.read_bytes().splitlines()) == 3
    first, odd, plain = lines(file)
    assert (first["id"], first["key"]) == (hostile, hostile)
    assert first["x"] == {"1": "object"}
    assert odd["event"] == "odd"
    assert plain["event"] == "plain"


def raised(work: Callable[[], Any]) -> BaseException:
    try:
        work()
    except BaseException as error:
        return error
    raise AssertionError


def chained() -> None:
    try:
        raise KeyError("hunter2")
    except KeyError as error:
        raise RuntimeError("hunter2") from error


def test_an_exception_is_its_type_and_place_without_its_message(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with logging_to(file) as log:
        log.error("exception", **describe(raised(chained)))
        log.error("exception", **describe(raised(lambda: open("/none/hunter2"))))  # noqa: PTH123, SIM115
    first, second = lines(file)
    assert (first["exception"], first["cause"]) == ("RuntimeError", "KeyError")
    assert first["places"][0].startswith("tests/service/test_logs.py:")
    assert first["places"][0].endswith(" chained")
    assert (second["exception"], second["errno"]) == ("FileNotFoundError", "ENOENT")
    assert "hunter2" not in file.read_text()


def test_other_loggers_go_the_same_way_without_what_they_quote(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with logging_to(file):
        logging.getLogger("webanalytics.service.engine").warning("failed: %s", "ValueError")
        logging.getLogger("aiohttp.server").warning("bad request %s", "hunter2")
        try:
            raise ValueError("hunter2")
        except ValueError:
            logging.getLogger("aiohttp.server").exception("Error handling request")
        logging.getLogger("asyncio").error("Task exception was never retrieved\nfuture: hunter2")
    found = lines(file)
    assert [line["text"] for line in found] == [
        "failed: ValueError",
        "bad request %s",
        "Error handling request",
        "Task exception was never retrieved",
    ]
    assert found[2]["exception"] == "ValueError"
    assert "hunter2" not in file.read_text()
    assert logging.getLogger("aiohttp").propagate, "a closed log leaves the loggers as they were"


def test_warnings_and_all_other_loggers_are_lines_that_quote_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "log"
    with logging_to(file):
        parse_content_disposition("form-data; hunter2=\x1b]0;mine\x07")  # of which aiohttp warns
        warnings.filterwarnings("always", category=UserWarning)
        warnings.warn("hunter2", UserWarning, stacklevel=1)
        logging.getLogger("aiohttp.access").warning("odd: %s", "hunter2")
    assert "hunter2" not in file.read_text() + "".join(capfd.readouterr())
    warned, other = lines(file)
    assert warned["logger"] == "py.warnings"
    assert re.fullmatch(r"UserWarning at tests/service/test_logs\.py:\d+", warned["text"])
    assert (other["logger"], other["text"]) == ("aiohttp.access", "odd: %s")
    registry = vars(multipart).get("__warningregistry__", {})
    assert not any("hunter2" in str(key) for key in registry), "nor what Python keeps of it"


def test_what_the_loop_reports_is_a_line_without_a_message(tmp_path: Path) -> None:
    file = tmp_path / "log"

    async def work() -> None:
        async def fail() -> None:
            raise ValueError("hunter2")

        with logging_to(file):
            task = asyncio.create_task(fail())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            del task
        assert asyncio.get_running_loop().get_exception_handler() is None

    asyncio.run(work())
    (line,) = lines(file)
    assert (line["text"], line["exception"]) == ("Task exception was never retrieved", "ValueError")
    assert "hunter2" not in file.read_text()


def test_a_reader_that_falls_behind_costs_lines_not_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "CLOSE_SECONDS", 10.0)
    reader, file = os.pipe()
    writer = Writer(file, capacity=100)
    line = b'{"line":"' + b"x" * 990 + b'"}\n'
    began = time.perf_counter()
    for _ in range(1000):  # a pipe holds 64 KiB, which nobody reads yet
        writer.add(line)
    assert time.perf_counter() - began < BUSY_SECONDS  # a writer that waits would wait for ever
    time.sleep(0.2)
    for _ in range(150):
        writer.add(line)
    received = io.BytesIO()

    def read() -> None:
        while part := os.read(reader, 65536):
            received.write(part)

    reading = threading.Thread(target=read)
    reading.start()
    writer.close()
    os.close(file)
    reading.join()
    os.close(reader)
    found = [json.loads(each) for each in received.getvalue().splitlines()]
    told = sum(each["lines"] for each in found if each.get("event") == "log lines dropped")
    written = sum("line" in each for each in found)
    assert written < 1150
    assert told + written == 1150, "every line is written or counted"


def test_a_reader_that_has_gone_is_no_error() -> None:
    reader, file = os.pipe()
    os.close(reader)
    writer = Writer(file)
    writer.add(b"{}\n")
    writer.close()
    os.close(file)


def test_a_stuck_reader_does_not_keep_a_process_from_ending() -> None:
    code = (
        "from webanalytics.service import logs\n"
        "from webanalytics.service.settings import ServiceSettings\n"
        "logs.CLOSE_SECONDS = 0.2\n"
        "log = logs.Log(ServiceSettings())\n"
        "for _ in range(5000): log.warning('x' * 100)\n"
        "log.close()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    assert process.wait(20) == 0  # nobody has read a byte
    assert process.stderr is not None
    process.stderr.close()


def test_lines_of_several_processes_do_not_mix(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from webanalytics.service.logs import Log\n"
        "from webanalytics.service.settings import ServiceSettings\n"
        "log = Log(ServiceSettings())\n"
        "for _ in range(2000): log.warning('e', text=sys.argv[1] * 300)\n"
        "log.close()\n"
    )
    reader, file = os.pipe()
    both = [subprocess.Popen([sys.executable, "-c", code, letter], stderr=file) for letter in "ab"]
    os.close(file)
    received = b""
    while part := os.read(reader, 65536):
        received += part
    os.close(reader)
    assert [process.wait() for process in both] == [0, 0]
    texts = [json.loads(line)["text"] for line in received.splitlines()]
    assert sorted(texts) == ["a" * 300] * 2000 + ["b" * 300] * 2000
