"""A made-up site for crawlers: two hundred addresses with all that a crawl meets, and what it should find.

The tables in ``data/crawl-site`` are the site: its pages are written from their rows, and nothing in them
was computed by a crawler.
"""

from __future__ import annotations

import csv
import random
import re
import socket
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any, NamedTuple, TypeAlias

from webanalytics.fetching.testing.folders import site_folder
from webanalytics.fetching.testing.server import Answer, Reply, SiteServer, lay_out
from webanalytics.fetching.testing.traps import TRAP_PAGES

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


class Expected(NamedTuple):
    """What a crawl of the site should find: the rows of its tables, with addresses in full.

    Attributes
    ----------
    pages : list of dict
        Each address that answers: ``url``, ``status``, ``depth`` (clicks from the home page; None for a
        page that no page leads to), ``via`` (the kind of link that leads there last: "link", "redirect",
        "refresh", "frame", "canonical", "hreflang", "next", "form", "sitemap"), ``title``, ``how`` ("soft"
        for a soft 404, "pdf").
    links : list of dict
        Each link of each page: ``source``, ``target``, ``anchor``, ``kind``, ``position``, ``rel``.
    skipped : list of dict
        Addresses that are not to be fetched, with ``reason``, ``detail`` and ``found_on``.
    traps : list of dict
        Endless families of addresses: ``kind``, ``begins_with``, the ``first`` address, where it was
        ``found_on``, and which of the family are ``real`` pages.
    checked : list of dict
        Targets that are asked for their status alone: ``url``, ``kind``, ``verdict``, ``http_status``,
        ``method``.
    """

    pages: list[dict[str, Any]]
    links: list[dict[str, Any]]
    skipped: list[dict[str, Any]]
    traps: list[dict[str, Any]]
    checked: list[dict[str, Any]]


@dataclass(frozen=True)
class _Places:
    """The origins that stand for the words of the tables."""

    own: str
    elsewhere: str
    closed: str

    def url(self, text: str) -> str:
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
    expected : Expected
        What a crawl should find.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0, delay: float = 0.0, slow: float = 1.0) -> None:
        super().__init__({}, host=host, port=port, delay=delay)
        self._other = _Elsewhere(host, delay, slow)
        self._closed: socket.socket | None = None
        self.elsewhere = self.start_url = ""
        self.expected = Expected([], [], [], [], [])

    def start(self) -> None:
        """Listen and answer until `stop`; what is expected is filled in when this returns."""
        self._other.start()
        self._closed = socket.socket()  # bound and never listening: connections are refused
        self._closed.bind(("127.0.0.1", 0))
        # Another name of this machine, so that "elsewhere" is another host and not only another port.
        self.elsewhere = self._other.url.replace("//127.0.0.1:", "//localhost:")
        closed = f"http://127.0.0.1:{self._closed.getsockname()[1]}"
        self._replies = _replies(_Places("{{origin}}", self.elsewhere, closed))
        super().start()
        self.start_url = self.url + "/"
        self.expected = _expected(_Places(self.url, self.elsewhere, closed))

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
def _links() -> dict[str, list[Row]]:
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


def _replies(places: _Places) -> dict[str, bytes | Reply]:
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


def _reply(row: Row, places: _Places) -> Reply:
    status, path = int(row["status"]), row["path"]
    links = _links().get(path, [])
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


def _header_link(link: Row, places: _Places) -> str:
    rel = {"hreflang": "alternate", "prev": "prev"}.get(link["kind"], link["kind"])
    language = f'; hreflang="{link["how"]}"' if link["kind"] == "hreflang" else ""
    return f'<{places.url(link["target"])}>; rel="{rel}"{language}'


def _plain(title: str, path: str) -> str:
    heading = f"<title>{escape(title)}</title><h1>{escape(title)}</h1>"
    return f"<!doctype html><html lang=en>{heading}{made_up_text(path)}"


def _html(row: Row, links: list[Row], places: _Places) -> str:
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


def _in_head(link: Row, places: _Places) -> str:
    url = escape(places.url(link["target"]))
    match link["kind"]:
        case "script":
            return f'<script src="{url}" defer></script>'
        case "refresh":
            return f'<meta http-equiv="refresh" content="5; url={url}">'
        case "hreflang":
            return f'<link rel="alternate" hreflang="{link["how"]}" href="{url}">'
    return f'<link rel="{link["kind"]}" href="{url}">'


def _in_body(link: Row, places: _Places) -> str:
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


# ---------------------------------------------------------------- the tables as what is expected


def _expected(places: _Places) -> Expected:
    pages: list[dict[str, Any]] = [
        {
            "url": places.url(row["path"]),
            "status": int(row["status"]),
            "depth": int(row["depth"]) if row["depth"] else None,
            **{name: row[name] for name in ("via", "title", "how")},
        }
        for row in table("pages")
    ]
    links: list[dict[str, Any]] = [
        {
            "source": places.url(row["source"]),
            "target": places.url(row["target"]),
            "anchor": re.sub("#.*", "", row["anchor"]),
            **{name: row[name] for name in ("kind", "position", "rel")},
        }
        for page in table("pages")
        for row in _links().get(page["path"], ())
    ]
    skipped: list[dict[str, Any]] = [
        {**row, "url": places.url(row["url"]), "found_on": places.url(row["found_on"])}
        for row in table("skipped")
    ]
    traps: list[dict[str, Any]] = [
        {
            "kind": row["kind"],
            **{name: places.url(row[name]) for name in ("begins_with", "first", "found_on")},
            "real": [places.url(path) for path in row["real"].split()],
        }
        for row in table("traps")
    ]
    checked: list[dict[str, Any]] = [
        {
            **row,
            "url": places.url(row["url"]),
            "http_status": int(row["http_status"]) if row["http_status"] else None,
        }
        for row in table("checked")
    ]
    return Expected(pages, links, skipped, traps, checked)


def crawl_site(host: str = "127.0.0.1", port: int = 0, delay: float = 0.0, slow: float = 1.0) -> CrawlSite:
    """Return a context manager that serves a made-up site with all that a crawl meets.

    Two hundred addresses, up to seven clicks deep: redirects of each status, in chains and in circles,
    broken links, links to another host that is gone, refuses or is slow, canonical chains, hreflang groups,
    pagination with and without ``rel``, links that are not to be followed, a part that robots.txt
    forbids, orphans, soft 404s, and five endless traps. What a crawl should find stands beside it, in
    tables written by hand.

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
        With ``start_url``, ``elsewhere`` and ``expected`` once entered.

    Raises
    ------
    OSError
        When the port is in use.

    Examples
    --------
    >>> with crawl_site() as site:
    ...     deepest = max(site.expected.pages, key=lambda page: page["depth"] or 0)
    ...     len(site.expected.pages), deepest["title"], deepest["depth"]
    (200, 'Appendix: tools', 7)
    """
    return CrawlSite(host, port, delay, slow)
