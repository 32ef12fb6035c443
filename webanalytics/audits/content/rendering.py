"""What only scripts bring to the pages of an audit or change on them, as a table."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from webanalytics.runs.frames.schema import make_series

COLUMNS = ("url", "what", "change", "sent", "rendered")
"""Columns of the table."""


def rendering_frame(pages: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each thing that differs between a page as it was sent and as it was rendered."""
    rows = [
        (url, entry["what"], _change(entry), entry["sent"], entry["rendered"])
        for url, entries in zip(pages["url"], pages.get("rendering", pages["url"]), strict=True)
        if isinstance(entries, list)
        for entry in entries
    ]
    cells = zip(*rows, strict=True) if rows else ((),) * len(COLUMNS)
    made = (make_series(list(column), "string", pd.RangeIndex(len(rows))) for column in cells)
    return pd.DataFrame(dict(zip(COLUMNS, made, strict=True)))


def _change(entry: Mapping[str, str]) -> str:
    if entry["what"] in ("console", "failed"):
        return "fault"
    return "changed" if entry["sent"] and entry["rendered"] else "added" if entry["rendered"] else "removed"
