"""What is known of a whole site: its crawl, its keywords, and the links around one page."""

from __future__ import annotations

from typing import Any

import pandas as pd

from webanalytics.audits.audit import Audit
from webanalytics.audits.graph.neighbours import Side, neighbours
from webanalytics.audits.report.site import depths, left_out
from webanalytics.notebook.explorer.table import clean, column

MOST_ROWS = 2_000
MOST_NEIGHBOURS = 100

_LABELS = {
    "url": "URL",
    "http_status": "HTTP status",
    "in_sitemap": "In the sitemap",
    "crawl_depth": "Clicks from the start",
    "inlinks": "Pages that link here",
    "inlinks_followed": "Without nofollow",
    "outlinks": "Links to",
}


def site_tables(audit: Audit) -> list[dict[str, Any]]:
    """Return the tables of a crawl: their headings, what a row is called, and the tables."""
    pages = audit.pages
    orphans = pages[pages["orphan"].fillna(False).to_numpy(bool)]
    strongest = pages.sort_values("link_score", ascending=False, kind="stable").head(MOST_ROWS)
    weight = strongest[["url", "link_score", "inlinks", "inlinks_followed", "outlinks", "crawl_depth"]]
    broken = audit.broken_links[
        ["url", "verdict", "http_status", "source", "anchor", "position", "kind", "error"]
    ]
    frames = (
        ("Pages by clicks from the start", "row", depths(pages)),
        ("Broken links", "link", broken),
        ("Most weight in the links", "page", weight[weight["link_score"].notna()]),
        ("Orphans, to which no page links", "page", orphans[["url", "found_on", "in_sitemap"]]),
        ("Traps", "trap", audit.traps),
        ("Seen and left out, by reason", "reason", left_out(audit.skipped)),
        ("Seen and left out", "target", audit.skipped),
    )
    return [{"title": title, "noun": noun, "table": _table(frame)} for title, noun, frame in frames]


def _table(frame: pd.DataFrame, most: int = MOST_ROWS) -> dict[str, Any]:
    shown = frame.head(most).reset_index(drop=True)
    shown = shown.loc[:, ~shown.columns.duplicated()]
    columns = [column(shown, {}, str(name)) for name in shown.columns]
    for made in columns:
        words = clean(str(made["key"]).replace("_", " "), 40)
        made["label"] = _LABELS.get(str(made["key"]), words[:1].upper() + words[1:])
    return {"length": len(shown), "total": len(frame), "columns": columns}


def links_of(audit: Audit, url: object) -> dict[str, Any] | None:
    """Return who links to a page and where it links to, None for a page that is not in the audit.

    Each side is a list of address, text, number of links and whether search engines follow them.
    """
    target = audit.site.find(url)
    if target is None:
        return None
    graph = audit.site.graph
    sides: dict[Side, str] = {"in": "into", "out": "out"}
    found: dict[str, Any] = {
        name: [
            [clean(near.url, 2_000), clean(near.anchor, 300), near.links, near.followed]
            for near in neighbours(graph, target.row, side, MOST_NEIGHBOURS)
        ]
        for side, name in sides.items()
    }
    counts = audit.site.inlinks
    return found | {"total": 0 if counts is None else counts.counts[target.row]}


_MOST_KEYWORDS = 500
MOST_COLUMNS = 12


def site_keywords(audit: Audit) -> list[dict[str, Any]]:
    """Return the tables of an audit's terms: heading, what a row is called, and the table."""
    found = (
        ("Keywords of the site", "keyword", audit.keywords("site")),
        ("Pages that compete for the same keywords", "row", audit.cannibalisation()),
    )
    return [
        {"title": title, "noun": noun, "table": _table(frame.iloc[:, :MOST_COLUMNS], _MOST_KEYWORDS)}
        for title, noun, frame in found
    ]
