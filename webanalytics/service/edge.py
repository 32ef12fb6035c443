"""The edge: what is decided about a request before the application sees it, and headers of all answers."""

from __future__ import annotations

import os
import re

from aiohttp import web

KEY_HEADER = "x-api-key"
REMAINING_HEADER = "x-api-remaining-credits"

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
    """Tell whether a header's value has the shape of a key, a UUID (RFC 9562 section 4).

    Examples
    --------
    >>> key_shaped("6f1c2b4a-7d8e-4f90-a1b2-c3d4e5f60718"), key_shaped("YOUR_API_KEY")
    (True, False)
    """
    return value is not None and _UUID.fullmatch(value) is not None


def new_request_id() -> str:
    """Return an identifier that no other request has: a UUID of version 4 (RFC 9562 section 5.4)."""
    drawn = os.urandom(16).hex()
    return f"{drawn[:8]}-{drawn[8:12]}-4{drawn[13:16]}-a{drawn[17:20]}-{drawn[20:]}"


def trace_context(request_id: str) -> str:
    """Return the header by which a call is found again: TRACE_ID/SPAN_ID;o=1."""
    return f"{request_id.replace('-', '')}/{int(request_id[-12:], 16)};o=1"


def caller_request_id(value: str | None, request_id: str) -> str:
    """Return the caller's own identifier where it can stand in a header, else ours.

    Examples
    --------
    >>> caller_request_id("order-7", "ours"), caller_request_id("two words", "ours")
    ('order-7', 'ours')
    """
    return value if value is not None and _REQUEST_ID.fullmatch(value) else request_id


def forbidden(request_id: str) -> web.Response:
    """Return what the edge answers where there is no key: HTML, without CORS headers."""
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
