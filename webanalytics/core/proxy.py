"""The option ``proxy``: who dials in the place of this machine, and for which hosts."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass_environment  # type: ignore[attr-defined]

from webanalytics.core.access import basic
from webanalytics.core.operations.secret import Unpicklable
from webanalytics.errors import MissingExtraError, ParameterError

EXPECTS: Final = '"env", an address such as http://user:password@proxy:3128, or None for none'
_PORTS: Final = {"http": 80, "https": 443, "socks5": 1080}


def is_in_environment() -> bool:
    """Return whether the environment names a proxy, which is asked where ``proxy="env"`` says so."""
    return not {"http", "https", "all"}.isdisjoint(getproxies_environment())


class Way(NamedTuple):
    """A proxy's address without user information, the header that it asks for, and what SOCKS asks for."""

    url: str
    headers: dict[str, str]
    login: tuple[str, str] | None = None

    def __repr__(self) -> str:
        return f"Way({self.url!r})"

    @property
    def is_socks(self) -> bool:
        """Whether it takes connections, not requests."""
        return self.url.startswith("socks5:")


class Proxy(Unpicklable):
    """The checked value of the option; its repr has no password and no user, and pickling is refused."""

    def __init__(self, ways: dict[str, Way], environment: dict[str, str] | None = None) -> None:
        self._ways, self._environment = ways, environment

    @classmethod
    def of(cls, value: Any) -> Proxy | None:
        """Return the checked value; "env" reads HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY now."""
        if value is None or isinstance(value, cls):
            return value
        if value == "env":
            found = getproxies_environment()
            named = {scheme: found.get(scheme) or found.get("all") for scheme in ("http", "https")}
            return cls({scheme: _way(url) for scheme, url in named.items() if url}, found)
        way = _way(value)
        return cls({"http": way, "https": way})

    @classmethod
    def with_password(cls, text: str, password: str) -> Proxy | None:
        """Return the checked value of an address that has at most a user name."""
        user, _, rest = text.rpartition("@")
        return cls.of(f"{user}:{quote(password, safe='')}@{rest}" if user else text)

    def way(self, scheme: str, host: str, port: int) -> Way | None:
        """Return the proxy of an address, None where it is dialled from here."""
        if self._environment is not None and any(
            proxy_bypass_environment(name, self._environment) for name in (host, f"{host}:{port}")
        ):
            return None
        return self._ways.get(scheme)

    def __repr__(self) -> str:
        shown = "env" if self._environment is not None else self._ways["http"].url
        return f"Proxy({shown!r})"


def _way(text: Any) -> Way:
    way = _parsed(text)
    if way is None:  # raised out here: errors of parsing hold the text
        raise ParameterError.must_be("proxy", f"{EXPECTS}")
    if way.is_socks and find_spec("aiohttp_socks") is None:
        raise MissingExtraError("socks", "aiohttp-socks", "a SOCKS proxy")
    return way


def _parsed(text: Any) -> Way | None:
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        scheme = parts.scheme.replace("socks5h", "socks5")
        if scheme not in _PORTS or not parts.hostname or parts.path not in ("", "/"):
            return None
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        url = f"{scheme}://{host}:{parts.port or _PORTS[scheme]}"
        if parts.username is None:
            return Way(url, {})
        login = unquote(parts.username), unquote(parts.password or "")
        return Way(url, {"Proxy-Authorization": basic(*login)}, login)
    except (ValueError, TypeError, AttributeError):
        return None
