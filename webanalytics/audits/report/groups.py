"""How the report cuts its pages: those of one site by folders, a list over many sites by hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from webanalytics.audits.report.cells import Scalar
from webanalytics.audits.words import say
from webanalytics.thresholds import TOP_LEVEL
from webanalytics.urls import host_of

ONE_SITE = 0.9
"""Share of the pages from which their most common host makes them pages of one site."""

Kind = Literal["section", "host", "segment"]


def cut(urls: Sequence[Scalar], sections: Sequence[Scalar]) -> tuple[Kind, list[Scalar]]:
    """Return what the pages are cut by, and the part of each page.

    The kind is ``host`` if fewer than nine pages in ten are of one host, with ``www.`` or without.

    Examples
    --------
    >>> cut(["https://a.example/x", "https://b.example/y", "https://www.b.example/z"], ["x", "y", ""])
    ('host', ['a.example', 'b.example', 'b.example'])
    >>> cut(["https://a.example/x/1", "https://a.example/"], ["x", ""])
    ('section', ['x', '(top level)'])
    """
    hosts = [site_of(url) for url in urls]
    counts = Counter(host for host in hosts if host)
    folders = [say(TOP_LEVEL) if section == "" else section for section in sections]
    if not counts:
        return "section", folders
    (main, most), *_rest = counts.most_common(1)
    if most < ONE_SITE * counts.total():
        return "host", [host or None for host in hosts]
    both = zip(hosts, folders, strict=True)
    return "section", [folder if host in (main, "") else host for host, folder in both]


def site_of(url: Scalar) -> str:
    """Return the host of an address without ``www.``."""
    return host_of(url).removeprefix("www.")
