"""Two audits of one site: what changed between them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics.frames.schema import make_series
from webanalytics.seo.audit import Audit, as_audit

LEFT_OUT = frozenset(("url", "elapsed", "bytes", "responseBody"))
"""Columns that differ from one fetch of a page to the next, or tell the same as others."""
OF_FETCHES = frozenset(("status", "error_type", "http_status", "final_url", "redirects"))
"""What is compared of pages of which one was not read."""
DERIVED = ("indexable", "indexability", "inSitemap")
"""Derived columns that are compared; the others follow from columns that are."""
OF_ROBOTS = ("robots_txt_problems",)
"""Rules that look at robots.txt, which is read where an audit is made from a sitemap."""
CHANGES = ("new", "fixed", "remaining", "unchecked")
PRIORITIES = ("high", "medium", "low")


class Comparison:
    """What changed from one audit to another.

    Attributes
    ----------
    before, after : Audit
        The two, judged by the profile and thresholds of the second.
    pages : pandas.DataFrame
        ``url``, ``change`` (added, removed, changed or same) and ``fields`` (how many changed).
    changes : pandas.DataFrame
        ``url``, ``field``, ``before``, ``after``: one row for each field of a page that changed.
    issues : pandas.DataFrame
        ``change`` and the columns of `Audit.issues`. ``new`` issues are in the second audit only, ``fixed``
        ones in the first only; ``remaining`` ones in both. ``unchecked`` ones are in one of the two, and of
        the other nothing can be said: the page was not read the second time, or the rule lacked what it looks
        at. Issues of pages that were removed are ``fixed``.

    Examples
    --------
    >>> import webanalytics as wa
    >>> urls = ["https://a.example/", "https://a.example/b"]
    >>> before = wa.audit(pd.DataFrame({"url": urls, "html": ["<title>One", "<title>Two"]}))
    >>> after = wa.audit(pd.DataFrame({"url": urls[:1], "html": ["<title>Uno"]}))
    >>> comparison = wa.compare(before, after)
    >>> comparison.pages["change"].tolist()
    ['changed', 'removed']
    >>> comparison.changes.set_index("field").loc["title"].tolist()
    ['https://a.example/', 'One', 'Uno']
    """

    def __init__(self, before: Audit, after: Audit) -> None:
        if before._origin.profile != after._origin.profile:
            before = before.with_profile(after._origin.profile)
        self.before, self.after = before, after
        rows = _first_rows(before), _first_rows(after)
        self.changes = _changes(_compared(before), _compared(after), *rows)
        self.pages = _pages(*rows, self.changes)
        self.issues = _issues(before, after, *rows)
        self._counts = [audit.issues["rule"].value_counts().to_dict() for audit in (before, after)]

    def summary(self) -> pd.DataFrame:
        """Return one row for each rule: its issues before and after, new, fixed, remaining, unchecked.

        Returns
        -------
        pandas.DataFrame
            The rules with most that is urgent and new first.
        """
        counts = {
            (str(rule), str(priority)): found["change"].value_counts()
            for (rule, priority), found in self.issues.groupby(
                ["rule", "priority"], observed=True, sort=False
            )
        }
        rows = []
        for (rule, priority), found in counts.items():
            new, fixed, remaining, unchecked = (int(found.get(change, 0)) for change in CHANGES)
            before, after = (int(known.get(rule, 0)) for known in self._counts)
            rows.append((rule, priority, before, after, new, fixed, remaining, unchecked))
        rank = {priority: place for place, priority in enumerate(PRIORITIES)}
        rows.sort(key=lambda row: (rank.get(row[1], len(rank)), -row[4], -row[3], row[0]))
        names = ("rule", "priority", "before", "after", *CHANGES)
        kinds: Any = ("string", "string", *["integer"] * 6)
        return _frame({name: [row[place] for row in rows] for place, name in enumerate(names)}, kinds)

    def parts(self) -> dict[str, pd.DataFrame]:
        """Return the frames that a comparison consists of, by name."""
        return {
            "Summary": self.summary(),
            "Issues": self.issues,
            "Changed fields": self.changes,
            "Changed pages": self.pages[self.pages["change"] != "same"].reset_index(drop=True),
        }

    def report(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write the report of the second audit with what changed since the first; see `Audit.report`."""
        return self.after.report(path, changes=self.parts(), **options)

    def to_excel(self, path: str | os.PathLike[str]) -> Path:
        """Write a workbook with one sheet for each part, and return its path."""
        from webanalytics.seo.excel import write_workbook

        return write_workbook(path, self.parts())

    def __repr__(self) -> str:
        from webanalytics.seo.showing import as_text, comparison_overview

        return as_text(comparison_overview(self))

    def _repr_html_(self) -> str:
        from webanalytics.seo.showing import as_html, comparison_overview

        return as_html(comparison_overview(self))


def compare(before: Audit | str | os.PathLike[str], after: Audit | str | os.PathLike[str]) -> Comparison:
    """Compare two audits: pages added, removed and changed, issues new, fixed and remaining.

    Parameters
    ----------
    before, after : Audit or path
        Two audits, or the folders that they were saved in.

    Returns
    -------
    Comparison
        It prints and shows by itself; its frames are ``pages``, ``changes``, ``issues`` and ``summary()``.

    Raises
    ------
    ParameterError
        For something that is no audit.

    Notes
    -----
    Pages are the same where their ``url`` is. Both audits are judged by the profile and thresholds of the
    second, so that a difference is one of the pages.
    """
    return Comparison(as_audit(before, "before"), as_audit(after, "after"))


