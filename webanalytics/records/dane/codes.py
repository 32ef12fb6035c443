"""What the three codes of a TLSA record mean.

Numbers, acronyms and short descriptions are those of IANA's registry "DNS-Based Authentication of
Named Entities (DANE) Parameters", set up by RFC 6698 section 7 and given acronyms by RFC 7218.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Code(NamedTuple):
    """One code of a registry: its acronym, its registered description and what it does."""

    name: str
    description: str
    full_description: str


USAGES: Final[Mapping[int, Code]] = {
    0: Code(
        "PKIX-TA",
        "CA constraint",
        "The record names a certificate authority: the server's certificate must pass the usual PKIX "
        "validation, and the authority named here must be part of its certification path.",
    ),
    1: Code(
        "PKIX-EE",
        "Service certificate constraint",
        "The record names the server's own certificate, which must also pass the usual PKIX validation "
        "up to an authority the client trusts; names and dates are checked as without DANE.",
    ),
    2: Code(
        "DANE-TA",
        "Trust anchor assertion",
        "The record names the trust anchor for this server, public or private: the server must send a "
        "chain that leads to it and holds it, and the names and dates of the chain are checked.",
    ),
    3: Code(
        "DANE-EE",
        "Domain-issued certificate",
        "The record names the server's own certificate or key, and this binding alone authenticates the "
        "server: no certificate authority is needed, and the certificate's names and dates are not checked.",
    ),
    255: Code(
        "PrivCert",
        "Reserved for Private Use",
        "The code is reserved for private use: its meaning is agreed between the parties, and public "
        "clients cannot use the record.",
    ),
}

SELECTORS: Final[Mapping[int, Code]] = {
    0: Code(
        "Cert",
        "Full certificate",
        "The association data are made from the whole certificate in DER, so the record changes "
        "whenever the certificate is renewed.",
    ),
    1: Code(
        "SPKI",
        "SubjectPublicKeyInfo",
        "The association data are made from the certificate's SubjectPublicKeyInfo in DER (the public key "
        "with its algorithm), so the record outlives renewals that keep the key.",
    ),
    255: Code(
        "PrivSel",
        "Reserved for Private Use",
        "The code is reserved for private use: which part of the certificate is meant is agreed between "
        "the parties, and public clients cannot use the record.",
    ),
}

MATCHING: Final[Mapping[int, Code]] = {
    0: Code(
        "Full",
        "No hash used",
        "The association data are the selected content itself, not hashed: exact, but long, and large "
        "DNS answers fail more often on the way.",
    ),
    1: Code(
        "SHA2-256",
        "256 bit hash by SHA2",
        "The association data are the SHA-256 digest of the selected content, 32 octets or 64 hexadecimal "
        "digits; every client has to support it.",
    ),
    2: Code(
        "SHA2-512",
        "512 bit hash by SHA2",
        "The association data are the SHA-512 digest of the selected content, 64 octets or 128 hexadecimal "
        "digits; clients need not support it.",
    ),
    255: Code(
        "PrivMatch",
        "Reserved for Private Use",
        "The code is reserved for private use: how the data are matched is agreed between the parties, and "
        "public clients cannot use the record.",
    ),
}

LAST_ASSIGNED: Final = {"usage": 3, "selector": 1, "matching": 2}
"""Highest code in public use, for each of the three fields."""

DIGEST_HEX_LENGTH: Final[Mapping[int, int]] = {1: 64, 2: 128}
"""Hexadecimal digits of the association data, for the matching types that are digests."""


def explain(codes: Mapping[int, Code], code: int) -> Code:
    """Return the meaning of a code, assigned or not.

    Examples
    --------
    >>> explain(USAGES, 3).name
    'DANE-EE'
    >>> explain(MATCHING, 7).description
    'Unassigned (7)'
    """
    known = codes.get(code)
    if known is not None:
        return known
    if code > 255:
        text = "The code does not fit into the one octet the record has for it, so no such record can exist."
        return Code("Out of range", f"Out of range ({code})", text)
    text = "The code is not assigned in the IANA registry, so clients treat the record as unusable."
    return Code("Unassigned", f"Unassigned ({code})", text)


def by_acronym(codes: Mapping[int, Code]) -> dict[str, int]:
    """Map the acronyms of a registry, case folded, to their codes."""
    return {code.name.casefold(): number for number, code in codes.items()}
