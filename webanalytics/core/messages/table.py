"""The sentences of failures by key, each with its error type; none holds an address or a path.

A failure has up to two: that of the service, which names the parameter of a request, and that of a row, for
who reads a frame. They stand in `sentences.toml`; no behaviour depends on the wording.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from webanalytics.core.messages.kinds import TOLD, Table, table

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
        "status 401": Advice("access=", "sends a password, a token or cookies"),
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
