"""What the pages of an audit load: images, scripts and style sheets, and whether they answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from webanalytics.audits.requests.link_checker import check
from webanalytics.core.outcomes import JobResult, Outcome
from webanalytics.errors import ParameterError, choice
from webanalytics.fetching import Fetcher
from webanalytics.operations import CRAWL_PAGES, OUTLINKS
from webanalytics.runs.backends.local import fetch_settings
from webanalytics.runs.frames.build import FrameBuilder
from webanalytics.runs.frames.link_table import CHECKED, LinkTable
from webanalytics.runs.frames.link_table import KINDS as LINK_KINDS
from webanalytics.runs.frames.schema import frame_of, make_series

Resources = Literal["ignore", "check"]

KINDS = ("image", "script", "stylesheet")
"""Kinds of links whose targets are checked."""
MOST_RESOURCES = 50_000
"""Most distinct addresses that are checked; those on the most pages first."""
BROKEN = "broken_resources"
"""The column that lists what a page loads and does not get."""

_OUTLINKS = CRAWL_PAGES.index(OUTLINKS)


def loaded_by_pages(resources: object, backend: Any) -> LoadedByPages | None:
    """Return what collects the resources of pages, None if they are ignored.

    Raises
    ------
    ParameterError
        For another value, and with a backend that does not read links.
    """
    if choice("resources", resources, get_args(Resources)) == "ignore":
        return None
    if backend is not None and not backend.serves(OUTLINKS):
        raise ParameterError.must_be(
            "resources", '"ignore" with a hosted backend, which does not say what pages load'
        )
    return LoadedByPages()


class LoadedByPages:
    """Takes what pages load off the answers about them while they are collected, and asks for it then."""

    def __init__(self) -> None:
        self._of_job: dict[int, dict[str, str]] = {}
        self._rows: Iterable[int] = ()

    def take(self, result: JobResult, builder: FrameBuilder) -> JobResult:
        """Keep the resources of one answer, and return it."""
        self._rows = builder.rows.numbers
        if result.position in (None, _OUTLINKS):
            self._keep(result.number, result.outcomes[_OUTLINKS if result.position is None else 0])
        return result

    def _keep(self, number: int, found: Outcome) -> None:
        links = (found.data or {}).get("outlinks")
        if links:
            pairs = zip(links["target"], links["kind"], strict=True)
            self._of_job[number] = {url: kind for url, kind in pairs if kind in KINDS}

    async def ask(self, frame: pd.DataFrame, options: Mapping[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the whole frame with the column `BROKEN`, and what was asked."""
        found = await checked(self._of_job.values(), options)
        return with_broken(frame, [self._of_job.get(number) for number in self._rows], found), found


async def checked(pages: Iterable[Mapping[str, str]], options: Mapping[str, Any]) -> pd.DataFrame:
    """Ask once for all that pages load (addresses and kinds); return a frame with the columns `CHECKED`."""
    counts: dict[str, int] = {}
    kinds: dict[str, str] = {}
    for page in pages:
        for url, kind in page.items():
            counts[url] = counts.get(url, 0) + 1
            kinds.setdefault(url, kind)
    wanted = sorted(counts, key=lambda url: -counts[url])[:MOST_RESOURCES]
    async with Fetcher(fetch_settings(options)) as fetcher:
        return frame_of(CHECKED, await check(fetcher, {url: kinds[url] for url in wanted}))


def with_broken(
    frame: pd.DataFrame, pages: Sequence[Mapping[str, str] | None], found: pd.DataFrame
) -> pd.DataFrame:
    """Return the frame with the column `BROKEN`, by what each page loads and what was found of that."""
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


def loaded_of_links(links: LinkTable, urls: Sequence[str | None]) -> list[dict[str, str]]:
    """Return what each page of a crawl loads: addresses and their kinds."""
    kinds = [LINK_KINDS.index(kind) for kind in KINDS]
    found: dict[int, dict[str, str]] = {}
    for at in np.flatnonzero(np.isin(links.kind, kinds)):
        page = found.setdefault(int(links.source[at]), {})
        page[links.urls[links.target[at]]] = LINK_KINDS[links.kind[at]]
    places = {url: place for place, url in enumerate(links.urls)}
    return [found.get(places.get(url or "", -1), {}) for url in urls]
