"""Rules about single links: what they are called, and whether they can be followed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.searches import enumerated, listed
from webanalytics.audits.site import Site

_SCRIPT = 60


@page_by_page
def _nameless(site: Site, _: Any) -> Iterator[Finding]:
    for row, links in site.read("links_without_name"):
        if links:
            shown = (f"{link['href']} ({link['inside'] or 'empty'})" for link in links)
            yield Finding(row, len(links), enumerated(shown))


@page_by_page
def _generic(site: Site, _: Any) -> Iterator[Finding]:
    for row, links in site.read("generic_links"):
        if links:
            yield Finding(row, len(links), enumerated(f'"{link["text"]}" {link["href"]}' for link in links))


@page_by_page
def _uncrawlable(site: Site, _: Any) -> Iterator[Finding]:
    for row, links in site.read("uncrawlable_links"):
        if links:
            yield Finding(row, len(links), enumerated(map(_written, links)))


def _written(link: dict[str, str]) -> str:
    href = f'href="{link["href"][:_SCRIPT]}"' if link["href"] else "no href"
    return f"{link['text'][:_SCRIPT] or 'without text'} ({href})"


_rule = partial(Rule, category="links", priority="low")

RULES = (
    _rule(
        name="links_without_name",
        title="Links without a name",
        explanation="A link without text, alt text or label is read out as its address, and tells search "
        "engines nothing of the page that it leads to.",
        fix="Give the link a text, the image in it an alt text, or a link of a mere icon an aria-label.",
        find=_nameless,
        columns=("links_without_name",),
        measured="Links are counted that have neither text nor an alternative text, label or title; hidden "
        "ones are left out.",
        source=sources.both(sources.wcag("2.4.4", "4.1.2"), sources.LINKS),
    ),
    _rule(
        name="links_generic_text",
        title="Link text says nothing",
        type="opportunity",
        explanation='Texts such as "click here" and "read more" tell neither readers who go from link to '
        "link nor search engines what they lead to.",
        fix="Write what the other page is about into the text of the link.",
        find=_generic,
        columns=("generic_links",),
        measured="Links are counted whose text is, in the language of the page or in English, one of those "
        "that say nothing; a label of ARIA that says more makes up for it.",
        source=sources.both(sources.LINK_TEXT, sources.LINKS, sources.wcag("2.4.4")),
    ),
    _rule(
        name="links_not_crawlable",
        title="Links that cannot be crawled",
        type="warning",
        explanation="Search engines follow the address in href alone: an anchor without one, or with a "
        "script in its place, leads them nowhere.",
        fix="Give links to pages an address in href, and make what only runs a script a button.",
        find=_uncrawlable,
        columns=("uncrawlable_links",),
        measured="Anchors are counted that have a text but no href, and links whose href is a script, a "
        "local file or an address without a host.",
        source=sources.LINKS,
    ),
    _rule(
        name="internal_nofollow",
        title="Nofollow on internal links",
        type="warning",
        explanation="The page asks search engines not to follow links to pages of its own site, which may "
        "then be found late or not at all.",
        fix="Remove nofollow from links to own pages; keep others from being indexed with noindex.",
        find=listed("nofollow_links"),
        columns=("nofollow_links",),
        measured="Links with rel=nofollow to pages of the page's own host are counted.",
        source=sources.both(sources.NOFOLLOW, sources.LINKS),
    ),
    _rule(
        name="links_to_http",
        title="Links to own pages over http",
        explanation="A page in https links to its own site over http: a detour without encryption, "
        "and two addresses for one page.",
        fix="Link to the https addresses.",
        find=listed("insecure_links"),
        columns=("insecure_links",),
        measured="Links of a page in https to addresses in http of its own host are counted.",
        source=sources.both(sources.CANONICALIZATION, sources.MIXED_CONTENT),
    ),
)
