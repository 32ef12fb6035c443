"""The pages around each page, for its card: who links here and where it links to, with texts of links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import pandas as pd

from webanalytics.audits.graph.links import LinkGraph
from webanalytics.core.operations.model import Dtype
from webanalytics.runs.boundary import watched
from webanalytics.runs.frames.schema import make_columns

Side: TypeAlias = Literal["in", "out"]

COLUMNS: Mapping[str, Dtype] = {
    "url": "string",
    "side": "string",
    "other": "string",
    "anchor": "string",
    "links": "integer",
    "followed": "boolean",
}
"""One row for each page and address that a link joins: ``in`` links here, ``out`` is linked from here."""

MOST = 25
MOST_ROWS = 200_000
"""Most neighbours of one side of a page, and of all pages together."""

_TEXTS = 3


class Neighbour(NamedTuple):
    """An address on the other end of links: its texts, how many links, whether search engines follow any."""

    url: str
    anchor: str
    links: int
    followed: bool


def neighbours(graph: LinkGraph, row: int, side: Side, most: int = MOST) -> list[Neighbour]:
    """Return where anchors of other pages come from, or those of this one lead to, in their order."""
    links = graph.leading_to(row) if side == "in" else graph.leaving(row)
    ends = graph.table.source if side == "in" else graph.table.target
    links = links[graph.hyperlinks[links]]
    found: dict[int, list[int]] = {}
    for place, link in zip(ends[links].tolist(), links.tolist(), strict=True):
        if place in found or len(found) < most:
            found.setdefault(place, []).append(link)
    return [_neighbour(graph, place, known) for place, known in found.items()]


def _neighbour(graph: LinkGraph, place: int, links: list[int]) -> Neighbour:
    texts = list(dict.fromkeys(text for text in map(graph.anchor, links) if text))
    shown = " | ".join(texts[:_TEXTS]) + (f" | and {len(texts) - _TEXTS} more" if texts[_TEXTS:] else "")
    count, followed = sum(map(graph.table.times.item, links)), any(map(graph.followed.item, links))
    return Neighbour(graph.table.urls[place], shown, count, followed)


def neighbours_frame(graph: LinkGraph, urls: list[Any], most_rows: int = MOST_ROWS) -> pd.DataFrame:
    """Return the neighbours of all pages, of each the first few."""
    most = max(3, min(MOST, most_rows // max(2 * len(urls), 1)))
    sides: tuple[Side, Side] = ("in", "out")
    rows = [
        (url, side, *found)
        for row, url in enumerate(watched(urls, len(urls), "links", "page"))
        if isinstance(url, str)
        for side in sides
        for found in neighbours(graph, row, side, most)
    ]
    cells = {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}
    return pd.DataFrame(make_columns(cells, COLUMNS))
