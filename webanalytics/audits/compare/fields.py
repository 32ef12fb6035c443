"""What of a page is compared, and which of its differences are noise: counters, tokens, links that rotate."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from webanalytics.audits.directives.headers import Headers
from webanalytics.audits.pages import CRAWLED, DERIVED, FOUND
from webanalytics.runs.frames.arrow import declared

COMPARED = (
    *("indexability", "http_status", "final_url", "redirects", "redirect_kinds", "content_type"),
    *("in_sitemap", "robots", "googlebot", "x_robots_tag", "canonical", "canonicals", "title", "titles"),
    *("description", "descriptions", "headings", "text", "lang", "language", "hreflangs", "links"),
    *("nofollow_links", "imgTags", "jsonld", "structured_types", "price", "priceCurrency", "availability"),
    *("meta_keywords", "author", "viewport", "refresh", "amphtml", "amp", "outside_head", "charset"),
    *("declared_charset", "doctype", "favicons", "theme-color", "application-name", "meta_policy"),
    *("meta_referrer", "headers"),
)
"""Columns that speak of the page, in the order of their changes; those of the prefixes `TAGS` do, too."""

OF_ANSWERS = frozenset(COMPARED[:7])
"""Those of them that are compared of a page that came with an error or from elsewhere, too."""

TAGS = ("og:", "card:")

HEADERS = (
    *("cache-control", "content-encoding", "content-language", "content-security-policy", "link"),
    *("permissions-policy", "referrer-policy", "strict-transport-security", "vary"),
    *("x-content-type-options", "x-frame-options"),
)
"""Headers that matter to search engines and visitors; of the others the change is none of the page."""

FOLLOWS: Mapping[str, tuple[str, ...]] = {
    "redirects": ("final_url",),
    "redirect_kinds": ("final_url", "redirects"),
    "content_type": ("http_status", "final_url"),
    "titles": ("title",),
    "descriptions": ("description",),
    "canonicals": ("canonical",),
    "structured_types": ("jsonld",),
    "declared_charset": ("charset",),
}
"""Columns whose change is told only where none of those that it follows from changed."""

LONG = 200
"""Characters of a text from which only what differs of it is shown, with this many words `AROUND` it."""
AROUND = 4

_UNORDERED = frozenset(("links", "nofollow_links", "hreflangs", "imgTags", "favicons", "structured_types"))
_OF_VISITS = re.compile(
    r"(?<=[?&;])(?:utm_\w+|\w*sess(?:ion)?_?id|sid|(?:\w+_)?token|csrf\w*|nonce|ts|time(?:stamp)?|_|rand(?:om)?"
    r"|rnd|cb|cache_?bust(?:er)?|ord)=[^&#;]*|'nonce-[^']*'",
    re.IGNORECASE,
)
"""Parts of addresses and policies that differ from one visit to the next."""


def columns_of(names: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the columns to compare of those of two audits: declared ones, tags, and the user's own."""
    both, known = set(names) & set(others), {*declared("audit"), *DERIVED, *CRAWLED, *FOUND, "extract_note"}
    tags = sorted(name for name in both if name.startswith(TAGS))
    own = sorted(name for name in both if name not in known)
    return [*(name for name in COMPARED if name in both), *tags, *own]


def is_own(column: str) -> bool:
    """Return whether a column to compare is the user's own: where it is missing, the page has nothing."""
    return column not in COMPARED and not column.startswith(TAGS)


def may_change(field: str) -> bool:
    """Return whether comparisons tell changes of a field, but for columns of the user's own."""
    of_header = field.removeprefix("header:") in HEADERS and field.startswith("header:")
    return of_header or field.startswith(TAGS) or field in COMPARED or field == "robots.txt"


def fields_of(column: str, *cells: Any) -> Iterator[tuple[Any, ...]]:
    r"""Yield the name of a field and its values in some audits; headers are a field each.

    Examples
    --------
    >>> list(fields_of("headers", "Date: Monday\nVary: Accept", "Date: Tuesday"))
    [('header:vary', 'Accept', '')]
    """
    if column != "headers":
        yield column, *cells
        return
    known = [Headers.of(cell) if isinstance(cell, str) else None for cell in cells]
    for name in HEADERS:
        values = [None if headers is None else headers.get(name) for headers in known]
        if any(values):
            yield f"header:{name}", *values


