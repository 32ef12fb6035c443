"""What `render="auto"` decides on the first pages of twelve sites, what comes of it, and what hostile pages reach.

Five sites are shops in frameworks, built by npm from `tests/benchmarks/frameworks`, three are plain and four hostile. Each
is audited without and with a browser; what `auto` does not render is rendered by `all`. Where the system lets it (`unshare`, as root), the hostile ones' neighbours are two:
127.0.0.1, and 169.254.169.254 on a network of their own.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import webanalytics as wa
from tests.benchmarks.frameworks import LANTERNS, OUTPUT, built, pages, version
from tests.benchmarks.rendered_pages import held
from tests.fetching.rendering.hostile import MEANS, Canary, page, served
from webanalytics.fetching import Fetcher, FetchSettings
from webanalytics.fetching.rendering.browser import executable
from webanalytics.fetching.rendering.renderer import Renderer
from webanalytics.fetching.testing import Reply, SiteServer

SITE = "127.0.0.3"
NEIGHBOURS = ("127.0.0.1", "169.254.169.254")
TEXT = " ".join(lantern["text"] for lantern in LANTERNS)
LINKS = "".join(f"<li><a href=/lanterns/{one['slug']}>{one['name']}</a>" for one in LANTERNS)
HEAD = "<!doctype html><html lang=en><meta charset=utf-8><title>Lanterns</title>"
LEAF = {
    f"/lanterns/{one['slug']}": f"{HEAD}<h1>{one['name']}</h1><p>{one['text']}</p>".encode()
    for one in LANTERNS
}
SHELL = f"{HEAD}<div id=root></div><script>document.getElementById('root').innerHTML = `<p>Open now.</p><ul>{LINKS}</ul>`;"
PLAIN: dict[str, Mapping[str, bytes | Reply]] = {
    "plain, no script": {"/": f"{HEAD}<h1>Lanterns</h1><p>{TEXT}</p><ul>{LINKS}</ul>".encode(), **LEAF},
    "plain and short, counted by a script": {
        "/": f"{HEAD}<h1>Lanterns</h1><p>Ring twice.</p><ul>{LINKS}</ul><script src=/count.js></script>".encode(),
        "/count.js": b"navigator.sendBeacon('/hit')",
        **LEAF,
    },
    "plain, a script adds prices": {
        "/": f"{HEAD}<h1>Lanterns</h1><p>{TEXT}</p><ul>{LINKS}</ul><script>for (const one of document.querySelectorAll("
        "'li')) one.append(' 12.50 EUR')</script>".encode(),
        **LEAF,
    },
}
HOSTILE: dict[str, Mapping[str, bytes | Reply]] = {
    "hostile: `while (true)`": {"/": f"{SHELL} while (true) {{}}</script>".encode(), **LEAF},
    "hostile: alerts without end": {
        "/": f"{SHELL} onload = () => {{ while (true) alert(1) }}</script>".encode(),
        **LEAF,
    },
    "hostile: polls and grows without end": {
        "/": f"{SHELL} setInterval(() => {{ fetch('/poll'); document.body.append(' more') }}, 50)</script>".encode(),
        "/poll": b"1",
        **LEAF,
    },
    "hostile: downloads, windows, reloads": {
        "/": f"{SHELL} for (let i = 0; i < 20; i++) {{ const a = document.createElement('a'); a.href = '/big.zip?' + i;"
        " a.download = ''; a.click(); open('/big.zip?w' + i) } setTimeout(() => location.reload(), 300)</script>".encode(),
        "/big.zip": Reply(headers={"Content-Type": "application/zip"}, body=bytes(3_000_000)),
        **LEAF,
    },
}


class Peak:
    """The most megabytes that the browsers of this process held in the block."""

    def __enter__(self) -> Peak:
        self.size, self._done = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.3):
            self.size = max(self.size, held(os.getpid())["browsers"][0])

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def row(name: str, site: Mapping[str, bytes | Reply]) -> str:
    """Return the line of a site's first page."""
    limit = 20 if name.startswith("hostile") else 90
    options: dict[str, Any] = {"allow_private": True, "timeout": limit, "workers": 1, "progress": False}
    with SiteServer(site, host=SITE) as server:
        start = [f"{server.url}/"]
        sent = wa.audit(start, **options).raw.iloc[0]
        begin = time.perf_counter()
        with Peak() as peak:
            auto = wa.audit(start, render="auto", **options).raw.iloc[0]
        seconds = time.perf_counter() - begin
        every = auto if auto["rendered"] else wa.audit(start, render="all", **options).raw.iloc[0]
    tried = auto["rendered"] or auto["render_note"]
    words = f"{every['rendered_words']:.0f}" if every["rendered"] else "-"
    cells = [
        *(name, "rendered" if auto["rendered"] else "tried" if tried else "not rendered"),
        *(f"{auto['words_without_scripts']}", words, f"{sent['internal_links']:.0f}"),
        *(f"{every['internal_links']:.0f}", f"{seconds:.1f}", f"{peak.size:.0f}", every["render_note"]),
    ]
    return f"| {' | '.join(cells)} |"


