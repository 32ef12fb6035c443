"""The sentences of failures by key, each with its error type; none holds an address or a path.

A failure has up to two: that of the service, which names the parameter of a request, and that of a row, for
who reads a frame. They stand in `sentences.toml`; no behaviour depends on the wording.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, get_args

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


__all__ = ["ADVICE", "CONTENT", "FETCHING", "HOSTED", "MESSAGES", "PARAMETERS", "SERVICE", "TOLD", "Advice"]


class Advice(NamedTuple):
    """An option that changes a failure, and what it does."""

    option: str
    change: str

    @property
    def effect(self) -> str:
        """Both as the end of a sentence."""
        return f"`{self.option}` {self.change}"


ADVICE: Final[Mapping[str, Advice]] = MappingProxyType(
    {
        "credentials": Advice("access=", "takes them"),
        "private": Advice("allow_private=True", "lets it through"),
        "connect_timeout": Advice("connect_timeout=", "sets how long to wait"),
        "timeout": Advice("timeout=", "sets how long to wait"),
        "host_given_up": Advice('redo="failed"', "asks again in a call with a store"),
        "robots": Advice("robots=False", "fetches it all the same"),
        "robots_effort": Advice("robots=False", "fetches it all the same"),
        "robots_unreadable": Advice("robots=False", "fetches it all the same"),
        "redirects": Advice("max_redirects=", "sets how many are followed"),
        "too_large": Advice("max_download=", "sets the limit"),
        "content_too_large": Advice("max_download=", "sets the limit"),
        "analysis_timeout": Advice("parse_timeout=", "sets how long to wait"),
        "analysis_memory": Advice("worker_memory=", "sets the limit"),
        "unknown_here": Advice('proxy="env"', "asks through it"),
        "proxy_auth": Advice("proxy=", "takes them"),
        "status 407": Advice("proxy=", "takes a user name and a password"),
        "status 401": Advice("access=", "sets the password, token or cookies that are sent"),
        "status 403": Advice("access=", "sends what the owner of the site lets through"),
        "status 429": Advice("delay=", "asks less often"),
        "challenge": Advice("access=", "sends what the owner of the site lets through"),
        "wall": Advice("access=", "sends a password, or the cookies of a session or a consent"),
        "host_refused": Advice("delay=", "asks less often"),
        "budget_spent": Advice("budget=", "sets the limit"),
    }
)
"""The option that changes a failure, by its key."""


def _of(group: str, names: str = "{names}") -> Table:
    return table({key: (kind or None, *texts) for key, (kind, *texts) in _READ[group].items()}, names)


_READ: Final = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf-8"))

FETCHING: Final[Table] = _of("fetching")
"""Failures of a fetch."""
CONTENT: Final[Table] = _of("content", names="names")
"""Inputs that cannot be read or analysed."""
HOSTED: Final[Table] = _of("hosted")
"""Errors of hosted rows that do not come from an answer of the API."""
SERVICE: Final[Table] = _of("service", names="names")
"""Errors of a service alone: about the key, the request, the answer, and itself."""
PARAMETERS: Final[Table] = _of("parameters")
"""A parameter that is missing or wrong."""
MESSAGES: Final[Table] = MappingProxyType({**FETCHING, **CONTENT, **HOSTED, **SERVICE, **PARAMETERS})
"""All of them."""
