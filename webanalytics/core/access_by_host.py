"""The option ``access``: what opens which host, and user names and passwords in addresses.

A server that asks for Digest authentication (RFC 7616) gets an answer without the password in it.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, Self
from urllib.parse import quote, unquote, urlsplit

from webanalytics.core.access import Access
from webanalytics.core.operations.secret import Unpicklable
from webanalytics.errors import ParameterError
from webanalytics.urls import address, normal_host, split_port

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


class _Key(NamedTuple):
    """A key of ``access=``: a host, or all names below it, with its port or for all ports."""

    host: str
    port: int | None
    below: bool

    def fits(self, host: str, port: int) -> bool:
        named = host.endswith(f".{self.host}") if self.below else host == self.host
        return named and self.port in (None, port)

    @property
    def rank(self) -> tuple[bool, int, bool]:
        """How exact it is: a host before a pattern, a longer pattern before a shorter, a port before none."""
        return not self.below, len(self.host), self.port is not None


def _key(text: Any) -> _Key:
    try:
        below = text.startswith("*.")
        name, port = split_port(text.removeprefix("*."), -1)
        host = normal_host(name).strip("[]")
        if not host or not port or re.search(r"[*/?#@\s]", text.removeprefix("*.")):
            raise ValueError(text)
        return _Key(host, None if port < 0 else port, below)
    except (ValueError, AttributeError, TypeError):
        raise ParameterError.on(
            "access", "must have keys such as example.org, *.example.org or example.org:8443"
        ) from None


Avoid = tuple[tuple[str, Callable[[str], object]], ...]
"""What a crawl that is logged in does not follow: names, and whether an address is of that kind."""


class AccessByHost(Unpicklable):
    """The value of the option ``access``: which `Access` goes to which host.

    Over plain http an `Access` goes only to hosts that the user asks by http.
    """

    def __init__(
        self,
        of_key: Iterable[tuple[_Key, Access]],
        plain: frozenset[tuple[str, int]] = frozenset(),
        avoid: Avoid = (),
        free: Iterable[str] = (),
    ) -> None:
        self._of_key = sorted(of_key, key=lambda item: item[0].rank, reverse=True)
        self._plain, self._avoid, self._free = plain, avoid, frozenset(free)
        self._challenges: dict[tuple[str, int], Challenge] = {}

    @classmethod
    def of(cls, value: Any) -> AccessByHost | None:
        """Return the checked value of the option."""
        if value is None or isinstance(value, cls):
            return value
        if not isinstance(value, Mapping) or not all(isinstance(item, Access) for item in value.values()):
            raise ParameterError.on("access", "must map hosts to `webanalytics.Access`, or be None")
        of_key = [(_key(key), item) for key, item in value.items()]
        if shut := [key.host for key, item in of_key if not item.has_cookies(key.host, key.below)]:
            must = f"hold a cookie of {shut[0]} that has not expired"
            raise ParameterError.on("cookies", f"must {must}")
        return cls(of_key)

    def asked(self, addresses: Iterable[Any], logins: Mapping[str, Access] | None = None) -> AccessByHost:
        """Return them for a call of which these are the inputs: hosts among them may be asked by http."""
        plain = set(self._plain)
        for text in addresses:
            found = address(text.strip()) if isinstance(text, str) else None
            if found is not None and found.url.startswith("http:"):
                plain.add(_place(found.url))
        added = [(_key(key), item) for key, item in (logins or {}).items()]
        return AccessByHost([*self._of_key, *added], frozenset(plain), self._avoid, self._free)

    def avoiding(self, avoid: Avoid, free: Iterable[str]) -> AccessByHost:
        """Return them for a crawl, which goes to no address of some kinds but those that are free."""
        return AccessByHost(self._of_key, self._plain, avoid, free)

    def avoided(self, url: str) -> str | None:
        """Return why a crawl keeps away from an address in normal form; None where it need not."""
        if not self._avoid or url in self._free or self.found(url) is None:
            return None
        return next((name for name, is_one in self._avoid if is_one(url)), None)

    def found(self, url: str) -> Access | None:
        """Return what opens the host of an address in normal form."""
        place = _place(url)
        if url[:6] != "https:" and place not in self._plain:
            return None
        return next((item for key, item in self._of_key if key.fits(*place)), None)

    def sent(self, url: str, method: str = "GET") -> dict[str, str]:
        """Return the headers that open a page, none for a host that has no key."""
        found = self.found(url)
        if found is None or self.avoided(url) is not None:
            return {}
        parts = urlsplit(url)
        headers = found.sent(parts.scheme, parts.hostname or "", parts.path)
        challenge = self._challenges.get(_place(url))
        if challenge is not None and found.login is not None:
            target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
            headers["Authorization"] = challenge.answer(*found.login, method, target)
        return headers

    def challenged(self, url: str, lines: Iterable[str], sent: str) -> bool:
        """Take the challenge of an answer with status 401, and return whether it can be met.

        ``sent`` is the Authorization of the request: of two that were right, the nonce was too old.
        """
        found = self.found(url)
        made = None if found is None or found.login is None else Challenge.of(lines)
        if made is None or self.avoided(url) is not None or (sent[:6] == "Digest" and not made.stale):
            return False
        self._challenges[_place(url)] = made
        return True

    def __repr__(self) -> str:
        hosts = (
            f"{'*.' * key.below}{key.host}{f':{key.port}' if key.port else ''}" for key, _ in self._of_key
        )
        return f"access to {', '.join(hosts)}"


def _place(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def access_for(
    options: Mapping[str, Any], addresses: Iterable[Any], logins: Mapping[str, Access] | None = None
) -> dict[str, Any]:
    """Return the options of a call of which these are the inputs, and the logins that were in them."""
    given = options.get("access") or (AccessByHost(()) if logins else None)
    return dict(options) if given is None else {**options, "access": given.asked(addresses, logins)}


_LOGIN = re.compile(r"(\s*https?://)([^/?#\\]*)@([^/?#\\@]+)", re.IGNORECASE)


def without_logins(values: Any) -> tuple[Any, dict[str, Access]]:
    """Return addresses as a list without the user names and passwords in them, and what these open, by host.

    >>> without_logins(["https://ann:tea@a.example/x", "https://b.example/", None])
    (['https://a.example/x', 'https://b.example/', None],
     {'a.example': Access(user='**********', password='**********')})
    """
    if not isinstance(values, Iterable) or isinstance(values, (bytes, Mapping)):
        return values, {}
    values = [values] if isinstance(values, str) else list(values)
    kept: list[Any] = []
    known: dict[str, str] = {}
    found: dict[str, Access] = {}
    for value in values:
        parts = _LOGIN.match(value) if isinstance(value, str) and "@" in value else None
        if parts is not None:
            before, login, host = parts.groups()
            user, colon, password = map(unquote, login.partition(":"))
            try:
                if known.setdefault(host.lower(), login) == login:
                    if login:
                        _key(host)
                        found[host.lower()] = Access(user=user, password=password if colon else None)
                    value = f"{before}{host}{value[parts.end() :]}"
            except ParameterError:  # a control character, or no host
                pass
        kept.append(value)
    return kept, found
