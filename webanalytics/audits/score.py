"""The score of an audit: what faults take, and what keeps pages from being found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.audits.site import Site
from webanalytics.thresholds import PRIORITIES, Priority
from webanalytics.urls import parts_of

COSTS: Mapping[Priority, int] = MappingProxyType({"high": 20, "medium": 5, "low": 1})
"""What each rule that found something on a page takes from the 100 points that the page starts with."""

COUNTED = frozenset(("issue", "opportunity"))
"""Types of rules that cost points: a warning may be intended."""

HIDING: Mapping[str, str] = MappingProxyType(
    {
        "blocked_by_robots": "closed by robots.txt",
        "blocked_for_googlebot": "closed by robots.txt",
        "noindex": "noindex",
        "noindex_header": "noindex",
        "canonicalised": "the canonical link leads elsewhere",
    }
)
"""Rules on pages that search engines do not show, and why not."""

TOLD_OF_HIDDEN = "sitemap_not_indexable"
"""Rule that says of a page once more that it is hidden, which costs no points of its own."""

UNFOLLOWED = 0.25
"""Share of the score that is lost where no page's links may be followed."""

Points: TypeAlias = npt.NDArray[np.float64]

ALARMING = 0.25
"""From this share of the pages, what keeps them out of search is said first."""


class ScoreChange(NamedTuple):
    """Two scores and their difference; None where no page could be judged."""

    before: float | None
    after: float | None

    @property
    def change(self) -> float | None:
        """By how much the score rose; negative where it fell."""
        return None if self.before is None or self.after is None else round(self.after - self.before, 1)


