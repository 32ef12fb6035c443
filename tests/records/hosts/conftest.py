"""One world for all tests of hosts: certificates, servers that show them, signed zones and their judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.records.hosts.cases import Case, cases, record
from tests.records.hosts.pki import Pki
from tests.records.hosts.servers import GREET, Servers
from tests.records.hosts.zones import Dns


@dataclass
class World:
    pki: Pki
    servers: Servers
    dns: Dns
    cases: list[Case]

    def tlsa(self, hosts: Any, **options: Any) -> pd.DataFrame:
        return wa.live_tlsa(hosts, **self._usual(options))

    def certificates(self, hosts: Any, **options: Any) -> pd.DataFrame:
        return wa.certificates(hosts, **self._usual(options))

    def _usual(self, options: dict[str, Any]) -> dict[str, Any]:
        usual = {"resolver": f"127.0.0.1:{self.dns.port}", "ca": self.pki.ca, "allow_private": True}
        return {**usual, **options}

    def at(self, name: str, protocol: str = "tls") -> str:
        return f"{protocol}://{name}:{self.servers.ports[protocol]}"


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    names = tuple(f"*.{zone}.example" for zone in ("good", "nsec3", "expired", "altered", "plain"))
    pki = Pki(folder, names)
    servers = Servers(pki)
    known = cases(pki)
    servers.shows.update({case.host: case.shows for case in known})
    own, coming = (record(pki.chains[label][0].certificate, 3) for label in ("good", "next"))
    wrong = record(pki.chains["own"][0].certificate, 3)
    ports = servers.ports

    def host(name: str, *records: str, port: int = ports["tls"], address: str = "127.0.0.1") -> str:
        rows = [f"_{port}._tcp.{name} 60 IN TLSA {one}" for one in records]
        return "\n".join([f"{name} 60 IN A {address}", *rows]) + "\n"

    port = ports["tls"]
    good = "".join(host(f"{case.host}.", *case.records) for case in known)
    good += host("none.good.example.") + host("rolling.good.example.", own, coming)
    good += host("odd.good.example.", f"9{own[1:]}") + host("bad.good.example.", own, "3 1 1 abcd")
    good += host("two.good.example.", own) + "two.good.example. 60 IN A 127.0.0.2\n"
    good += host("six.good.example.", own) + "six.good.example. 60 IN AAAA ::1\n"
    good += "a.good.example. 60 IN CNAME rolling.good.example.\n"
    good += (
        "own.good.example. 60 IN CNAME none.good.example.\n"
        + f"_{port}._tcp.own.good.example. 60 IN TLSA {own}\n"
    )
    good += (
        "out.good.example. 60 IN CNAME yes.plain.example.\n"
        + f"_{port}._tcp.out.good.example. 60 IN TLSA {own}\n"
    )
    good += "shared.good.example. 60 IN A 127.0.0.1\n"
    good += f"_{port}._tcp.shared.good.example. 60 IN CNAME _dane.good.example.\n_dane.good.example. 60 IN TLSA {own}\n"
    good += f"wild.good.example. 60 IN A 127.0.0.1\n*._tcp.wild.good.example. 60 IN TLSA {own}\n"
    smtp = ports["smtp"]
    good += "good.example. 60 IN MX 20 m2.good.example.\ngood.example. 60 IN MX 10 m1.good.example.\n"
    good += host("m1.good.example.", own, port=smtp) + host("m2.good.example.", wrong, port=smtp)
    good += host("pkix.good.example.", record(pki.chains["good"][0].certificate, 1), port=smtp)
    good += "quiet.good.example. 60 IN MX 0 .\n"
    for protocol in GREET:
        if protocol not in ("tls", "smtp"):
            name = f"{protocol}.good.example."
            good += host(name, own, port=ports[protocol])
    zones = {
        "good.example.": (good, "signed"),
        "nsec3.example.": (host("yes.nsec3.example.", own) + host("none.nsec3.example."), "nsec3"),
        "expired.example.": (host("yes.expired.example.", own), "expired"),
        "altered.example.": (host("yes.altered.example.", own), "altered"),
        "plain.example.": (
            host("yes.plain.example.", own) + "plain.example. 60 IN MX 1 m1.good.example.\n",
            "unsigned",
        ),
    }
    dns = Dns(folder, zones)
    try:
        yield World(pki, servers, dns, known)
    finally:
        dns.close()
        servers.close()
