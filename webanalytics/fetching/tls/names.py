"""Look-ups of which one must know whether they were signed: one resolver is asked, and says so."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from webanalytics._version import how_to_install
from webanalytics.errors import ParameterError
from webanalytics.fetching.response import Problem

TRIES = (1.0, 2.0, 4.0)
"""Seconds that are waited for an answer, try by try: datagrams get lost."""
RCODES = (0, 3)
"""NOERROR and NXDOMAIN: answers; all others are failures."""


class Answer(NamedTuple):
    """What was answered to one question."""

    records: tuple[Any, ...] = ()  # those of the type asked for
    name: str = ""  # whose they are, without the final dot: the end of the aliases (CNAME)
    dnssec: str = "indeterminate"  # or secure, insecure, bogus
    note: str = ""  # why it is bogus, as the resolver says (RFC 8914)
    exists: bool = True  # whether the name does, with any record


class Names:
    """Asks a resolver, each question once, and takes its word on what is signed where it can be trusted.

    One that the user named is trusted, and the system's where it runs on this machine: on the way from any
    other, anybody may have set the AD bit. Whether it validates at all, its answer about the root shows.
    """

    def __init__(self, resolver: str | None) -> None:
        self._servers = _system() if resolver is None else (_place(resolver),)
        self._trusted = resolver is not None or all(ip_address(at).is_loopback for at, _ in self._servers)
        self._asked: dict[tuple[str, str], asyncio.Task[Any]] = {}

    async def judge(self) -> str:
        """Return who says what is signed; "" where nobody does that can be trusted."""
        root = await self._once(".", "SOA", self._exchange) if self._trusted else None
        is_signed = root is not None and bool(root.flags & 0x20)  # the AD bit
        return f"resolver {_shown(self._servers[0])}" if is_signed else ""

    async def ask(self, name: str, kind: str) -> Answer:
        """Return the records of a type that a name has, or raise `Problem` ``lookup_failed``."""
        answer: Answer = await self._once(name, kind, self._ask)
        return answer

    async def _once(self, name: str, kind: str, how: Any) -> Any:
        key = name.lower(), kind
        if key not in self._asked:
            self._asked[key] = asyncio.ensure_future(how(name, kind))
        return await asyncio.shield(self._asked[key])

    async def _ask(self, name: str, kind: str) -> Answer:
        found = await self._exchange(name, kind)
        if found.rcode() in RCODES:
            judged = bool(await self.judge())
            dnssec = ("secure" if found.flags & 0x20 else "insecure") if judged else "indeterminate"
            return _answer(found, dnssec)
        unchecked = await self._exchange(name, kind, checked=False)
        if unchecked.rcode() not in RCODES:
            raise Problem("lookup_failed")
        said = [error.code.name.replace("_", " ").lower() for error in found.extended_errors()]
        return _answer(unchecked, "bogus", ", ".join(said))

    async def _exchange(self, name: str, kind: str, checked: bool = True) -> Any:
        from dns import asyncquery, exception, flags, message

        try:
            query = message.make_query(f"{name.rstrip('.')}.", kind, want_dnssec=True)
        except exception.DNSException:
            raise Problem("lookup_failed") from None
        query.flags |= flags.AD if checked else flags.CD
        for seconds in TRIES:
            for address, port in self._servers:
                try:
                    asked = asyncquery.udp_with_fallback(query, address, seconds, port)
                    return (await asked)[0]
                except (exception.DNSException, OSError, EOFError):
                    continue
        raise Problem("lookup_failed")


def _answer(response: Any, dnssec: str, note: str = "") -> Answer:
    from dns import exception

    try:
        chain = response.resolve_chaining()
    except exception.DNSException:
        raise Problem("lookup_failed") from None
    records = () if chain.answer is None else tuple(chain.answer)
    name = chain.canonical_name.to_text(omit_final_dot=True).lower()
    return Answer(records, name, dnssec, note, response.rcode() == 0)


def _system() -> tuple[tuple[str, int], ...]:
    from dns import exception, resolver

    try:
        system = resolver.Resolver()
    except exception.DNSException:
        raise ParameterError(
            "The `resolver` parameter must be the address of a resolver where the system has none.",
            "resolver",
        ) from None
    return tuple((str(server), system.port) for server in system.nameservers)


def _place(resolver: str) -> tuple[str, int]:
    """Return address and port of a resolver as the user writes it."""
    try:
        if resolver.count(":") > 1 and not resolver.startswith("["):
            return str(ip_address(resolver)), 53
        parts = urlsplit(f"//{resolver}")
        return str(ip_address(parts.hostname or "")), parts.port or 53
    except (ValueError, AttributeError):
        raise ParameterError(
            "The `resolver` parameter must be the address of a resolver, such as 127.0.0.1 or [::1]:5353.",
            "resolver",
        ) from None


def _shown(place: tuple[str, int]) -> str:
    host = f"[{place[0]}]" if ":" in place[0] else place[0]
    return host if place[1] == 53 else f"{host}:{place[1]}"


def check_installed() -> None:
    """Raise `ParameterError` where the libraries for look-ups and certificates are missing."""
    try:
        import cryptography  # noqa: F401
        import dns.asyncquery  # noqa: F401
    except ImportError:
        raise ParameterError(
            f"The `hosts` parameter needs a library for look-ups and certificates: {how_to_install('dane')}",
            "hosts",
        ) from None
