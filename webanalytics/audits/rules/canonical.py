"""Rules about canonical links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.graph.site_links import Target, in_head, listed
from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.searches import outside_head
from webanalytics.audits.site import Site

_ABSOLUTE = re.compile(r"\s*(?a:https?)://[^/]", re.IGNORECASE)
_LONGEST_CHAIN = 10


def _hrefs(cell: Any) -> list[str]:
    return [entry["href"] for entry in in_head(cell or ()) if entry["href"].strip()]


def _links(site: Site) -> Iterator[tuple[int, Any, Any]]:
    """Yield the pages that were read with the state of their canonical and all canonical links."""
    return ((row, state, site.canonicals[row]) for row, state in site.read("canonical_state"))


def _where(cell: Any) -> str:
    """Return which of the links stand in the Link header, '' if none does."""
    sent = [entry["href"] for entry in cell or () if entry.get("place") == "header"]
    return f" (in the Link header: {listed(dict.fromkeys(sent))})" if sent else ""


@page_by_page
def _missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, state in site.read("canonical_state"):
        if state == "missing":
            yield Finding(row)


def _conflicting(site: Site, _: Any) -> Iterator[Finding]:
    for row, state, cell in _links(site):
        if state == "multiple":
            hrefs = list(dict.fromkeys(_hrefs(cell)))
            yield Finding(row, len(hrefs), f"{listed(hrefs)}{_where(cell)}")


def _multiple(site: Site, _: Any) -> Iterator[Finding]:
    for row, state, cell in _links(site):
        hrefs = _hrefs(cell)
        if len(hrefs) > 1 and state != "multiple":
            shown = f"{len(hrefs)} times {listed(dict.fromkeys(hrefs))}{_where(cell)}"
            yield Finding(row, len(hrefs), shown)


def _relative(site: Site, _: Any) -> Iterator[Finding]:
    for row, state, cell in _links(site):
        relative = [href for href in _hrefs(cell) if not _ABSOLUTE.match(href)]
        if relative and state != "invalid":
            yield Finding(row, relative[0], listed(relative))


@page_by_page
def _invalid(site: Site, _: Any) -> Iterator[Finding]:
    for row, state, url in site.read("canonical_state", "canonical_url"):
        if state == "invalid":
            yield Finding(row, url, listed([url]))


def _fragment(site: Site, _: Any) -> Iterator[Finding]:
    for row, _, cell in _links(site):
        found = [href for href in _hrefs(cell) if "#" in href]
        if found:
            yield Finding(row, found[0], listed(found))


def targets(site: Site) -> Iterator[tuple[int, str, Target]]:
    """Yield the pages that name another page of the audit as canonical."""
    for row, state, url in site.read("canonical_state", "canonical_url"):
        target = site.find(url) if state == "other" else None
        if target is not None:
            yield row, url, target


def _failing(site: Site, _: Any) -> Iterator[Finding]:
    for row, state, url in site.read("canonical_state", "canonical_url"):
        if state == "other" and (fault := site.fault_at(url)):
            yield Finding(row, url, f"{listed([url])} {fault}.")


def _not_indexable(site: Site, _: Any) -> Iterator[Finding]:
    for row, url, target in targets(site):
        reason = "" if site.fault(target) else site.closed(target)
        if reason and reason != "canonicalised":
            yield Finding(row, url, f"{listed([url])} is not indexable: {reason}.")


def following(site: Site) -> dict[int, int]:
    """Return the row of the canonical page of each page that names another one of the audit."""
    return {row: site.addresses.page(target) for row, _, target in targets(site) if not site.fault(target)}


def ways(site: Site, most: int) -> Iterator[tuple[Finding, list[int]]]:
    """Yield the way from each page along canonicals of several pages, as a finding and as rows."""
    after = following(site)
    for row in after:
        path = [row]
        while (step := after.get(path[-1])) is not None and len(path) < most:
            path.append(step)
            if step in path[:-1]:
                break
        if len(path) > 2:
            yield Finding(row, len(path) - 1, " → ".join(site.name(step)[:100] for step in path)), path


def _chain(site: Site, _: Any) -> Iterator[Finding]:
    # Circles are left to another rule.
    return (one for one, path in ways(site, _LONGEST_CHAIN) if path[-1] != path[0])


_rule = partial(Rule, category="canonical")

RULES = (
    _rule(
        name="canonical_missing",
        title="Canonical missing",
        type="warning",
        explanation="Without a canonical link search engines choose which of several addresses of a page "
        "they show.",
        fix="Give every page a canonical link, to itself where no other page is meant.",
        find=_missing,
        columns=("canonical_state",),
        measured="Canonical links with an address in the head of the page.",
        source=sources.CANONICALS,
    ),
    _rule(
        name="canonical_conflicting",
        title="Canonicals that contradict each other",
        priority="high",
        explanation="The page names several different canonical pages; search engines then ignore them all.",
        fix="Leave one canonical link in the page.",
        find=_conflicting,
        columns=("canonicals",),
        measured="Different canonical addresses in the head are counted, in normal form.",
        source=sources.both(sources.CANONICALS, sources.rfc(6596, "3 (canonical)")),
    ),
    _rule(
        name="canonical_multiple",
        title="Several canonicals",
        type="warning",
        priority="low",
        explanation="The page has the same canonical link several times, which often is the work of two "
        "plugins.",
        fix="Leave one canonical link in the page.",
        find=_multiple,
        columns=("canonicals",),
        measured="Canonical links in the head are counted where all of them name one address.",
        source=sources.CANONICALS,
    ),
    _rule(
        name="canonical_relative",
        title="Canonical is relative",
        type="warning",
        priority="low",
        explanation="A relative canonical leads to a wrong page where the site is reached under another host "
        "or scheme.",
        fix="Write the canonical link as a whole address, with https and the host.",
        find=_relative,
        columns=("canonicals",),
        measured="Canonical links in the head that do not begin with http:// or https:// and a host.",
        source=sources.CANONICALS,
    ),
    _rule(
        name="canonical_invalid",
        title="Canonical is no web address",
        priority="high",
        explanation="The canonical link does not hold an address of the web, so search engines cannot use "
        "it.",
        fix="Write the canonical link as a whole address, with https and the host.",
        find=_invalid,
        columns=("canonical_state",),
        measured="A canonical link in the head that is not an address of http or https, once it is joined "
        "to the page's.",
        source=sources.both(sources.CANONICALS, sources.rfc(6596, "3 (canonical)")),
    ),
    _rule(
        name="canonical_fragment",
        title="Canonical with a fragment",
        explanation="The canonical link has a fragment (#), which search engines do not take for a page of "
        "its own.",
        fix="Remove the fragment from the canonical link.",
        find=_fragment,
        columns=("canonicals",),
        measured="A # in a canonical link in the head.",
        source=sources.CANONICALS,
    ),
    _rule(
        name="canonical_failing",
        title="Canonical page redirects or fails",
        priority="high",
        explanation="The page names a canonical page that redirects, answers with an error or does not "
        "answer.",
        fix="Let the canonical link point to a page that answers with HTTP 200.",
        find=_failing,
        columns=("canonical_state",),
        needs=("http_status",),
        measured="What the audit knows of the canonical address: whether it redirected, answered with an "
        "error, or did not answer. A crawl asks for it; other addresses outside of the audit are not judged.",
        source=sources.both(sources.CANONICALS, sources.CANONICALIZATION),
    ),
    _rule(
        name="canonical_not_indexable",
        title="Canonical page is not indexable",
        priority="high",
        explanation="The page names a canonical page that may not be indexed, so neither may appear in "
        "search results.",
        fix="Let the canonical link point to an indexable page, or make the canonical page indexable.",
        find=_not_indexable,
        columns=("canonical_state",),
        measured="What the audit knows of the canonical page: noindex, or closed by robots.txt. A page that "
        "is not in the audit is not judged.",
        source=sources.both(sources.CANONICALS, sources.NOINDEX),
    ),
    _rule(
        name="canonical_chain",
        title="Chain of canonicals",
        priority="high",
        explanation="The canonical page names yet another page as canonical; search engines may not follow "
        "the chain.",
        fix="Let the canonical link point to the last page of the chain.",
        find=_chain,
        columns=("canonical_state",),
        measured="Canonical links are followed from page to page within the audit; two steps or more are a "
        "chain.",
        source=sources.both(sources.CANONICALS, sources.CANONICALIZATION),
    ),
    _rule(
        name="canonical_outside_head",
        title="Canonical outside of the head",
        priority="high",
        explanation="Search engines ignore a canonical link in the body of a page, which anybody could have "
        "put there.",
        fix="Move the link element into the head, and look for an element before it that ends the head "
        "too early.",
        find=outside_head("canonical"),
        columns=("outside_head",),
        measured="Whether a canonical link comes after the start of the body, in the tree that a browser "
        "builds.",
        source=sources.both(sources.CANONICALS, sources.HEAD_METADATA),
    ),
)
