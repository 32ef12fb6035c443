"""A real `webanalytics serve` on loopback, driven by the standard library's HTTP client."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

import psutil

from webanalytics.service.accounts import open_accounts
from webanalytics.service.settings import ServiceSettings, read_networks

READY = re.compile(r"listening on (http://\S+)")
START_SECONDS = 120


@dataclass(frozen=True)
class Got:
    """An answer as it came over the wire."""

    status: int
    headers: Message
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> Any:
        assert self.status == 200, (self.status, self.body[:500])
        return self.json["data"]

    @property
    def error(self) -> str:
        content = self.json
        assert content["status"] == "error"
        assert content["data"] is None
        return content["error"]


def call(
    base: str,
    method: str,
    path: str,
    *,
    key: str | None = None,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = 60.0,
    **values: Any,
) -> Got:
    """Make one request; further keywords are its query (GET) or its JSON body (POST)."""
    parts = urlsplit(base)
    sent = dict(headers or {})
    if key is not None:
        sent["X-API-Key"] = key
    if method == "GET" and values:
        path += ("&" if "?" in path else "?") + urlencode(values)
    elif values or (method == "POST" and body is None):
        body = json.dumps(values).encode()
        sent.setdefault("Content-Type", "application/json")
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
    try:
        connection.request(method, path, body, sent)
        answer = connection.getresponse()
        return Got(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


def database_url(folder: Path) -> str:
    return f"sqlite:///{folder / 'accounts.db'}"


def new_key(database: str, *, plan: str = "pro", account: str | None = None, **limits: Any) -> str:
    """Create a key beside a running server, as `webanalytics keys create` does."""

    async def create() -> str:
        accounts = await open_accounts(database, ServiceSettings())
        try:
            key, _ = await accounts.create_key(
                account=account,
                plan=None if account else plan,
                operations=frozenset(limits["operations"]) if "operations" in limits else None,
                networks=read_networks(limits.get("networks", [])),
                expires=limits.get("expires"),
            )
            return key
        finally:
            await accounts.close()

    return asyncio.run(create())


@dataclass
class Server:
    """One `webanalytics serve`; use it as a context manager."""

    folder: Path
    options: tuple[str, ...] = ("--allow-private",)
    database: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    port: int = 0
    base: str = ""
    module: str = "webanalytics"

    def __enter__(self) -> Self:
        self.database = self.database or database_url(self.folder)
        self.log = self.folder / f"server-{time.monotonic_ns()}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *self.arguments()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**os.environ, **self.environment, "WEBANALYTICS_DATABASE": self.database},
            )
        self.base = self._wait()
        return self

    def arguments(self) -> list[str]:
        """The command line after ``python -m``."""
        return [self.module, "serve", "--port", str(self.port), *self.options]

    def _wait(self) -> str:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            found = READY.search(self.output)
            if found:
                return found[1]
            assert self.process.poll() is None, self.output
            time.sleep(0.02)
        raise AssertionError(self.output)

    @property
    def output(self) -> str:
        """What the server has written so far."""
        return self.log.read_text("utf-8", "replace")

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self, signal_number: int = signal.SIGTERM, timeout: float = 40.0) -> int:
        """End the server and return its exit status."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal_number)
        return self.process.wait(timeout)

    def key(self, **limits: Any) -> str:
        """Return a new key, by default of a new account on the plan pro."""
        return new_key(self.database, **limits)

    def call(self, method: str, path: str, **values: Any) -> Got:
        """Make one request."""
        return call(self.base, method, path, **values)

    def post(self, path: str, key: str, **values: Any) -> Got:
        """Call an operation by POST."""
        return call(self.base, "POST", path, key=key, **values)


class Gunicorn(Server):
    """Two server processes, as the guide to deployment starts them; settings come from the environment."""

    def arguments(self) -> list[str]:
        place = "webanalytics.service.server.gunicorn"
        bind = ["--workers", "2", "--bind", f"127.0.0.1:{self.port}", "--no-control-socket"]
        return ["gunicorn", *bind, "-k", f"{place}.Worker", f"{place}:app"]

    def processes(self) -> set[int]:
        """The server processes, not their own workers for pages."""
        return {child.pid for child in psutil.Process(self.process.pid).children()}


def processor_seconds(server: Server) -> float:
    """Processor time of the service and its workers."""
    process = psutil.Process(server.process.pid)
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    return sum(one.user + one.system for one in times)
