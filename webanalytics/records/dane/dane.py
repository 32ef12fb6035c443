"""The DANE operation: validation and explanation of a TLSA record by `analyse`."""

from __future__ import annotations

from typing import Any, Final

from webanalytics.records.dane.record import (
    DIGEST_HEX_LENGTH,
    LAST_ASSIGNED,
    MATCHING,
    SELECTORS,
    USAGES,
    TlsaRecord,
    explain,
    parse,
)

HIGHEST_TTL: Final = 2_147_483_647
"""Seconds; a TTL is a 31-bit number (RFC 2181 section 8)."""

_SMTP_PORT = 25
_ROTATION = (
    "Before the key changes, publish the record of the new one beside it, until the old answer "
    "has left all caches (RFC 7671, section 8.1)."
)


def analyse(record: str, limit: int = 200_000, name: str | None = "") -> dict[str, Any]:
    r"""Read a TLSA record, check it and explain it.

    A record is as a zone file has it: ``<name> <ttl> <class> TLSA <usage> <selector> <matching>
    <hex_certificate_data>``. TTL and class may be missing or change places, data may be split and stand in
    parentheses over several lines, with comments; acronyms (``DANE-EE``) may stand for numbers, and the
    generic form ``TYPE52 \# length hex`` is read, too. One without its name, as ``dig +short`` prints it
    (``3 1 1 <hex>``), is read as one of this `name`; with None its codes and data alone are checked, and
    with "" it is not read.

    In ``parsed``, ``ttl`` is None if the record has none, ``port`` and ``protocol`` if the name has none (or,
    for the port, is a wildcard, which makes it invalid); ``class`` is ``IN`` unless the record gives another.

    Notes
    -----
    A record is valid when its name begins with a port and a protocol, and goes on with a host (``xn--`` for
    other scripts), its class is IN (the type itself is independent of classes, but hosts have addresses in IN
    alone), its three codes are assigned for public use, its data are whole octets in hexadecimal and as long
    as the matching type demands, and its TTL is in range (RFC 6698, RFC 2181). Security levels: *Recommended*
    is 3 1 1 (RFC 7671 section 5.1), *Good* any other DANE-EE or DANE-TA record with a digest, *Acceptable*
    PKIX-EE and PKIX-TA with a digest, *Weak* data that are not hashed, *Invalid* the rest.

    Examples
    --------
    >>> answer = analyse("_443._tcp.www.example.com. 3600 IN TLSA 3 1 1 " + "ab" * 32)
    >>> answer["parsed"]["port"], answer["parsed"]["hostname"], answer["validation"]["is_valid"]
    (443, 'www.example.com', True)
    >>> answer["interpretation"]["security_level"]
    'Recommended'
    """
    tlsa = parse(record, limit, name)
    return {
        "raw_record": record,
        "parsed": _parsed(tlsa),
        "interpretation": _interpretation(tlsa),
        "validation": {
            "is_valid": is_valid(tlsa),
            "certificate_data_format": data_format(tlsa),
            "certificate_data_length_valid": has_valid_length(tlsa),
        },
    }


def is_valid(tlsa: TlsaRecord) -> bool:
    """Return whether a record is valid.

    >>> is_valid(parse("www.example.com. IN TLSA 3 1 1 " + "ab" * 32))
    False
    """
    return not problems(tlsa)


def problems(tlsa: TlsaRecord) -> list[str]:
    """Return what is wrong with a record, in the order of its fields."""
    found = [tlsa.owner.problem] if tlsa.owner.problem else []
    if tlsa.ttl is not None and tlsa.ttl > HIGHEST_TTL:
        found.append(f"the TTL must be at most {HIGHEST_TTL} seconds")
    if tlsa.dns_class != "IN":
        found.append(f"the class must be IN, not {tlsa.dns_class}")
    for field, last in LAST_ASSIGNED.items():
        if getattr(tlsa, field) > last:
            found.append(f"the {field} must be a number from 0 to {last}")
    if not tlsa.is_hex:
        found.append("the certificate data must be hexadecimal digits only")
    elif len(tlsa.data) % 2:
        found.append("the certificate data must have an even number of hexadecimal digits")
    expected = DIGEST_HEX_LENGTH.get(tlsa.matching, len(tlsa.data))
    if len(tlsa.data) != expected:
        length = (
            f"{expected} hexadecimal digits long for {MATCHING[tlsa.matching].name}, not {len(tlsa.data)}"
        )
        found.append(f"the certificate data must be {length}")
    if not tlsa.as_declared:
        found.append(r"the length after `\#` must be the number of octets that follow")
    return found


def data_format(tlsa: TlsaRecord) -> str:
    """Return the result of the hexadecimal check of the association data."""
    if not tlsa.is_hex:
        return "Invalid: characters other than hexadecimal digits"
    if len(tlsa.data) % 2:
        return "Invalid: odd number of hexadecimal digits"
    return "Valid hexadecimal"


def has_valid_length(tlsa: TlsaRecord) -> bool:
    """Return whether the association data are as long as the matching type requires.

    Data that are not hashed may have any length in whole octets; for a matching type that is not
    assigned, no length is right.
    """
    if not tlsa.as_declared:
        return False
    if tlsa.matching == 0:
        return len(tlsa.data) % 2 == 0
    return len(tlsa.data) == DIGEST_HEX_LENGTH.get(tlsa.matching)


