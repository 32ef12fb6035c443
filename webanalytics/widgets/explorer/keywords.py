"""Keywords and cannibalisation of a whole site, where an audit has them, as tables for the keywords tab."""

from __future__ import annotations

import inspect
from typing import Any

import pandas as pd

from webanalytics.widgets.explorer.table import clean, column

MOST_ROWS = 500
MOST_COLUMNS = 12
PARTS = (
    ("keywords", "Keywords of the site", "keyword"),
    ("cannibalisation", "Pages that compete for the same keywords", "row"),
)
"""Methods of an audit, the headings of their tables, and what a row is called."""


def _has(frame: object, method: str) -> bool:
    # the columns of a frame are attributes too: only a method of its class counts
    return callable(getattr(type(frame), method, None)) and not hasattr(pd.DataFrame, method)


def has_site_keywords(frame: object) -> bool:
    """Return whether a frame is an audit that knows the keywords of its site.

    Examples
    --------
    >>> has_site_keywords(pd.DataFrame({"keywords": [{"tea": 1}]}))
    False
    """
    return any(_has(frame, method) for method, _, _ in PARTS)


def site_keywords(frame: Any) -> list[dict[str, Any]]:
    """Return a table for each of the methods: its heading, what a row is called, and the table."""
    found = []
    for method, title, noun in PARTS:
        if _has(frame, method):
            ask = getattr(frame, method)
            whole = {"by": "site"} if "by" in inspect.signature(ask).parameters else {}
            found.append({"title": title, "noun": noun, "table": _table(ask(**whole))})
    return found


def _table(frame: pd.DataFrame) -> dict[str, Any]:
    shown = frame.iloc[:MOST_ROWS, :MOST_COLUMNS].reset_index(drop=True)
    shown = shown.loc[:, ~shown.columns.duplicated()]
    columns = [column(shown, {}, str(name)) for name in shown.columns]
    for made in columns:
        words = clean(str(made["label"]).replace("_", " "), 40)
        made["label"] = words[:1].upper() + words[1:]
    return {"length": len(shown), "total": len(frame), "columns": columns}
