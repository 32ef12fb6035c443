"""A real nginx: what it shows by name and by port, beside what openssl says of the same connections."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import webanalytics as wa
from tests.audits.moves.test_servers import running
from tests.records.hosts.cases import Case, openssl, record
from tests.records.hosts.pki import Held, Pki, made
from tests.records.hosts.zones import Dns, free_port

pytestmark = pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
ZONE = "nginx.example"
DAYS = {"one": 40, "two": 70, "short": 50}  # of the certificate of each
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@dataclass
class Site:
    pki: Pki
    held: dict[str, Held]
    records: dict[str, str]
    port: int  # TLSv1.2 and 1.3; a name that nginx does not know is shown what the first has
    older: int  # TLSv1.2 alone; a name that nginx does not know is refused
    usual: dict[str, Any]

    def at(self, label: str, port: int | None = None) -> str:
        return f"https://{label}.{ZONE}:{port or self.port}"

    def openssl(self, label: str, port: int) -> str:
        """What openssl says of a host's record: match or mismatch."""
        return openssl(Case(f"{label}.{ZONE}", label, (self.records[label],)), port, self.pki)


def block(label: str, port: int, files: tuple[Path, Path]) -> str:
    """One server of nginx's configuration."""
    return (
        f"server {{ listen 127.0.0.1:{port} ssl; server_name {label}.{ZONE} www.{label}.{ZONE};"
        f" ssl_certificate {files[0]}; ssl_certificate_key {files[1]}; return 204; }}\n"
    )


def configured(folder: Path, pki: Pki, held: dict[str, Held], port: int, older: int) -> Path:
    middle = pki.chains["good"][1]
    files = {
        label: pki.written(label, (own,) if label == "short" else (own, middle))
        for label, own in held.items()
    }
    servers = "".join(block(label, port, files[label]) for label in held)  # the first is the default
    servers += f"server {{ listen 127.0.0.1:{older} ssl; ssl_protocols TLSv1.2; ssl_reject_handshake on; }}\n"
    servers += block("two", older, files["two"])
    places = " ".join(f"{name}_temp_path {folder}/{name};" for name in TEMPORARY)
    file = folder / "nginx.conf"
    file.write_text(
        f"daemon off; pid {folder}/pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; {places} ssl_protocols TLSv1.2 TLSv1.3;\n"
        f"{servers}}}\n"
    )
    return file


def told(held: dict[str, Held], middle: Held) -> dict[str, str]:
    """The TLSA record of each host; "other" has one, and no server in nginx."""
    one, two, short = (held[label].certificate for label in ("one", "two", "short"))
    return {
        "one": record(one, 3),
        "www.one": record(two, 3),
        "two": record(middle.certificate, 2, 0),
        "www.two": record(two, 1),
        "short": record(short, 3),
        "www.short": record(short, 1),
        "other": record(one, 3),
        "www.other": record(middle.certificate, 2, 0),
    }


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("nginx")
    pki = Pki(folder, (f"*.{ZONE}",))
    middle = pki.chains["good"][1]
    held = {
        label: made(label, middle, (f"{label}.{ZONE}", f"www.{label}.{ZONE}"), days)
        for label, days in DAYS.items()
    }
    port, older = free_port(), free_port()
    records = told(held, middle)
    rows = [f"{label}.{ZONE}. 60 IN A 127.0.0.1" for label in records]
    rows += [f"_{port}._tcp.{label}.{ZONE}. 60 IN TLSA {said}" for label, said in records.items()]
    rows += [f"_{older}._tcp.{label}.{ZONE}. 60 IN TLSA {records[label]}" for label in ("one", "two")]
    dns = Dns(folder, {f"{ZONE}.": ("\n".join(rows) + "\n", "signed")})
    try:
        file = configured(folder, pki, held, port, older)
        with running(["nginx", "-p", str(folder), "-c", str(file)], port, folder):
            usual = {"resolver": f"127.0.0.1:{dns.port}", "ca": pki.ca, "allow_private": True}
            yield Site(pki, held, records, port, older, usual)
    finally:
        dns.close()


