"""The text and HTML that audits and comparisons show: score, what to fix first, failures, hints.

Made of frames; `audits.audit` calls it for ``print`` and notebooks, and the command line for its summary.
"""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from webanalytics.audits.compare.differences import left_index
from webanalytics.audits.graph.site_links import count_missing
from webanalytics.audits.origin import Audited, Origin
from webanalytics.audits.overview.failures import refused
from webanalytics.audits.overview.head import head, site_of
from webanalytics.audits.score import COUNTED, ScoreChange
from webanalytics.audits.unavailable_rules import title, untried
from webanalytics.audits.work.muting import notes as muted_notes
from webanalytics.core.strings import one_line, shortened, table_lines, to_one_decimal
from webanalytics.thresholds import PRIORITIES

MOST_RULES = 10
MOST_ROWS = 10
"""Pages shown of a part of an audit."""
MOST_NOTES = 5
MOST_NAMES = 3
MOST_PAGES = 5_000
"""From this many pages, issues are not computed just to display an audit."""
LONGEST = 80
"""Characters of a cell."""
LONGEST_CAUSE = 240
FIX_FIRST = "What to fix first, and the points that it gives"
WIDEST = 110
"""Cells of a line of text, on a terminal that is wider."""

NUMBERS = frozenset(
    (
        *("pages", "addresses", "share", "before", "after", "worse", "new pages", "fixed", "removed"),
        *("unchecked", "points", "score", "high", "medium", "low"),
    )
)
"""Headings of columns of numbers."""

PAGE_FIGURES = {
    **{name: f"pages {name}" for name in ("added", "removed", "changed", "same")},
    "gone": "pages gone (HTTP 404 or 410)",
    "missing": "missing",
    "unchecked": "pages not looked at",
}
ISSUE_FIGURES = {
    "worse": "issues got worse",
    "added": "issues on new pages",
    "fixed": "issues fixed",
    "removed": "issues removed with their page",
    "remaining": "issues remaining",
    "unchecked": "issues unchecked",
}
"""What a comparison counts of pages and of issues, by their change."""
_SEVERAL = re.compile(r"\b(page|issue|address|fault|warning|rule)(?:es|s)\b")


class Block(NamedTuple):
    """A table with its heading; of a row, ``marks`` has the priority. As text, ``lines`` take its place."""

    heading: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    more: str = ""
    marks: Sequence[str] = ()
    lines: Sequence[str] = ()

    @property
    def columns(self) -> list[tuple[int, str]]:
        """Place and heading of the columns of HTML, where the rule stands beside its title."""
        return [(place, name) for place, name in enumerate(self.headings) if name != "rule"]


@dataclass(frozen=True)
class Overview:
    """What is shown: a score, figures, tables, notes and a hint, all as plain text."""

    title: str
    figures: Sequence[tuple[str, str]]
    score: float | None = None
    earlier: float | None = None
    scored: str = ""
    """The score in words."""
    blocks: Sequence[Block] = field(default_factory=list)
    notes: Sequence[str] = field(default_factory=list)
    hint: str = ""
    alarm: str = ""
    """Why pages cannot be found, if they cannot."""
    warnings: Sequence[str] = ()
    """What is to be known before the rest."""
    folded: tuple[str, Sequence[str]] = ("", ())
    """A line on what is of less use, and what HTML folds away behind it."""


def audit_overview(audit: Audited, *, judged: bool = True, selected: bool = False) -> Overview:
    """Return the overview of an audit, or of a ``selected`` part of one."""
    frame = audit.raw
    good = int((frame["status"] == "ok").sum()) if "status" in frame else 0
    missing, away = count_missing(frame), refused(frame)
    pages = len(frame) - missing
    figures = [("pages", f"{pages:,}"), ("ok", f"{good:,}"), ("failed", f"{pages - good - away:,}")]
    figures += [("refused", f"{away:,}")] * (away > 0) + [("missing", f"{missing:,}")] * (missing > 0)
    first = head(audit)
    named = f"Audit of {'some pages of ' * selected}{_text(first.site)}" if first.site else "Audit"
    begun = partial(Overview, named, warnings=[_text(line, 1_000) for line in first[1:] if line])
    notes = [*_site_notes(audit.origin), *_unmatched_note(audit.unmatched)]
    if not len(frame) or "status" not in frame:
        return begun(figures, notes=notes)
    failed = _failures(audit.failures())
    if not judged:
        hint = "Issues are looked for when asked: see .summary()."
        return begun(figures, blocks=failed, notes=notes, hint=hint)
    return begun(
        figures + _by_priority(audit.issues),
        audit.score,
        scored="" if audit.score is None else f"{to_one_decimal(audit.score)} of 100",
        alarm=audit.alarm,
        blocks=[*_fix_first(audit.causes()), *failed],
        notes=[*muted_notes(audit.muted, audit.origin.mutes), *notes, *_failed_note(audit.issues)],
        folded=_untried(audit.issues),
        hint='See .causes(), .summary(), .issues, .failures() and .pages; .report("report.html") and '
        '.to_excel("audit.xlsx") write them.',
    )


