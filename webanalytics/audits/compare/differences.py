"""Two judged audits of one site: what changed between them.

`webanalytics.Comparison` hands over the frames of both audits, and shows what comes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.audits.compare.fields import (
    FOLLOWS,
    OF_ANSWERS,
    columns_of,
    fields_of,
    is_noise,
    is_own,
    is_same,
)
from webanalytics.audits.graph.verdicts import verdict
from webanalytics.fetching.robots import RobotsCopy
from webanalytics.runs.frames.schema import make_series
from webanalytics.runs.storage.lazy_columns import stored
from webanalytics.thresholds import PRIORITIES

Keys: TypeAlias = npt.NDArray[np.int64]
Look: TypeAlias = Literal["read", "answered", "closed", "unchecked", "absent"]
"""How an audit looked at an address: it read the page, got an error from it, or was kept out by robots.txt; it
did not get there, or it would have if there were such a page."""

OF_ROBOTS = ("robots_txt_problems",)
"""Rules that look at robots.txt, which is read where an audit is made from a sitemap."""
CHANGES = ("worse", "added", "fixed", "removed", "remaining", "unchecked")
"""What became of issues, in the order of a comparison."""
INDEXABLE = "indexable"
_CLOSED = "blocked by robots.txt"
_PAGES = ("changed", "added", "removed", "unchecked", "same")


@dataclass(frozen=True)
class Judged:
    """An audit to compare.

    Attributes
    ----------
    frame, pages, issues : pandas.DataFrame
        Its original pages, the pages with derived columns, and their issues.
    costs : Mapping
        Points of the score that each rule takes.
    robots : Mapping
        The robots.txt of each origin as it was read.
    robots_read : bool
        Whether faults in them were looked for.
    seen : Mapping
        Why addresses without a page that it knows of were left out.
    stopped : str
        Why pages are missing; empty if none are.
    """

    frame: pd.DataFrame
    pages: pd.DataFrame
    issues: pd.DataFrame
    costs: Mapping[str, float] = field(default_factory=dict)
    robots: Mapping[str, RobotsCopy] = field(default_factory=dict)
    robots_read: bool = False
    seen: Mapping[str, str] = field(default_factory=dict)
    stopped: str = ""

    @cached_property
    def rows(self) -> dict[str, int]:
        """Row of each address; the first of several."""
        rows: dict[str, int] = {}
        for row, url in enumerate(self.frame["url"].tolist()):
            if isinstance(url, str):
                rows.setdefault(url, row)
        return rows

    @cached_property
    def _looks(self) -> list[Look]:
        names = ("status", "http_status", "error_type", "error_key")
        cells = (_cells(self.frame, name) for name in names)
        return [_look(*values) for values in zip(*cells, strict=True)]

    def look(self, url: str) -> Look:
        """Return how the audit looked at an address."""
        if (row := self.rows.get(url)) is not None:
            return self._looks[row]
        if url in self.seen:
            return "closed" if self.seen[url] == "robots" else "unchecked"
        return "unchecked" if self.stopped else "absent"

    @cached_property
    def _ends(self) -> list[Any]:
        return _cells(self.frame, "final_url")

    def end(self, url: str) -> Any:
        """Return the address at which a page was read, None where that is not known or its own."""
        found = self._ends[self.rows[url]]
        return None if found == url else found

    @cached_property
    def untried(self) -> set[str]:
        """Names of rules that could not be tried."""
        known = self.issues.attrs.get("webanalytics", {})
        unread = () if self.robots_read else OF_ROBOTS
        return {*known.get("rules_not_tried", ()), *known.get("rules_failed", ()), *unread}


def _cells(frame: pd.DataFrame, name: str) -> list[Any]:
    """Return a column of plain values, None for missing ones."""
    cells = frame[name].astype(object) if name in frame else pd.Series([None] * len(frame), dtype=object)
    found: list[Any] = cells.where(cells.notna(), None).tolist()
    return found


def _look(status: Any, http_status: int | None, error_type: str | None, key: str | None) -> Look:
    if status == "ok":
        return "read"
    if error_type == "robots":
        return "closed"
    refused = http_status is None or verdict(http_status, error_type, key) == "blocked"
    return "unchecked" if refused else "answered"


def summary(before: Judged, after: Judged, issues: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each rule from two judged audits and the changes of their issues."""
    groups = issues.groupby(["rule", "title", "priority", "category"], observed=True, sort=False)["change"]
    known = [frame["rule"].value_counts().to_dict() for frame in (before.issues, after.issues)]
    rows: list[tuple[Any, ...]] = []
    ranks: list[tuple[Any, ...]] = []
    for head, found in groups:
        rule, title, priority, category = map(str, head)
        counted = [int(totals.get(rule, 0)) for totals in known]
        changes = found.value_counts().to_dict()
        points = round(before.costs.get(rule, 0.0) - after.costs.get(rule, 0.0), 2)
        rows.append(
            (title, rule, priority, *counted, *(int(changes.get(name, 0)) for name in CHANGES), points + 0.0)
        )
        ranks.append((*_rank(changes, priority, category), rule))
    ordered = [row for _, row in sorted(zip(ranks, rows, strict=True))]
    names = ("title", "rule", "priority", "before", "after", *CHANGES, "points")
    kinds: Any = ("string", "string", "string", *["integer"] * 8, "float")
    return _frame({name: [row[place] for row in ordered] for place, name in enumerate(names)}, kinds)


