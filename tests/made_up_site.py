"""What a crawl of the made-up site should find, from the tables that its pages are written from."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tests.crawl_site_pages import Places, links_of_pages, table
from webanalytics.fetching.testing import CrawlSite


class Expected(NamedTuple):
    """What a crawl of the site should find: the rows of its tables, with addresses in full.

    Attributes
    ----------
    pages : list of dict
        Each address that answers: ``url``, ``status``, ``depth`` (clicks from the home page; None for a
        page that no page leads to), ``via`` (the kind of link that leads there last: "link", "redirect",
        "refresh", "frame", "canonical", "hreflang", "next", "form", "sitemap"), ``title``, ``how`` ("soft"
        for a soft 404, "pdf").
    links : list of dict
        Each link of each page: ``source``, ``target``, ``anchor``, ``kind``, ``position``, ``rel``.
    skipped : list of dict
        Addresses that are not to be fetched, with ``reason``, ``detail`` and ``found_on``.
    traps : list of dict
        Endless families of addresses: ``kind``, ``begins_with``, the ``first`` address, where it was
        ``found_on``, and which of the family are ``real`` pages.
    checked : list of dict
        Targets that are asked for their status alone: ``url``, ``kind``, ``verdict``, ``http_status``,
        ``method``.
    """

    pages: list[dict[str, Any]]
    links: list[dict[str, Any]]
    skipped: list[dict[str, Any]]
    traps: list[dict[str, Any]]
    checked: list[dict[str, Any]]


def tables_of(site: CrawlSite) -> Expected:
    """Return what a crawl of the site, while it is served, should find."""
    places = Places(site.url, site.elsewhere, site.closed)
    pages: list[dict[str, Any]] = [
        {
            "url": places.url(row["path"]),
            "status": int(row["status"]),
            "depth": int(row["depth"]) if row["depth"] else None,
            **{name: row[name] for name in ("via", "title", "how")},
        }
        for row in table("pages")
    ]
    links: list[dict[str, Any]] = [
        {
            "source": places.url(row["source"]),
            "target": places.url(row["target"]),
            "anchor": re.sub("#.*", "", row["anchor"]),
            **{name: row[name] for name in ("kind", "position", "rel")},
        }
        for page in table("pages")
        for row in links_of_pages().get(page["path"], ())
    ]
    skipped: list[dict[str, Any]] = [
        {**row, "url": places.url(row["url"]), "found_on": places.url(row["found_on"])}
        for row in table("skipped")
    ]
    traps: list[dict[str, Any]] = [
        {
            "kind": row["kind"],
            **{name: places.url(row[name]) for name in ("begins_with", "first", "found_on")},
            "real": [places.url(path) for path in row["real"].split()],
        }
        for row in table("traps")
    ]
    checked: list[dict[str, Any]] = [
        {
            **row,
            "url": places.url(row["url"]),
            "http_status": int(row["http_status"]) if row["http_status"] else None,
        }
        for row in table("checked")
    ]
    return Expected(pages, links, skipped, traps, checked)
