"""How a run of the desk ended, in words, and where its report goes: failures are shown as failures."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
from markupsafe import Markup

from webanalytics.audits.overview.failures import reasons, refusal_warning, refused
from webanalytics.core.messages import Advice
from webanalytics.notebook.explorer.table import clean, pages_of, texts
from webanalytics.notebook.widgets.parts import TONES, as_text, counted, panel, paragraph

FIELDS = {
    "robots=False": "untick “Respect robots.txt”",
    "allow_private=True": "tick “Private and loopback addresses too”",
    "timeout=": "raise “Seconds for a page”",
    "budget=": "raise “Most credits to spend”",
}
"""What one changes in the form for each option."""

MOST_REASONS = 6
BARS = {"good": "success", "warning": "warning", "bad": "danger"}
"""The progress bar's style for each tone."""


@dataclass(frozen=True)
class Outcome:
    """A sentence, its tone, and the failures by reason as HTML."""

    said: str
    tone: str
    failures: str = ""


def outcome(frame: pd.DataFrame | None, ended: str, total: int, seconds: float) -> Outcome:
    """Return how a run ended; ``ended`` is empty, "Stopped", or the sentence of what went wrong.

    Examples
    --------
    >>> pages = pd.DataFrame({"url": ["a", "b"], "status": ["error", "ok"], "error_type": ["dns", None]})
    >>> found = outcome(pages, "", 2, 1.5)
    >>> found.said, found.tone
    ('Done in 1.5 s: 1 page read, 1 page failed.', 'warning')
    >>> outcome(pages.head(1), "", 1, 1.5).said
    'Done in 1.5 s: 1 page failed, none was read.'
    """
    statuses = {} if frame is None else dict(zip(texts(frame, "url"), texts(frame, "status"), strict=True))
    done = len(statuses)
    failed = sum(status == "error" for status in statuses.values())
    reasons = failure_list(frame) if frame is not None and failed else ""
    away = refused(pages_of(frame)) if frame is not None and failed else 0
    if ended and ended != "Stopped":
        return Outcome(f"{ended} {done:,} of {total:,} pages are done.", "bad", reasons)
    counts = ((failed - away, "failed"), (away, "refused"))
    said = " and ".join(f"{counted(count, 'page')} {what}" for count, what in counts if count)
    some = f", {said}" if said else ""
    if ended:
        told = f"Stopped: {done:,} of {total:,} pages are done{some}."
        return Outcome(told, "bad" if failed and failed == done else "warning", reasons)
    if failed and failed == done:
        return Outcome(f"Done in {seconds:.1f} s: {said}, none was read.", "bad", reasons)
    told = f"Done in {seconds:.1f} s: {counted(done - failed, 'page')} read{some}."
    return Outcome(told, "warning" if failed else "good", reasons)


def failure_list(frame: pd.DataFrame) -> str:
    """Return the reasons of the failures as HTML, each with what changes it."""
    pages = pages_of(frame)
    groups, warning = reasons(pages), refusal_warning(pages)
    lines = [
        Markup('<li style="overflow-wrap:anywhere"><b>{}</b> × {}{}</li>').format(
            f"{len(rows):,}", as_text(clean(why.sentence)), _way(why.advice)
        )
        for why, rows in groups[:MOST_REASONS]
    ]
    left = len(groups) - MOST_REASONS
    if left > 0:
        lines.append(Markup("<li>and {} more reasons</li>").format(left))
    style = f"border-left:4px solid {TONES['bad']};padding:2px 0 2px 8px;line-height:1.5"
    return panel(
        Markup(
            '<div role="note" style="{}">{}<b>Why pages failed</b>'
            '<ul style="margin:2px 0 0 18px">{}</ul></div>'
        ).format(style, paragraph(as_text(warning)) if warning else "", Markup().join(lines))
    )


def _way(advice: Advice | None) -> str:
    """Return what changes a failure as HTML: the field of the form, or else the option."""
    if advice is None:
        return ""
    field = FIELDS.get(advice.option)
    if field:
        return Markup(" <b>To change it:</b> {} (<code>{}</code>).").format(field, advice.option)
    return Markup(" <code>{}</code> {}.").format(advice.option, advice.change)


def report_path(frame: pd.DataFrame, folder: Path) -> Path:
    """Return a free file name for the report, after the host of most pages and the day.

    Examples
    --------
    >>> frame = pd.DataFrame({"url": ["https://tea.example/../a", None]})
    >>> report_path(frame, Path("/nowhere")).name.startswith("audit-tea.example-20")
    True
    """
    hosts = Counter(filter(None, map(_host, texts(frame, "url"))))
    host = hosts.most_common(1)[0][0] if hosts else "pages"
    stem = f"audit-{host}-{datetime.now(UTC):%Y-%m-%d}"
    path, number = folder / f"{stem}.html", 1
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}.html"
    return path


def _host(url: str) -> str:
    """Return the host of an address as a part of a file's name: letters, digits, dots and hyphens."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    return re.sub(r"[^a-z0-9.-]+", "-", host.lower()).strip(".-")[:60]
