"""Who calls: the key, its state and its restrictions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from aiohttp import web

from webanalytics.errors import ParameterError
from webanalytics.operations import Operation
from webanalytics.service.accounts.base import Key, Network
from webanalytics.service.results import Problem

UNAUTHORIZED = "unauthorized"
REVOKED = "API key has been revoked."
WRONG_ADDRESS = "IP address not allowed for this API key"
BLOCKED = "Access to `{api}` is blocked for this API key"

Address = IPv4Address | IPv6Address


def parse_networks(items: Sequence[str], name: str) -> tuple[Network, ...]:
    """Return networks in CIDR notation, or raise `ParameterError` naming the parameter.

    Examples
    --------
    >>> parse_networks(["192.0.2.0/24", "2001:db8::1"], "ip")
    (IPv4Network('192.0.2.0/24'), IPv6Network('2001:db8::1/128'))
    """
    try:
        return tuple(ip_network(item.strip(), strict=False) for item in items)
    except ValueError:
        sentence = f"The `{name}` parameter must be addresses or networks such as 192.0.2.0/24."
        raise ParameterError(sentence, name) from None


def read_address(text: str | None) -> Address | None:
    """Return an address as networks are compared with: IPv4 also inside IPv6 (RFC 4291, 2.5.5.2)."""
    try:
        address = ip_address((text or "").strip().partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def within(address: Address | None, networks: Sequence[Network]) -> bool:
    """Tell whether an address lies in one of the networks."""
    return address is not None and any(
        address.version == network.version and address in network for network in networks
    )


def caller_address(request: web.BaseRequest, proxies: Sequence[Network]) -> Address | None:
    """Return where a request comes from.

    That is the socket's address. Where it is a proxy of the configuration, the last address of
    ``X-Forwarded-For`` that is none: what stands before it was written by the caller.
    """
    address = read_address(request.remote)
    if not proxies or not within(address, proxies):
        return address
    hops = ",".join(request.headers.getall("X-Forwarded-For", [])).split(",")
    for hop in reversed(hops):
        found = read_address(hop)
        if found is None:
            return address
        address = found
        if not within(found, proxies):
            break
    return address


def check_key(key: Key | None) -> Key:
    """Return a key that is valid now.

    Raises
    ------
    Problem
        401 for an unknown or expired key, 403 for a revoked one.
    """
    if key is None:
        raise Problem(401, UNAUTHORIZED)
    now = time.time()
    if key.revoked is not None and key.revoked <= now:
        raise Problem(403, REVOKED)
    if key.expires is not None and key.expires <= now:
        raise Problem(401, UNAUTHORIZED)
    return key


def check_address(key: Key, request: web.BaseRequest, proxies: Sequence[Network]) -> None:
    """Raise `Problem` 403 where the key may not be used from where a request comes from."""
    if key.networks and not within(caller_address(request, proxies), key.networks):
        raise Problem(403, WRONG_ADDRESS)


def check_operation(key: Key, operation: Operation) -> None:
    """Raise `Problem` 403 where the key may not call an operation."""
    if key.operations is not None and operation.name not in key.operations:
        raise Problem(403, BLOCKED.format(api=operation.path))
