"""Issues of an audit -> the content of the explorer's issues tab: rules, and the pages each one concerns."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics.audits.report.content import Content, RuleLine, read
from webanalytics.errors import ParameterError
from webanalytics.thresholds import PRIORITIES
from webanalytics.widgets.explorer.table import MOST_ROWS, clean, column

MOST_RULES = 500
MOST_ISSUES = 5_000
"""Most pages of one rule sent to the browser."""

MOST_OF_A_PAGE = 100
LONGEST_TEXT = 1_000
LABELS = {
    "priority": "Priority",
    "rule": "Rule",
    "category": "Category",
    "type": "Type",
    "pages": "Pages",
    "share": "% of pages",
    "url": "URL",
    "value": "Value",
    "threshold": "Limit",
    "evidence": "Evidence",
}


def has_issues(frame: object) -> bool:
    """Return whether a frame is an audit, which finds issues on demand.

    Examples
    --------
    >>> from webanalytics.audits.audit import Audit
    >>> has_issues(Audit()), has_issues(pd.DataFrame({"issues": [1]}))
    (True, False)
    """
    return isinstance(getattr(type(frame), "issues", None), property)


class Issues:
    """The issues of an audit, read when first needed."""

    def __init__(self, audit: Any) -> None:
        self._audit = audit
        self._content: Content | None = None

    @property
    def frame(self) -> pd.DataFrame:
        """The issues as the audit has them."""
        found: pd.DataFrame = self._audit.issues
        return found

    @property
    def content(self) -> Content:
        """Rules and issues as plain data."""
        if self._content is None:
            audit = self._audit
            self._content = read(audit.pages, audit.issues, audit.summary())
        return self._content

    def rules(self) -> dict[str, Any]:
        """Return a table of the rules that found something, with a description of each.

        Returns
        -------
        dict
            ``table`` (`length`, `total` and `columns`), ``details`` (for each row what the rule's head says),
            ``count`` (issues), ``priorities`` (name and rules of each) and ``untried`` (title and reason).
        """
        lines = self.content.rules[:MOST_RULES]
        frame = pd.DataFrame(
            {
                "priority": [line.priority for line in lines],
                "rule": [clean(line.title) for line in lines],
                "category": [clean(line.category, 40) for line in lines],
                "type": [clean(line.type, 40) for line in lines],
                "pages": [line.pages for line in lines],
                "share": [round(100 * line.share, 1) for line in lines],
            },
            dtype=object,
        ).astype({"pages": "int64", "share": "float64"})
        return {
            "table": _table(frame, len(self.content.rules)),
            "details": [_detail(line) for line in lines],
            "count": len(self.content.issues["rule"]),
            "priorities": [
                [name, sum(line.priority == name for line in self.content.rules)] for name in PRIORITIES
            ],
            "untried": [[clean(title, 80), clean(why, 200)] for title, why in self.content.untried.items()][
                :MOST_RULES
            ],
        }

    def pages(self, rule: Any) -> dict[str, Any]:
        """Return a table of the pages that a rule concerns.

        Returns
        -------
        dict
            ``table``, and ``rows``: for each of its rows that of the page, None if the page is missing.

        Raises
        ------
        ParameterError
            For a rule that found nothing.
        """
        names = [line.name for line in self.content.rules]
        if not isinstance(rule, str) or rule not in names:
            raise ParameterError("The `rule` parameter must be a rule that found something.", "rule")
        issues, place = self.content.issues, names.index(rule)
        found = [number for number, of in enumerate(issues["rule"]) if of == place]
        shown = found[:MOST_ISSUES]
        frame = pd.DataFrame(
            {"url": pd.Series([_text(issues["url"][number]) for number in shown], dtype=object)}
        )
        for name in ("value", "threshold"):
            cells = [_number(issues[name][number]) for number in shown]
            if any(cell is not None for cell in cells):
                whole = all(cell is None or cell.is_integer() for cell in cells)
                frame[name] = pd.array(cells, dtype="Float64").astype("Int64" if whole else "Float64")
        frame["evidence"] = pd.Series([_text(issues["evidence"][number]) for number in shown], dtype=object)
        return {"table": _table(frame, len(found)), "rows": [self._row(number) for number in shown]}

    def of_page(self, row: Any) -> list[list[str]]:
        """Return priority, title and evidence of the issues of the page in a row."""
        found = self.content.issues
        numbers = [
            number for number, page in enumerate(found["page"]) if page == row and found["url"][number]
        ]
        lines = [self.content.rules[found["rule"][number]] for number in numbers]
        return [
            [line.priority, clean(line.title), _text(found["evidence"][number])]
            for line, number in zip(lines[:MOST_OF_A_PAGE], numbers, strict=False)
        ]

    def workbook(self) -> bytes:
        """Return the audit as an Excel file, one sheet for each part."""
        with tempfile.TemporaryDirectory(prefix="webanalytics-") as folder:
            path = Path(folder) / "audit.xlsx"
            self._audit.to_excel(path)
            return path.read_bytes()

    def _row(self, number: int) -> int | None:
        """Return the row of the page that an issue is about; pages without a URL cannot be distinguished."""
        row = int(self.content.issues["page"][number])
        return row if 0 <= row < MOST_ROWS and self.content.issues["url"][number] else None


def _table(frame: pd.DataFrame, total: int) -> dict[str, Any]:
    columns = [column(frame, {}, str(key)) for key in frame.columns]
    for made in columns:
        made["label"] = LABELS[made["key"]]
        if made["key"] in ("rule", "evidence"):  # these are searched by substring
            made.pop("choices", None)
        if made["key"] == "priority":
            made.update(choices=list(PRIORITIES), ranks=list(PRIORITIES))
        if made["key"] == "share":
            made["decimals"] = 1
    return {"length": len(frame), "total": total, "columns": columns}


def _detail(line: RuleLine) -> dict[str, Any]:
    return {
        "name": line.name,
        "title": clean(line.title),
        "facts": [f"{line.priority} priority", clean(line.type, 40), clean(line.category, 40)],
        "unit": clean(line.unit, 40),
        "explanation": clean(line.explanation, LONGEST_TEXT),
        "fix": clean(line.fix, LONGEST_TEXT),
    }


def _text(value: Any) -> str:
    return "" if value is None else clean(str(value))


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
