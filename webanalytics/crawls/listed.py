"""The sitemaps of a crawl: those named, or those of the site; and what is wrong with its robots.txt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from webanalytics.audits.sources import read_robots
from webanalytics.frames.sitemap import sitemap_frame


@dataclass(frozen=True)
class Listed:
    """What sitemaps list.

    Attributes
    ----------
    sitemap : pandas.DataFrame or None
        What `webanalytics.sitemap` answers, None where there is no sitemap.
    robots : Mapping
        What is wrong with the robots.txt of the site, by origin.
    """

    sitemap: pd.DataFrame | None = None
    robots: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def urls(self) -> Iterable[str]:
        """The pages that are listed."""
        return () if self.sitemap is None else self.sitemap["url"].dropna().tolist()


async def read_listed(wanted: tuple[str, ...] | None, origin: str, options: Mapping[str, Any]) -> Listed:
    """Read a crawl's sitemaps; "auto" are those that robots.txt names, else /sitemap.xml if it is there."""
    robots = await read_robots([origin], options)
    if not wanted:
        return Listed(robots=robots)
    if wanted != ("auto",):
        return Listed(await sitemap_frame(wanted, options), robots)
    free = {**options, "robots": False}  # what a robots.txt names is meant to be read
    found = await sitemap_frame([f"{origin}/robots.txt"], free)
    if not (found["error_type"].isna() | (found["sitemap"] != f"{origin}/robots.txt")).any():
        found = await sitemap_frame([f"{origin}/sitemap.xml"], options)
        if found["url"].isna().all():
            return Listed(robots=robots)
    return Listed(found, robots)
