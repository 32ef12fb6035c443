"""Chapters of the report on the work to do: parts of the site, search results, logs, what to keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from webanalytics.audits.report.cells import column
from webanalytics.audits.report.content import Content
from webanalytics.audits.report.tables import Cell, Chapter, Table, and_more, headings, number, page_link
from webanalytics.audits.words import phrase, say
from webanalytics.audits.work.search_issues import FIXES
from webanalytics.thresholds import PRIORITIES

MOST_ROWS = 10
MOST_NAMED = 5
"""Most pages that one cell names."""

SEGMENTS: Mapping[str, str] = {
    **{"segment": "Segment", "pages_before": "Pages before", "pages": "Pages"},
    **{"score_before": "Score before", "score": "Score"},
    **{f"issues_{priority}": priority.capitalize() for priority in PRIORITIES},
    **{"worse": "Got worse", "added": "On new pages", "fixed": "Fixed", "removed": "Removed with its page"},
}
CAUSES: Mapping[str, str] = {"cause": "Cause", "clicks": "Clicks", "pages": "Pages"}
CRAWLERS: Mapping[str, str] = {
    **{"crawler": "Crawler", "hits": "Hits", "pages": "Pages"},
    **{"redirects": "Redirected", "errors": "Errors"},
}
"""Columns of tables that are shown as they are, and their heads."""


def chapters(
    content: Content, parts: Mapping[str, pd.DataFrame], causes: pd.DataFrame | None
) -> Iterator[Chapter]:
    """Yield the chapters on the parts that an audit has, as `work_parts` in `report.facts` names them."""
    if (found := parts.get("Segments")) is not None:
        note = say("Each part of the site has a score of its own. Filter and lists go by them, too.")
        yield Chapter("segments", say("Segments"), note, [_plain(say("Segments"), found, SEGMENTS)])
    if (found := parts.get("Search results")) is not None:
        note = say("What search results of weeks and the audit of a day know together.")
        touched = pd.DataFrame({"clicks": []}) if causes is None or "clicks" not in causes else causes
        most = touched[touched["clicks"] > 0].sort_values("clicks", ascending=False, kind="stable")
        first = _plain(say("Causes by the clicks that they touch"), most, CAUSES)
        facts = _facts(content, say("Pages that need work"), found, "clicks")
        yield _chapter("search", say("Search results"), note, first, facts)
    if (found := parts.get("Server logs")) is not None:
        note = say("What the server wrote down. Anybody can take the name of a crawler.")
        first = _plain(say("Who came"), parts["Crawlers"], CRAWLERS)
        facts = _facts(content, say("What crawlers miss and waste"), found, "hits")
        yield _chapter("logs", say("Server logs"), note, first, facts)
    if (found := parts.get("What to keep")) is not None:
        note = say("Advice by clicks, links, length and likeness of pages. Look before you delete.")
        ordered = found.sort_values("advice", key=lambda names: names == "keep", kind="stable")
        yield _chapter("advice", say("What to keep"), note, _facts(content, note, ordered, "clicks"))


def _chapter(name: str, title: str, note: str, *tables: Table) -> Chapter:
    return Chapter(name, title, note, [table for table in tables if table.rows])


def _plain(name: str, frame: pd.DataFrame, columns: Mapping[str, str]) -> Table:
    first, *others = [key for key in columns if key in frame] or [""]
    heads = headings(*(columns[key] for key in (first, *others) if key), numbers="." + "n" * len(others))
    names = column(frame.head(MOST_ROWS), first)
    cells = [column(frame.head(MOST_ROWS), key) for key in others]
    decimals = [int(key.startswith("score")) for key in others]
    rows = [
        [
            Cell(say(phrase(str(name))) if name else "–"),
            *(number(values[row], digits) for values, digits in zip(cells, decimals, strict=True)),
        ]
        for row, name in enumerate(names)
    ]
    return Table(name, "", heads, rows, and_more(len(frame), MOST_ROWS))


def _facts(content: Content, name: str, frame: pd.DataFrame, count: str) -> Table:
    """Return a table of facts or advice: of how many addresses, their clicks or hits, the first of them."""
    kind = "fact" if "fact" in frame else "advice"
    heads = headings("What", "Addresses", count.capitalize(), "For example", numbers=".nn")
    rows = []
    for fact, part in frame.groupby(kind, sort=False):
        fix = FIXES.get(str(fact), "") if kind == "fact" and count == "clicks" else ""
        said = Cell(say(f"{str(fact)[:1].upper()}{str(fact)[1:]}"), say(fix))
        sums = number(float(part[count].sum()) if part[count].notna().any() else None)
        rows.append([said, number(len(part)), sums, _first(content, part)])
    return Table(name, "", heads, rows)


def _first(content: Content, part: pd.DataFrame) -> Cell:
    """Return the first of some addresses, pages of the report as links; where they should lead stands by."""
    urls, targets = (column(part.head(MOST_NAMED), name) for name in ("url", "target"))
    pages, others = [], []
    for url, target in zip(urls, targets, strict=True):
        if (row := content.row_of.get(url, -1)) < 0:
            others.append(str(url))
            continue
        link = page_link(content, row)
        pages.append(link._replace(address=f"{link.address or link.name} → {target}") if target else link)
    return Cell(", ".join(others), and_more(len(part), MOST_NAMED), pages=pages)
