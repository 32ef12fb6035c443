"""TLSA records from certificates: against the openssl command and published digests."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import itertools
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import NameOID

from webanalytics.errors import ParameterError
from webanalytics.records.dane.dane import analyse
from webanalytics.records.dane.record import parse
from webanalytics.records.dane.tlsa import association_data, load_chain, matches, tlsa_record

DATA = Path(__file__).parents[3] / "data"
CERTIFICATES = DATA / "certificates"
SERVER, INTERMEDIATE, ROOT, CHAIN, OTHER = (
    CERTIFICATES / f"{name}.pem" for name in ("server", "intermediate", "root", "chain", "self-signed")
)
HOST = "www.example.com"
needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="the openssl command is not installed"
)

# ISRG Root X2, a public root certificate of Let's Encrypt (https://letsencrypt.org/certificates/).
ISRG_ROOT_X2 = """\
-----BEGIN CERTIFICATE-----
MIICGzCCAaGgAwIBAgIQQdKd0XLq7qeAwSxs6S+HUjAKBggqhkjOPQQDAzBPMQsw
CQYDVQQGEwJVUzEpMCcGA1UEChMgSW50ZXJuZXQgU2VjdXJpdHkgUmVzZWFyY2gg
R3JvdXAxFTATBgNVBAMTDElTUkcgUm9vdCBYMjAeFw0yMDA5MDQwMDAwMDBaFw00
MDA5MTcxNjAwMDBaME8xCzAJBgNVBAYTAlVTMSkwJwYDVQQKEyBJbnRlcm5ldCBT
ZWN1cml0eSBSZXNlYXJjaCBHcm91cDEVMBMGA1UEAxMMSVNSRyBSb290IFgyMHYw
EAYHKoZIzj0CAQYFK4EEACIDYgAEzZvVn4CDCuwJSvMWSj5cz3es3mcFDR0HttwW
+1qLFNvicWDEukWVEYmO6gbf9yoWHKS5xcUy4APgHoIYOIvXRdgKam7mAHf7AlF9
ItgKbppbd9/w+kHsOdx1ymgHDB/qo0IwQDAOBgNVHQ8BAf8EBAMCAQYwDwYDVR0T
AQH/BAUwAwEB/zAdBgNVHQ4EFgQUfEKWrt5LSDv6kviejM9ti6lyN5UwCgYIKoZI
zj0EAwMDaAAwZQIwe3lORlCEwkSHRhtFcP9Ymd70/aTSVaYgLXTWNLxBo1BfASdW
tL4ndQavEi51mI38AjEAi/V3bNTIZargCyzuFJ0nN6T5U6VR5CmD1/iQMVtCnwr1
/q4AaOeMSQ+2b1tbFfLn
-----END CERTIFICATE-----
"""


def run(*command: str, given: bytes = b"") -> bytes:
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


def data_of(record: str) -> str:
    return analyse(record)["parsed"]["certificate_data"]


@needs_openssl
@pytest.mark.parametrize("path", [SERVER, INTERMEDIATE, ROOT, OTHER], ids=lambda path: path.stem)
def test_association_data_as_openssl_computes_them(path):
    usage = 3
    whole = run("openssl", "x509", "-in", str(path), "-outform", "DER")
    public = run(
        "openssl",
        "pkey",
        "-pubin",
        "-outform",
        "DER",
        given=run("openssl", "x509", "-in", str(path), "-noout", "-pubkey"),
    )
    for selector, content in ((0, whole), (1, public)):
        assert data_of(tlsa_record(path, HOST, usage=usage, selector=selector, matching=0)) == content.hex()
        for matching, name in ((1, "-sha256"), (2, "-sha512")):
            digest = run("openssl", "dgst", name, "-binary", given=content).hex()
            record = tlsa_record(path, HOST, usage=usage, selector=selector, matching=matching)
            assert record == f"_443._tcp.{HOST}. 3600 IN TLSA {usage} {selector} {matching} {digest}"
            assert analyse(record)["validation"]["is_valid"]


def test_published_digests_of_a_public_root():
    certificate = load_chain(ISRG_ROOT_X2)[0]
    # SHA-256 fingerprint as browsers and the authority's page show it, and the widely pinned key digest
    assert (
        association_data(certificate, 0, 1).hex()
        == "69729b8e15a86efc177a57afb7171dfc64add28c2fca8cf1507e34453ccb1470"
    )
    assert (
        association_data(certificate, 1, 1).hex()
        == "762195c225586ee6c0237456e2107dc54f1efc21f61a792ebd515913cce68332"
    )
    assert tlsa_record(ISRG_ROOT_X2, "mx.example.org", 25, 2, 1, 1) == (
        "_25._tcp.mx.example.org. 3600 IN TLSA 2 1 1 762195c225586ee6c0237456e2107dc54f1efc21f61a792ebd515913cce68332"
    )


def test_every_kind_of_source_gives_the_same_record():
    pem = SERVER.read_bytes()
    certificate = x509.load_pem_x509_certificate(pem)
    sources = [
        SERVER,
        str(SERVER),
        pem,
        pem.decode(),
        certificate,
        certificate.public_bytes(Encoding.DER),
        [certificate],
        CHAIN,
    ]
    assert len({tlsa_record(source, HOST) for source in sources}) == 1


def test_of_a_chain_the_usage_chooses():
    for usage, path in ((3, SERVER), (1, SERVER), (2, ROOT), (0, ROOT)):
        assert data_of(tlsa_record(CHAIN, HOST, usage=usage, selector=0)) == data_of(
            tlsa_record(path, HOST, usage=usage, selector=0)
        )


@pytest.mark.parametrize(
    ("host", "written"),
    [
        ("www.example.com", "www.example.com."),
        ("www.example.com.", "www.example.com."),
        ("bücher.example", "xn--bcher-kva.example."),
        ("BÜCHER.example", "xn--bcher-kva.example."),
        ("例え.テスト", "xn--r8jz45g.xn--zckzah."),
        ("_dmarc-like.example", "_dmarc-like.example."),
    ],
)
def test_hosts(host, written):
    assert tlsa_record(SERVER, host, 8443, protocol="udp", ttl=60).startswith(
        f"_8443._udp.{written} 60 IN TLSA 3 1 1 "
    )


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"usage": 4}, "usage"),
        ({"usage": True}, "usage"),
        ({"usage": "3"}, "usage"),
        ({"usage": 2}, "usage"),
        ({"usage": 0}, "usage"),
        ({"selector": 2}, "selector"),
        ({"matching": -1}, "matching"),
        ({"port": 0}, "port"),
        ({"port": 65536}, "port"),
        ({"port": None}, "port"),
        ({"ttl": -1}, "ttl"),
        ({"ttl": 2**31}, "ttl"),
        ({"protocol": "icmp"}, "protocol"),
        ({"host": ""}, "host"),
        ({"host": "a b.example"}, "host"),
        ({"host": "a.example\n_1._tcp.b.example"}, "host"),
        ({"host": "a..example"}, "host"),
        ({"host": "-a.example"}, "host"),
        ({"host": "192.0.2.1"}, "host"),
        ({"host": "2001:db8::1"}, "host"),
        ({"host": "a" * 64 + ".example"}, "host"),
        ({"host": "a23456789." * 25}, "host"),
        ({"host": "bücher..example"}, "host"),
        ({"host": None}, "host"),
        ({"certificate": b""}, "certificate"),
        ({"certificate": b"not a certificate"}, "certificate"),
        ({"certificate": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"}, "certificate"),
        ({"certificate": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"}, "certificate"),
        ({"certificate": "no/such/file.pem"}, "certificate"),
        ({"certificate": "nul\0byte"}, "certificate"),
        ({"certificate": CERTIFICATES}, "certificate"),
        ({"certificate": []}, "certificate"),
        ({"certificate": 7}, "certificate"),
        ({"certificate": None}, "certificate"),
    ],
)
def test_wrong_calls(change, named):
    with pytest.raises(ParameterError, match=f"^The `{named}` parameter must be .+\\.$") as caught:
        tlsa_record(**({"certificate": SERVER, "host": HOST} | change))
    assert caught.value.parameter == named


def test_a_port_of_a_table_is_a_number_too():
    assert tlsa_record(SERVER, "x.example", np.int64(25), ttl=np.uint16(60)) == tlsa_record(
        SERVER, "x.example", 25, ttl=60
    )


def test_a_file_that_is_too_large(tmp_path):
    path = tmp_path / "large.pem"
    path.write_bytes(SERVER.read_bytes() + b"\n" * 2000)
    with pytest.raises(ParameterError, match="at most 1500 bytes"):
        load_chain(path, limit=1500)


@pytest.mark.parametrize("selector", [0, 1])
@pytest.mark.parametrize("matching", [0, 1, 2])
class TestMatches:
    def test_end_entity_usages_look_at_the_end_entity_alone(self, selector, matching):
        for usage in (1, 3):
            own = tlsa_record(SERVER, HOST, 443, usage, selector, matching)
            issuer = parse(tlsa_record(INTERMEDIATE, HOST, 443, usage, selector, matching))
            assert matches(own, CHAIN) is True
            assert matches(own, SERVER) is True
            assert matches(own, OTHER) is False
            assert matches(issuer, CHAIN) is False

    def test_issuer_usages_look_at_the_issuers_alone(self, selector, matching):
        for usage in (0, 2):
            for path in (INTERMEDIATE, ROOT):
                record = tlsa_record(path, HOST, 443, usage, selector, matching)
                assert matches(record, CHAIN) is True
                assert matches(record, path) is True, "a lone authority is compared itself"
            end_entity = data_of(tlsa_record(SERVER, HOST, 443, 3, selector, matching))
            record = f"_443._tcp.{HOST}. IN TLSA {usage} {selector} {matching} {end_entity}"
            assert matches(record, CHAIN) is False


def test_the_order_of_the_issuers_does_not_matter():
    record = tlsa_record(ROOT, HOST, usage=2, selector=0)
    assert matches(record, [SERVER, ROOT, INTERMEDIATE]) is True


def test_a_certificate_that_issued_nothing_here_does_not_count():
    record = tlsa_record(ISRG_ROOT_X2, HOST, usage=2, selector=0)
    assert matches(record, [SERVER, INTERMEDIATE, ROOT, ISRG_ROOT_X2]) is False
    without_link = [SERVER, ROOT]
    assert matches(tlsa_record(ROOT, HOST, usage=2), without_link) is False


def test_a_2_0_0_record_may_hold_an_anchor_that_is_not_sent():
    record = tlsa_record(ROOT, HOST, usage=2, selector=0, matching=0)
    assert matches(record, [SERVER, INTERMEDIATE]) is True
    assert matches(record, [OTHER, INTERMEDIATE]) is False
    digest = tlsa_record(ROOT, HOST, usage=2, selector=0, matching=1)
    assert matches(digest, [SERVER, INTERMEDIATE]) is False


def test_a_pkix_ta_record_may_name_a_root_that_is_not_sent():
    for selector, matching in itertools.product((0, 1), (1, 2)):
        record = tlsa_record(ROOT, HOST, 443, 0, selector, matching)
        assert matches(record, [SERVER, INTERMEDIATE]) is None, "clients have the root, servers leave it out"
        assert matches(record, [SERVER, INTERMEDIATE, ROOT]) is True
    foreign = tlsa_record(ISRG_ROOT_X2, HOST, 443, 0)
    assert matches(foreign, [SERVER, INTERMEDIATE]) is None
    assert matches(foreign, [SERVER, INTERMEDIATE, ROOT]) is False, "the whole path is known"
    assert matches(tlsa_record(ROOT, HOST, 443, 2), [SERVER, INTERMEDIATE]) is False, "DANE-TA has to be sent"


def test_a_record_may_hold_the_bare_key_of_an_anchor_that_is_not_sent():
    for usage, path in itertools.product((0, 2), (ROOT, INTERMEDIATE)):
        record = tlsa_record(path, HOST, 443, usage, 1, 0)
        sent = [SERVER, INTERMEDIATE] if path is ROOT else [SERVER]
        assert matches(record, sent) is True
    assert matches(tlsa_record(ISRG_ROOT_X2, HOST, 443, 2, 1, 0), [SERVER, INTERMEDIATE]) is False
    assert matches("_443._tcp.a.example. TLSA 2 1 0 3003020101", [SERVER, INTERMEDIATE]) is False, "no key"


@pytest.mark.parametrize(
    "make",
    [
        lambda: rsa.generate_private_key(65_537, 2048),
        lambda: ec.generate_private_key(ec.SECP384R1()),
        lambda: dsa.generate_private_key(2048),
        ed25519.Ed25519PrivateKey.generate,
        ed448.Ed448PrivateKey.generate,
    ],
    ids=["RSA", "ECDSA", "DSA", "Ed25519", "Ed448"],
)
def test_bare_keys_of_every_kind(make):
    key, another = make(), make()
    leaf = signed(ec.generate_private_key(ec.SECP256R1()), key, "leaf", "root", authority=False)
    for owner, expected in ((key, True), (another, None)):
        spki = owner.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo).hex()
        assert matches(f"_443._tcp.{HOST}. IN TLSA 2 1 0 {spki}", [leaf]) is expected


@contextlib.contextmanager
def tls_server(key: Path, sent: Path, rest: Path | None) -> Iterator[int]:
    """Serve TLS by openssl on a free port of this machine."""
    more = [] if rest is None else ["-cert_chain", str(rest)]
    command = ["openssl", "s_server", "-accept", "127.0.0.1:0", "-key", str(key), "-cert", str(sent), *more]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            line = next(line for line in server.stdout if line.startswith("ACCEPT"))
            yield int(line.rpartition(":")[2])
        finally:
            server.kill()


def openssl_accepts(port: int, record: str, trusted: Path) -> bool:
    """Return whether openssl's client authenticates the server by a record alone."""
    tlsa = parse(record)
    done = subprocess.run(
        [
            *("openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-brief", "-verify_return_error"),
            *("-CAfile", str(trusted), "-dane_tlsa_domain", HOST),
            *("-dane_tlsa_rrdata", f"{tlsa.usage} {tlsa.selector} {tlsa.matching} {tlsa.data}"),
        ],
        input=b"",
        capture_output=True,
        check=False,
    )
    said = (done.stdout + done.stderr).decode()
    assert "CONNECTION ESTABLISHED" in said or "verif" in said, said
    return done.returncode == 0 and "Verification: OK" in said


