"""Addresses of a crawl: those that are, were or will be fetched, and those that are not, with the reason."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from webanalytics.crawls.traps import Trace


class State(Enum):
    """How far an address has come: waiting, being fetched, fetched, counted; or fetched for nothing."""

    QUEUED = 0
    FLYING = 1
    READY = 2
    DONE = 3
    DROPPED = 4


class Candidate:
    """An address that is to be fetched.

    Attributes
    ----------
    url, host, subject : str
        The address in normal form, its host, and what is fetched.
    depth : int or None
        Clicks from a start; None where only a sitemap leads to it.
    level : int
        Its place in the order: pages of one level come before those of the next.
    ordinal : int
        How many addresses were admitted before it.
    found_on : str
        The page that led to it first.
    trace : Trace
        The address as traps see it.
    trusted : bool
        Whether it is a start or in a sitemap: no trap refuses it.
    guess : str
        The folder for which it is fetched ahead, before it is known whether its turn comes.
    """

    __slots__ = (
        *("depth", "found_on", "host", "level", "number", "ordinal", "start", "state", "subject"),
        *("guess", "suspected", "trace", "trusted", "url"),
    )

    def __init__(
        self,
        url: str,
        depth: int | None,
        level: int,
        *,
        found_on: str = "",
        trace: Trace | None = None,
        subject: str | None = None,
        start: bool = False,
        trusted: bool = False,
        guess: str = "",
    ) -> None:
        self.url, self.depth, self.level, self.found_on = url, depth, level, found_on
        self.host = url.split("/", 3)[2]
        self.trace = trace
        self.subject = url if subject is None else subject
        self.start, self.trusted = start, trusted
        self.number = self.ordinal = -1
        self.state = State.QUEUED
        self.suspected = False
        self.guess = guess


class Skip(NamedTuple):
    """An address that is not fetched, and why."""

    reason: str
    detail: str
    depth: int | None
    found_on: str
