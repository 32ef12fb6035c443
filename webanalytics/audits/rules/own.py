"""Rules of one's own: registered at run time, judged and reported like the rest; see `webanalytics.rule`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import pandas as pd

from webanalytics.audits.rules import REMOVED, RULES
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.site import Site

Which = Literal["read", "all"]
"""The pages that a rule looks at: those that were read, or all rows."""

PARTS = ("value", "evidence")
"""Columns of a frame of findings."""


def add(rule: Rule) -> None:
    """Register a rule, in the place of an earlier one of its own name."""
    RULES.own.pop(rule.name, None)
    RULES[rule.name] = rule
    REMOVED.discard(rule.name)


def remove(name: str) -> None:
    """Remove a rule; nothing happens if it is gone."""
    if RULES.own.pop(name, None) is not None:
        REMOVED.add(name)


def takes_threshold(function: Callable[..., Any]) -> bool:
    """Return whether a function takes the threshold besides the pages.

    Examples
    --------
    >>> takes_threshold(lambda pages: None), takes_threshold(lambda pages, threshold: None)
    (False, True)
    """
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of a function written in C
        return False
    return sum(parameter.kind in kinds for parameter in parameters) > 1


def takes_pages(function: Callable[..., Any]) -> bool:
    """Return whether a function can be called with the pages, or with the pages and the threshold.

    Examples
    --------
    >>> takes_pages(lambda pages: None), takes_pages(lambda: None), takes_pages(lambda a, b, c: None)
    (True, False, False)
    """
    try:
        inspect.signature(function).bind(*range(1 + takes_threshold(function)))
    except TypeError:
        return False
    except ValueError:  # of a function written in C
        return True
    return True


def finder(function: Callable[..., Any], which: Which) -> Callable[[Site, Any], Iterator[Finding]]:
    """Return the search of a rule whose function takes a frame of pages."""
    with_threshold = takes_threshold(function)

    def find(site: Site, threshold: Any) -> Iterator[Finding]:
        rows = range(len(site.pages)) if which == "all" else [row for row, *_ in site.read()]
        pages = site.pages.iloc[list(rows)].copy()
        yield from findings(function(pages, threshold) if with_threshold else function(pages), pages)

    return find


def findings(found: Any, pages: pd.DataFrame) -> Iterator[Finding]:
    """Yield what a function found among pages, whose index says which rows they are.

    Examples
    --------
    >>> pages = pd.DataFrame({"price": ["1", None]}, index=[0, 3])
    >>> list(findings(pages["price"].isna(), pages))
    [Finding(row=3, value=None, evidence='')]
    >>> list(findings(pages["price"], pages))
    [Finding(row=0, value=None, evidence='1')]
    """
    if isinstance(found, pd.DataFrame):
        yield from _of_frame(found, pages)
        return
    if not isinstance(found, pd.Series):
        found = pd.Series(_as_list(found), index=pages.index, dtype=object)
    if found.index.has_duplicates or not found.index.isin(pages.index).all():
        raise ValueError("the rule returned rows that are not those of its pages")
    for row, cell in zip(found.index.tolist(), found.astype(object).tolist(), strict=True):
        if _is_missing(cell) or cell is False or (isinstance(cell, (bool, np.bool_)) and not cell):
            continue
        if isinstance(cell, (bool, np.bool_)):
            yield Finding(row)
        elif isinstance(cell, str):
            if cell:
                yield Finding(row, evidence=cell)
        else:
            yield Finding(row, cell)


def _as_list(found: Any) -> list[Any]:
    if found is None or isinstance(found, (str, bytes, dict)):
        raise TypeError("the rule returned neither a Series, nor a frame, nor one value for each page")
    return list(found)


def _of_frame(found: pd.DataFrame, pages: pd.DataFrame) -> Iterator[Finding]:
    if not found.index.isin(pages.index).all():
        raise ValueError("the rule returned rows that are not those of its pages")
    value, evidence = (
        found[name].astype(object).tolist() if name in found else [None] * len(found) for name in PARTS
    )
    for row, number, text in zip(found.index.tolist(), value, evidence, strict=True):
        yield Finding(row, None if _is_missing(number) else number, "" if _is_missing(text) else str(text))


def _is_missing(cell: Any) -> bool:
    return cell is None or cell is pd.NA or cell is pd.NaT or (isinstance(cell, float) and cell != cell)
