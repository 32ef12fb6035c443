"""One server process: it opens a service, serves a socket and stops in good order.

Run as ``python -m webanalytics.service.child`` it is one of several that share a port. What it is to
do is one line of JSON on its standard input, since options are seen by every user of the machine;
the pipe stays open, and its end means that the supervisor is gone.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from aiohttp import web

from webanalytics.errors import WebAnalyticsError
from webanalytics.service.accounts.base import AccountsError
from webanalytics.service.results import Record
from webanalytics.service.settings import ServiceSettings
from webanalytics.service.transport import start

SERVICE = "webanalytics.service.opening:open_service"
READY = b"ready\n"
SIGNALS = (signal.SIGTERM, signal.SIGINT)
COLLECTIONS = (20_000, 20, 50)
"""Thresholds of the garbage collector; Python's own are (700, 10, 10)."""
WRONG = 2
"""Exit status of a process that cannot start."""


class Servable(Protocol):
    """What a server process serves.

    It may also have ``on_connections``, which gets the number of open connections whenever it changes.
    """

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""
        ...

    def on_error(self, record: Record) -> None:
        """Take note of a request that was answered before it could be handled."""
        ...

    def drain(self) -> None:
        """Say from now on that no new requests are wanted."""
        ...


def load(place: str) -> Callable[..., Any]:
    """Return the function at ``module:name``.

    Examples
    --------
    >>> load("math:floor")(2.5)
    2
    """
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


class StopSignals:
    """The first signal asks for a graceful stop; the second ends the process at once.

    Parameters
    ----------
    at_once : callable, optional
        Called before the process ends at once.
    """

    def __init__(self, at_once: Callable[[], None] | None = None) -> None:
        self.received = asyncio.Event()
        self._at_once = at_once
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._receive, number)

    def _receive(self, number: signal.Signals) -> None:
        if not self.received.is_set():
            self.received.set()
            return
        if self._at_once is not None:
            self._at_once()
        os._exit(128 + number)


def settle_memory() -> None:
    """Let collections pass over what was imported and opened, and come less often.

    A request makes about a hundred objects, which are freed without a collection; looking at the
    hundred thousands that stay, every few requests, would take a tenth of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)


async def serve_until(
    stop: asyncio.Event,
    settings: ServiceSettings,
    sock: socket.socket,
    place: str,
    *,
    owner: bool,
    ready: Callable[[], None],
) -> None:
    """Serve until told to stop; then finish what is under way.

    Parameters
    ----------
    stop : asyncio.Event
        Set when the service is to stop.
    settings : ServiceSettings
        The configuration.
    sock : socket.socket
        Bound and listening.
    place : str
        ``module:name`` of the function that opens the service.
    owner : bool
        Whether this process owns an SQLite database.
    ready : callable
        Called when requests are answered.
    """
    opened: AbstractAsyncContextManager[Servable] = load(place)(settings, owner=owner)
    async with opened as service:
        listener = await start(
            service.handle,
            settings,
            sock,
            on_error=service.on_error,
            on_connections=getattr(service, "on_connections", None),
        )
        try:
            settle_memory()
            ready()
            await stop.wait()
        finally:
            service.drain()
            await listener.stop(settings.grace_seconds)


def _ready() -> None:
    """Tell the supervisor; what libraries print from now on goes to standard error."""
    os.write(1, READY)
    os.dup2(2, 1)


def _supervisor_gone(stop: asyncio.Event) -> None:
    if not os.read(0, 4096):
        asyncio.get_running_loop().remove_reader(0)
        stop.set()


async def _run(order: dict[str, Any]) -> None:
    settings = ServiceSettings.from_mapping(order["settings"])
    stop = StopSignals().received
    asyncio.get_running_loop().add_reader(0, _supervisor_gone, stop)
    sock = socket.socket(fileno=order["socket"])
    await serve_until(stop, settings, sock, order["service"], owner=False, ready=_ready)


def _read_order() -> dict[str, Any]:
    """Read the first line of standard input, unbuffered: the loop watches the rest."""
    line = bytearray()
    while not line.endswith(b"\n"):
        part = os.read(0, 65536)
        if not part:
            sys.exit(WRONG)  # the supervisor ended before it had said anything
        line += part
    order: dict[str, Any] = json.loads(line)
    return order


def main() -> int:
    """Be one of the server processes, and return the exit status."""
    try:
        asyncio.run(_run(_read_order()))
    except (WebAnalyticsError, AccountsError) as error:
        sys.stderr.write(f"webanalytics: {error}\n")  # in one piece: other processes may write too
        return WRONG
    return 0


if __name__ == "__main__":
    sys.exit(main())
