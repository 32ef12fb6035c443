"""`webanalytics.live_tlsa` and `webanalytics.certificates`: hosts as they are now."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import chain
from typing import Any, Final, NamedTuple, Unpack

import pandas as pd

from webanalytics.core.messages import row_sentence
from webanalytics.core.operations.model import Dtype
from webanalytics.core.option_types import HostOptions
from webanalytics.core.run_options import resolve
from webanalytics.errors import ParameterError, RowError
from webanalytics.fetching.gates import Limits
from webanalytics.fetching.guard import check_url
from webanalytics.fetching.response import Problem
from webanalytics.fetching.tls import USUAL, WAYS, Answer, Names, contexts, shown
from webanalytics.records.dane.record import TlsaRecord
from webanalytics.records.hosts.judge import Chain, judged, key_of, rdata
from webanalytics.runs.frames.inputs import addresses_of
from webanalytics.runs.frames.schema import frame_of

__all__ = ["certificates", "live_tlsa"]

Row = dict[str, Any]
_FIRST: Final[dict[str, Dtype]] = {
    **{"host": "string", "server": "string", "port": "integer", "address": "string", "status": "string"},
}
_LAST: Final[dict[str, Dtype]] = {"protocol": "string", "error": "string", "error_type": "string"}
TLSA_COLUMNS: Final[dict[str, Dtype]] = {
    **_FIRST,
    **{"verdict": "string", "matched": "integer", "record": "string", "records": "object", "name": "string"},
    **{"dnssec": "string", "judged_by": "string", "pkix": "boolean", "next_record": "boolean"},
    **{"days_left": "integer", "note": "string"},
    **_LAST,
}
CERTIFICATE_COLUMNS: Final[dict[str, Dtype]] = {
    **_FIRST,
    **{
        "days_left": "integer",
        "faults": "object",
        "issuer": "string",
        "subject": "string",
        "names": "object",
    },
    **{"not_before": "string", "not_after": "string", "key": "string", "bits": "integer", "chain": "integer"},
    **_LAST,
}
MOST_SERVERS, MOST_ADDRESSES, MOST_RECORDS = 20, 20, 50
"""Mail servers of a domain, addresses of a server and records of a name that are looked at."""


class Target(NamedTuple):
    """A host as it was given."""

    given: Any
    name: str
    port: int
    protocol: str


class Server(NamedTuple):
    """A server behind a host, and what is known of it from the DNS."""

    name: str  # whose TLSA records count, and what it is asked for
    wanted: frozenset[str]  # names of which its certificate must have one
    addresses: tuple[str, ...]
    tlsa: Answer  # where they are wanted
    dnssec: str  # of the whole way to the records
    owner: str


@dataclass
class Survey:
    """One call: what is asked, and how."""

    names: Names
    trust: Any
    limits: Limits
    settings: dict[str, Any]
    with_tlsa: bool

    async def rows(self, given: Any) -> list[Row]:
        """Return the rows of a host, one for each address; what fails is a row."""
        row: Row = {"host": given if isinstance(given, str) else str(given)}
        try:
            target = read_target(given, self.settings["allow_private"])
            row |= {"server": target.name, "port": target.port}
            found, signed = await self._servers(target)
        except (Problem, RowError) as problem:
            return [row | failed(problem)]
        made = [self._of_server(target, name, signed, row | {"server": name}) for name in found]
        return list(chain.from_iterable(await asyncio.gather(*made)))

    async def _servers(self, target: Target) -> tuple[list[str], str]:
        """Return the names of the servers, and whether the way to them is signed."""
        if target.protocol != "smtp" or _is_address(target.name):
            return [target.name], "secure"
        answer = await self.names.ask(target.name, "MX")
        if not answer.records:
            return [target.name], "secure"
        ordered = sorted(answer.records, key=lambda one: one.preference)[:MOST_SERVERS]
        found = list(dict.fromkeys(one.exchange.to_text(omit_final_dot=True).lower() for one in ordered))
        if found in ([""], ["."], ["@"]):  # RFC 7505
            raise Problem("no_mail")
        return found, answer.dnssec

    async def _of_server(self, target: Target, name: str, signed: str, row: Row) -> list[Row]:
        try:
            checked = read_target(_joined(name, target.port), self.settings["allow_private"])
            server = await self._server(target, checked.name, signed)
        except (Problem, RowError) as problem:
            return [row | failed(problem)]
        known = await self._of_tlsa(server) if self.with_tlsa else {}
        asked = (self._of_address(target, server, at, row | known) for at in server.addresses)
        return list(await asyncio.gather(*asked))

    async def _server(self, target: Target, name: str, signed: str) -> Server:
        """Look a server up: its addresses, and its records by the rules for aliases (RFC 7671 section 7)."""
        wanted = frozenset((name, target.name))
        if _is_address(name):
            return Server(name, wanted, (name,), Answer(), "indeterminate", "")
        both = await asyncio.gather(self.names.ask(name, "A"), self.names.ask(name, "AAAA"))
        addresses = tuple(one.address for answer in both for one in answer.records)[:MOST_ADDRESSES]
        if not addresses:
            raise Problem("lookup_failed" if any(one.exists for one in both) else "unknown_host")
        if not self.with_tlsa:
            return Server(name, wanted, addresses, Answer(), "", "")
        end = next(answer for answer in both if answer.records)
        bases = [end.name, name] if end.dnssec == "secure" and end.name != name else [name]
        for base in bases:
            owner = f"_{target.port}._tcp.{base}"
            answer = await self.names.ask(owner, "TLSA")
            if answer.records or answer.dnssec == "bogus":
                break
        ways = {signed, answer.dnssec, *({"bogus"} & {one.dnssec for one in both})}
        worst = next(one for one in ("bogus", "indeterminate", "insecure", "secure") if one in ways)
        return Server(base, wanted | {base}, addresses, answer, worst, owner)

    async def _of_tlsa(self, server: Server) -> Row:
        records = [rdata(one) for one in tlsa_of(server.tlsa)]
        return {
            **{"records": records, "name": server.owner or None, "dnssec": server.dnssec},
            **{"judged_by": await self.names.judge() or None},
        }

    async def _of_address(self, target: Target, server: Server, address: str, row: Row) -> Row:
        row = row | {"address": address}
        try:
            async with self.limits.slot(address):
                place = (address, target.port, target.protocol, server.name)
                free, seconds = self.settings["allow_private"], self.settings["connect_timeout"]
                seen = await shown(place, self.trust, free, seconds)
            held = Chain.of(seen, server.wanted)
        except (Problem, RowError) as problem:
            return row | failed(problem)
        row |= {"status": "ok", "protocol": seen.version, "days_left": held.days_left}
        return row | (live(server, held, target) if self.with_tlsa else facts(held))


async def surveyed(
    hosts: Any, resolver: Any, ca: Any, options: Any, columns: dict[str, Dtype], with_tlsa: bool
) -> pd.DataFrame:
    """Return the rows of all hosts; a wrong call raises `ParameterError` before any work."""
    hosts = addresses_of(hosts, "hosts")
    given = [hosts] if isinstance(hosts, str) else list(hosts) if isinstance(hosts, Iterable) else []
    if not given or isinstance(hosts, (bytes, dict, pd.DataFrame)):
        raise ParameterError(
            "The `hosts` parameter must be a host such as example.org:25, or a list of them.", "hosts"
        )
    settings = resolve(options)
    if settings["proxy"] is not None:
        raise ParameterError(
            "The `proxy` parameter must be None where servers are dialled directly.", "proxy"
        )
    at_once = settings["concurrency"]
    limits = Limits(at_once, 1, settings["delay"], adaptive=False)
    survey = Survey(Names(resolver), contexts(ca), limits, settings, with_tlsa)
    open_hosts = asyncio.Semaphore(at_once)

    async def rows(one: Any) -> list[Row]:
        async with open_hosts:
            return await survey.rows(one)

    return frame_of(columns, chain.from_iterable(await asyncio.gather(*map(rows, given))))


async def live_tlsa(
    hosts: str | Iterable[str],
    *,
    resolver: str | None = None,
    ca: str | os.PathLike[str] | None = None,
    **options: Unpack[HostOptions],
) -> pd.DataFrame:
    """Look up the TLSA records of hosts, and say whether they match the certificates shown today.

    Parameters
    ----------
    hosts : str or iterable of str
        ``"example.org"`` (port 443), ``"example.org:25"`` (the mail servers that its MX records name, else
        the host itself), or with another protocol ``"imap://mail.example.org"``: https, tls, smtp, submission,
        imap, pop3, xmpp, xmpp-server, ldap, postgresql, mysql; all but the first two begin with STARTTLS.
    resolver : str, optional
        Address of a validating resolver that you trust, and the way to it: ``"127.0.0.1:5353"``. By default
        the system's, which is believed on what is signed only where it runs on this machine.
    ca : path, optional
        Roots that are trusted in place of the system's, in PEM: for usages 0 and 1, and for ``pkix``.
    **options
        Options of this call: those of `webanalytics.core.option_types.HostOptions`.

    Returns
    -------
    pandas.DataFrame
        One row for each host, server and address. ``verdict``: "match"; "mismatch"; "no record"; "unusable"
        (codes or lengths that no client takes, or usages 0 and 1 of a mail server); "insecure" (not signed, so
        clients ignore them); "bogus" (the signatures are wrong: clients refuse the host); "indeterminate"
        (nobody said whether they are signed); "no answer" (see ``error``). ``matched`` is the certificate of
        the chain that a ``record`` names, 0 for the server's own; ``records`` all of ``name``; ``dnssec``
        secure, insecure, bogus or indeterminate, as ``judged_by`` says; ``pkix`` whether the chain is trusted
        and has the name; ``next_record`` whether another record waits for the next certificate;
        ``days_left`` of the certificate; ``note``; ``protocol``, such as TLSv1.3.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work. A host that is none, or does not answer, is a row.

    Notes
    -----
    RFC 6698, RFC 7671 (aliases, digests) and RFC 7672 (mail). Servers are sent nothing but the request for TLS.

    Examples
    --------
    >>> import webanalytics as wa
    >>> wa.live_tlsa("192.168.1.1")[["verdict", "error"]].values.tolist()
    [['no answer', 'The host is not public; `allow_private=True` lets it through.']]
    """
    return await surveyed(hosts, resolver, ca, options, TLSA_COLUMNS, with_tlsa=True)


async def certificates(
    hosts: str | Iterable[str],
    *,
    resolver: str | None = None,
    ca: str | os.PathLike[str] | None = None,
    **options: Unpack[HostOptions],
) -> pd.DataFrame:
    """Get the certificates that hosts show today: names, issuer, days left, and what is wrong.

    Parameters
    ----------
    hosts : str or iterable of str
        As for `webanalytics.live_tlsa`.
    resolver : str, optional
        Address of the resolver that is asked, such as ``"127.0.0.1:5353"``; by default the system's.
    ca : path, optional
        Roots that are trusted in place of the system's, in PEM.
    **options
        Options of this call: those of `webanalytics.core.option_types.HostOptions`.

    Returns
    -------
    pandas.DataFrame
        One row for each host, server and address: ``days_left``, ``faults`` (a list: "expired", "not yet
        valid", "self-signed", "name mismatch", "incomplete chain": the issuer of the last certificate is
        neither sent nor known, "untrusted root", or what OpenSSL says), ``issuer``, ``subject``, ``names``,
        ``not_before``, ``not_after``, ``key`` and its ``bits``, ``chain`` (certificates sent), ``protocol``.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work. A host that is none, or does not answer, is a row.

    Examples
    --------
    >>> import webanalytics as wa
    >>> wa.certificates(["10.0.0.1:443", "no host"])[["status", "error_type"]].values.tolist()
    [['error', 'blocked'], ['error', 'invalid']]
    """
    return await surveyed(hosts, resolver, ca, options, CERTIFICATE_COLUMNS, with_tlsa=False)


def read_target(given: Any, allow_private: bool) -> Target:
    """Return host, port and protocol of what was given, or raise what is wrong.

    >>> read_target("mail.example.org:25", False)[1:], read_target("imap://example.org", False)[1:]
    (('mail.example.org', 25, 'smtp'), ('example.org', 143, 'imap'))
    """
    text = given.strip() if isinstance(given, str) else ""
    scheme, mark, rest = text.rpartition("://")
    scheme, place = scheme.lower(), rest.partition("/")[0]
    if _is_address(place) and ":" in place:
        place = f"[{place}]"
    try:
        url = check_url(f"https://{place}", allow_private=allow_private)
    except Problem as problem:
        if problem.key == "private":
            raise
        raise RowError("tls_host", parameter="hosts") from None
    if (mark and scheme not in WAYS) or not url.raw_host:
        raise RowError("tls_host", parameter="hosts")
    written = url.explicit_port or (443 if place.endswith(":443") else None)
    port = written or WAYS[scheme or "https"].port
    return Target(given, url.raw_host, port, scheme or USUAL.get(port, "tls"))


def tlsa_of(answer: Answer) -> list[TlsaRecord]:
    """Return the records of an answer, valid or not."""
    return [
        TlsaRecord("", None, "IN", one.usage, one.selector, one.mtype, one.cert.hex())
        for one in answer.records[:MOST_RECORDS]
    ]


def live(server: Server, held: Chain, target: Target) -> Row:
    """Return what the records of a server say of its certificates; only signed ones are to be believed."""
    found = judged(tlsa_of(server.tlsa), held, target.protocol == "smtp")
    verdict, note = found.verdict, found.note
    if server.dnssec == "bogus":
        verdict, note = "bogus", server.tlsa.note and f"The resolver says: {server.tlsa.note}."
    elif server.tlsa.records and server.dnssec != "secure":
        verdict = server.dnssec
        if verdict == "indeterminate":
            note = "No validating resolver that can be trusted was asked; `resolver=` names one."
    return {
        **{"verdict": verdict, "matched": found.matched, "record": found.record, "note": note or None},
        **{"next_record": found.next_record, "pkix": not held.faults},
    }


def facts(held: Chain) -> Row:
    """Return what the certificate of a server says."""
    own = held.sent[0]
    key, bits = key_of(own)
    return {
        **{"faults": held.faults, "issuer": own.issuer.rfc4514_string(), "names": held.names},
        **{"subject": own.subject.rfc4514_string(), "key": key, "bits": bits, "chain": len(held.sent)},
        **{"not_before": own.not_valid_before_utc.isoformat()},
        **{"not_after": own.not_valid_after_utc.isoformat()},
    }


def failed(problem: Problem | RowError) -> Row:
    """Return the cells of a failure."""
    error = problem if isinstance(problem, RowError) else None
    error = error or RowError(problem.key, parameter="hosts", **getattr(problem, "details", {}))
    said = row_sentence(error.key, error.sentence, "host")
    return {"status": "error", "verdict": "no answer", "error": said, "error_type": error.error_type}


def _joined(name: str, port: int) -> str:
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def _is_address(text: str) -> bool:
    try:
        return bool(ip_address(text))
    except ValueError:
        return False
