"""What everything that shows an audit begins with: which site it is of, and what to know before the rest.

The repr, the command line, the report, the workbook, the explorer and the desk show these lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from webanalytics.audits.origin import Audited
from webanalytics.audits.overview.failures import refusal_warning
from webanalytics.audits.words import several
from webanalytics.urls import host_of


class Head(NamedTuple):
    """The first lines of an audit; each is '' where there is nothing to say."""

    site: str  # the host of most pages, and how many others there are
    stopped: str = ""  # why these are not all pages
    warning: str = ""  # who refused


def head(audit: Audited) -> Head:
    """Return the first lines of an audit."""
    crawl, frame = audit.origin.crawl, audit.raw
    stopped = audit.origin.stopped or ("" if crawl is None else crawl.stopped)
    urls = frame["url"].tolist() if "url" in frame else []
    return Head(site_of(urls), stopped, refusal_warning(frame) if "status" in frame else "")


def site_of(urls: Iterable[Any]) -> str:
    """Return the host of most addresses, and how many others there are; else how many hosts there are.

    >>> site_of(["https://a.example/", "https://a.example/b", "https://b.example/"])
    'a.example and 1 other host'
    """
    origins = Counter("/".join(url.split("/", 3)[:3]) for url in urls if isinstance(url, str))
    hosts: Counter[str] = Counter()
    for origin, count in origins.items():
        if host := host_of(origin):
            hosts[host] += count
    if not hosts:
        return ""
    (first, most), others = hosts.most_common(1)[0], len(hosts) - 1
    if most * 2 < hosts.total():
        return several("{n} host", "{n} hosts", len(hosts))
    more = several("{host} and {n} other host", "{host} and {n} other hosts", others, host=first)
    return more if others else first
