"""What to fix first: the issues of an audit by their causes, such as one link that stands on many pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.audits.rules import RULES
from webanalytics.audits.rules.content import ALIKE
from webanalytics.audits.rules.leads import Leads
from webanalytics.audits.score import HIDING, Health
from webanalytics.audits.site import Site
from webanalytics.core.operations.model import Dtype
from webanalytics.core.strings import one_line, shortened
from webanalytics.errors import ParameterError
from webanalytics.runs.frames.link_table import POSITIONS
from webanalytics.runs.frames.schema import as_frame, make_series
from webanalytics.thresholds import PRIORITIES
from webanalytics.urls import common_section

COLUMNS: Mapping[str, Dtype] = {
    "cause": "string",
    "rule": "string",
    "priority": "string",
    "type": "string",
    "pages": "integer",
    "links": "integer",
    "points": "float",
    "examples": "string",
}
"""Columns of a frame of causes."""

SHARED = 3
"""From so many pages, or addresses, a link or a page is a cause of its own."""

LEAST_OF_A_FOLDER = 10
"""From so many addresses in a folder without pages, the folder is a cause of its own."""

MOST_REASONS = 20
"""Most different lines by which pages are hidden that are told one by one."""

HIDING_BY_A_LINE = HIDING.keys() - {"canonicalised"}
EXAMPLES = 3
MOST_OF_A_PLACE = 0.9
"""Share of links from which their place on the page is named."""

LONGEST = 200

TOLD: Mapping[str, Sequence[str]] = {
    "links_to_failing_pages": (
        "server_error",
        "no_response",
        "timeout",
        "redirect_to_error",
        "redirect_loop",
    ),
    "links_to_redirects": ("redirect", "redirect_temporary"),
}
"""Rules on addresses that say of them what the links to them say already."""

FOLLOWING: Mapping[str, Sequence[str]] = {
    "links_to_noindex": ("noindex", "noindex_header"),
    "links_to_canonicalised": ("canonicalised",),
    "links_to_blocked": ("blocked_by_robots",),
}
"""Rules on links that follow from what was found on the pages that they lead to."""

_ENDS: Mapping[str, str] = {
    "links_to_noindex": "asks not to be indexed",
    "links_to_canonicalised": "names another address as canonical",
    "links_to_blocked": "robots.txt closes",
}


@dataclass
class _Cause:
    sentence: str
    pages: Sequence[str]
    points: float
    links: int | None = None
    count: int = 0


def causes(site: Site, issues: pd.DataFrame, health: Health) -> pd.DataFrame:
    """Return what to fix first, the most points first; see `Audit.causes`."""
    gained, issues = pd.Series(health.points, index=issues.index), issues[~health.told_again]
    groups = {str(name): rows for name, rows in issues.groupby("rule", observed=True, sort=False)}
    rows: list[tuple[Any, ...]] = []
    told: dict[str, float] = {}
    for rule in sorted(groups, key=lambda name: name not in TOLD):
        found, points = groups[rule], gained[groups[rule].index]
        if any(name in groups for name in FOLLOWING.get(rule, ())):
            continue
        head = (rule, str(found["priority"].iloc[0]), str(found["type"].iloc[0]))
        search = getattr(RULES.get(rule), "find", None)
        if isinstance(search, Leads):
            others = issues.loc[issues["rule"].isin(TOLD.get(rule, ())), ["url"]].astype(object)
            others["points"] = gained.reindex(others.index)
            others = others[np.array([site.is_linked(url) for url in others["url"]], bool)]
            sums = others.groupby("url")["points"].sum()
            own = dict(zip(sums.index.astype(str), sums.tolist(), strict=True))
            told |= own
            made = _of_links(site, rule, search, dict(zip(found["url"], points, strict=True)), own)
        else:
            known = any(rule in rules for rules in TOLD.values())
            left = ~found["url"].isin(told if known else ())
            made = _of_pages(site, found[left], points[left])
        for cause in made:
            count = cause.count or len(cause.pages)
            shown = " ".join(cause.pages[:EXAMPLES])
            rows.append(
                (cause.sentence, *head, count, cause.links, round(cause.points, 2), shown, cause.pages)
            )
    rows.sort(key=lambda row: (-row[6], PRIORITIES.index(row[2]), row[3] == "warning", -row[4]))
    index = pd.RangeIndex(len(rows))
    cells = {
        name: make_series([row[place] for row in rows], dtype, index)
        for place, (name, dtype) in enumerate(COLUMNS.items())
    }
    if "clicks" in site.pages:
        cells["clicks"] = make_series([clicks_of(site, row[-1]) for row in rows], "integer", index)
    return as_frame(cells, index, "causes")


def ordered(found: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return causes by their points, as they are, or by their clicks."""
    if by == "points":
        return found
    if by != "clicks" or by not in found:
        raise ParameterError.must_be("by", '"points", or "clicks" for an audit with search data')
    return found.sort_values(by, ascending=False, kind="stable", ignore_index=True)


