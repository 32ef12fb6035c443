"""One guarded connection: the certificates that a server shows at an address, and whether they are trusted."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from typing import Any, NamedTuple

from webanalytics.errors import ParameterError
from webanalytics.fetching.guard import SocketFactory
from webanalytics.fetching.response import Problem
from webanalytics.fetching.tls.starttls import GREETINGS, LIMIT

_DER = 2  # of `_ssl`: how a certificate is written


class Shown(NamedTuple):
    """What a server shows at one address, in DER."""

    sent: tuple[bytes, ...]  # the chain as the server sends it, its own certificate first
    trusted: tuple[bytes, ...]  # the chain up to a known root, () where none leads there
    code: int  # what OpenSSL finds wrong with it, 0 for nothing
    fault: str  # the same in its words
    version: str  # of TLS


class Trust:
    """The roots that are known: the system's, or those of a file."""

    def __init__(self, ca: str | os.PathLike[str] | None) -> None:
        try:
            self.checked = ssl.create_default_context(cafile=None if ca is None else os.fspath(ca))
        except (OSError, TypeError, ValueError):
            raise ParameterError("The `ca` parameter must be a file of certificates in PEM.", "ca") from None
        self.checked.check_hostname = False  # names are compared later: the chain alone is of interest here
        self.checked.verify_flags &= ~ssl.VERIFY_X509_STRICT  # which Python 3.13 sets, 3.12 does not
        self.unchecked = ssl.create_default_context()
        self.unchecked.check_hostname, self.unchecked.verify_mode = False, ssl.CERT_NONE


async def shown(
    address: str, port: int, protocol: str, name: str, *, trust: Trust, allow_private: bool, seconds: float
) -> Shown:
    """Return what a server shows to who asks for a name, or raise `Problem`.

    A chain that is not trusted ends the first connection, and is read in a second one.
    """
    dialled = address, port, protocol, name, allow_private
    try:
        async with asyncio.timeout(seconds):
            try:
                return await _dial(*dialled, trust.checked)
            except ssl.SSLCertVerificationError as error:
                found = await _dial(*dialled, trust.unchecked)
                return found._replace(code=error.verify_code, fault=error.verify_message, trusted=())
    except TimeoutError:
        raise Problem("connect_timeout", seconds=f"{seconds:g}") from None
    except ssl.SSLError:
        raise Problem("handshake") from None
    except (asyncio.IncompleteReadError, OSError):
        raise Problem("interrupted") from None
    except asyncio.LimitOverrunError:
        raise Problem("no_starttls") from None


async def _dial(
    address: str, port: int, protocol: str, name: str, allow_private: bool, context: ssl.SSLContext
) -> Shown:
    opened = await _connected(address, port, allow_private)
    reader, writer = await asyncio.open_connection(sock=opened, limit=LIMIT)
    try:
        greet = GREETINGS[protocol][1]
        if greet is not None:
            await greet(reader, writer, name)
        await writer.start_tls(context, server_hostname=name)
        secured: Any = writer.get_extra_info("ssl_object")
        # Before Python 3.13 only the object behind it has these methods.
        inner = getattr(secured, "_sslobj", secured)
        sent = tuple(one.public_bytes(_DER) for one in inner.get_unverified_chain() or ())
        checked = context.verify_mode == ssl.CERT_REQUIRED
        chain = (inner.get_verified_chain() or ()) if checked else ()
        return Shown(sent, tuple(one.public_bytes(_DER) for one in chain), 0, "", secured.version() or "")
    finally:
        writer.transport.abort()


async def _connected(address: str, port: int, allow_private: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        opened = SocketFactory(allow_private)((family, socket.SOCK_STREAM, 0, "", (address, port)))
    except PermissionError:
        raise Problem("private") from None
    try:
        await asyncio.get_running_loop().sock_connect(opened, (address, port))
    except TimeoutError:  # the system's own; ours cancels
        opened.close()
        raise
    except OSError:
        opened.close()
        raise Problem("refused") from None
    except BaseException:
        opened.close()
        raise
    return opened
