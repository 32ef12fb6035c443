"""What opens the doors of a host: passwords, tokens, headers, cookies and certificates."""

from __future__ import annotations

import base64
import json
import netrc
import os
import re
import ssl
import time
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from webanalytics.core.operations.secret import MASK, Guarded
from webanalytics.errors import MissingExtraError, ParameterError

NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
"""A token of RFC 9110: names of headers."""
_COOKIE = re.compile(r"[^\x00-\x1f\x7f;=]{1,4096}=[^\x00-\x1f\x7f;]{0,4096}")
"""What browsers keep and send, which is more than servers should set."""


class Cookie(NamedTuple):
    """A cookie, and where it goes: anywhere on its host, or where a file of a browser says."""

    name: str
    value: str
    domain: str = ""
    below: bool = False
    path: str = "/"
    secure: bool = False
    expires: int = 0

    def lasts(self, host: str) -> bool:
        """Return whether it is a host's, and has not expired."""
        on_host = self.domain in ("", host) or (self.below and host.endswith(f".{self.domain}"))
        return on_host and (not self.expires or self.expires > time.time())

    def fits(self, scheme: str, host: str, path: str) -> bool:
        """Return whether it goes with a request (RFC 6265 section 5.4)."""
        folder = self.path if self.path.endswith("/") else f"{self.path}/"
        below = path == self.path or path.startswith(folder)
        return self.lasts(host) and below and (scheme == "https" or not self.secure)


def cookies_of(given: Any) -> tuple[Cookie, ...]:
    """Return the cookies of a mapping or a file; raises `ParameterError`, without a value of them."""
    if isinstance(given, Mapping):
        found: list[Cookie] | None = [Cookie(name, value) for name, value in given.items()]
        expected = "map names to values of cookies"
    else:
        found = _of_file(given)
        expected = "be a mapping, a cookies.txt (seven fields with tabs) or a browser's export in JSON"
    if found is None or not all(map(_is_sound, found)):  # raised out here: errors quote the file
        raise ParameterError.on("cookies", f"must {expected}")
    return tuple(found)


def _is_sound(cookie: Cookie) -> bool:
    texts = all(isinstance(item, str) for item in (cookie.name, cookie.value, cookie.domain, cookie.path))
    return texts and "=" not in cookie.name and bool(_COOKIE.fullmatch(f"{cookie.name}={cookie.value}"))


def _of_file(path: Any) -> list[Cookie] | None:
    try:
        text = Path(path).read_text("utf-8-sig")
        return list(_exported(text) if text.lstrip()[:1] in ("[", "{") else _netscape(text))
    except (OSError, TypeError, ValueError, ArithmeticError, KeyError, AttributeError, RecursionError):
        return None


def _netscape(text: str) -> Iterator[Cookie]:
    for line in text.splitlines():
        fields = line.removeprefix("#HttpOnly_")
        if fields.strip() and not fields.startswith("#"):
            domain, below, path, secure, expires, name, *value = fields.split("\t")  # none where it is empty
            place = (domain.removeprefix(".").lower(), below.upper() == "TRUE", path or "/")
            until = max(int(float(expires or 0)), 0)
            yield Cookie(name, "\t".join(value), *place, secure.upper() == "TRUE", until)


def _exported(text: str) -> Iterator[Cookie]:
    """Yield what extensions of browsers and Playwright export: a list of objects."""
    read = json.loads(text)
    for item in read["cookies"] if isinstance(read, dict) else read:
        domain = item["domain"].lower()
        below = not item["hostOnly"] if "hostOnly" in item else domain.startswith(".")
        expires = int(item.get("expirationDate") or item.get("expires") or item.get("expiry") or 0)
        place = (domain.removeprefix("."), below, item.get("path") or "/", item.get("secure") is True)
        yield Cookie(item["name"], item["value"], *place, max(expires, 0))


_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,8000}[\x21-\x7e])?")
_SET_ELSEWHERE: Final = frozenset(
    (
        *("accept", "accept-encoding", "connection", "content-length", "expect", "host", "keep-alive"),
        *("proxy-authorization", "range", "te", "trailer", "transfer-encoding", "upgrade", "user-agent"),
    )
)
"""Headers that requests have for other reasons; archives record some of them."""


