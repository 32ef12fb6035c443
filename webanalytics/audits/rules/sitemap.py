"""Rules about sitemaps and robots.txt."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.graph.site_links import origin
from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.rules.links import unlinked
from webanalytics.audits.site import WHOLE_CRAWL, Site

_LONGEST = 400


def _listed(site: Site) -> Iterator[int]:
    return (row for row, inside in enumerate(site.values("in_sitemap")) if inside)


def _not_indexable(site: Site, _: Any) -> Iterator[Finding]:
    reasons = site.values("indexability")
    for row in _listed(site):
        if reasons[row] in ("noindex", "canonicalised", "blocked by robots.txt"):
            yield Finding(row, reasons[row], f"In the sitemap, but not indexable: {reasons[row]}.")


def _failing(site: Site, _: Any) -> Iterator[Finding]:
    for row in _listed(site):
        target = site.find(site.values("url")[row])
        fault = "" if target is None else site.fault(target)
        if fault:
            yield Finding(row, None, f"In the sitemap, but {fault}.")


def _not_listed(site: Site, _: Any) -> Iterator[Finding]:
    listing = site.values("in_sitemap")
    for row in site.distinct:
        if listing[row] is not None and not listing[row]:
            yield Finding(row)


def _orphan(site: Site, _: Any) -> Iterator[Finding]:
    listing = site.values("in_sitemap")
    return (finding for finding in unlinked(site) if listing[finding.row])


def _robots(site: Site, _: Any) -> Iterator[Finding]:
    chosen: dict[str, int] = {}
    for row, url in enumerate(site.addresses.requested):
        place = origin(url)
        # The home page stands for its site, else the first page does.
        if place is not None and (place not in chosen or url == f"{place}/"):
            chosen[place] = row
    for place, problems in site.robots.items():
        row = chosen.get(origin(place) or place, -1)
        if problems and row >= 0:
            said = f"{place}/robots.txt: {' '.join(problems)}"[:_LONGEST]
            yield Finding(row, len(problems), said, whole=True)


_rule = partial(Rule, category="sitemap")

RULES = (
    _rule(
        name="sitemap_not_indexable",
        title="Page in the sitemap is not indexable",
        priority="high",
        explanation="The sitemap asks search engines to index a page that may not be indexed.",
        fix="Remove the page from the sitemap, or make it indexable.",
        find=_not_indexable,
        columns=("in_sitemap",),
        measured="Pages of the sitemap that are noindex, canonicalised to another page, or closed by "
        "robots.txt.",
        source=sources.SITEMAPS,
    ),
    _rule(
        name="sitemap_failing",
        title="Page in the sitemap redirects or fails",
        priority="high",
        explanation="The sitemap lists an address that redirects, answers with an error or does not answer.",
        fix="List only addresses that answer with HTTP 200.",
        find=_failing,
        columns=("in_sitemap",),
        needs=("http_status",),
        measured="Addresses of the sitemap that redirected, answered with an error or did not answer.",
        source=sources.both(sources.SITEMAPS, sources.SITEMAP_PROTOCOL),
    ),
    _rule(
        name="sitemap_missing_page",
        title="Indexable page missing in the sitemap",
        type="warning",
        priority="low",
        explanation="An indexable page is not in the sitemap, so search engines may find it late.",
        fix="Add the page to the sitemap if it is meant to be found.",
        find=_not_listed,
        columns=("in_sitemap",),
        measured="Indexable pages of the audit whose address, in normal form, no sitemap of it lists.",
        source=sources.SITEMAPS,
    ),
    _rule(
        name="sitemap_orphan",
        title="Orphan page",
        type="warning",
        explanation="The page is in the sitemap, but no page of the audit links to it; such pages rank "
        "badly.",
        fix="Link to the page from related ones, or remove it from the sitemap if it is not needed.",
        find=_orphan,
        columns=("in_sitemap", "inlinks", WHOLE_CRAWL),
        measured="Indexable pages of the sitemap that no other page of the audit links to; home pages and "
        "hosts with one page, or with a tenth of pages that were refused, are left out.",
        source=sources.both(sources.LINKS, sources.SITEMAPS),
    ),
    _rule(
        name="robots_txt_problems",
        title="Faults in robots.txt",
        scope="host",
        type="warning",
        explanation="Search engines cannot read parts of robots.txt as they are meant, or it closes more "
        "than it should.",
        fix="Correct the lines that the evidence names.",
        find=_robots,
        measured="The lines of robots.txt are read as search engines do: unknown directives, rules without "
        "a user agent, a file that is no text or too large, all closed, long delays.",
        source=sources.both(sources.rfc(9309, "2.2 (protocol)"), sources.ROBOTS_TXT),
    ),
)
