"""What changed in the links of a site from one crawl to another: links, depth, orphans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.audits.graph.frames import Answer
from webanalytics.audits.graph.methods import answers
from webanalytics.audits.graph.verdicts import BROKEN
from webanalytics.audits.origin import Audited
from webanalytics.core.operations.model import Dtype
from webanalytics.runs.frames.schema import frame_of

Pairs: TypeAlias = npt.NDArray[np.int64]

_NAMES = ("change", "source", "target", "anchor", "before", "after")
LINKS: Mapping[str, Dtype] = dict.fromkeys(_NAMES, "string")
DEPTHS: Mapping[str, Dtype] = {"url": "string", "before": "integer", "after": "integer", "change": "integer"}
ORPHANS: Mapping[str, Dtype] = {"change": "string", "url": "string", "found_on": "string"}

_SURE = frozenset(BROKEN) - {"blocked"}
_ORDER = ("broken", "mended", "removed", "added")


def are_crawls(before: Audited, after: Audited) -> bool:
    """Return whether both audits know their links."""
    return before.origin.crawl is not None and after.origin.crawl is not None


def changed_links(
    before: Audited, after: Audited, again: Audited | None = None, looked: Callable[[str], bool] = bool
) -> pd.DataFrame:
    """Return the links that came and went, and those in both whose target broke or answers again.

    Several links from one page to one address are one; its text is that of the first. Links come and go on
    pages that both crawls ``looked`` at. Of a page that was read ``again`` with other links, as many may.
    """
    if not are_crawls(before, after):
        return frame_of(LINKS)
    known: dict[str, int] = {}
    audits = [before, after] if again is None else [before, after, again]
    found = [_pairs(audit, known) for audit in audits]
    told = [answers(audit.site, audit.origin.checked) for audit in (before, after)]
    urls, size = list(known), max(len(known), 1)
    old, new, *third = (ends[:, 0] * size + ends[:, 1] for ends, _ in found)
    both = np.intersect1d(old, new)
    named = ((old, found[0][1]), (new, found[1][1]))
    anchors = [dict(zip(pairs.tolist(), texts, strict=True)) for pairs, texts in named]
    rows: dict[str, list[dict[str, Any]]] = {change: [] for change in _ORDER}

    def row(change: str, pair: int, anchors: Mapping[int, str]) -> dict[str, Any]:
        source, target = urls[pair // size], urls[pair % size]
        said = (_verdict(known, target) for known in told)
        return {"change": change, "source": source, "target": target, "anchor": anchors[pair]} | dict(
            zip(("before", "after"), said, strict=True)
        )

    rotating = _rotating(new, third[0], size) if third else new[:0]
    places = Counter((rotating // size).tolist())
    gone = np.setdiff1d(old, both)
    counts = Counter((gone // size).tolist())
    gone = gone[[counts[page] > places[page] for page in (gone // size).tolist()]]
    come = np.setdiff1d(np.setdiff1d(new, both), rotating)
    for change, pairs, texts in (("removed", gone, anchors[0]), ("added", come, anchors[1])):
        rows[change] = [row(change, pair, texts) for pair in pairs.tolist() if looked(urls[pair // size])]
    for pair in both[np.isin(both % size, _moved(urls, told))].tolist():
        change = "broken" if _verdict(told[1], urls[pair % size]) in _SURE else "mended"
        rows[change].append(row(change, pair, anchors[1]))
    return frame_of(LINKS, (made for change in _ORDER for made in rows[change]))


def _rotating(links: Pairs, again: Pairs, size: int) -> Pairs:
    """Return the links that their page, read once more, did not have."""
    return links[np.isin(links // size, again // size) & ~np.isin(links, again)]


def _pairs(audit: Audited, known: dict[str, int]) -> tuple[Any, list[str]]:
    """Return the different links of an audit as pairs of places, with the text of the first of each."""
    graph = audit.site.graph
    links = np.flatnonzero(graph.hyperlinks)
    places = np.array([known.setdefault(url, len(known)) for url in graph.table.urls], np.int64)
    source, target = places[graph.table.source[links]], places[graph.table.target[links]]
    ends, first = np.unique(np.stack((source, target), axis=1), axis=0, return_index=True)
    return ends, [graph.anchor(int(links[place])) for place in first.tolist()]


def _verdict(found: Mapping[str, Answer], url: str) -> str | None:
    answer = found.get(url)
    return None if answer is None else answer.verdict or None


def _moved(urls: list[str], told: list[dict[str, Answer]]) -> list[int]:
    """Return the places of addresses that broke, or answer again."""
    pairs = [[_verdict(answers, url) for answers in told] for url in urls]
    known = [place for place, pair in enumerate(pairs) if None not in pair and "refused" not in pair]
    return [place for place in known if (pairs[place][0] in _SURE) != (pairs[place][1] in _SURE)]


def changed_depths(before: Audited, after: Audited) -> pd.DataFrame:
    """Return the pages of both crawls whose clicks from the start changed, the largest change first.

    A missing depth is that of a page to which no way leads; its change is missing, too, and it comes first.
    """
    if not are_crawls(before, after):
        return frame_of(DEPTHS)
    old, new = (_column(audit, "crawl_depth") for audit in (before, after))
    unsure = bool(before.site.stopped or after.site.stopped)  # the way may lead over pages that were not read
    rows = [
        {
            "url": url,
            "before": old[url],
            "after": depth,
            "change": None if depth is None or old[url] is None else depth - old[url],
        }
        for url, depth in new.items()
        if url in old and depth != old[url] and not (unsure and None in (depth, old[url]))
    ]
    rows.sort(key=lambda row: -abs(row["change"]) if row["change"] is not None else -float("inf"))
    return frame_of(DEPTHS, rows)


def changed_orphans(before: Audited, after: Audited) -> pd.DataFrame:
    """Return the pages that are orphans in one of two crawls alone, new or fixed; none of parts of a site."""
    if not are_crawls(before, after) or before.site.stopped or after.site.stopped:
        return frame_of(ORPHANS)
    old, new = (_column(audit, "orphan") for audit in (before, after))
    source = _column(after, "found_on")
    come = [url for url, orphan in new.items() if orphan and not old.get(url, False)]
    gone = [url for url, orphan in new.items() if orphan is False and old.get(url, False)]
    rows = [{"change": "new", "url": url, "found_on": source[url]} for url in come]
    return frame_of(ORPHANS, [*rows, *({"change": "fixed", "url": url} for url in gone)])


def _column(audit: Audited, name: str) -> dict[str, Any]:
    """Return a column of the pages by their addresses, None for missing values."""
    cells = audit.pages[name].astype(object)
    values = cells.where(cells.notna(), None).tolist()
    pairs = zip(audit.pages["url"].tolist(), values, strict=True)
    return {url: value for url, value in reversed(list(pairs)) if isinstance(url, str)}
