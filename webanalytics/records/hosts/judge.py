"""What is wrong with the certificates that a server shows, and whether TLSA records match them."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from webanalytics.errors import RowError
from webanalytics.records.dane.dane import is_valid
from webanalytics.records.dane.record import TlsaRecord
from webanalytics.records.dane.tlsa import may_issue, path_of, place_in

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

FAULTS: Final = {
    **{2: "incomplete chain", 20: "incomplete chain", 21: "incomplete chain"},
    **{9: "not yet valid", 10: "expired", 18: "self-signed", 19: "untrusted root"},
}
"""What OpenSSL's findings are called here; others keep its words."""
MOST_NAMES = 1_000
"""Names of a certificate that are read."""


@dataclass(frozen=True)
class Chain:
    """The certificates that a server shows, and what was found about the trust in them."""

    sent: tuple[Certificate, ...]
    trusted: tuple[Certificate, ...]  # up to a known root, () where none leads there
    code: int  # what OpenSSL found, 0 for nothing
    fault: str
    wanted: Collection[str]  # names of which the certificate must have one
    now: datetime

    @classmethod
    def of(cls, shown: Any, wanted: Collection[str]) -> Chain:
        """Return the chain that `webanalytics.fetching.tls.dial.shown` found, or raise ``certificate``."""
        sent = _readable(*shown.sent)
        if not sent:
            raise RowError("certificate", parameter="hosts")
        return cls(sent, _readable(*shown.trusted), shown.code, shown.fault, wanted, datetime.now(UTC))

    @cached_property
    def path(self) -> list[Certificate]:
        """The certificates that lead up from the server's own, of those it sends."""
        return path_of(self.sent)

    @cached_property
    def names(self) -> list[str]:
        """The names of the server's certificate (subjectAltName); the subject's common name is none."""
        return names_of(self.sent[0])

    @cached_property
    def faults(self) -> list[str]:
        """What is wrong: with the dates, the names, and the way to a root that is known here."""
        found = _dates(self.path, self.now)
        if not any(fits_name(name, self.names) for name in self.wanted):
            found.append("name mismatch")
        if self.code:
            found.append(FAULTS.get(self.code, self.fault))
        return list(dict.fromkeys(found))

    @property
    def days_left(self) -> int:
        """Whole days until the server's certificate expires; below zero once it has."""
        return (self.sent[0].not_valid_after_utc - self.now).days

    def against(self, tlsa: TlsaRecord) -> tuple[int | None, list[str]]:
        """Return which certificate a record names, and what keeps a client from taking it all the same.

        RFC 6698 section 2.1.1: usages 0 and 1 ask for a chain that is trusted anyway, 2 for one that is good up
        to the certificate named, and 3 for nothing more: neither names nor dates count (RFC 7671 section 5.1).
        """
        path = list(self.trusted) if tlsa.usage == 0 and self.trusted else self.path
        if (tlsa.usage, tlsa.selector, tlsa.matching) == (2, 0, 0):  # the record may hold what is not sent
            path = path_of((*self.sent, *_readable(bytes.fromhex(tlsa.data))))
        place = place_in(path, tlsa)
        if place is None or tlsa.usage == 3:
            return place, []
        if tlsa.usage < 2:
            return place, self.faults
        found = _dates(path[: place + 1], self.now)
        if "name mismatch" in self.faults:
            found.append("name mismatch")
        if not all(may_issue(one, below) for below, one in enumerate(path[1 : place + 1])):
            found.append("issuer is no authority")
        return place, found


class Verdict(NamedTuple):
    """What records say of a chain."""

    verdict: str  # match, mismatch, unusable or no record
    matched: int | None = None  # which certificate: 0 for the server's own
    record: str | None = None  # the record that names it
    next_record: bool | None = None  # whether one is there that fits nothing yet
    note: str = ""


def judged(records: Sequence[TlsaRecord], chain: Chain, mail: bool) -> Verdict:
    """Return whether records match a chain; between mail servers those of usages 0 and 1 do not count.

    RFC 7672 section 3.1.3; of digests only the strongest of a usage and selector counts, RFC 7671 section 9.
    """
    if not records:
        return Verdict("no record")
    usable = [one for one in records if is_valid(one) and not (mail and one.usage < 2)]
    if not usable:
        return Verdict("unusable")
    best = {(one.usage, one.selector): 0 for one in usable}
    for one in usable:
        best[one.usage, one.selector] = max(best[one.usage, one.selector], one.matching)
    counted = [one for one in usable if one.matching in (0, best[one.usage, one.selector])]
    found = [(one, *chain.against(one)) for one in counted]
    good = [(one, place) for one, place, faults in found if place is not None and not faults]
    if good:
        spare = any(chain.against(one)[0] is None for one in usable)
        return Verdict("match", good[0][1], rdata(good[0][0]), spare)
    for one, place, faults in found:
        if place is not None:
            said = f"The record names a certificate that may not be taken: {', '.join(faults)}."
            return Verdict("mismatch", place, rdata(one), note=said)
    return Verdict("mismatch")


def rdata(one: TlsaRecord) -> str:
    """Return the data of a record as ``dig +short`` prints them."""
    return f"{one.usage} {one.selector} {one.matching} {one.data}"


def names_of(certificate: Certificate) -> list[str]:
    """Return the names and addresses that a certificate is for."""
    from cryptography import x509

    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, x509.DuplicateExtension, ValueError):
        return []
    kinds = (x509.DNSName, x509.IPAddress)
    return [str(name.value) for name in list(found)[:MOST_NAMES] if isinstance(name, kinds)]


def fits_name(name: str, patterns: Collection[str]) -> bool:
    """Return whether one of a certificate's names is that of a host (RFC 9525 section 6.3).

    >>> fits_name("www.example.org", ["*.example.org"]), fits_name("example.org", ["*.example.org"])
    (True, False)
    """
    try:
        return str(ip_address(name)) in patterns
    except ValueError:
        own, above = name.lower(), name.lower().partition(".")[2]
    return any(one.lower() == own or (above and one.lower() == f"*.{above}") for one in patterns)


def key_of(certificate: Certificate) -> tuple[str | None, int | None]:
    """Return kind and size of a public key: ``("EC", 256)``; None where it is not understood."""
    try:
        key: Any = certificate.public_key()
    except Exception:  # of a kind or a curve that the library does not know
        return None, None
    name = type(key).__name__.removesuffix("PublicKey").lstrip("_")
    kind = {"EllipticCurve": "EC"}.get(name, name)
    return kind, getattr(key, "key_size", None)


def _readable(*chain: bytes) -> tuple[Certificate, ...]:
    """Return certificates, () where one of them cannot be read."""
    from cryptography import x509

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about certificates that others made
            return tuple(map(x509.load_der_x509_certificate, chain))
    except ValueError:
        return ()


def _dates(path: Sequence[Certificate], now: datetime) -> list[str]:
    late = any(one.not_valid_after_utc < now for one in path)
    early = any(one.not_valid_before_utc > now for one in path)
    return ["expired"] * late + ["not yet valid"] * early
