"""Small crawls made by hand, for tests of the link graph: pages, links by their anchors, a start.

``crawl({"/": ["/a", "/b"], "/a": [Link(HOST + "/", "Home")]})`` is an audit of three pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd

from tests.audits.sites import HOST, failed, frame, page
from webanalytics.audits.audit import Audit
from webanalytics.audits.origin import Origin
from webanalytics.crawls.facts import with_missing_places
from webanalytics.runs.frames.link_table import KINDS, CrawlFacts, Link, LinkTable, LinkTableBuilder

__all__ = ["HOST", "at", "crawl", "failed", "found", "link", "links", "page"]


def at(path: str) -> str:
    """Return the address of a path; a whole address as it is."""
    return path if "//" in path else HOST + path


def link(path: str, anchor: str = "", **more: Any) -> Link:
    """Return a link to a path."""
    return Link(at(path), anchor, **more)


def links(pages: Mapping[str, Iterable[str | Link]]) -> LinkTable:
    """Return a table of the links of pages by their paths."""
    made = LinkTableBuilder()
    for path, targets in pages.items():
        made.add(at(path), [target if isinstance(target, Link) else link(target) for target in targets])
    return made.table()


def crawl(
    pages: Mapping[str, Iterable[str | Link]],
    *rows: dict[str, Any],
    starts: Iterable[str] = ("/",),
    sitemap: pd.DataFrame | None = None,
    places: Mapping[str, Iterable[str]] | None = None,
    **facts: Any,
) -> Audit:
    """Return the audit of a crawl; pages that links name and no row has are read, and good.

    ``places`` has the ids on the pages of which they are known.
    """
    ids = {
        at(path): np.array([crc32(name.encode()) for name in names], np.uint32)
        for path, names in (places or {}).items()
    }
    table = with_missing_places(links(pages), ids)
    known = {row["url"] for row in rows}
    kinds = zip(table.source.tolist(), table.target.tolist(), table.kind.tolist(), strict=True)
    redirects, stops, pages_of = KINDS.index("redirect"), set(), {at(path): None for path in pages}
    for source, target, kind in kinds:
        if kind == redirects:
            stops.add(table.urls[source])
        elif KINDS[kind] == "link":
            pages_of[table.urls[target]] = None
    named = [url for url in pages_of if url.startswith(HOST) and url not in known | stops]
    others = [page(url.removeprefix(HOST)) for url in named]
    made = frame(*others, *rows)
    origin = Origin(sitemap, crawl=CrawlFacts(table, starts=tuple(map(at, starts)), **facts))
    return Audit(made, origin)


def found(audit: Audit, rule: str) -> dict[str, str]:
    """Return the evidence of a rule by the path of the page."""
    issues = audit.issues[audit.issues["rule"] == rule]
    assert not audit.issues.attrs["webanalytics"]["rules_failed"]
    return {
        url.removeprefix(HOST): evidence
        for url, evidence in zip(issues["url"], issues["evidence"], strict=True)
    }
