"""Patterns of addresses, as crawls, segments and muted issues are given them."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate

from webanalytics.errors import ParameterError
from webanalytics.urls import address, is_web

_FOLDER = re.compile(r"(https?://[\w.:-]+)?((?:/[\w.~%-]+)*/)\*")


def compiled(pattern: str, parameter: str) -> re.Pattern[str]:
    """Return a pattern to search an address with.

    ``/shop/*`` is a folder and all below it; what begins with ``*`` is a glob of the whole address; all else
    is a regular expression.

    >>> urls = ["https://a.example/shop/tea", "https://a.example/shopping", "https://a.example/tea.pdf"]
    >>> [bool(compiled("/shop/*", "include").search(url)) for url in urls]
    [True, False, False]
    >>> [bool(compiled("*.pdf", "include").search(url)) for url in urls]
    [False, False, True]
    """
    if folder := _FOLDER.fullmatch(pattern):
        host = re.escape(folder[1]) if folder[1] else "https?://[^/]+"
        return re.compile(f"^{host}{re.escape(folder[2])}")
    try:
        return re.compile(translate(pattern) if pattern.startswith("*") else pattern)
    except (re.error, RecursionError, OverflowError):
        raise ParameterError.must_be(
            parameter,
            "regular expressions, folders such as `/shop/*`, or patterns that begin with `*`; "
            f"{pattern[:100]!r} is none of these",
        ) from None


def matching(pattern: str, parameter: str) -> Callable[[object], bool]:
    """Return what says whether an address is meant: by a pattern, or as the one address that it names."""
    exact = address(pattern.strip()) if is_web(pattern) and "*" not in pattern else None
    if exact is not None:
        return lambda url: isinstance(url, str) and (address(url.strip()) or url) == exact
    search = compiled(pattern, parameter).search
    return lambda url: isinstance(url, str) and search(url) is not None
