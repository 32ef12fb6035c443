"""The hreflang entries of the pages of a site, wherever they are written: head, headers or sitemap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd

from webanalytics.audits.directives.headers import Headers
from webanalytics.audits.graph.site_links import in_head, normal

PLACES: Mapping[str, str] = {
    "head": "the head of the page",
    "header": "its headers",
    "sitemap": "the sitemap",
}
"""What evidence calls the places where entries are written."""

Place = Literal["head", "header", "sitemap"]


class Alternate(NamedTuple):
    """One hreflang entry: a language as written, an address in normal form, and where it stands."""

    lang: str
    url: str
    place: Place


def alternate_entries(
    rows: Iterable[tuple[int, Any, str | None]],
    headers: Sequence[Headers | None],
    pages: Sequence[str | None],
    listed: Mapping[str, list[Mapping[str, Any]]],
) -> dict[int, list[Alternate]]:
    """Return the hreflang entries of each page that has any: of its HTML, its headers, and the sitemap."""
    found: dict[int, list[Alternate]] = {}
    for row, cell, own in rows:
        sent = headers[row]
        entries = _entries(in_head(cell or ()), "head")
        if sent is not None:
            entries += _entries(sent.alternates(own or ""), "header")
        entries += _entries(listed.get(pages[row] or "", ()), "sitemap")
        if entries:
            found[row] = entries
    return found


def _entries(cell: Iterable[Mapping[str, Any]], place: Place) -> list[Alternate]:
    return [Alternate(entry["lang"], normal(entry["url"]) or entry["url"], place) for entry in cell]


def sitemap_entries(sitemap: pd.DataFrame | None) -> dict[str, list[Mapping[str, Any]]]:
    """Return the entries of a sitemap with a column ``alternates``, by the address of the page."""
    if sitemap is None or "alternates" not in sitemap:
        return {}
    found: dict[str, list[Mapping[str, Any]]] = {}
    for url, cell in zip(sitemap["url"].tolist(), sitemap["alternates"].tolist(), strict=True):
        if (page := normal(url)) is not None and isinstance(cell, list):
            found.setdefault(page, []).extend(cell)
    return found
