"""The explorer as static HTML, for a saved notebook on a web page where no widget can run."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from webanalytics.core.strings import to_one_decimal
from webanalytics.core.templates import render

ROWS = 15
COLUMNS = 8
RULES = 8
LONGEST_CELL = 70
# some sites keep only one of these, some only the other
_LEFT = Markup(' align="left" style="text-align:left"')


def static_html(table: dict[str, Any], summary: dict[str, Any], issues: dict[str, Any] | None = None) -> str:
    """Return figures, what to fix first, failures and the first rows of what the browser gets."""
    found = issues or {"score": None, "causes": [], "alarm": "", "columns": []}
    columns = {item["key"]: item for item in (*table["columns"], *found["columns"])}
    rows = min(ROWS, table["length"])
    return render(
        "notebook/widgets/static/explorer.html",
        figures=summary["figures"],
        score=found["score"],
        points=to_one_decimal,
        alarm=found["alarm"],
        causes=found["causes"][:RULES],
        failures=summary["failures"][:RULES],
        columns=[columns[key] for key in table["views"]["pages"] if key in columns][:COLUMNS],
        rows=rows,
        left=table["total"] - rows,
        cell=_cell,
        side=lambda column: _LEFT if column["kind"] == "text" else "",
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.2f}"
    whole = isinstance(value, (int, float))
    text = f"{value:,.0f}" if whole and value > 9_999 else f"{value:.0f}" if whole else str(value)
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
