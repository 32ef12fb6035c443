"""HTTP/1.1 messages on asyncio streams, no more careful than a test needs (RFC 9112)."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterable, Mapping
from contextlib import suppress
from http import HTTPStatus

from multidict import CIMultiDict, CIMultiDictProxy


def phrase(code: int) -> str:
    return HTTPStatus(code).phrase if code in set(HTTPStatus) else "Unknown"


def head_bytes(start: str, headers: Iterable[tuple[str, str]]) -> bytes:
    lines = [start, *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def read_head(reader: asyncio.StreamReader) -> tuple[list[str], CIMultiDict[str]]:
    first, *lines = (await reader.readuntil(b"\r\n\r\n"))[:-4].decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return first.split(" ", 2), CIMultiDict((name, value.strip()) for name, _, value in pairs)


async def read_chunk(reader: asyncio.StreamReader) -> bytes:
    size = int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16)
    if size:
        return (await reader.readexactly(size + 2))[:-2]
    while await reader.readuntil(b"\r\n") != b"\r\n":  # trailers
        pass
    return b""


async def read_body(reader: asyncio.StreamReader, headers: Mapping[str, str], half: bool = False) -> bytes:
    if "chunked" in headers.get("Transfer-Encoding", "").lower():
        pieces = [await read_chunk(reader)]
        while pieces[-1] and not half:
            pieces.append(await read_chunk(reader))
        return b"".join(pieces)
    length = int(headers.get("Content-Length", 0))
    return await reader.readexactly(length // 2 if half else length)


def kept(headers: CIMultiDictProxy[str] | CIMultiDict[str], dropped: frozenset[str]) -> list[tuple[str, str]]:
    """The headers but those of one connection, repeated ones each."""
    return [(name, value) for name, value in headers.items() if name.lower() not in dropped]


async def shut(writer: asyncio.StreamWriter, *, reset: bool) -> None:
    """Close by RST, or by FIN when all that was written has gone."""
    if reset:
        with suppress(OSError):
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()
    else:
        writer.close()
    with suppress(OSError, asyncio.CancelledError):
        await writer.wait_closed()
    writer.transport.abort()  # where the client reads no more and the proxy ends
