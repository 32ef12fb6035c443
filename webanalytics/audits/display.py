"""The text and HTML that audits and comparisons show: a few figures, a short table, and hints.

Made of frames; `audits.audit` calls it for ``print`` and notebooks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from webanalytics.audits.origin import Origin
from webanalytics.strings import one_line, percent, shortened
from webanalytics.tables import table_lines
from webanalytics.thresholds import PRIORITIES

MOST_RULES = 10
MOST_NOTES = 5
MOST_NAMES = 3
WHEN_ASKED = frozenset(("imageBytes", "inSitemap"))
"""Columns that an audit has only on request: without them, their rules need no note."""
MOST_PAGES = 5_000
"""From this many pages, issues are not computed just to display an audit."""
LONGEST = 80
"""Characters of a cell."""

_NUMBERS = frozenset(("pages", "share", "before", "after", "new", "fixed", "remaining"))


@dataclass(frozen=True)
class Overview:
    """What is shown: figures, a table, notes and a hint, all as plain text."""

    title: str
    figures: Sequence[tuple[str, str]]
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    more: str = ""
    notes: Sequence[str] = field(default_factory=list)
    hint: str = ""


def audit_overview(
    frame: pd.DataFrame, origin: Origin, found: tuple[pd.DataFrame, pd.DataFrame] | None
) -> Overview:
    """Return the overview of an audit, with its issues and their summary if they are computed."""
    good = int((frame["status"] == "ok").sum()) if "status" in frame else 0
    figures = [("pages", f"{len(frame):,}"), ("ok", f"{good:,}"), ("failed", f"{len(frame) - good:,}")]
    notes = _site_notes(origin)
    hint = (
        'See .issues, .summary() and .pages; .report("report.html") and .to_excel("audit.xlsx") write them.'
    )
    if not len(frame) or "status" not in frame:
        return Overview("Audit", figures, notes=notes)
    if found is None:
        return Overview(
            "Audit", figures, notes=notes, hint="Issues are looked for when asked: see .summary()."
        )
    issues, summary = found
    rules = summary[summary["pages"] > 0]
    notes += _rule_notes(issues)
    return Overview(
        "Audit",
        figures + _by_priority(issues),
        ("priority", "rule", "pages", "share"),
        [
            (_text(priority), _text(rule), f"{pages:,}", percent(share))
            for priority, rule, pages, share in zip(
                *(rules[name].head(MOST_RULES).tolist() for name in ("priority", "rule", "pages", "share")),
                strict=True,
            )
        ],
        _more(len(rules), "rules"),
        notes,
        hint,
    )


def comparison_overview(
    pages: pd.DataFrame, issues: pd.DataFrame, summary: pd.DataFrame, *, hint: bool = True
) -> Overview:
    """Return the overview of a comparison."""
    changed, found = pages["change"].value_counts(), issues["change"].value_counts()
    figures = [
        (f"pages {name}", f"{int(changed.get(name, 0)):,}")
        for name in ("added", "removed", "changed", "same")
    ]
    figures += [(f"issues {name}", f"{int(found.get(name, 0)):,}") for name in ("new", "fixed", "remaining")]
    if found.get("unchecked", 0):
        figures.append(("issues unchecked", f"{int(found['unchecked']):,}"))
    moved = summary[(summary["new"] > 0) | (summary["fixed"] > 0)]
    headings = ("priority", "rule", "before", "after", "new", "fixed", "remaining")
    rows = [
        tuple(f"{value:,}" if isinstance(value, int) else _text(value) for value in row)
        for row in moved.head(MOST_RULES)[list(headings)].astype(object).itertuples(index=False, name=None)
    ]
    pointer = "See .pages, .changes (field by field), .issues and .summary()." if hint else ""
    return Overview("Comparison", figures, headings, rows, _more(len(moved), "rules"), hint=pointer)


def _by_priority(issues: pd.DataFrame) -> list[tuple[str, str]]:
    counts = issues["priority"].astype(str).value_counts()
    return [(f"{name} issues", f"{int(counts.get(name, 0)):,}") for name in PRIORITIES]


def _site_notes(origin: Origin) -> list[str]:
    """Return sentences on sitemaps that could not be read, and on robots.txt."""
    notes = []
    if origin.sitemap is not None:
        bad = origin.sitemap[origin.sitemap["status"] != "ok"]
        notes = [f"{_text(row.sitemap)}: {_text(row.error, 200)}" for row in bad.itertuples()]
    for site, problems in origin.robots.items():
        notes += [f"{_text(site)}/robots.txt: {_text(problem, 200)}" for problem in problems]
    shown = notes[:MOST_NOTES]
    return [*shown, f"{len(notes) - MOST_NOTES:,} more such notes"] if len(notes) > MOST_NOTES else shown


def _rule_notes(issues: pd.DataFrame) -> list[str]:
    """Return sentences on rules that were not tried or failed: they did not pass."""
    known = issues.attrs.get("webanalytics", {})
    failed, untried = known.get("rules_failed", ()), known.get("rules_not_tried", {})
    # sizes of images are fetched on request only
    lacking = [name for name, columns in untried.items() if not set(columns) <= WHEN_ASKED]
    notes = [f"rules not tried, for the pages lack what they look at: {_named(lacking)}"] * bool(lacking)
    return notes + [f"rules that broke off on odd data: {_named(failed)}"] * bool(failed)


def _named(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(map(_text, names[:MOST_NAMES])) + (f" and {more:,} more" if more > 0 else "")


def _more(count: int, what: str) -> str:
    return f"and {count - MOST_RULES:,} more {what}" if count > MOST_RULES else ""


def _text(value: Any, most: int = LONGEST) -> str:
    """Return a value as one short line."""
    return shortened(one_line(str(value)[: most * 2]), most)


def counted(value: str, label: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted("1", "pages added"), counted("2", "high issues"), counted("1", "failed")
    ('1 page added', '2 high issues', '1 failed')
    """
    if value == "1":
        label = label.replace("pages", "page").replace("issues", "issue")
    return f"{value} {label}"


def as_text(overview: Overview) -> str:
    """Return an overview as lines of text."""
    figures = ", ".join(counted(value, label) for label, value in overview.figures)
    lines = [f"{overview.title}: {figures}"]
    if overview.rows:
        lines += ["", *table_lines(overview.headings, overview.rows, numbers=_NUMBERS)]
        lines += [overview.more] * bool(overview.more)
    lines += [""] * bool(overview.notes) + list(overview.notes)
    return "\n".join([*lines, *(["", overview.hint] if overview.hint else [])])


def as_html(overview: Overview) -> str:
    """Return an overview as HTML for notebooks, everything escaped, in the notebook's own colours."""
    from webanalytics.templates import render

    figures = [(value, label) for label, value in overview.figures]
    return render("audits/static/overview.html", overview=overview, figures=figures, numbers=_NUMBERS)
