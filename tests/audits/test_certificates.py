"""Certificates of hosts as an audit sees them: real servers, and certificates made here."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from cryptography.hazmat.primitives import serialization

import webanalytics as wa
from tests.records.hosts.pki import NOW, Held, made
from webanalytics.audits.words import phrase, speaking
from webanalytics.fetching.tls import certificate_of

ASKED: list[str] = []


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        ASKED.append(self.path)
        body = b"<!doctype html><html lang=en><title>Lamps of brass</title><h1>Lamps</h1><p>Text of it."
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def showing(folder: Path, *chain: Held) -> Iterator[str]:
    """A server on this machine that shows a chain."""
    file = folder / f"{chain[0].certificate.serial_number}.pem"
    key = chain[0].key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(key + b"".join(one.pem for one in chain))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"https://localhost:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


ROOT = made("Root", authority=True, days=900)
MIDDLE = made("Middle", ROOT, authority=True, days=500)
OWN = ("localhost",)
CHAINS = {
    "soon": (made("soon", MIDDLE, OWN, days=5.5), MIDDLE),
    "long": (made("long", MIDDLE, OWN, days=200), MIDDLE),
    "expired": (made("expired", MIDDLE, OWN, days=-1), MIDDLE),
    "named": (made("named", MIDDLE, ("other.example",)), MIDDLE),
    "alone": (made("alone", MIDDLE, OWN),),
    "own": (made("own", None, OWN),),
}


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("tls")
    (folder / "ca.pem").write_bytes(ROOT.pem)
    with ExitStack() as stack:
        found = {name: stack.enter_context(showing(folder, *chain)) for name, chain in CHAINS.items()}
        yield {**found, "ca": str(folder / "ca.pem")}


def fetched(hosts: dict[str, str], *names: str, **options: Any) -> wa.Audit:
    urls = [f"{hosts[name]}/{page}" for name in names for page in ("a", "b")]
    access = {"localhost": wa.Access(ca=hosts["ca"])}
    return wa.audit(urls, access=access, allow_private=True, retries=0, progress=False, **options)


def test_a_certificate_that_ends_soon_is_a_finding_of_its_host(hosts: dict[str, str], tmp_path: Path) -> None:
    audit = fetched(hosts, "soon", "long")
    found = audit.issues[audit.issues["rule"] == "certificate_expires"]
    (row,) = found.to_dict("records")
    assert (row["url"], row["scope"], row["pages"], row["value"]) == (hosts["soon"], "host", 2, 5)
    day = f"{NOW + timedelta(days=5.5):%Y-%m-%d}"
    assert (
        row["evidence"]
        == f"All 2 pages, such as {hosts['soon']}/a: Days left: 5, until {day}; issued by Middle."
    )
    kept = audit.pages["certificate"]
    ends = [datetime.fromisoformat(one["not_after"]) for one in kept]
    assert ends == [
        chain[0].certificate.not_valid_after_utc for chain in (CHAINS["soon"], CHAINS["long"]) for _ in "ab"
    ]
    loose = audit.with_profile(thresholds={"certificate_expires": 5}).issues
    assert "certificate_expires" not in set(loose["rule"])
    wide = audit.with_profile(thresholds={"certificate_expires": 365}).issues
    assert set(wide.loc[wide["rule"] == "certificate_expires", "url"]) == {hosts["soon"]}, (
        "a third of 230 days"
    )
    audit.save(tmp_path / "kept")
    again = wa.load(tmp_path / "kept")
    assert again.pages["certificate"].tolist() == kept.tolist()
    assert again.issues[again.issues["rule"] == "certificate_expires"].to_dict("records") == [row]
    alone = wa.audit(pd.DataFrame(audit.pages.assign(html="<title>Tea")), progress=False)
    assert "certificate_expires" in set(alone.issues["rule"]), "a frame of saved pages says it too"


def test_an_archive_and_a_folder_of_a_run_keep_it(hosts: dict[str, str], tmp_path: Path) -> None:
    rules, column = ["certificate_expires", "certificate_invalid"], "certificate"
    audit = fetched(hosts, "soon", "expired", archive=tmp_path / "a.warc.gz", store=tmp_path / "store")
    expected = audit.issues[audit.issues["rule"].isin(rules)]
    assert set(expected["rule"]) == set(rules)
    again = fetched(hosts, "soon", "expired", store=tmp_path / "store")
    archived = wa.audit(tmp_path / "a.warc.gz", progress=False)
    for other in (again, archived):
        assert other.raw[column].astype(object)[:2].tolist() == audit.raw[column].astype(object)[:2].tolist()
        assert other.raw[column].isna().tolist() == [False, False, True, True]
        found = other.issues[other.issues["rule"].isin(rules)]
        assert found[["url", "evidence"]].values.tolist() == expected[["url", "evidence"]].values.tolist()
    pages = wa.pages(tmp_path / "a.warc.gz")
    assert [page.certificate for page in pages][:2] == audit.raw[column].tolist()[:2]


def test_one_that_is_not_valid_is_said_in_plain_words(hosts: dict[str, str]) -> None:
    names = ("long", "expired", "named", "alone", "own")
    audit = fetched(hosts, *names)
    failures = audit.failures().set_index("url")
    reasons = ["expired", "name mismatch", "incomplete chain", "self-signed"]
    for name, reason in zip(names[1:], reasons, strict=True):
        row = failures.loc[f"{hosts[name]}/a"]
        said = f"The server's TLS certificate is not valid: {reason}."
        assert row[["reason", "error_type", "pages", "error_key"]].tolist() == [said, "tls", 2, "certificate"]
        with speaking("de"):
            assert phrase(said).startswith("Das TLS-Zertifikat des Servers ist nicht gültig: ")
            assert reason == "name mismatch" or reason not in phrase(said)
    issues = audit.issues
    assert "robots_txt_problems" not in set(issues["rule"]), (
        "the pages say it, and nothing is known of the file"
    )
    found = issues[issues["rule"] == "certificate_invalid"].set_index("url")
    assert set(found.index) == {hosts[name] for name in names[1:]}
    assert found.loc[hosts["expired"], ["pages", "priority"]].tolist() == [2, "high"]
    assert found.loc[hosts["expired"], "evidence"].endswith("not valid: expired.")
    assert not issues["rule"].isin(("no_response", "certificate_expires")).any(), "one fault is one finding"


def test_a_crawl_has_it_too_and_asks_nothing_besides(hosts: dict[str, str]) -> None:
    how: dict[str, Any] = {"access": {"localhost": wa.Access(ca=hosts["ca"])}, "allow_private": True}
    ASKED.clear()
    site = wa.crawl(hosts["soon"], progress=False, sitemap=None, **how)
    assert len(site.issues[site.issues["rule"] == "certificate_expires"]) == 1
    ASKED.clear()
    wa.audit([f"{hosts['soon']}/tea"], progress=False, **how)
    assert sorted(ASKED) == ["/robots.txt", "/tea"]


def page(begin: str, end: str, at: str | None = "2026-11-25T12:00:00+00:00") -> dict[str, Any]:
    shown = {"issuer": "A", "not_before": begin, "not_after": end}
    return {"url": "https://a.example/", "html": "<title>Tea", "certificate": shown, "fetched_at": at}


@pytest.mark.parametrize(
    ("row", "days"),
    [
        (page("2026-10-01T00:00:00+00:00", "2026-12-09T11:59:59+00:00"), 13),
        (page("2026-10-01T00:00:00+00:00", "2026-12-09T12:00:00+00:00"), None),
        (page("2026-11-23T12:00:00+00:00", "2026-11-29T12:00:00+00:00"), None),  # of six days four are left
        (page("2026-11-20T12:00:00+00:00", "2026-11-26T12:00:00+00:00"), 1),
        (page("2026-10-01T00:00:00+00:00", "2026-11-25T11:00:00+00:00"), -1),
        (page("1950-01-01T00:00:00+00:00", "9999-12-31T23:59:59+00:00"), None),
        (page("2026-10-01", "tomorrow"), None),
        (page("2026-10-01T00:00:00+00:00", "2026-11-26T00:00:00+00:00", None), None),
        ({**page("", ""), "certificate": "none"}, None),
    ],
)
def test_days_are_counted_from_the_fetch(row: dict[str, Any], days: int | None) -> None:
    audit = wa.audit(pd.DataFrame([row]), progress=False)
    assert audit.issues.attrs["webanalytics"]["rules_failed"] == []
    found = audit.issues[audit.issues["rule"] == "certificate_expires"]
    assert found["value"].tolist() == ([] if days is None else [days])


def test_without_https_nothing_is_said_of_certificates() -> None:
    audit = wa.audit(pd.DataFrame({"url": ["http://a.example/"], "html": ["<title>Tea"]}), progress=False)
    assert audit.issues.attrs["webanalytics"]["rules_not_tried"]["certificate_expires"] == ["certificate"]


@pytest.mark.parametrize(
    "said",
    [
        None,
        {},  # what Python says of one that it did not check
        {"issuer": ((("commonName", "A"),),), "notBefore": "Feb 30 00:00:00 2026 GMT", "notAfter": "x"},
        {"issuer": ((("commonName", "A"),),)},
    ],
)
def test_what_cannot_be_read_is_no_certificate(said: Any) -> None:
    assert certificate_of(said) is None


def test_an_issuer_of_any_length_is_cut() -> None:
    dates = {"notBefore": "Nov  1 00:00:00 2026 GMT", "notAfter": "Dec 31 23:59:59 9999 GMT"}
    found = certificate_of({"issuer": ((("commonName", "A" * 1_000_000),),), **dates})
    assert found == {
        "issuer": "A" * 200,
        "not_before": datetime(2026, 11, 1, tzinfo=UTC).isoformat(),
        "not_after": "9999-12-31T23:59:59+00:00",
    }
