"""What a run read of robots.txt, kept for those who judge the site: nothing is asked twice.

`keeping` opens a place around a run; every `Fetcher` within it puts there what it reads.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from webanalytics.fetching.robots_rules import LARGEST, RobotsFile

MOST_ORIGINS = 100
"""Most origins whose robots.txt is kept, those first that were asked first."""
MOST_CHARACTERS = 5_000_000
"""Characters that are kept of all of them."""


@dataclass(frozen=True)
class RobotsCopy:
    """The robots.txt of an origin as it was read.

    Attributes
    ----------
    text : str or None
        The file, at most its first 500 KiB; None if there was none.
    http_status : int or None
        Status of the answer, None if there was none.
    error_type : str
        Why it was not read, empty if it was.
    whole : bool
        Whether nothing of it was cut off.
    """

    text: str | None = None
    http_status: int | None = None
    error_type: str = ""
    whole: bool = True

    @cached_property
    def file(self) -> RobotsFile:
        """Its groups; empty without a file."""
        return RobotsFile(self.text or "")

    @property
    def is_known(self) -> bool:
        """Whether it says what crawlers may read: a file, or an answer that there is none.

        RFC 9309 section 2.3.1: after HTTP 400 to 499 everything is allowed. Of a server that answers 500 to
        599, or not at all, nothing is known that will last.
        """
        status = self.http_status
        return self.text is not None or (status is not None and 400 <= status < 500 and status != 429)

    def as_dict(self) -> dict[str, Any]:
        """Return it in plain values."""
        return {
            "text": self.text,
            "http_status": self.http_status,
            "error_type": self.error_type,
            "whole": self.whole,
        }

    @classmethod
    def of(cls, values: Any) -> RobotsCopy:
        """Return it from plain values, or raise `ValueError`."""
        text, status = values["text"], values["http_status"]
        good = (
            (text is None or isinstance(text, str))
            and (status is None or type(status) is int)
            and isinstance(values["error_type"], str)
            and isinstance(values["whole"], bool)
        )
        if not good:
            raise ValueError("not a copy of a robots.txt")
        return cls(None if text is None else text[:LARGEST], status, values["error_type"], values["whole"])


@dataclass
class RobotsKept:
    """The robots.txt of the origins of a run, bounded."""

    copies: dict[str, RobotsCopy] = field(default_factory=dict)
    left: int = MOST_CHARACTERS

    def add(self, origin: str, copy: RobotsCopy) -> None:
        """Keep a copy, if there is room; a later one of the same origin replaces it."""
        size = len(copy.text or "")
        if size <= self.left and (origin in self.copies or len(self.copies) < MOST_ORIGINS):
            self.left -= size
            self.copies[origin] = copy


_kept: ContextVar[RobotsKept | None] = ContextVar("webanalytics_robots_kept", default=None)


@asynccontextmanager
async def keeping(kept: RobotsKept | None = None) -> AsyncIterator[RobotsKept]:
    """Keep what is read of robots.txt within the block."""
    kept = RobotsKept() if kept is None else kept
    token = _kept.set(kept)
    try:
        yield kept
    finally:
        _kept.reset(token)


def kept_here() -> RobotsKept | None:
    """Return where the run keeps them, None if it does not."""
    return _kept.get()


def keep(origin: str, copy: RobotsCopy) -> None:
    """Put a copy where the run keeps them, if it does."""
    kept = kept_here()
    if kept is not None:
        kept.add(origin, copy)


def copy_of(content: bytes, http_status: int = 200) -> RobotsCopy:
    """Return the copy of a file that was read."""
    text = content[:LARGEST].decode("utf-8-sig", "replace")
    return RobotsCopy(text, http_status, whole=len(content) < LARGEST)