def clicks_of(site: Site, urls: Sequence[str]) -> int:
    """Return how many clicks pages have, which a host may stand for."""
    known, hosts = site.row_of, site.rows_of_hosts
    own = ((known[url],) if url in known else hosts.get(url.partition("://")[2], ()) for url in urls)
    cells = (site.values("clicks")[row] for row in {row for rows in own for row in rows})
    return round(sum(cell for cell in cells if isinstance(cell, (int, float))))


def _most_common(texts: Sequence[Any], rows: Sequence[int]) -> str:
    text, times = Counter(one_line(str(texts[row])) for row in rows).most_common(1)[0]
    return f': "{shortened(text, LONGEST)}"{f" on {times:,} of them" * (times < len(rows))}'


def _of_pages(site: Site, found: pd.DataFrame, points: pd.Series[Any]) -> Iterator[_Cause]:
    """Yield the causes of issues of one rule that is no matter of links."""
    if not len(found):
        return
    title = str(found["rule_title"].iloc[0])
    if (found["scope"] == "host").all():
        for url, count, said, gain in zip(
            found["url"], found["pages"], found["evidence"], points, strict=True
        ):
            host, told = url.partition("://")[2] or url, said[:1].lower() + said[1:]
            yield _Cause(_ended(f"{title} on {host}{': ' * bool(told)}{told}"), [url], gain, count=int(count))
        return
    by_evidence = found["rule"].iloc[0] in HIDING_BY_A_LINE and found["evidence"].nunique() <= MOST_REASONS
    groups = [part for _, part in found.groupby("evidence", sort=False)] if by_evidence else [found]
    for part in groups:
        urls, said = part["url"].tolist(), part["evidence"].iloc[0]
        same = part["evidence"].nunique() == 1
        is_told = said and ((same and len(urls) >= SHARED) or by_evidence)
        told = f": {shortened(said, LONGEST)}" if is_told else ""
        if texts_of := ALIKE.get(found["rule"].iloc[0]):
            told = _most_common(texts_of(site), [site.row_of[url] for url in urls])
        where = f"{title} on {_where(site, urls, same)}{told}"
        yield _Cause(_ended(where), urls, float(points[part.index].sum()))


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "…")) else f"{sentence}."


def _where(site: Site, urls: Sequence[str], same: bool) -> str:
    """Return on which pages something is; where it is the same on all of a section, that is a template."""
    if len(urls) == 1:
        return shortened(urls[0], LONGEST)
    section = common_section(urls) if len(urls) >= SHARED else ""
    read = site.distinct_read
    below = sum(site.name(row).startswith(section) for row in read) if section else len(read)
    whole = below >= len(urls) >= max(SHARED, MOST_OF_A_PLACE * below)
    lead = f"{len(urls):,} of " if whole and len(urls) < below else "all " if whole else ""
    of, template = f" below {section}" if section else "", ", which share a template" * (whole and same)
    return f"{lead}{below if whole else len(urls):,} pages{of}{template}"


