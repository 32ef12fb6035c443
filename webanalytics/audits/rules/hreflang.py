"""Rules about alternates in other languages: of one page, of its set, and of the groups of a crawl."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.directives.alternates import PLACES, Place
from webanalytics.audits.directives.languages import hreflang_problem, is_language, primary, same_language
from webanalytics.audits.graph.site_links import listed
from webanalytics.audits.rules.base import Finding
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.rules.searches import outside_head
from webanalytics.audits.site import Site

_SHOWN = 5
_DEFAULT = "x-default"


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
            if own not in named.get(target.row, ()):
                silent.append(target.url)
        if silent:
            yield Finding(row, len(silent), f"No return link from {listed(silent)}.")


def _no_self(site: Site, _: Any) -> Iterator[Finding]:
    states = site.values("canonical_state")
    for row, entries in site.alternates.items():
        # Those of a page that is not canonical are of its canonical page: another rule says so.
        if states[row] != "other" and site.addresses.final[row] not in {url for _, url in entries}:
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


def _others(site: Site) -> Iterator[tuple[int, list[str]]]:
    """Yield the pages that have alternates, with the addresses of those besides their own."""
    for row, entries in site.alternates.items():
        own = site.addresses.final[row]
        yield row, list(dict.fromkeys(url for _, url in entries if url != own))


def _failing(site: Site, _: Any) -> Iterator[Finding]:
    for row, urls in _others(site):
        if faults := [f"{url} {fault}" for url in urls if (fault := site.fault_at(url))]:
            yield Finding(row, len(faults), listed(faults))


def _not_indexable(site: Site, _: Any) -> Iterator[Finding]:
    for row, urls in _others(site):
        targets = [target for target in map(site.find, urls) if target is not None and not site.fault(target)]
        if closed := [f"{target.url} ({why})" for target in targets if (why := site.closed(target))]:
            yield Finding(row, len(closed), listed(closed))


def _no_default(site: Site, _: Any) -> Iterator[Finding]:
    for row, entries in site.alternates.items():
        if _DEFAULT not in {code.lower() for code, _ in entries}:
            yield Finding(row, None, "Languages: " + ", ".join(code for code, _ in entries[:_SHOWN]))


def _codes(entries: list[tuple[str, str]], url: str | None) -> set[str]:
    """Return the languages under which entries name an address; x-default is none."""
    return {code.lower() for code, named in entries if named == url and code.lower() != _DEFAULT}


def _return_differs(site: Site, _: Any) -> Iterator[Finding]:
    for row, entries in site.alternates.items():
        wrong = []
        for url in dict.fromkeys(url for _, url in entries):
            target = site.find(url)
            if target is None or target.redirected:
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
            if code.lower() != _DEFAULT:
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
        if any(pairs != named[entries[0].place] for pairs in named.values()):
            counts = ", ".join(f"{PLACES[place]}: {len(pairs)}" for place, pairs in named.items())
            yield Finding(row, evidence=f"Entries in {counts}")


def groups(site: Site) -> list[list[int]]:
    """Return the pages that hreflang joins, directly or over others: the components of their graph."""
    parent: dict[int, int] = {}

    def root(row: int) -> int:
        while parent.setdefault(row, row) != row:
            parent[row] = row = parent[parent[row]]
        return row

    for row in site.alternates:
        for page in _pages(site, row):
            parent[root(row)] = root(page)
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
            if text and is_language(code) and not same_language(code, text) and not right >= set(sources)
        ]
        if wrong and site.good[row]:
            by = listed(site.name(source) for source in codes[wrong[0]])
            yield Finding(row, wrong[0], f'Called "{wrong[0]}" by {by}, but the text is in "{text}".')


RULES = rules_of(
    __name__,
    {
        "hreflang_missing_return": _missing_return,
        "hreflang_missing_self": _no_self,
        "hreflang_invalid_language": partial(_invalid, part="language"),
        "hreflang_invalid_region": partial(_invalid, part="region"),
        "hreflang_conflicting": _conflicting,
        "hreflang_failing": _failing,
        "hreflang_not_indexable": _not_indexable,
        "hreflang_missing_x_default": _no_default,
        "hreflang_outside_head": outside_head("hreflang"),
        "hreflang_return_differs": _return_differs,
        "hreflang_not_canonical": _not_canonical,
        "hreflang_shared_address": _shared,
        "hreflang_lang_differs": _against_lang,
        "hreflang_places_differ": _places_differ,
        "hreflang_incomplete": _incomplete,
        "hreflang_other_language": _other_language,
    },
)
