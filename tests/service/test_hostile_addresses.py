"""Request forgery through the engine: for pages and for images by URL, nothing inside is ever dialled."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.service.evil import Evil, Names, Reply, ask, http, open_engine
from webanalytics.fetching import guard
from webanalytics.fetching.guard import is_public
from webanalytics.service.results import Result

PUBLIC = "93.184.215.14"
OWN = "93.184.215.99"
# The smallest GIF, so that both kinds of operation can be answered.
GIF = bytes.fromhex("47494638396101000100800000ff00000000002c00000000010001000002024401003b")


class Door:
    """Stands where sockets are opened: notes the address, and connects to a server of ours instead."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.dialled: list[str] = []
        self.target = ("127.0.0.1", 9)
        monkeypatch.setattr(guard, "open_socket", self._open)
        monkeypatch.setattr(guard, "is_own", lambda family, address: address == OWN)

    def _open(self, family: int, kind: int, protocol: int, address: tuple[Any, ...]) -> socket.socket:
        ipaddress.ip_address(address[0])
        self.dialled.append(address[0])
        target = self.target

        class Diverted(socket.socket):
            def connect(self, _: object) -> None:
                super().connect(target)

        opened = Diverted(socket.AF_INET, kind, protocol)
        opened.setblocking(False)
        return opened

    @property
    def inside(self) -> list[str]:
        """What was dialled and must not have been."""
        return [address for address in self.dialled if not is_public(address) or address == OWN]


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Door:
    return Door(monkeypatch)


def attacks() -> list[dict[str, Any]]:
    file = os.environ.get("WEBANALYTICS_HOSTILE")
    corpus = os.environ.get("WEBANALYTICS_CORPUS")
    path = Path(file) if file else Path(corpus).parent / "hostile" / "urls.json" if corpus else None
    return json.loads(path.read_text("utf-8")) if path and path.is_file() else []


ATTACKS = attacks()


async def visit(
    door: Door, operation: str, url: str, dns: list[list[str]], pages: Mapping[str, Reply], **changes: Any
) -> Result:
    """Make one call with all guards up; every dial ends at a server with these pages."""
    guarded = {"allow_private": False, "connect_timeout": 1.0, "workers": 1} | changes
    given = {"outputFormat": "png"} if operation == "convert" else {}
    async with Evil(pages) as site, open_engine(Names(*dns), **guarded) as engine:
        door.target = ("127.0.0.1", site.port)
        return await ask(engine, operation, url, **given)


class Everywhere(dict[str, Reply]):
    """Answers every path alike, but for those it was told."""

    def __init__(self, reply: Reply, **others: Reply) -> None:
        super().__init__(others)
        self._reply = reply

    def get(self, path: str, default: Any = None) -> Any:
        return super().get(path, self._reply)


def reply_for(operation: str) -> bytes:
    return http(GIF, Content_Type="image/gif") if operation == "convert" else http()


@pytest.mark.skipif(
    not ATTACKS, reason="WEBANALYTICS_HOSTILE or the folder beside WEBANALYTICS_CORPUS has no list of attacks"
)
@pytest.mark.parametrize("operation", ["metadata", "convert"])
def test_every_attack_of_the_list(door: Door, operation: str) -> None:
    async def main() -> list[Any]:
        wrong = []
        for case in ATTACKS:
            door.dialled.clear()
            dns = [
                [OWN if address == "@own" else address for address in found] for found in case.get("dns", [])
            ]
            pages = Everywhere(reply_for(operation))
            if case.get("redirect_to"):
                pages["/r"] = http(b"", f"{case['status']} Moved", Location=case["redirect_to"])
            result = await visit(door, operation, case["url"], dns, pages)
            # Nothing here speaks TLS: an https URL counts as let through when its public address is dialled.
            refused = result.status == 400 and not (case["url"].startswith("https:") and door.dialled)
            fine = (case["expect"] == "refuse") == refused or (case.get("partial_ok") and not refused)
            named = result.ok or (result.error or "").startswith(
                f"The `{'image' if operation == 'convert' else 'url'}` parameter "
            )
            if not fine or door.inside or not named or (not refused and not door.dialled):
                wrong.append((case["id"], case["url"][:60], door.dialled[:], result))
        return wrong

    assert asyncio.run(main()) == []
    assert {case["expect"] for case in ATTACKS} == {"refuse", "allow"}


