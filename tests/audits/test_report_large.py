"""The report of many pages: every issue is in it, everything else of the pages that need it most."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.audits.report_data import MadeAudit, made_audit
from webanalytics.audits.report import large, write_report

SIZE = 60


def numbers(column: Any) -> list[int]:
    """Return a packed column as the script of the report reads it."""
    if isinstance(column, list):
        return column
    if "runs" in column:
        runs = column["runs"]
        return [value for value, count in zip(runs[::2], runs[1::2], strict=True) for _ in range(count)]
    found, value = [], 0
    for step in column["steps"]:
        value += step
        found.append(value)
    return found


def data_of(file: Path) -> dict[str, Any]:
    document = lxml.html.document_fromstring(file.read_text("utf-8"))
    data: dict[str, Any] = json.loads(document.get_element_by_id("data").text)
    for part in ("pages", "issues"):
        data[part] = {name: numbers(column) for name, column in data[part].items()}
    return data


@pytest.fixture(scope="module")
def made() -> MadeAudit:
    audit = made_audit(SIZE)
    audit.pages["score"] = [float(100 - row % 30) for row in range(SIZE)]
    return audit


def written(made: MadeAudit, file: Path) -> Path:
    return write_report(file, made.pages, made.issues, made.summary)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"MANY_PAGES": 50, "DETAILED": 10, "EVIDENCE": 5, "PACKED": 20}.items():
        monkeypatch.setattr(large, name, value)


@given(st.lists(st.integers(0, 10**6), max_size=60), st.integers(1, 30))
def test_a_packed_column_is_read_as_it_was(values: list[int], times: int) -> None:
    repeated = [value for value in values for _ in range(times)] * (
        large.PACKED // max(1, len(values) * times) + 1
    )
    for column in (values, repeated):
        assert numbers(large.packed(column)) == column


def test_packing_makes_it_shorter() -> None:
    rows = list(range(0, 60_000, 3))
    for column in (rows, [7] * 20_000):
        assert len(json.dumps(large.packed(column))) < len(json.dumps(column)) / 2


def test_every_issue_is_there(made: MadeAudit, tmp_path: Path, few: None) -> None:
    data = data_of(written(made, tmp_path / "report.html"))
    cells, issues = data["cells"], data["issues"]
    found = [
        (cells[data["pages"]["url"][page]], data["rules"][rule]["name"], cells[value])
        for page, rule, value in zip(issues["page"], issues["rule"], issues["value"], strict=True)
    ]
    values = [None if value != value or value == "" else value for value in made.issues["value"]]
    given_ones = zip(made.issues["url"], made.issues["rule"], values, strict=True)
    assert Counter(found) == Counter(given_ones)


def test_evidence_is_that_of_the_first_issues_of_each_rule(
    made: MadeAudit, tmp_path: Path, few: None
) -> None:
    data = data_of(written(made, tmp_path / "report.html"))
    seen: dict[int, int] = {}
    for rule, evidence in zip(data["issues"]["rule"], data["issues"]["evidence"], strict=True):
        seen[rule] = seen.get(rule, 0) + 1
        assert evidence == 0 or seen[rule] <= 5
    assert any(data["issues"]["evidence"])


def test_details_are_those_of_the_lowest_scores_and_it_is_said(
    made: MadeAudit, tmp_path: Path, few: None
) -> None:
    file = written(made, tmp_path / "report.html")
    data = data_of(file)
    lowest = sorted(sorted(range(SIZE), key=lambda row: (made.pages["score"][row], row))[:10])
    assert data["detailed"] == lowest
    filled = {row for row, place in enumerate(data["pages"]["text"]) if place}
    assert filled
    assert filled <= set(lowest)
    assert sum(place > 0 for place in data["pages"]["title"]) > 10
    assert "Every issue of all 60 pages is listed." in file.read_text("utf-8")


def test_a_report_of_fewer_pages_shows_everything(made: MadeAudit, tmp_path: Path) -> None:
    file = written(made, tmp_path / "report.html")
    data = data_of(file)
    assert data["detailed"] is None
    assert sum(place > 0 for place in data["pages"]["text"]) > 30
    assert "Every issue of all" not in file.read_text("utf-8")
