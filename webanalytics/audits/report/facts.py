"""What an audit knows for its report besides pages, issues and rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from webanalytics.audits.report.large import MANY_PAGES
from webanalytics.audits.report.site import parts_of
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
        "history": lambda: audit.history if audit._selected() is None else None,
    }
    if len(audit) <= MANY_PAGES:
        parts["keywords"] = lambda: audit.keywords(by="site", top=1000)
        parts["cannibalisation"] = audit.cannibalisation
    return {**{name: part() for name, part in parts.items() if name not in given}, **given}
