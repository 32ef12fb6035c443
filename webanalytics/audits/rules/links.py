"""Rules about links between pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.graph.site_links import LONGEST
from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.leads import Bad, Leads, faults
from webanalytics.audits.rules.searches import more
from webanalytics.audits.site import WHOLE_CRAWL, Site
from webanalytics.runs.frames.link_table import KINDS


def _no_internal(site: Site, _: Any) -> Iterator[Finding]:
    for row, count, external, own in site.read("internal_links", "external_links", "subdomain_links"):
        if (
            count == 0 and not own and site.addresses.final[row] is not None
        ):  # of a saved file no host is known
            yield Finding(row, 0, f"{external or 0:,} links, all to other sites" if external else "no links")


@page_by_page
def _many_external(site: Site, threshold: Any) -> Iterator[Finding]:
    for row, external, own in site.read("external_links", "subdomain_links"):
        count = (external or 0) - (own or 0)
        if count > threshold:
            more = f", {own:,} more to other hosts of its domain" if own else ""
            yield Finding(row, count, f"{count:,} links{more}")


def _no_inlinks(site: Site, _: Any) -> Iterator[Finding]:
    listing = site.values("in_sitemap")
    # Pages in a sitemap are the orphans of another rule.
    return (finding for finding in unlinked(site) if not listing[finding.row])


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
    if site.crawl is None:
        return ""
    graph = site.graph
    link = int(graph.found_on[row])
    if link < 0:
        return ""
    source, kind = graph.table.urls[graph.table.source[link]], KINDS[graph.table.kind[link]]
    return f"It is known from the {kind} of {source[:LONGEST]}."


def _broken(site: Site, redirects: bool) -> Bad:
    found = faults(site).items()
    bad = {place: fault for place, fault in found if fault.startswith("redirects to ") == redirects}
    return bad, site.graph.hyperlinks


_rule = partial(Rule, category="links")

RULES = (
    _rule(
        name="links_to_failing_pages",
        title="Links to pages that fail",
        priority="high",
        explanation="The page links to pages of the site that answer with an error or not at all.",
        fix="Correct or remove the links.",
        find=Leads(partial(_broken, redirects=False)),
        columns=("links",),
        needs=("http_status",),
        measured="Links to addresses of the audit that answered with an error or not at all are counted. "
        "Addresses that are not in the audit are not judged.",
        source=sources.both(sources.HTTP_ERRORS, sources.LINKS),
    ),
    _rule(
        name="links_to_redirects",
        title="Links to pages that redirect",
        type="warning",
        priority="low",
        explanation="The page links to addresses of the site that lead elsewhere, at the cost of one more "
        "request each.",
        fix="Link to the address at the end of the redirect.",
        find=Leads(partial(_broken, redirects=True)),
        columns=("links",),
        needs=("redirects",),
        measured="Links to addresses of the audit that redirected are counted.",
        source=sources.REDIRECTS,
    ),
    _rule(
        name="no_internal_links",
        title="No internal links",
        type="warning",
        priority="high",
        explanation="The page links to no other page of the site: visitors and search engines come to a dead "
        "end.",
        fix="Link to related pages and to the site's navigation, in HTML rather than by script alone.",
        find=_no_internal,
        columns=("internal_links",),
        measured="Links to pages of the page's own host are counted; those to a place on the page itself "
        "are none.",
        source=sources.LINKS,
    ),
    _rule(
        name="no_inlinks",
        title="No links to the page",
        type="warning",
        explanation="No other page of the audit links to this one, so visitors and search engines may not "
        "find it.",
        fix="Link to the page from related ones, or remove it if it is not needed.",
        find=_no_inlinks,
        columns=("inlinks", WHOLE_CRAWL),
        measured="Pages of the audit that link to the page, redirects followed; home pages and hosts with "
        "one page, or with a tenth of pages that were refused, are left out.",
        source=sources.LINKS,
    ),
    _rule(
        name="many_external_links",
        title="Many external links",
        type="warning",
        priority="low",
        explanation="The page has a great many links to other sites, which may look like link spam.",
        fix="Check that the links are useful and lead to trusted pages.",
        find=_many_external,
        threshold=100,
        unit="links",
        columns=("external_links",),
        measured="Links to other hosts, repeated ones too. No search engine publishes a limit: the default "
        "is meant to be looked at.",
        source=sources.SPAM,
    ),
    _rule(
        name="many_internal_links",
        title="Many internal links",
        type="warning",
        priority="low",
        explanation="The page has a great many links to its own site, so that none of them stands out.",
        fix="Leave the links that visitors of this page need.",
        find=more("internal_links", "links"),
        threshold=1_000,
        unit="links",
        columns=("internal_links",),
        measured="Links to the page's own host, repeated ones too. No search engine publishes a limit: the "
        "default is meant to be looked at.",
        source=sources.LINKS,
    ),
)
