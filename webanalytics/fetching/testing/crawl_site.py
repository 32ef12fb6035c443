"""A made-up site for crawlers: two hundred addresses with all that a crawl meets, and what it should find.

The tables in ``data/crawl-site`` are the site: its pages are written from their rows, and nothing in them
was computed by a crawler.
"""

from __future__ import annotations

import csv
import hashlib
import random
import re
import socket
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import chain
from typing import TypeAlias
from urllib.parse import parse_qsl, urlencode

from webanalytics.fetching.testing.server import Answer, Reply, SiteServer, lay_out, site_folder

FACETS = {
    "brand": ("brass", "copper", "tin"),
    "colour": ("black", "green", "red"),
    "size": ("large", "medium", "small"),
    "sort": ("name", "newest", "price"),
}
"""Filters of a list of products, and their values."""


def _page(title: str, text: str, links: list[tuple[str, str]], head: str = "") -> str:
    lines = "".join(f'<li><a href="{escape(url)}">{escape(name)}</a>' for url, name in links)
    return (
        f'<!doctype html><html lang="en"><title>{escape(title)}</title>{head}'
        f'<nav><a href="/">Lantern House</a></nav><main><h1>{escape(title)}</h1><p>{text}</p>'
        f"<ul>{lines}</ul></main>"
    )


def calendar(target: str) -> str:
    """Return a month or a day of a calendar without events and without end.

    >>> "/calendar/2027/01" in calendar("/calendar/2026/12")
    True
    """
    found = re.match(r"/calendar/(\d{4})/(\d\d)(?:/(\d\d))?", target)
    year, month = (int(found[1]), int(found[2])) if found else (2026, 11)
    here = year * 12 + month - 1
    links = [
        (f"/calendar/{at // 12:04}/{at % 12 + 1:02}", name)
        for at, name in ((here - 1, "Earlier"), (here + 1, "Later"))
    ]
    links += [(f"/calendar/{year:04}/{month:02}/{day:02}", str(day)) for day in range(1, 29)]
    day = f"-{found[3]}" if found and found[3] else ""
    return _page(f"Calendar {year}-{month:02}{day}", "There are no events at this time.", links)


def session(target: str) -> str:
    """Return a page whose links have a new session each.

    >>> session("/session/?sid=1").count("?sid=")
    2
    """
    links = []
    for name in ("basket", "account"):
        digest = hashlib.sha256(f"{target} {name}".encode()).hexdigest()[:16]
        links.append((f"/session/?sid={digest}", f"Your {name}"))
    return _page("Your session", "You are not signed in.", links)


def tour(target: str) -> str:
    """Return a page with relative links that repeat its path, one step deeper.

    >>> "/tour/rooms/tour/" in tour("/tour/")
    True
    """
    path = target.partition("?")[0].rstrip("/")
    return _page(
        "The tour",
        "Walk through the house.",
        [(f"{path}/rooms/tour/", "Next room"), (f"{path}/stairs/", "Stairs")],
    )


def facets(target: str) -> str:
    """Return a list of products behind filters, with a link for each further filter.

    >>> "brand=tin&amp;size=large" in facets("/products/lamps/?size=large")
    True
    """
    path, _, query = target.partition("?")
    chosen = dict(parse_qsl(query))
    options = chain.from_iterable(((name, value) for value in values) for name, values in FACETS.items())
    links = [
        (f"{path}?{urlencode(sorted({**chosen, name: value}.items()))}", value.capitalize())
        for name, value in options
        if chosen.get(name) != value
    ]
    head = f'<link rel="canonical" href="{escape(path)}">'
    return _page("Lamps", "Lamps of your choice: harbour, garden, storm and reading.", links, head)


def news(target: str) -> str:
    """Return a page behind the last page of the news, which offers another one.

    >>> "/news/page/8/" in news("/news/page/7/")
    True
    """
    found = re.match(r"/news/page/(\d{1,9})", target)
    number = int(found[1]) if found else 4
    links = [(f"/news/page/{number - 1}/", "Newer"), (f"/news/page/{number + 1}/", "Older")]
    return _page(f"News, page {number}", "There is no older news.", links)


