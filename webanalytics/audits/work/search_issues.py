"""What only an audit and search data together know: pages that are seen and should not be, or the reverse."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from webanalytics.audits.graph.site_links import listed, normal
from webanalytics.audits.profiles import Profile
from webanalytics.audits.rules import RULES
from webanalytics.audits.selection import check_clicks
from webanalytics.audits.site import Site
from webanalytics.audits.work.search_data import PAGE_VIEW
from webanalytics.core.operations.model import Dtype
from webanalytics.core.strings import one_line, shortened
from webanalytics.runs.frames.schema import frame_of

COLUMNS: Mapping[str, Dtype] = {
    **{"url": "string", "fact": "string", "clicks": "integer", "impressions": "integer", "position": "float"},
    **{"evidence": "string", "fix": "string"},
}
DEEP = 4
"""Clicks from the start over which a page is deep."""
TOP = 0.25
"""Share of the pages with impressions, the most first, of which cut titles are told."""
FEWEST, LEAST = 10, 0.2
"""Impressions of a page for a query, and its share of them, from which on it competes."""

FIXES: Mapping[str, str] = {
    "noindex": "Let search engines index the page, or lead its visitors to one that they may index.",
    "redirects": "Link to the new address and list it in the sitemap, so that it takes over.",
    "fails": "Bring the page back, or redirect it to the one that answers what people look for.",
    "blocked by robots.txt": "Open the page in robots.txt, so that search engines read what they show.",
    "canonicalised": "Name the page itself as canonical, or merge it into the one that it names.",
    "orphan": "Link to the page from others on its subject.",
    "deep": "Link to the page from one nearer to the start.",
    "slow": "Make the page answer sooner: caching, database queries, distance to visitors.",
    "no impressions": "Improve the page, merge it into another one, or drop it.",
    "title cut": "Shorten the title, or put what matters first.",
    "not in the audit": "Link to the page if it is still there, else redirect its address to one that is.",
    "query on several pages": "Let one page answer the query: merge them, or tell them apart.",
}
STATES: Mapping[str, str] = {
    **{name: name for name in ("noindex", "canonicalised", "blocked by robots.txt")},
    "redirected": "redirects",
    **dict.fromkeys(("client error", "server error", "redirect loop", "no response"), "fails"),
}


_Told: TypeAlias = tuple[int, str, str]
"""The row of a page, the fact, and its evidence."""


def search_issues(
    site: Site, searched: tuple[pd.DataFrame, pd.DataFrame], profile: Profile, selected: Sequence[int] | None
) -> pd.DataFrame:
    """Return the frame of `Audit.search_issues`, by queries and rows of no page."""
    check_clicks(site)
    numbers = {
        name: [_number(cell) for cell in site.values(name)] for name in ("clicks", "impressions", "position")
    }
    chosen = dict.fromkeys(range(len(site.good)) if selected is None else selected)
    told = [
        *(one for row in chosen if numbers["clicks"][row] for one in _of_clicks(site, row, profile)),
        *_of_impressions(site, numbers["impressions"], profile),
        *_of_queries(site, searched[0]),
    ]
    rows = [
        {"url": site.values("url")[row], "fact": fact, "evidence": evidence, "fix": FIXES[fact]}
        | {name: values[row] for name, values in numbers.items()}
        for row, fact, evidence in told
        if row in chosen
    ]
    rows += _of_no_page(site, searched[1]) if selected is None else ()
    rows.sort(key=lambda row: (-(row["clicks"] or 0), -(row["impressions"] or 0)))
    for row in rows:
        row |= {name: None if row[name] is None else round(row[name]) for name in ("clicks", "impressions")}
    return frame_of(COLUMNS, rows)


def _of_no_page(site: Site, left: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield what search results show and the audit does not have."""
    skipped = pd.DataFrame(columns=["url", "reason"]) if site.crawl is None else site.crawl.skipped
    closed = set(skipped["url"][skipped["reason"].eq("robots").to_numpy(bool)])
    for row in left.to_dict("records") if "clicks" in left and "url" in left else ():
        numbers = {name: _number(row.get(name)) for name in ("clicks", "impressions", "position")}
        if "/" in str(row["url"]) and (numbers["clicks"] or numbers["impressions"]):  # else a row of totals
            fact, said = "not in the audit", "Search results show it, and the audit has no such page."
            if normal(row["url"]) in closed:
                fact, said = "blocked by robots.txt", "robots.txt closes it."
            yield {"url": row["url"], "fact": fact, "evidence": said, "fix": FIXES[fact], **numbers}


