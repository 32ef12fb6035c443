"""TLSA records of hosts, beside what openssl and unbound say of them."""

from __future__ import annotations

import asyncio
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.records.hosts.cases import openssl
from tests.records.hosts.conftest import World
from tests.records.hosts.servers import CHATTY, DRIPS, LONG, PLAIN, PROTOCOLS, RUDE, SILENT
from webanalytics.fetching.tls import MOST_WORDS
from webanalytics.records.hosts.function import read_target

MEASURED = (Path(__file__).parents[3] / "docs/measurements/mutants.md").read_text("utf-8")
ROWS = re.search(r"\| chain \| cases .*?\n\n", MEASURED, re.DOTALL)
SHOWN = {
    cells[0]: cells[1:]
    for line in (ROWS[0] if ROWS else "").strip().splitlines()[2:]
    if (cells := [cell.strip() for cell in line.strip("|").split("|")])
}
NAMES = {
    "good": "two certificates, the root is known and not sent",
    "whole": "the same with the root",
    "alone": "the server's certificate alone",
    "private": "a root that nobody knows",
    "own": "made by the server itself",
    "expired": "the server's has expired",
    "named": "for another name",
    "narrow": "an authority below one that may have none",
    "unable": "an authority that may not sign",
}


def measured(table: pd.DataFrame) -> dict[str, list[str]]:
    """The table of the documentation: how many match, by chain and usage."""
    found = {}
    kinds = [said[0] if " + " not in said else "several" for said in table["records"]]
    for shows, name in NAMES.items():
        cells = []
        for kind in ("0", "1", "2", "3", "several"):
            rows = table[(table["shows"] == shows) & (pd.Series(kinds) == kind)]
            cells.append(f"{rows['ours'].eq('match').sum()} of {len(rows)}" if len(rows) else "")
        found[name] = [str((table["shows"] == shows).sum()), *cells]
    return found


def test_verdicts_are_those_of_openssl(world: World) -> None:
    port = world.servers.ports["tls"]
    found = world.tlsa([world.at(case.host) for case in world.cases])
    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(lambda case: openssl(case, port, world.pki), world.cases))
    table = pd.DataFrame(
        {
            "shows": [case.shows for case in world.cases],
            "records": [" + ".join(one[:5] for one in case.records) for case in world.cases],
            "ours": found["verdict"],
            "matched": found["matched"],
            "openssl": said,
        }
    )
    print(table.to_string())
    assert measured(table) == SHOWN
    assert len(table) >= 60
    assert table[table["ours"] != table["openssl"]].to_dict("records") == []
    assert set(found["dnssec"]) == {"secure"}
    assert set(said) == {"match", "mismatch"}


# host, what unbound says of its records, dnssec, verdict, matched, owner of the records
JUDGED = [
    ("rolling.good.example", "NOERROR AD", "secure", "match", 0, "rolling.good.example"),
    ("none.good.example", "NXDOMAIN AD", "secure", "no record", None, "none.good.example"),
    ("odd.good.example", "NOERROR AD", "secure", "unusable", None, "odd.good.example"),
    ("yes.nsec3.example", "NOERROR AD", "secure", "match", 0, "yes.nsec3.example"),
    ("none.nsec3.example", "NXDOMAIN AD", "secure", "no record", None, "none.nsec3.example"),
    ("yes.expired.example", "SERVFAIL", "bogus", "bogus", 0, "yes.expired.example"),
    ("yes.altered.example", "SERVFAIL", "bogus", "bogus", None, "yes.altered.example"),
    ("yes.plain.example", "NOERROR", "insecure", "insecure", 0, "yes.plain.example"),
    (
        "a.good.example",
        "NXDOMAIN AD",
        "secure",
        "match",
        0,
        "rolling.good.example",
    ),  # those of the alias's end
    ("own.good.example", "NOERROR AD", "secure", "match", 0, "own.good.example"),  # its end has none
    ("out.good.example", "NOERROR AD", "secure", "match", 0, "out.good.example"),  # its end is not signed
    ("shared.good.example", "NOERROR AD", "secure", "match", 0, "shared.good.example"),
    ("wild.good.example", "NOERROR AD", "secure", "match", 0, "wild.good.example"),
]


