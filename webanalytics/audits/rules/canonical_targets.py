"""Rules about where canonical links lead: other hosts, http, circles, pages without links; AMP versions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.graph.site_links import listed, normal
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.canonical import targets, ways
from webanalytics.audits.rules.sources import AMP, AMP_DISCOVERY, CANONICALS, both, rfc
from webanalytics.audits.site import Site

_LONGEST_CIRCLE = 10


def _addresses(site: Site) -> Iterator[tuple[int, str, str]]:
    """Yield the pages with another canonical, their own address and that, both in normal form."""
    for row, state, url in site.read("canonical_state", "canonical_url"):
        own, target = site.addresses.final[row], normal(url)
        if state == "other" and own is not None and target is not None:
            yield row, own, target


def _other_host(site: Site, _: Any) -> Iterator[Finding]:
    for row, own, target in _addresses(site):
        if own.split("/", 3)[2] != target.split("/", 3)[2]:
            yield Finding(row, evidence=listed([target]))


def _to_http(site: Site, _: Any) -> Iterator[Finding]:
    for row, own, target in _addresses(site):
        if own.startswith("https:") and target.startswith("http:"):
            yield Finding(row, evidence=listed([target]))


def _circle(site: Site, _: Any) -> Iterator[Finding]:
    return (one for one, path in ways(site, _LONGEST_CIRCLE + 1) if path[-1] == path[0])


def _unlinked(site: Site, _: Any) -> Iterator[Finding]:
    if site.inlinks is None or site.stopped:
        return
    for row, url, target in targets(site):
        page = site.addresses.page(target)
        path = (site.addresses.final[page] or "").split("/", 3)[-1]
        if path and not site.fault(target) and not site.inlinks.counts[page]:
            yield Finding(row, evidence=f"No page of the audit links to {listed([url])}.")


@page_by_page
def _amp_alone(site: Site, _: Any) -> Iterator[Finding]:
    for row, amp, state in site.read("amp", "canonical_state"):
        if amp and state == "missing":
            yield Finding(row)


def _amp_fails(site: Site, _: Any) -> Iterator[Finding]:
    for row, url in site.read("amphtml"):
        if fault := site.fault_at(url):
            yield Finding(row, evidence=f"{listed([url])} {fault}.")


def _amp_silent(site: Site, _: Any) -> Iterator[Finding]:
    canonicals = site.values("canonical_url")
    amp = site.values("amp")
    for row, url in site.read("amphtml"):
        target = site.find(url) if url else None
        if target is None or site.fault(target) or not site.good[target.row]:
            continue
        own = site.addresses.final[row]
        if not amp[target.row]:
            yield Finding(row, evidence=f"{listed([url])} is no AMP page.")
        elif normal(canonicals[target.row]) not in (own, normal(canonicals[row]) or own):
            yield Finding(
                row, evidence=f"{listed([url])} names {canonicals[target.row] or 'no page'} instead."
            )


_rule = partial(Rule, category="canonical")

RULES = (
    _rule(
        name="canonical_other_host",
        title="Canonical on another host",
        type="warning",
        explanation="The page asks search engines to show a page of another host in its place, which is "
        "right for copies alone.",
        fix="Check that the other host has the original; else let the canonical point to the page itself.",
        find=_other_host,
        columns=("canonical_state",),
        measured="A page whose canonical has another host than the page, subdomains and www included.",
        source=both(CANONICALS, rfc(6596, "3 (canonical)")),
    ),
    _rule(
        name="canonical_to_http",
        title="Canonical leads from https to http",
        explanation="An https page names an http address as canonical: search engines are asked to show "
        "the one that browsers call not secure.",
        fix="Write the canonical link with https.",
        find=_to_http,
        columns=("canonical_state",),
        measured="A page in https whose canonical is an address in http.",
        source=CANONICALS,
    ),
    _rule(
        name="canonical_loop",
        title="Canonicals in a circle",
        priority="high",
        explanation="The canonical page names this page as canonical in turn, so search engines cannot tell "
        "which of them is meant.",
        fix="Let all pages of the circle name one of them.",
        find=_circle,
        columns=("canonical_state",),
        measured="The canonical links of the audit's pages lead from the page back to it.",
        source=rfc(6596, "3 (canonical)"),
    ),
    _rule(
        name="canonical_unlinked",
        title="Canonical page without links",
        type="warning",
        explanation="No page links to the canonical page: visitors go to its copy, and search engines get "
        "opposite signs.",
        fix="Link to the canonical page wherever its copies are linked.",
        find=_unlinked,
        columns=("canonical_state", "inlinks"),
        measured="A page whose canonical is another page of the audit that none of its pages links to; home "
        "pages are left out.",
        source=CANONICALS,
    ),
    _rule(
        name="amp_without_canonical",
        title="AMP page without canonical",
        priority="high",
        explanation="An AMP page has to name the page that it is a version of, or itself; without that it "
        "is not valid.",
        fix="Add a canonical link to the page that the AMP page is made from, or to itself.",
        find=_amp_alone,
        columns=("amp", "canonical_state"),
        measured="A page whose html element has the attribute amp or ⚡, and no canonical link.",
        source=AMP,
    ),
    _rule(
        name="amp_failing",
        title="AMP version redirects or fails",
        priority="high",
        explanation="The page names an AMP version that redirects, answers with an error or does not answer.",
        fix="Let the amphtml link point to a page that answers with HTTP 200, or remove it.",
        find=_amp_fails,
        columns=("amphtml",),
        needs=("http_status",),
        measured="A page whose amphtml link leads to one that redirects or fails, as far as the audit knows "
        "it; a crawl asks for it.",
        source=AMP_DISCOVERY,
    ),
    _rule(
        name="amp_without_return",
        title="AMP version that does not lead back",
        explanation="The page that is named as AMP version is none, or names another page as canonical; "
        "search engines do not pair the two.",
        fix="Let the AMP version name this page as canonical.",
        find=_amp_silent,
        columns=("amphtml", "amp"),
        measured="A page whose amphtml link leads to a page of the audit that is no AMP page, or whose "
        "canonical is neither this page nor this page's canonical.",
        source=AMP_DISCOVERY,
    ),
)
