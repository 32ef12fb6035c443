"""What a comparison's report begins with: the score before and after, issues new, fixed and remaining."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from webanalytics.audits.report.cells import Scalar, column
from webanalytics.audits.report.content import Content
from webanalytics.audits.report.tables import Cell, Table, headings
from webanalytics.thresholds import PRIORITIES

CHANGES: Mapping[str, str] = {
    "new": "New",
    "fixed": "Fixed",
    "remaining": "Remaining",
    "removed with its page": "Removed with their page",
    "unchecked": "Unchecked",
}
"""What became of issues, in the order of the report."""

_NOTES: Mapping[str, str] = {
    "new": "only in this audit",
    "fixed": "only in the audit before",
    "remaining": "in both",
    "removed with its page": "their pages are gone",
    "unchecked": "could not be looked for in one of the audits",
}
_KINDS: Mapping[str, str] = {"new": "high", "fixed": "good", "remaining": "medium"}
_SHOWN = ("priority", "problem", "url", "value", "threshold", "evidence")
MOST_RULES = 40


@dataclass(frozen=True)
class Movement:
    """The figures, the rules and the lists of a comparison.

    Attributes
    ----------
    figures : list of dict
        Arguments of the template's tiles.
    rules : Table or None
        One row for each rule of which issues came or went, in the order "fix first".
    lists : dict of str to pandas.DataFrame
        What the script shows, by name.
    """

    figures: list[dict[str, Any]] = field(default_factory=list)
    rules: Table | None = None
    lists: dict[str, pd.DataFrame] = field(default_factory=dict)


def movement(content: Content, frames: Mapping[str, pd.DataFrame]) -> Movement:
    """Return what changed, from the frames of a comparison; frames of other forms are lists as they are."""
    made = Movement()
    for name, frame in frames.items():
        if name == "Issues" and {"change", "url", "rule"} <= set(frame.columns):
            changes = [str(change) for change in column(frame, "change")]
            made.figures.extend(_issues(changes))
            made.lists.update(_lists(content, frame, changes))
        elif name == "Changed pages" and {"url", "change"} <= set(frame.columns):
            made.figures.extend(_pages([str(change) for change in column(frame, "change")]))
            made.lists[name] = frame
        elif name != "Summary" or "Issues" not in frames:
            made.lists[name] = frame
    issues = frames.get("Issues")
    rules = None if issues is None or not made.figures else _rules(content, issues)
    return Movement(made.figures, rules, made.lists)


def _issues(changes: list[str]) -> list[dict[str, Any]]:
    counts = Counter(changes)
    always = ("new", "fixed", "remaining")
    return [
        {"label": label, "value": counts[change], "after": _NOTES[change], "kind": _KINDS.get(change, "")}
        for change, label in CHANGES.items()
        if counts[change] or change in always
    ]


def _pages(changes: list[str]) -> list[dict[str, Any]]:
    counts = Counter(changes)
    parts = ", ".join(f"{counts[name]:,} {name}" for name in ("added", "removed", "changed"))
    return [{"label": "Pages that differ", "value": sum(counts.values()), "after": parts}]


def _places(content: Content) -> dict[str, int]:
    return {line.name: place for place, line in enumerate(content.rules)}


def _rank(priority: Scalar) -> int:
    return PRIORITIES.index(priority) if priority in PRIORITIES else len(PRIORITIES)


def _lists(content: Content, frame: pd.DataFrame, changes: list[str]) -> dict[str, pd.DataFrame]:
    """Return the issues by what became of them, in the order "fix first", each with its rule's title."""
    rules, titles = column(frame, "rule"), column(frame, "title")
    priorities, now = column(frame, "priority"), _places(content)
    shown = frame.assign(problem=[title or rule for title, rule in zip(titles, rules, strict=True)])
    names = [name for name in _SHOWN if name in shown]
    found: dict[str, pd.DataFrame] = {}
    for change in dict.fromkeys([*CHANGES, *changes]):
        rows = [row for row, became in enumerate(changes) if became == change]
        rows.sort(
            key=lambda row: (_rank(priorities[row]), now.get(str(rules[row]), len(now)), str(rules[row]))
        )
        if rows:
            found[f"{CHANGES.get(change, change)} issues"] = shown.iloc[rows][names]
    return found


def _rules(content: Content, issues: pd.DataFrame) -> Table | None:
    """Return the rules of which issues came or went, in the order "fix first"."""
    counts: dict[str, Counter[Scalar]] = {}
    known: dict[str, tuple[Scalar, Scalar]] = {}
    names = ("rule", "title", "priority", "change")
    for rule, title, priority, change in zip(*(column(issues, name) for name in names), strict=True):
        counts.setdefault(str(rule), Counter())[change] += 1
        known.setdefault(str(rule), (title or rule, priority))
    now = _places(content)
    moved = [rule for rule, found in counts.items() if set(found) != {"remaining"}]
    moved.sort(key=lambda rule: (_rank(known[rule][1]), now.get(rule, len(now)), -counts[rule].total(), rule))
    columns = [change for change in CHANGES if any(counts[rule][change] for rule in moved)]
    heads = headings("Rule", *(CHANGES[name] for name in columns), numbers="." + "n" * len(columns))
    rows = [
        [
            Cell(str(known[rule][0]), rule=rule if rule in now else "", badge=str(known[rule][1] or "")),
            *(
                Cell(f"{counts[rule][name]:,}" if counts[rule][name] else "·", number=True)
                for name in columns
            ),
        ]
        for rule in moved[:MOST_RULES]
    ]
    left = len(moved) - len(rows)
    more = f"and {left:,} more rule{'s' * (left > 1)}" if left > 0 else ""
    return Table("Rules whose issues changed", "", heads, rows, more) if rows else None