def is_same(column: str, old: Any, new: Any) -> bool:
    """Return whether two values of a column say the same of the page.

    Examples
    --------
    >>> is_same("links", ["/a?sid=1", "/b"], ["/b", "/a?sid=2"]), is_same("title", "Tea", "Teas")
    (True, False)
    """
    if old is new or old == new:
        return True
    if column in _UNORDERED and isinstance(old, list) and isinstance(new, list):
        first, second = (Counter(" ".join(_tokens([entry])) for entry in value) for value in (old, new))
        return first == second
    return list(_tokens(old)) == list(_tokens(new))


def is_noise(old: Any, new: Any, again: Any) -> bool:
    """Return whether a value differs only in places where the page differs from itself, read once more.

    Of a list no more may be gone from such a place than it holds; the words of a text may be more or fewer.

    Examples
    --------
    >>> is_noise("Tea, 7 visits", "Tea, 8 visits", "Tea, 9 visits")
    True
    >>> is_noise("Tea, 7 visits", "Coffee, 8 visits", "Coffee, 9 visits")
    False
    """
    first, second, third = (list(_tokens(value)) for value in (old, new, again))
    holes = [
        (start, end, max(end - start, until - other)) for start, end, other, until in gaps(second, third)
    ]
    return all(
        any(
            begin <= start and end <= until and (isinstance(new, str) or gone <= size)
            for begin, until, size in holes
        )
        for gone, start, end in ((end - start, *place) for start, end, *place in gaps(first, second))
    )


def difference(old: Any, new: Any) -> tuple[Any, Any]:
    """Return what differs of two lists or long texts, to be read by people; other values are returned whole.

    Examples
    --------
    >>> difference(["/a", "/b"], ["/b", "/c"])
    (['/a'], ['/c'])
    """
    if isinstance(old, list) and isinstance(new, list):
        keys = [[" ".join(_tokens([entry])) for entry in value] for value in (old, new)]
        known = [set(side) for side in keys]
        gone = [entry for entry, key in zip(old, keys[0], strict=True) if key not in known[1]]
        come = [entry for entry, key in zip(new, keys[1], strict=True) if key not in known[0]]
        return (gone, come) if gone or come else (old, new)
    if isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > LONG:
        first, second = old.split(), new.split()
        found = list(gaps(first, second))
        return _around(first, (place[:2] for place in found)), _around(second, (place[2:] for place in found))
    return old, new


def _around(words: Sequence[str], places: Iterable[tuple[int, int]]) -> str:
    return " … ".join(" ".join(words[max(0, start - AROUND) : end + AROUND]) for start, end in places)


def _tokens(value: Any) -> Iterator[str]:
    """Yield the words of a text, or the leaves of a nested value, without what belongs to a visit."""
    if isinstance(value, str):
        yield from _OF_VISITS.sub("", value).split()
        return
    below: list[tuple[str, Any]] = [("", value)]
    while below:
        name, part = below.pop()
        if isinstance(part, Mapping):
            below += [(f"{name}.{key}", part[key]) for key in reversed(list(part))]
        elif isinstance(part, (list, tuple)):
            below += [(name, entry) for entry in reversed(part)]
        else:
            yield f"{name} {_OF_VISITS.sub('', str(part))}"


def gaps(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield where two sequences differ: start and end in the one, start and end in the other.

    Between what stands once in each of them and in the same order, equal ends are cut off; the rest differs.
    That takes time in proportion to their length, whatever they hold.

    Examples
    --------
    >>> list(gaps("we sell green tea".split(), "we sell black tea".split()))
    [(2, 3, 2, 3)]
    """
    first = second = 0
    for start, place in [*_in_both(old, new), (len(old), len(new))]:
        end, until = start, place
        while first < end and second < until and old[first] == new[second]:
            first, second = first + 1, second + 1
        while first < end and second < until and old[end - 1] == new[until - 1]:
            end, until = end - 1, until - 1
        if first < end or second < until:
            yield first, end, second, until
        first, second = start + 1, place + 1


def _in_both(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of what stands once in both, as many as are in one order (patience sorting)."""
    counts, others = Counter(old), Counter(new)
    places = {token: place for place, token in enumerate(old) if counts[token] == 1 == others[token]}
    ends: list[int] = []  # the smallest last place of a run of each length, and which pair that is
    pairs: list[tuple[int, int]] = []
    before: dict[tuple[int, int], tuple[int, int] | None] = {}
    for other, token in enumerate(new):
        if (place := places.get(token)) is not None:
            size, pair = bisect_left(ends, place), (place, other)
            before[pair] = pairs[size - 1] if size else None
            ends[size : size + 1], pairs[size : size + 1] = [place], [pair]
    found: list[tuple[int, int]] = []
    last = pairs[-1] if pairs else None
    while last is not None:
        found.append(last)
        last = before[last]
    return found[::-1]
