"""A made-up site for crawlers: two hundred addresses with all that a crawl meets.

Its pages in ``data/crawl-site`` were written from tables, which say what a crawl should find. Endless
families of pages, as real sites have them by accident, are made from their addresses alone.
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
from collections.abc import Callable
from html import escape
from itertools import chain
from urllib.parse import parse_qsl, urlencode

from webanalytics.fetching.testing.server import Answer, Reply, SiteServer, lay_out, site_folder

_HTML = {"Content-Type": "text/html; charset=utf-8"}

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
    return _page("Older news", "There is no older news.", links)


TRAP_PAGES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("/calendar/", calendar),
    ("/session/", session),
    ("/tour/", tour),
    ("/products/lamps/?", facets),
    ("/news/page/", news),
)
"""Beginnings of request targets that are no page of the tables, and what is written for them."""


class CrawlSite(SiteServer):
    """The made-up site for crawlers, as `crawl_site` serves it, with a second server that is "elsewhere".

    ``start_url`` is the home page, ``elsewhere`` the origin to which external links lead, and ``closed`` one
    that refuses connections.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0, delay: float = 0.0, slow: float = 1.0) -> None:
        super().__init__({}, host=host, port=port, delay=delay)
        self._other = _Elsewhere(host, delay, slow)
        self._refusing: socket.socket | None = None
        self.elsewhere = self.closed = self.start_url = ""

    def start(self) -> None:
        """Listen and answer until `stop`; the addresses are known when this returns."""
        self._other.start()
        self._refusing = socket.socket()  # bound and never listening: connections are refused
        self._refusing.bind(("127.0.0.1", 0))
        # Another name of this machine, so that "elsewhere" is another host and not only another port.
        self.elsewhere = self._other.url.replace("//127.0.0.1:", "//localhost:")
        self.closed = f"http://127.0.0.1:{self._refusing.getsockname()[1]}"
        text = (site_folder("crawl-site") / "pages.json").read_text("ascii")
        text = text.replace("{{elsewhere}}", self.elsewhere).replace("{{closed}}", self.closed)
        self._replies = {entry.pop("path"): _reply(**entry) for entry in json.loads(text)}
        super().start()
        self.start_url = self.url + "/"

    def stop(self) -> None:
        """Stop both servers; safe to call twice."""
        super().stop()
        self._other.stop()
        if self._refusing is not None:
            self._refusing.close()

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


def _reply(status: int, headers: dict[str, str], body: str) -> Reply:
    return Reply(status, headers, body.encode("latin-1"))


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
