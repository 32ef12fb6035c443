"""A request's headers: the key and what it may do, and the caller's address; and headers of answers."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Sequence

from aiohttp import web

from webanalytics.core.messages import Message
from webanalytics.operations import Operation
from webanalytics.service.accounts.base import Key
from webanalytics.service.results import Problem, error_type
from webanalytics.service.settings import Address, Network, read_address, within

KEY_HEADER = "x-api-key"
REMAINING_HEADER = "x-api-remaining-credits"
ERROR_TYPE_HEADER, ERROR_KEY_HEADER = "x-error-type", "x-error-key"

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,128}")

FORBIDDEN = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>403 Forbidden</title></head>
<body><h1>403 Forbidden</h1><p>The request has no API key, or one that is no key at all.</p></body>
</html>
"""

PREFLIGHT = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
    "Access-Control-Allow-Headers": (
        "accept, cache-control, content-type, idempotency-key, user-agent, x-api-key, x-request-id"
    ),
    "Access-Control-Max-Age": "86400",
}


def key_shaped(value: str | None) -> bool:
    """Return whether a header's value has the shape of a key, a UUID (RFC 9562 section 4).

    >>> key_shaped("6f1c2b4a-7d8e-4f90-a1b2-c3d4e5f60718"), key_shaped("YOUR_API_KEY")
    (True, False)
    """
    return value is not None and _UUID.fullmatch(value) is not None


def new_request_id() -> str:
    """Return an identifier that no other request has: a UUID of version 7 (RFC 9562 section 5.7).

    It begins with the time, so that the ledger's index grows at its end; random ones would have each row
    rewrite a page of it.
    """
    milliseconds = time.time_ns() // 1_000_000
    drawn = f"{milliseconds << 80 | random.getrandbits(80):032x}"  # no secret: no system call is needed
    return f"{drawn[:8]}-{drawn[8:12]}-7{drawn[13:16]}-a{drawn[17:20]}-{drawn[20:]}"


def trace_context(request_id: str) -> str:
    """Return the header by which a call can be traced: TRACE_ID/SPAN_ID;o=1."""
    return f"{request_id.replace('-', '')}/{int(request_id[-12:], 16)};o=1"


def caller_request_id(value: str | None, request_id: str) -> str:
    """Return the caller's own identifier if it is valid in a header, else ours.

    >>> caller_request_id("order-7", "ours"), caller_request_id("two words", "ours")
    ('order-7', 'ours')
    """
    return value if value is not None and _REQUEST_ID.fullmatch(value) else request_id


def error_headers(status: int, failure: Message | str | None) -> dict[str, str]:
    """Return the headers by which a program recognises a failure, whatever its message.

    >>> error_headers(400, Message("status", {"parameter": "url", "status": 404}))
    {'x-error-type': 'http', 'x-error-key': 'status'}
    """
    kind, key = error_type(status, failure), getattr(failure, "key", None)
    named = ((ERROR_TYPE_HEADER, kind), (ERROR_KEY_HEADER, key))
    return {name: value for name, value in named if value is not None}


def open_headers(request_id: str) -> dict[str, str]:
    """Return the headers of every answer that pages of any origin may read."""
    return {
        "Access-Control-Allow-Origin": "*",
        "X-Content-Type-Options": "nosniff",
        "x-edge-request-id": request_id,
        "x-cloud-trace-context": trace_context(request_id),
    }


def forbidden(request_id: str) -> web.Response:
    """Return the edge's answer to a request without a key: HTML, without CORS headers."""
    return web.Response(
        status=403,
        body=FORBIDDEN.encode(),
        headers={
            "Content-Type": "text/html; charset=utf-8",
            "x-edge-request-id": request_id,
            "X-Content-Type-Options": "nosniff",
        },
    )


def preflight(request_id: str) -> web.Response:
    """Return the answer to a browser that asks whether it may call (Fetch standard, CORS preflight)."""
    return web.Response(status=204, headers={**PREFLIGHT, "x-edge-request-id": request_id})


def listed(request: web.BaseRequest, name: str) -> str:
    """Return the list that a header holds, on however many lines it came (RFC 9110 section 5.3)."""
    return ",".join(request.headers.getall(name, ()))


def caller_address(request: web.BaseRequest, proxies: Sequence[Network]) -> Address | None:
    """Return the address that a request comes from.

    That is the socket's address or, if that is a configured proxy, the last address of
    ``X-Forwarded-For`` that is not one: anything before it was written by the caller.
    """
    address = read_address(request.remote)
    if not proxies or not within(address, proxies):
        return address
    for hop in reversed(listed(request, "X-Forwarded-For").split(",")):
        found = read_address(hop)
        if found is None:
            return address
        address = found
        if not within(found, proxies):
            break
    return address


def check_key(key: Key | None) -> Key:
    """Return the key if it is valid now."""
    state = None if key is None else key.state(time.time())
    if state == "revoked":
        raise Problem(403, Message("key_revoked"))
    if key is None or state == "expired":
        raise Problem(401, Message("unauthorized"))
    return key


def check_address(key: Key, request: web.BaseRequest, proxies: Sequence[Network]) -> None:
    """Raise `Problem` 403 if the key may not be used from the request's address."""
    if key.networks and not within(caller_address(request, proxies), key.networks):
        raise Problem(403, Message("address_blocked"))


def check_operation(key: Key, operation: Operation) -> None:
    """Raise `Problem` 403 if the key may not call an operation."""
    if key.operations is not None and operation.name not in key.operations:
        raise Problem(403, Message("operation_blocked", {"api": operation.path}))
