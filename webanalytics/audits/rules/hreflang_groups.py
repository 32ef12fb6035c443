"""Rules about hreflang over a whole site: groups of pages, and the languages that they are called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webanalytics.audits.directives.languages import primary, same_language
from webanalytics.audits.graph.site_links import listed
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.rules.sources import LANGUAGES
from webanalytics.audits.site import Site

_DEFAULT = "x-default"


def groups(site: Site) -> list[list[int]]:
    """Return the pages that hreflang joins, directly or over others: the components of their graph."""
    parent: dict[int, int] = {}

    def root(row: int) -> int:
        while parent.setdefault(row, row) != row:
            parent[row] = row = parent[parent[row]]
        return row

    for row, entries in site.alternates.items():
        for code, url in entries:
            target = site.find(url)
            if target is not None and code.lower() != _DEFAULT and site.good[site.addresses.page(target)]:
                parent[root(row)] = root(site.addresses.page(target))
    found: dict[int, list[int]] = {}
    for row in sorted(parent):
        found.setdefault(root(row), []).append(row)
    return [group for group in found.values() if len(group) > 1]


def _incomplete(site: Site, _: Any) -> Iterator[Finding]:
    for group in groups(site):
        named = {row: set(_pages(site, row)) for row in group}
        everything = set().union(*named.values())
        for row, pages in named.items():
            missing = sorted(everything - pages - {row})
            if missing and row in site.alternates:
                counts = f"{len(pages | {row})} of the {len(everything | {row})} pages"
                shown = listed(site.name(other) for other in missing)
                yield Finding(row, len(missing), f"Names {counts} of its group: without {shown}")


def _pages(site: Site, row: int) -> Iterator[int]:
    for code, url in site.alternates.get(row, ()):
        target = site.find(url)
        if target is not None and code.lower() != _DEFAULT and site.good[site.addresses.page(target)]:
            yield site.addresses.page(target)


def _called(site: Site) -> dict[int, dict[str, list[int]]]:
    """Return for each page the languages that pages call it, and which ones do."""
    found: dict[int, dict[str, list[int]]] = {}
    for row, entries in site.alternates.items():
        for code, url in entries:
            target = site.find(url)
            if target is not None and code.lower() != _DEFAULT and not target.redirected:
                found.setdefault(target.row, {}).setdefault(primary(code), []).append(row)
    return found


def _other_language(site: Site, _: Any) -> Iterator[Finding]:
    languages = site.values("language")
    for row, codes in sorted(_called(site).items()):
        text = primary(languages[row])
        right = {source for code in codes if same_language(code, text) for source in codes[code]}
        wrong = [
            code  # who calls it both is told by the rule on one address for several languages
            for code, sources in codes.items()
            if code and text and not same_language(code, text) and not right >= set(sources)
        ]
        if wrong and site.good[row]:
            by = listed(site.name(source) for source in codes[wrong[0]])
            yield Finding(row, wrong[0], f'Called "{wrong[0]}" by {by}, but the text is in "{text}".')


RULES = (
    Rule(
        name="hreflang_incomplete",
        title="Hreflang group is incomplete",
        category="hreflang",
        explanation="Pages of one group name different sets of pages: search engines then join only some of "
        "the languages.",
        fix="Let every page of the group name all pages of the group, itself included.",
        find=_incomplete,
        columns=("hreflangs",),
        measured="Pages that hreflang joins, directly or over others, are a group; of each page that has "
        "hreflang, the pages of its group that it does not name. The page itself and x-default are left to "
        "other rules.",
        source=LANGUAGES,
    ),
    Rule(
        name="hreflang_other_language",
        title="Hreflang names a page in another language",
        category="hreflang",
        explanation="Pages call this one a version in a language that its text is not in, so that search "
        "engines show it to the wrong readers.",
        fix="Translate the text, or correct the hreflang entries that lead here.",
        find=_other_language,
        columns=("hreflangs", "language"),
        measured="The language that a model recognises in the main text, against the code of each hreflang "
        "entry of the audit that leads here; languages that it cannot tell apart are equal.",
        source=LANGUAGES,
    ),
)
