"""Two judged audits of one site: what changed between them.

`webanalytics.Comparison` hands over the frames of both audits, and shows what comes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.runs.frames.schema import make_series
from webanalytics.runs.storage.lazy_columns import stored
from webanalytics.thresholds import PRIORITIES

Keys: TypeAlias = npt.NDArray[np.int64]

LEFT_OUT = frozenset(("url", "elapsed", "bytes", "responseBody", "visible_text", "error", "error_key"))
"""Columns that differ from one fetch of a page to the next, or say what others say."""
OF_FETCHES = frozenset(("status", "error_type", "http_status", "final_url", "redirects"))
"""Columns compared if a page was not read in one of the audits."""
DERIVED = ("indexable", "indexability", "in_sitemap")
"""Derived columns that are compared; the others follow from columns that are."""
OF_ROBOTS = ("robots_txt_problems",)
"""Rules that look at robots.txt, which is read where an audit is made from a sitemap."""
CHANGES = ("new", "fixed", "remaining", "removed", "unchecked")


@dataclass(frozen=True)
class Judged:
    """An audit to compare: its original pages, the pages with derived columns, and their issues."""

    frame: pd.DataFrame
    pages: pd.DataFrame
    issues: pd.DataFrame
    robots_read: bool = False
    costs: Mapping[str, float] = field(default_factory=dict)
    """Points of the score that each rule takes."""

    @cached_property
    def rows(self) -> dict[str, int]:
        """Row of each address; the first of several."""
        rows: dict[str, int] = {}
        for row, url in enumerate(self.frame["url"].tolist()):
            if isinstance(url, str):
                rows.setdefault(url, row)
        return rows

    @cached_property
    def read(self) -> dict[str, bool]:
        """Whether the page of each address was read."""
        status = self.frame["status"].tolist()
        return {url: status[row] == "ok" for url, row in self.rows.items()}

    @cached_property
    def compared(self) -> pd.DataFrame:
        """The columns of which changes are reported."""
        names = [name for name in self.frame.columns if name not in LEFT_OUT]
        derived = [name for name in DERIVED if name in self.pages]
        known = [name for name in derived if name not in names and self.pages[name].notna().any()]
        return self.pages[names + known]

    @cached_property
    def untried(self) -> set[str]:
        """Names of rules that could not be tried."""
        known = self.issues.attrs.get("webanalytics", {})
        unread = () if self.robots_read else OF_ROBOTS
        return {*known.get("rules_not_tried", ()), *known.get("rules_failed", ()), *unread}


def summary(before: Judged, after: Judged, issues: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each rule from two judged audits and the changes of their issues."""
    counts = {
        tuple(map(str, head)): found.value_counts()
        for head, found in issues.groupby(["rule", "title", "priority"], observed=True, sort=False)["change"]
    }
    known = [frame["rule"].value_counts().to_dict() for frame in (before.issues, after.issues)]
    rows: list[tuple[Any, ...]] = []
    for (rule, title, priority), found in counts.items():
        counted = [int(totals.get(rule, 0)) for totals in known]
        changes = [int(found.get(change, 0)) for change in CHANGES]
        points = round(before.costs.get(rule, 0.0) - after.costs.get(rule, 0.0), 2)
        rows.append((title, rule, priority, *counted, *changes, points + 0.0))
    rank: dict[str, int] = {priority: place for place, priority in enumerate(PRIORITIES)}
    rows.sort(key=lambda row: (rank.get(row[2], len(rank)), -row[5], -row[4], row[1]))
    names = ("title", "rule", "priority", "before", "after", *CHANGES, "points")
    kinds: Any = ("string", "string", "string", *["integer"] * 7, "float")
    return _frame({name: [row[place] for row in rows] for place, name in enumerate(names)}, kinds)


def _frame(columns: Mapping[str, list[Any]], kinds: Any) -> pd.DataFrame:
    index = pd.RangeIndex(len(next(iter(columns.values()))))
    made = zip(columns.items(), kinds, strict=True)
    return pd.DataFrame(
        {name: make_series(values, kind, index) for (name, values), kind in made}, index=index
    )


