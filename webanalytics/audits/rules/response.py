"""Rules about how a page was fetched: answers, and the redirects on the way."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

from webanalytics.audits.graph.site_links import normal
from webanalytics.audits.rules.base import Finding, PageByPage
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.rules.url import without_tracking
from webanalytics.audits.site import Site
from webanalytics.urls import HOME_PATHS, registrable_domain

FAILING = ("client error", "server error", "no response", "timeout")
"""Problems of a page at the end of redirects."""
_SHOWN = 5


def _failed(site: Site, _: Any, problem: str) -> Iterator[Finding]:
    errors, keys = site.values("error"), site.values("error_key")
    for row, trip in enumerate(site.fetches):
        # Addresses that redirect to such a page are left to another rule, and certificates to that on hosts.
        if trip.problem == problem and not trip.hops and keys[row] != "certificate":
            said = str(errors[row] or "")
            if trip.status is not None and str(trip.status) not in said:
                said = f"HTTP {trip.status}. {said}"
            yield Finding(row, None, f"{said.strip()} {site.linked_from(row)}".strip())


def _client_error(site: Site, threshold: Any) -> Iterator[Finding]:
    # Links to such an address are faults of the pages that have them, and left to the rule on those.
    return (one for one in _failed(site, threshold, "client error") if not site.linked_from(one.row))


def _loop(site: Site, _: Any) -> Iterator[Finding]:
    for row, trip in enumerate(site.fetches):
        if trip.problem == "redirect loop":
            yield Finding(row, trip.hops, hops(site, row))


def _redirect(site: Site, _: Any) -> Iterator[Finding]:
    for row, trip in enumerate(site.fetches):
        if trip.hops == 1 and trip.problem not in ("redirect loop", *FAILING):
            yield Finding(row, site.name(row), hops(site, row))


def _chain(site: Site, threshold: Any) -> Iterator[Finding]:
    for row, trip in enumerate(site.fetches):
        if trip.hops >= max(threshold, 2) and trip.problem != "redirect loop":
            yield Finding(row, trip.hops, hops(site, row))


def hops(site: Site, row: int) -> str:
    """Return the addresses that a fetch went through, with the status of each where it is known."""
    passed = [str(url)[:100] for url in site.values("redirects")[row] or [site.values("url")[row]]]
    kinds = site.values("redirect_kinds")[row] or ()
    if len(kinds) == len(passed):
        passed = [f"{url} ({kind})" for url, kind in zip(passed, kinds, strict=True)]
    shown = passed if len(passed) <= _SHOWN else [*passed[: _SHOWN - 1], "…"]
    return " → ".join((*shown, site.name(row)[:100]))


@PageByPage
def _slow(site: Site, threshold: Any) -> Iterator[Finding]:
    for row, elapsed in site.read("elapsed"):
        if elapsed is not None and elapsed > threshold:
            yield Finding(row, round(elapsed, 2), f"The fetch took {elapsed:.2f} seconds.")


def _large(site: Site, threshold: Any) -> Iterator[Finding]:
    for row, size in enumerate(site.values("bytes")):
        if size is not None and size > threshold:
            yield Finding(row, int(size), f"The page has {size / 1e6:,.1f} MB.")


_TEMPORARY = frozenset(("302", "303", "307"))


def _ways(site: Site) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that were redirected, with the addresses that they went through, the last one too."""
    for row, passed in enumerate(site.values("redirects")):
        if passed:
            yield row, [*map(str, passed), site.name(row)]


def _temporary(site: Site, _: Any) -> Iterator[Finding]:
    kinds = site.values("redirect_kinds")
    for row, _urls in _ways(site):
        if found := [kind for kind in kinds[row] or () if kind in _TEMPORARY]:
            yield Finding(row, len(found), hops(site, row))


def _to_home(site: Site, _: Any) -> Iterator[Finding]:
    for row, urls in _ways(site):
        if not site.good[row]:
            continue
        first, last = normal(urls[0]), normal(urls[-1])
        if first is None or last is None:
            continue
        asked, given = without_tracking(first).split("/", 3), last.split("/", 3)
        leads_home = not given[3] and not HOME_PATHS.fullmatch(asked[3])
        if leads_home and registrable_domain(asked[2]) == registrable_domain(given[2]):
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


RULES = rules_of(
    __name__,
    {
        "client_error": _client_error,
        "server_error": partial(_failed, problem="server error"),
        "no_response": partial(_failed, problem="no response"),
        "timeout": partial(_failed, problem="timeout"),
        "redirect": _redirect,
        "redirect_chain": _chain,
        "redirect_loop": _loop,
        "slow_response": _slow,
        "html_too_large": _large,
        "redirect_temporary": _temporary,
        "redirect_to_home": _to_home,
        "redirect_to_http": _to_http,
        "redirect_to_error": _to_error,
    },
)
