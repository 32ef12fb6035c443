"""What is wrong with the certificates that a server shows, and whether TLSA records match them."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any, Final

from webanalytics.errors import RowError
from webanalytics.records.dane.dane import is_valid
from webanalytics.records.dane.record import TlsaRecord
from webanalytics.records.dane.tlsa import may_issue, path_of, place_in

FAULTS: Final = {
    **{2: "incomplete chain", 20: "incomplete chain", 21: "incomplete chain"},
    **{9: "not yet valid", 10: "expired", 18: "self-signed", 19: "untrusted root"},
}
"""What OpenSSL's findings are called here; others keep its words."""


class Chain:
    """The certificates that a server shows, and what is wrong with them for who wants one of some names."""

    def __init__(self, shown: Any, wanted: Collection[str]) -> None:
        self.sent, self.trusted = _readable(shown.sent), _readable(shown.trusted)
        if not self.sent:
            raise RowError("certificate", parameter="hosts")
        self.now, self.own, self.path = datetime.now(UTC), self.sent[0], path_of(self.sent)
        self.names = _names(self.own)
        named = any(fits_name(name, self.names) for name in wanted)
        self._named = [] if named else ["name mismatch"]
        known = [FAULTS.get(shown.code, shown.fault)] if shown.code else []
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
        barred = [] if able else ["not issued by an authority"]
        return place, [*self._dates(path[: place + 1]), *self._named, *barred]

    def _dates(self, path: Sequence[Any]) -> list[str]:
        late = any(one.not_valid_after_utc < self.now for one in path)
        return ["expired"] * late + ["not yet valid"] * any(
            one.not_valid_before_utc > self.now for one in path
        )

    def facts(self) -> dict[str, Any]:
        """Return what the certificate of the server says."""
        own, key = self.own, None
        with suppress(Exception):  # a kind or a curve that the library does not know
            key = own.public_key()
        return {
            **{"faults": self.faults, "issuer": own.issuer.rfc4514_string(), "names": self.names},
            **{"subject": own.subject.rfc4514_string(), "chain": len(self.sent), "pkix": not self.faults},
            **{"key": key and type(key).__name__.removesuffix("PublicKey")},
            **{"bits": getattr(key, "key_size", None), "not_before": own.not_valid_before_utc.isoformat()},
            **{"not_after": (end := own.not_valid_after_utc).isoformat(), "days_left": (end - self.now).days},
        }


def judged(records: Sequence[TlsaRecord], chain: Chain, mail: bool) -> dict[str, Any]:
    """Return whether records match a chain; between mail servers those of usages 0 and 1 do not count.

    RFC 7672 section 3.1.3; of digests only the strongest of a usage and selector counts, RFC 7671 section 9.
    """
    usable = [one for one in records if is_valid(one) and not (mail and one.usage < 2)]
    if not usable:
        return {"verdict": "unusable" if records else "no record"}
    best = {(one.usage, one.selector): one.matching for one in sorted(usable, key=lambda one: one.matching)}
    counted = [one for one in usable if one.matching in (0, best[one.usage, one.selector])]
    named = [(one, *found) for one in counted if (found := chain.against(one))[0] is not None]
    if not named:
        return {"verdict": "mismatch"}
    one, place, faults = min(named, key=lambda item: len(item[2]))
    row = {"matched": place, "record": rdata(one)}
    if faults:
        return {**row, "verdict": "mismatch", "note": f"The record names a certificate: {', '.join(faults)}."}
    return {**row, "verdict": "match", "next_record": any(chain.against(one)[0] is None for one in usable)}


def rdata(one: TlsaRecord) -> str:
    """Return the data of a record as ``dig +short`` prints them."""
    return f"{one.usage} {one.selector} {one.matching} {one.data}"


def fits_name(name: str, patterns: Collection[str]) -> bool:
    """Return whether one of a certificate's names is that of a host (RFC 9525 section 6.3).

    >>> fits_name("www.example.org", ["*.example.org"]), fits_name("example.org", ["*.example.org"])
    (True, False)
    """
    with suppress(ValueError):
        return str(ip_address(name)) in patterns
    own, above = name.lower(), name.lower().partition(".")[2]
    return any(one.lower() == own or (above and one.lower() == f"*.{above}") for one in patterns)


def _names(certificate: Any) -> list[str]:
    """Return what a certificate is for (subjectAltName); the subject's common name is no name."""
    from cryptography import x509

    with suppress(x509.ExtensionNotFound, x509.DuplicateExtension, ValueError):
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        return [str(name.value) for name in found if isinstance(name, (x509.DNSName, x509.IPAddress))]
    return []


def _readable(chain: Collection[bytes]) -> tuple[Any, ...]:
    """Return certificates, () where one of them cannot be read."""
    from cryptography import x509

    with suppress(ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about certificates that others made
        return tuple(map(x509.load_der_x509_certificate, chain))
    return ()
