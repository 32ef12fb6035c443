"""The health score of an audit: one number that falls only by what can be fixed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pandas as pd

from webanalytics.audits.site import Site
from webanalytics.thresholds import Priority

COSTS: Mapping[Priority, int] = MappingProxyType({"high": 20, "medium": 5, "low": 1})
"""What each rule that found something on a page takes from the 100 points that the page starts with."""

COUNTED = frozenset(("issue", "opportunity"))
"""Types of rules that cost points: a warning may be intended."""


def page_scores(site: Site, issues: pd.DataFrame) -> list[float | None]:
    """Return the score of each row's page, None where the page says nothing about the site.

    A page starts at 100 and loses the `COSTS` of each rule of the types `COUNTED` that found something on
    it, not below 0; a page that answers with an error has 0. Rows are missing that repeat another row's
    page, and those whose page could not be had for a reason of ours, such as a time limit or robots.txt.
    """
    costs: dict[object, int] = {}
    once = issues[issues["type"].isin(COUNTED)].drop_duplicates(["url", "rule"])  # a URL may have two rows
    for url, priority in zip(once["url"].tolist(), once["priority"].tolist(), strict=True):
        costs[url] = costs.get(url, 0) + COSTS[priority]
    scores: list[float | None] = []
    broken = [kind == "http" for kind in site.values("error_type")]
    for row, (url, good) in enumerate(zip(site.values("url"), site.good, strict=True)):
        if not site.addresses.first(row) or not (good or broken[row]):
            scores.append(None)
        else:
            scores.append(float(max(0, 100 - costs.get(url, 0))) if good else 0.0)
    return scores


def score(site: Site, issues: pd.DataFrame) -> float | None:
    """Return the mean score of the pages, to one decimal; None where no page could be judged.

    Examples
    --------
    >>> from webanalytics.audits.issues import find_issues
    >>> site = Site(pd.DataFrame({"url": ["a", "b"], "status": ["ok"] * 2, "viewport": ["", "width=1"]}))
    >>> score(site, find_issues(site))
    97.5
    """
    known = [points for points in page_scores(site, issues) if points is not None]
    return round(sum(known) / len(known), 1) if known else None
