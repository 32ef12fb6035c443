"""Rules about how the server answered: errors, redirects, time and size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.site import Site

FAILING = ("client error", "server error", "no response", "timeout")
"""Problems of a page at the end of redirects."""
_SHOWN = 5


def _failed(site: Site, _: Any, problem: str) -> Iterator[Finding]:
    errors = site.values("error")
    for row, trip in enumerate(site.fetches):
        # Addresses that redirect to such a page are left to another rule.
        if trip.problem == problem and not trip.hops:
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


@page_by_page
def _slow(site: Site, threshold: Any) -> Iterator[Finding]:
    for row, elapsed in site.read("elapsed"):
        if elapsed is not None and elapsed > threshold:
            yield Finding(row, round(elapsed, 2), f"The fetch took {elapsed:.2f} seconds.")


def _large(site: Site, threshold: Any) -> Iterator[Finding]:
    for row, size in enumerate(site.values("bytes")):
        if size is not None and size > threshold:
            yield Finding(row, int(size), f"The page has {size / 1e6:,.1f} MB.")


_rule = partial(Rule, category="response")

RULES = (
    _rule(
        name="client_error",
        title="Client error (4xx)",
        priority="high",
        explanation="The page answers that it does not exist, so that it cannot be found.",
        fix="Restore the page, redirect it to the one that replaces it, or take it out of the list.",
        find=_client_error,
        columns=("error",),
        needs=("http_status",),
        measured="The status of the answer is 400 to 499, but for 401, 403, 407, 429 and 451, which refuse "
        "programs more than visitors, and no page of the audit links to the address; links and redirects to "
        "it are left to other rules.",
        source=sources.both(sources.HTTP_ERRORS, sources.rfc(9110, "15.5 (client errors)")),
    ),
    _rule(
        name="server_error",
        title="Server error (5xx)",
        priority="high",
        explanation="The server fails to answer for the page; search engines come less often and drop it in "
        "the end.",
        fix="Find out from the server's logs why the page fails.",
        find=partial(_failed, problem="server error"),
        columns=("error",),
        needs=("http_status",),
        measured="The status of the answer is 500 to 599; redirects to such a page are left to another rule.",
        source=sources.both(sources.HTTP_ERRORS, sources.rfc(9110, "15.6 (server errors)")),
    ),
    _rule(
        name="no_response",
        title="No response",
        priority="high",
        explanation="There was no valid answer: the host is unknown, refuses connections or has an invalid "
        "certificate.",
        fix="Correct the address, or repair the host's name, certificate or server.",
        find=partial(_failed, problem="no response"),
        columns=("error",),
        needs=("http_status",),
        measured="The host has no address, refused the connection or showed an invalid certificate, or its "
        "answer was no valid HTTP.",
        source=sources.HTTP_ERRORS,
    ),
    _rule(
        name="timeout",
        title="Timeout",
        priority="high",
        explanation="The page did not arrive in the time allowed; visitors and search engines do not wait "
        "longer.",
        fix="Find out why the server takes so long, and try the page once more.",
        find=partial(_failed, problem="timeout"),
        columns=("error",),
        needs=("http_status",),
        measured="The page did not arrive within the time of the option `timeout`.",
        source=sources.HTTP_ERRORS,
    ),
    _rule(
        name="redirect",
        title="Redirect",
        type="warning",
        priority="low",
        explanation="The address leads to another one, which costs visitors and search engines one more "
        "request.",
        fix="Use the address at the end in links, sitemaps and canonicals.",
        find=_redirect,
        columns=("final_url",),
        needs=("redirects",),
        measured="One redirect between the address as it was given and a page that does not fail.",
        source=sources.both(sources.REDIRECTS, sources.rfc(9110, "15.4 (redirects)")),
    ),
    _rule(
        name="redirect_chain",
        title="Redirect chain",
        explanation="The address leads over others to its end, which is slow, and search engines may give up "
        "on the way.",
        fix="Redirect straight to the last address.",
        find=_chain,
        threshold=2,
        unit="redirects",
        columns=("redirects",),
        needs=("redirects",),
        measured="Redirects between the address as it was given and the page are counted.",
        source=sources.both(sources.HTTP_ERRORS, sources.rfc(9110, "15.4 (redirects)")),
    ),
    _rule(
        name="redirect_loop",
        title="Redirect loop",
        priority="high",
        explanation="The address redirects in a circle or without an end, so that nobody ever sees a page.",
        fix="Correct the redirects so that they end at a page.",
        find=_loop,
        columns=("error",),
        needs=("redirects",),
        measured="The redirects came back to an address, or were more than the crawler follows.",
        source=sources.rfc(9110, "15.4 (redirects)"),
    ),
    _rule(
        name="slow_response",
        title="Slow response",
        type="opportunity",
        explanation="The fetch took long; visitors leave slow pages, and search engines read fewer pages of "
        "slow sites.",
        fix="Look at caching, database queries and the distance between server and visitors.",
        find=_slow,
        threshold=1.0,
        unit="seconds",
        columns=("elapsed",),
        measured="Seconds that the fetch of the page took, all redirects and the body included, as seen "
        "from this machine.",
        source=sources.FIRST_BYTE,
    ),
    _rule(
        name="html_too_large",
        title="Very large HTML",
        explanation="The HTML is larger than the 2 MB that Google reads of a page; what comes after is not "
        "indexed.",
        fix="Move inline styles, scripts, data and images out of the page, or divide it.",
        find=_large,
        threshold=2_000_000,
        unit="bytes",
        columns=("bytes",),
        measured="Bytes of the page after decompression.",
        source=sources.GOOGLEBOT,
    ),
)
