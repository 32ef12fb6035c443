"""The hreflang entries of the pages of a site, wherever they are written: head, headers or sitemap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from webanalytics.audits.link_graph import in_head, normal

if TYPE_CHECKING:
    from webanalytics.audits.site import Site

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


def alternate_entries(site: Site) -> dict[int, list[Alternate]]:
    """Return the hreflang entries of each page that was read and has any."""
    listed = sitemap_entries(site)
    found: dict[int, list[Alternate]] = {}
    for row, cell, own in site.read("hreflangs", "final_url"):
        headers = site.headers[row]
        entries = _entries(in_head(cell or ()), "head")
        if headers is not None and "link" in headers:
            entries += _entries(headers.alternates(own or ""), "header")
        if listed:
            entries += _entries(listed.get(site.addresses.final[row] or "", ()), "sitemap")
        if entries:
            found[row] = entries
    return found


def _entries(cell: Iterable[Mapping[str, Any]], place: Place) -> list[Alternate]:
    return [Alternate(entry["lang"], normal(entry["url"]) or entry["url"], place) for entry in cell]


def sitemap_entries(site: Site) -> dict[str, list[Mapping[str, Any]]]:
    """Return the entries of a sitemap with a column ``alternates``, by the address of the page."""
    if site.sitemap is None or "alternates" not in site.sitemap:
        return {}
    found: dict[str, list[Mapping[str, Any]]] = {}
    for url, cell in zip(site.sitemap["url"].tolist(), site.sitemap["alternates"].tolist(), strict=True):
        if (page := normal(url)) is not None and isinstance(cell, list) and cell:
            found.setdefault(page, []).extend(cell)
    return found
