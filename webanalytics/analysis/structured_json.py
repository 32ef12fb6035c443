"""JSON as web pages write it: strict JSON first, then a repair of the usual slips."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Callable
from typing import Any

DEFAULT_MAX_LENGTH = 2_000_000
"""Longest block that is read, in characters."""

DEFAULT_MAX_DEPTH = 64
"""Deepest nesting that is kept; deeper data would break whatever copies, pickles or prints it."""

# Possessive quantifiers keep every alternative linear in the length of the text.
_STRING_OR_COMMENT = re.compile(
    r'"(?:[^"\\]|\\.)*+"?' r"|/\*(?:[^*]|\*(?!/))*+(?:\*/)?" r"|//[^\n]*+",
    re.DOTALL,
)
_STRING_OR_COMMAS = re.compile(r'"(?:[^"\\]|\\.)*+"?' r"|,[\s,]*+(?P<closing>[}\]])?", re.DOTALL)
_BAD_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|(.?))', re.DOTALL)
_WRAPPER = re.compile(r"^(?:\s|\ufeff|<!--|(?://\s*+)?<!\[CDATA\[|/\*\s*+<!\[CDATA\[\s*+\*/)++")
_CLOSER = re.compile(r"(?:\s|;|-->|//(?=\s*+(?:-->|\]\]>))|\]\]>|/\*\s*+\]\]>\s*+\*/)++$")
_BETWEEN = re.compile(r"[\s;,\ufeff]*+")
_CLOSER_WINDOW = 200
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def _finite(text: str) -> float | None:
    """Return the number, or None where it is too large to be one."""
    number = float(text)
    return number if math.isfinite(number) else None


def _whole(text: str) -> int | float | None:
    """Return the integer; one of hundreds of digits is no quantity and becomes a float or None."""
    return int(text) if len(text) < 400 else _finite(text)


def _nothing(_: str) -> None:
    """Stand for NaN and the infinities, which JSON does not have."""


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
    """Return the text without byte order mark, comment or CDATA wrapper and final semicolons."""
    text = text[match.end() :] if (match := _WRAPPER.match(text)) else text
    start = max(0, len(text) - _CLOSER_WINDOW)
    return text[:start] + _CLOSER.sub("", text[start:])


def _past_separators(text: str, position: int) -> int:
    """Return the position of the next value."""
    match = _BETWEEN.match(text, position)
    return match.end() if match else position


def _values(text: str, decoder: json.JSONDecoder) -> list[Any]:
    """Return the values that stand one after the other in the text."""
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


def too_deep(value: Any, max_depth: int) -> bool:
    """Tell whether lists and objects are nested deeper than the limit.

    Examples
    --------
    >>> too_deep([[1]], 2), too_deep([[[1]]], 2)
    (False, True)
    """
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(max_depth):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return True


def _without_surrogates(value: Any) -> Any:
    """Return the value with half characters replaced, which no encoding can write."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def read_json(
    text: str,
    *,
    literals: bool = False,
    max_length: int = DEFAULT_MAX_LENGTH,
    max_depth: int = DEFAULT_MAX_DEPTH,
) -> list[Any]:
    """Return the JSON values in a text, mended where that is possible.

    Parameters
    ----------
    text : str
        One block as it stands in the page.
    literals : bool
        Give numbers as they are written ("19.90") instead of as numbers.
    max_length : int
        Longest text that is read, in characters.
    max_depth : int
        Deepest nesting that is kept.

    Returns
    -------
    list
        The values, usually one; none where the text cannot be read within the limits. NaN and
        infinities are None, half surrogate pairs U+FFFD.

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
    if len(text) > max_length:
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
        if mended.count("{") + mended.count("[") > max_depth and too_deep(values, max_depth + 1):
            return []
        return _without_surrogates(values) if _SURROGATE_ESCAPE.search(mended) else values
    return []
