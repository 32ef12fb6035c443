"""The settings of the service, one record for each, which also drives command line and docs; the plans.

IP addresses and networks are read here, as settings and commands name them and connections have them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webanalytics._version import USER_AGENT
from webanalytics.core.run_options import Setting, flag, integer, seconds
from webanalytics.errors import ParameterError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def read_networks(items: Iterable[str]) -> tuple[Network, ...]:
    """Return networks in CIDR notation (RFC 4632, RFC 4291); an address is a network of one."""
    return tuple(ip_network(item.strip()) for item in items)


def read_address(text: str | None) -> Address | None:
    """Return an address in the form compared with networks: IPv4 also inside IPv6 (RFC 4291, 2.5.5.2).

    >>> read_address("::ffff:192.0.2.1"), read_address("nonsense")
    (IPv4Address('192.0.2.1'), None)
    """
    try:
        address = ip_address((text or "").strip().partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def within(address: Address | None, networks: Sequence[Network]) -> bool:
    """Return whether an address lies in one of the networks."""
    return address is not None and any(
        address.version == network.version and address in network for network in networks
    )


__all__ = ["LOG_LEVELS", "RECORDS", "ServiceSettings", "Setting", "unknown_key"]


@dataclass(frozen=True, slots=True)
class Plan:
    """One plan."""

    name: str  # its name
    monthly_credits: int  # allowance of a calendar month, UTC; what is left of it is not carried over
    bonus_credits: int  # credits given once; they are used after the month's and stay until then
    premium: bool  # whether Premium fields are present and Premium parameters take effect
    requests_a_minute: int | None  # ceiling of requests a minute; None for no throttling
    upload_bytes: int  # largest image in bytes; other bodies are also bounded by the setting ``body_bytes``


PLANS: dict[str, Plan] = {
    plan.name: plan
    for plan in (
        Plan("free", 1_000, 500, False, 60, 10_000_000),
        Plan("starter", 25_000, 0, True, None, 25_000_000),
        Plan("pro", 250_000, 0, True, None, 50_000_000),
        Plan("mega", 2_500_000, 0, True, None, 100_000_000),
    )
}
"""The default plans, which a configuration file may change."""

LOG_LEVELS = ("debug", "info", "warning", "error")
MAX_TEXT_LENGTH = 2000

# scheme://user:password@rest?query, where nothing is ambiguous
_PLAIN_URL = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*:/*)((?P<user>[^:@/?#]*)(?P<password>:[^@/?#]*)?@)?"
    r"(?P<rest>[^@?#]*)(?P<query>\?[^@#]*)?",
    re.IGNORECASE,
)


def mask(url: str) -> str:
    """Return a URL as it may be shown: no password, no query.

    >>> mask("postgresql://shop:hunter2@db.example/credits")
    'postgresql://shop:***@db.example/credits'
    >>> mask("postgresql://shop:hunter@2@db.example/credits")
    'postgresql://***'
    """
    match = _PLAIN_URL.fullmatch(url)
    if match is None:
        return mask_all(url) if "@" in url or "://" in url else url
    user = match["user"]
    login = "" if user is None else f"{user}{':***' if match['password'] else ''}@"
    return f"{match['scheme']}{login}{match['rest']}{'?***' if match['query'] else ''}"


def mask_all(url: str) -> str:
    """Return only the scheme of a URL: the path of a webhook is a secret too."""
    scheme, separator, _ = url.partition("://")
    if not url:
        return ""
    return f"{scheme}://***" if separator and scheme.isalnum() else "***"


def text(
    key: str, default: str, meaning: str, pattern: str = ".*", expects: str = "a line of text"
) -> Setting:
    """Return a setting that is a line of text matching a pattern."""
    allowed = re.compile(pattern)

    def accepts(value: Any) -> bool:
        is_line = isinstance(value, str) and value.isprintable() and len(value) <= MAX_TEXT_LENGTH
        return is_line and allowed.fullmatch(value) is not None

    return Setting(key, default, meaning, expects, accepts)


def url(
    key: str, default: str, meaning: str, pattern: str, expects: str, shown: Callable[[str], str] = mask
) -> Setting:
    """Return a setting that is a URL, shown without its password."""
    return replace(text(key, default, meaning, f"(?i:{pattern})", expects), shown=shown)


def integers(key: str, default: tuple[int, ...], low: int, high: int, meaning: str) -> Setting:
    """Return a setting that is a list of integers."""

    def accepts(value: Any) -> bool:
        return isinstance(value, tuple) and all(type(item) is int and low <= item <= high for item in value)

    expects = f"a list of integers from {low} to {high}"
    return Setting(key, default, meaning, expects, accepts, kind=tuple, item=int)


def _is_network(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(read_networks([value]))
    except ValueError:
        return False


def networks(key: str, default: tuple[str, ...], meaning: str) -> Setting:
    """Return a setting that is a list of IP networks."""

    def accepts(value: Any) -> bool:
        return isinstance(value, tuple) and all(map(_is_network, value))

    expects = "a list of IP addresses or networks such as 10.0.0.0/8"
    return Setting(key, default, meaning, expects, accepts, kind=tuple)


_KINDS: Mapping[str, Callable[..., Setting]] = {
    **{made.__name__: made for made in (text, url, integer, seconds, flag, integers, networks)},
    "secret_url": partial(url, shown=mask_all),
}
_READ: Mapping[str, Mapping[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("settings.toml").read_text("utf-8")
)


def _record(group: str, key: str, kind: str, default: Any = None, **known: Any) -> Setting:
    default = tuple(default) if isinstance(default, list) else default
    made = _KINDS[kind](key, default=USER_AGENT if key == "user_agent" else default, **known)
    return replace(made, group=group)


RECORDS: dict[str, Setting] = {
    key: _record(group, key, **known) for group, settings in _READ.items() for key, known in settings.items()
}
"""All settings by key."""


class ServiceSettings:
    """The settings of one service as attributes, the plans, and the price of each operation."""

    def __init__(
        self,
        given: Mapping[str, Any] | None = None,
        plans: Mapping[str, Plan] = PLANS,
        credits: Mapping[str, int] | None = None,  # noqa: A002 - the field's own word
    ) -> None:
        given = dict(given or {})
        for key in given:
            if key not in RECORDS:
                raise unknown_key(key)
        self.values: Mapping[str, Any] = {
            key: record.check(given[key]) if key in given else record.default
            for key, record in RECORDS.items()
        }
        vars(self).update(self.values)
        self.plans = dict(plans)
        self.credits = dict(credits or {})

    if TYPE_CHECKING:

        def __getattr__(self, key: str) -> Any: ...

    def __repr__(self) -> str:
        changed = (
            f"{key}={RECORDS[key].shown(value) if isinstance(value, str) else value!r}"
            for key, value in self.values.items()
            if value != RECORDS[key].default
        )
        return f"ServiceSettings({', '.join(changed)})"

    def replace(self, **changes: Any) -> ServiceSettings:
        """Return the same settings with some of them changed."""
        return ServiceSettings({**self.values, **changes}, self.plans, self.credits)


def unknown_key(key: str, where: str = "") -> ParameterError:
    """Return the error about a setting that does not exist."""
    known = ", ".join(sorted(RECORDS))
    return ParameterError(f"The `{key}` parameter{where} does not exist; the settings are: {known}.", key)
