"""What opens hosts: passwords, tokens, headers and cookies, each sent to its own host only."""

from __future__ import annotations

import base64
import os
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn, Self
from urllib.parse import urlsplit

from webanalytics.core.operations.secret import MASK
from webanalytics.errors import ParameterError
from webanalytics.urls import normal_host, split_port

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,8000}[\x21-\x7e])?")
_COOKIE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e\x20\",]{0,4096}")
_SET_ELSEWHERE: Final = frozenset(
    (
        *("accept", "accept-encoding", "connection", "content-length", "expect", "host", "keep-alive"),
        *("proxy-authorization", "range", "te", "trailer", "transfer-encoding", "upgrade", "user-agent"),
    )
)
"""Headers that requests have for other reasons; archives record some of them."""


class Cookie(NamedTuple):
    """A cookie, and where it goes: anywhere on its host, or where a file of a browser says."""

    name: str
    value: str
    domain: str = ""
    below: bool = False
    path: str = "/"
    secure: bool = False
    expires: int = 0

    def fits(self, scheme: str, host: str, path: str) -> bool:
        """Return whether it goes with a request (RFC 6265 section 5.4)."""
        on_host = self.domain in ("", host) or (self.below and host.endswith(f".{self.domain}"))
        folder = self.path if self.path.endswith("/") else f"{self.path}/"
        below = path == self.path or path.startswith(folder)
        lasts = not self.expires or self.expires > time.time()
        return on_host and below and lasts and (scheme == "https" or not self.secure)


class Access:
    """What opens a host: a password, a token, headers or cookies.

    No representation shows a value, and pickling is refused: nothing of it reaches a file or another process.

    Parameters
    ----------
    user, password : str, optional
        Sent as HTTP Basic authentication (RFC 7617).
    token : str, optional
        Sent as a bearer token (RFC 6750).
    headers : Mapping of str to str, optional
        Further headers of each request.
    cookies : Mapping of str to str, or path, optional
        Cookies by name, or a ``cookies.txt`` in Netscape's format.

    Raises
    ------
    ParameterError
        For a value that no header takes, or a file that cannot be read. The sentence never holds the value.

    Examples
    --------
    >>> Access(user="ann", password="tea")
    Access(user='**********', password='**********')
    """

    __slots__ = ("_cookies", "_given", "_headers")

    _cookies: tuple[Cookie, ...]
    _given: tuple[str, ...]
    _headers: dict[str, str]

    def __init__(
        self,
        *,
        user: str | None = None,
        password: str | None = None,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | str | os.PathLike[str] | None = None,
    ) -> None:
        values = {"user": user, "password": password, "token": token, "headers": headers, "cookies": cookies}
        made = {} if headers is None else _checked_headers(headers)
        authorization = _authorization(user, password, token)
        if authorization is not None:
            if "authorization" in map(str.lower, made):
                raise ParameterError(
                    "The `headers` parameter must not hold Authorization beside a `user` or a `token`.",
                    "headers",
                )
            made["Authorization"] = authorization
        found: tuple[Cookie, ...] = ()
        if cookies is not None:
            if "cookie" in map(str.lower, made):
                raise ParameterError(
                    "The `headers` parameter must not hold Cookie beside `cookies`.", "headers"
                )
            found = _of_mapping(cookies) if isinstance(cookies, Mapping) else _of_file(cookies)
        if not made and not found:
            raise ParameterError(
                "The `access` parameter must give a `user` and a `password`, a `token`, `headers` or "
                "`cookies`.",
                "access",
            )
        object.__setattr__(self, "_headers", made)
        object.__setattr__(self, "_cookies", found)
        object.__setattr__(self, "_given", tuple(key for key, value in values.items() if value is not None))

    def sent(self, scheme: str, host: str, path: str) -> dict[str, str]:
        """Return the headers of a request to a page of its host."""
        pairs = "; ".join(
            f"{item.name}={item.value}" for item in self._cookies if item.fits(scheme, host, path)
        )
        return {**self._headers, "Cookie": pairs} if pairs else dict(self._headers)

    def __repr__(self) -> str:
        return f"Access({', '.join(f'{key}={MASK!r}' for key in self._given)})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("an Access cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("an Access cannot be changed")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an Access cannot be pickled")

    def __getstate__(self) -> NoReturn:
        raise TypeError("an Access cannot be pickled")


