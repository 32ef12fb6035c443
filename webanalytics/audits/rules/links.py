"""Rules about links: those of a page, what a crawl knows of them, and the elements that hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from webanalytics.audits.graph.links import LinkGraph
from webanalytics.audits.graph.metrics import by_end
from webanalytics.audits.graph.site_links import LONGEST, Target, listed
from webanalytics.audits.rules import searches
from webanalytics.audits.rules.base import Find, Finding, PageByPage
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.rules.leads import Bad, Leads, faults, how
from webanalytics.audits.site import Site
from webanalytics.runs.frames.link_table import KINDS


def _no_internal(site: Site, _: Any) -> Iterator[Finding]:
    columns = ("internal_links", "external_links", "subdomain_links", "visible_text")
    for row, count, external, own, visible in site.read(*columns):
        is_known = site.addresses.final[row] is not None  # of a saved file no host is
        if count == 0 and not own and is_known:
            none = "no links" if visible else "no links before scripts run"
            many = f"{external or 0:,} links, all to other sites"
            yield Finding(row, 0, (none, "1 link, to another site", many)[min(external or 0, 2)])


@PageByPage
def _many_external(site: Site, threshold: Any) -> Iterator[Finding]:
    for row, external, own in site.read("external_links", "subdomain_links"):
        count = (external or 0) - (own or 0)
        if count > threshold:
            more = f", {own:,} more to other hosts of its domain" if own else ""
            yield Finding(row, count, f"{count:,} links{more}")


def _no_inlinks(site: Site, _: Any) -> Iterator[Finding]:
    listing, urls, in_part = site.values("in_sitemap"), site.addresses.final, hosts_in_part(site)
    for finding in unlinked(site):
        # Pages in a sitemap are the orphans of another rule.
        if not listing[finding.row] and (urls[finding.row] or "///").split("/", 3)[2] not in in_part:
            yield finding


def hosts_in_part(site: Site) -> set[str]:
    """Return the hosts of which a list has a part: most that their pages link to is not in it, or nothing."""
    hosts: set[str] = site.once("hosts in part", lambda: _hosts_in_part(site))
    return hosts


def _hosts_in_part(site: Site) -> set[str]:
    if site.crawl is not None:
        return set()
    graph = site.graph
    links = graph.hyperlinks & graph.internal & (graph.source_row >= 0)
    named, seen = Counter[str](), Counter[str]()
    for place in np.unique(graph.table.target[links]).tolist():
        named[graph.hosts[place]] += 1
        seen[graph.hosts[place]] += int(graph.page[place]) >= 0
    return {host for host in site.hosts if 2 * seen[host] < max(named[host], 1)}


def unlinked(site: Site) -> Iterator[Finding]:
    """Yield the indexable pages that no other page of the audit links to; visitors start at home pages."""
    counts, orphan = site.values("inlinks"), site.values("orphan")
    away = Counter((site.addresses.final[row] or "///").split("/", 3)[2] for row in site.refused)
    for row in site.distinct:
        if site.crawl is not None and not orphan[row]:
            continue
        url = site.addresses.final[row]
        if url is None or counts[row] is None or counts[row]:
            continue
        _, _, host, path = url.split("/", 3)
        # Pages that were refused may link to it: where they are many, nobody knows.
        if path and site.hosts[host] >= max(2, 9 * away[host]):
            said = f"None of the {site.hosts[host]:,} pages of {host} links to it."
            yield Finding(row, 0, f"{said} {_known_from(site, row)}".strip())


def _known_from(site: Site, row: int) -> str:
    """Return how a crawl came to know a page to which nothing links."""
    graph = site.graph
    link = -1 if site.crawl is None else int(graph.found_on[row])
    if link < 0:
        return ""
    source, kind = graph.table.urls[graph.table.source[link]], KINDS[graph.table.kind[link]]
    return f"It is known from the {kind} of {source[:LONGEST]}."


def _broken(site: Site, redirects: bool) -> Bad:
    found = faults(site).items()
    bad = {place: fault for place, fault in found if fault.startswith("redirects to ") == redirects}
    return bad, site.graph.hyperlinks


def _external(site: Site) -> Bad:
    broken = {
        place: fault
        for url, (kind, fault) in site.checked.items()
        if kind == "external" and fault and not fault.startswith("redirects")
        if (place := site.graph.place(url)) >= 0
    }
    return broken, site.graph.hyperlinks


def _anchors(site: Site, _: Any) -> Iterator[Finding]:
    graph = site.graph
    links = np.flatnonzero(graph.table.missing)
    rows = by_end(graph.source_row[links], graph.rows)
    for row in np.unique(graph.source_row[links]).tolist():
        if row >= 0 and site.good[row]:
            named: dict[str, list[int]] = {}
            for link in links[rows.of(row)].tolist():
                named.setdefault(_with_fragment(graph, link), []).append(link)
            shown = (f"{url[:LONGEST]}{how(graph, found)}" for url, found in named.items())
            yield Finding(row, len(named), listed(shown, len(named)))


def _with_fragment(graph: LinkGraph, link: int) -> str:
    table = graph.table
    return f"{table.urls[table.target[link]]}#{table.fragments[table.fragment[link]]}"


def _closed_addresses(site: Site) -> Iterator[tuple[int, str]]:
    """Yield the places of addresses that lead to a page which may not be indexed, and why not."""
    graph = site.graph
    for place, (row, asked) in enumerate(zip(graph.page.tolist(), graph.row.tolist(), strict=True)):
        url = graph.table.urls[place]
        if row < 0 or not (reason := site.closed(Target(row, url, False))):
            continue
        if asked < 0 or not site.fault(Target(asked, url, asked != row)):
            yield place, reason


def _to_closed(site: Site, why: str, *, followed: bool = True) -> Bad:
    graph = site.graph
    links = graph.hyperlinks & graph.followed if followed else graph.hyperlinks
    reasons: dict[int, str] = site.once("closed addresses", lambda: dict(_closed_addresses(site)))
    closed = {place: "" for place, reason in reasons.items() if reason == why}
    if why == "blocked by robots.txt" and site.crawl is not None:
        skipped = site.crawl.skipped
        urls = skipped["url"][(skipped["reason"] == "robots").to_numpy(bool)]
        closed |= {place: "" for place in map(graph.place, urls.tolist()) if place >= 0}
    return closed, links & graph.internal & (graph.source_row != graph.target_row)


def _of_one_text(graph: LinkGraph) -> dict[int, dict[str, dict[int, int]]]:
    """Return by row and text the ends of links of which one text leads to several, and an address of each."""
    texts: dict[str, int] = {}
    folded = [" ".join(text.casefold().split()) for text in graph.table.anchors]
    number = np.array([texts.setdefault(text, len(texts)) for text in folded], np.int64)
    told = np.array([text != "" and not text.isdecimal() for text in folded], bool)
    anchor, target, source = graph.table.anchor, graph.table.target, graph.source_row
    wanted = (anchor > 0) & (source >= 0) & told[anchor]
    links = np.flatnonzero(graph.hyperlinks & graph.internal & graph.followed & wanted)
    end = np.where(graph.page[target[links]] >= 0, graph.page[target[links]], -2 - target[links])
    text = source[links] * np.int64(len(texts)) + number[anchor[links]]
    order = np.lexsort((end, text))
    begins = np.diff(text[order], prepend=-1) != 0  # as texts, which are in order, and below as their ends
    leads = begins | (np.diff(end[order], prepend=-1) != 0)
    several = np.bincount(np.cumsum(begins) - 1, leads) > 1
    kept = np.sort(order[leads & several[np.cumsum(begins) - 1]])  # the first link to each end
    found: dict[int, dict[str, dict[int, int]]] = {}
    columns = (source[links[kept]], anchor[links[kept]], end[kept], target[links[kept]])
    for row, said, to, place in zip(*(column.tolist() for column in columns), strict=True):
        found.setdefault(row, {}).setdefault(folded[said], {})[to] = place
    return found


def _one_text(site: Site, _: Any) -> Iterator[Finding]:
    """Yield the pages of which one text of links leads to several pages of the site."""
    graph, generic = site.graph, site.values("generic_links")
    pages = _of_one_text(graph)
    for row, ends_of in sorted(pages.items()):
        known = {" ".join(link["text"].casefold().split()) for link in generic[row] or ()}
        found = [(text, list(ends.values())) for text, ends in ends_of.items() if text not in known]
        if found and site.good[row]:
            text, targets = found[0]
            urls = " and ".join(graph.table.urls[target][:100] for target in targets[:2])
            more = f" and {len(targets) - 2:,} more" if len(targets) > 2 else ""
            yield Finding(row, len(found), f'"{text[:60]}" leads to {urls}{more}.')


_SCRIPT = 60


def _shown(column: str, shown: Callable[[dict[str, str]], str]) -> Find:
    @PageByPage
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, links in site.read(column):
            if links:
                yield Finding(row, len(links), searches.enumerated(map(shown, links)))

    return find


@PageByPage
def _internal_nofollow(site: Site, _: Any) -> Iterator[Finding]:
    for row, links, own in site.read("nofollow_links", "final_url"):
        here = (own or "").split("?")[0]  # as replies to comments and filters of a list
        if others := [link for link in links or () if link.split("?")[0] != here]:
            yield Finding(row, len(others), searches.enumerated(others))


def _written(link: dict[str, str]) -> str:
    href = f'href="{link["href"][:_SCRIPT]}"' if link["href"] else "no href"
    return f"{link['text'][:_SCRIPT] or 'without text'} ({href})"


RULES = rules_of(
    __name__,
    {
        "links_to_failing_pages": Leads(partial(_broken, redirects=False)),
        "links_to_redirects": Leads(partial(_broken, redirects=True)),
        "no_internal_links": _no_internal,
        "no_inlinks": _no_inlinks,
        "many_external_links": _many_external,
        "many_internal_links": searches.more("internal_links", "links"),
        "broken_anchor": _anchors,
        "external_links_broken": Leads(_external),
        "links_to_noindex": Leads(partial(_to_closed, why="noindex")),
        "links_to_canonicalised": Leads(partial(_to_closed, why="canonicalised", followed=False)),
        "links_to_blocked": Leads(partial(_to_closed, why="blocked by robots.txt")),
        "link_text_for_several_pages": _one_text,
        "links_without_name": _shown(
            "links_without_name", lambda link: f"{link['href']} ({link['inside'] or 'empty'})"
        ),
        "links_generic_text": _shown("generic_links", lambda link: f'"{link["text"]}" {link["href"]}'),
        "links_not_crawlable": _shown("uncrawlable_links", _written),
        "internal_nofollow": _internal_nofollow,
        "links_to_http": searches.listed("insecure_links"),
    },
)
