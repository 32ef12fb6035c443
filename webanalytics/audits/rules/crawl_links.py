"""Rules about where the links of a site lead, beyond the pages that fail or redirect."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from webanalytics.audits.graph.links import LinkGraph
from webanalytics.audits.graph.metrics import by_end
from webanalytics.audits.graph.site_links import LONGEST, Target, listed
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.rules.leads import Bad, Leads, how
from webanalytics.audits.rules.sources import LINKS
from webanalytics.audits.site import CHECKED_LINKS, Site


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


def _to_closed(site: Site, why: str, *, followed: bool = True) -> Bad:
    graph, closed = site.graph, {}
    links = graph.hyperlinks & graph.followed if followed else graph.hyperlinks
    for place, row in enumerate(graph.page.tolist()):
        asked = int(graph.row[place])
        if row < 0 or (asked >= 0 and site.fault(Target(asked, graph.table.urls[place], asked != row))):
            continue
        if site.closed(Target(row, graph.table.urls[place], False)) == why:
            closed[place] = ""
    if why == "blocked by robots.txt" and site.crawl is not None:
        skipped = site.crawl.skipped
        urls = skipped["url"][(skipped["reason"] == "robots").to_numpy(bool)]
        closed |= {place: "" for place in map(graph.place, urls.tolist()) if place >= 0}
    return closed, links & graph.internal & (graph.source_row != graph.target_row)


def _one_text(site: Site, _: Any) -> Iterator[Finding]:
    """Yield the pages of which one text of links leads to several pages of the site."""
    graph = site.graph
    folded = np.array([" ".join(text.casefold().split()) for text in graph.table.anchors], object)
    generic = site.values("generic_links")
    links = np.flatnonzero(graph.hyperlinks & graph.internal & (graph.table.anchor > 0))
    pages: dict[int, dict[str, dict[int, int]]] = {}
    ends = zip(graph.source_row[links], graph.table.anchor[links], graph.table.target[links], strict=True)
    for row, anchor, target in ((int(row), int(anchor), int(target)) for row, anchor, target in ends):
        text = folded[anchor]
        if row >= 0 and text and not text.isdecimal():
            end = int(graph.page[target])
            pages.setdefault(row, {}).setdefault(text, {}).setdefault(
                end if end >= 0 else -2 - target, target
            )
    for row, texts in sorted(pages.items()):
        known = {" ".join(link["text"].casefold().split()) for link in generic[row] or ()}
        several = {text: list(ends.values()) for text, ends in texts.items() if len(ends) > 1}
        found = [(text, targets) for text, targets in several.items() if text not in known]
        if found and site.good[row]:
            text, targets = found[0]
            urls = " and ".join(graph.table.urls[target][:100] for target in targets[:2])
            more = f" and {len(targets) - 2:,} more" if len(targets) > 2 else ""
            yield Finding(row, len(found), f'"{text[:60]}" leads to {urls}{more}.')


_rule = partial(Rule, category="links", priority="low")

RULES = (
    _rule(
        name="broken_anchor",
        title="Links to a place that is not on the page",
        explanation="The link names a place of a page with #, and the page has no such place: visitors "
        "arrive at its top and have to look for what they were promised.",
        fix="Correct what stands behind the #, or give the place its id again.",
        find=_anchors,
        columns=("crawl_depth",),
        measured="Links to pages that the crawl has read, and to the page itself, whose fragment is the id "
        "of no element and the name of no anchor, as written or decoded. #top, text fragments, what scripts "
        "read (#/, #!, links with a role or data) and pages without text are left out.",
        source="HTML Standard, section 7.4.6.4: "
        "https://html.spec.whatwg.org/multipage/browsing-the-web.html#scrolling-to-a-fragment",
    ),
    _rule(
        name="external_links_broken",
        title="Broken links to other sites",
        explanation="The page links to pages of other sites that are gone or fail, where visitors find "
        "nothing.",
        fix="Correct the links, lead them to what took the place of the page, or remove them.",
        find=Leads(_external),
        columns=(CHECKED_LINKS,),
        measured="Each address of another site is asked once, with HEAD and then GET. HTTP 404, 410, other "
        "errors of the server and a host that does not exist count; HTTP 401, 403, 429, 999 and time limits "
        "do not, as they refuse programs rather than visitors.",
        source="RFC 9110, sections 15.5 and 15.6: https://www.rfc-editor.org/rfc/rfc9110#section-15.5",
    ),
    _rule(
        name="links_to_noindex",
        title="Links to pages with noindex",
        type="warning",
        explanation="The page leads visitors and search engines to pages that ask not to be indexed, and "
        "what "
        "such pages link to is followed less and less.",
        fix="Remove noindex from pages that should be found, or leave the links if they are for visitors "
        "alone.",
        find=Leads(partial(_to_closed, why="noindex")),
        columns=("links", "noindex"),
        measured="Links without nofollow to other pages of the audit whose robots tag or header says "
        "noindex.",
        source="Google Search Central, Block Search indexing with noindex: "
        "https://developers.google.com/search/docs/crawling-indexing/block-indexing",
    ),
    _rule(
        name="links_to_canonicalised",
        title="Links to canonicalised pages",
        type="warning",
        explanation="The page links to an address that names another one as canonical: the links speak "
        "against "
        "what the canonical says.",
        fix="Link to the canonical address.",
        find=Leads(partial(_to_closed, why="canonicalised", followed=False)),
        columns=("links", "canonical_state"),
        measured="Links to other pages of the audit whose canonical link names another address.",
        source="Google Search Central, How to specify a canonical URL: "
        "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls",
    ),
    _rule(
        name="links_to_blocked",
        title="Links to pages that robots.txt closes",
        type="warning",
        explanation="The page links to addresses of its own site that search engines may not fetch, so that "
        "nothing behind them is found by these links.",
        fix="Open the pages in robots.txt if they should be found, or remove the links.",
        find=Leads(partial(_to_closed, why="blocked by robots.txt")),
        columns=("links",),
        needs=("robots",),
        measured="Links without nofollow to addresses of the site that its robots.txt disallows for the "
        "agent "
        "of the audit.",
        source="RFC 9309, section 2.2.2: https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2",
    ),
    _rule(
        name="link_text_for_several_pages",
        title="One link text for several pages",
        type="opportunity",
        explanation="On this page links of one text lead to different pages: readers who go from link to "
        "link, "
        "and search engines, cannot tell them apart.",
        fix="Say in each text what is behind the link, or add it in an aria-label.",
        find=_one_text,
        columns=("crawl_depth",),
        measured="Texts of links within one page, case and white space folded; numbers and texts that say "
        "nothing are left to other rules. Links that end at one page after redirects are one.",
        source="WCAG 2.2, success criterion 2.4.4: "
        f"https://www.w3.org/TR/WCAG22/#link-purpose-in-context; {LINKS}",
    ),
)