def openssl_sees(site: Site, label: str, port: int) -> tuple[int, str]:
    """What `openssl s_client` finds wrong with a chain, by number, and the version of TLS."""
    name = f"{label}.{ZONE}"
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-servername", name]
    command += ["-verify_hostname", name, "-CAfile", str(site.pki.ca), "-no-CApath", "-no-CAstore"]
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60)
    version = re.search(r"^New, (\S+), Cipher", done.stdout, re.MULTILINE)
    code = re.search(r"^ *Verify return code: (\d+)", done.stdout, re.MULTILINE)
    assert version, done
    assert code, done
    return int(code[1]), version[1]


# name, whose certificate nginx shows, at the older port, faults, what openssl finds, version
SEEN = [
    ("one", "one", False, [], 0, "TLSv1.3"),
    ("www.two", "two", False, [], 0, "TLSv1.3"),
    ("two", "two", True, [], 0, "TLSv1.2"),
    ("short", "short", False, ["incomplete chain"], 21, "TLSv1.3"),
    ("other", "one", False, ["name mismatch"], 62, "TLSv1.3"),
]


@pytest.mark.parametrize(("name", "shows", "older", "faults", "code", "version"), SEEN)
def test_certificates_that_nginx_shows(
    site: Site, name: str, shows: str, older: bool, faults: list[str], code: int, version: str
) -> None:
    port = site.older if older else site.port
    row = wa.certificates(site.at(name, port), **site.usual).loc[0].to_dict()
    assert (row["server"], row["status"], row["faults"]) == (f"{name}.{ZONE}", "ok", faults)
    assert (row["issuer"], row["subject"]) == ("CN=Middle", f"CN={shows}")
    assert row["names"] == [f"{shows}.{ZONE}", f"www.{shows}.{ZONE}"]
    assert row["days_left"] == DAYS[shows] - 1  # less than a day has passed since it was made
    assert row["chain"] == (1 if shows == "short" else 2)
    assert (row["protocol"], openssl_sees(site, name, port)) == (version, (code, version))


def test_a_name_that_nginx_refuses_is_a_row(site: Site) -> None:
    for look in (wa.certificates, wa.live_tlsa):
        found = look([site.at("one", site.older), site.at("two", site.older)], **site.usual)
        assert found["status"].tolist() == ["error", "ok"]
        assert found.loc[0, "error_type"] == "tls"
        assert found.loc[0, "error"] == "The server could not agree on a secure connection."


# name, verdict, which certificate of the chain the record names, note
JUDGED = [
    ("one", "match", 0, None),
    ("www.one", "mismatch", None, None),
    ("two", "match", 1, None),
    ("www.two", "match", 0, None),
    ("short", "match", 0, None),  # usage 3 asks for no chain
    ("www.short", "mismatch", 0, "The record names a certificate: incomplete chain."),
    ("other", "match", 0, None),  # nor for a name
    ("www.other", "mismatch", 1, "The record names a certificate: name mismatch."),
]


def test_verdicts_on_nginx_are_those_of_openssl(site: Site) -> None:
    found = wa.live_tlsa([site.at(name) for name, *_ in JUDGED], **site.usual)
    table = found[["verdict", "matched", "note"]].astype(object)
    rows = table.where(table.notna(), None).values.tolist()
    assert [(name, *row) for (name, *_), row in zip(JUDGED, rows, strict=True)] == JUDGED
    assert set(found["dnssec"]) == {"secure"}
    assert set(found["protocol"]) == {"TLSv1.3"}
    said = [site.openssl(name, site.port) for name, *_ in JUDGED]
    assert said == [verdict for _, verdict, *_ in JUDGED]


def test_records_belong_to_a_port_and_hold_with_the_older_protocol(site: Site) -> None:
    found = wa.live_tlsa(site.at("two", site.older), **site.usual)
    assert found[["verdict", "matched", "protocol"]].values.tolist() == [["match", 1, "TLSv1.2"]]
    assert found.loc[0, "name"] == f"_{site.older}._tcp.two.{ZONE}"
    assert site.openssl("two", site.older) == "match"
