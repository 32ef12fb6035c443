"""Rules about canonical links and where they lead, and about AMP versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from webanalytics.audits.graph.site_links import Target, in_head, listed, normal
from webanalytics.audits.rules.base import Finding, PageByPage
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.rules.links import hosts_in_part
from webanalytics.audits.rules.searches import outside_head
from webanalytics.audits.site import Site

_ABSOLUTE = re.compile(r"\s*(?a:https?)://[^/]", re.IGNORECASE)
_LONGEST = 10
"""Steps along canonicals that are followed."""


def _hrefs(cell: Any) -> list[str]:
    return [entry["href"] for entry in in_head(cell or ()) if entry["href"].strip()]


def _links(site: Site) -> Iterator[tuple[int, Any, Any]]:
    """Yield the pages that were read with the state of their canonical and all canonical links."""
    return ((row, state, site.canonicals[row]) for row, state in site.read("canonical_state"))


def _where(cell: Any) -> str:
    """Return which of the links stand in the Link header, '' if none does."""
    sent = [entry["href"] for entry in cell or () if entry.get("place") == "header"]
    return f" (in the Link header: {listed(dict.fromkeys(sent))})" if sent else ""


@PageByPage
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


@PageByPage
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


def ways(site: Site) -> Iterator[tuple[Finding, list[int]]]:
    """Yield the way from each page along canonicals of several pages, as a finding and as rows."""
    after = following(site)
    for row in after:
        path = [row]
        while (step := after.get(path[-1])) is not None and len(path) <= _LONGEST:
            path.append(step)
            if step in path[:-1]:
                break
        if len(path) > 2:
            yield Finding(row, len(path) - 1, " → ".join(site.name(step)[:100] for step in path)), path


def _chain(site: Site, _: Any) -> Iterator[Finding]:
    # Circles are left to another rule.
    return (one for one, path in ways(site) if path[-1] != path[0])


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
    return (one for one, path in ways(site) if path[-1] == path[0])


def _unlinked(site: Site, _: Any) -> Iterator[Finding]:
    if site.inlinks is None or site.stopped:
        return
    in_part = hosts_in_part(site)
    for row, url, target in targets(site):
        page = site.addresses.page(target)
        _, _, host, path = site.name(page).split("/", 3)
        if path and host not in in_part and not site.fault(target) and not site.inlinks.counts[page]:
            yield Finding(row, evidence=f"No page of the audit links to {listed([url])}.")


@PageByPage
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


RULES = rules_of(
    __name__,
    {
        "canonical_missing": _missing,
        "canonical_conflicting": _conflicting,
        "canonical_multiple": _multiple,
        "canonical_relative": _relative,
        "canonical_invalid": _invalid,
        "canonical_fragment": _fragment,
        "canonical_failing": _failing,
        "canonical_not_indexable": _not_indexable,
        "canonical_chain": _chain,
        "canonical_outside_head": outside_head("canonical"),
        "canonical_other_host": _other_host,
        "canonical_to_http": _to_http,
        "canonical_loop": _circle,
        "canonical_unlinked": _unlinked,
        "amp_without_canonical": _amp_alone,
        "amp_failing": _amp_fails,
        "amp_without_return": _amp_silent,
    },
)
