"""`webanalytics.rule`: rules of one's own; `webanalytics.rules`: all of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from webanalytics.audits.rules import BUILT_IN, REMOVED, RULES, rules
from webanalytics.audits.rules.base import Category, Find, Finding, Rule, Type
from webanalytics.audits.site import Site
from webanalytics.core.run_options import WEB_ADDRESS
from webanalytics.errors import ParameterError, choice
from webanalytics.runs.frames.schema import is_missing
from webanalytics.thresholds import PRIORITIES, Priority

__all__ = ["OwnRule", "rule", "rules"]

LONGEST = 1_000
"""Most characters of a sentence of a rule."""

_NAME = re.compile("[a-z][a-z0-9_]{0,59}")

Function = Callable[..., Any]
Which = Literal["read", "all"]
"""The pages that a rule looks at: those that were read, or all rows."""


class OwnRule:
    """A rule of one's own: what `webanalytics.rule` makes of a function.

    Calling it calls the function. It counts in every audit of this process until `remove` is called, or until
    the end of its ``with`` block.
    """

    def __init__(self, function: Function, declared: Rule) -> None:
        self._function = function
        self.rule = declared
        """The declaration."""
        RULES.own.pop(declared.name, None)
        RULES[declared.name] = declared
        REMOVED.discard(declared.name)

    @property
    def name(self) -> str:
        """Name in frames, thresholds and profiles."""
        return self.rule.name

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the function."""
        return self._function(*arguments, **keywords)

    def remove(self) -> None:
        """Take the rule out of the list; audits are judged without it from then on."""
        if RULES.own.pop(self.name, None) is not None:
            REMOVED.add(self.name)

    def __enter__(self) -> OwnRule:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<rule {self.name}: {self.rule.title}>"


def rule(
    function: Function | None = None,
    *,
    name: str | None = None,
    title: str | None = None,
    category: Category = "own",
    type: Type = "issue",  # noqa: A002 - what frames of issues call it
    priority: Priority = "medium",
    explanation: str = "",
    fix: str = "",
    threshold: float | None = None,
    unit: str = "",
    columns: Sequence[str] = (),
    pages: Which = "read",
    measured: str = "",
    source: str = "",
    help: str = "",  # noqa: A002 - what frames of issues call it
) -> Any:
    """Add a rule of one's own to all audits of this process, as a decorator or with a function.

    Parameters
    ----------
    function : callable, optional
        Takes the pages of an audit, a DataFrame like `Audit.pages` but without what was found, and the
        threshold if it has a second parameter. It returns what it found: a boolean for each page; or a Series
        of numbers or texts, missing for pages without a finding; or a DataFrame of some of the pages, by
        their index, with the columns ``value`` (a number) and ``evidence`` (a text), or one of them.
    name : str, optional
        Name in frames, thresholds and profiles; by default that of the function. A rule of one's own with the
        same name is replaced.
    title : str, optional
        Human-readable name; by default made of the name.
    category : str, default "own"
        What it is about: one of the categories of `webanalytics.rules`, or ``own``.
    type : {"issue", "warning", "opportunity"}, default "issue"
        A fault; something to look at; something that could be better. Warnings do not lower the score.
    priority : {"high", "medium", "low"}, default "medium"
        How much it matters.
    explanation, fix : str
        Why it matters, and what to do.
    threshold : float, optional
        The limit that the function is given; ``thresholds=`` and profiles can change it.
    unit : str
        What the threshold counts.
    columns : sequence of str
        Columns that the function reads: where one is missing, the rule is not tried, and the audit says so.
    pages : {"read", "all"}, default "read"
        Whether it looks at the pages that were read, each once, or at all rows, failures too.
    measured, source, help : str
        How it is measured, what it rests on, and the address of a page that explains it.

    Returns
    -------
    OwnRule
        The rule. ``.remove()`` removes it again, as does the end of a ``with`` block.

    Raises
    ------
    ParameterError
        For a name that a rule of this package has, and for any other wrong argument.

    Notes
    -----
    A function that raises, or that returns something else, costs its own rule only: it is named in
    ``audit.issues.attrs["webanalytics"]["rules_failed"]``, and the log has the exception. Rules are not part
    of saved audits: one that is loaded is judged by those that are there.

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> site = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Tea</title><p>Call us"]})
    >>> audit = wa.audit(site)
    >>> @wa.rule(title="Phone number missing", priority="high", fix="Add our number.", threshold=5)
    ... def phone_missing(pages, threshold):
    ...     return pages["text"].str.count(r"[0-9]") < threshold
    >>> audit.issues.loc[audit.issues["rule"] == "phone_missing", ["rule_title", "priority"]].values.tolist()
    [['Phone number missing', 'high']]
    >>> phone_missing.remove()
    >>> "phone_missing" in wa.rules().index, "phone_missing" in set(audit.issues["rule"])
    (False, False)
    """

    def made(found: Function) -> OwnRule:
        if not callable(found) or not takes_pages(found):
            raise ParameterError(
                "The `function` parameter must be a function that takes a frame, or a frame and a threshold.",
                "function",
            )
        called = name if name is not None else getattr(found, "__name__", "")
        shown = title if title is not None else str(called).replace("_", " ").capitalize()
        declared = Rule(
            name=_checked_name(called),
            title=_text("title", shown),
            category=choice("category", category, get_args(Category)),
            type=choice("type", type, get_args(Type)),
            priority=choice("priority", priority, PRIORITIES),
            explanation=_text("explanation", explanation),
            fix=_text("fix", fix),
            find=finder(found, choice("pages", pages, get_args(Which))),
            threshold=_number(threshold),
            unit=_text("unit", unit),
            columns=_columns(columns),
            measured=_text("measured", measured),
            source=_text("source", source),
            address=_address(help),
        )
        return OwnRule(found, declared)

    return made if function is None else made(function)


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ParameterError.must_be("name", "a word of small letters, digits and underscores")
    if name in BUILT_IN:
        raise ParameterError.on("name", f"must not be that of a rule of this package: {name}")
    return name


