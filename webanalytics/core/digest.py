"""Digest authentication (RFC 7616): what answers a server's challenge, without the password in it."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, Self
from urllib.parse import quote

_PART = re.compile(
    r'(?<![\w-])(?:(?P<name>[\w-]++)\s*+=\s*+(?:"(?P<quoted>(?:[^"\\]|\\.)*+)"|(?P<plain>[^\s,"]*+))'
    r"|(?P<scheme>[\w-]++)(?=\s++[\w-]++\s*+=))"
)
_LONGEST: Final = 8_000
_HASHES: Final[Mapping[str, Callable[[bytes], Any]]] = {
    "SHA-256": hashlib.sha256,
    "MD5": partial(hashlib.md5, usedforsecurity=False),
}
"""Algorithms that are answered, the better first."""


class Challenge:
    """A server's challenge, and how often it was answered."""

    def __init__(self, fields: dict[str, str]) -> None:
        self._fields, self._count = fields, 0
        self.algorithm = fields.get("algorithm", "MD5").upper()
        self.stale = fields.get("stale", "").lower() == "true"
        """Whether the answer before was right, and only its nonce too old."""

    @classmethod
    def of(cls, lines: Iterable[str]) -> Self | None:
        """Return the challenge of WWW-Authenticate headers, the best of several; None without one.

        >>> Challenge.of(['Basic realm="a", Digest realm="b", nonce="1", qop="auth"']).algorithm
        'MD5'
        >>> Challenge.of(['Digest realm="b", nonce="1", algorithm=SHA-512']) is None
        True
        """
        found: list[dict[str, str]] = []
        for line in lines:
            scheme = ""
            for part in _PART.finditer(line[:_LONGEST]):
                if part["scheme"]:
                    scheme = part["scheme"].lower()
                    found += [{}] * (scheme == "digest")
                elif scheme == "digest":
                    value = part["plain"] if part["quoted"] is None else part["quoted"]
                    found[-1] = {**found[-1], part["name"].lower(): value}
        made = [one for one in map(cls, found) if one._is_answerable()]
        return min(made, key=lambda one: list(_HASHES).index(one.algorithm), default=None)

    def _is_answerable(self) -> bool:
        known = {"realm", "nonce"} <= self._fields.keys() and self.algorithm in _HASHES
        ways = re.split(r"[,\s]+", self._fields.get("qop", "auth").lower())
        return known and "auth" in ways and all(map(str.isprintable, self._fields.values()))

    def answer(self, user: str, password: str, method: str, target: str, cnonce: str = "") -> str:
        """Return the header that answers it for a request to a target, its path and query."""
        fields, digest = self._fields, _HASHES[self.algorithm]

        def hashed(*parts: str) -> str:
            return str(digest(":".join(parts).encode()).hexdigest())

        self._count += 1
        secret = hashed(user, fields["realm"], password)
        counted = (
            (f"{self._count:08x}", cnonce or secrets.token_urlsafe(24), "auth") if "qop" in fields else ()
        )
        response = hashed(secret, fields["nonce"], *counted, hashed(method, target))
        name = f"username*=UTF-8''{quote(user, safe='')}"
        if user.isascii():
            name = 'username="{}"'.format(user.replace("\\", r"\\").replace('"', r"\""))
        said = [name, *(f'{key}="{fields[key]}"' for key in ("realm", "nonce", "opaque") if key in fields)]
        said += [f'uri="{target}"', f'response="{response}"']
        said += [f"algorithm={self.algorithm}"] if "algorithm" in fields else []
        said += [f'nc={counted[0]}, cnonce="{counted[1]}", qop=auth'] if counted else []
        return f"Digest {', '.join(said)}"
