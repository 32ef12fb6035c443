"""What an audit knows besides its pages: saved with the frame, and passed to the rules."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import pandas as pd

from webanalytics.audits.profiles import Profile

Thresholds: TypeAlias = Mapping[str, float] | str | os.PathLike[str]
"""Limits by the name of their rule, or a TOML file of them."""


@dataclass(frozen=True)
class Origin:
    """What an audit knows besides its pages.

    Attributes
    ----------
    sitemap : pandas.DataFrame or None
        Rows of `webanalytics.sitemap`, if the audit was made from sitemaps.
    robots : Mapping
        What is wrong with the robots.txt of each origin (``https://example.org``).
    profile : Profile or None
        Which rules count, how much, and from what threshold; None for the default.
    date : str or None
        When the pages were read: ISO 8601, UTC.
    score : float or None
        The score that a saved audit had when it was saved, by the rules of that version.
    """

    sitemap: pd.DataFrame | None = None
    robots: Mapping[str, list[str]] = field(default_factory=dict)
    profile: Profile | None = None
    date: str | None = None
    score: float | None = None
