"""Cases of TLSA records beside chains: what a host's record says, and what its server shows."""

from __future__ import annotations

import hashlib
import re
import subprocess
from itertools import product
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.records.hosts.pki import Pki

RIGHTS = ["private", "own", "expired", "named", "narrow", "unable", "alone"]


class Case(NamedTuple):
    host: str
    shows: str  # which chain of `Pki`
    records: tuple[str, ...]


def data(certificate: x509.Certificate, selector: int, matching: int) -> str:
    key = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    content = key if selector else certificate.public_bytes(Encoding.DER)
    return (
        content if matching == 0 else (hashlib.sha256, hashlib.sha512)[matching - 1](content).digest()
    ).hex()


def record(certificate: x509.Certificate, usage: int, selector: int = 1, matching: int = 1) -> str:
    return f"{usage} {selector} {matching} {data(certificate, selector, matching)}"


def cases(pki: Pki) -> list[Case]:
    chains = {label: [one.certificate for one in chain] for label, chain in pki.chains.items()}
    good, other = chains["good"], chains["private"]
    found: list[tuple[str, tuple[str, ...]]] = []
    for usage, selector, matching in product(range(4), (0, 1), (0, 1, 2)):
        at = 0 if usage in (1, 3) else 1
        found.append(("good", (record(good[at], usage, selector, matching),)))
        found.append(("good", (record(other[at], usage, selector, matching),)))
    for shows in RIGHTS:  # chains that some usages do not take
        chain = chains[shows]
        found += [(shows, (record(chain[0], usage),)) for usage in (1, 3)]
        found += [(shows, (record(chain[-1], usage, 0),)) for usage in (0, 2) if len(chain) > 1]
    root, whole = pki.root.certificate, chains["whole"]
    found += [
        ("good", (record(root, usage, selector, m),))
        for usage in (0, 2)
        for selector in (0, 1)
        for m in (0, 1)
    ]
    found += [("whole", (record(root, usage, selector),)) for usage in (0, 2) for selector in (0, 1)]
    found += [("whole", (record(whole[1], 2, 0, 2),)), ("alone", (record(good[1], 2, 0, 0),))]
    bad = record(other[0], 3, 1, 2)
    found += [
        ("good", (record(good[0], 3, 1, 1), bad)),  # the stronger digest alone counts
        ("good", (record(other[0], 3, 1, 1), record(good[0], 3, 1, 2))),
        ("good", (record(other[0], 3), record(good[0], 3))),
        ("good", (record(other[0], 3), record(good[1], 2, 0))),
        ("expired", (record(good[1], 2, 0), record(chains["expired"][0], 3))),
        ("good", (record(good[0], 2, 1, 1),)),  # no certificate is its own authority
        ("good", (record(good[1], 3, 1, 1),)),
    ]
    return [Case(f"c{place}.good.example", *one) for place, one in enumerate(found)]


def openssl(case: Case, port: int, pki: Pki) -> str:
    """What ``openssl s_client`` says: match or mismatch."""
    command = [
        "openssl",
        "s_client",
        "-connect",
        f"127.0.0.1:{port}",
        "-servername",
        case.host,
        "-CAfile",
        str(pki.ca),
    ]
    command += ["-no-CApath", "-no-CAstore", "-verify_return_error", "-dane_tlsa_domain", case.host]
    command.append(
        "-dane_ee_no_namechecks"
    )  # RFC 7671 section 5.1; mail servers set it, s_client leaves it to who asks
    for one in case.records:
        command += ["-dane_tlsa_rrdata", one]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=60)
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    matched = re.search(r"Verification: OK\s+Verified peername|DANE TLSA .* matched", said)
    assert "Usable TLSA" not in said
    return "match" if done.returncode == 0 and matched else "mismatch"
