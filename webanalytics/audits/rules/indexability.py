"""Rules about what may be indexed, and the directives that say so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from webanalytics.audits.ai.access import UNKNOWN, verdicts_for
from webanalytics.audits.directives.robots import directives, unavailable_after
from webanalytics.audits.rules.base import Find, Finding, PageByPage
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.site import Site

_SOURCES = {
    "robots": "Robots meta tag",
    "googlebot": "Googlebot meta tag",
    "x_robots_tag": "X-Robots-Tag header",
}


def _directive(name: str, *columns: str) -> Find:
    @PageByPage
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


@PageByPage
def _expired(site: Site, _: Any) -> Iterator[Finding]:
    now = datetime.now(UTC)
    for row, *texts in site.read(*_SOURCES):
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
    errors, known = site.values("error"), verdicts_for(site, "Googlebot")
    for row, trip in enumerate(site.fetches):
        verdict = known.get(row, UNKNOWN)
        if trip.problem == "blocked by robots.txt" and verdict.allowed is not True:
            said = (
                f"robots.txt, line {verdict.line}: {verdict.rule}" if verdict.line else str(errors[row] or "")
            )
            yield Finding(row, "robots.txt", said)


_NO_LENGTH = re.compile(r"(?:^|[,\s:])max-snippet\s*:\s*0+(?!\d)", re.IGNORECASE)
_CONFLICTS = (("index", "noindex"), ("follow", "nofollow"), ("all", "noindex"), ("all", "nofollow"))


def _says(is_meant: Callable[[str], object]) -> Find:
    @PageByPage
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, *texts in site.read(*_SOURCES):
            if said := [text[:200] for text in texts if text and is_meant(text)]:
                yield Finding(row, evidence="; ".join(said))

    return find


def _names(*names: str) -> Find:
    return _says(lambda text: not directives(text).isdisjoint(names))


@PageByPage
def _conflict(site: Site, _: Any) -> Iterator[Finding]:
    for row, *texts in site.read(*_SOURCES):
        found = frozenset[str]().union(*(directives(text) for text in texts if text))
        pairs = [" and ".join(pair) for pair in _CONFLICTS if found.issuperset(pair)]
        if pairs:
            yield Finding(row, len(pairs), f"{', '.join(pairs)}: {'; '.join(filter(None, texts))[:200]}")


RULES = rules_of(
    __name__,
    {
        "noindex": _directive("noindex", "robots", "googlebot"),
        "noindex_header": _directive("noindex", "x_robots_tag"),
        "nofollow": _directive("nofollow", *_SOURCES),
        "unavailable_after_passed": _expired,
        "canonicalised": _canonicalised,
        "blocked_by_robots": _blocked,
        "directives_conflict": _conflict,
        "nosnippet": _names("nosnippet"),
        "max_snippet_zero": _says(_NO_LENGTH.search),
        "noimageindex": _names("noimageindex"),
        "noarchive": _names("noarchive"),
        "noodp": _names("noodp", "noydir"),
    },
)