def test_signatures_are_judged_as_unbound_does(world: World) -> None:
    port = world.servers.ports["tls"]
    found = world.tlsa([world.at(name) for name, *_ in JUDGED])
    ours = (
        found[["dnssec", "verdict", "matched"]]
        .astype(object)
        .where(found[["dnssec", "verdict", "matched"]].notna(), None)
    )
    expected = [
        (dnssec, verdict, matched, f"_{port}._tcp.{owner}")
        for _, _, dnssec, verdict, matched, owner in JUDGED
    ]
    assert [(*row, owner) for row, owner in zip(ours.values.tolist(), found["name"], strict=True)] == expected
    said = [world.dns.judge(f"_{port}._tcp.{name}") for name, *_ in JUDGED]
    assert said == [judge for _, judge, *_ in JUDGED]
    assert set(found["judged_by"]) == {f"resolver 127.0.0.1 port {world.dns.port}"}
    notes = found.set_index("host")["note"]
    assert notes[world.at("yes.expired.example")] in ("signature expired", "dnssec bogus")
    assert notes[world.at("yes.altered.example")] == "dnssec bogus"


def test_the_record_of_the_next_certificate_is_seen(world: World) -> None:
    names = ["rolling.good.example", "wild.good.example", "none.good.example"]
    found = world.tlsa([world.at(name) for name in names])
    assert found["next_record"].fillna(False).tolist() == [True, False, False]
    assert found["days_left"].tolist() == [89, 89, 89]
    coming = wa.tlsa_record(world.pki.chains["next"][0].certificate, names[0], world.servers.ports["tls"])
    assert coming.rpartition("TLSA ")[2] in found.loc[0, "records"]
    world.servers.shows[names[0]] = "next"  # the key has changed: nothing else has to
    after = world.tlsa(world.at(names[0]))
    del world.servers.shows[names[0]]
    assert after[["verdict", "next_record", "days_left"]].values.tolist() == [["match", True, 199]]


def test_every_address_is_asked(world: World) -> None:
    found = world.tlsa(world.at("two.good.example"))
    assert sorted(found[["address", "verdict"]].values.tolist()) == [
        ["127.0.0.1", "match"],
        ["127.0.0.2", "mismatch"],
    ]
    both = world.tlsa(world.at("six.good.example")).set_index("address")["verdict"]
    assert both["127.0.0.1"] == "match"
    assert both["::1"] == "no answer"  # nobody listens there
    assert max(world.servers.most.values()) >= 1


def test_mail_goes_by_mx_records_and_these_must_be_signed(world: World) -> None:
    found = world.tlsa(world.at("good.example", "smtp"))
    rows = [["m1.good.example", "match"], ["m2.good.example", "mismatch"]]
    assert found[["server", "verdict"]].values.tolist() == rows
    other = world.tlsa(
        [
            world.at("plain.example", "smtp"),
            world.at("pkix.good.example", "smtp"),
            world.at("quiet.good.example", "smtp"),
        ]
    )
    assert other["verdict"].tolist() == ["insecure", "unusable", "no answer"]
    assert other["dnssec"].fillna("").tolist() == ["insecure", "secure", ""]
    assert other["error"].fillna("").tolist() == ["", "", "The domain takes no mail."]


def test_nobody_is_believed_who_does_not_validate(world: World) -> None:
    found = world.tlsa(world.at("rolling.good.example"), resolver=f"127.0.0.1:{world.dns.careless}")
    assert found[["dnssec", "verdict", "matched"]].values.tolist() == [["indeterminate", "indeterminate", 0]]
    assert found["judged_by"].isna().all()
    assert "`resolver=` names one" in found.loc[0, "note"]
    silent = world.tlsa(world.at("rolling.good.example"), resolver=f"127.0.0.1:{world.dns.authority}")
    assert silent["verdict"].tolist() != ["match"]  # an authority that is no resolver


@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name != "smtp"])
def test_every_protocol_begins_as_openssl_has_it(world: World, protocol: str) -> None:
    host = f"{protocol}.good.example" if protocol != "tls" else "rolling.good.example"
    command = [
        "openssl",
        "s_client",
        "-connect",
        f"127.0.0.1:{world.servers.ports[protocol]}",
        "-servername",
        host,
    ]
    command += ["-CAfile", str(world.pki.ca)]
    if protocol != "tls":
        command += ["-starttls", {"postgresql": "postgres"}.get(protocol, protocol), "-xmpphost", host]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=60)
    assert b"Verify return code: 0 (ok)" in done.stdout, done  # the server of the test is what it says
    found = world.tlsa(world.at(host, protocol))
    assert found[["verdict", "protocol", "pkix"]].values.tolist() == [["match", "TLSv1.3", True]]