def _number(cell: Any) -> float | None:
    """Return a number, None for anything else: the columns may be of the user."""
    known = isinstance(cell, (int, float, np.number)) and math.isfinite(cell)
    return float(cell) if known else None


def _limit(profile: Profile, rule: str) -> float:
    limit = profile.thresholds.get(rule, RULES[rule].threshold)
    return math.inf if limit is None else limit


def _of_clicks(site: Site, row: int, profile: Profile) -> Iterator[_Told]:
    """Yield what is wrong with a page that has clicks."""
    state = str(site.values("indexability")[row])
    fact = STATES.get(state, "")
    if fact == "redirects":
        # a row that stands for the page where it ends has the clicks of that page too
        if not site.addresses.first(row):
            yield row, fact, f"Redirects to {site.name(row)}."
    elif fact == "fails":
        status = site.fetches[row].status
        yield row, fact, f"Answers HTTP {status}." if status and status >= 400 else f"{state}.".capitalize()
    elif fact == "canonicalised":
        yield row, fact, f"Names {site.values('canonical_url')[row]} as canonical."
    elif fact:
        yield row, fact, "Asks not to be indexed." if fact == "noindex" else "robots.txt closes it."
    depth, elapsed = site.values("crawl_depth")[row], site.values("elapsed")[row]
    if site.values("orphan")[row] and site.good[row]:
        yield row, "orphan", "No other page of the crawl links here."
    elif depth is not None and depth > DEEP:
        yield row, "deep", f"{depth:,} clicks from the start."
    if site.good[row] and elapsed is not None and elapsed > _limit(profile, "slow_response"):
        yield row, "slow", f"Read in {elapsed:.1f} seconds."


def _of_impressions(site: Site, impressions: Sequence[float | None], profile: Profile) -> Iterator[_Told]:
    """Yield pages that nobody sees, where that is known, and titles that many see cut."""
    seen = [count for count in impressions if count]
    much = float(np.quantile(seen, 1 - TOP)) if seen else math.inf
    limit, known = _limit(profile, "title_too_long"), "impressions" in site.pages
    whole = [known and where == PAGE_VIEW for where in site.values("clicks_from")]
    for row in site.distinct:
        width = site.values("title_pixels")[row]
        if not impressions[row] and whole[row]:
            yield row, "no impressions", "May be indexed, and search results did not show it."
        elif (impressions[row] or 0) >= much and width is not None and width > limit:
            title = shortened(one_line(str(site.values("title")[row])), 100)
            yield row, "title cut", f"{width:,} pixels, over {limit:,.0f}: {title}"


def _of_queries(site: Site, queries: pd.DataFrame) -> Iterator[_Told]:
    """Yield pages that are shown for a query for which others are shown too, each with its best query."""
    if not {"query", "impressions"} <= set(queries.columns):
        return
    counts = [name for name in ("clicks", "impressions") if name in queries]
    sums = queries.groupby(["query", "url"], sort=False)[counts].sum().reset_index()
    whole = sums.groupby("query")["impressions"].transform("sum")
    strong = sums[(sums["impressions"] >= FEWEST) & (sums["impressions"] >= LEAST * whole)]
    strong = strong[strong.groupby("query")["url"].transform("size") > 1]
    best = strong.sort_values(counts, ascending=False, kind="stable")
    others = {query: part["url"].tolist() for query, part in best.groupby("query", sort=False)}
    many = best["url"].value_counts()
    first = best.drop_duplicates("url")
    for url, query, count in zip(first["url"], first["query"], first["impressions"], strict=True):
        if (row := site.row_of.get(url)) is not None:
            named = listed([other for other in others[query] if other != url])
            more = f" One of {many[url]:,} such queries." if many[url] > 1 else ""
            shown = shortened(one_line(str(query)), 100)
            told = f'"{shown}" ({count:,} impressions) shows {named} too.{more}'
            yield row, "query on several pages", told
