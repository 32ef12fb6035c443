"""A service small enough for tests of processes, and what it takes to run it as a command."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.client import HTTPConnection
from typing import Any

from aiohttp import web

from tests.effort import BUSY_SECONDS, PROCESS_SECONDS
from webanalytics.service.accounts.base import AccountsError
from webanalytics.service.results import Record
from webanalytics.service.settings import ServiceSettings

SERVICE = "open_stub"
BROKEN = "open_broken"

CODE = """
import json, sys
from tests.service import supervised
from webanalytics.errors import WebAnalyticsError
from webanalytics.service.accounts.base import AccountsError
from webanalytics.service.settings import ServiceSettings
from webanalytics.service.server.process import serve

settings, service = json.loads(sys.stdin.readline())
try:
    sys.exit(serve(ServiceSettings(settings), getattr(supervised, service)))
except (WebAnalyticsError, AccountsError) as error:
    print(error, file=sys.stderr)
    sys.exit(2)
"""


class Stub:
    """Answers with its process, after as many seconds as the path says."""

    def __init__(self) -> None:
        self.draining = False

    async def handle(self, request: web.BaseRequest) -> web.Response:
        await asyncio.sleep(float(request.path[1:] or 0))
        return web.Response(text=f"{os.getpid()} {self.draining}")

    def on_error(self, record: Record) -> None:
        pass

    def on_connections(self, number: int) -> None:
        pass

    def drain(self) -> None:
        self.draining = True


@asynccontextmanager
async def open_stub(settings: ServiceSettings) -> AsyncIterator[Stub]:
    yield Stub()
    print("closed", file=sys.stderr, flush=True)


@asynccontextmanager
async def open_broken(settings: ServiceSettings) -> AsyncIterator[Stub]:
    raise AccountsError("The accounts database cannot be opened.")
    yield


class Serving:
    """A service that runs as a command."""

    def __init__(self, command: subprocess.Popen[str]) -> None:
        self.command = command
        self.lines: list[str] = []
        self.port = 0
        while not self.port:
            line = self.read_line()
            if line.startswith("webanalytics is listening on http://"):
                self.port = int(line.rsplit(":", 1)[1])

    def read_line(self) -> str:
        assert self.command.stderr is not None
        line = self.command.stderr.readline()
        assert line, f"the service ended: {self.lines}"
        self.lines.append(line.strip())
        return self.lines[-1]

    def get(self, path: str = "/0", timeout: float = 10) -> str:
        client = HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            client.request("GET", path)
            return client.getresponse().read().decode()
        finally:
            client.close()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        self.command.send_signal(number)
        return self.wait()

    def wait(self) -> tuple[int, str]:
        _, rest = self.command.communicate(timeout=PROCESS_SECONDS)
        return self.command.returncode, "\n".join(self.lines) + "\n" + rest


def start(arguments: list[str], sent: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, *arguments]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert process.stdin is not None
    process.stdin.write(sent)
    process.stdin.flush()
    return process


def start_stub(service: str, **settings: Any) -> subprocess.Popen[str]:
    return start(["-c", CODE], json.dumps([{"port": 0, **settings}, service]) + "\n")


@contextmanager
def serving(service: str = SERVICE, **settings: Any) -> Iterator[Serving]:
    process = start_stub(service, **settings)
    try:
        yield Serving(process)
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        process.communicate()


def wait_until(condition: Any, seconds: float = 2 * BUSY_SECONDS) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return False
