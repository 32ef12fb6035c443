"""TLSA records: made from certificates, and compared with them.

The comparison answers one question only: do the record's association data fit these certificates?
Dates, host names and revocation are for the TLS client to check.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webanalytics.errors import ParameterError, RowError, choice, whole_number
from webanalytics.records.dane.dane import HIGHEST_TTL, is_valid
from webanalytics.records.dane.record import HOST_LABEL, LAST_ASSIGNED, PROTOCOLS, TlsaRecord, parse

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

    CertificateSource = bytes | str | Path | Certificate


def tlsa_record(
    certificate: CertificateSource | Sequence[CertificateSource],
    host: str,
    port: int = 443,
    usage: int = 3,
    selector: int = 1,
    matching: int = 1,
    *,
    protocol: str = "tcp",
    ttl: int = 3600,
) -> str:
    """Write the TLSA record of a certificate.

    Parameters
    ----------
    certificate : bytes, str, pathlib.Path, cryptography.x509.Certificate, or a sequence of these
        PEM or DER data, PEM text, the path of a file, or a certificate. Of a chain (end entity first) the
        end entity is used for usages 1 and 3, and the last certificate for usages 0 and 2.
    host : str
        Host name of the server; names in other scripts become A-labels (``xn--``).
    port : int
        Port of the service, 1 to 65535.
    usage : {3, 2, 1, 0}
        DANE-EE, DANE-TA, PKIX-EE or PKIX-TA.
    selector : {1, 0}
        Public key (SPKI) or whole certificate.
    matching : {1, 2, 0}
        SHA-256, SHA-512 or the content itself.
    protocol : {"tcp", "udp", "sctp"}
        Transport.
    ttl : int
        Seconds.

    Returns
    -------
    str
        The record on one line, with an absolute name.

    Raises
    ------
    ParameterError
        When a parameter is out of range, or the certificate cannot be read, or is not an authority's
        although the usage names an issuer.

    Notes
    -----
    RFC 6698 sections 2.1 and 3; the defaults are RFC 7671's recommendation (section 5.1).

    Examples
    --------
    With the path of a certificate, ``tlsa_record("server.pem", "www.example.com")`` is the line
    ``_443._tcp.www.example.com. 3600 IN TLSA 3 1 1`` and 64 hexadecimal digits.

    >>> tlsa_record("server.pem", "www.example.com", usage=4)
    Traceback (most recent call last):
    webanalytics.errors.ParameterError: The `usage` parameter must be an integer from 0 to 3.
    """
    _check_codes(usage=usage, selector=selector, matching=matching)
    whole_number("port", port, 1, 65_535)
    whole_number("ttl", ttl, 0, HIGHEST_TTL)
    choice("protocol", protocol, PROTOCOLS)
    name = f"_{port}._{protocol}.{_ascii_host(host)}."
    chain = load_chain(certificate, "certificate")
    chosen = chain[0] if usage in (1, 3) else chain[-1]
    if usage in (0, 2) and not may_issue(chosen):
        raise ParameterError.must_be("usage", "1 or 3 for a certificate that is not an authority's")
    data = association_data(chosen, selector, matching).hex()
    return TlsaRecord(name, ttl, "IN", usage, selector, matching, data).render()


def matches(
    record: str | TlsaRecord, certificates: CertificateSource | Sequence[CertificateSource] | None
) -> bool | None:
    """Return whether a TLSA record matches a server's certificates: its chain, end entity first.

    None when there is nothing to compare: no certificate, a record that is not valid, one that names an
    issuer (usages 0 and 2) while only an end entity's certificate is given, or a PKIX-TA record (usage 0)
    that fits nothing in a chain whose root is not sent, which it may name.

    Notes
    -----
    Usages 1 and 3 are compared with the end entity alone. Usages 0 and 2 are compared with those
    certificates of the chain that issued it, directly or through others, as their signatures show: the
    end entity never counts as its own trust anchor, and a certificate that merely lies in the file
    is not compared. A 2 0 0 record holds the trust anchor itself, and a 2 1 0 record its bare key; the
    anchor may then be missing from the chain. Servers leave out the root as a rule, which clients have;
    only a DANE-TA anchor named by a digest has to be sent (RFC 6698 section 2.1.1, RFC 7671 sections 5.1
    to 5.4). Names, dates and the trust of a client in an authority are not looked at.
    """
    tlsa = _valid_record(record)
    if tlsa is None or certificates is None:
        return None
    chain = load_chain(certificates)
    if tlsa.usage in (1, 3):
        return _fits(tlsa, chain[0])
    if len(chain) == 1 and may_issue(chain[0]):
        return _fits(tlsa, chain[0])
    path = path_of(chain)
    if place_in(path, tlsa) is not None:
        return True
    root_is_sent = path[-1].issuer == path[-1].subject
    return None if len(chain) == 1 or (tlsa.usage == 0 and not root_is_sent) else False


def place_in(path: Sequence[Certificate], tlsa: TlsaRecord) -> int | None:
    """Return which certificate of a path a record names; the anchor that it may hold itself is one more."""
    if tlsa.usage in (1, 3):
        return 0 if _fits(tlsa, path[0]) else None
    found = next((place for place, one in enumerate(path) if place and _fits(tlsa, one)), None)
    if found is None and tlsa.matching == 0 and _issued_by_data(tlsa, path[-1]):
        return len(path)
    return found


def association_data(certificate: Certificate, selector: int, matching: int) -> bytes:
    """Return the certificate association data (RFC 6698 section 2.1.4) of a certificate."""
    from cryptography.hazmat.primitives.serialization import Encoding

    content = certificate.public_bytes(Encoding.DER) if selector == 0 else _spki(certificate)
    if matching == 0:
        return content
    return (hashlib.sha256 if matching == 1 else hashlib.sha512)(content).digest()


def load_chain(
    source: CertificateSource | Sequence[CertificateSource],
    parameter: str = "certificates",
    limit: int = 1_000_000,
) -> tuple[Certificate, ...]:
    """Read one certificate or a chain: PEM or DER data, PEM text, a path, or certificates, or refuse it."""
    from_file = isinstance(source, Path) or (isinstance(source, str) and "-----BEGIN" not in source)
    if from_file:
        return _parse_certificates(_read_file(str(source), parameter, limit), parameter)
    if isinstance(source, str):
        return _parse_certificates(source.encode("utf-8", "replace")[: limit + 1], parameter)
    if isinstance(source, bytes | bytearray):
        return _parse_certificates(bytes(source), parameter)
    if isinstance(source, _certificate_class()):
        return (source,)
    if isinstance(source, Iterable):
        chain = tuple(one for part in source for one in load_chain(part, parameter, limit))
        if chain:
            return chain
    raise _unreadable(parameter)


def _read_file(path: str, parameter: str, limit: int) -> bytes:
    try:
        with Path(path).open("rb") as file:
            data = file.read(limit + 1)
    except (OSError, ValueError):
        raise ParameterError.must_be(parameter, "the path of a readable file") from None
    if len(data) > limit:
        raise ParameterError.must_be(parameter, f"a file of at most {limit} bytes")
    return data


def _parse_certificates(data: bytes, parameter: str) -> tuple[Certificate, ...]:
    _certificate_class()
    from cryptography import x509

    try:
        if b"-----BEGIN" in data:
            return tuple(x509.load_pem_x509_certificates(data))
        return (x509.load_der_x509_certificate(data),)
    except ValueError:
        raise _unreadable(parameter) from None


def _unreadable(parameter: str) -> ParameterError:
    return ParameterError.must_be(parameter, "a certificate in PEM or DER format")


def _certificate_class() -> type[Certificate]:
    from cryptography.x509 import Certificate  # takes time to load

    return Certificate


def _check_codes(**codes: int) -> None:
    for name, code in codes.items():
        whole_number(name, code, 0, LAST_ASSIGNED[name])


def _ascii_host(host: object) -> str:
    """Return a host name as A-labels, without the final dot."""
    name = _to_a_labels(host.removesuffix(".")) if isinstance(host, str) else ""
    labels = name.split(".")
    # Room for the two labels before it: "_65535._sctp." and the root's octet in 255.
    if len(name) > 240 or not all(map(HOST_LABEL.fullmatch, labels)) or labels[-1].isdigit():
        raise ParameterError.must_be("host", "a host name, such as www.example.com")
    return name


def _to_a_labels(name: str) -> str:
    if name.isascii():
        return name
    import idna

    try:
        return idna.encode(name, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        return ""


def _valid_record(record: str | TlsaRecord) -> TlsaRecord | None:
    try:
        tlsa = record if isinstance(record, TlsaRecord) else parse(record, name=None)
    except RowError:
        return None
    return tlsa if is_valid(tlsa) else None


def _fits(tlsa: TlsaRecord, certificate: Certificate) -> bool:
    return association_data(certificate, tlsa.selector, tlsa.matching) == bytes.fromhex(tlsa.data)


def _spki(certificate: Certificate) -> bytes:
    """Return the SubjectPublicKeyInfo exactly as the certificate holds it.

    Taken from the certificate's own octets: a key that is parsed and written again may be encoded
    differently, and unknown kinds of key could not be parsed at all.
    """
    at = _content(certificate.tbs_certificate_bytes, 0)[0]
    octets = certificate.tbs_certificate_bytes
    if octets[at] == 0xA0:  # the version, which version 1 certificates omit
        at = _content(octets, at)[1]
    for _ in ("serial number", "signature", "issuer", "validity", "subject"):
        at = _content(octets, at)[1]
    return octets[at : _content(octets, at)[1]]


def _content(octets: bytes, at: int) -> tuple[int, int]:
    """Return start and end of the content of the DER element at a position."""
    length = octets[at + 1]
    start = at + 2
    if length >= 0x80:
        width = length - 0x80
        length = int.from_bytes(octets[start : start + width])
        start += width
    return start, start + length


def may_issue(certificate: Certificate, below: int = 0) -> bool:
    """Return whether a certificate may be an authority's, with so many other authorities below it."""
    from cryptography import x509

    try:
        found: dict[Any, Any] = {one.oid: one.value for one in certificate.extensions}
    except (ValueError, x509.DuplicateExtension):
        return False
    usage, limits = found.get(x509.KeyUsage.oid), found.get(x509.BasicConstraints.oid)
    if limits is None or not (usage is None or usage.key_cert_sign):
        return limits is None and certificate.subject == certificate.issuer
    return limits.ca and (limits.path_length is None or limits.path_length >= below)