class Access(Guarded):
    """What opens a host: a password, a token, headers, cookies or certificates.

    No representation shows a value, and pickling is refused: nothing of it reaches a file or another process.

    Parameters
    ----------
    user, password : str, optional
        Sent as HTTP Basic authentication (RFC 7617); a server that asks for Digest (RFC 7616) gets that.
    digest : bool, default False
        Never send the password itself: wait for the server to ask for Digest.
    token : str, optional
        Sent as a bearer token (RFC 6750).
    headers : Mapping of str to str, optional
        Further headers of each request.
    cookies : Mapping of str to str, or path, optional
        Cookies by name, a ``cookies.txt`` in Netscape's format, or a browser's export in JSON.
    certificate, key : path, optional
        A client certificate in PEM with those that sign it, and its key without a passphrase, unless that
        is in the same file.
    ca : path, optional
        The certificates in PEM that sign those of the host, in place of the system's.

    Raises
    ------
    ParameterError
        For a value that no header takes, or a file that cannot be read. The sentence never holds the value.

    Examples
    --------
    >>> Access(user="ann", password="tea")
    Access(user='**********', password='**********')
    """

    __slots__ = ("_cookies", "_given", "_headers", "login", "tls")

    _cookies: tuple[Cookie, ...]
    _given: tuple[str, ...]
    _headers: dict[str, str]
    login: tuple[str, str] | None
    tls: ssl.SSLContext | None

    def __init__(
        self,
        *,
        user: str | None = None,
        password: str | None = None,
        digest: bool = False,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | str | os.PathLike[str] | None = None,
        certificate: str | os.PathLike[str] | None = None,
        key: str | os.PathLike[str] | None = None,
        ca: str | os.PathLike[str] | None = None,
    ) -> None:
        values = {"user": user, "password": password, "token": token, "headers": headers, "cookies": cookies}
        values |= {"certificate": certificate, "key": key, "ca": ca}
        made = {} if headers is None else _checked_headers(headers)
        authorization = _authorization(user, password, token)
        if not isinstance(digest, bool) or (digest and user is None):
            raise ParameterError.must_be("digest", "True or False, beside a `user`")
        for name, is_given in (("Authorization", authorization is not None), ("Cookie", cookies is not None)):
            if is_given and name.lower() in map(str.lower, made):
                raise ParameterError.on(
                    "headers", f"must not hold {name} beside `user`, `token` or `cookies`"
                )
        if authorization is not None and not digest:
            made["Authorization"] = authorization
        found = () if cookies is None else cookies_of(cookies)
        tls = _tls(certificate, key, ca)
        if not (made or found or digest or tls):
            raise ParameterError.on(
                "access",
                "must give a `user` and a `password`, a `token`, `headers`, `cookies`, a `certificate` or "
                "a `ca`",
            )
        given = tuple(name for name, value in values.items() if value is not None)
        login = None if user is None else (user, password or "")
        for slot, value in zip(self.__slots__, (found, given, made, login, tls), strict=True):
            object.__setattr__(self, slot, value)

    @property
    def shows_certificate(self) -> bool:
        """Whether the host is shown a certificate."""
        return "certificate" in self._given

    @classmethod
    def from_environment(cls, prefix: str, **others: Any) -> Self:
        """Return what variables of the environment say: ``STAGING_USER``, ``_PASSWORD`` and ``_TOKEN``.

        Parameters
        ----------
        prefix : str
            What their names begin with, such as ``"STAGING"``.
        **others
            Further parameters of `Access`.
        """
        for name in ("user", "password", "token"):
            others.setdefault(name, os.environ.get(f"{prefix}_{name.upper()}") or None)
        if others["user"] is None and others["token"] is None:
            raise ParameterError.must_be("prefix", f"that of variables: {prefix}_USER, {prefix}_TOKEN")
        return cls(**others)

    @classmethod
    def from_netrc(cls, host: str, file: str | os.PathLike[str] | None = None, **others: Any) -> Self:
        """Return the user name and the password of a host in a ``.netrc``; its default is for no host.

        Parameters
        ----------
        host : str
            The machine, as the file calls it.
        file : path, optional
            By default that of the home folder.
        **others
            Further parameters of `Access`.
        """
        try:
            found = netrc.netrc(None if file is None else os.fspath(file)).hosts.get(host)
        except (OSError, netrc.NetrcParseError, TypeError, ValueError):  # whose words quote the file
            found = None
        if found is None or host == "default":
            raise ParameterError.must_be("host", "a machine of a .netrc that can be read")
        return cls(user=found[0], password=found[2], **others)

    @classmethod
    def from_keyring(cls, service: str, user: str, **others: Any) -> Self:
        """Return a password that the system's keyring keeps; needs the extra ``keyring``.

        Parameters
        ----------
        service, user : str
            What the keyring calls it by.
        **others
            Further parameters of `Access`.
        """
        try:
            keyring = import_module("keyring")
        except ImportError:
            raise MissingExtraError("keyring", "keyring", "reading passwords of the keyring") from None
        password = keyring.get_password(service, user)
        if password is None:
            raise ParameterError.on("service", "must name a password that the keyring has for the `user`")
        return cls(user=user, password=password, **others)

    def has_cookies(self, host: str, below: bool) -> bool:
        """Return whether a cookie is left for a host, or for one below it; also where none was given."""
        name = f"*.{host}" if below else host
        named = (item.domain if below and item.domain.endswith(name[1:]) else name for item in self._cookies)
        return not self._cookies or any(map(Cookie.lasts, self._cookies, named))

    def sent(self, scheme: str, host: str, path: str) -> dict[str, str]:
        """Return the headers of a request to a page of its host."""
        fitting = [item for item in self._cookies if item.fits(scheme, host, path)]
        fitting.sort(key=lambda item: -len(item.path))  # of one name, servers take the first
        pairs = "; ".join(f"{item.name}={item.value}" for item in fitting)
        return {**self._headers, "Cookie": pairs} if pairs else dict(self._headers)

    def __repr__(self) -> str:
        return f"Access({', '.join(f'{key}={MASK!r}' for key in self._given)})"


