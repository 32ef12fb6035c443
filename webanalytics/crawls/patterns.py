"""What addresses have in common: their pattern without numbers, and the family in which a trap would grow."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import parse_qsl

from webanalytics.crawls.scope import SESSION

_ORIGIN = re.compile(r"(https?://[^/]+)([^?]*)(?:\?(.*))?", re.DOTALL)
_SEPARATOR = re.compile("[&;]")
_DIGITS = re.compile(r"\d+")
# Names of months are numbers in the path of a year.
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_MONTHS = (
    "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august "
    "september october november december januar februar marz maerz mai juni juli oktober dezember janvier "
    "fevrier mars avril juin juillet aout septembre octobre novembre decembre enero febrero marzo abril "
    "mayo junio julio agosto septiembre octubre noviembre diciembre gennaio febbraio aprile maggio giugno "
    "luglio settembre ottobre dicembre januari februari maart mei augustus janeiro fevereiro marco maio "
    "junho julho setembro outubro novembro dezembro"
)
_MONTH = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(_MONTHS.split())})(?![^\W\d_])", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[-_]\d+)*")
# v2, 1.4 and 3.x name versions of documents, which have the same pages.
_VERSION = re.compile(r"v\d[\w.]*|\d+(?:\.[\dx]+)+", re.IGNORECASE)
_TOKEN = re.compile(r"(?=[a-z_-]*\d)(?=[\d_-]*[a-z])[\w-]{20,}|[0-9a-f]{16,}", re.IGNORECASE)
_IN_PATH = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/;?]*|/\([A-Z]\([^/)]*\)\)", re.IGNORECASE)
_TIME = re.compile(
    r"cal(?:endar)?|dates?|months?|days?|weeks?|years?|events?|agenda|archives?", re.IGNORECASE
)
_PAGE = re.compile(r"page|paged?|p|pg|start|offset|from|skip|cursor", re.IGNORECASE)
_PAGES = re.compile(r"/(?:page|paged|p|pg)[/_-]?\{n\}/?(?:\.\w+)?$", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"\d{1,15}(?=\D*$)")
_DATE = re.compile(r"(?:19|20)\d\d[-/_](?:0?[1-9]|1[0-2])(?!\d)")
LONGEST_PATH = 200
"""Segments of a path that are looked at."""
LONGEST_QUERY = 4
"""Parameters of a query that are left out, one at a time, to see what it is without them."""
MOST_TIMES = 3
"""How often a name may stand in a path."""


class Pattern(NamedTuple):
    """An address by what repeats in it."""

    # the path with numbers as ``{n}`` and tokens as ``{id}``, and the names of the query's parameters
    text: str
    # the addresses among which this one's trap would grow: all queries of a path, or what follows its first
    # number
    family: str
    # the addresses that are counted together: the family of a query but for the pages of a list, else all of
    # one pattern
    key: str
    names: frozenset[str]  # names of the query's parameters, and ``…`` if one of them stands in it twice
    numbered: bool  # whether anything in it may grow: a number, a token or a query

    @property
    def is_list(self) -> bool:
        """Whether it is of the pages of a list without filters, which are counted by themselves."""
        return bool(self.names) and self.key != self.family

    def grows_with(self, other: Pattern) -> bool:
        """Return whether two addresses are of one family; queries must share a parameter."""
        if self.family != other.family:
            return False
        return not self.names or not self.names.isdisjoint(other.names)


def pattern_of(url: str) -> Pattern:
    """Return the pattern of an address in normal form.

    >>> pattern_of("https://a.example/calendar/2026/11?view=day").text
    '/calendar/{n}/{n}?view'
    >>> pattern_of("https://a.example/blog/2019/03/first-post").family
    'https://a.example/blog/{n}'
    >>> pattern_of("https://a.example/diary/november-2026").text
    '/diary/{n}'
    >>> pattern_of("https://a.example/docs/v1.2/install").text, pattern_of("https://a.example/a/?C=N;O=D").text
    ('/docs/v1.2/install', '/a/?C&O')
    """
    found = _ORIGIN.match(url)
    origin, path, query = found.groups() if found else ("", url, None)
    if _YEAR.search(path):
        path = _MONTH.sub("0", path)
    parts = [_generalised(part) for part in path.split("/", LONGEST_PATH)]
    text = "/".join(parts)
    if query is None:
        key = url if text == path else origin + text  # one text where nothing was put in its place
        root = next((place for place, part in enumerate(parts) if part == "{n}"), len(parts))
        family = key if root == len(parts) else origin + "/".join(parts[: root + 1])
        return Pattern(text, family, key, frozenset(), "{" in text)
    asked = [part.partition("=")[0] for part in _SEPARATOR.split(query) if part]
    names = sorted(set(asked))
    family = f"{origin}{text}?"
    # The pages of a whole list are a sequence of their own beside its filters. ``p`` numbers posts as well,
    # in forums (viewtopic.php?p=) and blogs (/?p=).
    posts = names == ["p"] and (text == "/" or text.endswith(".php"))
    listed = not posts and all(map(_PAGE.fullmatch, names))
    key = f"{family}{'&'.join(names)}" if listed else family
    twice = frozenset({"…"} if len(names) < len(asked) else ())
    return Pattern(f"{text}?{'&'.join(names)}"[:500], family, key, twice.union(names), True)


def is_below(url: str, other: str) -> bool:
    """Return whether a path goes on from another one, or from its folder, and is longer.

    >>> is_below("https://a.example/about/team/jobs/", "https://a.example/about/team/")
    True
    >>> is_below("https://a.example/jobs/one", "https://a.example/about")
    False
    """
    path, around = url.partition("?")[0], other.partition("?")[0]
    folder = around if around.count("/") < 4 else around[: around.rfind("/")]
    return path.startswith(f"{folder.rstrip('/')}/") and path.count("/") > around.count("/")


def nest_of(url: str) -> str:
    """Return what a path is below of that leads below itself: all that its first part is around.

    >>> nest_of("https://a.example/about/team/jobs/")
    'https://a.example/about/…'
    """
    return "/".join([*url.partition("?")[0].split("/", 4)[:4], "…"])


def folder_of(url: str) -> str:
    """Return the folder of an address, numbers as ``{n}``.

    >>> folder_of("https://a.example/blog/2019/tea?page=2"), folder_of("https://a.example/blog/")
    ('https://a.example/blog/{n}', 'https://a.example')
    """
    path = url.partition("?")[0].rstrip("/").rpartition("/")[0]
    return _DIGITS.sub("{n}", path)


def _generalised(part: str) -> str:
    if not _DIGITS.search(part):
        return "{id}" if len(part) >= 16 and _TOKEN.fullmatch(part) else part
    if _NUMBER.fullmatch(part):
        return "{n}"
    if _VERSION.fullmatch(part):
        return part
    return "{id}" if _TOKEN.fullmatch(part) else _DIGITS.sub("{n}", part)


def repeats(url: str) -> str | None:
    """Return where a path begins to repeat itself: a part three times on end, or a name four times in all.

    Numbers may repeat: /1/1/1 may be a date.

    >>> repeats("https://a.example/x/a/b/a/b/a/b/c"), repeats("https://a.example/a/b/a/c/a/a")
    ('https://a.example/x/a/…', 'https://a.example/a/…')
    >>> repeats("https://a.example/a/b/a/b"), repeats("https://a.example/1/1/1/1")
    (None, None)
    """
    found = _ORIGIN.match(url)
    origin, path = (found[1], found[2]) if found else ("", url)
    parts = path.split("/")[1 : LONGEST_PATH + 1]
    if len(set(parts)) > len(parts) - 2:
        return None
    counts = Counter(part for part in parts if part and not part.isdigit())
    often = next((part for part in parts if counts[part] > MOST_TIMES), None)
    place = parts.index(often) if often is not None else _block(parts)
    return None if place is None else f"{origin}/{'/'.join(parts[: place + 1])}/…"


def _block(parts: list[str]) -> int | None:
    """Return where segments begin that follow on each other three times."""
    for size in range(1, len(parts) // 3 + 1):
        for start in range(len(parts) - size * 3 + 1):
            block = parts[start : start + size]
            if all(part.isdigit() or not part for part in block):
                continue
            if block * 3 == parts[start : start + size * 3]:
                return start
    return None


def without_each(url: str) -> Iterator[tuple[str, str, str]]:
    """Yield an address without each of its parameters, and the name and the value of that one.

    >>> list(without_each("https://a.example/tea;sid=9?a=1&b"))  # doctest: +NORMALIZE_WHITESPACE
    [('https://a.example/tea?a=1&b', ';sid', '9'), ('https://a.example/tea;sid=9?b', 'a', '1'),
     ('https://a.example/tea;sid=9?a=1', 'b', '')]
    """
    path, mark, query = url.partition("?")
    if found := _IN_PATH.search(path):
        name, _, value = found[0].partition("=")
        bare = path[: found.start()] + path[found.end() :] + mark + query
        yield (bare, name, value) if value else (bare, "/(id)", name)
    parts = query.split("&") if mark else []
    for place, part in enumerate(parts[:LONGEST_QUERY]):
        name, _, value = part.partition("=")
        kept = "&".join(parts[:place] + parts[place + 1 :])
        yield f"{path}?{kept}" if kept else path, name, value


def places_of(url: str) -> set[tuple[str, str]]:
    """Return the parameters of an address that name a place themselves, as of a page to go back to.

    >>> places_of("https://a.example/login?next=%2Fcart&lang=en"), places_of("https://a.example/login?next=1")
    ({('next', '/cart')}, set())
    """
    asked = parse_qsl(url.partition("?")[2])
    return {(name, value) for name, value in asked if value.startswith(("/", "http://", "https://"))}


def is_session(name: str, value: str) -> bool:
    """Return whether a parameter looks like the number of a session.

    >>> is_session("PHPSESSID", "4f2a"), is_session("page", "2"), is_session("", "4f2a")
    (True, False, False)
    """
    named = name.startswith((";", "/")) or SESSION.fullmatch(name)
    return bool(value and (named or _TOKEN.fullmatch(value)))


def sequence_of(url: str, pattern: Pattern) -> tuple[str, int] | None:
    """Return the sequence that an address is of, and its number in it; None for dates, tokens and texts.

    >>> paths = ("part/17", "x?a=b&page=2", "on/2026/11", "on/may-2026", "x?after=k1")
    >>> urls = [f"https://a.example/{path}" for path in paths]
    >>> [sequence_of(url, pattern_of(url)) for url in urls]  # doctest: +NORMALIZE_WHITESPACE
    [('https://a.example/part/{n}', 17), ('https://a.example/x?a=b&page={n}', 2), None, None, None]
    """
    head, mark, tail = url.partition("?") if pattern.names else ("", "", url)
    found = _LAST_NUMBER.search(tail)
    numbered = bool(mark) or "{n}" in pattern.text
    if found is None or not numbered or "{id}" in pattern.text:
        return None
    if _DATE.search(url) or (_YEAR.search(url) and _MONTH.search(url)):
        return None
    before, after = tail[: found.start()], tail[found.end() :]
    if mark and not (before.endswith("=") and after[:1] in ("", "&")):
        return None
    return f"{head}{mark}{before}{{n}}{after}", int(found[0])


def kind_of(pattern: Pattern) -> str:
    """Return what a trap is called: filters, calendar, pagination or endless.

    >>> paths = ("x?a=1&b=2", "calendar/2026/1", "x?page=2", "archive/page/7/")
    >>> [kind_of(pattern_of(f"https://a.example/{path}")) for path in paths]
    ['filters', 'calendar', 'pagination', 'pagination']
    """
    if _PAGES.search(pattern.text) or (pattern.names and all(map(_PAGE.fullmatch, pattern.names))):
        return "pagination"
    if any(map(_TIME.fullmatch, (*pattern.names, *re.split(r"[/?._-]", pattern.text)))):
        return "calendar"
    if len(pattern.names) > 1:
        return "filters"
    if any(map(_PAGE.fullmatch, pattern.names or pattern.text.split("/"))):
        return "pagination"
    return "filters" if pattern.names else "endless"
