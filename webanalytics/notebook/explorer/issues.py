"""The issues of a frame of pages -> what the explorer shows of them: fix first, rules, pages, one page."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics.audits.audit import Audit
from webanalytics.audits.rules import RULES
from webanalytics.audits.score import COUNTED
from webanalytics.errors import ParameterError
from webanalytics.notebook.explorer.table import LABELS, MOST_ROWS, as_text, clean, column, texts
from webanalytics.operations import AUDIT_PAGES
from webanalytics.runs.frames.schema import frame_fields, is_missing, make_series
from webanalytics.thresholds import PRIORITIES


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


_KINDS: dict[str, tuple[type, ...]] = {"string": (str,), "boolean": (bool,), "object": (list, dict)}


def _cells(values: list[Any], dtype: str) -> list[Any]:
    if dtype in _KINDS:
        return [value if isinstance(value, _KINDS[dtype]) else None for value in values]
    numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce")
    whole = dtype == "integer"
    return [
        None if pd.isna(number) or (whole and number != int(number)) else int(number) if whole else number
        for number in numbers.tolist()
    ]


MOST_RULES = 500
MOST_ISSUES = 5_000
"""Most pages of one rule sent to the browser."""

MOST_CAUSES = 10
MOST_OF_A_PAGE = 100
LONGEST_TEXT = 1_000
PER_PAGE = ("indexable", "indexability", "title_pixels", "description_pixels", "inlinks")
"""Columns that rules make and the tables of pages show."""


class Issues:
    """The issues of an audit or of a frame of pages, looked for when first needed."""

    def __init__(self, audit: Audit | None, pages: pd.DataFrame) -> None:
        self._audit, self._pages = audit, pages

    @property
    def whole(self) -> bool:
        """Whether there is an audit, so that all rules were tried and the score means something."""
        return self._audit is not None

    @property
    def known(self) -> bool:
        """Whether the issues have been looked for."""
        return "_lines" in self.__dict__

    @cached_property
    def audit(self) -> Audit:
        """The audit whose issues these are."""
        return judged(self._pages) if self._audit is None else self._audit

    @property
    def frame(self) -> pd.DataFrame:
        """The issues as the audit has them."""
        return self.audit.issues

    @cached_property
    def limits(self) -> Mapping[str, float]:
        """The thresholds of the audit's profile, by rule."""
        from webanalytics.audits.profiles import resolve_profile

        rules = resolve_profile(self.audit.origin.profile or "desktop_crawler").rules()
        return {rule.name: rule.threshold for rule in rules if rule.threshold is not None}

    @cached_property
    def _lines(self) -> list[dict[str, Any]]:
        return [_line(row) for row in self.audit.summary().to_dict("records")]

    @cached_property
    def _found(self) -> dict[str, list[Any]]:
        names = ("url", "rule", "value", "threshold", "evidence")
        return {name: self.frame[name].tolist() for name in names}

    @cached_property
    def _urls(self) -> list[str]:
        return texts(self.audit.raw, "url")

    @cached_property
    def _row_of(self) -> dict[str, int]:
        """The first row of each address; pages without one cannot be distinguished."""
        rows: dict[str, int] = {}
        for row, url in enumerate(self._urls):
            if url:
                rows.setdefault(url, row)
        return rows

    @cached_property
    def _by_rule(self) -> dict[str, list[int]]:
        return _places(self._found["rule"])

    @cached_property
    def _by_url(self) -> dict[str, list[int]]:
        of_pages = zip(self._found["url"], self.frame["scope"].tolist(), strict=True)
        return _places([None if scope == "host" else url for url, scope in of_pages])

    def overview(self) -> dict[str, Any]:
        """Return what the overview and the tables of pages show of the issues, by name."""
        lines = self._lines[:MOST_RULES]
        frame = pd.DataFrame(
            {
                "priority": [line["priority"] for line in lines],
                "rule": [clean(line["rule_title"]) for line in lines],
                "category": [clean(line["category"], 40) for line in lines],
                "type": [clean(line["type"], 40) for line in lines],
                "pages": [line["pages"] for line in lines],
                "share": [round(100 * (line["share"] or 0), 1) for line in lines],
            },
            dtype=object,
        ).astype({"pages": "int64", "share": "float64"})
        return {
            "score": self.audit.score if self.whole else None,  # a frame with some of the columns has none
            "count": len(self.frame),
            "priorities": self._priorities(),
            "table": _table(frame, len(self._lines)),
            "details": [_detail(line) for line in lines],
            "causes": self._causes(),
            "alarm": self.audit.alarm if self.whole else "",
            "untried": self._untried(),
            "columns": self._columns(),
        }

    def _priorities(self) -> list[list[Any]]:
        counted = self.frame[self.frame["type"].isin(COUNTED)]
        found = []
        for name in PRIORITIES:
            of = counted["priority"] == name
            hosts = counted["scope"] == "host"
            where = (counted.loc[of & rows, "url"].nunique() for rows in (~hosts, hosts))
            found.append([name, int(of.sum()), *map(int, where)])
        return found

    def _causes(self) -> list[dict[str, Any]]:
        causes = self.audit.causes()
        chosen = causes[causes["points"] > 0] if (causes["points"] > 0).any() else causes
        places = {line["rule"]: place for place, line in enumerate(self._lines[:MOST_RULES])}
        columns = (chosen.head(MOST_CAUSES)[name] for name in ("cause", "priority", "points", "rule"))
        return [
            {"cause": clean(cause, LONGEST_TEXT), "priority": priority, "place": places.get(rule)}
            | {"points": points if self.whole else None}
            for cause, priority, points, rule in zip(*columns, strict=True)
        ]

    def _columns(self) -> list[dict[str, Any]]:
        pages = self.audit.pages.iloc[:MOST_ROWS].reset_index(drop=True)
        known = [name for name in PER_PAGE if name in pages and pages[name].notna().any()]
        names = {f"issues_{name}": name for name in PRIORITIES}
        score = ["score"] * self.whole
        frame = pages[[*score, *names, *known]].rename(columns=names)
        return [column(frame, str(name)) for name in frame.columns]

    def _untried(self) -> list[list[str]]:
        known = self.frame.attrs.get("webanalytics", {})
        why = {
            name: f"needs {', '.join(map(str, missing))}"
            for name, missing in dict(known.get("rules_not_tried", {})).items()
        }
        why.update(dict.fromkeys(known.get("rules_failed", ()), "broke off on odd data"))
        return [
            [clean(RULES[name].title if name in RULES else str(name), 80), clean(reason, 200)]
            for name, reason in list(why.items())[:MOST_RULES]
        ]

    def pages(self, rule: Any) -> dict[str, Any]:
        """Return a table of the pages that a rule concerns, and for each row that of its page, if any."""
        if not isinstance(rule, str) or rule not in self._by_rule:
            raise ParameterError.must_be("rule", "a rule that found something")
        found, numbers = self._found, self._by_rule[rule]
        shown = numbers[:MOST_ISSUES]
        frame = pd.DataFrame({"url": [_text(found["url"][number]) for number in shown]}, dtype=object)
        for name in ("value", "threshold"):
            cells = [_number(found[name][number]) for number in shown]
            if any(cell is not None for cell in cells):
                frame[name] = pd.array(cells, dtype="Float64")
        frame["evidence"] = pd.Series([_text(found["evidence"][number]) for number in shown], dtype=object)
        rows = [self._row(found["url"][number]) for number in shown]
        return {"table": _table(frame, len(numbers)), "rows": rows}

    def of_page(self, row: Any) -> list[dict[str, str]]:
        """Return the issues of the page in a row, fix first: priority, title, rule, evidence and fix."""
        if not isinstance(row, int) or isinstance(row, bool) or not 0 <= row < len(self._urls):
            return []
        url = self._urls[row]
        order = {line["rule"]: place for place, line in enumerate(self._lines)}
        numbers = self._by_url.get(url, []) if url else []
        lines = sorted((order[self._found["rule"][number]], number) for number in numbers)
        return [
            {
                "priority": self._lines[place]["priority"],
                "title": clean(self._lines[place]["rule_title"]),
                "rule": clean(self._lines[place]["rule"], 80),
                "evidence": _text(self._found["evidence"][number]),
                "fix": clean(self._lines[place]["fix"], LONGEST_TEXT),
            }
            for place, number in lines[:MOST_OF_A_PAGE]
        ]

    def derived(self, row: int) -> dict[str, Any]:
        """Return what the rules derived of the page in a row."""
        derived = self.audit.pages.iloc[row]
        return {name: derived[name] for name in PER_PAGE if name in derived.index}

    def workbook(self) -> bytes:
        """Return the audit as an Excel file, one sheet for each part."""
        with tempfile.TemporaryDirectory(prefix="webanalytics-") as folder:
            path = Path(folder) / "audit.xlsx"
            self.audit.to_excel(path)
            return path.read_bytes()

    def report(self) -> bytes:
        """Return the report, one HTML file that needs no network."""
        with tempfile.TemporaryDirectory(prefix="webanalytics-") as folder:
            return self.audit.report(Path(folder) / "report.html").read_bytes()

    def _row(self, url: Any) -> int | None:
        row = self._row_of.get(url) if isinstance(url, str) else None
        return row if row is not None and row < MOST_ROWS else None


