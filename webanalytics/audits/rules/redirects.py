"""Rules about what kind a redirect is and where it leads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from webanalytics.audits.graph.site_links import normal
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.rules.response import FAILING, hops
from webanalytics.audits.rules.sources import HTTP_ERRORS, HTTPS_SIGNAL, REDIRECTS, SITE_MOVES, both, rfc
from webanalytics.audits.site import Site
from webanalytics.urls import registrable_domain

_TEMPORARY = frozenset(("302", "303", "307"))


def _ways(site: Site) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that were redirected, with the addresses that they went through, the last one too."""
    for row, passed in enumerate(site.values("redirects")):
        if passed:
            yield row, [*map(str, passed), site.name(row)]


def _temporary(site: Site, _: Any) -> Iterator[Finding]:
    kinds = site.values("redirect_kinds")
    for row, _urls in _ways(site):
        found = [kind for kind in kinds[row] or () if kind in _TEMPORARY]
        if found:
            yield Finding(row, len(found), hops(site, row))


def _to_home(site: Site, _: Any) -> Iterator[Finding]:
    for row, urls in _ways(site):
        if not site.good[row]:
            continue
        first, last = normal(urls[0]), normal(urls[-1])
        if first is None or last is None:
            continue
        asked, given = first.split("/", 3), last.split("/", 3)
        if asked[3] and not given[3] and registrable_domain(asked[2]) == registrable_domain(given[2]):
            yield Finding(row, evidence=hops(site, row))


def _to_http(site: Site, _: Any) -> Iterator[Finding]:
    for row, urls in _ways(site):
        steps = [(one, two) for one, two in pairwise(urls) if one[:6].lower() == "https:"]
        if any(two[:5].lower() == "http:" for _, two in steps):
            yield Finding(row, evidence=hops(site, row))


def _to_error(site: Site, _: Any) -> Iterator[Finding]:
    for row, _urls in _ways(site):
        problem, status, _hops = site.fetches[row]
        if problem in FAILING:
            said = f"HTTP {status}" if status else "not at all"
            way = f"{hops(site, row)} answers {said}. {site.linked_from(row)}"
            yield Finding(row, None, way.strip())


RULES = (
    Rule(
        name="redirect_temporary",
        title="Temporary redirect",
        category="response",
        type="warning",
        priority="low",
        explanation="With 302, 303 or 307 search engines keep the old address, as it may come back.",
        fix="Redirect with 301 or 308 where the page has moved for good.",
        find=_temporary,
        columns=("redirect_kinds",),
        needs=("redirects",),
        measured="An address on whose way at least one redirect has the status 302, 303 or 307.",
        source=both(REDIRECTS, rfc(9110, "15.4 (redirects)")),
    ),
    Rule(
        name="redirect_to_home",
        title="Redirect to the home page",
        category="response",
        type="warning",
        explanation="Visitors who want a page get the home page instead; search engines treat that like a "
        "page that does not exist (soft 404).",
        fix="Redirect to the page that replaces the old one, or answer 404 or 410 if there is none.",
        find=_to_home,
        columns=("redirects",),
        needs=("redirects",),
        measured="An address with a path that leads to the root of a host of the same registrable domain.",
        source=SITE_MOVES,
    ),
    Rule(
        name="redirect_to_http",
        title="Redirect from https to http",
        category="response",
        priority="high",
        explanation="The way leads from an encrypted address to one that others can read and change.",
        fix="Redirect to https addresses only.",
        find=_to_http,
        columns=("redirects",),
        needs=("redirects",),
        measured="An address on whose way a redirect leads from https to http, wherever it ends.",
        source=both(HTTPS_SIGNAL, rfc(9110, "4.2.2 (https)")),
    ),
    Rule(
        name="redirect_to_error",
        title="Redirect to a page that fails",
        category="response",
        priority="high",
        explanation="The address leads to one that answers with an error or not at all, so its visitors and "
        "links are lost.",
        fix="Redirect to a page that answers with HTTP 200.",
        find=_to_error,
        columns=("redirects",),
        needs=("redirects", "http_status"),
        measured="An address that was redirected at least once and ended in HTTP 4xx, 5xx or no answer.",
        source=HTTP_ERRORS,
    ),
)
