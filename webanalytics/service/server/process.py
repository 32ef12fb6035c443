"""What every server process runs, alone (``webanalytics serve``) or under gunicorn (`gunicorn`).

It opens a service, serves sockets and stops gracefully; alone it binds the port itself.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING

from webanalytics import loops
from webanalytics.errors import ParameterError
from webanalytics.service.logs import Log
from webanalytics.service.server.transport import BACKLOG, start
from webanalytics.service.settings import ServiceSettings

if TYPE_CHECKING:
    from webanalytics.service.app import Service

SIGNALS = (signal.SIGTERM, signal.SIGINT)
COLLECTIONS = (20_000, 20, 50)
"""Thresholds of the garbage collector; Python's own are (700, 10, 10)."""


Opening = Callable[[ServiceSettings], "AbstractAsyncContextManager[Service]"]
"""Opens a service for the length of an ``async with`` block."""


def open_service(settings: ServiceSettings) -> AbstractAsyncContextManager[Service]:
    """Open the service; imported here, since its counters ask the environment when they are imported."""
    from webanalytics.service import app

    return app.open_service(settings)


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
        told = service.on_error, service.on_connections
        servers = [await start(service.handle, settings, sock, *told) for sock in socks]
        try:
            settle_memory()
            ready()
            await stop.wait()
        finally:
            service.drain()
            await asyncio.gather(*(server.stop(settings.grace_seconds) for server in servers))


def announce(sock: socket.socket, log: Log) -> None:
    """Report that the service is ready, to a person and in the log."""
    url = url_of(sock)
    sys.stderr.write(f"webanalytics is listening on {url}\n")  # in one piece: other processes may write too
    sys.stderr.flush()
    log.info("listening", url=url)


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):  # a name that is unknown, or none that could be one
        raise ParameterError.must_be("host", "an address or name of this machine") from None
    family, kind, protocol, _, address = found[0]
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise _bind_error(error, host, port) from None
    sock.setblocking(False)
    return sock


def _bind_error(error: OSError, host: str, port: int) -> ParameterError:
    if error.errno == errno.EADDRINUSE:
        sentence = f"The `port` parameter must be a free port; {port} on {host} is taken by another program."
        return ParameterError(sentence, "port")
    if error.errno in (errno.EACCES, errno.EPERM):
        sentence = f"The `port` parameter must be a port that this user may listen on; {port} is not."
        return ParameterError(sentence, "port")
    return ParameterError("The `host` parameter must be an address or name of this machine.", "host")


async def _run(settings: ServiceSettings, sock: socket.socket, opening: Opening) -> None:
    log = Log(settings, capture=False)
    try:
        stop = StopSignals().received
        await serve_until(stop, settings, [sock], opening, ready=partial(announce, sock, log))
        log.info("stopped")
    finally:
        log.close()


def serve(settings: ServiceSettings, opening: Opening = open_service) -> int:
    """Serve until a signal, and return the exit status: 0 after a graceful stop, 2 for a failed start."""
    with bind(settings.host, settings.port) as sock:
        loops.run(_run(settings.replace(port=sock.getsockname()[1]), sock, opening))
    return 0