def test_servers_that_do_not_go_on_are_rows(world: World) -> None:
    port, plain, rude, silent = (world.servers.ports[name] for name in ("tls", PLAIN, RUDE, SILENT))
    hosts = [f"smtp://none.good.example:{at}" for at in (plain, rude, silent, port)] + [
        world.at("nowhere.good.example"),
        world.at("bad.good.example"),
    ]
    found = world.tlsa(hosts, connect_timeout=1.0)
    assert found["error"].tolist() == [
        "The server offers no secure connection (STARTTLS).",
        "The server offers no secure connection (STARTTLS).",
        *["The server was not reached within 1 seconds; `connect_timeout=` sets how long to wait."] * 2,
        "The host does not exist.",
        "The host has malformed records in the DNS.",
    ]
    assert found["error_type"].tolist() == ["tls", "tls", "timeout", "timeout", "dns", "dns"]


@pytest.mark.parametrize("kind", [RUDE, CHATTY, LONG, DRIPS])
def test_a_mail_server_without_end_costs_little(
    world: World, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[int] = []
    read = asyncio.StreamReader.read

    async def counted(self: asyncio.StreamReader, n: int = -1) -> bytes:
        piece = await read(self, n)
        heard.append(len(piece))
        return piece

    monkeypatch.setattr(asyncio.StreamReader, "read", counted)
    port = world.servers.ports[kind]
    for look in (world.certificates, world.tlsa):
        heard.clear()
        began = time.monotonic()
        found = look(f"smtp://none.good.example:{port}", connect_timeout=1.0, retries=0)
        assert time.monotonic() - began < 30
        expected = "timeout" if kind == DRIPS else "tls"
        assert found["error_type"].tolist() == [expected]
        assert sum(heard) < 3 * MOST_WORDS


def test_private_addresses_are_refused_whatever_name_leads_there(world: World) -> None:
    before = len(world.servers.asked)
    hosts = [
        world.at("rolling.good.example"),
        "127.0.0.1:443",
        "localhost",
        "[::1]:25",
        "good.example:25",
        "0x7f.1",
    ]
    found = world.tlsa(hosts, allow_private=False)
    assert set(found["error_type"]) <= {"blocked", "invalid"}
    assert found["error_type"].tolist()[:2] == ["blocked", "blocked"]
    assert len(world.servers.asked) == before


def test_one_connection_at_a_time_to_an_address(world: World) -> None:
    world.servers.most.clear()
    hosts = [
        world.at(name) for name in ("rolling.good.example", "wild.good.example", "none.good.example")
    ] * 4
    assert len(world.tlsa(hosts)) == 12
    assert world.servers.most["127.0.0.1"] <= 4  # a busy server may still be closing those before


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ("example.org", ("example.org", 443, "tls")),
        (" Mail.Example.ORG.:25 ", ("mail.example.org", 25, "smtp")),
        ("imap://example.org", ("example.org", 143, "imap")),
        ("smtp://example.org:443", ("example.org", 443, "smtp")),
        ("https://example.org/a/b", ("example.org", 443, "https")),
        ("bücher.example", ("xn--bcher-kva.example", 443, "tls")),
        ("2606:4700::1111", ("2606:4700::1111", 443, "tls")),
        ("[2606:4700::1111]:25", ("2606:4700::1111", 25, "smtp")),
    ],
)
def test_hosts_are_read(given: str, target: tuple[str, int, str]) -> None:
    assert read_target(given, False) == target


@pytest.mark.parametrize(
    "host", ["", "  ", "a b", "ftp://a.example", "a.example:99999", "user@a.example", None, 7, "a..b"]
)
def test_what_is_no_host_is_a_row(host: object) -> None:
    found = wa.live_tlsa([host], resolver="127.0.0.1:9")  # type: ignore[list-item]
    assert found[["status", "verdict", "error_type"]].values.tolist() == [["error", "no answer", "invalid"]]
    assert found.loc[0, "error"].startswith("The `hosts` parameter must hold hosts, such as example.org")


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({"hosts": []}, "hosts"),
        ({"hosts": b"a.example"}, "hosts"),
        ({"resolver": "dns.example"}, "resolver"),
        ({"resolver": "127.0.0.1:x"}, "resolver"),
        ({"resolver": 53}, "resolver"),
        ({"ca": "/nowhere.pem"}, "ca"),
        ({"proxy": "http://p.example:8080"}, "proxy"),
        ({"robots": False}, "robots"),
    ],
)
def test_a_wrong_call_raises_before_any_work(given: dict[str, Any], parameter: str) -> None:
    with pytest.raises(wa.ParameterError, match=f"`{parameter}` parameter"):
        wa.live_tlsa(**{"hosts": "a.example", **given})


def test_a_proxy_of_the_session_is_not_passed_by() -> None:
    with (
        wa.option_context(proxy="http://p.example:8080"),
        pytest.raises(wa.ParameterError, match="`proxy` parameter"),
    ):
        wa.certificates("a.example")