def _rank(changes: Mapping[str, int], priority: str, category: str) -> tuple[Any, ...]:
    """Return where a rule stands: what got worse first, pages that left the index above all, then by number."""
    worse = changes.get("worse", 0)
    moved = sum(changes.get(name, 0) for name in ("added", "fixed", "removed"))
    urgency = PRIORITIES.index(priority) if priority in PRIORITIES else len(PRIORITIES)  # type: ignore[arg-type]
    left = bool(worse) and category == "indexability" and not urgency
    return not left, not worse, not moved, urgency, -worse, -moved


def _frame(columns: Mapping[str, list[Any]], kinds: Any) -> pd.DataFrame:
    index = pd.RangeIndex(len(next(iter(columns.values()))))
    made = zip(columns.items(), kinds, strict=True)
    return pd.DataFrame(
        {name: make_series(values, kind, index) for (name, values), kind in made}, index=index
    )


def changed_fields(earlier: Judged, later: Judged, again: Judged | None = None) -> pd.DataFrame:
    """Return one row for each changed field of the pages that both audits looked at.

    Pages that left the index come first, then those with the most changes; in the end robots.txt files. What
    differs only where a page differs from itself, read ``again``, is no change.
    """
    told: dict[str, dict[str, tuple[Any, Any]]] = {}
    for url, name, *values in (*_closed(earlier, later), *_differing(earlier, later, again)):
        told.setdefault(url, {})[name] = (values[0], values[1])
    for fields in told.values():
        for name in [name for name in fields if _follows(name, fields)]:
            del fields[name]
    order = sorted(
        told, key=lambda url: (told[url].get("indexability", "-")[0] != INDEXABLE, -len(told[url]))
    )
    found = [(url, name, *told[url][name]) for url in order for name in told[url]]
    for origin, copy in later.robots.items():
        before = earlier.robots.get(origin)
        if before is not None and not (before.error_type or copy.error_type):
            texts = before.text or "", copy.text or ""
            found += [] if is_same("", *texts) else [(f"{origin}/robots.txt", "robots.txt", *texts)]
    cells = zip(*found, strict=True) if found else ([],) * 4
    columns = dict(zip(("url", "field", "before", "after"), map(list, cells), strict=True))
    return _frame(columns, ("string", "string", "object", "object"))


