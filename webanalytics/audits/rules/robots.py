"""Rules about what robots.txt closes to the crawlers of search engines: pages, and what pages load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from webanalytics.audits.ai.access import blocked, may_read
from webanalytics.audits.graph.site_links import listed
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.rules.sources import BING_ROBOTS_TXT, ROBOTS_TXT, both, rfc
from webanalytics.audits.site import Site

_COLUMNS = ("imgTags", "resources")
_RULES = rfc(9309, "2.2 (the rules)")


def _blocked(site: Site, _: Any, crawler: str, others: Sequence[str] = ()) -> Iterator[Finding]:
    """Yield the pages closed to a crawler, but not to all, nor to others: each is named by one rule."""
    told = {row for other in others for row, _verdict in blocked(site, other)}
    for row, verdict in blocked(site, crawler):
        if row not in told and site.fetches[row].problem != "blocked by robots.txt":
            yield Finding(row, None, f"robots.txt, line {verdict.line}: {verdict.rule}"[:400])


def _loaded(site: Site) -> Iterator[tuple[int, set[str]]]:
    """Yield what each page loads: images, scripts and style sheets."""
    for row, tags, resources in site.read(*_COLUMNS):
        found = {str(tag.get("src") or "") for tag in tags or () if isinstance(tag, dict)}
        found.update(resources or ())
        yield row, {url for url in found if url.startswith(("http://", "https://"))}


def _blocked_resources(site: Site, _: Any) -> Iterator[Finding]:
    if not site.robots_files:
        return
    closed: dict[str, bool] = {}
    for row, urls in _loaded(site):
        new = urls - closed.keys()
        closed.update(dict.fromkeys(new, False))
        closed.update((url, verdict.allowed is False) for url, verdict in may_read(site, "Googlebot", new))
        found = sorted(url for url in urls if closed[url])
        if found:
            yield Finding(row, len(found), listed(found))


RULES = (
    Rule(
        name="blocked_for_googlebot",
        title="Blocked for Googlebot",
        category="indexability",
        type="warning",
        priority="high",
        explanation="robots.txt closes the page to Google's crawler: Google may list the address from links "
        "to it, but reads nothing on the page, not even a noindex.",
        fix="Open the path to Googlebot if the page is meant to be found; to hide a page use noindex.",
        find=partial(_blocked, crawler="Googlebot"),
        columns=("url",),
        measured="By the group of robots.txt that speaks to Googlebot, else that for all; the line that "
        "decides is named. Pages that the audit could not read for robots.txt are left to another rule.",
        source=both(ROBOTS_TXT, _RULES),
    ),
    Rule(
        name="blocked_for_bingbot",
        title="Blocked for Bingbot",
        category="indexability",
        type="warning",
        explanation="robots.txt closes the page to Bing's crawler, and so to those who use its index, "
        "DuckDuckGo among them.",
        fix="Open the path to Bingbot if the page is meant to be found.",
        find=partial(_blocked, crawler="bingbot", others=("Googlebot",)),
        columns=("url",),
        measured="By the group of robots.txt that speaks to Bingbot, else that for all; the line that "
        "decides is named. Pages that Googlebot may not read either are left to another rule.",
        source=both(BING_ROBOTS_TXT, _RULES),
    ),
    Rule(
        name="blocked_resources",
        title="Resources blocked for Googlebot",
        category="indexability",
        type="warning",
        explanation="The page loads images, scripts or style sheets that robots.txt closes to Google, which "
        "then sees another page than visitors do.",
        fix="Open the paths of what the page needs to be shown.",
        find=_blocked_resources,
        columns=_COLUMNS,
        measured="By the robots.txt of each origin that was read, for the images, scripts and style sheets "
        "that the page names; what scripts and style sheets load in turn is not known.",
        source=both(ROBOTS_TXT, _RULES),
    ),
)
