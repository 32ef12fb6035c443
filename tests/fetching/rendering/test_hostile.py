"""What pages try from within the browser: nothing that is not public is reached, and no page holds it up."""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from tests.fetching.rendering.hostile import ALL_SPELLINGS, MEANS, SPELLINGS, Canary, page, served
from webanalytics.fetching import Fetcher, FetchSettings, exchange
from webanalytics.fetching.guard import SocketFactory
from webanalytics.fetching.rendering.renderer import Renderer
from webanalytics.fetching.rendering.visit import Rendered

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SITE = "127.0.0.3"
NEIGHBOUR = "127.0.0.1:{}"


class Names(AbstractResolver):
    """The names of the test: one of the site, one of a neighbour, and one that changes."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_INET) -> list[ResolveResult]:
        self.asked.append(host)
        changed = host == "changing.test" and self.asked.count(host) > 1
        address = SITE if host == "site.test" or (host == "changing.test" and not changed) else "127.0.0.1"
        return [
            ResolveResult(hostname=host, host=address, port=port, family=socket.AF_INET, proto=0, flags=0)
        ]

    async def close(self) -> None:
        pass


@pytest.fixture
def only_the_site(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The guard as it always is, but for one address of loopback; every address that was dialled."""
    usual, dialled = SocketFactory._allowed, []

    def allowed(family: int, address: str) -> bool:
        fine = address == SITE or usual(family, address)
        if fine:
            dialled.append(address)
        return fine

    monkeypatch.setattr(SocketFactory, "_allowed", staticmethod(allowed))
    return dialled


async def _rendered(pages: dict[str, bytes], host: str = "site.test", **settings: Any) -> dict[str, Rendered]:
    server = await asyncio.start_server(partial(served, pages=pages), SITE, 0)
    port = server.sockets[0].getsockname()[1]
    found = {}
    options = FetchSettings(**{"robots": False, "retries": 0, "timeout": 20, **settings})
    async with Fetcher(options, names=Names()) as fetcher, Renderer(fetcher, 1) as renderer:
        for path in pages:
            response = await fetcher.fetch(f"http://{host}:{port}{path}")
            found[path] = await renderer.render(response)
    server.close()
    return found


def _pages(port: int) -> dict[str, bytes]:
    target = f"http://{NEIGHBOUR.format(port)}"
    return {f"/{number}": page(means, target) for number, means in enumerate(MEANS)}


def test_no_way_leads_to_a_neighbour(only_the_site: list[str]) -> None:
    with Canary() as canary:
        found = asyncio.run(_rendered(_pages(canary.port)))
        assert canary.arrived == []
        assert set(only_the_site) == {SITE}
        refused = [why for made in found.values() for _, why in made.failed]
        assert refused.count("its address is not public") > 45, "the browser did try"
        with socket.create_connection(("127.0.0.1", canary.port)) as other:
            other.sendall(b"it listens")
    assert canary.arrived == [b"it listens"]


def test_no_spelling_leads_to_a_neighbour(only_the_site: list[str]) -> None:
    with Canary() as canary:
        groups = [[f"http://{name}:{canary.port}" for name in SPELLINGS[start::5]] for start in range(5)]
        pages = {
            f"/{number}": (ALL_SPELLINGS % (group, group[0], group[0])).encode()
            for number, group in enumerate(groups)
        }
        found = asyncio.run(_rendered(pages))
        assert canary.arrived == []
    assert set(only_the_site) == {SITE}
    for made in found.values():
        assert "reaches out" in made.html
        assert "Read: " not in made.html
        assert len(made.failed) >= len(SPELLINGS) // 5, "the browser did try"


def test_a_name_that_changes_is_judged_when_it_is_dialled(only_the_site: list[str]) -> None:
    with Canary() as canary:
        target = f"http://changing.test:{canary.port}"
        again = page("fetch", target).replace(
            b"fetch(T", b"setInterval(() => fetch(T + '/again'), 200); fetch(T"
        )
        asyncio.run(_rendered({"/": again, "/2": again}))
        assert canary.arrived == []
    assert set(only_the_site) == {SITE}


def test_with_private_addresses_allowed_a_page_reaches_its_own_host_alone() -> None:
    with Canary() as canary:
        pages = _pages(canary.port)
        found = asyncio.run(_rendered(dict(list(pages.items())[::4]), allow_private=True))
        assert canary.arrived == []
    assert all("reaches out" in made.html or "could not be loaded" in made.note for made in found.values())


@pytest.mark.parametrize("public", [True, False])
def test_with_private_addresses_allowed_a_public_page_does_not_reach_them_by_its_own_name(
    public: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name of the page leads elsewhere once the page was sent, and so does one that is private all along."""
    monkeypatch.setattr(exchange, "is_public", lambda address: public and address == SITE)
    tries = b"setInterval(() => fetch(T + '/again'), 200); fetch(T"
    with Canary() as canary:
        again = page("fetch", f"http://changing.test:{canary.port}").replace(b"fetch(T", tries)
        made = asyncio.run(_rendered({"/": again}, host="changing.test", allow_private=True))["/"]
        arrived = bool(canary.arrived)
    assert "reaches out" in made.html
    assert arrived != public, "a private page reaches its own host at any port"
    assert any("its address is not public" in why for _, why in made.failed) == public


def test_no_page_takes_longer_than_it_may() -> None:
    pages = {
        "/loop": b"<p>words</p><script>while (true) {}</script>",
        "/later": b"<p>words of it</p><script>onload = () => setTimeout(() => { while (true) {} }, 100)</script>",
        "/alert": b"<p>words of it</p><script>for (let i = 0; i < 3; i++) { alert(i); confirm(i); prompt(i) }</script>",
        "/alerts": b"<p>words</p><script>while (true) alert(1)</script>",
        "/poll": b"<p>words of it</p><script>setInterval(() => fetch('/x'), 50)</script>",
        "/grow": b"<p>words of it</p><script>setInterval(() => document.body.append('more'), 20)</script>",
        "/reload": b"<p>words of it</p><script>setTimeout(() => location.reload(), 50)</script>",
        "/print": b"<p>words of it</p><script>print(); document.documentElement.requestFullscreen().catch(() => 0)</script>",
        "/leave": b"<p>words of it</p><script>onbeforeunload = () => 'stay'; onunload = () => { while (true) {} }</script>",
        "/after": b"<p>words of it</p>",
    }
    found = asyncio.run(_rendered(pages, allow_private=True, timeout=15))
    assert all(made.seconds < 40 for made in found.values())
    for path in ("/alert", "/poll", "/grow", "/print", "/leave", "/after"):
        assert "words of it" in found[path].html, path
    assert "did not come to an end" in found["/loop"].note
    assert [bool(found[path].note) for path in ("/poll", "/grow", "/after")] == [True, True, False]