def _frame(columns: Mapping[str, list[Any]], kinds: Any) -> pd.DataFrame:
    index = pd.RangeIndex(len(next(iter(columns.values()))))
    made = zip(columns.items(), kinds, strict=True)
    return pd.DataFrame(
        {name: make_series(values, kind, index) for (name, values), kind in made}, index=index
    )


def _first_rows(audit: Audit) -> dict[str, int]:
    """Return the row of each address, the first where there are several."""
    rows: dict[str, int] = {}
    for row, url in enumerate(audit["url"].tolist()):
        if isinstance(url, str):
            rows.setdefault(url, row)
    return rows


def _compared(audit: Audit) -> pd.DataFrame:
    """Return the columns of which changes are told."""
    names = [name for name in audit.columns if name not in LEFT_OUT]
    derived = [name for name in DERIVED if name in audit.pages]
    known = [name for name in derived if name not in names and audit.pages[name].notna().any()]
    return audit.pages[names + known]


def _changes(
    before: pd.DataFrame, after: pd.DataFrame, rows_before: dict[str, int], rows_after: dict[str, int]
) -> pd.DataFrame:
    pairs = [(url, rows_before[url], row) for url, row in rows_after.items() if url in rows_before]
    read = [
        (before["status"].iloc[first], after["status"].iloc[second]) == ("ok", "ok")
        for _, first, second in pairs
    ]
    found: list[tuple[int, int, str, Any, Any]] = []
    for place, field in enumerate(name for name in after.columns if name in before.columns):
        old, new = (frame[field].astype(object).tolist() for frame in (before, after))
        for number, (_, first, second) in enumerate(pairs):
            if not _same(old[first], new[second]) and (read[number] or field in OF_FETCHES):
                found.append((number, place, field, old[first], new[second]))
    found.sort(key=lambda change: change[:2])
    columns: dict[str, list[Any]] = {
        "url": [pairs[change[0]][0] for change in found],
        "field": [change[2] for change in found],
        "before": [None if _missing(change[3]) else change[3] for change in found],
        "after": [None if _missing(change[4]) else change[4] for change in found],
    }
    return _frame(columns, ("string", "string", "object", "object"))


def _missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def _same(old: Any, new: Any) -> bool:
    if old is new:
        return True
    if _missing(old) or _missing(new):
        return _missing(old) and _missing(new)
    return bool(old == new)


def _pages(before: dict[str, int], after: dict[str, int], changes: pd.DataFrame) -> pd.DataFrame:
    counts = Counter(changes["url"].tolist())
    urls = [*after, *(url for url in before if url not in after)]
    told = [
        "added"
        if url not in before
        else "removed"
        if url not in after
        else "changed"
        if url in counts
        else "same"
        for url in urls
    ]
    columns: dict[str, list[Any]] = {"url": urls, "change": told, "fields": [counts[url] for url in urls]}
    return _frame(columns, ("string", "string", "integer"))


def _keys(issues: pd.DataFrame) -> Iterator[tuple[str, str]]:
    return zip(issues["url"].astype(str), issues["rule"].astype(str), strict=True)


def _untried(audit: Audit) -> set[str]:
    """Return the names of rules that could not look at an audit's pages."""
    known = audit.issues.attrs.get("webanalytics", {})
    unread = () if audit.site.robots else OF_ROBOTS
    return {*known.get("rules_not_tried", ()), *known.get("rules_failed", ()), *unread}


def _issues(
    before: Audit, after: Audit, rows_before: dict[str, int], rows_after: dict[str, int]
) -> pd.DataFrame:
    """Return the issues of both audits with what became of them: those of the second first."""
    old, new = (
        {key: row for row, key in reversed(list(enumerate(_keys(audit.issues))))} for audit in (before, after)
    )
    was_read, is_read = (
        {url: audit["status"].iloc[row] == "ok" for url, row in rows.items()}
        for audit, rows in ((before, rows_before), (after, rows_after))
    )

    untried_before, untried_after = _untried(before), _untried(after)

    def come(key: tuple[str, str]) -> str:
        return "remaining" if key in old else "unchecked" if key[1] in untried_before else "new"

    def gone(key: tuple[str, str]) -> str:
        lost = was_read.get(key[0], True) and not is_read.get(key[0], True)
        return "unchecked" if lost or key[1] in untried_after else "fixed"

    still = sorted((row, come(key)) for key, row in new.items())
    left = sorted((row, gone(key)) for key, row in old.items() if key not in new)
    parts = [
        audit.issues.iloc[[row for row, _ in found]].assign(change=[change for _, change in found])
        for audit, found in ((after, still), (before, left))
    ]
    kept = [part for part in parts if len(part)] or parts[:1]
    joined = pd.concat(kept, ignore_index=True)
    names = [name for name in joined.columns if name != "change"]
    return joined[["change", *names]].astype({"change": parts[0]["rule"].dtype})