@needs_openssl
@pytest.mark.parametrize("with_root", [True, False], ids=["root sent", "root not sent"])
def test_every_kind_of_record_as_openssl_judges_it(tmp_path, with_root):
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(4)]
    root, middle, leaf, foreign = (
        signed(keys[0], keys[0], "root", "root", authority=True, today=True),
        signed(keys[1], keys[0], "middle", "root", authority=True, today=True),
        signed(keys[2], keys[1], HOST, "middle", authority=False, today=True),
        signed(keys[3], keys[3], "foreign", "foreign", authority=True, today=True),
    )
    sent = [leaf, middle, root] if with_root else [leaf, middle]
    for name, certificates in {"leaf": [leaf], "rest": sent[1:], "trusted": [root]}.items():
        (tmp_path / name).write_bytes(b"".join(one.public_bytes(Encoding.PEM) for one in certificates))
    (tmp_path / "key").write_bytes(keys[2].private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    judged = set()
    with tls_server(tmp_path / "key", tmp_path / "leaf", tmp_path / "rest") as port:
        for usage, selector, matching in itertools.product(range(4), (0, 1), (0, 1)):
            for named in (leaf, middle, root, foreign):
                data = association_data(named, selector, matching).hex()
                record = f"_443._tcp.{HOST}. IN TLSA {usage} {selector} {matching} {data}"
                ours = matches(record, sent)
                theirs = openssl_accepts(port, record, tmp_path / "trusted")
                assert ours is None or ours is theirs, (usage, selector, matching, named.subject)
                assert ours is not None or (usage, with_root) == (0, False), "only such a root is unknown"
                judged.add((ours, theirs))
    assert {(True, True), (False, False)} <= judged
    assert ((None, True) in judged) is not with_root


def test_nothing_to_compare():
    record = tlsa_record(SERVER, HOST)
    assert matches(record, None) is None
    assert matches("not a record", CHAIN) is None
    assert matches(record[:-1], CHAIN) is None, "not valid"
    assert matches(tlsa_record(ROOT, HOST, usage=2), SERVER) is None, "the issuers are not known"
    with pytest.raises(ParameterError) as caught:
        matches(record, b"junk")
    assert caught.value.parameter == "certificates"


def signed(key, issuer_key, common_name, issuer_name, *, authority, today=False):
    def name(text):
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    now = datetime.now(UTC) - timedelta(hours=12) if today else datetime(2026, 1, 1, tzinfo=UTC)
    builder = x509.CertificateBuilder(
        name(issuer_name), name(common_name), key.public_key(), 1234, now, now + timedelta(days=1)
    )
    if authority is not None:
        builder = builder.add_extension(x509.BasicConstraints(authority, None), critical=True)
    without = ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey
    algorithm = None if isinstance(issuer_key, without) else hashes.SHA256()
    return builder.sign(issuer_key, algorithm)


def test_an_issuer_of_the_same_name_with_another_key_does_not_count():
    root_key, false_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
    leaf = signed(key, root_key, "leaf", "root", authority=False)
    root = signed(root_key, root_key, "root", "root", authority=True)
    impostor = signed(false_key, false_key, "root", "root", authority=True)
    assert matches(tlsa_record(root, HOST, usage=2), [leaf, impostor, root]) is True
    assert matches(tlsa_record(impostor, HOST, usage=2), [leaf, impostor, root]) is False


def test_ed25519_and_certificates_without_constraints():
    key = ed25519.Ed25519PrivateKey.generate()
    old_root = signed(key, key, "old root", "old root", authority=None)
    leaf = signed(ed25519.Ed25519PrivateKey.generate(), key, "leaf", "old root", authority=None)
    record = tlsa_record(old_root, HOST, usage=2, selector=1)
    assert matches(record, [leaf, old_root]) is True
    with pytest.raises(ParameterError, match="`usage`"):
        tlsa_record(leaf, HOST, usage=2)
    # RFC 8410 section 10.1: the SubjectPublicKeyInfo of Ed25519 is this prefix and the 32 octets of the key
    spki = bytes.fromhex("302a300506032b6570032100") + key.public_key().public_bytes_raw()
    assert data_of(record) == hashlib.sha256(spki).hexdigest()


def test_sample_records_against_their_certificates():
    with (DATA / "tlsa-records.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["certificate"]]
    for row in rows:
        expected = True
        if row["comment"].startswith("invalid"):
            expected = None
        elif row["comment"].startswith("does not match"):
            expected = False
        assert matches(row["record"], CERTIFICATES / row["certificate"]) is expected, row["comment"]