def basic(user: str, password: str) -> str:
    """Return the value of a header for Basic authentication."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode("ascii")


def _authorization(user: str | None, password: str | None, token: str | None) -> str | None:
    for name, value in (("user", user), ("password", password)):
        if value is not None and not (isinstance(value, str) and value.isprintable()):
            raise ParameterError.must_be(name, "printable text")
    if password is not None and user is None:
        raise ParameterError.on("user", "is required where a `password` is given")
    if token is not None:
        if user is not None:
            raise ParameterError.must_be("token", "left out where a `user` is given")
        if not isinstance(token, str) or not _VALUE.fullmatch(token) or " " in token:
            raise ParameterError.must_be("token", "ASCII text without spaces")
        return f"Bearer {token}"
    if user is None:
        return None
    if ":" in user:
        raise ParameterError.on("user", "must have no colon")
    return basic(user, password or "")


def _checked_headers(headers: Any) -> dict[str, str]:
    well = isinstance(headers, Mapping) and all(
        isinstance(name, str)
        and isinstance(value, str)
        and NAME.fullmatch(name)
        and _VALUE.fullmatch(value)
        and name.lower() not in _SET_ELSEWHERE
        for name, value in headers.items()
    )
    if not well:
        raise ParameterError.on(
            "headers",
            "must map names of headers to lines of printable ASCII; Host, User-Agent, Accept, "
            "Proxy-Authorization and those of the connection are not among them",
        )
    return dict(headers)


def _tls(certificate: Any, key: Any, ca: Any) -> ssl.SSLContext | None:
    """Return what connections to the host are made with, None for what is usual."""
    if certificate is None and key is not None:
        raise ParameterError.on("certificate", "is required where a `key` is given")
    if certificate is None and ca is None:
        return None
    wrong = "ca"
    try:
        made = ssl.create_default_context(cafile=ca)
        made.set_alpn_protocols(["http/1.1"])
        wrong = "certificate"
        if certificate is not None:
            made.load_cert_chain(certificate, key, password=lambda: "")  # else a terminal is asked for it
        return made
    except (OSError, TypeError, ValueError):
        pass
    what = (
        "certificates" if wrong == "ca" else "a client certificate, with the `key` of it without a passphrase"
    )
    raise ParameterError.must_be(wrong, f"a file of {what}, in PEM")
