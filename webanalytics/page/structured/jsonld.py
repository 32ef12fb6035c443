"""The JSON-LD of a page, for its metadata, its dates, its publisher and its facts.

Blocks are read as pages write them: strict JSON first, then a repair of the usual slips.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from webanalytics.core.operations.types import is_deep
from webanalytics.core.strings import encodable
from webanalytics.page.document import Element
from webanalytics.page.page import Collector, Page, Reader, collected, once_per_page

MAX_BLOCKS = 500
"""Most JSON-LD blocks read per page."""

MAX_ITEMS = 5_000
"""Most JSON-LD items kept per page."""

_GRAPH_ENVELOPE = frozenset({"@context", "@graph", "@id"})

MAX_LENGTH = 2_000_000
"""Longest block that is read, in characters."""

MAX_DEPTH = 64
"""Deepest nesting that is kept; deeper data would break code that copies, pickles or prints it."""

# Possessive quantifiers keep every alternative linear in the length of the text.
_STRING_OR_COMMENT = re.compile(
    r'"(?:[^"\\]|\\.)*+"?' r"|/\*(?:[^*]|\*(?!/))*+(?:\*/)?" r"|//[^\n]*+", re.DOTALL
)
_STRING_OR_COMMAS = re.compile(r'"(?:[^"\\]|\\.)*+"?' r"|,[\s,]*+(?P<closing>[}\]])?", re.DOTALL)
_BAD_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|(.?))', re.DOTALL)
_WRAPPER = re.compile(r"^(?:\s|\ufeff|<!--|(?://\s*+)?<!\[CDATA\[|/\*\s*+<!\[CDATA\[\s*+\*/)++")
_CLOSER = re.compile(r"(?:\s|;|-->|//(?=\s*+(?:-->|\]\]>))|\]\]>|/\*\s*+\]\]>\s*+\*/)++$")
# Whole comments in front of the data and behind it; a comment around the data is its wrapper.
_COMMENT = r"<!--(?:[^-]|-(?!->))*+-->"
_COMMENTS_BEFORE = re.compile(rf"^(?:\s*+{_COMMENT})++(?=\s*+[\[{{])")
_COMMENT_BEHIND = re.compile(rf"(?<=[\]}}])\s*+{_COMMENT}\s*+$")
_BETWEEN = re.compile(r"[\s;,\ufeff]*+")
_CLOSER_WINDOW = 200
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def _finite(text: str) -> float | None:
    """Return the number, or None if it is not finite."""
    number = float(text)
    return number if math.isfinite(number) else None


def _whole(text: str) -> int | float | None:
    """Return the integer; one of hundreds of digits is no quantity and becomes a float or None."""
    return int(text) if len(text) < 400 else _finite(text)


def _nothing(_: str) -> None:
    """Return None for NaN and the infinities, which JSON does not have."""


_NUMBERS = json.JSONDecoder(strict=False, parse_float=_finite, parse_int=_whole, parse_constant=_nothing)
_LITERALS = json.JSONDecoder(strict=False, parse_float=str, parse_int=str, parse_constant=_nothing)


def _without_comment(match: re.Match[str]) -> str:
    """Keep a string, its wrong escapes mended; drop a comment."""
    token = match[0]
    if token[0] != '"':
        return " "
    if "\\" not in token:
        return token
    return _BAD_ESCAPE.sub(lambda escape: escape[0] if escape[1] else escape[2], token)


def _one_comma(match: re.Match[str]) -> str:
    """Keep a string; make one comma of several, none before a closing bracket."""
    return match[0] if match[0][0] == '"' else match["closing"] or ","


def _mended(text: str) -> str:
    """Return the text without comments and superfluous commas."""
    return _STRING_OR_COMMAS.sub(_one_comma, _STRING_OR_COMMENT.sub(_without_comment, unwrap(text)))


def unwrap(text: str) -> str:
    """Return the text without byte order mark, comments, CDATA wrapper and final semicolons."""
    text = _COMMENTS_BEFORE.sub("", text)
    start = max(0, len(text) - _CLOSER_WINDOW)
    text = text[:start] + _COMMENT_BEHIND.sub("", text[start:])
    text = text[match.end() :] if (match := _WRAPPER.match(text)) else text
    start = max(0, len(text) - _CLOSER_WINDOW)
    return text[:start] + _CLOSER.sub("", text[start:])


def _past_separators(text: str, position: int) -> int:
    """Return the position of the next value."""
    match = _BETWEEN.match(text, position)
    return match.end() if match else position


def without_references(text: str) -> str:
    """Return a string of JSON-LD without character references, which mean nothing there.

    Programs that write them by mistake do so once or twice. Those without a semicolon are left: they may be
    parameters of an address.

    >>> [without_references(text) for text in ("La Naci&#xF3;n", "Tea &amp;amp; more", "?a=1&copy=2")]
    ['La Nación', 'Tea & more', '?a=1&copy=2']
    """
    for _ in range(2):
        if "&" not in text:
            break
        text = _REFERENCE.sub(lambda match: html.unescape(match[0]), text)
    return text


def _values(text: str, decoder: json.JSONDecoder) -> list[Any]:
    """Return the consecutive values in the text."""
    values: list[Any] = []
    position = _past_separators(text, 0)
    while position < len(text):
        value, position = decoder.raw_decode(text, position)
        values.append(value)
        position = _past_separators(text, position)
    return values


def _repairs(text: str) -> list[Callable[[str], str]]:
    """Return the repairs worth trying, mildest first."""
    steps: list[Callable[[str], str]] = [str, unwrap, _mended]
    if "&" in text:
        steps.append(lambda source: _mended(html.unescape(source)))
    return steps


def _without_surrogates(value: Any) -> Any:
    """Return the value with lone surrogates, which no encoding can write, replaced."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def read_json(text: str, *, literals: bool = False) -> list[Any]:
    """Return the JSON values in a text, repaired where possible.

    Usually one; none where the text cannot be read within the limits. NaN and infinities are None, half
    surrogate pairs U+FFFD. With `literals` numbers are given as they are written ("19.90").

    Notes
    -----
    Read as RFC 8259 says, control characters in strings allowed. Where that fails, the following is
    mended: a byte order mark, comments (also around the block), CDATA wrappers, final semicolons,
    superfluous commas, escapes that JSON does not know, character references, several values in a row.

    Examples
    --------
    >>> read_json('<!-- {"name": "Tea", /* pot */ "price": 19.90,}; -->')
    [{'name': 'Tea', 'price': 19.9}]
    >>> read_json('{"price": 19.90}', literals=True)
    [{'price': '19.90'}]
    >>> read_json('{"name": "Tea"')
    []
    """
    if len(text) > MAX_LENGTH:
        return []
    decoder = _LITERALS if literals else _NUMBERS
    for repair in _repairs(text):
        mended = repair(text)
        try:
            values = _values(mended, decoder)
        except RecursionError:
            return []
        except ValueError:
            continue
        if mended.count("{") + mended.count("[") > MAX_DEPTH and is_deep(values, MAX_DEPTH):
            return []
        return _without_surrogates(values) if _SURROGATE_ESCAPE.search(mended) else values
    return []