TRAP_PAGES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("/calendar/", calendar),
    ("/session/", session),
    ("/tour/", tour),
    ("/products/lamps/?", facets),
    ("/news/page/", news),
)
"""Beginnings of request targets that are no page of the tables, and what is written for them."""

Row: TypeAlias = dict[str, str]

_EVERY_PAGE = "*"
_SECTIONS = ("header", "nav", "main", "aside", "footer")
_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cfc0"
    "f01f0005000201a5f1e1f90000000049454e44ae426082"
)
_PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
_ROBOTS = b"""User-agent: *
Disallow: /private/
Allow: /private/open
Crawl-delay: 0

Sitemap: {{origin}}/sitemap.xml
"""
_WORDS = tuple(
    re.findall(
        "[a-z]+",
        "lantern wick flame brass copper glass chimney oil candle harbour keeper tower evening winter "
        "storm bridge handle hook shelf workshop bench solder rivet polish cloth paper shade reflector "
        "signal window street garden cellar stair ladder rope boat fog rain wind morning light shadow "
        "colour green amber ruby clear smoke soot trim fill hang store clean repair measure cut bend "
        "join cast spin press turn warm cool bright dim steady ",
    )
)


@dataclass(frozen=True)
class Places:
    """The origins that stand for the words of the tables."""

    own: str
    elsewhere: str
    closed: str

    def url(self, text: str) -> str:
        """Return the address that a word and a path of the tables stand for."""
        name, colon, path = text.partition(":")
        origin = {"elsewhere": self.elsewhere, "closed": self.closed}.get(name)
        return origin + path if colon and origin else self.own + text


