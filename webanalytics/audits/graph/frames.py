"""Frames of links: what `webanalytics.Audit.links`, `broken_links` and `paths` return."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from webanalytics.audits.graph.links import LinkGraph
from webanalytics.audits.graph.metrics import by_end
from webanalytics.audits.graph.verdicts import BROKEN
from webanalytics.core.operations.model import Dtype
from webanalytics.runs.frames.link_table import KINDS, POSITIONS, RELS
from webanalytics.runs.frames.schema import frame_of, make_series

BROKEN_LINKS: Mapping[str, Dtype] = {
    "url": "string",
    "verdict": "string",
    "http_status": "integer",
    "error": "string",
    "kind": "string",
    "source": "string",
    "anchor": "string",
    "position": "string",
    "times": "integer",
}
"""Columns of the broken links of a site."""

PATHS: Mapping[str, Dtype] = {
    "path": "integer",
    "step": "integer",
    "url": "string",
    "anchor": "string",
    "kind": "string",
    "position": "string",
}
"""Columns of the ways to a page."""

_RELS = [
    " ".join(name for place, name in enumerate(RELS) if bits >> place & 1) for bits in range(1 << len(RELS))
]


class Answer(NamedTuple):
    """What is known of an address: its last status, where it ends, a verdict and the error."""

    status: int | None = None
    final: str | None = None
    verdict: str = ""
    error: str | None = None


def links_frame(graph: LinkGraph, answers: Mapping[str, Answer], fetched: Sequence[bool]) -> pd.DataFrame:
    """Return one row for each link; see `webanalytics.Audit.links`."""
    links = graph.table
    known = [answers.get(url, Answer()) for url in links.urls]
    status = pd.array([answer.status for answer in known], dtype="Int16")
    more: dict[str, int] = {}
    final = np.array([_place(graph, answer.final, more) for answer in known], np.int32)
    urls = _categories([*links.urls, *more])
    crawled = np.array([*fetched, False], bool)[graph.row]
    return pd.DataFrame(
        {
            "source": urls.column(links.source),
            "target": urls.column(links.target),
            "anchor": _categories(links.anchors).column(links.anchor),
            "rel": _categories(_RELS).column(links.rel.astype(np.int8)),
            "kind": _categories(KINDS).column(links.kind.astype(np.int8)),
            "position": _categories(POSITIONS).column(links.position.astype(np.int8)),
            "internal": graph.internal,
            "followed": graph.followed,
            "crawled": crawled[links.target],
            "target_status": status[links.target],
            "target_final_url": urls.column(final[links.target]),
            "fragment": _categories(links.fragments).column(links.fragment),
            "broken_anchor": links.missing,
            "times": links.times,
        },
        copy=False,
    )


class _Categories(NamedTuple):
    """Different texts, and where each of the given ones is among them if some became equal."""

    dtype: pd.CategoricalDtype
    places: Any = None

    def column(self, codes: Any) -> pd.Categorical:
        """Return a column from the places of its texts, -1 for none."""
        if self.places is not None:
            codes = np.where(codes < 0, -1, self.places[codes])
        return pd.Categorical.from_codes(codes, dtype=self.dtype)


def _categories(texts: Sequence[str]) -> _Categories:
    cells = make_series(list(texts), "string", pd.RangeIndex(len(texts)))  # half a character becomes "?"
    if cells.is_unique:
        return _Categories(pd.CategoricalDtype(pd.Index(cells)))
    places, different = pd.factorize(cells)
    return _Categories(pd.CategoricalDtype(pd.Index(different)), places)


def _place(graph: LinkGraph, url: str | None, more: dict[str, int]) -> int:
    if url is None:
        return -1
    place = graph.places.get(url, -1)
    if place >= 0 and graph.table.urls[place] == url:
        return place
    return more.setdefault(url, len(graph.table.urls) + len(more))


def broken_frame(graph: LinkGraph, answers: Mapping[str, Answer]) -> pd.DataFrame:
    """Return one row for each link to an address that does not answer; see `webanalytics.Audit.broken_links`.

    Addresses that no link names have one row without a source, unless links lead there over a redirect.
    """
    broken = {url: answer for url, answer in answers.items() if answer.verdict in BROKEN}
    ends = {answer.final for url, answer in broken.items() if answer.final != url}
    places = {graph.place(url): url for url in broken}
    wanted = np.zeros(len(graph.table.urls) + 1, bool)
    wanted[list(places)] = True
    found = np.flatnonzero(wanted[graph.table.target] & ~graph.of_kind("redirect"))
    by_url: dict[str, list[int]] = {url: [] for url in broken}
    for link in found.tolist():
        by_url[places[int(graph.table.target[link])]].append(link)
    order = sorted(
        (url for url in broken if by_url[url] or url not in ends),
        key=lambda url: (BROKEN.index(broken[url].verdict), -len(by_url[url])),
    )
    return frame_of(
        BROKEN_LINKS, (row for url in order for row in _rows(graph, url, broken[url], by_url[url]))
    )


def _rows(graph: LinkGraph, url: str, answer: Answer, links: list[int]) -> Iterator[dict[str, Any]]:
    row = {"url": url, "verdict": answer.verdict, "http_status": answer.status, "error": answer.error}
    if not links:
        yield row
    for link in links:
        source = graph.table.urls[graph.table.source[link]]
        yield row | _link(graph, link) | {"source": source, "times": int(graph.table.times[link])}


def _link(graph: LinkGraph, link: int) -> dict[str, Any]:
    return {
        "anchor": graph.anchor(link),
        "kind": KINDS[graph.table.kind[link]],
        "position": POSITIONS[graph.table.position[link]],
    }


def paths_frame(graph: LinkGraph, url: str, most: int) -> pd.DataFrame:
    """Return the shortest ways from a start to an address, step by step; see `webanalytics.Audit.paths`."""
    end = graph.place(url)
    rows: list[dict[str, Any]] = []
    if end >= 0 and graph.depth_of_addresses[end] >= 0:
        for number, (first, way) in enumerate(_ways(graph, end, most), 1):
            rows.append({"path": number, "step": 0, "url": graph.table.urls[first]})
            for step, link in enumerate(way, 1):
                target = graph.table.urls[graph.table.target[link]]
                rows.append({"path": number, "step": step, "url": target, **_link(graph, link)})
    return frame_of(PATHS, rows)


def _ways(graph: LinkGraph, end: int, most: int) -> Iterator[tuple[int, list[int]]]:
    """Yield the first address and the links of each shortest way, at most so many, in document order.

    Of several links between the same two addresses the first is named.
    """
    depth, links = graph.depth_of_addresses, graph.table
    free = graph.of_kind("redirect")
    cost = np.where(free, 0, 1)
    source, target = links.source, links.target
    on_way = (free | graph.clicked) & (depth[source] >= 0) & (depth[source] + cost == depth[target])
    on_way &= source != target
    into = by_end(np.where(on_way, target, -1).astype(np.int32), len(links.urls))
    starts = {graph.place(start) for start in graph.standing.starts}
    stack: list[tuple[int, list[int]]] = [(end, [])]
    found = 0
    while stack and found < most:
        place, way = stack.pop()
        if place in starts:
            found += 1
            yield place, way[::-1]
            continue
        passed = {int(target[link]) for link in way}
        before: dict[int, int] = {}
        for link in into.of(place).tolist():
            before.setdefault(int(source[link]), link)
        stack += [(near, [*way, link]) for near, link in reversed(before.items()) if near not in passed]
