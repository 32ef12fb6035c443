"""The option ``proxy``: who dials in the place of this machine, and for which hosts."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, NoReturn
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass_environment  # type: ignore[attr-defined]

from webanalytics.core.access import basic
from webanalytics.errors import ParameterError

EXPECTS: Final = '"env", an address such as http://user:password@proxy:3128, or None for none'


class Way(NamedTuple):
    """A proxy's address without user information, and the header that it asks for."""

    url: str
    headers: dict[str, str]


class Proxy:
    """The checked value of the option; its repr has no password and no user, and pickling is refused.

    Examples
    --------
    >>> Proxy.of("http://ann:tea@proxy.example:3128")
    Proxy('http://proxy.example:3128')
    """

    __slots__ = ("_environment", "_ways")

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

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a Proxy cannot be pickled")


def _way(text: Any) -> Way:
    way = _parsed(text)
    if way is None:  # raised out here: errors of parsing hold the text
        raise ParameterError(f"The `proxy` parameter must be {EXPECTS}.", "proxy")
    return way


def _parsed(text: Any) -> Way | None:
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
            return None
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        url = f"{parts.scheme}://{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
        if parts.username is None:
            return Way(url, {})
        word = basic(unquote(parts.username), unquote(parts.password or ""))
        return Way(url, {"Proxy-Authorization": word})
    except (ValueError, TypeError, AttributeError):
        return None