def _places(values: list[Any]) -> dict[Any, list[int]]:
    found: dict[Any, list[int]] = {}
    for place, value in enumerate(values):
        found.setdefault(value, []).append(place)
    return found


def _line(row: Mapping[Any, Any]) -> dict[str, Any]:
    rule = RULES.get(row["rule"])
    names = ("explanation", "fix", "unit", "link")
    declared = dict.fromkeys(names, "") if rule is None else {name: getattr(rule, name) for name in names}
    return declared | {str(key): value for key, value in row.items()}


def _table(frame: pd.DataFrame, total: int) -> dict[str, Any]:
    columns = [column(frame, str(key)) for key in frame.columns]
    for made in columns:
        made["label"] = LABELS["rules"][made["key"]]
        if made["key"] in ("rule", "evidence"):  # these are searched by substring
            made.pop("choices", None)
        if made["key"] == "priority":
            made.update(choices=list(PRIORITIES), ranks=list(PRIORITIES))
        if made["key"] == "share":
            made["decimals"] = 1
    return {"length": len(frame), "total": total, "columns": columns}


def _detail(line: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": line["rule"],
        "title": clean(line["rule_title"]),
        "priority": line["priority"],
        "pages": line["pages"],
        "indexable": line["indexable"],
        "facts": [f"{line['priority']} priority", clean(line["type"], 40), clean(line["category"], 40)],
        "unit": clean(line["unit"], 40),
        "explanation": clean(line["explanation"], LONGEST_TEXT),
        "fix": clean(line["fix"], LONGEST_TEXT),
        "help": clean(line["link"], LONGEST_TEXT),
    }


def _text(value: Any) -> str:
    return "" if is_missing(value) else clean(as_text(value))


def _number(value: Any) -> float | None:
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
    return float(value) if known else None
