"""Base64 and data: URLs decoded without trusting either; the local backend and the service call this."""

from __future__ import annotations

import binascii
from urllib.parse import unquote_to_bytes

ESCAPED_BYTES = 1_000_000
"""Longest data: URL with percent-encoding: decoding it takes many times its size."""


def is_data_url(text: str) -> bool:
    """Return whether a text is a data: URL (RFC 2397)."""
    return text.lstrip()[:5].lower() == "data:"


def base64_content(text: str | bytes) -> bytes:
    """Return the bytes that base64 stands for (RFC 4648 section 4); white space in it is ignored.

    Raises `ValueError` for other characters, and for a wrong length or padding.

    >>> base64_content("R0lG ODlh")
    b'GIF89a'
    """
    data = text.encode("ascii") if isinstance(text, str) else text
    return binascii.a2b_base64(data.translate(None, b" \t\r\n\f"), strict_mode=True)


def data_url_content(url: str) -> bytes:
    """Return the bytes inside a data: URL (RFC 2397), or raise `ValueError` when it is malformed.

    >>> data_url_content("data:image/gif;base64,R0lGODlh")
    b'GIF89a'
    """
    head, comma, encoded = url.partition(",")
    data = encoded.encode("ascii")
    if not comma or (b"%" in data and len(data) > ESCAPED_BYTES):
        raise ValueError("malformed data: URL")
    if b"%" in data:
        data = unquote_to_bytes(data)
    return base64_content(data) if head.rstrip().lower().endswith(";base64") else data
