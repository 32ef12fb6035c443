"""A site of any size for crawlers: pages under many addresses that link to each other."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from html import escape

from tests.crawl_site_pages import made_up_text
from webanalytics.fetching.testing.crawl_site import calendar, facets
from webanalytics.fetching.testing.server import Answer, Reply, SiteServer, lay_out

_HTML = {"Content-Type": "text/html; charset=utf-8"}
_RELATED = 10
_LINK = re.compile(rb"""(<(?:a|area)\b[^>]*?\shref\s*=\s*)("[^"]*"|'[^']*'|[^\s>"']+)""", re.IGNORECASE)
# What would lead a crawler elsewhere, or tell it not to follow.
_UNWANTED = re.compile(
    rb"<base\b[^>]*>|<link\b[^>]*\brel\s*=\s*[\"']?(?:canonical|alternate|next|prev|amphtml)\b[^>]*>"
    rb"|<meta\b[^>]*\b(?:robots|googlebot|refresh)\b[^>]*>",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(rb"(<(?:iframe|frame|form)\b[^>]*?\s)(?:src|action)(\s*=)", re.IGNORECASE)
_NOFOLLOW = re.compile(rb"nofollow|ugc|sponsored", re.IGNORECASE)
_BODY_END = re.compile(rb"</body\s*>", re.IGNORECASE)
_TITLE = re.compile(rb"<title[^>]*>.*?</title\s*>", re.IGNORECASE | re.DOTALL)


class LargeSite(SiteServer):
    """A site of any size, as `large_site` serves it.

    Attributes
    ----------
    start_url : str
        The home page.
    pages : list of str
        Addresses of all pages; those of traps are none of them.
    """

    def __init__(
        self,
        count: int = 2000,
        bodies: Sequence[bytes] = (),
        *,
        traps: bool = True,
        host: str = "127.0.0.1",
        port: int = 0,
        delay: float = 0.0,
    ) -> None:
        robots = Reply(200, {"Content-Type": "text/plain"}, b"User-agent: *\nAllow: /\n")
        super().__init__({"/robots.txt": robots}, host=host, port=port, delay=delay)
        self._traps = traps
        self._templates = [_template(body) for body in bodies]
        self._sections = max(1, round(count**0.5 / 2))
        self._paths = ["/", *(f"/section-{number}/" for number in range(self._sections))][:count]
        inner = range(count - len(self._paths))
        self._paths += [f"/section-{number % self._sections}/page-{number}" for number in inner]
        self._numbers = {path: number for number, path in enumerate(self._paths)}
        self.start_url = ""
        self.pages: list[str] = []

    def start(self) -> None:
        """Listen and answer until `stop`; ``pages`` is filled when this returns."""
        super().start()
        self.start_url = self.url + "/"
        self.pages = [self.url + path for path in self._paths]

    def answer(self, target: str, method: str = "GET") -> Answer:
        """Return the answer to a request target, written when it is asked for."""
        number = self._numbers.get(target)
        if number is not None:
            return lay_out(Reply(200, _HTML, self._written(number)), target, b"", self._delay)
        if self._traps and target.startswith("/calendar/"):
            return lay_out(Reply(200, _HTML, calendar(target).encode()), target, b"", self._delay)
        path, mark, _ = target.partition("?")
        if self._traps and mark and path in self._numbers:
            return lay_out(Reply(200, _HTML, facets(target).encode()), target, b"", self._delay)
        return super().answer(target, method)

    def _written(self, number: int) -> bytes:
        path = self._paths[number]
        title = f"Page {number} of {len(self._paths)}"
        links = "".join(
            f'<li><a href="{escape(url)}">{escape(text)}</a>' for url, text in self._links(number)
        )
        own = f"<main><h1>{title}</h1>{made_up_text(path)}<ul>{links}</ul></main>".encode()
        head = f"<title>{title}</title>".encode()
        if not self._templates:
            return b'<!doctype html><html lang="en">' + head + own
        start, *rest = self._templates[number % len(self._templates)]
        chosen = random.Random(path)
        count = len(self._paths)
        parts = [start]
        for piece in rest:
            parts += [b'"', self._paths[chosen.randrange(count)].encode(), b'"', piece]
        body = _TITLE.sub(lambda _: head, b"".join(parts), count=1)
        found = _BODY_END.search(body)
        at = found.start() if found else len(body)
        return body[:at] + own + body[at:]

    def _links(self, number: int) -> list[tuple[str, str]]:
        """Return what a page links to besides: sections, neighbours, a few pages at random, and traps."""
        count = len(self._paths)
        near = [(number + step) % count for step in (-1, 1)]
        chosen = random.Random(f"links of {number}")
        near += [chosen.randrange(count) for _ in range(min(_RELATED, count))]
        if 0 < number <= self._sections:  # a section lists its pages
            near += range(number + self._sections, count, self._sections)
        links = [(self._paths[other], f"Page {other}") for other in near]
        links += [
            (path, f"Section {place}") for place, path in enumerate(self._paths[1 : self._sections + 1])
        ]
        if self._traps and 0 < number <= self._sections:
            links += [("/calendar/2026/11", "Calendar")]
            links += [
                (f"{self._paths[number]}?{pair}", pair) for pair in ("brand=tin", "colour=red", "size=large")
            ]
        return links


def _template(body: bytes) -> list[bytes]:
    """Return a page in pieces, between which the addresses of its links go."""
    body = _ELSEWHERE.sub(rb"\1data-was\2", _UNWANTED.sub(b"", body))
    pieces = _LINK.split(_NOFOLLOW.sub(b"follow", body))
    # Before the first link, the start of its tag, its old address, what follows, and so on.
    return [pieces[at] + (pieces[at + 1] if at + 1 < len(pieces) else b"") for at in range(0, len(pieces), 3)]


def large_site(
    count: int = 2000,
    bodies: Sequence[bytes] = (),
    *,
    traps: bool = True,
    host: str = "127.0.0.1",
    port: int = 0,
    delay: float = 0.0,
) -> LargeSite:
    """Return a context manager that serves a site of any size, to measure crawlers with.

    Each page has a title, a text and links of its own. All are within a few clicks from the home page; `traps` links
    an endless calendar and filters, and `bodies` are pages in HTML that are served in turn under many addresses.
    """
    return LargeSite(count, bodies, traps=traps, host=host, port=port, delay=delay)
