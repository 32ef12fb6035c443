"""Who calls: the key, its state and its restrictions."""

from __future__ import annotations

import time
from collections.abc import Sequence

from aiohttp import web

from webanalytics.operations import Operation
from webanalytics.service.accounts.base import Key
from webanalytics.service.addresses import Address, Network, read_address, within
from webanalytics.service.results import Problem

UNAUTHORIZED = "unauthorized"
REVOKED = "API key has been revoked."
WRONG_ADDRESS = "IP address not allowed for this API key"
BLOCKED = "Access to `{api}` is blocked for this API key"


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
    state = None if key is None else key.state(time.time())
    if state == "revoked":
        raise Problem(403, REVOKED)
    if key is None or state == "expired":
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
