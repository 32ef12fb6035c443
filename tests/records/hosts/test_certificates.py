"""Certificates that hosts show."""

from __future__ import annotations

import ssl
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest

from tests.records.hosts.conftest import World
from tests.records.hosts.pki import NOW
from tests.records.hosts.servers import context
from webanalytics.records.hosts.function import fits_name

FAULTS = [
    ("good", []),
    ("whole", []),
    ("expired", ["expired"]),
    ("named", ["name mismatch"]),
    ("alone", ["incomplete chain"]),
    ("private", ["untrusted root"]),
    ("own", ["self-signed"]),
    ("narrow", ["path length constraint exceeded"]),
]


def test_a_certificate_that_cannot_be_read_is_a_row(world: World, tmp_path: Path) -> None:
    certificate, key = world.pki.files["own"]
    whole = ssl.PEM_cert_to_DER_cert(certificate.read_text())
    odd = whole.replace(
        b"\x0c\x03own", b"\x14\x03o\xffn"
    )  # a TeletexString, which X.509 has and no library reads
    (tmp_path / "odd.pem").write_text(ssl.DER_cert_to_PEM_cert(odd))
    world.servers.contexts["odd"] = context(tmp_path / "odd.pem", key)  # type: ignore[index]
    names = ["none.good.example", "rolling.good.example"]
    world.servers.shows[names[0]] = "odd"
    for found in (
        world.certificates(list(map(world.at, names))),
        world.tlsa(list(map(world.at, names))),
    ):
        assert found["status"].tolist() == ["error", "ok"]
        assert "certificate" in found.loc[0, "error"]
    del world.servers.shows[names[0]]


def test_faults_names_and_dates(world: World) -> None:
    name = "none.good.example"
    for shows, faults in FAULTS:
        world.servers.shows[name] = shows
        found = world.certificates(world.at(name))
        assert found.loc[0, "faults"] == faults, shows
        assert found.loc[0, "status"] == "ok"
        own = world.pki.chains[shows][0].certificate
        assert found.loc[0, "issuer"] == own.issuer.rfc4514_string()
        assert found.loc[0, "days_left"] == (own.not_valid_after_utc - NOW).days - 1
        assert datetime.fromisoformat(found.loc[0, "not_after"]) == own.not_valid_after_utc
        assert found.loc[0, ["key", "bits", "protocol"]].tolist() == ["EC", 256, "TLSv1.3"]
        assert found.loc[0, "chain"] == len(world.pki.chains[shows])
    del world.servers.shows[name]
    assert found.loc[0, "names"] == [
        f"*.{zone}.example" for zone in ("good", "nsec3", "expired", "altered", "plain")
    ]


def test_columns_and_kinds(world: World) -> None:
    found = world.certificates(
        pd.Series([world.at("none.good.example"), world.at("two.good.example"), "no host"])
    )
    assert found["host"].tolist()[1] == found["host"].tolist()[2] != found["host"].tolist()[3]
    assert found.columns.tolist()[:6] == ["host", "server", "port", "address", "status", "days_left"]
    assert found["status"].tolist() == ["ok", "ok", "ok", "error"]
    assert found["days_left"].dtype == "Int64"


def test_without_the_root_nothing_is_trusted(world: World, tmp_path: object) -> None:
    found = world.certificates(world.at("none.good.example"), ca=None)
    assert found.loc[0, "faults"] == ["incomplete chain"]


@pytest.mark.parametrize(
    ("name", "patterns", "fits"),
    [
        ("a.example", ["A.Example"], True),
        ("b.a.example", ["*.a.example"], True),
        ("c.b.a.example", ["*.a.example"], False),
        ("a.example", ["*.a.example", "*.example.org"], False),
        ("ab.example", ["a*.example"], False),
        ("example", ["*."], False),
        ("192.0.2.1", ["192.0.2.1"], True),
        ("192.0.2.1", ["*.0.2.1"], False),
        ("2001:DB8::1", ["2001:db8::1"], True),
    ],
)
def test_names(name: str, patterns: list[str], fits: bool) -> None:
    assert fits_name(name, patterns) is fits
