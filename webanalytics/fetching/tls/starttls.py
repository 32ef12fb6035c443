"""The words that come before TLS: STARTTLS of mail, chat, directories and databases.

Nothing is sent but the request for a secure connection, and a few kilobytes are read at most.
"""

from __future__ import annotations

import re
import struct
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Final

from webanalytics.fetching.response import Problem

LIMIT = 8_192
"""Bytes of an answer that are read, and of a line."""
MOST_LINES = 100

Greet = Callable[[StreamReader, StreamWriter, str], Awaitable[None]]

_XMPP = (
    "<?xml version='1.0'?><stream:stream xmlns='jabber:{kind}' xmlns:stream='http://etherx.jabber.org/streams'"
    " to='{host}' version='1.0'>"
)
_XMPP_TLS = b"<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"
_LDAP_TLS = b"\x30\x1d\x02\x01\x01\x77\x18\x80\x161.3.6.1.4.1.1466.20037"  # RFC 4511 section 4.14


async def _smtp(reader: StreamReader, writer: StreamWriter, _: str) -> None:
    """RFC 3207; the name is the address that the server sees anyway."""
    await _lines(reader, rb"220 ")
    own = str(writer.get_extra_info("sockname")[0]).partition("%")[0]
    writer.write(f"EHLO [{'IPv6:' * (':' in own)}{own}]\r\n".encode())
    offered = await _lines(reader, rb"250 ")
    _need(any(line[4:].strip().upper() == b"STARTTLS" for line in offered))
    writer.write(b"STARTTLS\r\n")
    await _lines(reader, rb"220 ")


def _words(greeting: bytes, command: bytes, answer: bytes) -> Greet:
    """IMAP (RFC 9051 section 6.2.1) and POP3 (RFC 2595): one greeting, one command, one answer."""

    async def greet(reader: StreamReader, writer: StreamWriter, _: str) -> None:
        await _lines(reader, greeting)
        writer.write(command)
        await _lines(reader, answer)

    return greet


def _xmpp(kind: str) -> Greet:
    """RFC 6120 section 5."""

    async def greet(reader: StreamReader, writer: StreamWriter, host: str) -> None:
        writer.write(_XMPP.format(kind=kind, host=host).encode())
        _need(b"xmpp-tls" in await reader.readuntil(b"</stream:features>"))
        writer.write(_XMPP_TLS)
        _need(b"<proceed" in await reader.readuntil(b">"))

    return greet


async def _ldap(reader: StreamReader, writer: StreamWriter, _: str) -> None:
    writer.write(_LDAP_TLS)
    size = (await reader.readexactly(2))[1]
    if size > 0x80:
        size = int.from_bytes(await reader.readexactly(size - 0x80))
    _need(size <= LIMIT and b"\x0a\x01\x00" in await reader.readexactly(size))  # the result is success


async def _postgresql(reader: StreamReader, writer: StreamWriter, _: str) -> None:
    writer.write(struct.pack("!II", 8, 80_877_103))
    _need(await reader.readexactly(1) == b"S")


async def _mysql(reader: StreamReader, writer: StreamWriter, _: str) -> None:
    """The handshake of protocol 10: its packet, and in answer one that asks for TLS."""
    size = int.from_bytes((await reader.readexactly(4))[:3], "little")
    _need(size <= LIMIT)
    packet = await reader.readexactly(size)
    at = packet.find(b"\0") + 14  # behind the version: connection, half of a challenge, a zero
    _need(packet[:1] == b"\x0a" and bool(int.from_bytes(packet[at : at + 2], "little") & 0x800))
    writer.write(struct.pack("<I", 32 | 1 << 24) + struct.pack("<IIB23x", 0x8A00, 1 << 24, 45))


GREETINGS: Final[Mapping[str, tuple[int, Greet | None]]] = MappingProxyType(
    {
        "https": (443, None),
        "tls": (443, None),
        "smtp": (25, _smtp),
        "submission": (587, _smtp),
        "imap": (143, _words(rb"\* OK", b"a STARTTLS\r\n", rb"a OK")),
        "pop3": (110, _words(rb"\+OK", b"STLS\r\n", rb"\+OK")),
        "xmpp": (5222, _xmpp("client")),
        "xmpp-server": (5269, _xmpp("server")),
        "ldap": (389, _ldap),
        "postgresql": (5432, _postgresql),
        "mysql": (3306, _mysql),
    }
)
"""Protocols by name: the usual port, and what is said before TLS."""
USUAL: Final = {port: name for name, (port, _) in GREETINGS.items()}
"""Protocols by port."""


async def _lines(reader: StreamReader, last: bytes) -> list[bytes]:
    """Return the lines of an answer up to the one that begins as a pattern says.

    One with another code, or another answer to the same command, ends it: there is no STARTTLS.
    """
    found: list[bytes] = []
    while len(found) < MOST_LINES:
        line = await reader.readuntil(b"\n")
        found.append(line)
        if re.match(last, line, re.IGNORECASE):
            return found
        _need(line[3:4] == b"-" or (line[:2] == b"* " and last[:1] == b"a"))
    raise Problem("no_starttls")


def _need(offered: bool) -> None:
    if not offered:
        raise Problem("no_starttls")
