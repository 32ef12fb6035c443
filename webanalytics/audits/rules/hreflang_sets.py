"""Rules about hreflang entries beside each other: those of both pages of a pair, of all places, and lang."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.directives.alternates import PLACES, Place
from webanalytics.audits.directives.languages import primary, same_language
from webanalytics.audits.graph.site_links import listed
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.rules.sources import LANG, LANGUAGES, both
from webanalytics.audits.site import Site


def _codes(entries: list[tuple[str, str]], url: str | None) -> set[str]:
    """Return the languages under which entries name an address; x-default is none."""
    return {code.lower() for code, named in entries if named == url and code.lower() != "x-default"}


def _return_differs(site: Site, _: Any) -> Iterator[Finding]:
    for row, entries in site.alternates.items():
        wrong = []
        for url in dict.fromkeys(url for _, url in entries):
            target = site.find(url)
            if target is None or target.redirected or target.row == row:
                continue
            given = _codes(entries, url)
            own = _codes(site.alternates.get(target.row, []), url)
            if given and own and not given & own:
                wrong.append(f"{url} as {', '.join(sorted(given))}, itself as {', '.join(sorted(own))}")
        if wrong:
            yield Finding(row, len(wrong), listed(wrong))


def _not_canonical(site: Site, _: Any) -> Iterator[Finding]:
    states, urls = site.values("canonical_state"), site.values("canonical_url")
    for row in site.alternates:
        if states[row] == "other":
            yield Finding(row, evidence=f"The canonical page is {listed([urls[row]])}.")


def _shared(site: Site, _: Any) -> Iterator[Finding]:
    for row, entries in site.alternates.items():
        named: dict[str, dict[str, None]] = {}
        for code, url in entries:
            if code.lower() != "x-default":
                named.setdefault(url, {})[primary(code)] = None
        several = [f"{url} for {', '.join(codes)}" for url, codes in named.items() if len(codes) > 1]
        if several:
            yield Finding(row, len(several), listed(several))


def _against_lang(site: Site, _: Any) -> Iterator[Finding]:
    langs = site.values("lang")
    for row, entries in site.alternates.items():
        lang, own = langs[row], _codes(entries, site.addresses.final[row])
        if lang and own and not any(same_language(primary(lang), primary(code)) for code in own):
            named = " and ".join(f'"{code}"' for code in sorted(own)[:5])
            yield Finding(row, evidence=f'Calls itself {named} in hreflang, and "{lang[:50]}" in lang.')


def _places_differ(site: Site, _: Any) -> Iterator[Finding]:
    for row, entries in site.alternate_entries.items():
        named: dict[Place, set[tuple[str, str]]] = {}
        for entry in entries:
            named.setdefault(entry.place, set()).add((entry.lang.lower(), entry.url))
        if len(named) > 1 and any(pairs != named[entries[0].place] for pairs in named.values()):
            counts = ", ".join(f"{PLACES[place]}: {len(pairs)}" for place, pairs in named.items())
            yield Finding(row, evidence=f"Entries in {counts}")


_rule = partial(Rule, category="hreflang")

RULES = (
    _rule(
        name="hreflang_return_differs",
        title="Hreflang return with another language",
        priority="high",
        explanation="The page names an alternate for a language for which that page does not name itself; "
        "search engines cannot pair them.",
        fix="Give each page the same language in the entries of all pages of the group.",
        find=_return_differs,
        columns=("hreflangs",),
        measured="An alternate of the audit names itself only under other values than this page gives it.",
        source=LANGUAGES,
    ),
    _rule(
        name="hreflang_not_canonical",
        title="Hreflang on a page that is not canonical",
        explanation="The page names another one as canonical, so its own entries for other languages are "
        "ignored.",
        fix="Put the entries on the canonical page, or let the canonical point to the page itself.",
        find=_not_canonical,
        columns=("hreflangs", "canonical_state"),
        measured="A page with hreflang entries whose canonical is another page.",
        source=LANGUAGES,
    ),
    _rule(
        name="hreflang_shared_address",
        title="One address for several languages in hreflang",
        type="warning",
        explanation="One address is named for several languages, though a page is written in one; several "
        "regions of one language are right.",
        fix="Name for each language the page that is written in it, and leave the others out.",
        find=_shared,
        columns=("hreflangs",),
        measured="An address under two or more languages, regions and x-default left aside.",
        source=LANGUAGES,
    ),
    _rule(
        name="hreflang_lang_differs",
        title="Hreflang and lang differ",
        type="warning",
        priority="low",
        explanation="The page calls itself by one language in hreflang and by another one in its lang "
        "attribute.",
        fix="Set both to the language that the page is written in.",
        find=_against_lang,
        columns=("hreflangs", "lang"),
        measured="A page whose entries for itself all have another language than the html element; regions "
        "are not compared.",
        source=both(LANGUAGES, LANG),
    ),
    _rule(
        name="hreflang_places_differ",
        title="Hreflang entries in several places differ",
        explanation="The head, the Link header and the sitemap name different alternates; one place is "
        "enough, and several have to agree.",
        fix="Keep the entries in one place.",
        find=_places_differ,
        columns=("hreflangs",),
        measured="A page with entries in at least two of head, Link header and sitemap that are not the "
        "same.",
        source=LANGUAGES,
    ),
)
