"""What the pages of an audit load: images, scripts and style sheets, collected and asked whether they answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import pandas as pd

from webanalytics.audits.checking import check
from webanalytics.backends.local import fetch_settings
from webanalytics.errors import ParameterError
from webanalytics.fetching import Fetcher
from webanalytics.frames.crawl import CHECKED, table
from webanalytics.frames.schema import make_series
from webanalytics.operations import CRAWL_PAGES, OUTLINKS
from webanalytics.outcomes import JobResult, Outcome

Resources = Literal["ignore", "check"]

KINDS = ("image", "script", "stylesheet")
"""Kinds of links whose targets are checked."""
MOST_RESOURCES = 50_000
"""Most distinct addresses that are checked; those on the most pages first."""
BROKEN = "brokenResources"
"""The column that lists what a page loads and does not get."""

_OUTLINKS = CRAWL_PAGES.index(OUTLINKS)
_NONE = Outcome({})


def check_choice(resources: object) -> None:
    """Raise `ParameterError` for a value that ``resources=`` does not take."""
    if resources not in ("ignore", "check"):
        raise ParameterError.one_of("resources", ("ignore", "check"))


class ResourcesOfPages:
    """Takes what pages load off the answers about them, while they are collected."""

    def __init__(self) -> None:
        self.of_job: dict[int, dict[str, str]] = {}

    def take(self, result: JobResult, *_: object) -> JobResult:
        """Keep the resources of one answer, and return it without its links."""
        if result.position is None:
            *others, found = result.outcomes
            self._keep(result.number, found)
            return replace(result, outcomes=(*others, _NONE))
        if result.position == _OUTLINKS:
            self._keep(result.number, result.outcomes[0])
        return result

    def _keep(self, number: int, found: Outcome) -> None:
        links = (found.data or {}).get("outlinks")
        if links:
            pairs = zip(links["target"], links["kind"], strict=True)
            self.of_job[number] = {url: kind for url, kind in pairs if kind in KINDS}


async def checked(pages: Iterable[Mapping[str, str]], options: Mapping[str, Any]) -> pd.DataFrame:
    """Ask everything that pages load once, and return a frame with the columns `CHECKED`.

    Parameters
    ----------
    pages : iterable of Mapping
        What each page loads: addresses and their kinds.
    options : Mapping
        Options of the call.
    """
    counts: dict[str, int] = {}
    kinds: dict[str, str] = {}
    for page in pages:
        for url, kind in page.items():
            counts[url] = counts.get(url, 0) + 1
            kinds.setdefault(url, kind)
    wanted = sorted(counts, key=lambda url: -counts[url])[:MOST_RESOURCES]
    async with Fetcher(fetch_settings(options)) as fetcher:
        return table(CHECKED, await check(fetcher, {url: kinds[url] for url in wanted}))


def with_broken(
    frame: pd.DataFrame, pages: Sequence[Mapping[str, str] | None], found: pd.DataFrame
) -> pd.DataFrame:
    """Return the frame with the column `BROKEN`, from what each of its pages loads and what was found of it.

    Parameters
    ----------
    frame : pandas.DataFrame
        Pages of an audit.
    pages : sequence of Mapping or None
        What each row loads: addresses and their kinds; None for a page that was not read.
    found : pandas.DataFrame
        What was asked, with the columns `CHECKED`.
    """
    columns = (found[name].astype(object) for name in ("url", "verdict", "http_status", "error"))
    reasons = {
        url: f"HTTP {status}" if not pd.isna(status) else str(error).rstrip(".")
        for url, verdict, status, error in zip(*columns, strict=True)
        if verdict in ("gone", "failed")
    }
    cells = [
        None
        if page is None
        else [
            {"url": url, "kind": kind, "reason": reasons[url]} for url, kind in page.items() if url in reasons
        ]
        for page in pages
    ]
    return frame.assign(**{BROKEN: make_series(cells, "object", frame.index)})
