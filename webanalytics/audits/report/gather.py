"""What an audit knows for its report besides pages, issues and rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webanalytics.audits.report.site import parts_of

METHODS: Mapping[str, Mapping[str, Any]] = {
    "failures": {},
    "keywords": {"by": "site", "top": 1000},
    "cannibalisation": {},
}
"""Methods of an audit that make parts of the report, and their arguments."""


def besides(audit: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of `write_report`: the given ones, and what the audit says of the others.

    A part that is given, such as ``keywords=None``, is not computed.
    """
    made: dict[str, Any] = dict(given)
    for name in ("score", "audited_at"):
        made.setdefault(name, getattr(audit, name, None))
    for name, settings in METHODS.items():
        method = getattr(type(audit), name, None)  # of the instance it might be a column
        if name not in made and callable(method):
            made[name] = method(audit, **settings)
    if "crawl" not in made and getattr(audit, "origin", None) is not None:
        made["crawl"] = parts_of(audit)
    return made
