"""What a comparison's report begins with: the score before and after, what got worse, what is fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from webanalytics.audits.compare.differences import left_index
from webanalytics.audits.report.cells import Scalar, column
from webanalytics.audits.report.content import Content
from webanalytics.audits.report.tables import Cell, Table
from webanalytics.audits.words import number, say, several
from webanalytics.thresholds import PRIORITIES

CHANGES: Mapping[str, str] = {
    "worse": "Got worse",
    "added": "On new pages",
    "fixed": "Fixed",
    "removed": "Removed with its page",
    "remaining": "Remaining",
    "unchecked": "Unchecked",
}
"""What became of issues, in the order of the report."""

_NOTES: Mapping[str, str] = {
    "worse": "on pages of both audits",
    "added": "with their pages",
    "fixed": "on pages of both audits",
    "removed": "their pages are gone",
    "remaining": "in both",
    "unchecked": "could not be looked for in one of the audits",
}
_DIFFER: Mapping[str, str] = {  # of one page and of several, which differ in other languages
    "added": "{n} added",
    "removed": "{n} removed",
    "gone": "{n} gone (HTTP 404 or 410)",
    "changed": "{n} changed",
}
_LISTS: Mapping[str, str] = {
    "worse": "What got worse",
    "added": "Issues on new pages",
    "removed": "Issues removed with their page",
}
_KINDS: Mapping[str, str] = {"worse": "high", "fixed": "good", "remaining": "medium"}
_ALWAYS = ("worse", "added", "fixed", "remaining")
_MOVES = frozenset(("worse", "added", "fixed", "removed"))
_SHOWN = ("priority", "problem", "url", "value", "threshold", "evidence")
_RANKS: Mapping[str, int] = {priority: place for place, priority in enumerate(PRIORITIES)}
MOST_RULES = 40


@dataclass(frozen=True)
class Movement:
    """The figures, the rules and the lists of a comparison."""

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
        elif name == "Changed fields" and {"url", "field", "before"} <= set(frame.columns):
            made.figures[:0] = _left(len(left_index(frame)))
            made.lists[name] = frame
        elif name != "Summary" or "Issues" not in frames:
            made.lists[name] = frame
    summary = frames.get("Summary")
    rules = _rules(content, summary) if summary is not None and "worse" in summary else None
    return Movement(made.figures, rules, made.lists)


def _left(pages: int) -> list[dict[str, Any]]:
    told = {"label": say("Not in the index any more"), "after": say("first in the list of changed fields")}
    return [told | {"value": pages, "kind": "high"}] * bool(pages)


def _issues(changes: list[str]) -> list[dict[str, Any]]:
    counts = Counter(changes)
    return [
        {"label": say(label), "value": counts[change], "after": say(_NOTES[change])}
        | {"kind": _KINDS.get(change, "")}
        for change, label in CHANGES.items()
        if counts[change] or change in _ALWAYS
    ]


def _pages(changes: list[str]) -> list[dict[str, Any]]:
    counts = Counter(changes)
    known = ("added", "removed", "gone", "changed")
    said = [name for name in known if counts[name] or name != "gone"]
    parts = ", ".join(several(_DIFFER[name], _DIFFER[name], counts[name]) for name in said)
    if left := counts["unchecked"]:
        parts += several("; {n} not looked at", "; {n} not looked at", left)
    return [{"label": say("Pages that differ"), "value": sum(counts[name] for name in known), "after": parts}]


def _places(content: Content) -> dict[str, int]:
    return {line.name: place for place, line in enumerate(content.rules)}


def _rank(priority: Scalar) -> int:
    return _RANKS.get(str(priority), len(_RANKS))


def _lists(content: Content, frame: pd.DataFrame, changes: list[str]) -> dict[str, pd.DataFrame]:
    """Return the issues by what became of them, in the order "fix first", each with its rule's title."""
    rules, titles = column(frame, "rule"), column(frame, "rule_title")
    priorities, now = column(frame, "priority"), _places(content)
    problems = [say(str(title or rule)) for title, rule in zip(titles, rules, strict=True)]
    shown = frame.assign(problem=pd.Series(problems, index=frame.index, dtype=object))
    names = [name for name in _SHOWN if name in shown]
    found: dict[str, pd.DataFrame] = {}
    for change in dict.fromkeys([*CHANGES, *changes]):
        rows = [row for row, became in enumerate(changes) if became == change]
        rows.sort(
            key=lambda row: (_rank(priorities[row]), now.get(str(rules[row]), len(now)), str(rules[row]))
        )
        if rows:
            found[_LISTS.get(change, f"{CHANGES.get(change, change)} issues")] = shown.iloc[rows][names]
    return found


def _rules(content: Content, summary: pd.DataFrame) -> Table | None:
    kept = ("before", "after", "worse", "fixed", "remaining")
    cells = {
        name: column(summary, name) for name in ("rule", "rule_title", "priority", "points", *kept, *CHANGES)
    }
    names = [name for name in ("before", "after", *CHANGES) if name in kept or any(cells[name])]
    now = _places(content)
    moved = [row for row in range(len(summary)) if any(cells[name][row] for name in names if name in _MOVES)]
    scored = any(cells["points"])
    shown = [*(CHANGES.get(name, name.capitalize()) for name in names), *["Points of the score"] * scored]
    heads = [Cell(say("Rule")), *(Cell(say(name), number=True) for name in shown)]
    rows = [
        [
            _rule(now, *(cells[name][row] for name in ("rule", "rule_title", "priority"))),
            *(_count(cells[name][row]) for name in names),
            *[_points(cells["points"][row])] * scored,
        ]
        for row in moved[:MOST_RULES]
    ]
    left = len(moved) - len(rows)
    more = several("and {n} more rule", "and {n} more rules", left) if left > 0 else ""
    return Table(say("Rules whose issues changed"), "", heads, rows, more) if rows else None


def _rule(now: Mapping[str, int], rule: Scalar, title: Scalar, priority: Scalar) -> Cell:
    name = str(rule)
    return Cell(say(str(title or name)), rule=name if name in now else "", badge=str(priority or ""))


def _count(value: Scalar) -> Cell:
    return Cell(number(value) if isinstance(value, (int, float)) and value else "·", number=True)


def _points(value: Scalar) -> Cell:
    known = isinstance(value, (int, float)) and value
    shown = f"{'+' if float(value or 0) > 0 else '−'}{number(abs(float(value or 0)), 2)}" if known else "·"
    return Cell(shown, number=True)
