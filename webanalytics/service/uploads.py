"""The image of a request: its bytes from base64 or a data: URL, without trust in either."""

from __future__ import annotations

import binascii
from urllib.parse import unquote_to_bytes

from webanalytics.errors import RowError
from webanalytics.operations import Operation

ESCAPED_BYTES = 1_000_000
"""Longest data: URL with percent-encoding: decoding it takes many times its size."""


def is_address(text: str) -> bool:
    """Return whether an image is given by an address: no base64 holds a colon (RFC 4648 section 4).

    Examples
    --------
    >>> is_address("https://example.com/a.png"), is_address("iVBORw0KGgo="), is_address("data:,a")
    (True, False, False)
    """
    return ":" in text[:64] and not is_data_url(text)


def is_data_url(text: str) -> bool:
    """Return whether a text is a data: URL (RFC 2397)."""
    return text.lstrip()[:5].lower() == "data:"


def too_large(operation: Operation, limit: int) -> RowError:
    """Return the error of an image above the plan's limit."""
    return RowError(f"The `{operation.subject}` parameter must be at most {limit:,} bytes.", "too_large")


def image_bytes(operation: Operation, text: str, limit: int) -> bytes:
    """Return the bytes that base64 or a data: URL stands for.

    Parameters
    ----------
    operation : Operation
        Whose subject the image is.
    text : str
        Base64 (RFC 4648 section 4; white space in it is ignored) or a data: URL.
    limit : int
        Most bytes of an image.

    Raises
    ------
    RowError
        When it is neither, or too large.

    Examples
    --------
    >>> from webanalytics.operations import OPERATIONS
    >>> image_bytes(OPERATIONS["convert"], "data:image/gif;base64,R0lGODlh", 100)
    b'GIF89a'
    """
    parameter = operation.parameter(operation.subject)
    wrong = RowError(
        f"The `{parameter.name}` parameter must be base64, a data: URL or an http(s) URL of "
        f"{parameter.expectation}.",
        "invalid",
    )
    encoded, is_base64 = text, True
    if is_data_url(text):
        head, comma, encoded = text.partition(",")
        if not comma:
            raise wrong
        is_base64 = head.rstrip().lower().endswith(";base64")
    try:
        data = encoded.encode("ascii")
    except UnicodeEncodeError:
        raise wrong from None
    if encoded is not text and b"%" in data:
        if len(data) > ESCAPED_BYTES:
            raise wrong
        data = unquote_to_bytes(data)
    if is_base64:
        data = data.translate(None, b" \t\r\n\f")
        # Four characters stand for three bytes at most, so this is decided before anything is decoded.
        if len(data) // 4 * 3 > limit + 2:
            raise too_large(operation, limit)
        try:
            data = binascii.a2b_base64(data, strict_mode=True)
        except binascii.Error:
            raise wrong from None
    if not data:
        raise wrong
    if len(data) > limit:
        raise too_large(operation, limit)
    return data