def _of_links(
    site: Site, rule: str, search: Leads, points: Mapping[str, float], own: Mapping[str, float]
) -> Iterator[_Cause]:
    """Yield the causes of issues of a rule on links: shared links, pages with many, and all others.

    ``own`` has the points of what was found on the addresses themselves.
    """
    bad, _ = search.find(site)
    more = {site.graph.place(url): gain for url, gain in own.items()}
    urls = site.values("url")
    edges: dict[int, dict[int, list[int]]] = {}
    gain: dict[int, float] = {}
    for row, targets in search.pages(site):
        if urls[row] in points:
            gain[row] = points[urls[row]] / len(targets)
            for place, links in targets:
                edges.setdefault(place, {})[row] = links
    folders = _without_pages(site, edges)
    sizes = Counter(folders.values())
    groups: dict[Any, list[tuple[int, int]]] = {}
    alone: list[int] = []
    for place, sources in edges.items():
        folder = folders[place]
        if sizes[folder] >= LEAST_OF_A_FOLDER and folder:
            groups.setdefault(folder, []).extend((place, row) for row in sources)
        elif len(sources) >= SHARED:
            groups.setdefault(frozenset(sources), []).extend((place, row) for row in sources)
        else:
            alone.append(place)
    counts = Counter(row for place in alone for row in edges[place])
    for place in alone:
        for row in edges[place]:
            groups.setdefault(row if counts[row] >= SHARED else None, []).append((place, row))
    for key, pairs in groups.items():
        made = _cause(site, rule, bad, pairs, edges, gain, key if isinstance(key, str) else "")
        made.points += sum(more.pop(place, 0.0) for place, _ in pairs)
        yield made


def _without_pages(site: Site, places: Iterable[int]) -> dict[int, str]:
    """Return for each address the first folder on its path below which no page was read, '' without one."""
    urls = site.graph.table.urls
    living = {folder for row in site.distinct_read for folder in _folders(site.name(row))}
    return {
        place: next((folder for folder in _folders(urls[place]) if folder not in living), "")
        for place in places
    }


def _folders(url: str) -> list[str]:
    """Return the folders of an address, the outermost first.

    >>> _folders("https://a.example/x/y/z")
    ['https://a.example/x/', 'https://a.example/x/y/']
    """
    parts = url.partition("?")[0].split("/")
    return ["/".join(parts[:count]) + "/" for count in range(4, len(parts))]


def _cause(
    site: Site,
    rule: str,
    bad: Mapping[int, str],
    pairs: Sequence[tuple[int, int]],
    edges: Mapping[int, Mapping[int, Sequence[int]]],
    gain: Mapping[int, float],
    folder: str = "",
) -> _Cause:
    """Return what some links have in common, given by places of targets and rows of pages."""
    graph = site.graph
    places = list(dict.fromkeys(place for place, _ in pairs))
    rows = sorted({row for _, row in pairs})
    links = [link for place, row in pairs for link in edges[place][row]]
    stands = Counter(POSITIONS[graph.table.position[link]] for link in links).most_common(1)[0]
    spot = f"in the {stands[0]} of" if stands[0] in ("header", "nav", "aside", "footer") else "on"
    spot = spot if stands[1] >= MOST_OF_A_PLACE * len(links) else "on"
    where = shortened(site.name(rows[0]), LONGEST) if len(rows) == 1 else f"{len(rows):,} pages"
    each = len(places) * len(rows) == len(pairs)
    lead = f"{len(places):,} links" if each and len(places) > 1 else "A link" if each else "Links"
    verb = "leads to" if lead == "A link" else "lead to"
    below = f" below {shortened(folder, LONGEST)}, where no page is," if folder else ""
    such = "" if len(places) == 1 else f"{len(places):,} addresses{below} such as "
    end = bad[places[0]] or _ENDS.get(rule, "fails")
    target = shortened(graph.table.urls[places[0]], LONGEST)
    count = int(graph.table.times[links].sum())
    said = f"{lead} {spot} {where} {verb} {such}{target}, which {shortened(end, LONGEST)}."
    return _Cause(said, [site.name(row) for row in rows], sum(gain[row] for _, row in pairs), count)
