"""Pages of rules are links where somebody said where the documentation is, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

import webanalytics as wa
from tests.audits.saved import audit as saved_audit
from webanalytics.audits.rules import RULES
from webanalytics.notebook.explorer.issues import _detail, _line
from webanalytics.service.reference.docs import docs_page
from webanalytics.service.reference.openapi import document
from webanalytics.service.settings import ServiceSettings

DOCS = "https://docs.example.org/web"


def cells(path: Path, sheet: str, column: str) -> list[object]:
    head, *rows = openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True)
    return [row[head.index(column)] for row in rows]


def test_without_it_there_is_no_address_and_the_texts_are_there(tmp_path: Path) -> None:
    audit = saved_audit()
    report = audit.report(tmp_path / "report.html").read_text("utf-8")
    rule = RULES[audit.issues["rule"].iloc[0]]
    assert "/rules/" not in report
    assert "How it is measured, with examples" not in report
    assert rule.fix.split(".")[0][:40] in report
    audit.to_excel(tmp_path / "audit.xlsx")
    head = next(openpyxl.load_workbook(tmp_path / "audit.xlsx")["Summary"].iter_rows(values_only=True))
    assert "fix" in head
    assert "help" not in head
    assert RULES[cells(tmp_path / "audit.xlsx", "Summary", "rule")[0]].explanation in cells(  # type: ignore[index]
        tmp_path / "audit.xlsx", "Summary", "explanation"
    )


def test_with_it_report_workbook_and_explorer_link_to_it(tmp_path: Path) -> None:
    audit = saved_audit()
    name = audit.issues["rule"].iloc[0]
    with wa.option_context(docs_url=f"{DOCS}/"):
        assert f'href="{DOCS}/rules/{name}.html"' in audit.report(tmp_path / "report.html").read_text("utf-8")
        audit.to_excel(tmp_path / "audit.xlsx")
        row = audit.summary().set_index("rule", drop=False).loc[name].to_dict()
        assert _detail(_line(row))["help"] == f"{DOCS}/rules/{name}.html"
    assert f"{DOCS}/rules/{name}.html" in cells(tmp_path / "audit.xlsx", "Summary", "help")


@pytest.mark.parametrize("wrong", ["docs.example.org", "javascript:alert(1)", 'https://a.example/"x', 3])
def test_what_could_be_no_link_is_refused(wrong: object) -> None:
    with pytest.raises(wa.ParameterError, match="`docs_url` parameter must be an address"):
        wa.options.docs_url = wrong  # type: ignore[assignment]
    assert wa.options.docs_url is None


def test_no_call_takes_it_because_it_would_do_nothing() -> None:
    with pytest.raises(wa.ParameterError, match="`docs_url` parameter must be left out of `metadata`"):
        wa.metadata([], docs_url=DOCS)


def test_the_service_links_to_it_where_it_is_set() -> None:
    assert "externalDocs" not in document(ServiceSettings())
    assert b"Documentation of the package" not in docs_page(document(ServiceSettings()))
    with_docs = document(ServiceSettings({"docs_url": DOCS}))
    assert with_docs["externalDocs"] == {"url": DOCS}
    assert f'<a href="{DOCS}"'.encode() in docs_page(with_docs)