def table(name: str) -> list[Row]:
    """Return the rows of a table of the site as they stand."""
    with (site_folder("crawl-site") / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class CrawlSite(SiteServer):
    """The made-up site for crawlers, as `crawl_site` serves it, with a second server that is "elsewhere".

    Attributes
    ----------
    start_url : str
        The home page.
    elsewhere : str
        Origin of the second server, to which external links lead.
    places : Places
        The addresses of this site, of the other one, and of one that refuses connections.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0, delay: float = 0.0, slow: float = 1.0) -> None:
        super().__init__({}, host=host, port=port, delay=delay)
        self._other = _Elsewhere(host, delay, slow)
        self._closed: socket.socket | None = None
        self.elsewhere = self.start_url = ""
        self.places = Places("", "", "")

    def start(self) -> None:
        """Listen and answer until `stop`; `places` are known when this returns."""
        self._other.start()
        self._closed = socket.socket()  # bound and never listening: connections are refused
        self._closed.bind(("127.0.0.1", 0))
        # Another name of this machine, so that "elsewhere" is another host and not only another port.
        self.elsewhere = self._other.url.replace("//127.0.0.1:", "//localhost:")
        closed = f"http://127.0.0.1:{self._closed.getsockname()[1]}"
        self._replies = _replies(Places("{{origin}}", self.elsewhere, closed))
        super().start()
        self.start_url = self.url + "/"
        self.places = Places(self.url, self.elsewhere, closed)

    def stop(self) -> None:
        """Stop both servers; safe to call twice."""
        super().stop()
        self._other.stop()
        if self._closed is not None:
            self._closed.close()

    def answer(self, target: str, method: str = "GET") -> Answer:
        """Return the answer to a request target: of a page, of a trap, or of what is not there."""
        found = super().answer(target, method)
        if found is not self._missing and not (target.startswith("/products/lamps/?")):
            return found
        if target.startswith("/lab/soft/"):  # what is sold out is not there, and the status does not say so
            return super().answer("/lab/soft/storm-lamp")
        for begins_with, write in TRAP_PAGES:
            if target.startswith(begins_with):
                reply = Reply(200, _HTML, write(target).encode())
                return lay_out(reply, target, self.url.encode(), self._delay)
        return found


_HTML = {"Content-Type": "text/html; charset=utf-8"}


class _Elsewhere(SiteServer):
    """The other host: each path behaves as its name says."""

    def __init__(self, host: str, delay: float, slow: float) -> None:
        page = b"<!doctype html><title>Elsewhere</title><h1>Elsewhere</h1>"
        statuses = {"gone-404": 404, "gone-410": 410, "blocked-403": 403, "blocked-429": 429}
        statuses |= {"blocked-999": 999, "broken-500": 500}
        pages: dict[str, Reply] = {f"/{name}": Reply(status) for name, status in statuses.items()}
        pages |= {f"/{name}": Reply(200, _HTML, page) for name in ("", "fine", "no-head", "no-head-404")}
        pages["/slow"] = Reply(200, _HTML, page, slow)
        pages["/moved"] = Reply(301, {"Location": "/fine"})
        super().__init__(pages, host=host, delay=delay)

    def answer(self, target: str, method: str = "GET") -> Answer:
        """Return the answer, which for some paths is another one to HEAD."""
        status = {"/no-head": 405, "/no-head-404": 404}.get(target)
        if method == "HEAD" and status:
            return lay_out(Reply(status), target, b"", 0.0)
        return super().answer(target, method)


# ---------------------------------------------------------------- the tables as pages


@cache
def links_of_pages() -> dict[str, list[Row]]:
    """Return the links of each page in the order of its document."""
    own: dict[str, list[Row]] = defaultdict(list)
    common: list[Row] = []
    for row in table("links"):
        (common if row["source"] == _EVERY_PAGE else own[row["source"]]).append(row)
    for page in table("pages"):
        if page["status"] == "200" and page["how"] != "pdf":
            rows = [{**row, "source": page["path"]} for row in common] + own[page["path"]]
            own[page["path"]] = sorted(rows, key=lambda row: _ORDER.index(row["position"]))
    return dict(own)


_ORDER = ("http", "head", *_SECTIONS)


def _replies(places: Places) -> dict[str, bytes | Reply]:
    pages: dict[str, bytes | Reply] = {"/robots.txt": Reply(200, {"Content-Type": "text/plain"}, _ROBOTS)}
    for row in table("pages"):
        pages[row["path"]] = _reply(row, places)
    for kind in ("stylesheet", "script", "image", "icon"):
        for row in table("checked"):
            if row["kind"] == kind and row["verdict"] == "ok":
                body = _PIXEL if row["url"].endswith(".png") else b"/* nothing */"
                pages[row["url"]] = Reply(200, {}, body)
    hidden = [row["url"] for row in table("skipped") if row["url"].startswith("/")]
    for path in hidden:
        pages[path] = Reply(200, _HTML, _plain(f"Not to be fetched: {path}", path).encode())
    listed = [
        row["path"] for row in table("pages") if row["via"] in ("start", "sitemap") or row["depth"] == "2"
    ]
    entries = "".join(f"<url><loc>{{{{origin}}}}{escape(path)}</loc></url>" for path in listed)
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    pages["/sitemap.xml"] = Reply(200, {"Content-Type": "application/xml"}, sitemap.encode())
    return pages


def _reply(row: Row, places: Places) -> Reply:
    status, path = int(row["status"]), row["path"]
    links = links_of_pages().get(path, [])
    if 300 <= status < 400:
        return Reply(status, {"Location": places.url(links[0]["target"])})
    if row["how"] == "pdf":
        return Reply(200, {"Content-Type": "application/pdf"}, _PDF)
    if status != 200:
        return Reply(status, _HTML, _plain(f"Error {status}", path).encode())
    headers = dict(_HTML)
    if row["x_robots"]:
        headers["X-Robots-Tag"] = row["x_robots"]
    in_header = [link for link in links if link["position"] == "http"]
    if in_header:
        headers["Link"] = ", ".join(_header_link(link, places) for link in in_header)
    return Reply(200, headers, _html(row, links, places).encode())


def _header_link(link: Row, places: Places) -> str:
    rel = {"hreflang": "alternate", "prev": "prev"}.get(link["kind"], link["kind"])
    language = f'; hreflang="{link["how"]}"' if link["kind"] == "hreflang" else ""
    return f'<{places.url(link["target"])}>; rel="{rel}"{language}'


def _plain(title: str, path: str) -> str:
    heading = f"<title>{escape(title)}</title><h1>{escape(title)}</h1>"
    return f"<!doctype html><html lang=en>{heading}{made_up_text(path)}"


def _html(row: Row, links: list[Row], places: Places) -> str:
    head = "".join(_in_head(link, places) for link in links if link["position"] == "head")
    base = f'<base href="{{{{origin}}}}{row["base"]}">' if row["base"] else ""
    robots = f'<meta name="robots" content="{row["robots"]}">' if row["robots"] else ""
    text = "<p>There is nothing here any more.</p>" if row["how"] == "soft" else made_up_text(row["path"])
    sections = []
    for section in _SECTIONS:
        inside = "".join(
            f"<p>{_in_body(link, places)}</p>\n" for link in links if link["position"] == section
        )
        about = f"<h1>{escape(row['title'])}</h1>\n{text}" if section == "main" else ""
        if inside or about:
            sections.append(f"<{section}>{about}{inside}</{section}>")
    return (
        f'<!doctype html><html lang="{row["lang"] or "en"}"><head><meta charset="utf-8">{base}'
        f"<title>{escape(row['title'])}</title>{robots}{head}</head>\n<body>{''.join(sections)}</body></html>"
    )


def _in_head(link: Row, places: Places) -> str:
    url = escape(places.url(link["target"]))
    match link["kind"]:
        case "script":
            return f'<script src="{url}" defer></script>'
        case "refresh":
            return f'<meta http-equiv="refresh" content="5; url={url}">'
        case "hreflang":
            return f'<link rel="alternate" hreflang="{link["how"]}" href="{url}">'
    return f'<link rel="{link["kind"]}" href="{url}">'


def _in_body(link: Row, places: Places) -> str:
    url, anchor, how = escape(places.url(link["target"])), escape(link["anchor"]), link["how"]
    match link["kind"], how:
        case "image", "srcset":
            size = "1x" if "small" in url else "2x"
            return f'<img srcset="{url} {size}" alt="{anchor}">'
        case "image", "picture":
            return f'<picture><source srcset="{url} 1200w"><img alt="{anchor}"></picture>'
        case "image", _:
            return f'<img src="{url}" alt="{anchor}">'
        case "frame", _:
            return f'<iframe src="{url}" title="Frame"></iframe>'
        case "form", _:
            return f'<form action="{url}" method="get"><input name="q" aria-label="Words"></form>'
        case _, "area":
            return f'<map name="m"><area shape="default" href="{url}" alt="{anchor}"></map>'
        case _, "image":
            return f'<a href="{url}"><img src="data:," alt="{anchor}"></a>'
        case _, "label":
            return f'<a href="{url}" aria-label="{anchor}"></a>'
        case _, "relative":
            url = url.rpartition("/")[2]
        case _, "fragment":
            anchor, _, fragment = anchor.partition("#")
            url = f"{url}#{fragment}"
    rel = f' rel="{link["rel"]}"' if link["rel"] else ""
    return f'<a href="{url}"{rel}>{anchor}</a>'


def made_up_text(path: str) -> str:
    """Return three paragraphs that no other page has."""
    words = random.Random(path)  # noqa: S311 - the same text each time is what is wanted
    sentences = [" ".join(words.choices(_WORDS, k=12)).capitalize() + "." for _ in range(15)]
    return "".join(f"<p>{' '.join(sentences[at : at + 5])}</p>" for at in (0, 5, 10))


def crawl_site(host: str = "127.0.0.1", port: int = 0, delay: float = 0.0, slow: float = 1.0) -> CrawlSite:
    """Return a context manager that serves a made-up site with all that a crawl meets.

    Two hundred addresses, up to seven clicks deep: redirects of each status, in chains and in circles,
    broken links, links to another host that is gone, refuses or is slow, canonical chains, hreflang groups,
    pagination with and without ``rel``, links that are not to be followed, a part that robots.txt
    forbids, orphans, soft 404s, and five endless traps.

    Parameters
    ----------
    host : str
        Address to listen on.
    port : int
        Port to listen on; 0 lets the system choose.
    delay : float
        Seconds to wait before every answer.
    slow : float
        Seconds to wait before the answer of the external page that is slow.

    Returns
    -------
    CrawlSite
        With ``start_url`` and ``elsewhere`` once entered.

    Raises
    ------
    OSError
        When the port is in use.

    Examples
    --------
    >>> from urllib.request import urlopen
    >>> with crawl_site() as site:
    ...     b"<h1>Lantern House</h1>" in urlopen(site.start_url).read()
    True
    """
    return CrawlSite(host, port, delay, slow)
