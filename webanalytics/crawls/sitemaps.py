"""The sitemaps of a crawl: those named, or those of the site; and what is wrong with its robots.txt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from webanalytics.audits.requests.sources import all_problems
from webanalytics.fetching import Fetcher
from webanalytics.fetching.robots import RobotsCopy
from webanalytics.runs.frames.sitemap import sitemap_frame

MOST_SAID = 3
"""Sitemaps of which it is said why they could not be read."""


@dataclass(frozen=True)
class Listed:
    """What sitemaps list."""

    sitemap: pd.DataFrame | None = None  # what `webanalytics.sitemap` answers, None where there is no sitemap
    # what is wrong with the robots.txt of the site, by origin
    robots: Mapping[str, list[str]] = field(default_factory=dict)
    robots_files: Mapping[str, RobotsCopy] = field(default_factory=dict)  # the files themselves, by origin
    named: bool = False  # whether the call named the sitemaps

    @property
    def urls(self) -> Iterable[str]:
        """The pages that are listed."""
        return () if self.sitemap is None else self.sitemap["url"].dropna().tolist()

    def unread(self) -> Iterator[str]:
        """Yield what to say of sitemaps that the call named and that could not be read to their end."""
        if self.sitemap is None or not self.named:
            return
        rows = self.sitemap.loc[self.sitemap["error"].notna(), ["sitemap", "error"]]
        for place, (address, error) in enumerate(rows.itertuples(index=False, name=None)):
            if place == MOST_SAID:
                yield f"So it is with {len(rows) - place:,} more sitemaps."
                return
            yield f"Of the `sitemap` {address} not all pages are known. {error}"


async def read_listed(
    wanted: tuple[str, ...] | None, origin: str, options: Mapping[str, Any], fetcher: Fetcher
) -> Listed:
    """Read a crawl's sitemaps; "auto" are those that robots.txt names, else /sitemap.xml if it is there."""
    files = {origin: await fetcher.robots_of(origin)}
    without = Listed(None, all_problems(files), files)
    if not wanted:
        return without
    if wanted != ("auto",):
        return replace(without, sitemap=await sitemap_frame(wanted, options), named=True)
    free = {**options, "robots": False}  # what a robots.txt names is meant to be read
    robots = f"{origin}/robots.txt"
    found = await sitemap_frame([robots], free) if files[origin].file.sitemaps else None
    if found is None or not (found["error_type"].isna() | (found["sitemap"] != robots)).any():
        found = await sitemap_frame([f"{origin}/sitemap.xml"], options)
        if found["url"].isna().all():
            return without
    return replace(without, sitemap=found)
