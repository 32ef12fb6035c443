"""An own walk over a site by HTTP: lexbor reads the pages, networkx their links, nothing is shared with the package.

The sites are documentation in Debian packages, served from their files on loopback.
"""

from __future__ import annotations

import http.client
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urldefrag, urljoin, urlsplit

import networkx as nx
from selectolax.lexbor import LexborHTMLParser

SITES = {
    "postgresql-doc-15": "/usr/share/doc/postgresql-doc-15/html/index.html",
    "cppreference-doc-en": "/usr/share/cppreference/doc/html/en/index.html",
    "gnuplot-doc": "/usr/share/doc/gnuplot/htmldocs/index.html",
    "debian-handbook en-US": "/usr/share/doc/debian-handbook/html/en-US/index.html",
    "python-django-doc": "/usr/share/doc/python-django-doc/html/index.html",
    "octave-doc": "/usr/share/doc/octave/octave.html/index.html",
    "python3.11-doc": "/usr/share/doc/python3.11/html/index.html",
    "sqlite3-doc": "/usr/share/doc/sqlite3/index.html",
}
"""Start page of the site of each package."""
DAMPING = 0.85
NOT_FOLLOWED = {"nofollow", "ugc", "sponsored"}
_KEPT = "!$&'()*+,/:;=?@[]%~"
"""Characters that an address has as they are; others are percent-encoded (URL Standard, path and query)."""