def is_jsonld(script: Element) -> bool:
    """Return whether a script element is JSON-LD (JSON-LD 1.1, section 7): any case, any parameters."""
    kind = script.get("type")
    return kind is not None and kind.strip().lower().startswith("application/ld+json")


class JsonLdBlocks(Collector):
    """The texts of a page's JSON-LD blocks."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.texts: list[str] = []

    def readers(self) -> dict[str, Reader]:
        """Return its readers by tag."""
        return {"script": self._script}

    def _script(self, element: Element) -> None:
        if is_jsonld(element) and (text := element.text) and not text.isspace():
            self.texts.append(text)


def jsonld_texts(page: Page) -> list[str]:
    """Return the text of each JSON-LD block of the page."""
    return collected(page, JsonLdBlocks).texts


def flatten(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the items of a JSON-LD value: arrays and ``@graph`` opened, all but objects dropped.

    An object that says something of its own besides its ``@graph`` stays as an item without it.

    >>> list(flatten({"@context": "https://schema.org", "@graph": [{"@type": "Person"}, {"@type": "Book"}]}))
    [{'@type': 'Person'}, {'@type': 'Book'}]
    """
    if isinstance(value, list):
        for element in value:
            yield from flatten(element)
    elif isinstance(value, dict):
        graph = value.get("@graph")
        if not isinstance(graph, (list, dict)):
            yield value
            return
        if value.keys() - _GRAPH_ENVELOPE:
            yield {key: part for key, part in value.items() if key != "@graph"}
        yield from flatten(graph)


@once_per_page
def jsonld(page: Page) -> list[dict[str, Any]]:
    """Return the JSON-LD items of a page in document order; a broken block does not affect the others.

    >>> jsonld(Page('<script type="application/ld+json">{"@type": "Book",}</script>'))
    [{'@type': 'Book'}]
    """
    items: list[dict[str, Any]] = []
    for text in jsonld_texts(page)[:MAX_BLOCKS]:
        items.extend(flatten(read_json(text)))
        if len(items) >= MAX_ITEMS:
            return items[:MAX_ITEMS]
    return items