async def rendered_all(neighbours: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """Return what arrived at neighbours of pages that are rendered, and how much was refused."""
    found: dict[str, dict[str, int]] = {}
    for neighbour in neighbours:
        with Canary(neighbour) as canary:
            tries = {
                f"/{number}": page(way, f"http://{neighbour}:{canary.port}")
                for number, way in enumerate(MEANS)
            }
            server = await asyncio.start_server(partial(served, pages=tries), SITE, 0)
            origin = f"http://{SITE}:{server.sockets[0].getsockname()[1]}"
            settings = FetchSettings(robots=False, retries=0, timeout=20, allow_private=True)
            refused = 0
            async with Fetcher(settings) as fetcher, Renderer(fetcher, 1) as renderer:
                for path in tries:
                    made = await renderer.render(await fetcher.fetch(origin + path))
                    refused += sum("not public" in why for _, why in made.failed)
            server.close()
            assert refused > len(MEANS) // 2, "the pages were rendered, and did try"
            found[neighbour] = {"arrived": len(canary.arrived), "refused": refused}
    return found


async def as_it_is(neighbours: tuple[str, ...]) -> dict[str, list[str]]:
    """Return by which ways Chromium without all this arrives."""
    from playwright.async_api import Error, async_playwright

    found: dict[str, list[str]] = {}
    async with async_playwright() as driver:
        for neighbour in neighbours:
            for way in MEANS:
                browser = await driver.chromium.launch(executable_path=executable(), chromium_sandbox=False)
                with Canary(neighbour) as canary:
                    tries = {"/": page(way, f"http://{neighbour}:{canary.port}")}
                    server = await asyncio.start_server(partial(served, pages=tries), SITE, 0)
                    opened = await browser.new_page()
                    try:
                        await opened.goto(
                            f"http://{SITE}:{server.sockets[0].getsockname()[1]}/", timeout=20_000
                        )
                        await asyncio.sleep(2.5)
                    except Error:  # it leads to what is no page
                        pass
                    await browser.close()
                    server.close()
                if canary.arrived:
                    found.setdefault(neighbour, []).append(way)
    return found


def reached() -> None:
    """Print what arrives at the neighbours that this network has."""
    neighbours = tuple(json.loads(sys.argv[1]))
    told = asyncio.run(rendered_all(neighbours)), asyncio.run(as_it_is(neighbours))
    print(json.dumps(told), flush=True)


def neighbours_reached() -> list[str]:
    """Return the lines about neighbours."""
    code = "from tests.benchmarks.rendering import reached; reached()"
    network = 'ip link set lo up && ip addr add 169.254.169.254/32 dev lo && exec "$0" "$@"'
    apart = ["unshare", "--net", "sh", "-c", network]
    is_apart = subprocess.run([*apart, "true"], capture_output=True, check=False).returncode == 0
    chosen = NEIGHBOURS if is_apart else NEIGHBOURS[:1]
    command = [*(apart if is_apart else ()), sys.executable, "-c", code, json.dumps(chosen)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rendered, plain = json.loads(told)
    lines = [f"{len(MEANS)} pages of ways to a neighbour:"]
    for one in chosen:
        missing = [way for way in MEANS if way not in plain.get(one, [])]
        lines.append(
            f"  {one}: rendered, {rendered[one]['arrived']} arrived, {rendered[one]['refused']} refused by its address;"
            f" Chromium as it is, {len(MEANS) - len(missing)} arrived, not: {', '.join(missing) or 'none'}"
        )
    return lines


def report() -> str:
    """Return the tables."""
    titles = (
        "site",
        "`auto`",
        "words as sent",
        'words, `"all"`',
        'pages found, `"off"`',
        'pages found, `"auto"`',
    )
    lines = [f"| {' | '.join((*titles, 'seconds', 'browser, MB', 'note'))} |", f"|{'---|' * 9}"]
    with tempfile.TemporaryDirectory() as folder:
        for name in OUTPUT:
            site = pages(built(name, Path(folder)))
            lines.append(row(f"{name.title()} {version(name, Path(folder))}", site))
    lines += [row(name, site) for name, site in {**PLAIN, **HOSTILE}.items()]
    return "\n".join([*lines, "", *neighbours_reached()])
