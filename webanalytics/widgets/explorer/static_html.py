"""The explorer as static HTML, for a saved notebook on a web page where no widget can run."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from webanalytics.templates import render

ROWS = 15
COLUMNS = 8
LONGEST_CELL = 70
# some sites keep only one of these, some only the other
_LEFT = Markup(' align="left" style="text-align:left"')


def static_html(table: dict[str, Any], summary: dict[str, Any]) -> str:
    """Return figures, findings and the first rows of what the explorer sends to the browser."""
    columns = {item["key"]: item for item in table["columns"]}
    rows = min(ROWS, table["length"])
    return render(
        "widgets/static/explorer.html",
        figures=summary["figures"],
        findings=summary["findings"][:8],
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
    if isinstance(value, float):
        return f"{value:,.2f}"
    text = f"{value:,}" if isinstance(value, int) and value > 9_999 else str(value)
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
