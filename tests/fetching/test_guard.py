"""Request forgery: what would be dialled, for every attack of a list and for made-up ones."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from yarl import URL

from tests.effort import BUSY_SECONDS
from webanalytics.fetching import FetchError
from webanalytics.fetching.guard import (
    SocketFactory,
    check_redirect,
    check_url,
    host_key,
    is_own,
    is_public,
    refusals,
)
from webanalytics.fetching.response import Problem

SERVICE_PORTS = (80, 443, 8000, 8080, 8443, 8888)
PUBLIC = "93.184.215.14"


def attacks() -> list[dict[str, Any]]:
    folder = os.environ.get("WEBANALYTICS_CORPUS")
    path = Path(folder).parent / "hostile" / "urls.json" if folder else None
    return json.loads(path.read_text("utf-8")) if path and path.is_file() else []


ATTACKS = attacks()


@pytest.mark.skipif(not ATTACKS, reason="the list of attacks is not beside the folder WEBANALYTICS_CORPUS")
def test_every_attack_of_the_list(door: Any, answer: Any) -> None:
    wrong = []
    for case in ATTACKS:
        door.dialled.clear()
        dns = [[door.OWN if ip == "@own" else ip for ip in found] for found in case.get("dns", [])]
        target = case.get("redirect_to")

        def respond(path: str, headers: dict[str, str], case: Any = case, target: Any = target) -> bytes:
            if target and path == "/r":
                return answer(b"", f"{case['status']} Moved", Location=target)
            return answer()

        # Nothing here speaks TLS: an https URL counts as let through when its public address is dialled.
        result = door.visit(case["url"], dns, respond, ports=SERVICE_PORTS, connect_timeout=BUSY_SECONDS)
        kind = result.error_type if isinstance(result, FetchError) else ""
        refused = kind in ("blocked", "invalid", "dns") or (kind == "http" and target is not None)
        bad_dials = [ip for ip in door.dialled if not is_public(ip) or ip == door.OWN]
        fine = (case["expect"] == "refuse") == refused or (case.get("partial_ok") and not refused)
        if not fine or bad_dials or (not refused and not door.dialled):
            wrong.append((case["id"], case["url"][:60], door.dialled[:], result))
    assert wrong == []
    assert len(ATTACKS) == 100


@pytest.mark.parametrize("port", [0, 22, 25, 6379, 9200])
def test_ports_are_the_services_policy(port: int) -> None:
    url = f"http://{PUBLIC}:{port}/"
    with pytest.raises(Problem) as refused:
        check_url(url, ports=SERVICE_PORTS)
    assert refused.value.key == ("port" if port else "invalid_url")
    if port:
        assert check_url(url).port == port


# Each address is what the registry or RFC in brackets says it is.
NOT_PUBLIC = [
    "0.0.0.0",  # this host (RFC 1122)
    "10.255.255.255",  # private (RFC 1918)
    "100.64.0.1",  # shared (RFC 6598)
    "127.255.255.254",  # loopback (RFC 1122)
    "169.254.169.254",  # link local (RFC 3927), metadata
    "172.31.255.255",  # private (RFC 1918)
    "192.0.0.192",  # IETF protocol assignments (RFC 6890)
    "192.88.99.1",  # 6to4 relay (RFC 7526)
    "192.168.0.1",  # private (RFC 1918)
    "198.19.255.255",  # benchmarking (RFC 2544)
    "198.51.100.7",  # documentation (RFC 5737)
    "239.255.255.250",  # multicast (RFC 5771)
    "255.255.255.255",  # limited broadcast (RFC 919)
    "168.63.129.16",  # Azure's WireServer
    "::",  # unspecified (RFC 4291)
    "::1",  # loopback (RFC 4291)
    "::ffff:93.184.215.14",  # mapped (RFC 4291)
    "::127.0.0.1",  # compatible (RFC 4291)
    "::ffff:0:127.0.0.1",  # translated (RFC 2765)
    "64:ff9b::7f00:1",  # NAT64 (RFC 6052)
    "64:ff9b:1::1",  # local NAT64 (RFC 8215)
    "100::1",  # discard only (RFC 6666)
    "2001::7f00:1",  # Teredo (RFC 4380)
    "2001:10::1",  # ORCHID (RFC 4843)
    "2001:db8::1",  # documentation (RFC 3849)
    "2002:7f00:1::",  # 6to4 (RFC 3056)
    "3fff:fff::1",  # documentation (RFC 9637)
    "5f00::1",  # segment routing (RFC 9602)
    "fc00::1",  # unique local (RFC 4193)
    "fd00:ec2::254",  # unique local, metadata
    "fe80::1",  # link local (RFC 4291)
    "fe80::1%eth0",
    "fec0::1",  # site local (RFC 3879)
    "ff02::1",  # multicast (RFC 4291)
    "2606:2800::5efe:10.0.0.1",  # ISATAP (RFC 5214)
    "2606:2800::200:5efe:10.0.0.1",
    "2606:4700::1%1",
    "localhost",
    "",
]


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.215.14", "223.255.255.1", "2606:4700::1111", "2a00:1450::1"]
)
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(address)


# RFC 6762 appendix G, RFC 6761 (localhost), RFC 7686, RFC 8375, ICANN's resolution of 2024 (internal), Kubernetes (svc).
@pytest.mark.parametrize(
    "name",
    [
        "intranet",
        "internal",
        "private",
        "corp",
        "home",
        "lan",
        "local",
        "localhost",
        "localdomain",
        "onion",
        "home.arpa",
        "svc",
    ],
)
def test_names_of_networks_at_home_are_not_public(name: str) -> None:
    for host in (f"a.{name}", f"A.B.{name.upper()}", f"a.{name}."):
        with pytest.raises(Problem) as refused:
            check_url(f"https://{host}/")
        assert refused.value.key == "private"
        assert check_url(f"https://{host}/", allow_private=True).raw_host
    assert check_url(f"https://{name}.example/").raw_host == f"{name}.example"


@pytest.mark.parametrize("url", [None, 3, b"https://example.com/", ["https://example.com/"]])
def test_what_is_no_text_is_no_address(url: object) -> None:
    with pytest.raises(Problem) as refused:
        check_url(url)
    assert refused.value.key == "invalid_url"


@pytest.mark.parametrize(
    "url", ["https://ann:tea@example.com/", "http://ann@127.0.0.1/", "http://@example.com/"]
)
def test_user_information_is_told_as_such(url: str) -> None:
    with pytest.raises(Problem) as refused:
        check_url(url)
    assert refused.value.key == "credentials"


def test_the_machines_own_addresses() -> None:
    assert is_own(socket.AF_INET, "127.0.0.1")
    assert not is_own(socket.AF_INET, "93.184.215.14")
    assert is_own(socket.AF_INET, "no address") is False
    assert is_public("no address") is False
    assert is_public("2001:db8::1") is False
    assert is_public("fe80::1") is False


def test_addresses_of_the_greatest_length() -> None:
    longest = "https://example.com/".ljust(8192, "x")
    assert str(check_url(longest)) == longest, "to the last letter"
    with pytest.raises(Problem) as refused:
        check_url(longest + "x")
    assert refused.value.key == "long_url"
    name = ".".join(["a" * 49] * 5)  # with its four dots, of 249 characters
    assert len(check_url(f"https://{name}.com/").raw_host or "") == 253
    with pytest.raises(Problem):
        check_url(f"https://{name}.info/")
    assert check_url("https://[2a00::]/").raw_host == "2a00::"


@pytest.mark.parametrize(
    "authority", ["[fe80::1%eth0]", "exa mple.com", "example.com%2e", "example.com\\", "example.com: 80"]
)
def test_no_sign_of_another_reading_stands_in_an_authority(authority: str) -> None:
    with pytest.raises(Problem) as refused:
        check_url(f"http://{authority}/", allow_private=True)
    assert refused.value.key == "invalid_url"


def test_ports_and_hosts_that_are_not_asked_for() -> None:
    address, port = "https://a.example/x", "https://a.example:8443/x"
    assert host_key(check_url(port)) == "a.example:8443"
    assert str(check_url(port, hosts={"a.example:8443"}, ports={8443})) == port
    for limits, key in (({"hosts": {"b.example"}}, "host"), ({"ports": {80, 443}}, "port")):
        for check in (check_url, lambda url, **limits: check_redirect(check_url(address), url, **limits)):
            with pytest.raises(Problem) as refused:
                check(port, **limits)
            assert refused.value.key == key


def test_the_socket_factory_refuses_by_itself() -> None:
    info = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 80))
    told: list[str] = []
    before = refusals.set(told)
    with pytest.raises(PermissionError):
        SocketFactory()(info)
    refusals.reset(before)
    assert told == ["10.0.0.1"]
    opened = SocketFactory(allow_private=True)(info)
    assert opened.gettimeout() == 0
    opened.close()


def test_a_dns_answer_that_changes_between_two_look_ups(door: Any, answer: Any, monkeypatch: Any) -> None:
    # robots.txt comes from the public address; by the time of the page the name means loopback.
    def respond(path: str, headers: dict[str, str]) -> bytes:
        return answer(b"", "404 Not Found", Connection="close")

    monkeypatch.setattr("aiohttp.connector._DNSCacheTable.expired", lambda self, key: True)
    result = door.visit("http://rebinding.example/", [[PUBLIC], ["127.0.0.1"]], respond, robots=True)
    assert door.dialled == [PUBLIC]
    assert isinstance(result, FetchError)
    assert result.error_type == "blocked"


def test_several_refused_addresses_are_still_told_as_blocked(door: Any, answer: Any) -> None:
    result = door.visit(
        "http://many.example/", [["127.0.0.1", "::1", "10.0.0.1"]], lambda path, headers: answer()
    )
    assert door.dialled == []
    assert isinstance(result, FetchError)
    assert result.error_type == "blocked"
    assert "127" not in result.sentence


@pytest.mark.parametrize(
    ("location", "key"),
    [
        ("file:///etc/passwd", "redirect_scheme"),
        ("gopher://127.0.0.1:6379/_INFO", "redirect_scheme"),
        ("data:text/html,x", "redirect_scheme"),
        ("javascript:alert(1)", "redirect_scheme"),
        ("//127.0.0.1/", "private"),
        ("http://localhost/", "private"),
        ("http:\\\\127.0.0.1\\", "private"),
        ("/\\127.0.0.1/", "private"),
        ("http://[::1", "no_target"),
        ("http://user:word@example.com/", "no_target"),
        ("http://example.com:99999/", "no_target"),
        ("", "no_target"),
        (" ", "no_target"),
        (None, "no_target"),
    ],
)
def test_redirects_that_are_not_followed(location: str | None, key: str) -> None:
    with pytest.raises(Problem) as refused:
        check_redirect(check_url("https://example.com/a/b?c"), location)
    assert refused.value.key == key


PRIVATE = st.one_of(
    *(
        st.ip_addresses(v=4, network=network)
        for network in ("127.0.0.0/8", "10.0.0.0/8", "192.168.0.0/16", "169.254.0.0/16", "172.16.0.0/12")
    )
)
FULL_WIDTH = str.maketrans("0123456789abcdefx.", "０１２３４５６７８９ａｂｃｄｅｆｘ。")


@st.composite
def spellings(draw: Any) -> str:
    """A private IPv4 address in one of the ways that some program reads as an address."""
    address = draw(PRIVATE)
    number, octets = int(address), address.packed

    def octet(value: int) -> str:
        return draw(
            st.sampled_from([str(value), hex(value), f"0{value:o}", f"{value:03d}", hex(value).upper()])
        )

    # inet_aton takes one to four parts, the last one filling what is left.
    parts = draw(st.integers(1, 4))
    head = [octet(value) for value in octets[: parts - 1]]
    tail = number & ((1 << 8 * (5 - parts)) - 1)
    text = ".".join([*head, octet(tail)])
    text = draw(st.sampled_from([text, text, str(number), f"[::ffff:{address}]", f"[::{address}]"]))
    text = draw(
        st.sampled_from(
            [
                text,
                text + ".",
                text.translate(FULL_WIDTH),
                "".join(f"%{ord(char):02x}" for char in text),
                text[:1] + "\u00ad" + text[1:],
                text.replace(".", "。"),
                text.replace(".", "%2e"),
                f"user@{text}",
                f"example.com@{text}",
                f"example.com%00@{text}",
                f"{text}#.example.com",
                f"{text}?.example.com",
                f"{text}\\.example.com",
                f"{text}:80",
                f"example.com\\@{text}",
                f"\t{text}",
            ]
        )
    )
    return (
        draw(
            st.sampled_from(
                ["http://", "HTTP://", "https://", "http:/", "http:", "http:\\\\", " http://", "//", ""]
            )
        )
        + text
    )


@settings(max_examples=130, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spellings())
def test_no_spelling_of_a_private_address_passes(url: str) -> None:
    with pytest.raises(Problem):
        check_url(url)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40), st.sampled_from(["http://", "https://", ""]))
def test_any_text_gives_a_checked_url_or_a_problem(text: str, scheme: str) -> None:
    try:
        url = check_url(scheme + text)
    except Problem as problem:
        assert problem.key in ("invalid_url", "credentials", "private")  # noqa: PT017
        return
    assert str(url).isascii()
    assert url.scheme in ("http", "https")
    assert check_url(str(url)) == url  # the form that is sent is a fixed point
    again = URL(str(url), encoded=True)  # and is read by others as it was put together
    assert (again.raw_authority, again.raw_host, again.port) == (url.raw_authority, url.raw_host, url.port)
    assert again.raw_path_qs == url.raw_path_qs
    assert url.raw_path_qs.isprintable()
    assert " " not in url.raw_path_qs
    host = str(url.raw_host)
    try:
        assert is_public(ipaddress.ip_address(host))
    except ValueError:
        assert "." in host


def test_private_addresses_when_allowed() -> None:
    for url in ("http://127.0.0.1:5000/", "http://[::1]:8080/", "http://localhost/", "http://intranet/a"):
        assert str(check_url(url, allow_private=True)) == url
    for url in (
        "http://2130706433/",
        "http://u:p@localhost/",
        "file:///etc/passwd",
        "http://localhost:0/",
        "http://a..b/",
    ):
        with pytest.raises(Problem):
            check_url(url, allow_private=True)


def test_the_environments_proxy_is_not_used(one: Any, answer: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9/")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9/")
    assert one(answer()).http_status == 200


def test_a_session_dials_only_through_the_check() -> None:
    async def main() -> Any:
        from webanalytics.fetching.exchange import resolver
        from webanalytics.fetching.pace import FetchSettings
        from webanalytics.fetching.session import open_session

        names = resolver()
        async with open_session(FetchSettings(), names) as session:
            with pytest.raises(OSError) as refused:
                await session.get("http://127.0.0.1:9/")
        await names.close()
        return refused.value

    assert asyncio.run(main()).errno == 13  # EACCES, not ECONNREFUSED: nothing was dialled
