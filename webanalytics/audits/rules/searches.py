"""Searches shared by rules of several categories."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from webanalytics.audits.rules.base import Find, Finding, PageByPage
from webanalytics.audits.site import Site
from webanalytics.core.strings import counted

SHOWN = 5
"""Most items of one page that its evidence names."""


def above(measure: str, shown: str, beside: str = "") -> Find:
    """Return the search for pages where a column is over the threshold; another column is the evidence.

    ``beside`` is a column with the number of characters, which the evidence names first.

    Examples
    --------
    >>> import pandas as pd
    >>> site = Site(pd.DataFrame({"status": ["ok"] * 2, "title_pixels": [561, 562], "title": ["A", "B"]}))
    >>> list(above("title_pixels", "title")(site, 561))
    [Finding(row=1, value=562, evidence='B')]
    """
    return _measured(measure, shown, beside, operator.gt)


def below(measure: str, shown: str, beside: str = "") -> Find:
    """Return the search for pages where a column is below the threshold; zero is left to another rule."""
    return _measured(measure, shown, beside, lambda value, threshold: 0 < value < threshold)


def _measured(measure: str, shown: str, beside: str, is_wrong: Callable[[Any, float], bool]) -> Find:
    @PageByPage
    def find(site: Site, threshold: float) -> Iterator[Finding]:
        for row, value, text, length in site.read(measure, shown, beside or measure):
            if value is not None and is_wrong(value, threshold):
                lead = f"{counted(length, 'character')}: " if beside and length is not None else ""
                yield Finding(row, value, f"{lead}{text or ''}")

    return find


def more(column: str, what: str) -> Find:
    """Return the search for pages that have more of something than the threshold."""

    @PageByPage
    def find(site: Site, threshold: float) -> Iterator[Finding]:
        for row, count in site.read(column):
            if count is not None and count > threshold:
                yield Finding(row, int(count), f"{count:,} {what}")

    return find


def said(column: str, is_wrong: Callable[[str], object]) -> Find:
    """Return the search for pages that say something wrong, which is the evidence."""

    @PageByPage
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, text in site.read(column):
            if text and is_wrong(text):
                yield Finding(row, evidence=text)

    return find


def empty(column: str) -> Find:
    """Return the search for pages whose column is empty; a missing value is unknown."""

    @PageByPage
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, value in site.read(column):
            if value is not None and (not value or (isinstance(value, str) and value.isspace())):
                yield Finding(row)

    return find


def listed(column: str, least: int = 1) -> Find:
    """Return the search for pages whose column lists at least so many items."""

    @PageByPage
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, things in site.read(column):
            if things is not None and len(things) >= least:
                yield Finding(row, len(things), enumerated(things))

    return find


def outside_head(kind: str) -> Find:
    """Return the search for pages where something that belongs in the head comes after it."""

    @PageByPage
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, kinds in site.read("outside_head"):
            if kinds is not None and kind in kinds:
                yield Finding(row, evidence=f"{kind} after the end of the head")

    return find


def enumerated(things: Iterable[str]) -> str:
    """Return the first items, each once with how often it is there, and how many more there are.

    Examples
    --------
    >>> enumerated(["a.png", "b.png", "a.png"])
    'a.png (2 times) | b.png'
    >>> enumerated("abcdefg")
    'a | b | c | d | e | and 2 more'
    """
    found = Counter(filter(None, things))
    first = islice(found.items(), SHOWN)
    parts = [thing + (f" ({times:,} times)" if times > 1 else "") for thing, times in first]
    if len(found) > SHOWN:
        parts.append(f"and {len(found) - SHOWN} more")
    return " | ".join(parts)
