"""How a notebook shows a frame of issues; the frame itself is an ordinary one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd

SHOWN = ("priority", "rule_title", "rule", "page_title", "url", "evidence", "fix")
MOST = 20
LONGEST = 160


def as_html(frame: pd.DataFrame, others: Callable[[Any], Any] | None = None) -> Any:
    """Return a frame of issues as HTML with columns that fit; any other as others or pandas show it."""
    if not {*SHOWN} <= {*frame.columns} or not frame.columns.is_unique:
        return others(frame) if others else frame._repr_html_()  # type: ignore[operator]
    from webanalytics.core.strings import one_line, shortened
    from webanalytics.core.templates import render

    first = frame.loc[:, list(SHOWN)].head(MOST).astype(object)
    rows = [
        {key: "" if pd.isna(cell) else shortened(one_line(str(cell)), LONGEST) for key, cell in row.items()}
        for row in first.to_dict("records")
    ]
    told = f"the first {MOST} of " * (len(frame) > MOST) + f"{len(frame):,} rows × {frame.shape[1]} columns"
    return str(render("notebook/widgets/static/issue_table.html", rows=rows, told=told))


def offer() -> None:
    """Have IPython, where it runs, show frames of issues so."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        html = shell.display_formatter.formatters["text/html"]
        html.for_type(pd.DataFrame, partial(as_html, others=html.for_type(pd.DataFrame)))


offer()
