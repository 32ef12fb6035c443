"""How audits and comparisons show themselves: a few figures, a short table, and where to go on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from webanalytics.seo.audit import Audit
    from webanalytics.seo.compare import Comparison

MOST_RULES = 10
MOST_NOTES = 5
MOST_NAMES = 3
WHEN_ASKED = frozenset(("imageBytes", "inSitemap"))
"""Columns that an audit has when it is asked for them: nobody misses their rules otherwise."""
MOST_PAGES = 5_000
"""Pages from which on issues are not looked for just to show an audit."""
LONGEST = 80
"""Characters of a cell."""

_PRIORITIES = ("high", "medium", "low")
_NUMBERS = frozenset(("pages", "share", "before", "after", "new", "fixed", "remaining"))
_CELL = "padding:.2em .9em .2em 0;text-align:{};border:0"


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


def audit_overview(audit: Audit) -> Overview:
    """Return what an audit shows of itself."""
    good = int((audit["status"] == "ok").sum()) if "status" in audit else 0
    figures = [("pages", f"{len(audit):,}"), ("ok", f"{good:,}"), ("failed", f"{len(audit) - good:,}")]
    notes = _site_notes(audit)
    hint = (
        'See .issues, .summary() and .pages; .report("report.html") and .to_excel("audit.xlsx") write them.'
    )
    known = audit._known or {}
    if not len(audit) or "status" not in audit:
        return Overview("Audit", figures, notes=notes)
    if len(audit) > MOST_PAGES and "issues" not in known:
        return Overview(
            "Audit", figures, notes=notes, hint="Issues are looked for when asked: see .summary()."
        )
    issues, summary = audit.issues, audit.summary()
    found = summary[summary["pages"] > 0]
    notes += _rule_notes(issues)
    return Overview(
        "Audit",
        figures + _by_priority(issues),
        ("priority", "rule", "pages", "share"),
        [
            (_text(row.priority), _text(row.rule), f"{row.pages:,}", _percent(row.share))
            for row in found.head(MOST_RULES).itertuples()
        ],
        _more(len(found), "rules"),
        notes,
        hint,
    )


def comparison_overview(comparison: Comparison, *, hint: bool = True) -> Overview:
    """Return what a comparison shows of itself."""
    pages = comparison.pages["change"].value_counts()
    issues = comparison.issues["change"].value_counts()
    figures = [
        (f"pages {name}", f"{int(pages.get(name, 0)):,}") for name in ("added", "removed", "changed", "same")
    ]
    figures += [(f"issues {name}", f"{int(issues.get(name, 0)):,}") for name in ("new", "fixed", "remaining")]
    if issues.get("unchecked", 0):
        figures.append(("issues unchecked", f"{int(issues['unchecked']):,}"))
    summary = comparison.summary()
    moved = summary[(summary["new"] > 0) | (summary["fixed"] > 0)]
    headings = ("priority", "rule", "before", "after", "new", "fixed", "remaining")
    rows = [
        tuple(f"{value:,}" if isinstance(value, int) else _text(value) for value in row)
        for row in moved.head(MOST_RULES)[list(headings)].astype(object).itertuples(index=False, name=None)
    ]
    told = "See .pages, .changes (field by field), .issues and .summary()." if hint else ""
    return Overview("Comparison", figures, headings, rows, _more(len(moved), "rules"), hint=told)


def _by_priority(issues: pd.DataFrame) -> list[tuple[str, str]]:
    counts = issues["priority"].astype(str).value_counts()
    return [(f"{name} issues", f"{int(counts.get(name, 0)):,}") for name in _PRIORITIES]


def _site_notes(audit: Audit) -> list[str]:
    """Return sentences on sitemaps that could not be read, and on robots.txt."""
    origin = audit._origin
    notes = []
    if origin.sitemap is not None:
        bad = origin.sitemap[origin.sitemap["status"] != "ok"]
        notes = [f"{_text(row.sitemap)}: {_text(row.error, 200)}" for row in bad.itertuples()]
    for site, problems in origin.robots.items():
        notes += [f"{_text(site)}/robots.txt: {_text(problem, 200)}" for problem in problems]
    shown = notes[:MOST_NOTES]
    return [*shown, f"{len(notes) - MOST_NOTES:,} more such notes"] if len(notes) > MOST_NOTES else shown


def _rule_notes(issues: pd.DataFrame) -> list[str]:
    """Return sentences on rules that could not look: nobody should take them for passed."""
    known = issues.attrs.get("webanalytics", {})
    failed, untried = known.get("rules_failed", ()), known.get("rules_not_tried", {})
    # sizes of images are had when they are asked for only
    lacking = [name for name, columns in untried.items() if not set(columns) <= WHEN_ASKED]
    notes = [f"rules not tried, for the pages lack what they look at: {_named(lacking)}"] * bool(lacking)
    return notes + [f"rules that broke off on odd data: {_named(failed)}"] * bool(failed)


def _named(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(map(_text, names[:MOST_NAMES])) + (f" and {more:,} more" if more > 0 else "")


def _more(count: int, what: str) -> str:
    return f"and {count - MOST_RULES:,} more {what}" if count > MOST_RULES else ""


def _percent(share: Any) -> str:
    """Return a share for people: never 0% of some, never 100% of less than all.

    Examples
    --------
    >>> [_percent(share) for share in (1.0, 0.999, 0.4, 0.001)]
    ['100%', '>99%', '40%', '<1%']
    """
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{share:.0%}"


def _text(value: Any, most: int = LONGEST) -> str:
    """Return a value as one short line; control characters of a page would act on the terminal."""
    text = str(value)[: most * 2]
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


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
        table = [overview.headings, *overview.rows]
        sizes = [max(len(row[place]) for row in table) for place in range(len(overview.headings))]
        lines += ["", *(_line(row, sizes, overview.headings) for row in table)]
        lines += [overview.more] * bool(overview.more)
    lines += [""] * bool(overview.notes) + list(overview.notes)
    return "\n".join([*lines, *(["", overview.hint] if overview.hint else [])])


def _line(row: Sequence[str], sizes: Sequence[int], headings: Sequence[str]) -> str:
    cells = (
        cell.rjust(size) if heading in _NUMBERS else cell.ljust(size)
        for cell, size, heading in zip(row, sizes, headings, strict=True)
    )
    return "  ".join(cells).rstrip()


def as_html(overview: Overview) -> str:
    """Return an overview as HTML for notebooks, everything escaped, in the notebook's own colours."""
    figures = "".join(
        f'<div style="margin-right:1.6em"><div style="font-size:1.5em">{escape(value)}</div>'
        f'<div style="opacity:.75">{escape(label)}</div></div>'
        for label, value in overview.figures
    )
    parts = [f"<strong>{escape(overview.title)}</strong>"]
    parts.append(f'<div style="display:flex;flex-wrap:wrap;margin:.4em 0 .8em">{figures}</div>')
    if overview.rows:
        rows = "".join(_html_row("td", row, overview.headings) for row in overview.rows)
        head = _html_row("th", overview.headings, overview.headings)
        style = "margin:0;border:0;color:inherit;font:inherit"
        parts.append(f'<table style="{style}"><thead>{head}</thead><tbody>{rows}</tbody></table>')
    said = [overview.more, *overview.notes, overview.hint]
    parts += [f'<div style="margin-top:.4em;opacity:.75">{escape(text)}</div>' for text in said if text]
    return f"<div>{''.join(parts)}</div>"


def _html_row(tag: str, row: Iterable[str], headings: Iterable[str]) -> str:
    cells = (
        f'<{tag} style="{_CELL.format("right" if heading in _NUMBERS else "left")}">{escape(cell)}</{tag}>'
        for cell, heading in zip(row, headings, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"
