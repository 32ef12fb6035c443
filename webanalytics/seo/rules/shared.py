"""What rules of several categories look for in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from webanalytics.seo.context import Site
from webanalytics.seo.rules.base import Finding

Find = Callable[[Site, Any], Iterator[Finding]]

SHOWN = 5
"""Most things of one page that its evidence names."""

LONGEST = 1_000
"""Characters of one thing that evidence is made of, before it is cut to its own limit."""


def above(measure: str, shown: str) -> Find:
    """Return the search for pages where a column is over the threshold; another column is the evidence.

    Examples
    --------
    >>> import pandas as pd
    >>> site = Site(pd.DataFrame({"status": ["ok"] * 2, "titleLength": [60, 61], "title": ["A", "B"]}))
    >>> list(above("titleLength", "title")(site, 60))
    [Finding(row=1, value=61, evidence='B')]
    """

    def find(site: Site, threshold: float) -> Iterator[Finding]:
        for row, value, text in site.read(measure, shown):
            if value is not None and value > threshold:
                yield Finding(row, value, (text or "")[:LONGEST])

    return find


def below(measure: str, shown: str) -> Find:
    """Return the search for pages where a column is under the threshold; nought is another rule's matter."""

    def find(site: Site, threshold: float) -> Iterator[Finding]:
        for row, value, text in site.read(measure, shown):
            if value is not None and 0 < value < threshold:
                yield Finding(row, value, (text or "")[:LONGEST])

    return find


def empty(column: str) -> Find:
    """Return the search for pages whose column holds nothing; a missing value says that nobody looked."""

    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, value in site.read(column):
            if value is not None and (not value or (isinstance(value, str) and value.isspace())):
                yield Finding(row)

    return find


def listed(column: str, least: int = 1) -> Find:
    """Return the search for pages whose column lists so many things, or more."""

    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, things in site.read(column):
            if things is not None and len(things) >= least:
                yield Finding(row, len(things), enumerated(things))

    return find


def outside_head(kind: str) -> Find:
    """Return the search for pages where something that belongs into the head stands after it."""

    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, kinds in site.read("outsideHead"):
            if kinds is not None and kind in kinds:
                yield Finding(row, evidence=f"{kind} after the end of the head")

    return find


def enumerated(things: Iterable[str]) -> str:
    """Return the first things, each once, and how many more there are.

    Examples
    --------
    >>> enumerated(["a.png", "b.png", "a.png"])
    'a.png | b.png'
    >>> enumerated("abcdefg")
    'a | b | c | d | e | and 2 more'
    """
    distinct = list(dict.fromkeys(thing for thing in things if thing))
    parts = [thing[:LONGEST] for thing in distinct[:SHOWN]]
    if len(distinct) > SHOWN:
        parts.append(f"and {len(distinct) - SHOWN} more")
    return " | ".join(parts)