def _text(parameter: str, text: Any) -> str:
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ParameterError.must_be(parameter, f"a string of at most {LONGEST:,} characters")
    return text


def _number(threshold: Any) -> float | None:
    if threshold is None:
        return None
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not threshold >= 0:
        raise ParameterError.must_be("threshold", "a number, at least 0")
    return float(threshold)


def _columns(columns: Any) -> tuple[str, ...]:
    if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
        raise ParameterError.must_be("columns", "a list of names of columns")
    return tuple(columns)


def _address(address: Any) -> str:
    if address != "" and not (isinstance(address, str) and WEB_ADDRESS.fullmatch(address)):
        raise ParameterError.must_be("help", "a web address")
    return str(address)


def takes_threshold(function: Function) -> bool:
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


def takes_pages(function: Function) -> bool:
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


def finder(function: Function, which: Which) -> Find:
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
        if isinstance(cell, (bool, np.bool_)):
            if cell:
                yield Finding(row)
        elif isinstance(cell, str):
            if cell:
                yield Finding(row, evidence=cell)
        elif not is_missing(cell):
            yield Finding(row, cell)


def _as_list(found: Any) -> list[Any]:
    if found is None or isinstance(found, (str, bytes, dict)):
        raise TypeError("the rule returned neither a Series, nor a frame, nor one value for each page")
    return list(found)


def _of_frame(found: pd.DataFrame, pages: pd.DataFrame) -> Iterator[Finding]:
    if not found.index.isin(pages.index).all():
        raise ValueError("the rule returned rows that are not those of its pages")
    value, evidence = (
        found[name].astype(object).tolist() if name in found else [None] * len(found)
        for name in ("value", "evidence")
    )
    for row, number, text in zip(found.index.tolist(), value, evidence, strict=True):
        yield Finding(row, None if is_missing(number) else number, "" if is_missing(text) else str(text))
