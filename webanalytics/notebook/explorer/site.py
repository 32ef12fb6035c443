"""What is known of a whole site: its crawl, its keywords, what to do, and the links around one page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from webanalytics.audits.audit import Audit
from webanalytics.audits.graph.neighbours import Side, neighbours
from webanalytics.audits.graph.site_links import count_missing
from webanalytics.audits.report.facts import work_parts
from webanalytics.audits.report.site import depths, explained, left_out
from webanalytics.audits.report.work import CAUSES
from webanalytics.notebook.explorer.table import LABELS, MANY_PAGES, clean, column

Found = tuple[str, str, pd.DataFrame]
"""The heading of a table, what a row is called, and the table."""

MOST_ROWS = 2_000
MOST_NEIGHBOURS = 100


def site_tables(audit: Audit) -> Iterator[Found]:
    """Yield the tables of a crawl."""
    pages, skipped = audit.pages, audit.skipped
    orphans = pages[pages["orphan"].fillna(False).to_numpy(bool)]
    strongest = pages.sort_values("link_score", ascending=False, kind="stable").head(MOST_ROWS)
    weight = strongest[["url", "link_score", "inlinks", "inlinks_followed", "outlinks", "crawl_depth"]]
    told = ["url", "verdict", "http_status", "source", "anchor", "position", "kind", "error"]
    by_depth = depths(pages).rename(columns={"pages": "addresses"} if count_missing(pages) else {})
    yield from (
        ("Pages by clicks from the start", "row", by_depth),
        ("Broken links", "link", audit.broken_links[told]),
        ("Most weight in the links", "page", weight[weight["link_score"].notna()]),
        ("Orphans, to which no page links", "page", orphans[["url", "found_on", "in_sitemap"]]),
        ("Traps", "trap", audit.traps),
        ("Seen and left out, by reason", "reason", left_out(skipped)),
        ("Seen and left out", "target", skipped.assign(reason=explained(skipped)["reason"])),
    )


def drawn(title: str, noun: str, frame: pd.DataFrame) -> dict[str, Any]:
    """Return a table as the browser draws it."""
    shown = frame.head(MOST_ROWS).reset_index(drop=True)
    shown = shown.loc[:, ~shown.columns.duplicated()]
    columns = [column(shown, str(name)) for name in shown.columns]
    for made in columns:
        words = clean(str(made["key"]).replace("_", " "), 40)
        made["label"] = LABELS["site"].get(str(made["key"]), words[:1].upper() + words[1:])
    table = {"length": len(shown), "total": len(frame), "columns": columns}
    return {"title": title, "noun": noun, "table": table}


def links_of(audit: Audit, url: object) -> dict[str, Any] | None:
    """Return who links to a page and where it links to, None for a page that is not in the audit."""
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


MOST_COLUMNS = 12


def site_keywords(audit: Audit) -> Iterator[Found]:
    """Yield the tables of an audit's terms."""
    yield "Keywords of the site", "keyword", audit.keywords("site").iloc[:, :MOST_COLUMNS]
    yield "Pages that compete for the same keywords", "row", audit.cannibalisation()


def work_tables(audit: Audit) -> Iterator[Found]:
    """Yield the tables of what to do: by clicks and logs where they are known, pages to change, and links."""
    parts = work_parts(audit)
    if (found := parts.get("Search results")) is not None:
        yield "Causes by the clicks that they touch", "cause", audit.causes(by="clicks")[list(CAUSES)]
        yield "Pages that need work", "row", found
    if (found := parts.get("Server logs")) is not None:
        yield "What crawlers miss and waste", "row", found
    if len(audit) <= MANY_PAGES:
        advice = audit.prune()[["url", "advice", "target", "reasons", "content_words", "inlinks"]]
        yield "Pages to improve, merge, redirect or remove", "page", advice[advice["advice"] != "keep"]
        ideas = audit.link_ideas()
        yield "Links to add", "link", ideas[["source", "anchor", "sentence", "target", "target_inlinks"]]
