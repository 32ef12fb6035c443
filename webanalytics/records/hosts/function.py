"""`webanalytics.live_tlsa` and `webanalytics.certificates`: hosts as they are now."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from ipaddress import ip_address
from itertools import chain
from typing import Any, Final, Unpack

import pandas as pd

from webanalytics.core.messages import row_sentence
from webanalytics.core.operations.model import Dtype
from webanalytics.core.option_types import HostOptions
from webanalytics.core.run_options import resolve
from webanalytics.errors import ParameterError, RowError
from webanalytics.fetching.gates import Limits
from webanalytics.fetching.guard import check_url
from webanalytics.fetching.response import Problem
from webanalytics.fetching.tls import USUAL, WAYS, Answer, Names, contexts, fault_of, shown
from webanalytics.records.dane.dane import is_valid
from webanalytics.records.dane.record import TlsaRecord
from webanalytics.records.dane.tlsa import may_issue, path_of, place_in
from webanalytics.runs.frames.inputs import addresses_of
from webanalytics.runs.frames.schema import frame_of
from webanalytics.urls import without_user

__all__ = ["certificates", "live_tlsa"]

Row = dict[str, Any]
Hosts = str | Iterable[str]
Path = str | os.PathLike[str] | None
_FIRST: Final[dict[str, Dtype]] = {
    **{"host": "string", "server": "string", "port": "integer", "address": "string", "status": "string"},
    "days_left": "integer",
}
_LAST: Final[dict[str, Dtype]] = {"protocol": "string", "error": "string", "error_type": "string"}
TLSA_COLUMNS: Final[dict[str, Dtype]] = {
    **{**_FIRST, "verdict": "string", "matched": "integer", "record": "string", "next_record": "boolean"},
    **{"dnssec": "string", "judged_by": "string", "pkix": "boolean", "name": "string", "records": "object"},
    **{"note": "string", **_LAST},
}
CERTIFICATE_COLUMNS: Final[dict[str, Dtype]] = {
    **{**_FIRST, "faults": "object", "issuer": "string", "subject": "string", "names": "object"},
    **{"not_before": "string", "not_after": "string", "key": "string", "bits": "integer", "chain": "integer"},
    **_LAST,
}
MOST = 20  # mail servers of a domain, addresses of a server and records of a name that are looked at


class Chain:
    """The certificates that a server shows, and what is wrong with them for who wants one of some names."""

    def __init__(self, shown: Any, wanted: Collection[str]) -> None:
        self.sent, self.trusted = _readable(shown.sent), _readable(shown.trusted)
        if not self.sent:
            raise RowError("certificate", parameter="hosts", reason="it cannot be read")
        self.now, self.own, self.path = datetime.now(UTC), self.sent[0], path_of(self.sent)
        self.names = _names(self.own)
        self._named = [] if any(fits_name(one, self.names) for one in wanted) else ["name mismatch"]
        known = [fault_of(shown.code, shown.fault)] if shown.code else []
        self.faults = list(dict.fromkeys((*self._dates(self.path), *self._named, *known)))

    def against(self, tlsa: TlsaRecord) -> tuple[int | None, list[str]]:
        """Return which certificate a record names, and what keeps a client from taking it all the same.

        RFC 6698 section 2.1.1: usages 0 and 1 ask for a chain that is trusted anyway, 2 for one that is good
        up to the certificate named, 3 for nothing more: names and dates do not count (RFC 7671 section 5.1).
        """
        path = list(self.trusted) if tlsa.usage == 0 and self.trusted else self.path
        if (tlsa.usage, tlsa.selector, tlsa.matching) == (2, 0, 0):  # the record may hold what is not sent
            path = path_of((*self.sent, *_readable((bytes.fromhex(tlsa.data),))))
        place = place_in(path, tlsa)
        if place is None or tlsa.usage != 2:
            return place, self.faults if tlsa.usage < 2 else []
        able = all(may_issue(one, below) for below, one in enumerate(path[1 : place + 1]))
        barred = ["not issued by an authority"] * (not able)
        return place, [*self._dates(path[: place + 1]), *self._named, *barred]

    def _dates(self, path: Sequence[Any]) -> list[str]:
        late = any(one.not_valid_after_utc < self.now for one in path)
        early = any(one.not_valid_before_utc > self.now for one in path)
        return ["expired"] * late + ["not yet valid"] * early

    def facts(self) -> Row:
        """Return what the certificate of the server says."""
        own, end, key = self.own, self.own.not_valid_after_utc, None
        with suppress(Exception):  # a kind or a curve that the library does not know
            key = own.public_key()
        return {
            **{"faults": self.faults, "issuer": own.issuer.rfc4514_string(), "names": self.names},
            **{"subject": own.subject.rfc4514_string(), "chain": len(self.sent), "pkix": not self.faults},
            **{
                "key": key and type(key).__name__.removesuffix("PublicKey"),
                "days_left": (end - self.now).days,
            },
            **{"not_before": own.not_valid_before_utc.isoformat(), "not_after": end.isoformat()},
            "bits": getattr(key, "key_size", None),
        }


def judged(records: Sequence[TlsaRecord], chain: Chain, protocol: str) -> Row:
    """Return whether records match a chain; between mail servers those of usages 0 and 1 do not count.

    RFC 7672 section 3.1.3; of digests only the strongest of a usage and selector counts, RFC 7671 section 9.
    """
    usable = [one for one in records if is_valid(one) and not (protocol == "smtp" and one.usage < 2)]
    if not usable:
        return {"verdict": "unusable" if records else "no record"}
    best = {(one.usage, one.selector): one.matching for one in sorted(usable, key=lambda one: one.matching)}
    counted = [one for one in usable if one.matching in (0, best[one.usage, one.selector])]
    named = [(one, *found) for one in counted if (found := chain.against(one))[0] is not None]
    if not named:
        return {"verdict": "mismatch"}
    one, place, faults = min(named, key=lambda item: len(item[2]))
    row = {"matched": place, "record": one.render().rpartition(" TLSA ")[2]}
    if faults:
        return {**row, "verdict": "mismatch", "note": f"The record names a certificate: {', '.join(faults)}."}
    return {**row, "verdict": "match", "next_record": any(chain.against(one)[0] is None for one in usable)}


def fits_name(name: str, patterns: Collection[str]) -> bool:
    """Return whether one of a certificate's names is that of a host (RFC 9525 section 6.3)."""
    if _is_address(name):
        return str(ip_address(name)) in patterns
    own, above = name.lower(), name.lower().partition(".")[2]
    return any(one.lower() == own or (above and one.lower() == f"*.{above}") for one in patterns)


