"""A secret key that is never shown by accident."""

from __future__ import annotations

import hmac
from typing import Any, Final, NoReturn, Self

from webanalytics.errors import ParameterError

MASK: Final = "**********"


class Unpicklable:
    """A value with a secret in it: it cannot be pickled, and a copy is the value itself."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} cannot be pickled")

    # Python 3.11 and later copy slots through __getstate__, which would hand the value out.
    def __getstate__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} cannot be pickled")


class Guarded(Unpicklable):
    """One that cannot be changed either."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed")


class Secret(Guarded):
    """A secret key, masked wherever it could be printed, logged or stored.

    ``repr``, ``str`` and formatting show a mask of constant length; pickling is refused, so the
    secret cannot reach a stored frame; it has no hash, so it cannot become a key or a category;
    comparing takes the same time wherever the difference lies. `reveal` is the only way out.

    Parameters
    ----------
    value : str or bytes or Secret
        The key; text is encoded as UTF-8.

    Raises
    ------
    ParameterError
        When the value is neither text nor bytes, is empty, or cannot be encoded. The sentence
        never holds the value.

    Examples
    --------
    >>> key = Secret("correct horse")
    >>> key
    Secret('**********')
    >>> f"signing with {key}"
    'signing with **********'
    >>> key.reveal()
    b'correct horse'
    """

    __slots__ = ("_value",)
    __hash__ = None  # type: ignore[assignment]

    _value: bytes

    def __init__(self, value: str | bytes | bytearray | Secret) -> None:
        object.__setattr__(self, "_value", _key_bytes(value))

    def reveal(self) -> bytes:
        """Return the key's bytes."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({MASK!r})"

    def __str__(self) -> str:
        return MASK

    def __format__(self, format_spec: str) -> str:
        return format(MASK, format_spec)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._value, other._value)


def _key_bytes(value: object) -> bytes:
    if isinstance(value, Secret):
        return value.reveal()
    if isinstance(value, str):
        key = _utf8(value)
    elif isinstance(value, bytes | bytearray):
        key = bytes(value)
    else:
        raise ParameterError.must_be("secret", "a string or bytes")
    # Raised out here and not in an `except` block: a UnicodeEncodeError carries the whole secret
    # and would travel along as the context of the new error.
    if key is None:
        raise ParameterError.must_be("secret", "text that UTF-8 can encode")
    if not key:
        raise ParameterError.on("secret", "must not be empty")
    return key


def _utf8(text: str) -> bytes | None:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None
