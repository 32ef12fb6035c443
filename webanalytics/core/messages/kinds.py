"""The kinds of failures: values of ``error_type`` and what each says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

ErrorType = Literal[
    "dns",
    "connection",
    "tls",
    "timeout",
    "robots",
    "http",
    "refused",
    "too_large",
    "not_html",
    "blocked",
    "invalid",
    "parse",
    "service",
    "credits",
    "unfinished",
]
"""What went wrong with one input; the values of the ``error_type`` column."""

ERROR_TYPES: Final[tuple[str, ...]] = get_args(ErrorType)

MEANINGS: Final[Mapping[ErrorType, str]] = MappingProxyType(
    {
        "dns": "The host does not exist or could not be looked up.",
        "connection": "The server accepts no connection, or broke one off.",
        "tls": "The server's certificate is not valid, or no secure connection could be agreed on.",
        "timeout": "The server or the analysis took longer than its limit.",
        "robots": "The site's robots.txt forbids the page; `robots=False` fetches it all the same.",
        "http": "The server answered with an error such as 404, or with invalid HTTP; see `http_status`.",
        "refused": "The server does not let this client see the page: HTTP 401, 403, 407, 429, 451 or 999, "
        "or a challenge in place of the page.",
        "too_large": "The page, image or answer is larger than its limit.",
        "not_html": "The page is neither HTML nor text.",
        "blocked": "The address is private, loopback or reserved, or its port is not allowed; "
        "`allow_private=True` lets private addresses through.",
        "invalid": "The input is not a valid URL, phone number, record or image.",
        "parse": "The content cannot be analysed.",
        "service": "The hosted API failed on this input.",
        "credits": "The account's credits or the `budget` did not reach this input.",
        "unfinished": "The run ended before this input was answered.",
    }
)
"""What each error type says, for the documentation."""

REFUSALS: Final = frozenset((401, 403, 407, 429, 451, 999))
"""Statuses that say more of who asks than of what is asked for; 999 is LinkedIn's for whom it takes for a
program."""

Table = Mapping[str, tuple[ErrorType | None, str]]
"""Key to error type and sentence; a request refused for reasons unrelated to an input has no error type."""

TOLD: dict[str, str] = {}
"""What a row says of a failure, by its key; of a key that is not here it says the sentence of the service."""


def table(rows: Mapping[str, tuple[Any, ...]], names: str = "{names}") -> Table:
    """Return sentences by key, of the service; the third text is what a row says in its place, in `TOLD`."""
    found = {}
    for key, (kind, text, *told) in rows.items():
        if thing := _THING.fullmatch(text):
            noun = "{page}" if thing[1] == "page" else thing[1]
            text, told = f"{names} {text}", [f"The {noun} {thing[2]}"]
        TOLD.update((key, row) for row in told)
        of_parameter = " " in text and (text[0].islower() or text[0] == "{")
        found[key] = (kind, f"The `{{parameter}}` parameter {text}" if of_parameter else text)
    return MappingProxyType(found)


_THING = re.compile(r"an? (\w+) that (.*)")
