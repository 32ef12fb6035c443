"""The image of a request: its bytes from base64 or a data: URL, without trust in either."""

from __future__ import annotations

from webanalytics.backends.data_urls import base64_content, data_url_content, is_data_url
from webanalytics.errors import RowError
from webanalytics.operations import Operation


def is_address(text: str) -> bool:
    """Return whether an image is given by an address: no base64 holds a colon (RFC 4648 section 4).

    Examples
    --------
    >>> is_address("https://example.com/a.png"), is_address("iVBORw0KGgo="), is_address("data:,a")
    (True, False, False)
    """
    return ":" in text[:64] and not is_data_url(text)


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
    try:
        data = data_url_content(text) if is_data_url(text) else base64_content(text)
    except ValueError:
        raise wrong from None
    if not data:
        raise wrong
    if len(data) > limit:
        raise too_large(operation, limit)
    return data
