"""Commands and their results as JSON between the processes that share an SQLite file.

Values that JSON does not have travel as a list whose first item names their type; nothing else
travels as a list. A frame is a length of four bytes and one JSON array of messages.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any

import orjson

from webanalytics.errors import ParameterError
from webanalytics.service.accounts.base import (
    AccountsError,
    Call,
    Conflict,
    Idempotency,
    Key,
    KeyRow,
    NoCredits,
    Receipt,
    Replay,
    Reservation,
)

LENGTH = struct.Struct("!I")

MOST_BYTES = 256_000_000
"""Longest frame; a longer one closes the connection."""

RECORDS: tuple[type, ...] = (
    Key,
    KeyRow,
    Idempotency,
    Call,
    Reservation,
    Receipt,
    Replay,
    NoCredits,
    Conflict,
)
"""Records whose attributes travel in order."""

_PLAIN = (str, int, bool, type(None))


def _packer(record: type) -> Callable[[Any], list[Any]]:
    name, attributes = record.__name__, tuple(record.__dataclass_fields__)  # type: ignore[attr-defined]

    def pack_record(value: Any) -> list[Any]:
        return [name, *[pack(getattr(value, attribute)) for attribute in attributes]]

    return pack_record


_PACK: dict[type, Callable[[Any], Any]] = {
    **{record: _packer(record) for record in RECORDS},
    float: lambda value: value if math.isfinite(value) else ["float", str(value)],
    bytes: lambda value: ["bytes", base64.b64encode(value).decode()],
    list: lambda value: ["list", *map(pack, value)],
    tuple: lambda value: ["tuple", *map(pack, value)],
    frozenset: lambda value: ["frozenset", *map(pack, sorted(value))],
    IPv4Network: lambda value: ["network", str(value)],
    IPv6Network: lambda value: ["network", str(value)],
    ParameterError: lambda value: ["ParameterError", str(value), value.parameter],
    AccountsError: lambda value: ["AccountsError", str(value)],
}
_UNPACK: dict[str, Callable[..., Any]] = {
    **{record.__name__: record for record in RECORDS},
    "float": float,
    "bytes": base64.b64decode,
    "list": lambda *items: list(items),
    "tuple": lambda *items: items,
    "frozenset": lambda *items: frozenset(items),
    "network": ip_network,
    "ParameterError": ParameterError,
    "AccountsError": AccountsError,
}


def pack(value: Any) -> Any:
    """Return a value in terms of JSON.

    Examples
    --------
    >>> unpack(pack((b"ab", frozenset({"hmac"}))))
    (b'ab', frozenset({'hmac'}))
    """
    kind = type(value)
    return value if kind in _PLAIN else _PACK[kind](value)


def unpack(value: Any) -> Any:
    """Return what `pack` was given."""
    if type(value) is not list:
        return value
    return _UNPACK[value[0]](*map(unpack, value[1:]))


class Frames:
    """The frames in a stream of bytes.

    Examples
    --------
    >>> frames = Frames()
    >>> data = frame([encode([1, "ready"])])
    >>> frames.feed(data[:5]), frames.feed(data[5:])
    ([], [[1, 'ready']])
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[list[Any]]:
        """Return the messages that are complete; raise ValueError where there is something else."""
        buffer, messages, start = self._buffer, [], 0
        buffer += data
        while len(buffer) >= start + LENGTH.size:
            (length,) = LENGTH.unpack_from(buffer, start)
            if length > self._most_bytes:
                raise ValueError("a frame is too long")
            end = start + LENGTH.size + length
            if len(buffer) < end:
                break
            messages += orjson.loads(memoryview(buffer)[start + LENGTH.size : end])
            start = end
        del buffer[:start]
        return messages


def encode(message: list[Any]) -> bytes:
    """Return a message as JSON, or raise AccountsError for text that is none (a lone surrogate)."""
    try:
        return orjson.dumps(message)
    except TypeError as error:
        raise AccountsError(f"The accounts database failed: {error}.") from error


def frame(messages: list[bytes]) -> bytes:
    """Return encoded messages as one frame."""
    body = b"[" + b",".join(messages) + b"]"
    return LENGTH.pack(len(body)) + body