def _fix_first(causes: pd.DataFrame) -> list[Block]:
    """Return the causes that take points, as lines of a table or of text."""
    taking = causes["points"] > 0
    found = causes[taking] if taking.any() else causes
    if not len(found):
        return []
    shown = found.head(MOST_RULES)
    columns = (shown[name].tolist() for name in ("cause", "priority", "pages", "points", "rule"))
    rows = [
        (_text(cause, LONGEST_CAUSE), _text(priority), f"{pages:,}", f"{points:.1f}", _text(rule))
        for cause, priority, pages, points, rule in zip(*columns, strict=True)
    ]
    lines = [f"{points:>5}  {cause} [{rule}]" for cause, _, _, points, rule in rows]
    more = _more(len(causes), "causes: .causes()", len(shown))
    marks = shown["priority"].astype(str).tolist()
    headings = ("cause", "priority", "pages", "points", "rule")
    return [Block(FIX_FIRST, headings, rows, more, marks, lines)]


def _failures(found: pd.DataFrame) -> list[Block]:
    if not len(found):
        return []
    rows = []
    for reason, advice, pages, url in found.head(MOST_RULES)[["reason", "advice", "pages", "url"]].itertuples(
        index=False, name=None
    ):
        said = (
            f"{reason.removesuffix('.')}: {advice}" if isinstance(advice, str) else reason.removesuffix(".")
        )
        rows.append((_text(said, 200), f"{pages:,}", _text(url if isinstance(url, str) else "", 60)))
    more = _more(len(found), "reasons: .failures()")
    lines = [
        f"{counted(pages, 'addresses')}: {said}" + (f", such as {url}" if url else "")
        for said, pages, url in rows
    ]
    return [Block("Not read", ("reason", "addresses", "for example"), rows, more, lines=lines)]


def comparison_overview(
    frames: tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame],
    score: ScoreChange,
    dates: tuple[pd.Timestamp | None, pd.Timestamp | None] = (None, None),
    notes: Sequence[str] = (),
    *,
    hint: bool = True,
) -> Overview:
    """Return the overview of a comparison from its pages, changed fields, issues and summary."""
    pages, changes, issues, summary = frames
    changed, found = pages["change"].value_counts(), issues["change"].value_counts()
    figures = [
        (label, f"{int(counts.get(name, 0)):,}")
        for labels, counts in ((PAGE_FIGURES, changed), (ISSUE_FIGURES, found))
        for name, label in labels.items()
        if name not in ("unchecked", "gone", "missing") or name in counts
    ]
    scored = ""
    if score.before is not None and score.after is not None:
        before, after = to_one_decimal(score.before), to_one_decimal(score.after)
        scored = f"{before} -> {after} of 100 ({score.change:+g})"
    read = [f"Read {dates[0]:%Y-%m-%d %H:%M} and {dates[1]:%Y-%m-%d %H:%M} UTC."] if all(dates) else []
    site = site_of(pages["url"])
    return Overview(
        f"Comparison of {_text(site)}" if site else "Comparison",
        figures,
        score.after,
        score.before,
        scored,
        [*_left(left_index(changes)), *_moved(summary)],
        [*read, *(_text(note, 300) for note in notes)],
        "See .pages, .changes (field by field), .issues and .summary()." if hint else "",
    )


def _left(left: pd.DataFrame) -> list[Block]:
    shown = left.head(MOST_ROWS)[["url", "after"]].itertuples(index=False, name=None)
    rows = [tuple(_text(cell) for cell in cells) for cells in shown]
    more = _more(len(left), "pages: .changes", MOST_ROWS)
    reasons = ", ".join(f"{name} {count:,}" for name, count in left["after"].value_counts().items())
    head = f"Not in the index any more: {len(left):,} ({_text(reasons, 80)})"
    return [Block(head, ("url", "why"), rows, more)] * bool(rows)


def _moved(summary: pd.DataFrame) -> list[Block]:
    moved = summary[(summary[["worse", "added", "fixed", "removed"]] > 0).any(axis=1)]
    names = ("before", "after", "worse", "added", "fixed", "removed", "unchecked")
    rare = {"added", "removed", "unchecked"}
    counts = [name for name in names if name not in rare or moved[name].any()]
    columns, rows = ["rule_title", "priority", *counts, "points", "rule"], []
    for row in moved.head(MOST_RULES)[columns].astype(object).itertuples(index=False, name=None):
        *cells, points, rule = row
        shown = [f"{value:,}" if isinstance(value, int) else _text(value) for value in cells]
        rows.append((*shown, f"{points:+.1f}" if abs(points) >= 0.05 else "0", _text(rule)))
    words = {"added": "new pages", "rule_title": "title"}
    heads = [words.get(name, name) for name in columns]
    marks = moved["priority"].astype(str).tolist()
    return [Block("What changed", heads, rows, _more(len(moved), "rules: .summary()"), marks)] * bool(rows)


