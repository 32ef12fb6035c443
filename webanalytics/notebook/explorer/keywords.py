"""Keywords and cannibalisation of a whole site, where an audit has them, as tables for the keywords tab."""

from __future__ import annotations

from typing import Any

import pandas as pd

from webanalytics.audits.audit import Audit
from webanalytics.notebook.explorer.table import clean, column

MOST_ROWS = 500
MOST_COLUMNS = 12


def site_keywords(audit: Audit) -> list[dict[str, Any]]:
    """Return the tables of an audit's terms: heading, what a row is called, and the table."""
    found = (
        ("Keywords of the site", "keyword", audit.keywords("site")),
        ("Pages that compete for the same keywords", "row", audit.cannibalisation()),
    )
    return [{"title": title, "noun": noun, "table": _table(frame)} for title, noun, frame in found]


def _table(frame: pd.DataFrame) -> dict[str, Any]:
    shown = frame.iloc[:MOST_ROWS, :MOST_COLUMNS].reset_index(drop=True)
    shown = shown.loc[:, ~shown.columns.duplicated()]
    columns = [column(shown, {}, str(name)) for name in shown.columns]
    for made in columns:
        words = clean(str(made["label"]).replace("_", " "), 40)
        made["label"] = words[:1].upper() + words[1:]
    return {"length": len(shown), "total": len(frame), "columns": columns}
