"""Endless families of pages, as real sites have them by accident: each is made from its address alone."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from html import escape
from itertools import chain
from urllib.parse import parse_qsl, urlencode

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
