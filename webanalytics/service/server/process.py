"""What every server process runs, alone (`serve`) or under gunicorn (`gunicorn`).

It opens a service, serves sockets and stops gracefully.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from aiohttp import web

from webanalytics.service.config.settings import ServiceSettings
from webanalytics.service.logs import Log
from webanalytics.service.results import Record
from webanalytics.service.server.transport import start

SIGNALS = (signal.SIGTERM, signal.SIGINT)
COLLECTIONS = (20_000, 20, 50)
"""Thresholds of the garbage collector; Python's own are (700, 10, 10)."""


class Servable(Protocol):
    """What a server process serves.

    It may also have ``on_connections``, which gets the number of open connections whenever it changes.
    """

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""
        ...

    def on_error(self, record: Record) -> None:
        """Record a request that was answered before it could be handled."""
        ...

    def drain(self) -> None:
        """Refuse new requests from now on."""
        ...


Opening = Callable[[ServiceSettings], AbstractAsyncContextManager[Servable]]
"""Opens a service for the length of an ``async with`` block."""


def open_service(settings: ServiceSettings) -> AbstractAsyncContextManager[Servable]:
    """Open the service; imported here, since its counters ask the environment when they are imported."""
    from webanalytics.service.server import factory

    return factory.open_service(settings)


def url_of(sock: socket.socket) -> str:
    """Return the address of a listening socket as a URL."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if sock.family == socket.AF_INET6 else f"http://{host}:{port}"


class StopSignals:
    """The first signal asks for a graceful stop; the second ends the process at once."""

    def __init__(self) -> None:
        self.received = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._receive, number)

    def _receive(self, number: signal.Signals) -> None:
        if self.received.is_set():
            os._exit(128 + number)
        self.received.set()


def settle_memory() -> None:
    """Exclude imported and opened objects from garbage collection, and collect less often.

    A request makes about a hundred objects, which are freed without a collection; scanning the hundreds of
    thousands that stay, every few requests, would take a tenth of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)


async def serve_until(
    stop: asyncio.Event,
    settings: ServiceSettings,
    socks: Sequence[socket.socket],
    opening: Opening,
    *,
    ready: Callable[[], None],
) -> None:
    """Serve bound sockets until ``stop`` is set; then finish requests in progress."""
    async with opening(settings) as service:
        on_connections = getattr(service, "on_connections", None)
        listeners = [
            await start(
                service.handle, settings, sock, on_error=service.on_error, on_connections=on_connections
            )
            for sock in socks
        ]
        try:
            settle_memory()
            ready()
            await stop.wait()
        finally:
            service.drain()
            await asyncio.gather(*(listener.stop(settings.grace_seconds) for listener in listeners))


def announce(sock: socket.socket, log: Log) -> None:
    """Report that the service is ready, to a person and in the log."""
    url = url_of(sock)
    sys.stderr.write(f"webanalytics is listening on {url}\n")  # in one piece: other processes may write too
    sys.stderr.flush()
    log.info("listening", url=url)
