"""Rules about hreflang: alternates of a page in other languages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.directives.languages import hreflang_problem
from webanalytics.audits.graph.site_links import Target, listed
from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.rules.searches import outside_head
from webanalytics.audits.site import Site

_SHOWN = 5


def _missing_return(site: Site, _: Any) -> Iterator[Finding]:
    named = {row: {url for _, url in entries} for row, entries in site.alternates.items()}
    for row, urls in named.items():
        own = site.addresses.final[row]
        silent = []
        for url in sorted(urls):
            target = site.find(url)
            # Pages that redirect or were not read are left to another rule.
            if target is None or target.redirected or not site.good[target.row]:
                continue
            back = named.get(target.row) or set()
            if own not in back:
                silent.append(target.url)
        if silent:
            yield Finding(row, len(silent), f"No return link from {listed(silent)}.")


def _no_self(site: Site, _: Any) -> Iterator[Finding]:
    for row, entries in site.alternates.items():
        if site.addresses.final[row] not in {url for _, url in entries}:
            yield Finding(row, None, f"Alternates: {listed(url for _, url in entries)}")


def _invalid(site: Site, _: Any, part: str) -> Iterator[Finding]:
    for row, entries in site.alternates.items():
        wrong = list(dict.fromkeys(code for code, _ in entries if hreflang_problem(code) == part))
        if wrong:
            shown = ", ".join(f'"{code}"' for code in wrong[:_SHOWN])
            more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
            yield Finding(row, wrong[0], f"hreflang={shown}{more}")


def _conflicting(site: Site, _: Any) -> Iterator[Finding]:
    for row, entries in site.alternates.items():
        pages: dict[str, dict[str, None]] = {}
        for code, url in entries:
            pages.setdefault(code.lower(), {})[url] = None
        several = [(code, urls) for code, urls in pages.items() if len(urls) > 1]
        if several:
            code, urls = several[0]
            yield Finding(row, code, f'"{code}" leads to {listed(urls)}.')


def _alternates(site: Site) -> Iterator[tuple[int, list[Target]]]:
    """Yield the pages that have alternates in the audit besides themselves, with those."""
    for row, entries in site.alternates.items():
        own = site.addresses.final[row]
        targets = (site.find(url) for url in dict.fromkeys(url for _, url in entries) if url != own)
        yield row, [target for target in targets if target is not None]


def _failing(site: Site, _: Any) -> Iterator[Finding]:
    for row, entries in site.alternates.items():
        urls = (url for url in dict.fromkeys(url for _, url in entries) if url != site.addresses.final[row])
        faults = [(url, fault) for url in urls if (fault := site.fault_at(url))]
        if faults:
            yield Finding(row, len(faults), listed(f"{url} {fault}" for url, fault in faults))


def _not_indexable(site: Site, _: Any) -> Iterator[Finding]:
    for row, targets in _alternates(site):
        closed = [
            (target.url, site.closed(target))
            for target in targets
            if not site.fault(target) and site.closed(target)
        ]
        if closed:
            yield Finding(row, len(closed), listed(f"{url} ({reason})" for url, reason in closed))


def _no_default(site: Site, _: Any) -> Iterator[Finding]:
    for row, entries in site.alternates.items():
        if "x-default" not in {code.lower() for code, _ in entries}:
            yield Finding(row, None, "Languages: " + ", ".join(code for code, _ in entries[:_SHOWN]))


_rule = partial(Rule, category="hreflang")

RULES = (
    _rule(
        name="hreflang_missing_return",
        title="Hreflang without return link",
        priority="high",
        explanation="An alternate page does not name this page in turn; search engines then ignore the pair.",
        fix="Let every page of the group name all pages of the group, itself included.",
        find=_missing_return,
        columns=("hreflangs",),
        measured="Alternates of the page that are in the audit, were read at their own address and do not "
        "name it in turn are counted.",
        source=sources.LANGUAGES,
    ),
    _rule(
        name="hreflang_missing_self",
        title="Hreflang without the page itself",
        type="warning",
        priority="low",
        explanation="The page names alternates in other languages but not itself, which search engines "
        "recommend.",
        fix="Add an hreflang entry with the page's own language and address.",
        find=_no_self,
        columns=("hreflangs",),
        measured="Whether one of the alternates that the page names is the page's own address.",
        source=sources.LANGUAGES,
    ),
    _rule(
        name="hreflang_invalid_language",
        title="Hreflang with an invalid language",
        priority="high",
        explanation="The value does not start with a language of ISO 639-1, so search engines ignore the "
        "entry.",
        fix="Use a language such as en, or a language and region joined by a hyphen such as en-GB.",
        find=partial(_invalid, part="language"),
        columns=("hreflangs",),
        measured="Whether each hreflang value is x-default or begins with a language of ISO 639-1.",
        source=sources.LANGUAGES,
    ),
    _rule(
        name="hreflang_invalid_region",
        title="Hreflang with an invalid region",
        priority="high",
        explanation="The region is not one of ISO 3166-1 (it is en-GB, not en-UK; there is no region EU).",
        fix="Use a region of two letters of ISO 3166-1, or none at all.",
        find=partial(_invalid, part="region"),
        columns=("hreflangs",),
        measured="Whether the region of each hreflang value, where it has one, is of ISO 3166-1 with two "
        "letters.",
        source=sources.LANGUAGES,
    ),
    _rule(
        name="hreflang_conflicting",
        title="Hreflang that contradicts itself",
        priority="high",
        explanation="One language leads to several pages, so search engines cannot tell which one is meant.",
        fix="Leave one entry for each language and region.",
        find=_conflicting,
        columns=("hreflangs",),
        measured="Different addresses that one hreflang value of a page leads to.",
        source=sources.LANGUAGES,
    ),
    _rule(
        name="hreflang_failing",
        title="Hreflang to a page that redirects or fails",
        priority="high",
        explanation="An alternate page redirects, fails or does not answer; search engines then ignore it.",
        fix="Let hreflang entries point to pages that answer with HTTP 200.",
        find=_failing,
        columns=("hreflangs",),
        needs=("http_status",),
        measured="Alternates of the page that the audit knows to redirect or to fail are counted: a crawl "
        "asks each once. Other addresses that are not in the audit are not judged.",
        source=sources.LANGUAGES,
    ),
    _rule(
        name="hreflang_not_indexable",
        title="Hreflang to a page that is not indexable",
        priority="high",
        explanation="An alternate page may not be indexed, so it cannot be shown to those who search in its "
        "language.",
        fix="Let hreflang entries point to indexable, canonical pages.",
        find=_not_indexable,
        columns=("hreflangs",),
        measured="Alternates of the page are counted that the audit knows as noindex, canonicalised to "
        "another page, or closed by robots.txt.",
        source=sources.both(sources.LANGUAGES, sources.NOINDEX),
    ),
    _rule(
        name="hreflang_missing_x_default",
        title="Hreflang without x-default",
        type="warning",
        priority="low",
        explanation="There is no page for visitors whose language has no alternate.",
        fix="Add an x-default entry, to the page where visitors choose a language or to the main version.",
        find=_no_default,
        columns=("hreflangs",),
        measured="Whether one of the hreflang values of a page with alternates is x-default.",
        source=sources.LANGUAGES,
    ),
    _rule(
        name="hreflang_outside_head",
        title="Hreflang outside of the head",
        priority="high",
        explanation="Search engines ignore alternate languages that are named in the body of a page.",
        fix="Move the link elements into the head, and look for an element before them that ends the head "
        "too early.",
        find=outside_head("hreflang"),
        columns=("outside_head",),
        measured="Whether an alternate with hreflang comes after the start of the body, in the tree that a "
        "browser builds.",
        source=sources.both(sources.LANGUAGES, sources.HEAD_METADATA),
    ),
)
