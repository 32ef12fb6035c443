"""The health score of an audit: one number that falls only by what can be fixed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

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
    for a reason of ours, such as a time limit or robots.txt.
    """
    costs: dict[object, int] = {}
    for url, priority in _cells(_faults(issues)[["url", "priority"]]):
        costs[url] = costs.get(url, 0) + COSTS[priority]
    rows = zip(site.values("url"), site.good, site.values("error_type"), strict=True)
    return [
        float(max(0, 100 - costs.get(url, 0))) if good else 0.0 if kind == "http" else None
        for url, good, kind in rows
    ]


def _faults(issues: pd.DataFrame) -> pd.DataFrame:
    """Return the issues that cost points, once for each page and rule: a URL may have two rows."""
    counted = issues.loc[issues["type"].isin(COUNTED), ["url", "rule", "priority"]]
    return counted.drop_duplicates(["url", "rule"])


def _cells(issues: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Yield rows; columns of categories repeat their objects."""
    return zip(*(issues[name].astype(object).tolist() for name in issues), strict=True)


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
    found: dict[object, list[tuple[str, int]]] = {}
    for url, rule, priority in _cells(_faults(issues)):
        if url in scores:
            found.setdefault(url, []).append((rule, COSTS[priority]))
    costs: dict[str, float] = {}
    for url, faults in found.items():
        share = (100 - scores[url]) / sum(cost for _, cost in faults) / len(scores)
        for rule, cost in faults:
            costs[rule] = costs.get(rule, 0.0) + cost * share
    return costs


def counts_by_priority(issues: pd.DataFrame, urls: Sequence[object]) -> dict[Priority, list[int]]:
    """Return for each priority on how many rules' account each page has issues."""
    once = issues[["url", "rule", "priority"]].drop_duplicates(["url", "rule"])
    counts: dict[tuple[object, object], int] = {}
    for key in zip(once["url"].tolist(), once["priority"].tolist(), strict=True):
        counts[key] = counts.get(key, 0) + 1
    return {priority: [counts.get((url, priority), 0) for url in urls] for priority in PRIORITIES}
