"""What a crawl knows besides its pages: links, what it did not fetch and why, what it asked besides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from webanalytics.core.operations.model import Dtype
from webanalytics.runs.frames.link_table import LinkTable
from webanalytics.runs.frames.schema import make_series

SKIPPED: Mapping[str, Dtype] = {
    "url": "string",
    "reason": "string",
    "detail": "string",
    "depth": "integer",
    "found_on": "string",
    "links": "integer",
    "addresses": "integer",
}
"""Addresses that were seen and not fetched, each once: ``reason`` is robots, depth, limit, pattern, external,
nofollow, kind (every link there is of one that is not followed), trap, not_html or counted, ``detail`` the
rule, limit, pattern or kind, ``links`` how many links lead there. Where far more are known than are wanted,
those alike are one row with the reason counted: ``url`` is the first and ``addresses`` says how many."""

CHECKED: Mapping[str, Dtype] = {
    "url": "string",
    "kind": "string",
    "verdict": "string",
    "http_status": "integer",
    "final_url": "string",
    "method": "string",
    "error": "string",
    "error_type": "string",
}
"""Addresses asked for their status alone: ``kind`` is external, image, hreflang, ..., ``verdict`` ok,
redirected, gone, blocked or failed, ``method`` HEAD or GET."""

TRAPS: Mapping[str, Dtype] = {
    "pattern": "string",
    "kind": "string",
    "fetched": "integer",
    "skipped": "integer",
    "example": "string",
    "evidence": "string",
}
"""Endless families of addresses: their pattern, and why they are taken for one."""

HOSTS: Mapping[str, Dtype] = {
    "host": "string",
    "pages": "integer",
    "failures": "integer",
    "delay": "float",
    "connections": "integer",
    "note": "string",
}
"""How each host was asked: seconds between requests and requests at once at the end, and why they changed."""


def table(columns: Mapping[str, Dtype], rows: Iterable[Mapping[str, Any]] = ()) -> pd.DataFrame:
    """Return rows as a frame with the dtypes of its columns.

    Examples
    --------
    >>> table(TRAPS).dtypes["fetched"]
    Int64Dtype()
    """
    known = list(rows)
    index = pd.RangeIndex(len(known))
    return pd.DataFrame(
        {
            name: make_series([row.get(name) for row in known], dtype, index)
            for name, dtype in columns.items()
        },
        index=index,
    )


@dataclass(frozen=True)
class CrawlFacts:
    """What a crawl knows besides its pages.

    Attributes
    ----------
    links : LinkTable
        Links of all pages that were read, redirects included.
    skipped, checked, traps, hosts : pandas.DataFrame
        With the columns `SKIPPED`, `CHECKED`, `TRAPS` and `HOSTS`.
    starts : tuple of str
        Where the crawl began.
    soft_404 : frozenset of str
        Pages that say "not found" with status 200.
    options : Mapping
        What the call asked for, by parameter, in plain values.
    stopped : str
        Why pages are missing: a limit, an interrupt, hosts that were given up, traps. Sentences; empty if
        none are.
    only_endless : bool
        Whether nothing is missing but what is surely endless.
    left_out : Mapping
        How many links of a page are not among the links, by its address.
    """

    links: LinkTable = field(default_factory=LinkTable)
    skipped: pd.DataFrame = field(default_factory=lambda: table(SKIPPED))
    checked: pd.DataFrame = field(default_factory=lambda: table(CHECKED))
    traps: pd.DataFrame = field(default_factory=lambda: table(TRAPS))
    hosts: pd.DataFrame = field(default_factory=lambda: table(HOSTS))
    starts: tuple[str, ...] = ()
    soft_404: frozenset[str] = frozenset()
    options: Mapping[str, Any] = field(default_factory=dict)
    stopped: str = ""
    only_endless: bool = False
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether all pages of the site may be known."""
        return not self.stopped or self.only_endless
