"""From the columns of pages to a link table, and from the link graph to columns of pages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

from webanalytics.audits.graph.links import LinkGraph
from webanalytics.audits.graph.site_links import Addresses, in_head, normal
from webanalytics.runs.frames.link_table import KINDS, CrawlFacts, Kind, Link, LinkTable, LinkTableBuilder


def table_of_pages(
    known: Addresses,
    links: Sequence[Any],
    canonicals: Sequence[Any],
    hreflangs: Sequence[Any],
    redirects: Sequence[Any],
    resources: Sequence[Any],
    nofollow: Sequence[Any],
) -> LinkTable:
    """Return the links of pages whose columns alone are known: without anchors, positions and other sites."""
    made = LinkTableBuilder()
    columns = zip(known.final, links, canonicals, hreflangs, redirects, resources, nofollow, strict=True)
    for row, (url, linked, canonical, others, hops, loaded, unfollowed) in enumerate(columns):
        if url is None:
            continue
        _add_redirects(made, hops, url)
        if known.first(row):
            closed, targets = set(_web(unfollowed)), _web(linked)
            made.add(url, chain(_named(canonical, "canonical"), _named(others, "hreflang")))
            made.add_plain(url, targets, [target in closed for target in targets])
            made.add(url, _loaded(loaded))
    return made.table()


def _add_redirects(made: LinkTableBuilder, hops: object, final: str) -> None:
    if isinstance(hops, (list, tuple)):
        for source, target in pairwise([*_web(hops), final]):
            made.add(source, [Link(target, kind="redirect", position="http")])


def _named(entries: object, kind: Kind) -> Iterator[Link]:
    if isinstance(entries, list):
        for url in _web(entry.get("url") for entry in in_head(entries)):
            yield Link(url, kind=kind, position="head")


def _loaded(entries: object) -> Iterator[Link]:
    """Yield what a page loads and does not get."""
    for entry in entries if isinstance(entries, list) else ():
        url, kind = normal(entry.get("url")), entry.get("kind")
        if url is not None and kind in KINDS:
            yield Link(url, kind=kind)


def _web(urls: object) -> list[str]:
    found = map(normal, urls) if isinstance(urls, Iterable) else ()
    return [url for url in found if url is not None]


def crawl_columns(graph: LinkGraph, good: Sequence[bool], crawl: CrawlFacts) -> Mapping[str, list[Any]]:
    """Return what a crawl knows of each row: the columns of `webanalytics.audits.pages.CRAWLED`, and inlinks.

    Of a crawl that stopped early nobody knows which pages are orphans, as pages may be missing that link to
    them, and of a page whose links are not all kept not to how many it links.
    """
    left = [crawl.left_out.get(url or "", 0) for url in graph.known.final]
    full = [read and not count for read, count in zip(good, left, strict=True)]
    links, internal = graph.hyperlinks, graph.internal
    found = graph.found_on.tolist()
    urls, sources = graph.table.urls, graph.table.source
    return {
        "inlinks": graph.linking_pages(links),
        "crawl_depth": [None if depth < 0 else depth for depth in graph.depth.tolist()],
        "found_on": [None if link < 0 else urls[sources[link]] for link in found],
        "inlinks_all": graph.links_to(links),
        "inlinks_followed": graph.linking_pages(links & graph.followed),
        "outlinks": _of(full, graph.linked_addresses(links & internal)),
        "outlinks_external": _of(full, graph.linked_addresses(links & ~internal)),
        "links_left_out": _of(good, left),
        "link_score": _filled(graph.scores.tolist()),
        "pagerank": _filled(graph.pageranks.tolist()),
        "orphan": _of(good, graph.orphans) if crawl.whole else [None] * graph.rows,
    }


def _of(good: Sequence[bool], values: Iterable[Any]) -> list[Any]:
    return [value if read else None for read, value in zip(good, values, strict=True)]


def _filled(values: Iterable[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]
