"""Certificates for tests, made with `cryptography`: authorities, and what they issue."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NOW = datetime.now(UTC).replace(microsecond=0)


class Held(NamedTuple):
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)


def name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def usage(signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=signs, crl_sign=signs, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def made(
    subject: str, issuer: Held | None = None, names: tuple[str, ...] = (), days: float = 90, *,
    authority: bool = False, length: int | None = None, signs: bool | None = None,
) -> Held:  # fmt: skip
    """A certificate: an authority's, or a server's with names; self-signed without an issuer."""
    key = ec.generate_private_key(ec.SECP256R1())
    signer = Held(None, key) if issuer is None else issuer  # type: ignore[arg-type]
    above = name(subject) if issuer is None else issuer.certificate.subject
    builder = (
        x509.CertificateBuilder(above, name(subject), key.public_key(), x509.random_serial_number())
        .not_valid_before(NOW - timedelta(days=30))
        .not_valid_after(NOW + timedelta(days=days))
        .add_extension(x509.BasicConstraints(authority, length if authority else None), True)
        .add_extension(usage(authority if signs is None else signs), True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.key.public_key()), False)
    )
    if names:
        alternatives = x509.SubjectAlternativeName([x509.DNSName(one) for one in names])
        builder = builder.add_extension(alternatives, False)
        builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
    return Held(builder.sign(signer.key, hashes.SHA256()), key)


class Pki:
    """What the servers of the tests show, by name: the server's certificate first."""

    def __init__(self, folder: Path, names: tuple[str, ...]) -> None:
        self.root = made("Root", authority=True, days=900)
        middle = made("Middle", self.root, authority=True, days=500)
        private = made("Private root", authority=True, days=900)
        narrow = made("Narrow", self.root, authority=True, length=0)
        below = made("Below", narrow, authority=True)
        unable = made("Unable", self.root, authority=True, signs=False)
        self.chains = {
            "good": (made("good", middle, names), middle),
            "next": (made("next", middle, names, days=200), middle),
            "whole": (made("whole", middle, names), middle, self.root),
            "expired": (made("expired", middle, names, days=-2), middle),
            "named": (made("named", middle, ("other.example",)), middle),
            "alone": (made("alone", middle, names),),
            "private": (made("private", private, names), private),
            "own": (made("own", None, names),),
            "narrow": (made("narrow", below, names), below, narrow),
            "unable": (made("unable", unable, names), unable),
        }
        self.ca, self._folder = folder / "ca.pem", folder
        self.ca.write_bytes(self.root.pem)
        self.files = {label: self.written(label, chain) for label, chain in self.chains.items()}

    def written(self, label: str, chain: tuple[Held, ...]) -> tuple[Path, Path]:
        """Write a chain and the key of its first certificate, as servers read them."""
        certificates, key = self._folder / f"{label}.pem", self._folder / f"{label}.key"
        certificates.write_bytes(b"".join(one.pem for one in chain))
        key.write_bytes(
            chain[0].key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return certificates, key
