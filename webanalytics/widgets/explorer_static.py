"""The explorer where no widget can live: a saved notebook on a web page."""

from __future__ import annotations

from html import escape
from typing import Any

STATIC_ROWS = 15
STATIC_COLUMNS = 8
STATIC_CELL = 70
_LEFT = ' align="left" style="text-align:left"'  # some sites keep only the one, some only the other


def static_html(table: dict[str, Any], summary: dict[str, Any]) -> str:
    """Return figures, findings and the first rows as HTML in which every text is escaped.

    Parameters
    ----------
    table, summary : dict
        What `explorer_table.table` and `explorer_summary.summary` made of a frame.
    """
    figures = " · ".join(
        f"<b>{escape(value)}</b> {escape(name.lower())}" for name, value, _ in summary["figures"]
    )
    findings = "".join(
        f"<li>{item['count']:,} {escape(item['text'])}</li>" for item in summary["findings"][:8]
    )
    return (
        f"<div><p>{figures}</p>"
        + (f"<ul>{findings}</ul>" if findings else "")
        + _rows(table)
        + _more(table)
        + "</div>"
    )


def _rows(table: dict[str, Any]) -> str:
    columns = {item["key"]: item for item in table["columns"]}
    shown = [columns[key] for key in table["views"]["pages"] if key in columns][:STATIC_COLUMNS]
    sides = [_LEFT if item["kind"] == "text" else "" for item in shown]
    if not shown:
        return ""
    head = "".join(f"<th{side}>{escape(item['label'])}</th>" for item, side in zip(shown, sides, strict=True))
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{side}>{escape(_cell(item['cells'][row]))}</td>"
            for item, side in zip(shown, sides, strict=True)
        )
        + "</tr>"
        for row in range(min(STATIC_ROWS, table["length"]))
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.2f}"
    text = f"{value:,}" if isinstance(value, int) and value > 9_999 else str(value)
    return text if len(text) <= STATIC_CELL else f"{text[: STATIC_CELL - 1]}…"


def _more(table: dict[str, Any]) -> str:
    left = table["total"] - min(STATIC_ROWS, table["length"])
    return f"<p>… and {left:,} more rows.</p>" if left > 0 else ""
