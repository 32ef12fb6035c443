"""The chapter of the site in the report of a crawl: depth, weight, what is broken, endless or left out."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import pandas as pd

from webanalytics.audits.report.cells import Scalar, column
from webanalytics.audits.report.content import Content
from webanalytics.audits.report.gaps import plain
from webanalytics.audits.report.tables import Cell, Chapter, Table, headings, number, page_link
from webanalytics.audits.words import number as written
from webanalytics.audits.words import say, several

MOST_DEPTHS = 15
MOST_STRONG = 10

_CLASSES = ("Read", "Redirected", "4xx", "5xx", "No answer")
_REASONS: Mapping[str, str] = {
    "robots": "robots.txt closes it",
    "depth": "deeper than the limit of clicks",
    "limit": "over the limit of pages",
    "pattern": "left out by a pattern",
    "action": "would log out, delete or order",
    "external": "on another site",
    "nofollow": "linked with nofollow alone",
    "kind": "linked in ways not followed",
    "trap": "in a trap",
    "not_html": "no page",
    "counted": "far over the limit of pages, counted by pattern",
}
_LISTS: Mapping[str, Mapping[str, str]] = {
    "broken": {
        "source": "url",
        "anchor": "anchor",
        "url": "leads_to",
        "verdict": "verdict",
        "http_status": "HTTP_status",
        "error": "error",
        "kind": "kind",
        "position": "position",
        "times": "links",
    },
    "orphans": {"url": "url", "in_sitemap": "in_the_sitemap", "found_on": "known_from"},
    "traps": {name: name for name in ("pattern", "kind", "fetched", "skipped", "example", "evidence")},
    "skipped": {
        "reason": "reason",
        "detail": "detail",
        "url": "address",
        "depth": "clicks",
        "links": "links",
        "addresses": "addresses",
        "found_on": "found_on",
    },
}
"""Lists of the chapter: their columns, and what these are called."""

_NAMES: Mapping[str, str] = {
    "broken": "Broken links, with every page that has them",
    "orphans": "Orphans, to which no page links",
    "traps": "Traps",
    "skipped": "Seen and left out",
}


@dataclass(frozen=True)
class CrawlParts:
    """What the report of a crawl shows besides its pages: frames as `webanalytics.Audit` has them."""

    broken: pd.DataFrame = field(default_factory=pd.DataFrame)
    orphans: pd.DataFrame = field(default_factory=pd.DataFrame)
    traps: pd.DataFrame = field(default_factory=pd.DataFrame)
    skipped: pd.DataFrame = field(default_factory=pd.DataFrame)
    neighbours: pd.DataFrame = field(default_factory=pd.DataFrame)
    starts: tuple[str, ...] = ()
    links: int = 0
    stopped: str = ""  # what it left and why, if nothing else says so


def parts_of(audit: Any) -> CrawlParts | None:
    """Return what an audit knows of its crawl, None for one of given pages."""
    from webanalytics.audits.graph.neighbours import neighbours_frame

    crawl = audit.origin.crawl
    if crawl is None:
        return None
    pages, rows = audit.pages, audit._selected()
    graph, urls = audit.site.graph, audit.raw["url"].tolist()
    if rows is None:
        around = neighbours_frame(graph, urls)
    else:
        known = dict(zip(rows, urls, strict=True))
        around = neighbours_frame(graph, [known.get(row) for row in range(graph.rows)])
    orphans = pages[(pages["orphan"].fillna(False)).to_numpy(bool)]
    return CrawlParts(
        audit.broken_links,
        orphans,
        crawl.traps,
        crawl.skipped,
        around,
        crawl.starts,
        int(crawl.links.times.sum()),
        "" if crawl.stopped == audit.origin.incomplete else crawl.stopped,  # that stands at the top
    )


def lists(parts: CrawlParts) -> dict[str, pd.DataFrame]:
    """Return the lists that the script shows, by their headings; empty ones are left out."""
    found = {}
    for name, heading in _NAMES.items():
        frame = getattr(parts, name)
        if name == "skipped" and len(frame):
            frame = frame.assign(**explained(frame))
        names = {old: new for old, new in _LISTS[name].items() if old in frame.columns}
        if len(frame):
            found[heading] = frame[list(names)].rename(columns=dict(names)).reset_index(drop=True)
    return found


def explained(skipped: pd.DataFrame) -> dict[str, list[Any]]:
    """Return why addresses were left out in words, and details without the options of the package."""
    details = [None if re.match(r"\w+=", str(text)) else text for text in column(skipped, "detail")]
    return {"reason": [say(_REASONS.get(str(key), str(key))) for key in skipped["reason"]], "detail": details}


def site(content: Content, parts: CrawlParts) -> Chapter:
    """Return the chapter of the site."""
    tables = [_depth(content), _strongest(content), _left_out(parts)]
    broken = parts.broken["url"].nunique() if len(parts.broken) else 0
    note = [
        say("Found by following links from {start}.", start=", ".join(parts.starts[:3])) * bool(parts.starts),
        several("{n} link.", "{n} links.", parts.links),
        several("{n} target does not answer properly.", "{n} targets do not answer properly.", broken),
        plain(parts.stopped),
    ]
    return Chapter("site", say("The site"), " ".join(filter(None, note)), [one for one in tables if one.rows])


def depths(pages: pd.DataFrame) -> pd.DataFrame:
    """Return how many pages are how many clicks from the start, by what became of them.

    Examples
    --------
    >>> pages = pd.DataFrame({"crawl_depth": [0, 1, 1], "http_status": [200, 200, 404], "status": "ok"})
    >>> depths(pages)[["clicks", "pages", "read", "4xx"]].values.tolist()
    [['start', 1, 1, 0], ['1', 2, 1, 1]]
    """
    groups: defaultdict[int, list[int]] = defaultdict(lambda: [0] * len(_CLASSES))
    for depth, place in zip(column(pages, "crawl_depth"), _classes(pages), strict=True):
        known = isinstance(depth, (int, float))
        groups[min(_count(depth), MOST_DEPTHS) if known else MOST_DEPTHS + 1][place] += 1
    ordered = sorted(groups.items())
    cells: dict[str, list[Any]] = {
        "clicks": [_clicks(depth) for depth, _ in ordered],
        "pages": [sum(counts) for _, counts in ordered],
    }
    for place, name in enumerate(_CLASSES):
        cells[name.lower()] = [counts[place] for _, counts in ordered]
    return pd.DataFrame(cells)


def _depth(content: Content) -> Table:
    names = ("crawl_depth", "http_status", "status", "redirects")
    frame = depths(pd.DataFrame({name: pd.Series(content.values(name), dtype=object) for name in names}))
    used = [name for name in frame.columns[2:] if frame[name].any()]
    most = int(frame["pages"].max()) if len(frame) else 0
    shown = [name.capitalize() for name in used]
    heads = headings(
        "Clicks", "Addresses" if content.missing else "Pages", *shown, numbers="." + "n" * (1 + len(used))
    )
    rows = [
        [
            Cell(say(str(line["clicks"]))),
            Cell(written(line["pages"]), number=True, tint=_tint(line["pages"], most)),
            *(number(line[name]) if line[name] else Cell("·", number=True) for name in used),
        ]
        for line in frame.to_dict("records")
    ]
    return Table(say("Depth"), "", heads, rows)


def _classes(pages: pd.DataFrame) -> list[int]:
    found = []
    columns = (column(pages, name) for name in ("http_status", "status", "redirects"))
    for code, status, hops in zip(*columns, strict=True):
        if isinstance(code, (int, float)) and code >= 400:
            found.append(3 if code >= 500 else 2)
        else:
            found.append(4 if status != "ok" else 1 if hops else 0)
    return found


def _clicks(depth: int) -> str:
    if depth > MOST_DEPTHS:
        return "not linked"
    if depth == MOST_DEPTHS:
        return say("{low} or more", low=str(depth))
    return f"{depth:,}" if depth else "start"


def _tint(count: int, most: int) -> int:
    return min(5, 1 + int(4 * count / most)) if count and most else 0


def _strongest(content: Content) -> Table:
    scores = content.values("link_score")
    known = [row for row, score in enumerate(scores) if isinstance(score, (int, float))]
    first = sorted(known, key=lambda row: (-float(scores[row] or 0), row))[:MOST_STRONG]
    heads = headings("Page", "Link score", "Linked from", "Clicks", numbers=".nnn")
    rows = [
        [
            Cell(pages=[page_link(content, row)]),
            number(scores[row], 1),
            number(content.values("inlinks")[row]),
            number(content.values("crawl_depth")[row]),
        ]
        for row in first
    ]
    return Table(say("Most weight in the links"), "", heads, rows)


def left_out(skipped: pd.DataFrame) -> pd.DataFrame:
    """Return how many addresses were left out for each reason, the most first, with an example."""
    cells = {name: column(skipped, name) for name in ("url", "reason", "links", "addresses")}
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for row, reason in enumerate(cells["reason"]):
        groups[str(reason)].append(row)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return pd.DataFrame(
        {
            "reason": [_REASONS.get(reason, reason) for reason, _ in ordered],
            "addresses": [sum(_count(cells["addresses"][row]) or 1 for row in rows) for _, rows in ordered],
            "links": [sum(_count(cells["links"][row]) for row in rows) for _, rows in ordered],
            "example": [str(cells["url"][rows[0]] or "") for _, rows in ordered],
        }
    )


def _left_out(parts: CrawlParts) -> Table:
    heads = headings("Left out", "Addresses", "Links", "For example", numbers=".nn")
    rows = [
        [Cell(say(line["reason"])), number(line["addresses"]), number(line["links"]), Cell(line["example"])]
        for line in left_out(parts.skipped).to_dict("records")
    ]
    return Table(say("Left out"), "", heads, rows)


def _count(value: Scalar) -> int:
    return int(value) if isinstance(value, (int, float)) else 0


def around(content: Content, frame: pd.DataFrame, places: Any) -> dict[str, dict[str, list[int]]]:
    """Return the neighbours of each page for the script: where those of each row begin, and what they are."""
    found: dict[str, dict[str, list[int]]] = {}
    cells = {name: column(frame, name) for name in ("url", "side", "other", "anchor", "links", "followed")}
    for side in ("in", "out"):
        own = sorted(
            (content.row_of[url], row)
            for row, (url, known) in enumerate(zip(cells["url"], cells["side"], strict=True))
            if known == side and url in content.row_of
        )
        counts, shown = Counter(page for page, _ in own), [row for _, row in own]
        starts = [0, *accumulate(counts[page] for page in range(content.size))]
        others = [content.row_of.get(cells["other"][row], -1) for row in shown]
        strangers = [
            cells["other"][row] if other < 0 else None for row, other in zip(shown, others, strict=True)
        ]
        found[side] = {
            "starts": starts,
            "page": others,
            "url": places(strangers),
            "text": places([cells["anchor"][row] for row in shown]),
            "links": [_count(cells["links"][row]) for row in shown],
            "nofollow": [int(not cells["followed"][row]) for row in shown],
        }
    return found