class Files(SimpleHTTPRequestHandler):
    """The files of a folder, without lists of what is in one."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def list_directory(self, path: object) -> None:  # type: ignore[override]
        self.send_error(404)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def served(start: Path) -> Iterator[str]:
    """Serve the folder of a start page; give the address of the page."""
    with ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Files, directory=str(start.resolve().parent))
    ) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/{start.name}"
        finally:
            server.shutdown()


class Seen(NamedTuple):
    """What the walk saw at an address: the answer, and how often the page links to others and to other sites."""

    status: int
    is_page: bool
    title: str
    links: Counter[str]
    followed: set[str]
    redirect: str
    canonical: str


class Walk(NamedTuple):
    """The tables of a walk by address: clicks from the start, links to a page, its PageRank."""

    seen: dict[str, Seen]
    depth: dict[str, int]
    inlinks: dict[str, int]
    inlinks_all: dict[str, int]
    outlinks: dict[str, int]
    external: set[str]
    pagerank: dict[str, float]


def walk(start: str) -> Walk:
    """Return what is reached from a start page by clicks, and its links."""
    parts = urlsplit(start)
    connection = http.client.HTTPConnection(parts.netloc)
    origin = f"{parts.scheme}://{parts.netloc}"
    seen: dict[str, Seen] = {}
    depth, waiting = {start: 0}, deque([start])
    while waiting:
        url = waiting.popleft()
        found = seen[url] = _fetch(connection, url, origin)
        if found.redirect and found.redirect not in depth:
            depth[found.redirect] = depth[url]
            waiting.appendleft(found.redirect)
        for target in sorted(found.followed):
            if target.startswith(f"{origin}/") and target not in depth:
                depth[target] = depth[url] + 1
                waiting.append(target)
    connection.close()
    pages = {url: one for url, one in seen.items() if one.is_page}
    return Walk(pages, {url: depth[url] for url in pages}, *_linked(pages, origin), _ranks(pages))


def _fetch(connection: http.client.HTTPConnection, url: str, origin: str) -> Seen:
    connection.request("GET", url.removeprefix(origin) or "/", headers={"User-Agent": "walk"})
    answer = connection.getresponse()
    body = answer.read()
    location = answer.headers.get("Location")
    redirect = _resolved(url, location) if location and 300 <= answer.status < 400 else ""
    is_html = answer.headers.get_content_type() in ("text/html", "application/xhtml+xml")
    empty = Seen(answer.status, bool(redirect) or answer.status >= 400, "", Counter(), set(), redirect, "")
    return _read(url, body)._replace(status=answer.status) if answer.status == 200 and is_html else empty


def _read(url: str, body: bytes) -> Seen:
    tree = LexborHTMLParser(body)
    base = next((node.attributes["href"] or "" for node in tree.css("base[href]")), "")
    place = urljoin(url, base.strip())
    robots = ",".join(
        (node.attributes.get("content") or "").lower()
        for node in tree.css("meta[name]")
        if (node.attributes["name"] or "").lower() == "robots"
    )
    links: Counter[str] = Counter()
    followed = set()
    for node in tree.css("a[href], area[href]"):
        target = _resolved(place, node.attributes["href"] or "")
        if not target:
            continue
        links[target] += 1
        if not NOT_FOLLOWED & set((node.attributes.get("rel") or "").lower().split()):
            followed.add(target)
    title = tree.css_first("title")
    canonical = tree.css_first('link[rel~="canonical"][href]')
    named = _resolved(place, canonical.attributes["href"] or "") if canonical else ""
    text = " ".join(title.text().split()) if title else ""
    return Seen(200, True, text, links, set() if "nofollow" in robots else followed, "", named)


def _resolved(place: str, link: str) -> str:
    """Return the address of a link without its fragment, '' for what is no page of the web."""
    cleaned, sign, rest = link.strip(" \t\r\n\f").translate({9: None, 10: None, 13: None}).partition("?")
    slashes = cleaned.partition("#")[0].replace("\\", "/")  # the URL Standard reads them as the same
    try:
        parts = urlsplit(urldefrag(urljoin(place, slashes if "#" in cleaned else slashes + sign + rest)).url)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return ""
    path = quote(parts.path, safe=_KEPT) or "/"
    query = f"?{quote(parts.query, safe=_KEPT)}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc.lower()}{path}{query}"


def _linked(
    pages: dict[str, Seen], origin: str
) -> tuple[dict[str, int], dict[str, int], dict[str, int], set[str]]:
    """Return linking pages, links, linked addresses by page, and addresses of other sites."""
    linking: defaultdict[str, set[str]] = defaultdict(set)
    links: Counter[str] = Counter()
    out, external = {}, set()
    for url, page in pages.items():
        own = {target for target in page.links if target.startswith(f"{origin}/")}
        named = {page.canonical} if page.canonical else set()
        external |= {target for target in page.links.keys() | named if not target.startswith(f"{origin}/")}
        out[url] = len({target for target in own if _end(pages, target) != url})
        for target, times in page.links.items():
            for end in {target, _end(pages, target)}:
                if _end(pages, target) != url:
                    linking[end].add(url)
                    links[end] += times
    return ({url: len(linking[url]) for url in pages}, {url: links[url] for url in pages}, out, external)


def _end(pages: dict[str, Seen], url: str) -> str:
    """Return where an address ends after its redirects."""
    for _ in range(10):
        if url not in pages or not pages[url].redirect:
            break
        url = pages[url].redirect
    return url


def _ranks(pages: dict[str, Seen]) -> dict[str, float]:
    """Return the PageRank of the pages that were read and name no other as canonical."""
    scored = {url for url, page in pages.items() if page.status == 200 and page.canonical in ("", url)}
    graph = nx.DiGraph()
    graph.add_nodes_from(scored)
    for url in scored:
        ends = {_end(pages, target) for target in pages[url].followed}
        places = {pages[end].canonical or end for end in ends if end in pages}
        graph.add_edges_from((url, end) for end in places & scored if end != url)
    return power_iteration(graph)


def power_iteration(graph: nx.DiGraph) -> dict[str, float]:
    """Return the PageRank of a graph's nodes; networkx's own wants scipy, its Python one is not public."""
    count = graph.number_of_nodes()
    ranks = dict.fromkeys(graph, 1 / count) if count else {}
    ends = [node for node in graph if not graph.out_degree(node)]
    change = 1.0
    while change > 1e-12:
        rest = (1 - DAMPING + DAMPING * sum(ranks[node] for node in ends)) / count if count else 0.0
        following = {
            node: rest
            + DAMPING * sum(ranks[source] / graph.out_degree(source) for source in graph.pred[node])
            for node in graph
        }
        change = sum(abs(following[node] - ranks[node]) for node in graph)
        ranks = following
    return ranks
