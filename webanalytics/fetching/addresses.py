"""Which addresses may be dialled, checked on the very address that is dialled.

`aiohttp` asks its socket factory for a socket for each connection attempt: for literal addresses,
for looked-up ones, for cached ones and after redirects. It is the one place where neither a
redirect nor a DNS answer that changes between check and use gets past the check.
"""

from __future__ import annotations

import errno
import socket
from contextvars import ContextVar
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any

# The address families' own notions (`is_private`, `is_global`) leave out relays, translators and
# metadata services, and change between Python versions, so the lists are written out.
# IANA IPv4 Special-Purpose Address Registry; RFC 5771 (multicast), RFC 1112 section 4 (class E),
# RFC 7526 (6to4 relays); and one public address that is a cloud's internal service.
NOT_PUBLIC_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "168.63.129.16/32",
    )
)
# RFC 4291: only this block is global unicast. Everything that embeds an IPv4 address lies outside it
# (mapped, compatible, translated, NAT64) or in the exceptions (Teredo in 2001::/23, 6to4).
PUBLIC_V6 = IPv6Network("2000::/3")
NOT_PUBLIC_V6 = tuple(
    IPv6Network(network)
    for network in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)
_ISATAP = 0x00005EFE  # RFC 5214 section 6.1: the upper half of the interface identifier, u bit aside
_NOT_U = 0xFDFFFFFF

# Addresses refused since the variable was last set, in this task and those started from it: when
# several addresses of a host fail, aiohttp keeps neither the type nor the text of the errors.
refusals: ContextVar[list[str] | None] = ContextVar("refusals", default=None)


def is_public(address: str | IPv4Address | IPv6Address) -> bool:
    """Return whether an address is an ordinary one on the public internet.

    Examples
    --------
    >>> is_public("93.184.215.14"), is_public("169.254.169.254"), is_public("::ffff:93.184.215.14")
    (True, False, False)
    """
    if isinstance(address, str):
        try:
            address = ip_address(address)
        except ValueError:
            return False
    if isinstance(address, IPv4Address):
        return not any(address in network for network in NOT_PUBLIC_V4)
    if address.scope_id is not None or address not in PUBLIC_V6:
        return False
    if any(address in network for network in NOT_PUBLIC_V6):
        return False
    return (int(address) >> 32) & _NOT_U != _ISATAP


def is_own(family: int, address: str) -> bool:
    """Return whether an address belongs to this machine.

    The system sends from an address of its own to that same address, and choosing the route of a
    datagram socket shows it without a packet being sent.

    Examples
    --------
    >>> is_own(socket.AF_INET, "127.0.0.1"), is_own(socket.AF_INET, "93.184.215.14")
    (True, False)
    """
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
            return bool(ip_address(probe.getsockname()[0]) == ip_address(address))
    except (OSError, ValueError):
        return False


def open_socket(family: int, kind: int, protocol: int, address: tuple[Any, ...]) -> socket.socket:  # noqa: ARG001
    """Return a non-blocking socket for an address that passed the check."""
    opened = socket.socket(family, kind, protocol)
    opened.setblocking(False)
    return opened


class SocketFactory:
    """Give a socket for an address that may be dialled, refuse any other.

    Parameters
    ----------
    allow_private : bool
        Allow every address.
    """

    def __init__(self, allow_private: bool = False) -> None:
        self.allow_private = allow_private

    def __call__(self, info: tuple[int, int, int, str, tuple[Any, ...]]) -> socket.socket:
        """Return a socket for one connection attempt of aiohttp."""
        family, kind, protocol, _, address = info
        if not self.allow_private and not self._allowed(family, str(address[0])):
            record = refusals.get()
            if record is not None:
                record.append(str(address[0]))
            raise PermissionError(errno.EACCES, "address not allowed")
        return open_socket(family, kind, protocol, address)

    @staticmethod
    def _allowed(family: int, address: str) -> bool:
        return is_public(address) and not is_own(family, address)
