"""The health score of an audit: one number that falls only by what can be fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.audits.site import Site
from webanalytics.thresholds import PRIORITIES, Priority

COSTS: Mapping[Priority, int] = MappingProxyType({"high": 20, "medium": 5, "low": 1})
"""What each rule that found something on a page takes from the 100 points that the page starts with."""

COUNTED = frozenset(("issue", "opportunity"))
"""Types of rules that cost points: a warning may be intended."""


class ScoreChange(NamedTuple):
    """Two scores and their difference; None where no page could be judged."""

    before: float | None
    after: float | None

    @property
    def change(self) -> float | None:
        """By how much the score rose; negative where it fell."""
        return None if self.before is None or self.after is None else round(self.after - self.before, 1)


def row_scores(site: Site, issues: pd.DataFrame) -> list[float | None]:
    """Return the score of each row's page, None where the page says nothing about the site.

    A page starts at 100 and loses the `COSTS` of each rule of the types `COUNTED` that found something on
    it, not below 0; a page that answers with an error has 0. Missing are those whose page could not be had
    for a reason of ours, such as a time limit or robots.txt, or that were refused to us.
    """
    costs = _total_by_url(_faults(issues))
    rows = zip(site.values("url"), site.good, site.values("error_type"), strict=True)
    return [
        float(max(0, 100 - costs.get(url, 0)))
        if good
        else 0.0
        if kind == "http" and row not in site.refused
        else None
        for row, (url, good, kind) in enumerate(rows)
    ]


def _faults(issues: pd.DataFrame) -> pd.DataFrame:
    """Return the issues that cost points, once for each page and rule: a URL may have two rows."""
    counted = issues.loc[issues["type"].isin(COUNTED), ["url", "rule", "priority"]]
    return counted.drop_duplicates(["url", "rule"])


def _total_by_url(faults: pd.DataFrame) -> dict[object, int]:
    """Return what the faults of each page cost together."""
    places, urls = pd.factorize(faults["url"])
    totals = np.bincount(places, _cost_of(faults), len(urls)).astype(np.int64)
    return dict(zip(urls.tolist(), totals.tolist(), strict=True))


def _cost_of(faults: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Return the points that each fault costs."""
    places, priorities = pd.factorize(faults["priority"])
    costs = np.array([COSTS[priority] for priority in priorities], dtype=np.float64)
    return costs[places]


def page_scores(site: Site, issues: pd.DataFrame) -> list[float | None]:
    """Return the scores of `row_scores`, without those of rows that repeat another row's page."""
    return [
        points if site.addresses.first(row) else None for row, points in enumerate(row_scores(site, issues))
    ]


def score(site: Site, issues: pd.DataFrame) -> float | None:
    """Return the mean score of the pages, to one decimal; None where no page could be judged.

    Examples
    --------
    >>> from webanalytics.audits.issues import find_issues
    >>> site = Site(pd.DataFrame({"url": ["a", "b"], "status": ["ok"] * 2, "viewport": ["", "width=1"]}))
    >>> score(site, find_issues(site))
    97.5
    """
    return _mean(page_scores(site, issues))


def score_of(site: Site, issues: pd.DataFrame, rows: Sequence[int]) -> float | None:
    """Return the mean score of some rows of a site, each of their pages once."""
    scores = row_scores(site, issues)
    return _mean([scores[row] for row in _pages(site, rows)])


def _pages(site: Site, rows: Sequence[int]) -> list[int]:
    """Return the rows without those that repeat the page of an earlier one."""
    return list({site.addresses.final[row] or row: row for row in reversed(rows)}.values())


def _mean(scores: Sequence[float | None]) -> float | None:
    known = [points for points in scores if points is not None]
    return round(sum(known) / len(known), 1) if known else None


def costs_by_rule(site: Site, issues: pd.DataFrame, rows: Sequence[int] | None = None) -> dict[str, float]:
    """Return how many of the score's 100 points each rule takes: together what is missing to 100.

    Of some ``rows``, the points of the mean over them. Where the faults of a page cost more than its 100
    points, each counts in proportion. A page that answers with an error costs its rules all 100.

    Examples
    --------
    >>> from webanalytics.audits.issues import find_issues
    >>> site = Site(pd.DataFrame({"url": ["a", "b"], "status": ["ok"] * 2, "viewport": ["", "width=1"]}))
    >>> costs_by_rule(site, find_issues(site))
    {'viewport_missing': 2.5}
    """
    given = page_scores(site, issues) if rows is None else row_scores(site, issues)
    chosen = range(len(given)) if rows is None else _pages(site, rows)
    urls = site.values("url")
    scores = {urls[row]: points for row in chosen if (points := given[row]) is not None}
    faults = _faults(issues)
    faults = faults[faults["url"].isin(scores)]
    places, found = pd.factorize(faults["url"])
    costs = _cost_of(faults)
    lost = np.array([100 - scores[url] for url in found], dtype=np.float64)
    shares = costs * (lost / np.bincount(places, costs, len(found)))[places] / max(1, len(scores))
    rules, names = pd.factorize(faults["rule"])
    totals = np.bincount(rules, shares, len(names)).tolist()
    return dict(zip(names.tolist(), totals, strict=True))


def counts_by_priority(issues: pd.DataFrame, urls: Sequence[object]) -> dict[Priority, list[int]]:
    """Return for each priority on how many rules' account each page has issues."""
    once = issues[["url", "rule", "priority"]].drop_duplicates(["url", "rule"])
    counts: dict[Priority, list[int]] = {}
    for priority in PRIORITIES:
        places, found = pd.factorize(once.loc[once["priority"] == priority, "url"])
        of_url = dict(zip(found.tolist(), np.bincount(places, minlength=len(found)).tolist(), strict=True))
        counts[priority] = [of_url.get(url, 0) for url in urls]
    return counts
