"""What an audit does not know: pages not read and rules not tried, why, and what would help."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import pandas as pd

from webanalytics.audits.report.cells import Scalar, column
from webanalytics.audits.report.content import Content
from webanalytics.audits.unavailable_rules import first_lacked
from webanalytics.core.strings import counted

MOST_FAILURES = 8


class Gap(NamedTuple):
    """How much is missing, why, what would help, and the names of what is missing."""

    amount: str
    why: str
    option: str = ""
    names: str = ""


def failures(frame: pd.DataFrame) -> list[Gap]:
    """Return why addresses gave no page, the most frequent reason first.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns ``reason``, ``pages`` (how many) and, if known, ``option`` (what changes it) and ``advice``
        (how).
    """
    if not {"reason", "pages"} <= set(frame.columns):
        return []
    cells = (column(frame, name) for name in ("reason", "pages", "advice", "option"))
    found = [
        Gap(f"{count:,.0f} address{'es' * (count != 1)}", str(reason or "unknown"), _advice(advice, option))
        for reason, count, advice, option in zip(*cells, strict=True)
        if isinstance(count, (int, float))
    ]
    left = len(found) - MOST_FAILURES
    return found[:MOST_FAILURES] + [Gap(counted(left, "more reason"), "See the list of pages.")] * (left > 0)


def _advice(advice: Scalar, option: Scalar) -> str:
    if advice:
        return f"{str(advice).removesuffix('.')}."
    return f"`{option}` changes it." if option else ""


def untried(content: Content) -> list[Gap]:
    """Return what rules were not tried, by what they lacked first, the most rules first."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for title, names in content.lacking.items():
        groups[first_lacked(names)].append(title)
    found = [
        Gap(counted(len(titles), "rule"), need, names=", ".join(sorted(titles)))
        for need, titles in sorted(groups.items(), key=lambda item: -len(item[1]))
    ]
    broken = sorted(title for title in content.untried if title not in content.lacking)
    if broken:
        why = "data that they can read: they broke off"
        found.append(Gap(counted(len(broken), "rule"), why, names=", ".join(broken)))
    return found