def _unmatched_note(unmatched: pd.DataFrame) -> list[str]:
    said = "row of the columns added is" if len(unmatched) == 1 else "rows of the columns added are"
    return [f"{len(unmatched):,} {said} of no page: see .unmatched."] * bool(len(unmatched))


def _by_priority(issues: pd.DataFrame) -> list[tuple[str, str]]:
    counted = issues["type"].isin(COUNTED)
    counts = issues.loc[counted, "priority"].astype(str).value_counts()
    figures = [(f"{name} faults", f"{int(counts.get(name, 0)):,}") for name in PRIORITIES]
    return [*figures, ("warnings", f"{int((~counted).sum()):,}")]


def _site_notes(origin: Origin) -> list[str]:
    notes = []
    if origin.sitemap is not None:
        bad = origin.sitemap[origin.sitemap["status"] != "ok"]
        notes = [f"{_text(row.sitemap)}: {_text(row.error, 200)}" for row in bad.itertuples()]
    for site, problems in origin.robots.items():
        notes += [f"{_text(site)}/robots.txt: {_text(problem, 200)}" for problem in problems]
    shown = notes[:MOST_NOTES]
    more = [f"{len(notes) - MOST_NOTES:,} more such notes"] * (len(notes) > MOST_NOTES)
    return [*shown, *more]


def _untried(issues: pd.DataFrame) -> tuple[str, list[str]]:
    """Return a line on the rules that were not tried, and what they lacked: they did not pass."""
    groups = sorted(untried(issues).items(), key=lambda item: -len(item[1]))
    if not groups:
        return "", []
    count = f"{sum(len(titles) for _, titles in groups):,}"
    needs = "most of them need" if len(groups) > 1 else "it needs" if count == "1" else "they need"
    more = [f"{_named(titles)}: need{'s' * (len(titles) == 1)} {why}." for why, titles in groups]
    return f"Not tried: {counted(count, 'rules')}; {needs} {groups[0][0]}.", more


def _failed_note(issues: pd.DataFrame) -> list[str]:
    failed = [title(rule) for rule in issues.attrs.get("webanalytics", {}).get("rules_failed", ())]
    return [f"Broke off on odd data: {_named(failed)}"] * bool(failed)


def _named(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(map(_text, names[:MOST_NAMES])) + (f" and {more:,} more" if more > 0 else "")


def _more(count: int, what: str, most: int = MOST_RULES) -> str:
    return f"and {count - most:,} more {what}" if count > most else ""


def _text(value: Any, most: int = LONGEST) -> str:
    return shortened(one_line(str(value)[: most * 2]), most)


def counted(value: str, label: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted("1", "pages added"), counted("2", "high faults"), counted("1", "failed")
    ('1 page added', '2 high faults', '1 failed')
    >>> counted("1", "issues on new pages"), counted("2", "issues on new pages")
    ('1 issue on a new page', '2 issues on new pages')
    """
    if value == "1":
        label = _SEVERAL.sub(r"\1", label).replace("on new", "on a new").replace("their page", "its page")
    return f"{value} {label}"


def as_text(overview: Overview, width: int | None = None) -> str:
    """Return an overview as lines of text, as wide as the terminal."""
    room = min(width or shutil.get_terminal_size((100, 24)).columns, WIDEST)
    figures = ", ".join(counted(value, label) for label, value in overview.figures)
    lines = _wrapped(f"{overview.title}: {figures}", room)
    lines += [line for text in overview.warnings for line in _wrapped(text, room)]
    lines += [f"Score: {overview.scored}"] * bool(overview.scored)
    lines += _wrapped(overview.alarm, room)
    for block in overview.blocks:
        headings, rows = list(block.headings), [list(row) for row in block.rows]
        # The title says the same as a rule's name.
        if headings[-1] == "rule" and max(map(len, table_lines(headings, rows, numbers=NUMBERS))) > room:
            headings, rows = headings[:-1], [row[:-1] for row in rows]
        shown = [line for text in block.lines for line in _wrapped(text, room)]
        shown = shown or table_lines(headings, rows, numbers=NUMBERS, width=room)
        lines += ["", block.heading, *shown]
        lines += [block.more] * bool(block.more)
    last = [*overview.notes, *[overview.folded[0]] * bool(overview.folded[0])]
    for part in (last, [overview.hint] if overview.hint else []):
        lines += [""] * bool(part) + [line for text in part for line in _wrapped(text, room)]
    return "\n".join(lines)


def _wrapped(text: str, room: int) -> list[str]:
    return textwrap.wrap(text, room, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def as_html(overview: Overview) -> str:
    """Return an overview as HTML for notebooks, everything escaped, in the notebook's own colours."""
    from webanalytics.core.templates import render

    made = render("audits/static/overview.html", overview=overview, numbers=NUMBERS, points=to_one_decimal)
    return str(made)  # marimo takes a subclass for an object
