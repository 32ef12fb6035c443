"""Which frames made from an audit are audits too, and which rows of it they have.

`audits.audit` builds on it; pandas calls `Pages.__finalize__` at the end of nearly every method.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pandas as pd

from webanalytics.audits.pandas_writers import PandasWriters

KEPT = frozenset((None, "copy", "take", "sort_values", "sort_index", "reset_index", "rename"))
"""Methods, as pandas names them, whose frames have rows of the audit: all others may hold anything."""

NEEDED = ("url", "status")
"""Columns without which there is nothing to judge."""

OF_AUDITS = frozenset(
    (
        *(
            "issues",
            "pages",
            "site",
            "score",
            "audited_at",
            "summary",
            "failures",
            "report",
            "compare",
            "save",
        ),
        *("with_profile", "parts", "broken_links", "paths", "skipped", "traps", "hosts"),
    )
)
"""What an audit has and other frames have not."""


class Pages(PandasWriters, pd.DataFrame):  # type: ignore[misc]  # to_sql is final in the stubs
    """Pages of an audit that are no audit any more: joined, grouped, or with fewer columns.

    It is a DataFrame; asked for what only an audit has, it says how to make one.
    """

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def __getattr__(self, name: str) -> Any:  # type: ignore[misc]
        if name not in OF_AUDITS or name in self.columns or hasattr(type(self), name):
            return super().__getattr__(name)
        why = "it lacks the column url or status"
        if set(NEEDED) <= set(self.columns):
            why = "pandas does not say which rows of the audit it has; webanalytics.Audit(frame) judges them"
        raise AttributeError(f"This frame is no audit and has no `{name}`: {why}.")

    def __finalize__(self, other: Any, method: str | None = None, **kwargs: Any) -> Any:
        made = super().__finalize__(other, method, **kwargs)  # type: ignore[misc]
        keep = getattr(other, "_keep", None) if isinstance(other, Pages) else None
        return made if keep is None else keep(made, method)


def is_part(frame: pd.DataFrame, whole: pd.DataFrame, method: str | None) -> bool:
    """Return whether a frame that a method made of an audit has rows of it, with all their columns."""
    return (
        method in KEPT
        and set(whole.columns) <= set(frame.columns)
        and frame.columns.is_unique
        and all(name in frame and frame[name].dtype == whole[name].dtype for name in NEEDED)
    )


def places(urls: Sequence[Any], whole: Sequence[Any]) -> list[int] | None:
    """Return where the rows of a part are in the whole; None if there are others.

    Rows are known by their ``url``; of several with one, the first is the first.

    Examples
    --------
    >>> places(["b", "a", "a"], ["a", "b", "a"]), places(["c"], ["a"])
    ([1, 0, 2], None)
    """
    found = {key: row for row, key in enumerate(_counted(whole))}
    rows = [found.get(key) for key in _counted(urls)]
    return None if None in rows else [row for row in rows if row is not None]


def _counted(urls: Sequence[Any]) -> Iterator[tuple[str | None, int]]:
    """Yield each URL with how often it came before."""
    seen: Counter[str | None] = Counter()
    for url in urls:
        known = url if isinstance(url, str) else None
        yield known, seen[known]
        seen[known] += 1


def issues_of(issues: pd.DataFrame, urls: Sequence[Any]) -> pd.DataFrame:
    """Return the issues of some of the pages; each page has as many of a rule as it has rows."""
    known = Counter(url if isinstance(url, str) else None for url in urls)
    seen: Counter[Any] = Counter()
    rows = []
    for row, (url, rule) in enumerate(zip(issues["url"].tolist(), issues["rule"].tolist(), strict=True)):
        place = url if isinstance(url, str) else None
        seen[place, rule] += 1
        if seen[place, rule] <= known[place]:
            rows.append(row)
    return issues if len(rows) == len(issues) else issues.iloc[rows].reset_index(drop=True)


def forgetful(name: str) -> Any:
    """Return an indexer such as ``loc`` whose assignments make an audit forget what it found."""
    base: Any = type(getattr(pd.DataFrame(), name))

    class Indexer(base):  # type: ignore[misc]
        def __setitem__(self, key: Any, value: Any) -> None:
            self.obj._forget()
            super().__setitem__(key, value)

    return property(lambda self: Indexer(name, self))


@cache
def declared_columns() -> frozenset[str]:
    """Return the names of an audit's own columns, and of those that rules derive."""
    from webanalytics.audits.pages import CRAWLED, DERIVED
    from webanalytics.frames.arrow import declared

    return frozenset((*declared("audit"), *DERIVED, *CRAWLED))