class Health:
    """The score of some pages of a site and what it is made of.

    Notes
    -----
    A page starts at 100 and loses the `COSTS` of each rule of the types `COUNTED` that found something on it,
    not below 0. The mean of the pages loses the same for faults of their hosts, by the share of pages that
    have them. What is left is multiplied by 1 - s² and by 1 - t² / 4: s is the share of pages that search
    engines do not show (`HIDING`), t that of pages whose links they do not follow. A page that the server
    failed to give counts as 0 in the mean; an address behind which there is no page does not count.
    """

    def __init__(self, site: Site, issues: pd.DataFrame, rows: Sequence[int] | None = None) -> None:
        self._site, self._issues = site, issues
        self._urls = site.values("url")
        if rows is None:
            self._pages = [row for row in range(len(self._urls)) if site.addresses.first(row)]
        else:
            self._pages = list({site.addresses.final[row] or row: row for row in reversed(rows)}.values())

    @cached_property
    def _of_host(self) -> npt.NDArray[np.bool_]:
        scopes = self._issues.get("scope")
        return np.zeros(len(self._issues), bool) if scopes is None else scopes.eq("host").to_numpy(bool)

    @cached_property
    def _cost(self) -> Points:
        """Points that each issue takes from its page or its host, each page and rule once."""
        places, names = pd.factorize(self._issues["priority"])
        costs = np.array([COSTS[name] for name in names], dtype=np.float64)[places]
        counted = self._issues["type"].isin(COUNTED) & ~self._issues.duplicated(["url", "rule"])
        return np.asarray(np.where(counted.to_numpy(bool) & ~self.told_again, costs, 0.0), np.float64)

    @cached_property
    def told_again(self) -> npt.NDArray[np.bool_]:
        """Whether each issue says once more that a page is hidden."""
        again = self._issues["rule"].eq(TOLD_OF_HIDDEN) & self._issues["url"].isin(list(self.hidden))
        return again.to_numpy(bool)

    @cached_property
    def _found_on(self) -> tuple[npt.NDArray[np.intp], list[object]]:
        places, urls = pd.factorize(self._issues["url"], use_na_sentinel=False)
        return places, [url if isinstance(url, str) else None for url in urls.tolist()]

    @cached_property
    def _lost(self) -> dict[object, float]:
        """What the faults of each page cost together."""
        places, urls = self._found_on
        totals = np.bincount(places[~self._of_host], self._cost[~self._of_host], len(urls))
        return dict(zip(urls, totals.tolist(), strict=True))

    @cached_property
    def scores(self) -> list[float | None]:
        """The score of each row's page; None where it was not read."""
        return [
            max(0.0, 100.0 - self._lost.get(url, 0.0)) if good else None
            for url, good in zip(self._urls, self._site.good, strict=True)
        ]

    @cached_property
    def _judged(self) -> dict[object, float]:
        """Scores of the pages in the mean, by address; a page that the server failed to give has 0."""
        kinds, found = self._site.values("error_type"), {}
        for row in self._pages:
            if (points := self.scores[row]) is not None:
                found[self._urls[row]] = points
            elif kinds[row] == "http" and self._site.problem(row) in ("server error", "no response"):
                found[self._urls[row]] = 0.0
        return found

    @cached_property
    def hidden(self) -> dict[object, str]:
        """The rule by which each page that search engines do not show was found, by its address."""
        named = self._issues[self._issues["rule"].isin(HIDING)]
        by_url: dict[object, set[str]] = {}
        for url, rule in zip(named["url"], named["rule"], strict=True):
            by_url.setdefault(url, set()).add(rule)
        found, kinds = {}, self._site.values("error_type")
        for row in self._pages:
            rules = by_url.get(self._urls[row], ()) if self._site.good[row] or kinds[row] == "robots" else ()
            rule = next((name for name in HIDING if name in rules), "")
            if rule and (rule != "canonicalised" or not self._is_copy(row)):
                found[self._urls[row]] = rule
        return found

    def _is_copy(self, row: int) -> bool:
        """Return whether a page names one that search engines show and that is the same by path or title."""
        site = self._site
        target = site.find(site.values("canonical_url")[row])
        if target is None or not site.indexable[page := site.addresses.page(target)]:
            return False
        titles = [str(site.values("title")[one] or "").strip().casefold() for one in (row, page)]
        paths = [parts_of(site.name(one)).path.rstrip("/").casefold() for one in (row, page)]
        return titles[0] == titles[1] != "" or paths[0] == paths[1]

    @cached_property
    def _shares(self) -> tuple[float, float, int]:
        """Shares of the pages that are not shown, and whose links are not followed, and their number."""
        states = self._site.values("canonical_state")
        copies = {self._urls[row] for row in self._pages if states[row] == "other"}
        pages = (self._judged.keys() - copies) | self.hidden.keys()
        closed = self._issues.loc[self._issues["rule"].eq("nofollow"), "url"]
        count = max(1, len(pages))
        return len(self.hidden) / count, len(pages.intersection(closed)) / count, len(pages)

    @property
    def _factor(self) -> float:
        hidden, closed, _ = self._shares
        return (1 - hidden**2) * (1 - UNFOLLOWED * closed**2)

    @cached_property
    def _mean(self) -> float:
        return sum(self._judged.values()) / len(self._judged) if self._judged else 100.0

    @cached_property
    def _of_hosts(self) -> Points:
        """Points that each issue of a host takes from the mean, by the share of pages that have it."""
        pages = self._issues["pages"].to_numpy(np.float64) if self._of_host.any() else 0.0
        taken = np.where(self._of_host, self._cost * pages, 0.0) / max(1, len(self._judged))
        return np.asarray(taken * min(1.0, self._mean / (taken.sum() or 1.0)), np.float64)

    @cached_property
    def _left(self) -> float:
        """What the faults of pages and hosts leave of 100."""
        return self._mean - float(self._of_hosts.sum())

    @property
    def score(self) -> float | None:
        """The score, to one decimal; None where no page could be judged."""
        return round(self._left * self._factor, 1) if self._judged or self.hidden else None

    @cached_property
    def points(self) -> Points:
        """By how much the score rises where each issue is fixed and nothing else.

        Where the faults of a page cost more than its 100 points, each counts in proportion.
        """
        places, urls = self._found_on
        costs = np.where(self._of_host, 0.0, self._cost)
        total = np.bincount(places, costs, len(urls))
        lost = np.array([100 - self._judged.get(url, 100.0) for url in urls]) / np.where(total > 0, total, 1)
        taken = costs * lost[places] / max(1, len(self._judged)) + self._of_hosts
        return np.asarray(taken * self._factor + self._of_hiding * self._left, np.float64)

    @cached_property
    def _of_hiding(self) -> Points:
        """The part of 1 that each issue takes which keeps pages, or what they link to, from being found."""
        hidden, closed, _ = self._shares
        rules, urls = self._issues["rule"].astype(object), self._issues["url"].astype(object)
        chosen = urls.map(self.hidden).eq(rules).to_numpy(bool)
        followed = (rules.eq("nofollow") & urls.isin([self._urls[row] for row in self._pages])).to_numpy(bool)
        taken = (1 - hidden**2) * UNFOLLOWED * closed**2
        found = chosen * (hidden**2 / max(1, chosen.sum())) + followed * (taken / max(1, followed.sum()))
        return np.asarray(found, np.float64)

    @property
    def alarm(self) -> str:
        """One sentence where many pages cannot be found, '' where they can."""
        hidden, closed, count = self._shares
        pages = f"{count:,} page{'s' * (count != 1)}"
        if hidden >= ALARMING:
            why = Counter(HIDING[rule] for rule in self.hidden.values())
            said = ", ".join(f"{name} ({number:,})" if len(why) > 1 else name for name, number in why.items())
            whole = len(self.hidden) == count
            lead = "None" if whole else f"{len(self.hidden):,}"
            return f"{lead} of {pages} may {'' if whole else 'not '}be indexed: {said}."
        if closed >= ALARMING:
            return f"The links of {closed * count:,.0f} of {pages} may not be followed: nofollow."
        return ""

    def costs_by_rule(self) -> dict[str, float]:
        """Return how many of the score's 100 points each rule takes: together what is missing to 100."""
        rules, names = pd.factorize(self._issues["rule"])
        found = self.points + self._of_hiding * (100 - self._left)
        totals = np.bincount(rules, found, len(names)).tolist()
        return {name: cost for name, cost in zip(names.tolist(), totals, strict=True) if cost}

    def counts_by_priority(self) -> dict[Priority, list[int]]:
        """Return for each priority how many faults each row's page has: those that its score is made of."""
        places, urls = self._found_on
        counts: dict[Priority, list[int]] = {}
        for priority in PRIORITIES:
            chosen = (self._cost > 0) & ~self._of_host & self._issues["priority"].eq(priority).to_numpy(bool)
            found = dict(zip(urls, np.bincount(places[chosen], minlength=len(urls)).tolist(), strict=True))
            counts[priority] = [found.get(url, 0) for url in self._urls]
        return counts
