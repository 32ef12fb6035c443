"""What an audit knows for its report besides pages, issues and rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from webanalytics.audits.report.large import MANY_PAGES
from webanalytics.audits.report.site import parts_of
from webanalytics.audits.selection import has_segments
from webanalytics.audits.work.muting import notes as muted_notes


def besides(audit: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of `write_report`: the given ones, and what the audit says of the others.

    A part that is given, such as ``keywords=None``, is not computed; nor are terms of many pages.
    """
    parts: dict[str, Callable[[], Any]] = {
        "score": lambda: audit.score,
        "audited_at": lambda: audit.audited_at,
        "failures": audit.failures,
        "notes": lambda: [
            *[audit.origin.incomplete] * bool(audit.origin.incomplete),
            *muted_notes(audit.muted, audit.origin.mutes),
        ],
        "crawl": lambda: parts_of(audit),
        "causes": audit.causes,
        "alarm": lambda: audit.alarm,
        "work": lambda: work_parts(audit),
        "history": lambda: audit.history if audit._selected() is None else None,
    }
    if len(audit) <= MANY_PAGES:
        parts["keywords"] = lambda: audit.keywords(by="site", top=1000)
        parts["cannibalisation"] = audit.cannibalisation
    return {**{name: part() for name, part in parts.items() if name not in given}, **given}


def work_parts(audit: Any) -> dict[str, pd.DataFrame]:
    """Return frames by name: segments, what search results and logs tell; advice where clicks are known."""
    parts: dict[str, pd.DataFrame] = {}
    pages, hits = audit.pages, audit.log_hits
    if has_segments(pages):
        parts["Segments"] = audit.scores()
    if "clicks" in pages:
        parts["Search results"] = audit.search_issues()
        if len(audit) <= MANY_PAGES:
            parts["What to keep"] = audit.prune()
    if "search_hits" in pages and len(hits):
        parts |= {"Server logs": audit.log_issues(), "Crawlers": _crawlers(hits)}
    return parts


def _crawlers(hits: pd.DataFrame) -> pd.DataFrame:
    count, status = hits["hits"], hits["status"]
    counted = hits.assign(
        crawler=hits["crawler"].where(hits["crawler"] != "", hits["purpose"]),
        pages=hits["url"].where(hits["page"]),
        redirects=count.where(status.between(300, 399) & (status != 304), 0),
        errors=count.where(status >= 400, 0),
    )
    how = {"hits": "sum", "pages": "nunique", "redirects": "sum", "errors": "sum"}
    made = counted.groupby(["crawler", "purpose"], sort=False).agg(how)
    return made.sort_values("hits", ascending=False, kind="stable").reset_index()
