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


def _of(group: str, names: str = "{names}") -> Table:
    return table({key: (kind or None, *texts) for key, (kind, *texts) in _READ[group].items()}, names)


_READ: Final = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf-8"))

MEANINGS: Final[Mapping[ErrorType, str]] = MappingProxyType(_READ["meanings"])
"""What each error type says, for the documentation."""
ADVICE: Final = MappingProxyType({key: Advice(*texts) for key, texts in _READ["advice"].items()})
"""The option that changes a failure, by its key."""
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
