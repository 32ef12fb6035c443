"""Rules about what search engines may index and follow."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

from webanalytics.audits.ai.access import UNKNOWN, verdicts
from webanalytics.audits.directives.robots import directives, unavailable_after
from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.searches import Find
from webanalytics.audits.site import Site

_SOURCES = {
    "robots": "Robots meta tag",
    "googlebot": "Googlebot meta tag",
    "x_robots_tag": "X-Robots-Tag header",
}


def _directive(name: str, *columns: str) -> Find:
    @page_by_page
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, *texts in site.read(*columns):
            said = [
                f'{_SOURCES[column]}: "{text[:200]}"'
                for column, text in zip(columns, texts, strict=True)
                if text and name in directives(text)
            ]
            if said:
                yield Finding(row, name, "; ".join(said))

    return find


@page_by_page
def _expired(site: Site, _: Any) -> Iterator[Finding]:
    now = datetime.now(UTC)
    for row, *texts in site.read("robots", "googlebot", "x_robots_tag"):
        for text in texts:
            end = unavailable_after(text) if text else None
            if end is not None and end < now:
                yield Finding(row, "unavailable_after", text[:200])
                break


def _canonicalised(site: Site, _: Any) -> Iterator[Finding]:
    for row, state, url in site.read("canonical_state", "canonical_url"):
        if state == "other":
            yield Finding(row, url, f"{site.name(row)} names {url} as canonical.")


def _blocked(site: Site, _: Any) -> Iterator[Finding]:
    errors = site.values("error")
    known = {row: verdicts for row, _, verdicts in verdicts(site, ("Googlebot",))}
    for row, trip in enumerate(site.fetches):
        (verdict,) = known.get(row, (UNKNOWN,))
        if trip.problem == "blocked by robots.txt" and verdict.allowed is not True:
            said = (
                f"robots.txt, line {verdict.line}: {verdict.rule}" if verdict.line else str(errors[row] or "")
            )
            yield Finding(row, "robots.txt", said)


_rule = partial(Rule, category="indexability", type="warning", priority="high")

RULES = (
    _rule(
        name="noindex",
        title="Noindex in the page",
        explanation="A robots or googlebot meta tag with noindex keeps the page out of search results.",
        fix="Remove noindex from the meta tag of pages that are meant to be found.",
        find=_directive("noindex", "robots", "googlebot"),
        columns=("robots",),
        measured="noindex or none in a meta element named robots or googlebot.",
        source=sources.both(sources.NOINDEX, sources.ROBOTS_META),
    ),
    _rule(
        name="noindex_header",
        title="Noindex in the X-Robots-Tag header",
        explanation="An X-Robots-Tag header with noindex keeps the page out of search results, unseen in the "
        "page.",
        fix="Remove noindex from the header in the server's configuration for pages that are meant to be "
        "found.",
        find=_directive("noindex", "x_robots_tag"),
        columns=("x_robots_tag",),
        needs=("headers",),
        measured="noindex or none in an X-Robots-Tag header for all crawlers or for Googlebot.",
        source=sources.both(sources.NOINDEX, sources.ROBOTS_META),
    ),
    _rule(
        name="nofollow",
        title="Nofollow for all links",
        explanation="Search engines are asked not to follow any link of the page: what it links to may not "
        "be found.",
        fix="Remove nofollow from the robots meta tag or header, and mark single links instead.",
        find=_directive("nofollow", *_SOURCES),
        columns=("robots",),
        measured="nofollow or none in a robots or googlebot meta element or an X-Robots-Tag header.",
        source=sources.ROBOTS_META,
    ),
    _rule(
        name="unavailable_after_passed",
        title="Date of unavailable_after has passed",
        explanation="The page asks search engines to drop it after a date, and that date has passed.",
        fix="Remove unavailable_after from pages that are meant to be found, or name a later date.",
        find=_expired,
        columns=("robots",),
        measured="The date of unavailable_after in a robots meta element or X-Robots-Tag header, against "
        "the time of the judgement; without a zone it is read as UTC.",
        source=sources.ROBOTS_META,
    ),
    _rule(
        name="canonicalised",
        title="Canonicalised to another page",
        explanation="The page names another one as canonical: search engines are asked to index that one "
        "instead.",
        fix="Check that the other page is meant to be found; else let the canonical point to the page "
        "itself.",
        find=_canonicalised,
        columns=("canonical_state",),
        measured="The canonical address against the address at which the page was read, both in normal form.",
        source=sources.CANONICALS,
    ),
    _rule(
        name="blocked_by_robots",
        title="Blocked by robots.txt",
        explanation="The site's robots.txt forbids fetching the page, so search engines cannot read what is "
        "on it.",
        fix="Open the path in robots.txt if the page is meant to be found; to hide a page use noindex.",
        find=_blocked,
        columns=("error_type",),
        needs=("robots",),
        measured="Whether the rules of robots.txt for the crawler of the audit forbid the address, unless "
        "they allow it to Googlebot.",
        source=sources.both(sources.rfc(9309, "2.2 (protocol)"), sources.ROBOTS_TXT),
    ),
)