INSIDE = [
    "http://127.0.0.1/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://localhost/",
    "http://0x7f000001/",
    "http://2130706433/",
    f"http://{PUBLIC}:6379/",
    f"http://{PUBLIC}:22/",
]


@pytest.mark.parametrize("operation", ["text", "convert"])
@pytest.mark.parametrize("url", INSIDE)
def test_nothing_inside_is_dialled(door: Door, operation: str, url: str) -> None:
    result = asyncio.run(visit(door, operation, url, [], Everywhere(reply_for(operation))))
    assert (result.status, door.dialled) == (400, [])


@pytest.mark.parametrize("operation", ["text", "convert"])
@pytest.mark.parametrize("target", INSIDE)
def test_a_redirect_to_the_inside_is_not_followed(door: Door, operation: str, target: str) -> None:
    pages = {"/": http(b"", "302 Found", Location=target)}
    result = asyncio.run(visit(door, operation, "http://site.example.com/", [[PUBLIC]], pages))
    assert (result.status, door.dialled) == (400, [PUBLIC])
    assert result.error is not None
    assert "redirects" in result.error


@pytest.mark.parametrize("operation", ["text", "convert"])
@pytest.mark.parametrize("later", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1", OWN])
def test_a_name_that_means_something_else_at_the_second_look(
    door: Door, operation: str, later: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aiohttp.connector._DNSCacheTable.expired", lambda self, key: True)
    pages = {"/robots.txt": http(b"", "404 Not Found", Connection="close"), "/": reply_for(operation)}
    result = asyncio.run(
        visit(door, operation, "http://rebinding.example.com/", [[PUBLIC], [later]], pages, robots=True)
    )
    assert (result.status, door.dialled) == (400, [PUBLIC])
    assert result.error is not None
    assert later not in result.error


def test_names_with_addresses_of_both_kinds(door: Door) -> None:
    answers = [["127.0.0.1", "::1", "10.0.0.1"]]
    result = asyncio.run(visit(door, "text", "http://mixed.example.com/", answers, Everywhere(http())))
    assert (result.status, door.dialled) == (400, [])
    asyncio.run(visit(door, "text", "http://mixed.example.com/", [["127.0.0.1", PUBLIC]], Everywhere(http())))
    assert door.inside == []


def test_a_robots_txt_that_redirects_to_the_inside(door: Door) -> None:
    pages = {"/robots.txt": http(b"", "302 Found", Location="http://10.0.0.1/"), "/": http()}
    asyncio.run(visit(door, "text", "http://site.example.com/", [[PUBLIC]], pages, robots=True))
    assert door.inside == []


def test_what_a_page_names_is_not_fetched(door: Door) -> None:
    page = (
        b"<title>t</title><link rel=stylesheet href=http://10.0.0.1/a.css><img src=http://10.0.0.1/a.png>"
        b"<iframe src=http://10.0.0.1/></iframe><script src=http://10.0.0.1/a.js></script>"
        b"<meta http-equiv=refresh content='0;url=http://10.0.0.1/'><base href=http://10.0.0.1/>"
        b"<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><p>Words &e; of the page."
    )
    for operation in ("metadata", "text", "readability", "keywords"):
        door.dialled.clear()
        result = asyncio.run(
            visit(door, operation, "http://site.example.com/", [[PUBLIC]], {"/": http(page)})
        )
        assert (result.status, door.dialled) == (200, [PUBLIC])
        assert "root:" not in str(result.data)


def test_no_cookie_and_no_key_travels_on() -> None:
    async def main() -> None:
        pages = {
            "/login": http(Set_Cookie="sid=secret-of-one; Path=/"),
            "/to": http(b"", "302 Found", Location="/end", Set_Cookie="hop=1; Path=/"),
            "/end": http(),
        }
        async with Evil(pages) as site, open_engine() as engine:
            for account in (1, 2, 1):
                for path in ("/login", "/to", "/end"):
                    assert (await ask(engine, "text", site.url + path, account=account, fresh=True)).ok
            assert len(site.requests) == 12
            for _, headers in site.requests:
                assert not {"cookie", "authorization", "referer", "x-api-key"} & set(headers)

    asyncio.run(main())