def security_level(tlsa: TlsaRecord) -> str:
    """Return Recommended, Good, Acceptable, Weak or Invalid."""
    if problems(tlsa):
        return "Invalid"
    if tlsa.matching == 0:
        return "Weak"
    if (tlsa.usage, tlsa.selector, tlsa.matching) == (3, 1, 1):
        return "Recommended"
    return "Good" if tlsa.usage >= 2 else "Acceptable"


def _parsed(tlsa: TlsaRecord) -> dict[str, Any]:
    return {
        "name": tlsa.name or None,
        "port": tlsa.owner.port,
        "protocol": tlsa.owner.protocol,
        "hostname": tlsa.owner.hostname if tlsa.name else None,
        "ttl": tlsa.ttl,
        "class": tlsa.dns_class,
        "usage": tlsa.usage,
        "selector": tlsa.selector,
        "matching": tlsa.matching,
        "certificate_data": tlsa.data,
        "certificate_data_length": len(tlsa.data),
    }


def _interpretation(tlsa: TlsaRecord) -> dict[str, Any]:
    return {
        "usage": explain(USAGES, tlsa.usage)._asdict(),
        "selector": explain(SELECTORS, tlsa.selector)._asdict(),
        "matching": explain(MATCHING, tlsa.matching)._asdict(),
        "security_level": security_level(tlsa),
        "recommendation": recommendation(tlsa),
    }


def recommendation(tlsa: TlsaRecord) -> str:
    """Return what to do about a record, following RFC 7671 and, for mail servers, RFC 7672.

    >>> recommendation(parse("_443._tcp.www.example.com. IN TLSA 3 1 1 abc"))
    'Correct the record: the certificate data must have an even number of hexadecimal digits; the certificate
    data must be 64 hexadecimal digits long for SHA2-256, not 3.'
    """
    wrong = problems(tlsa)
    if wrong:
        return f"Correct the record: {'; '.join(wrong)}."
    advice = [_usage_advice(tlsa)]
    if tlsa.matching == 0:
        advice.append(_full_data_advice(tlsa))
    elif tlsa.matching == 2:
        advice.append("Every client supports SHA2-256: prefer matching type 1 (RFC 7671, section 9).")
    if tlsa.usage in (1, 3):
        advice.append(_ROTATION)
    return " ".join(advice)


def _usage_advice(tlsa: TlsaRecord) -> str:
    if tlsa.usage <= 1:
        return _pkix_advice(tlsa)
    if tlsa.usage == 3 and tlsa.selector == 1:
        if tlsa.matching == 1:
            return "Keep it: 3 1 1 (DANE-EE SPKI SHA2-256) is the recommended form (RFC 7671, section 5.1)."
        return "Selector and usage are the recommended ones (RFC 7671, section 5.1)."
    if tlsa.usage == 3:
        return (
            "The record must change with every renewal of the certificate: "
            "prefer the public key, 3 1 1 (RFC 7671, section 5.1)."
        )
    if tlsa.selector == 0 and tlsa.matching == 0:
        return (
            "The record holds the trust anchor itself, which the server then need not send "
            "(RFC 7671, section 5.2)."
        )
    if tlsa.selector == 0:
        return (
            "The whole certificate is the right choice for a trust anchor, with a digest (2 0 1); the "
            "server must send the trust anchor's certificate in its chain (RFC 7671, section 5.2)."
        )
    return (
        "A trust anchor named by its key alone is taken without the limits its certificate sets: prefer "
        "2 0 1, and have the server send the trust anchor's certificate in its chain (RFC 7671, section 5.2)."
    )


def _pkix_advice(tlsa: TlsaRecord) -> str:
    if tlsa.owner.port == _SMTP_PORT and tlsa.owner.protocol == "tcp":
        return (
            "Mail servers may treat PKIX-TA and PKIX-EE records as unusable: publish 3 1 1 or 2 0 1 instead "
            "(RFC 7672, section 3.1.3)."
        )
    other = "2 0 1" if tlsa.usage == 0 else "3 1 1"
    return (
        "Clients must validate the certificate against public authorities as well, which adds ways to fail, "
        f"and many support DANE-TA and DANE-EE only: prefer {other} unless that validation is wanted "
        "(RFC 7671, section 4)."
    )


def _full_data_advice(tlsa: TlsaRecord) -> str:
    advice = (
        "Data that are not hashed make DNS answers large, and these fail more often: "
        "prefer matching type 1 (RFC 7671, section 10.1)."
    )
    if not _is_der(bytes.fromhex(tlsa.data)):
        advice += " The data are not one complete DER structure, so no certificate can match them."
    return advice


def _is_der(data: bytes) -> bool:
    """Return whether data are one SEQUENCE of its stated length (X.690 section 8.1), as certificates are."""
    if len(data) < 2 or data[0] != 0x30:
        return False
    if data[1] < 0x80:
        return len(data) == 2 + data[1]
    octets = data[1] - 0x80
    return len(data) == 2 + octets + int.from_bytes(data[2 : 2 + octets])
