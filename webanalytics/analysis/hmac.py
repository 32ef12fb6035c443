"""The HMAC operation: signatures of messages (RFC 2104) by `analyse`, or many with one key by `sign_many`."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Callable, Iterable
from typing import Any, Final

from webanalytics.errors import ParameterError, RowError
from webanalytics.operations.secret import Secret

ALGORITHMS: Final = ("sha256", "sha384", "sha512", "sha1", "md5")
"""Hash functions, the default first."""

ENCODINGS: Final = ("hex", "base64")
"""Encodings of the signature, the default first."""


def analyse(
    message: str | bytes,
    secret: str | bytes | Secret,
    algorithm: str = "sha256",
    encoding: str = "hex",
) -> dict[str, Any]:
    """Sign one message.

    Parameters
    ----------
    message : str or bytes
        What to sign; text is encoded as UTF-8. An empty message has a signature, too.
    secret : str or bytes or Secret
        The key; text is encoded as UTF-8.
    algorithm : {"sha256", "sha384", "sha512", "sha1", "md5"}
        Hash function.
    encoding : {"hex", "base64"}
        Lower-case hexadecimal, or standard base64 with padding (RFC 4648 section 4).

    Returns
    -------
    dict
        ``hmac``, ``algorithm`` and ``encoding``.

    Raises
    ------
    ParameterError
        For an unknown algorithm or encoding, and for a secret that cannot be used.
    RowError
        When the message is neither text nor bytes, or contains a lone surrogate.

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
    check_parameters(algorithm, encoding)
    digest = hmac.digest(secret.reveal(), _message_bytes(message), algorithm)
    signature = digest.hex() if encoding == "hex" else base64.b64encode(digest).decode("ascii")
    return {"hmac": signature, "algorithm": algorithm, "encoding": encoding}


def sign_many(
    messages: Iterable[object],
    secret: str | bytes | Secret,
    algorithm: str = "sha256",
    encoding: str = "hex",
) -> list[str | RowError]:
    """Sign many messages with one key, in order.

    Returns
    -------
    list of str or RowError
        The signature of each message, or the error for its row.

    Raises
    ------
    ParameterError
        As in `analyse`, before the first message is read.

    Notes
    -----
    The key is hashed once and its state copied for each message, instead of set up anew.

    Examples
    --------
    >>> sign_many(["a", None], "key", "md5")
    ['80ea44ccea14cc2263889567cfacccd7', RowError('must_be')]
    """
    secret = Secret(secret)
    sign = _signer(secret, algorithm, encoding)
    return [_sign_or_error(sign, message) for message in messages]


def check_parameters(algorithm: str, encoding: str) -> None:
    """Raise `ParameterError` unless algorithm and encoding are known."""
    if algorithm not in ALGORITHMS:
        raise ParameterError.one_of("algorithm", ALGORITHMS)
    if encoding not in ENCODINGS:
        raise ParameterError.one_of("encoding", ENCODINGS)


def _signer(secret: Secret, algorithm: str, encoding: str) -> Callable[[bytes], str]:
    check_parameters(algorithm, encoding)
    keyed = hmac.new(secret.reveal(), digestmod=algorithm)

    def sign_hex(message: bytes) -> str:
        context = keyed.copy()
        context.update(message)
        return context.hexdigest()

    def sign_base64(message: bytes) -> str:
        context = keyed.copy()
        context.update(message)
        return base64.b64encode(context.digest()).decode("ascii")

    return sign_hex if encoding == "hex" else sign_base64


def _sign_or_error(sign: Callable[[bytes], str], message: object) -> str | RowError:
    try:
        return sign(_message_bytes(message))
    except RowError as error:
        return error


def _message_bytes(message: object) -> bytes:
    if isinstance(message, str):
        try:
            return message.encode()
        except UnicodeEncodeError:
            raise RowError("surrogates", parameter="message") from None
    if isinstance(message, bytes | bytearray | memoryview):
        return bytes(message)
    raise RowError("must_be", parameter="message", what="a string")
