"""The HMAC operation: the signature of a message (RFC 2104)."""

from __future__ import annotations

import base64
import hmac
from typing import Any

from webanalytics.core.operations.secret import Secret
from webanalytics.errors import RowError


def analyse(
    message: str | bytes, secret: str | bytes | Secret, algorithm: str = "sha256", encoding: str = "hex"
) -> dict[str, Any]:
    """Sign one message; text is encoded as UTF-8, and an empty message has a signature, too.

    The signature is lower-case hexadecimal, or standard base64 with padding (RFC 4648 section 4).

    Notes
    -----
    RFC 2104; test vectors of RFC 2202 (MD5, SHA-1) and RFC 4231 (SHA-2). MD5 and SHA-1 are available for
    services that still require them.

    Examples
    --------
    The second test case of RFC 4231:

    >>> analyse("what do ya want for nothing?", "Jefe")["hmac"]
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
    """
    # Rebound at once: a traceback that prints local variables then shows the mask.
    secret = secret if isinstance(secret, Secret) else Secret(secret)
    digest = hmac.digest(secret.reveal(), _message_bytes(message), algorithm)
    signature = digest.hex() if encoding == "hex" else base64.b64encode(digest).decode("ascii")
    return {"hmac": signature, "algorithm": algorithm, "encoding": encoding}


def _message_bytes(message: object) -> bytes:
    if isinstance(message, str):
        try:
            return message.encode()
        except UnicodeEncodeError:
            raise RowError("surrogates", parameter="message") from None
    if isinstance(message, bytes | bytearray | memoryview):
        return bytes(message)
    raise RowError("must_be", parameter="message", what="a string")