def _closed(earlier: Judged, later: Judged) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield pages that robots.txt kept one of two crawls from, so that it has no row of them."""
    for this, other, step in ((earlier, later, 1), (later, earlier, -1)):
        for url, row in this.rows.items():
            if url not in other.rows and other.look(url) == "closed" and this.look(url) == "read":
                old, new = (this.pages["indexability"].iloc[row], _CLOSED)[::step]
                yield url, "indexability", old, new


def _follows(name: str, fields: Mapping[str, tuple[Any, Any]]) -> bool:
    """Return whether a change of a page follows from another that is told."""
    if name == "text" and "headings" in fields:
        texts = zip(fields["text"], fields["headings"], strict=True)
        return is_same(name, *(_without(text, headings) for text, headings in texts))
    return any(source in fields for source in FOLLOWS.get(name, ()))


def _without(text: str, headings: Sequence[Mapping[str, str]]) -> str:
    known = {heading.get("text") for heading in headings}
    return "\n".join(line for line in text.split("\n") if line not in known)


def _differing(earlier: Judged, later: Judged, again: Judged | None) -> Iterator[tuple[Any, ...]]:
    """Yield address, field and both values of what differs, column by column."""
    pairs = [(url, earlier.rows[url], row) for url, row in later.rows.items() if url in earlier.rows]
    columns = columns_of(earlier.pages.columns, later.pages.columns)
    compared = [_compared(earlier, later, url, columns) for url, _, _ in pairs]
    firsts, seconds = [first for _, first, _ in pairs], [second for _, _, second in pairs]
    for column in columns:
        cells = zip(
            pairs,
            compared,
            _at(earlier.pages[column], firsts),
            _at(later.pages[column], seconds),
            strict=True,
        )
        for (url, _, _), names, *values in cells:
            if column not in names or values[0] is values[1]:
                continue
            for name, old, new, *twice in fields_of(column, *values, *_again(again, column, url)):
                if not _same(column, old, new) and not (twice and is_noise(old, new, twice[0])):
                    yield url, name, None if _missing(old) else old, None if _missing(new) else new


def _compared(earlier: Judged, later: Judged, url: str, columns: Sequence[str]) -> Sequence[str]:
    """Return the columns of a page that both audits know."""
    looks = {earlier.look(url), later.look(url)}
    if "unchecked" in looks:
        return ()
    if "closed" in looks:
        return ("indexability",)
    end = later.end(url)
    of_itself = end == earlier.end(url) and end not in later.rows  # else the page behind it has a row
    return columns if looks == {"read"} and of_itself else OF_ANSWERS


def _again(again: Judged | None, column: str, url: str) -> list[Any]:
    """Return what a page had in a column when it was read again, if it was."""
    if again is None or again.look(url) != "read" or column not in again.pages:
        return []
    return [again.pages[column].iloc[again.rows[url]]]


def _at(column: pd.Series, rows: list[int]) -> Iterator[Any]:
    """Yield the values at some rows; of a column in a folder, a bounded number are in memory at once."""
    if (array := stored(column)) is not None:
        return array.take(rows).values()
    cells = column.astype(object).tolist()
    return (cells[row] for row in rows)


def _missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def _same(column: str, old: Any, new: Any) -> bool:
    if _missing(old) or _missing(new):  # of a declared column: nobody looked
        return not is_own(column) or (_missing(old) and _missing(new))
    return is_same(column, old, new)


def changed_pages(before: Judged, after: Judged, changes: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each address of both audits, those that changed most first."""
    counts = Counter(changes["url"].tolist())
    known = dict.fromkeys((*after.rows, *before.rows))
    became = {
        url: "changed" if url in counts else _page_change(before.look(url), after.look(url)) for url in known
    }
    places = {url: place for place, url in enumerate(counts)}
    urls = sorted(known, key=lambda url: (_PAGES.index(became[url]), places.get(url, 0)))
    columns: dict[str, list[Any]] = {
        "url": urls,
        "change": [became[url] for url in urls],
        "fields": [counts[url] for url in urls],
    }
    return _frame(columns, ("string", "string", "integer"))


