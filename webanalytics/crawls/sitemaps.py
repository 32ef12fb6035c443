"""The sitemaps of a crawl: those named, or those of the site; and what is wrong with its robots.txt."""

from __future__ import annotations

from asyncio import Semaphore, gather
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from webanalytics.audits.requests.sources import all_problems
from webanalytics.fetching import Fetcher
from webanalytics.fetching.robots import RobotsCopy
from webanalytics.runs.frames.sitemap import sitemap_frame

MOST_AT_ONCE = 10
"""Sites whose sitemaps are read at once."""
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
    wanted: tuple[str, ...] | None, origins: Sequence[str], options: Mapping[str, Any], fetcher: Fetcher
) -> Listed:
    """Read a crawl's sitemaps; "auto" are those that each robots.txt names, else /sitemap.xml."""
    files = dict(zip(origins, await gather(*map(fetcher.robots_of, origins)), strict=True))
    without = Listed(None, all_problems(files), files)
    if not wanted:
        return without
    if wanted != ("auto",):
        return replace(without, sitemap=await sitemap_frame(wanted, options), named=True)
    turn = Semaphore(MOST_AT_ONCE)
    tables = await gather(*(_of_origin(origin, copy, options, turn) for origin, copy in files.items()))
    found = [table for table in tables if table is not None]
    return replace(without, sitemap=pd.concat(found, ignore_index=True)) if found else without


async def _of_origin(
    origin: str, copy: RobotsCopy, options: Mapping[str, Any], turn: Semaphore
) -> pd.DataFrame | None:
    async with turn:
        if copy.file.sitemaps:
            robots = f"{origin}/robots.txt"  # what it names is meant to be read
            found = await sitemap_frame([robots], {**options, "robots": False})
            if (found["error_type"].isna() | (found["sitemap"] != robots)).any():
                return found
        found = await sitemap_frame([f"{origin}/sitemap.xml"], options)
        return None if found["url"].isna().all() else found
