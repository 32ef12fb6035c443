"""IP addresses and networks, as settings and commands name them and connections have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

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