def _names(certificate: Any) -> list[str]:
    with suppress(Exception):  # none, twice the same, or unreadable
        found = next(one.value for one in certificate.extensions if one.oid.dotted_string == "2.5.29.17")
        return [str(one.value) for one in found if type(one).__name__ in ("DNSName", "IPAddress")]
    return []


def _readable(chain: Collection[bytes]) -> tuple[Any, ...]:
    from cryptography import x509

    with suppress(ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about certificates that others made
        return tuple(map(x509.load_der_x509_certificate, chain))
    return ()


class Survey:
    """One call: what is asked, and how."""

    def __init__(self, resolver: str | None, ca: Any, settings: Row, with_tlsa: bool) -> None:
        self.names, self.trust, self.with_tlsa = Names(resolver), contexts(ca), with_tlsa
        self.free, self.how = settings["allow_private"], (settings["connect_timeout"], settings["retries"])
        self.limits = Limits(settings["concurrency"], 1, settings["delay"], adaptive=False)
        self.hosts = asyncio.Semaphore(settings["concurrency"])

    async def rows(self, given: Any) -> list[Row]:
        """Return the rows of a host, one for each address; what fails is a row."""
        row: Row = {"host": without_user(str(given))}
        async with self.hosts:
            try:
                target = name, port, protocol = read_target(given, self.free)
                row |= {"server": name, "port": port}
                is_mail = protocol == "smtp" and not _is_address(name)
                answer = await self.names.ask(name, "MX") if is_mail else Answer()
            except (Problem, RowError) as problem:
                return [row | failed(problem)]
            ordered = sorted(answer.records, key=lambda one: one.preference)[:MOST]
            names = dict.fromkeys(one.exchange.to_text(omit_final_dot=True).lower() for one in ordered)
            way = answer.dnssec if names else "secure"
            made = (self._of_server(*target, server, way, row) for server in names or [name])
            return list(chain.from_iterable(await asyncio.gather(*made)))

    async def _of_server(self, host: str, port: int, kind: str, name: str, way: str, row: Row) -> list[Row]:
        row, wanted, both, tlsa = row | {"server": name}, {host, name}, list[Answer](), list[TlsaRecord]()
        try:
            if name == ".":  # RFC 7505
                raise Problem("no_mail")
            name = base = read_target(f"[{name}]" if ":" in name else name, self.free)[0]
            if not _is_address(name):
                both = list(await asyncio.gather(self.names.ask(name, "A"), self.names.ask(name, "AAAA")))
            addresses = [one.address for answer in both for one in answer.records][:MOST]
            if both and not addresses:
                raise Problem("lookup_failed" if any(one.name for one in both) else "unknown_host")
            if both and self.with_tlsa:
                base, tlsa, known = await self._records(port, name, way, both)
                row, wanted = row | known, {*wanted, base}
        except (Problem, RowError) as problem:
            return [row | failed(problem)]
        places = [(address, port, kind, base) for address in addresses or [name]]
        return list(await asyncio.gather(*(self._of_address(one, wanted, tlsa, row) for one in places)))

    async def _records(self, port: int, name: str, way: str, both: Any) -> tuple[str, list[TlsaRecord], Row]:
        """Return the name that counts, by the rules for aliases (RFC 7671 section 7), and its records."""
        end = next(answer for answer in both if answer.records)
        ends = (read_target(end.name, self.free)[0], name) if end.dnssec == "secure" else (name,)
        for base in dict.fromkeys(ends):
            owner = f"_{port}._tcp.{base}"
            answer = await self.names.ask(owner, "TLSA")
            if answer.records or answer.dnssec == "bogus":
                break
        ways = {way, answer.dnssec, *({"bogus"} & {one.dnssec for one in both})}
        known = [(one.usage, one.selector, one.mtype, one.cert.hex()) for one in answer.records[:MOST]]
        tlsa = [TlsaRecord("", None, "IN", *one) for one in known]
        row = {"records": [" ".join(map(str, one)) for one in known], "name": owner, "note": answer.note}
        worst = next(one for one in ("bogus", "indeterminate", "insecure", "secure") if one in ways)
        return base, tlsa, row | {"dnssec": worst, "judged_by": await self.names.judge()}

    async def _of_address(self, place: Any, wanted: set[str], tlsa: list[TlsaRecord], row: Row) -> Row:
        row = row | {"address": place[0]}
        try:
            async with self.limits.slot(place[0]):
                seen = await shown(place, self.trust, self.free, *self.how)
            held = Chain(seen, wanted)
            row |= {"status": "ok", "protocol": seen.version, **held.facts(), **judged(tlsa, held, place[2])}
        except (Problem, RowError) as problem:
            return row | failed(problem)
        except ValueError:  # of names and dates that the library cannot read
            return row | failed(RowError("certificate", parameter="hosts", reason="it cannot be read"))
        if (dnssec := row.get("dnssec")) == "bogus" or (tlsa and dnssec != "secure"):
            row["verdict"] = dnssec  # clients believe only what is signed
        if row["verdict"] == "indeterminate":
            row["note"] = "No validating resolver that can be trusted was asked; `resolver=` names one."
        return row


async def surveyed(hosts: Any, columns: Any, resolver: Any, ca: Any, options: Any) -> pd.DataFrame:
    """Return the rows of all hosts; a wrong call raises `ParameterError` before any work."""
    hosts = addresses_of(hosts, "hosts")
    given = [hosts] if isinstance(hosts, str) else list(hosts) if isinstance(hosts, Iterable) else []
    if not given or isinstance(hosts, (bytes, dict, pd.DataFrame)):
        raise ParameterError.must_be("hosts", "a host such as example.org:25, or a list of them")
    if (settings := resolve(options))["proxy"] is not None:
        raise ParameterError.must_be("proxy", "None: hosts are asked themselves")
    survey = Survey(resolver, ca, settings, with_tlsa=columns is TLSA_COLUMNS)
    return frame_of(columns, chain.from_iterable(await asyncio.gather(*map(survey.rows, given))))


async def live_tlsa(
    hosts: Hosts, *, resolver: str | None = None, ca: Path = None, **options: Unpack[HostOptions]
) -> pd.DataFrame:
    """Look up the TLSA records of hosts, and say whether they match the certificates shown today.

    Parameters
    ----------
    hosts : str or iterable of str
        ``"example.org"`` (port 443), ``"example.org:25"`` (the mail servers that its MX records name, else
        the host itself), or a protocol and a host, ``"imap://mail.example.org"``: https, tls, smtp,
        submission, imap, pop3, xmpp, xmpp-server, ldap, postgresql or mysql.
    resolver : str, optional
        Address of a validating resolver that you trust, and the way to it: ``"127.0.0.1:5353"``. By default
        the system's, which is believed on what is signed only where it runs on this machine.
    ca : path, optional
        Roots that are trusted in place of the system's, in PEM.
    **options
        Options of this call: those of `webanalytics.core.option_types.HostOptions`.

    Returns
    -------
    pandas.DataFrame
        One row for each host, server and address. ``verdict``: "match"; "mismatch"; "no record"; "unusable"
        (no client takes such codes or, of a mail server, usages 0 and 1); "insecure" (not signed: clients
        ignore it); "bogus" (signed wrongly: clients refuse the host); "indeterminate" (nobody said whether it
        is signed); "no answer" (see ``error``). ``matched`` is the certificate that a ``record`` names, 0 for
        the server's own; ``next_record`` whether another waits for the next certificate; ``dnssec`` what
        ``judged_by`` says; ``pkix`` whether the chain is trusted and has the name. RFC 6698, 7671 and 7672.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work. A host that is none, or does not answer, is a row.

    Examples
    --------
    >>> import webanalytics as wa
    >>> wa.live_tlsa("192.168.1.1")[["verdict", "error"]].values.tolist()
    [['no answer', 'The host is not public; `allow_private=True` lets it through.']]
    """
    return await surveyed(hosts, TLSA_COLUMNS, resolver, ca, options)


async def certificates(
    hosts: Hosts, *, resolver: str | None = None, ca: Path = None, **options: Unpack[HostOptions]
) -> pd.DataFrame:
    """Get the certificates that hosts show today: names, issuer, days left, and what is wrong.

    Parameters
    ----------
    hosts, resolver, ca, **options
        As for `webanalytics.live_tlsa`.

    Returns
    -------
    pandas.DataFrame
        One row for each host, server and address: ``days_left``, ``faults`` (a list: "expired", "not yet
        valid", "self-signed", "name mismatch", "incomplete chain" (the issuer of the last certificate is
        neither sent nor known), "untrusted root", or what OpenSSL says), ``issuer``, ``subject``, ``names``,
        ``not_before``, ``not_after``, ``key``, ``bits``, ``chain`` (certificates sent), ``protocol``.

    Raises
    ------
    ParameterError
        As `webanalytics.live_tlsa`.

    Examples
    --------
    >>> import webanalytics as wa
    >>> wa.certificates(["10.0.0.1:443", "no host"])[["status", "error_type"]].values.tolist()
    [['error', 'blocked'], ['error', 'invalid']]
    """
    return await surveyed(hosts, CERTIFICATE_COLUMNS, resolver, ca, options)


def read_target(given: Any, allow_private: bool) -> tuple[str, int, str]:
    """Return name, port and protocol of what was given, or raise what is wrong."""
    scheme, mark, rest = (given if isinstance(given, str) else "").strip().rpartition("://")
    scheme, place = scheme.lower(), rest.partition("/")[0]
    place = f"[{place}]" if ":" in place and _is_address(place) else place
    try:
        url = check_url(f"https://{place}", allow_private=allow_private)
    except Problem as problem:
        raise problem if problem.key == "private" else RowError("tls_host", parameter="hosts") from None
    if mark and scheme not in WAYS:
        raise RowError("tls_host", parameter="hosts")
    port = url.explicit_port or (443 if place.endswith(":443") else WAYS[scheme or "https"].port)
    return url.raw_host or "", port, scheme or USUAL.get(port, "tls")


def failed(problem: Problem | RowError) -> Row:
    """Return the cells of a failure."""
    if isinstance(problem, Problem):
        problem = RowError(problem.key, parameter="hosts", **problem.details)
    said = row_sentence(problem.key, problem.sentence, "host")
    return {"status": "error", "verdict": "no answer", "error": said, "error_type": problem.error_type}


def _is_address(text: str) -> bool:
    with suppress(ValueError):
        return bool(ip_address(text))
    return False
