"""Rules about directives for robots that limit what a search result shows, and about those in conflict.

Directives are those of "Robots meta tag, data-nosnippet, and X-Robots-Tag specifications"
(developers.google.com/search/docs/crawling-indexing/robots-meta-tag).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.directives.robots import directives
from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.searches import Find
from webanalytics.audits.site import Site

_COLUMNS = ("robots", "googlebot", "x_robots_tag")
_NO_LENGTH = re.compile(r"(?:^|[,\s:])max-snippet\s*:\s*0+(?!\d)", re.IGNORECASE)
_CONFLICTS = (("index", "noindex"), ("follow", "nofollow"), ("all", "noindex"), ("all", "nofollow"))


def _says(*names: str) -> Find:
    @page_by_page
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, *texts in site.read(*_COLUMNS):
            said = [text[:200] for text in texts if text and not directives(text).isdisjoint(names)]
            if said:
                yield Finding(row, evidence="; ".join(said))

    return find


@page_by_page
def _no_snippet_length(site: Site, _: Any) -> Iterator[Finding]:
    for row, *texts in site.read(*_COLUMNS):
        said = [text[:200] for text in texts if text and _NO_LENGTH.search(text)]
        if said:
            yield Finding(row, evidence="; ".join(said))


@page_by_page
def _conflict(site: Site, _: Any) -> Iterator[Finding]:
    for row, *texts in site.read(*_COLUMNS):
        found = frozenset[str]().union(*(directives(text) for text in texts if text))
        pairs = [" and ".join(pair) for pair in _CONFLICTS if found.issuperset(pair)]
        if pairs:
            yield Finding(row, len(pairs), f"{', '.join(pairs)}: {'; '.join(filter(None, texts))[:200]}")


_rule = partial(Rule, category="indexability", columns=("robots",))

RULES = (
    _rule(
        name="directives_conflict",
        title="Directives for robots in conflict",
        type="warning",
        explanation="Robots meta tags and headers both allow and forbid the same; search engines obey what "
        "forbids.",
        fix="Say it once: remove the directive that is not meant.",
        find=_conflict,
        measured="index beside noindex, follow beside nofollow, and all beside either, in robots and "
        "googlebot meta elements and X-Robots-Tag headers together.",
        source=sources.ROBOTS_META,
    ),
    _rule(
        name="nosnippet",
        title="Nosnippet",
        type="warning",
        priority="low",
        explanation="Search results show no text of the page, nor may it be quoted in summaries.",
        fix="Remove nosnippet from pages whose text may be shown, or use data-nosnippet for a part of them.",
        find=_says("nosnippet"),
        measured="nosnippet in a robots or googlebot meta element or an X-Robots-Tag header.",
        source=sources.ROBOTS_META,
    ),
    _rule(
        name="max_snippet_zero",
        title="Snippet of no length",
        type="warning",
        priority="low",
        explanation="max-snippet:0 keeps all text of the page out of search results, as nosnippet does.",
        fix="Remove max-snippet:0, or set -1 for any length.",
        find=_no_snippet_length,
        measured="max-snippet:0 in a robots or googlebot meta element or an X-Robots-Tag header.",
        source=sources.ROBOTS_META,
    ),
    _rule(
        name="noimageindex",
        title="Noimageindex",
        type="warning",
        priority="low",
        explanation="The images of the page are kept out of image search.",
        fix="Remove noimageindex from pages whose images are meant to be found.",
        find=_says("noimageindex"),
        measured="noimageindex in a robots or googlebot meta element or an X-Robots-Tag header.",
        source=sources.ROBOTS_META,
    ),
    _rule(
        name="noarchive",
        title="Noarchive",
        type="warning",
        priority="low",
        explanation="Search engines are asked not to keep a copy of the page; Bing does not use it in chat "
        "answers then, and Google no longer reads the directive.",
        fix="Remove noarchive if copies and answers from the page are welcome.",
        find=_says("noarchive"),
        measured="noarchive in a robots or googlebot meta element or an X-Robots-Tag header.",
        source=sources.both(sources.ROBOTS_NAMES, sources.ROBOTS_META),
    ),
    _rule(
        name="noodp",
        title="Directive about a closed directory",
        type="opportunity",
        priority="low",
        explanation="noodp and noydir kept titles of the web directories DMOZ and Yahoo out of search "
        "results; both are closed, and search engines ignore the directives.",
        fix="Remove noodp and noydir.",
        find=_says("noodp", "noydir"),
        measured="noodp or noydir in a robots or googlebot meta element or an X-Robots-Tag header.",
        source=sources.DIRECTORIES_CLOSED,
    ),
)