def path_of(chain: tuple[Certificate, ...]) -> list[Certificate]:
    """Return the end entity and the certificates of the chain that lead up from it."""
    path = [chain[0]]
    rest = list(chain[1:])
    while rest:
        issuer = next((one for one in rest if _issued(path[-1], one)), None)
        if issuer is None:
            break
        rest.remove(issuer)
        path.append(issuer)
    return path


def _issued(certificate: Certificate, issuer: Certificate) -> bool:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

    try:
        certificate.verify_directly_issued_by(issuer)
    except UnsupportedAlgorithm:
        return certificate.issuer == issuer.subject
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _issued_by_data(tlsa: TlsaRecord, top: Certificate) -> bool:
    """Return whether the certificate, or the key, that a record holds in full signed a certificate."""
    data = bytes.fromhex(tlsa.data)
    if tlsa.selector == 1:
        return _signed(top, data)
    try:
        return _issued(top, load_chain(data)[0])
    except ParameterError:
        return False


def _signed(certificate: Certificate, spki: bytes) -> bool:
    """Return whether a public key, as SubjectPublicKeyInfo, verifies the signature of a certificate."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, rsa
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    signature, signed = certificate.signature, certificate.tbs_certificate_bytes
    try:
        key = load_der_public_key(spki)
        how: Any = certificate.signature_algorithm_parameters
        digest: Any = certificate.signature_hash_algorithm
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, signed, how, digest)
        elif isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(signature, signed, how)
        elif isinstance(key, dsa.DSAPublicKey):
            key.verify(signature, signed, digest)
        elif isinstance(key, (ed25519.Ed25519PublicKey, ed448.Ed448PublicKey)):
            key.verify(signature, signed)
        else:
            return False
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True
