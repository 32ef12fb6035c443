"""Any frame of pages -> the audit that the rules read, with the issues that its columns allow."""

from __future__ import annotations

from typing import Any

import pandas as pd

from webanalytics.audits.audit import Audit
from webanalytics.notebook.explorer.table import texts
from webanalytics.operations import AUDIT_PAGES
from webanalytics.runs.frames.schema import frame_fields, make_series

MANY_PAGES = 5_000
"""From this many pages, issues are looked for only when somebody asks; an audit's own display does so too."""


def can_be_judged(pages: pd.DataFrame) -> bool:
    """Return whether a frame has pages that rules can speak of.

    Examples
    --------
    >>> can_be_judged(pd.DataFrame({"url": ["https://a.example/"]})), can_be_judged(pd.DataFrame({"a": [1]}))
    (True, False)
    """
    return list(pages.columns).count("url") == 1


def judged(pages: pd.DataFrame) -> Audit:
    """Return an audit of the columns of a frame that rules know.

    Rules rely on a column's type, and a frame of somebody else may hold anything: a cell of another type
    counts as missing.

    Examples
    --------
    >>> frame = pd.DataFrame({"url": ["https://a.example/"], "title": [""], "http_status": ["many"]})
    >>> judged(frame).issues["rule"].tolist()
    ['title_missing']
    """
    columns = {
        field.column_name: make_series(
            _cells(pages[field.column_name].tolist(), field.dtype), field.dtype, pages.index
        )
        for field in frame_fields(AUDIT_PAGES)
        if list(pages.columns).count(field.column_name) == 1
    }
    columns["url"] = make_series(texts(pages, "url"), "string", pages.index)
    if "status" not in columns:
        columns["status"] = make_series(["ok"] * len(pages), "string", pages.index)
    return Audit(pd.DataFrame(columns, index=pages.index).reset_index(drop=True))


_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "object": (list, dict),
}


def _cells(values: list[Any], dtype: str) -> list[Any]:
    if dtype in _KINDS:
        return [value if isinstance(value, _KINDS[dtype]) else None for value in values]
    numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce")
    whole = dtype == "integer"
    return [
        None if pd.isna(number) or (whole and number != int(number)) else int(number) if whole else number
        for number in numbers.tolist()
    ]
