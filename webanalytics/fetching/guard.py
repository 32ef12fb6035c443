"""The guard of the network: which URLs may be fetched, and which addresses may be connected to.

The fetcher asks `check_url` before every request and `check_redirect` before every redirect. The URL is sent
in the normal form of `webanalytics.urls`, already encoded, so that no later library reads it in another way
than the check did.

Addresses are checked on the very address that a connection goes to: `aiohttp` asks its socket factory for a
socket for each connection attempt, for literal addresses, for looked-up ones, for cached ones and after
redirects. It is the one place where neither a redirect nor a DNS answer that changes between check and use
gets past the check.
"""

from __future__ import annotations

import errno
import re
import socket
import tomllib
from collections.abc import Collection
from contextvars import ContextVar
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from yarl import URL

from webanalytics.fetching.response import Problem
from webanalytics.urls import (
    DEFAULT_PORTS,
    ascii_host,
    normal_host,
    normal_path,
    normal_query,
    place,
    split_port,
    with_slashes,
)

MAX_LENGTH = 8192
_READ = tomllib.loads(Path(__file__).with_name("data").joinpath("not-public.toml").read_text("utf-8"))
LOCAL_NAMES = frozenset(_READ["names"])
NOT_PUBLIC_V4, NOT_PUBLIC_V6 = (tuple(map(ip_network, _READ[kind])) for kind in ("ipv4", "ipv6"))
# RFC 4291: only this block is global unicast. Everything that embeds an IPv4 address lies outside it
# (mapped, compatible, translated, NAT64) or in the exceptions (Teredo in 2001::/23, 6to4).
PUBLIC_V6 = IPv6Network("2000::/3")
_INVISIBLE = "\ufeff\u200b"
_PARTS = re.compile(r"(?a:(https?)://)([^/?#]++)([^?#]*+)(?:\?([^#]*+))?", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NOT_IN_AUTHORITY = re.compile(r"[\s\\%]")
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")


def check_url(
    # what a user or a redirect gave. White space at its ends is ignored; the fragment is dropped.
    url: object,
    *,
    allow_private: bool = False,  # allow private addresses and host names of one label
    ports: Collection[int] | None = None,  # the only ports allowed; None for any
    hosts: Collection[str] | None = None,  # the only hosts allowed, as `host_key` calls them; None for any
    max_length: int = MAX_LENGTH,  # characters that a URL may have
) -> URL:
    """Return the URL in the form in which it is requested, or raise `Problem`.

    Notes
    -----
    The URL Standard, narrowed: no user information, no percent sign or backslash in the authority,
    no control characters. A name that ends in a number must be a dotted IPv4 address in its usual
    form, and the labels of any other name such as DNS allows.

    Examples
    --------
    >>> str(check_url(" https://Bücher.example/a b/../ü?q=1,2#top "))
    'https://xn--bcher-kva.example/%C3%BC?q=1,2'
    """
    if not isinstance(url, str):
        raise Problem("invalid_url")
    text = url.strip().strip(_INVISIBLE).strip()
    if len(text) > max_length:
        raise Problem("long_url", limit=max_length)
    scheme, authority, path, query = _split(text)
    try:
        normal, host, port = _host(scheme, authority, allow_private)
        if ports is not None and port not in ports:
            raise Problem("port", ports=", ".join(map(str, sorted(ports))))
        checked = URL.build(
            scheme=scheme,
            authority=normal,
            path=normal_path(path),
            query_string=normal_query(query)[1:],
            encoded=True,
        )
    except ValueError:
        raise Problem("invalid_url") from None
    if checked.raw_host != host or checked.port != port:
        raise Problem("invalid_url")
    if hosts is not None and host_key(checked) not in hosts:
        raise Problem("host")
    return checked


@lru_cache(maxsize=1024)  # the pages of a host differ in their paths
def _host(scheme: str, authority: str, allow_private: bool) -> tuple[str, str, int]:
    """Return an authority in normal form, its host and port, or raise what is wrong, without a look-up."""
    if "@" in authority:
        raise Problem("credentials")
    if _NOT_IN_AUTHORITY.search(authority):
        raise Problem("invalid_url")
    written, port = split_port(authority, DEFAULT_PORTS[scheme])
    name = ascii_host(written)
    host = normal_host(name)
    # 2130706433, 0x7f.1 and 0177.0.0.1 are 127.0.0.1 to some programs and names to others.
    if port == 0 or (host != name and not name.startswith("[")):
        raise Problem("invalid_url")
    _check_host(host, allow_private)
    return place(scheme, host, port), host.strip("[]"), port


def check_redirect(base: URL, location: str | None, **limits: Any) -> URL:
    """Return where a Location header leads, checked like any other URL, or raise `Problem`.

    A location without a host is relative to `base` (RFC 9110 section 10.2.2). Raises `Problem` ``no_target``,
    ``redirect_scheme``, ``private``, ``port`` or ``host``; `limits` are those of `check_url`.

    >>> str(check_redirect(URL("https://example.com/a/b"), "../c?d"))
    'https://example.com/c?d'
    """
    if not location or not location.strip():
        raise Problem("no_target")
    try:
        target = urljoin(str(base), with_slashes(location.strip()))
    except ValueError:
        raise Problem("no_target") from None
    if not target.lower().startswith(("http:", "https:")):
        raise Problem("redirect_scheme")
    try:
        return check_url(target, **limits)
    except Problem as problem:
        raise (problem if problem.key in ("private", "port", "host") else Problem("no_target")) from None


def host_key(url: URL) -> str:
    """Return what counts as one host for limits and delays: its name, and an unusual port.

    >>> host_key(URL("https://example.com/a")) == host_key(URL("http://example.com/b"))
    True
    """
    return str(url.raw_host) if url.port in (80, 443) else f"{url.raw_host}:{url.port}"


def _split(text: str) -> tuple[str, str, str, str]:
    found = _PARTS.match(text)
    if not found or _CONTROL.search(text):
        raise Problem("invalid_url")
    scheme, authority, path, query = found.groups("")
    return scheme.lower(), authority, path, query


def _check_host(host: str, allow_private: bool) -> None:
    """Raise the problem of a host in normal form, if it has one."""
    address = _ip_address(host)
    if address is not None:
        if not allow_private and not is_public(address):
            raise Problem("private")
        return
    labels = host.split(".")
    if len(host) > 253 or not all(map(_is_label, labels)):
        raise Problem("invalid_url")
    local = len(labels) < 2 or labels[-1] in LOCAL_NAMES or labels[-2:] == ["home", "arpa"]
    if local and not allow_private:
        raise Problem("private")


def _is_label(label: str) -> bool:
    if not _LABEL.fullmatch(label):
        return False
    if not label.startswith("xn--"):
        return True
    try:
        return not label[4:].encode("ascii").decode("punycode").isascii()
    except UnicodeError:
        return False


def _ip_address(host: str) -> IPv4Address | IPv6Address | None:
    if host.startswith("["):
        return IPv6Address(host[1:-1])
    return IPv4Address(host) if host.rpartition(".")[2].isdigit() else None


_ISATAP = 0x00005EFE  # RFC 5214 section 6.1: the upper half of the interface identifier, without its u bit
_NOT_U = 0xFDFFFFFF

# Addresses refused since the variable was last set, in this task and those started from it: when
# several addresses of a host fail, aiohttp keeps neither the type nor the text of the errors.
refusals: ContextVar[list[str] | None] = ContextVar("refusals", default=None)
dialled_by_proxy: ContextVar[bool] = ContextVar("dialled_by_proxy", default=False)
"""Whether connections of this task go to a proxy, whose address the user named and is not checked."""


def is_public(address: str | IPv4Address | IPv6Address) -> bool:
    """Return whether an address is an ordinary one on the public internet.

    >>> is_public("93.184.215.14"), is_public("169.254.169.254"), is_public("::ffff:93.184.215.14")
    (True, False, False)
    """
    if isinstance(address, str):
        try:
            address = ip_address(address)
        except ValueError:
            return False
    if isinstance(address, IPv4Address):
        return not any(address in network for network in NOT_PUBLIC_V4)
    if address.scope_id is not None or address not in PUBLIC_V6:
        return False
    if any(address in network for network in NOT_PUBLIC_V6):
        return False
    return (int(address) >> 32) & _NOT_U != _ISATAP


def is_own(family: int, address: str) -> bool:
    """Return whether an address belongs to this machine.

    The system sends from an address of its own to that same address, and choosing the route of a
    datagram socket shows it without a packet being sent.

    >>> is_own(socket.AF_INET, "127.0.0.1"), is_own(socket.AF_INET, "93.184.215.14")
    (True, False)
    """
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
            return bool(ip_address(probe.getsockname()[0]) == ip_address(address))
    except (OSError, ValueError):
        return False


def open_socket(family: int, kind: int, protocol: int, address: tuple[Any, ...]) -> socket.socket:  # noqa: ARG001
    """Return a non-blocking socket for an address that passed the check."""
    opened = socket.socket(family, kind, protocol)
    opened.setblocking(False)
    return opened


class SocketFactory:
    """Return a socket for an address that may be connected to, refuse any other."""

    def __init__(self, allow_private: bool = False) -> None:
        self.allow_private = allow_private

    def __call__(self, info: tuple[int, int, int, str, tuple[Any, ...]]) -> socket.socket:
        """Return a socket for one connection attempt of aiohttp."""
        family, kind, protocol, _, address = info
        free = self.allow_private or dialled_by_proxy.get()
        if not free and not self._allowed(family, str(address[0])):
            record = refusals.get()
            if record is not None:
                record.append(str(address[0]))
            raise PermissionError(errno.EACCES, "address not allowed")
        return open_socket(family, kind, protocol, address)

    @staticmethod
    def _allowed(family: int, address: str) -> bool:
        return is_public(address) and not is_own(family, address)