def changed_fields(earlier: Judged, later: Judged) -> pd.DataFrame:
    """Return one row for each changed field of the pages in both audits."""
    before, after = earlier.compared, later.compared
    pairs = [(url, earlier.rows[url], row) for url, row in later.rows.items() if url in earlier.rows]
    read = [earlier.read[url] and later.read[url] for url, _, _ in pairs]
    firsts, seconds = [first for _, first, _ in pairs], [second for _, _, second in pairs]
    found: list[tuple[int, int, str, Any, Any]] = []
    for place, column in enumerate(name for name in after.columns if name in before.columns):
        old, new = _at(before[column], firsts), _at(after[column], seconds)
        for number, (earlier_cell, later_cell) in enumerate(zip(old, new, strict=True)):
            if not _same(earlier_cell, later_cell) and (read[number] or column in OF_FETCHES):
                found.append((number, place, column, earlier_cell, later_cell))
    found.sort(key=lambda change: change[:2])
    columns: dict[str, list[Any]] = {
        "url": [pairs[change[0]][0] for change in found],
        "field": [change[2] for change in found],
        "before": [None if _missing(change[3]) else change[3] for change in found],
        "after": [None if _missing(change[4]) else change[4] for change in found],
    }
    return _frame(columns, ("string", "string", "object", "object"))


def _at(column: pd.Series, rows: list[int]) -> Iterator[Any]:
    """Yield the values at some rows; of a column in a folder, a bounded number are in memory at once."""
    if (array := stored(column)) is not None:
        return array.take(rows).values()
    cells = column.astype(object).tolist()
    return (cells[row] for row in rows)


def _missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def _same(old: Any, new: Any) -> bool:
    if old is new:
        return True
    if _missing(old) or _missing(new):
        return _missing(old) and _missing(new)
    return bool(old == new)


def changed_pages(before: Judged, after: Judged, changes: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each address of both audits: added, removed, changed or same."""
    counts = Counter(changes["url"].tolist())
    urls = [*after.rows, *(url for url in before.rows if url not in after.rows)]
    became = [
        "added"
        if url not in before.rows
        else "removed"
        if url not in after.rows
        else "changed"
        if url in counts
        else "same"
        for url in urls
    ]
    columns: dict[str, list[Any]] = {"url": urls, "change": became, "fields": [counts[url] for url in urls]}
    return _frame(columns, ("string", "string", "integer"))


def _keys(before: pd.DataFrame, after: pd.DataFrame) -> tuple[Keys, Keys]:
    """Return a number for the page and the rule of each issue, equal where both are."""
    places = [pd.factorize(_joined([before[name], after[name]]))[0] for name in ("url", "rule")]
    keys = places[0].astype(np.int64) * (places[1].max(initial=0) + 2) + places[1]
    return keys[: len(before)], keys[len(before) :]


def _gone(before: Judged, after: Judged, issues: pd.DataFrame) -> npt.NDArray[np.object_]:
    """Return what became of issues of the first audit that the second does not have."""
    unread = {url for url, read in after.read.items() if not read and before.read.get(url, True)}
    is_removed = issues["url"].isin(before.rows.keys() - after.rows.keys())
    is_unchecked = issues["url"].isin(unread) | issues["rule"].isin(after.untried)
    return np.where(is_removed, "removed", np.where(is_unchecked, "unchecked", "fixed")).astype(object)


def changed_issues(before: Judged, after: Judged) -> pd.DataFrame:
    """Return the issues of both audits with their changes, those of the second first."""
    old, new = _keys(before.issues, after.issues)
    once = ~pd.Series(new).duplicated().to_numpy()
    still = _chosen(after.issues, once)
    known = np.isin(new[once], old)
    left = _chosen(before.issues, ~pd.Series(old).duplicated().to_numpy() & ~np.isin(old, new))
    come = np.where(known, "remaining", np.where(still["rule"].isin(before.untried), "unchecked", "new"))
    parts = [still, left]
    changes = np.concatenate([come.astype(object), _gone(before, after, left)])
    kept = [part for part in parts if len(part)] or parts[:1]
    index = pd.RangeIndex(sum(map(len, kept)))
    change = make_series(changes, "string", index)
    names = [name for name in parts[0].columns if name in parts[1].columns]
    columns = {name: _joined([part[name] for part in kept]) for name in names}
    return pd.DataFrame({"change": change, **columns}, index=index)


def _chosen(issues: pd.DataFrame, mask: npt.NDArray[np.bool_]) -> pd.DataFrame:
    """Return some issues; where they are all, nothing is copied."""
    return issues if mask.all() else issues[mask]


def _joined(columns: list[pd.Series]) -> pd.Series:
    """Return columns one below the other; categories stay categories."""
    if all(isinstance(column.dtype, pd.CategoricalDtype) for column in columns):
        return pd.Series(pd.api.types.union_categoricals(columns))
    plain = [column.astype(object) if column.dtype == "category" else column for column in columns]
    return pd.concat(plain, ignore_index=True)