def left_index(changes: pd.DataFrame) -> pd.DataFrame:
    """Return the changes by which pages left the index: each with what it is now."""
    return changes[(changes["field"] == "indexability") & (changes["before"] == INDEXABLE)]


def _page_change(old: Look, new: Look) -> str:
    if old == "absent":
        return "added"
    return "unchecked" if "unchecked" in (old, new) else "removed" if new == "absent" else "same"


def _keys(before: pd.DataFrame, after: pd.DataFrame) -> tuple[Keys, Keys]:
    """Return a number for the page and the rule of each issue, equal where both are."""
    places = [pd.factorize(_joined([before[name], after[name]]))[0] for name in ("url", "rule")]
    keys = places[0].astype(np.int64) * (places[1].max(initial=0) + 2) + places[1]
    return keys[: len(before)], keys[len(before) :]


def _new_issue(old: Look, new: Look) -> str:
    """Return what an issue is that only the second audit has, from how both looked at its page."""
    if old == "absent":
        return "added"
    return "unchecked" if old == "unchecked" or (old != "read" and new == "read") else "worse"


def _lost_issue(old: Look, new: Look) -> str:
    """Return what became of an issue that only the first audit has."""
    if new == "absent":
        return "unchecked" if old == "unchecked" else "removed"
    return "unchecked" if new == "unchecked" or (old == "read" and new != "read") else "fixed"


def _became(
    before: Judged,
    after: Judged,
    issues: pd.DataFrame,
    of_looks: Callable[[Look, Look], str],
    untried: set[str],
) -> npt.NDArray[np.object_]:
    """Return what became of issues that one audit has; a rule that the other could not try says nothing."""
    places, urls = pd.factorize(issues["url"])
    found = np.array([of_looks(before.look(url), after.look(url)) for url in urls], dtype=object)[places]
    unsure = issues["rule"].isin(untried).to_numpy(bool) & np.isin(found, ("worse", "fixed"))
    return np.where(unsure, "unchecked", found).astype(object)


def changed_issues(before: Judged, after: Judged) -> pd.DataFrame:
    """Return the issues of both audits with their changes, in the order of `CHANGES`."""
    old, new = _keys(before.issues, after.issues)
    still = _chosen(after.issues, ~pd.Series(new).duplicated().to_numpy())
    left = _chosen(before.issues, ~pd.Series(old).duplicated().to_numpy() & ~np.isin(old, new))
    come = _became(before, after, still, _new_issue, before.untried)
    come[np.isin(pd.unique(new), old)] = "remaining"
    changes = np.concatenate([come, _became(before, after, left, _lost_issue, after.untried)])
    order = np.argsort([CHANGES.index(change) for change in changes], kind="stable")
    parts = [still, left]
    kept = [part for part in parts if len(part)] or parts[:1]
    index = pd.RangeIndex(len(order))
    names = [name for name in parts[0].columns if name in parts[1].columns]
    columns = {name: _joined([part[name] for part in kept]).take(order).set_axis(index) for name in names}
    return pd.DataFrame({"change": make_series(changes[order], "string", index), **columns}, index=index)


def _chosen(issues: pd.DataFrame, mask: npt.NDArray[np.bool_]) -> pd.DataFrame:
    """Return some issues; where they are all, nothing is copied."""
    return issues if mask.all() else issues[mask]


def _joined(columns: list[pd.Series]) -> pd.Series:
    """Return columns one below the other; categories stay categories."""
    if all(isinstance(column.dtype, pd.CategoricalDtype) for column in columns):
        return pd.Series(pd.api.types.union_categoricals(columns))
    plain = [column.astype(object) if column.dtype == "category" else column for column in columns]
    return pd.concat(plain, ignore_index=True)
