"""``webanalytics serve``: binds the port and serves it in this process; `gunicorn` runs several."""

from __future__ import annotations

import asyncio
import errno
import socket
from functools import partial

from webanalytics.errors import ParameterError
from webanalytics.service.config.settings import ServiceSettings
from webanalytics.service.logs import Log
from webanalytics.service.server.process import Opening, StopSignals, announce, open_service, serve_until
from webanalytics.service.server.transport import BACKLOG


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    Raises
    ------
    ParameterError
        When the address is not this machine's, or the port is taken or not allowed.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):  # a name that is unknown, or none that could be one
        raise ParameterError(
            "The `host` parameter must be an address or name of this machine.", "host"
        ) from None
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
    """Serve until a signal, and return the exit status: 0 after a graceful stop, 2 for a failed start.

    Raises
    ------
    ParameterError
        When the port cannot be listened on.
    """
    with bind(settings.host, settings.port) as sock:
        asyncio.run(_run(settings.replace(port=sock.getsockname()[1]), sock, opening))
    return 0
