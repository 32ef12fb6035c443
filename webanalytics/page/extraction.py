"""Own extraction: what CSS selectors, XPath and regular expressions of a user find on a page.

`selectors` checks them before any work; a worker calls `analyse`, in a message of its own with a deadline of
its own, so that what takes too long costs no other column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import Any, Literal

import regex
from lxml import etree
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from webanalytics.errors import ParameterError
from webanalytics.page.page import Page, fold

Kind = Literal["css", "xpath", "regex"]

MOST = 50
"""Selectors of one call."""
LONGEST_SELECTOR = 2_000
MOST_VALUES = 500
"""Values of one selector that are kept of a page."""
LONGEST_VALUE = 2_000
"""Characters of a value that are kept."""
REGEX_SECONDS = 2.0
"""Seconds that one regular expression may take on a page; the deadline of the worker holds for the others."""

_NAME = re.compile(r"[^\W\d][\w.-]{0,59}")
_PREFIX = re.compile(r"(css|xpath|regex):\s*(.*)", re.DOTALL)
_STEPS = ("/", "./", "(", "..", "@")
"""How XPath begins, and CSS never does."""
_PSEUDO = re.compile(r"::(?:(text)|attr\(\s*([^\s()]+)\s*\))\s*\Z")
_FLAGS = int(re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.ASCII | re.UNICODE)


@dataclass(frozen=True)
class Selector:
    """One checked selector, as plain data that a worker, a checkpoint and another machine can have."""

    name: str  # name of its column
    kind: Kind  # what it is written in
    source: str  # the selector
    flags: int = 0  # flags of a regular expression
    several: bool = False  # whether all values are wanted, as a list, or the first, as a string

    @property
    def shown(self) -> str:
        """The selector as text, with its kind."""
        return f"{self.kind}:{self.source}"

    def entry(self) -> list[Any]:
        """Return it as a list that JSON can hold."""
        return list(astuple(self))


def selectors(extract: Any, taken: Iterable[str], single: Iterable[str] = ()) -> tuple[Selector, ...]:
    r"""Return the checked selectors of a call: CSS, XPath 1.0 or regular expressions, by columns.

    Raises `ParameterError` for names that are taken and selectors that are not valid; columns that are
    ``single``, of strings, cannot have lists.

    Examples
    --------
    >>> found = selectors({"cost": ".price::text", "tags": ["//a"], "ga": re.compile(r"G-\w+")}, ())
    >>> [(item.name, item.kind, item.several) for item in found]
    [('cost', 'css', False), ('tags', 'xpath', True), ('ga', 'regex', False)]
    """
    if not isinstance(extract, Mapping) or not 0 < len(extract) <= MOST:
        raise ParameterError.must_be("extract", f"a mapping of 1 to {MOST} names of columns to selectors")
    known, strings = frozenset(taken), frozenset(single)
    for name, given in extract.items():
        if name in strings and isinstance(given, list):
            raise _wrong(name, "in an audit, this is a column of strings and cannot have lists")
    return tuple(_checked(name, given, known) for name, given in extract.items())


def _checked(name: Any, given: Any, taken: frozenset[str]) -> Selector:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ParameterError.on(
            "extract",
            f"must name columns with letters, digits, dots, hyphens and underscores, not {str(name)[:60]!r}",
        )
    if name in taken:
        raise ParameterError.on(
            "extract", f"must not name `{name}`, which is a column of every audit; `{name}_own` is free"
        )
    several = isinstance(given, list)
    if several:
        if len(given) != 1:
            raise _wrong(name, "a list must hold one selector, all of whose values are wanted")
        given = given[0]
    if isinstance(given, re.Pattern) and isinstance(given.pattern, str):
        selector = Selector(name, "regex", given.pattern, given.flags & _FLAGS, several)
    elif isinstance(given, str) and given.strip():
        found = _PREFIX.match(given.strip())
        kind, source = (found[1], found[2]) if found else ("css", given.strip())
        if not found and source.startswith(_STEPS):
            kind = "xpath"
        selector = Selector(name, kind, source, several=several)  # type: ignore[arg-type]
    else:
        raise _wrong(name, "it is neither a selector nor a compiled regular expression of text")
    if len(selector.source) > LONGEST_SELECTOR:
        raise _wrong(name, f"it is longer than {LONGEST_SELECTOR:,} characters")
    try:
        _trial(selector)
    except (
        ValueError,
        SelectolaxError,
        etree.XPathError,
        regex.error,
        OverflowError,
        RecursionError,
    ) as error:
        kinds = {"css": "CSS selector", "xpath": "XPath", "regex": "regular expression"}
        raise _wrong(name, f"it is no {kinds[selector.kind]}: {error}") from None
    return selector


def _wrong(name: str, why: str) -> ParameterError:
    return ParameterError.on("extract", f"is wrong for `{name}`: {why[:300].rstrip('.')}")


def _trial(selector: Selector) -> None:
    """Raise for what is not valid: some faults show only when an expression is evaluated."""
    page = Page("<p>x", "https://example.org/")
    next(values(selector, page), None)


@lru_cache(maxsize=4 * MOST)
def _xpath(source: str) -> etree.XPath:
    return etree.XPath(source, smart_strings=False)


@lru_cache(maxsize=4 * MOST)
def _pattern(source: str, flags: int) -> Any:
    return regex.compile(source, flags)


def _css_values(source: str, page: Page) -> Iterator[str]:
    pseudo = _PSEUDO.search(source)
    chosen = source[: pseudo.start()] if pseudo else source
    for node in _parsed(page).css(chosen or "*"):
        if pseudo and pseudo[2]:
            value = node.attributes.get(pseudo[2].lower())
            if value is not None:
                yield value
        else:
            yield node.text()


def _parsed(page: Page) -> LexborHTMLParser:
    if LexborHTMLParser not in page.found:
        _ = page.tree  # raises for a page that is made to keep the parser busy
        page.found[LexborHTMLParser] = LexborHTMLParser(page.html)
    found: LexborHTMLParser = page.found[LexborHTMLParser]
    return found


def _xpath_values(source: str, page: Page) -> Iterator[str]:
    found = _xpath(source)(page.tree)
    for item in found if isinstance(found, list) else [found]:
        if isinstance(item, bool):
            yield "true" if item else "false"
        elif isinstance(item, float):
            if item == item:  # not a number
                yield f"{item:.15g}"
        elif isinstance(item, str):
            yield item
        elif isinstance(item, tuple):  # a namespace
            yield str(item[1])
        elif isinstance(item.tag, str):
            yield "".join(item.itertext())


def _regex_values(selector: Selector, page: Page) -> Iterator[str]:
    for found in _pattern(selector.source, selector.flags).finditer(page.html, timeout=REGEX_SECONDS):
        yield (
            next((group for group in found.groups() if group is not None), "") if found.groups() else found[0]
        )


def values(selector: Selector, page: Page) -> Iterator[str]:
    """Yield what a selector finds on a page, in document order, white space folded; empty texts are left out.

    Examples
    --------
    >>> page = Page("<p class=price>  9.90 <b>EUR</b></p><p class=price data-old=11>8", "https://a.example/")
    >>> [list(values(Selector("", "css", css), page)) for css in (".price::text", ".price::attr(data-old)")]
    [['9.90 EUR', '8'], ['11']]
    >>> list(values(Selector("", "xpath", "count(//p)"), page))
    ['2']
    """
    readers: dict[Kind, Callable[[], Iterator[str]]] = {
        "css": lambda: _css_values(selector.source, page),
        "xpath": lambda: _xpath_values(selector.source, page),
        "regex": lambda: _regex_values(selector, page),
    }
    return (text[:LONGEST_VALUE] for found in readers[selector.kind]() if (text := fold(found)))


def analyse(page: Page, entries: list[list[Any]]) -> dict[str, Any]:
    """Return what selectors find on a page: the first value of each, or a list of all that are wanted.

    Examples
    --------
    >>> page = Page("<h1>Tea</h1><a>Milk</a><a>Ice</a>", "https://a.example/")
    >>> wanted = [Selector("head", "css", "h1").entry(), Selector("links", "css", "a", 0, True).entry()]
    >>> analyse(page, wanted)
    {'extracted': {'head': 'Tea', 'links': ['Milk', 'Ice']}, 'extract_note': ''}
    """
    extracted: dict[str, Any] = {}
    notes: list[str] = []
    for entry in entries:
        selector = Selector(*entry)
        try:
            found = values(selector, page)
            if selector.several:
                extracted[selector.name] = [text for _, text in zip(range(MOST_VALUES), found, strict=False)]
            else:
                extracted[selector.name] = next(found, None)
        except TimeoutError:
            notes.append(too_long(selector.name, REGEX_SECONDS))
        except (ValueError, SelectolaxError, etree.XPathError) as error:
            notes.append(f"{selector.name}: {str(error)[:100]}")
    return {"extracted": extracted, "extract_note": "; ".join(notes)}


def too_long(name: str, seconds: float) -> str:
    """Return what a row says of a selector that took too long."""
    return f"{name}: took longer than {seconds:g} seconds"
