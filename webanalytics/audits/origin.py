"""What an audit knows besides its pages: saved with the frame, and passed to the rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import pandas as pd

from webanalytics.audits.profiles import Profile
from webanalytics.fetching.robots import RobotsCopy
from webanalytics.runs.frames.link_table import CrawlFacts

if TYPE_CHECKING:
    from webanalytics.audits.compare.differences import Judged
    from webanalytics.audits.site import Site

T = TypeVar("T")

Thresholds: TypeAlias = Mapping[str, float] | str | os.PathLike[str]
"""Limits by the name of their rule, or a TOML file of them."""


Besides: TypeAlias = tuple[
    pd.DataFrame | None, Mapping[str, list[str]], Mapping[str, RobotsCopy], CrawlFacts | None, str
]
"""What rules examine besides the pages, in the order of the arguments of `make_site`."""


TABLES = ("unmatched", "search_queries", "search_unmatched", "log_hits", "history")
"""Tables of an audit besides its pages."""
FindColumns: TypeAlias = Callable[[pd.DataFrame], tuple[pd.DataFrame, pd.DataFrame, dict[str, pd.DataFrame]]]
"""From the pages as read: further columns, rows of no page, and tables that the audit has besides."""


@dataclass(frozen=True)
class Mute:
    """Issues that are set aside for a reason: of a rule, on some addresses, each None for all.

    ``url`` is an address or a pattern, and ``until`` the last day, ``2026-12-31``; None for no end.
    """

    reason: str
    rule: str | None = None
    url: str | None = None
    until: str | None = None


@dataclass(frozen=True)
class Origin:
    """What an audit knows besides its pages."""

    sitemap: pd.DataFrame | None = None  # rows of `webanalytics.sitemap`, if made from sitemaps
    robots: Mapping[str, list[str]] = field(default_factory=dict)  # what is wrong with robots.txt, by origin
    profile: Profile | None = None  # which rules count; None for the default
    date: str | None = None  # when the pages were read: ISO 8601, UTC
    score: float | None = None  # of a saved audit, by the rules of its version
    crawl: CrawlFacts | None = None  # links, and what was not fetched and why
    checked: pd.DataFrame | None = None  # what pages load, and whether it answers
    robots_files: Mapping[str, RobotsCopy] = field(default_factory=dict)  # each as it was read
    stopped: str = ""  # why these are not all pages, as a sentence
    mutes: tuple[Mute, ...] = ()  # which issues are set aside, and why

    @property
    def incomplete(self) -> str:
        """Why these are not all pages, as a sentence; '' where they are, but for addresses without end."""
        return self.stopped or ("" if self.crawl is None or self.crawl.whole else self.crawl.stopped)

    def besides(self) -> Besides:
        """Return what rules examine besides pages: sitemap, problems of robots.txt, its files, the crawl.

        Last comes why these are not all pages.
        """
        return self.sitemap, self.robots, self.robots_files, self.crawl, self.incomplete


class Audited(Protocol):
    """What is shown and compared of an audit: `webanalytics.Audit`, which these modules do not import."""

    origin: Origin
    raw: pd.DataFrame
    unmatched: pd.DataFrame
    search_queries: pd.DataFrame
    search_unmatched: pd.DataFrame
    log_hits: pd.DataFrame
    history: pd.DataFrame

    @property
    def site(self) -> Site:
        """What the rules examine."""

    @property
    def rows_site(self) -> Site:
        """The rows of a part alone."""

    @property
    def issues(self) -> pd.DataFrame:
        """What was found."""

    @property
    def muted(self) -> pd.DataFrame:
        """What was found and set aside."""

    @property
    def pages(self) -> pd.DataFrame:
        """The pages with derived columns."""

    @property
    def score(self) -> float | None:
        """Score from 0 to 100."""

    @property
    def alarm(self) -> str:
        """Why pages cannot be found, if they cannot."""

    def causes(self) -> pd.DataFrame:
        """Return what to fix first."""

    @property
    def audited_at(self) -> pd.Timestamp | None:
        """When the pages were read."""

    def summary(self, by: str | None = None) -> pd.DataFrame:
        """Return what to fix first."""

    def failures(self) -> pd.DataFrame:
        """Return why pages could not be read."""

    def select(self, which: Any) -> Any:
        """Return an audit of some of the pages."""

    def with_columns(self, frame: pd.DataFrame, on: str = "url") -> Any:
        """Return this audit with further columns."""

    def with_profile(self, profile: Any = None) -> Any:
        """Return the same pages, judged by another profile."""

    def parts(self) -> dict[str, pd.DataFrame]:
        """Return the frames that an audit consists of."""

    def report(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write a report."""

    def judged(self) -> Judged:
        """Return what a comparison reads."""

    def ai_access(self, crawlers: Iterable[str] | None = None) -> pd.DataFrame:
        """Return which crawlers may read which pages."""

    def _once(self, name: str, make: Callable[[], T]) -> T: ...

    def _joined(self, find: FindColumns) -> Any: ...

    @property
    def _found(self) -> pd.DataFrame: ...

    def _selected(self) -> Sequence[int] | None: ...

    def _judged_by(self, origin: Origin, *kept: str) -> Any: ...