def basic(user: str, password: str) -> str:
    """Return the value of a header for Basic authentication."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode("ascii")


def _authorization(user: str | None, password: str | None, token: str | None) -> str | None:
    for name, value in (("user", user), ("password", password)):
        if value is not None and not (isinstance(value, str) and value.isprintable()):
            raise ParameterError(f"The `{name}` parameter must be printable text.", name)
    if password is not None and user is None:
        raise ParameterError("The `user` parameter is required where a `password` is given.", "user")
    if token is not None:
        if user is not None:
            raise ParameterError("The `token` parameter must be left out where a `user` is given.", "token")
        if not isinstance(token, str) or not _VALUE.fullmatch(token) or " " in token:
            raise ParameterError("The `token` parameter must be ASCII text without spaces.", "token")
        return f"Bearer {token}"
    if user is None:
        return None
    if ":" in user:
        raise ParameterError("The `user` parameter must have no colon.", "user")
    return basic(user, password or "")


def _checked_headers(headers: Any) -> dict[str, str]:
    well = isinstance(headers, Mapping) and all(
        isinstance(name, str)
        and isinstance(value, str)
        and _NAME.fullmatch(name)
        and _VALUE.fullmatch(value)
        and name.lower() not in _SET_ELSEWHERE
        for name, value in headers.items()
    )
    if not well:
        raise ParameterError(
            "The `headers` parameter must map names of headers to lines of printable ASCII; Host, "
            "User-Agent, Accept, Proxy-Authorization and those of the connection are not among them.",
            "headers",
        )
    return dict(headers)


def _of_mapping(cookies: Mapping[Any, Any]) -> tuple[Cookie, ...]:
    if not all(_is_cookie(name, value) for name, value in cookies.items()):
        raise ParameterError("The `cookies` parameter must map names to values of cookies.", "cookies")
    return tuple(Cookie(name, value) for name, value in cookies.items())


def _is_cookie(name: object, value: object) -> bool:
    texts = isinstance(name, str) and isinstance(value, str)
    return texts and bool(_NAME.fullmatch(str(name)) and _COOKIE.fullmatch(str(value)))


def _lines(path: Any) -> list[str] | None:
    try:
        return Path(path).read_text("utf-8").splitlines()
    except (OSError, TypeError, ValueError):
        return None


def _of_file(path: Any) -> tuple[Cookie, ...]:
    lines = _lines(path)
    if lines is None:  # raised out here: the error of the system has the text, which may be no path
        raise ParameterError(
            "The `cookies` parameter must be a mapping, or a cookies.txt that can be read.", "cookies"
        )
    found = []
    for line in lines:
        text = line.removeprefix("#HttpOnly_")
        if not text.strip() or text.startswith("#"):
            continue
        fields = text.split("\t")
        if len(fields) != 7 or not fields[4].strip().isdecimal() or not _is_cookie(*fields[5:]):
            raise ParameterError(
                "The `cookies` parameter must be a cookies.txt: lines of seven fields with tabs.", "cookies"
            )
        domain, below, place, secure, expires, name, value = fields
        host = domain.removeprefix(".").lower()
        found.append(Cookie(name, value, host, below == "TRUE", place or "/", secure == "TRUE", int(expires)))
    return tuple(found)


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
        name, port = split_port(text.removeprefix("*."), 0)
        host = normal_host(name).strip("[]")
        if not host or re.search(r"[*/?#@\s]", text.removeprefix("*.")):
            raise ValueError(text)
        return _Key(host, port or None, below)
    except (ValueError, AttributeError, TypeError):
        raise ParameterError(
            "The `access` parameter must have keys such as example.org, *.example.org or example.org:8443.",
            "access",
        ) from None


class AccessByHost:
    """The value of the option ``access``: which `Access` goes to which host.

    Over plain http an `Access` goes only to hosts that the user asks by http.
    """

    __slots__ = ("_of_key", "_plain")

    def __init__(
        self, of_key: Iterable[tuple[_Key, Access]], plain: frozenset[tuple[str, int]] = frozenset()
    ) -> None:
        self._of_key = sorted(of_key, key=lambda item: item[0].rank, reverse=True)
        self._plain = plain

    @classmethod
    def of(cls, value: Any) -> AccessByHost | None:
        """Return the checked value of the option."""
        if value is None or isinstance(value, cls):
            return value
        if not isinstance(value, Mapping) or not all(isinstance(item, Access) for item in value.values()):
            raise ParameterError(
                "The `access` parameter must map hosts to `webanalytics.Access`, or be None.", "access"
            )
        return cls((_key(key), item) for key, item in value.items())

    def asked(self, addresses: Iterable[Any]) -> AccessByHost:
        """Return them for a call of which these are the inputs: hosts among them may be asked by http."""
        plain = set(self._plain)
        for text in addresses:
            if isinstance(text, str) and text.strip()[:7].lower() == "http://":
                try:
                    parts = urlsplit(text.strip())
                    name = parts.hostname or ""
                    host = normal_host(f"[{name}]" if ":" in name else name)
                    plain.add((host.strip("[]"), parts.port or 80))
                except ValueError:  # no address
                    continue
        return AccessByHost(self._of_key, frozenset(plain))

    def sent(self, scheme: str, host: str, port: int, path: str) -> dict[str, str]:
        """Return the headers that open a page, none for a host that has no key."""
        if scheme != "https" and (host, port) not in self._plain:
            return {}
        found = next((item for key, item in self._of_key if key.fits(host, port)), None)
        return {} if found is None else found.sent(scheme, host, path)

    def __repr__(self) -> str:
        hosts = (
            f"{'*.' * key.below}{key.host}{f':{key.port}' if key.port else ''}" for key, _ in self._of_key
        )
        return f"access to {', '.join(hosts)}"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an Access cannot be pickled")


def access_for(options: Mapping[str, Any], addresses: Iterable[Any]) -> dict[str, Any]:
    """Return the options of a call of which these are the inputs."""
    given = options.get("access")
    return dict(options) if given is None else {**options, "access": given.asked(addresses)}
