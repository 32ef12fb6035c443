"""Audits as workbooks."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import unquote

import openpyxl
import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.saved import HOME, audit
from webanalytics.audits import excel
from webanalytics.audits.origin import Origin
from webanalytics.errors import MissingExtraError


@pytest.fixture(scope="module")
def made() -> wa.Audit:
    return audit()


def sheets(path: Path) -> dict[str, list[tuple[object, ...]]]:
    book = openpyxl.load_workbook(path, read_only=True)
    found = {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book}
    book.close()
    return found


def test_one_sheet_for_each_part(made: wa.Audit, tmp_path: Path) -> None:
    assert made.to_excel(tmp_path / "audit.xlsx") == tmp_path / "audit.xlsx"
    found = sheets(tmp_path / "audit.xlsx")
    assert list(found) == ["Overview", "Fix first", "Summary", "Issues", "Pages"]
    assert found["Overview"][1:3] == [("audit", "lamps.example"), ("score, of 100", made.score)]
    assert ("pages", 4) in found["Overview"]
    causes = [value for what, value in found["Overview"] if what == "fix first"]
    assert causes == made.causes()["cause"].head(10).tolist()
    assert found["Summary"][0][:3] == ("rule_title", "rule", "priority")
    assert sorted(found["Summary"][0]) == sorted([*made.summary().columns, "explanation", "fix"])
    assert found["Issues"][0][:5] == ("rule_title", "rule", "priority", "url", "page_title")
    assert len(found["Issues"]) == len(made.issues) + 1
    names = found["Pages"][0]
    assert len(names) <= 30
    assert found["Overview"][-1] == (
        "note",
        f"Pages are shown with {len(names)} of {len(made.pages.columns)} columns.",
    )
    pages = [dict(zip(names, row, strict=False)) for row in found["Pages"][1:]]
    assert [page["url"] for page in pages] == made.raw["url"].tolist()
    assert pages[1]["title_length"] == len("Old lamps")
    assert pages[1]["indexable"] is True


def test_columns_and_rules_are_chosen(made: wa.Audit, tmp_path: Path) -> None:
    clicks = pd.DataFrame({"url": [HOME], "clicks": [7]})
    made.with_columns(clicks).to_excel(tmp_path / "own.xlsx")
    assert "clicks" in sheets(tmp_path / "own.xlsx")["Pages"][0]
    path = tmp_path / "chosen.xlsx"
    made.to_excel(path, columns=["url", "headings"], rules=["h1_multiple"])
    found = sheets(path)
    assert found["Pages"][0] == ("url", "headings")
    assert found["Pages"][2][1] == '[{"level": "h1", "text": "Old"}, {"level": "h1", "text": "Older"}]'
    for name in ("Fix first", "Summary", "Issues"):
        place = found[name][0].index("rule")
        assert {row[place] for row in found[name][1:]} == {"h1_multiple"}
    made.to_excel(path, rules=["h1_*", "h1_multiple"])
    place = sheets(path)["Summary"][0].index("rule")
    of_h1 = [name for name in made.summary()["rule"] if name.startswith("h1_")]
    assert [row[place] for row in sheets(path)["Summary"][1:]] == of_h1
    made.to_excel(path, columns="all")
    shown = [name for name in made.pages.columns if name not in ("responseBody", "visible_text")]
    assert sheets(path)["Pages"][0] == tuple(shown)


def test_a_column_or_a_rule_that_is_not_there_is_refused(made: wa.Audit, tmp_path: Path) -> None:
    with pytest.raises(wa.ParameterError, match=r"`columns` .* 'titel'; did you mean `title`"):
        made.to_excel(tmp_path / "a.xlsx", columns=["titel"])
    with pytest.raises(wa.ParameterError, match=r"`rules` .* 'h1_multipel'; did you mean `h1_multiple`"):
        made.to_excel(tmp_path / "a.xlsx", rules="h1_multipel")
    with pytest.raises(wa.ParameterError, match="there is no 'titel_"):
        made.to_excel(tmp_path / "a.xlsx", rules=["titel_*"])


def test_what_keeps_pages_from_being_found_stands_below_the_score(tmp_path: Path) -> None:
    html = "<title>Lamps</title><meta name=robots content=noindex><p>Lamps"
    hidden = wa.audit(pd.DataFrame({"url": [HOME], "html": [html]}), progress=False, workers=1)
    hidden.to_excel(tmp_path / "audit.xlsx")
    found = sheets(tmp_path / "audit.xlsx")
    assert found["Overview"][2:4] == [
        ("score, of 100", 0),
        ("note", "None of 1 page may be indexed: noindex."),
    ]
    assert found["Fix first"][1][0].startswith(f"Noindex in the page on {HOME}")


def test_a_sitemap_has_a_sheet_too(made: wa.Audit, tmp_path: Path) -> None:
    sitemap = pd.DataFrame({"url": [HOME], "status": ["ok"]})
    wa.Audit(made, Origin(sitemap)).to_excel(tmp_path / "audit.xlsx")
    assert sheets(tmp_path / "audit.xlsx")["Sitemap"] == [("url", "status"), (HOME, "ok")]


def test_text_is_never_a_formula_and_only_addresses_of_pages_are_links(
    made: wa.Audit, tmp_path: Path
) -> None:
    made.to_excel(tmp_path / "audit.xlsx")
    book = openpyxl.load_workbook(tmp_path / "audit.xlsx")
    kinds = {cell.data_type for sheet in book for row in sheet.iter_rows() for cell in row}
    assert "f" not in kinds
    texts = [cell.value for row in book["Pages"].iter_rows() for cell in row]
    assert '=HYPERLINK("http://x.example")' in texts
    linked = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.hyperlink]
    assert {cell.value for cell in linked} == set(made.raw["url"])
    assert all(unquote(cell.hyperlink.target) == cell.value for cell in linked)


def test_marked_up_text_is_text(tmp_path: Path) -> None:
    text = "<r><t>Tea</t></r><c/><r></r>"
    excel.write_workbook(tmp_path / "odd.xlsx", {"Odd": pd.DataFrame({"text": [text]})})
    assert str(sheets(tmp_path / "odd.xlsx")["Odd"][1][0]).strip() == text


def test_what_no_sheet_can_hold_is_changed_as_little_as_can_be(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "text": pd.Series(["a\x00b\x1bc", "x" * 40_000, "\ud800", None], dtype=object),
            "number": [1.5, float("inf"), float("nan"), -2.0],
            "list": pd.Series([["\udc00"], [], {"a": 1}, float("nan")], dtype=object),
            "when": pd.to_datetime(["2026-01-02"] * 4, utc=True),
        }
    )
    excel.write_workbook(tmp_path / "odd.xlsx", {"Odd": frame})
    rows = sheets(tmp_path / "odd.xlsx")["Odd"][1:]
    assert rows[0][0] == "abc"
    assert len(str(rows[1][0])) == 32_767
    assert rows[2][0] == "?"
    assert [row[1] for row in rows] == [1.5, "inf", None, -2]
    assert [row[2] for row in rows] == ['["?"]', "[]", '{"a": 1}', None]
    assert str(rows[0][3]).startswith("2026-01-02")


def test_what_xml_cannot_hold_is_left_out_everywhere(tmp_path: Path) -> None:
    odd = "tea" + "".join(map(chr, [*range(32), 0x7F, 0xFFFE, 0xFFFF])) + "leaves"
    named = pd.DataFrame({odd: [odd, "=" + odd], "list": [[odd], {odd: odd}]})
    excel.write_workbook(tmp_path / "odd.xlsx", {"Odd": named})
    names, *rows = sheets(tmp_path / "odd.xlsx")["Odd"]
    assert str(names[0]).replace("\r", "").split() == ["tea", "\x7fleaves"]
    assert str(rows[1][0]).replace("\r", "").split() == ["=tea", "\x7fleaves"]
    assert not any(character in str((names, rows)) for character in "\ufffe\uffff")


def test_more_rows_than_a_sheet_can_have_go_on_in_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webanalytics.runs.frames.excel.MOST_ROWS", 2)
    excel.write_workbook(tmp_path / "long.xlsx", {"Pages": pd.DataFrame({"n": range(5)})})
    found = sheets(tmp_path / "long.xlsx")
    assert {name: [row[0] for row in rows] for name, rows in found.items()} == {
        "Pages": ["n", 0, 1],
        "Pages 2": ["n", 2, 3],
        "Pages 3": ["n", 4],
    }


def test_an_audit_without_pages_has_its_sheets(tmp_path: Path) -> None:
    wa.audit([], progress=False).to_excel(tmp_path / "empty.xlsx")
    assert [len(rows) for rows in sheets(tmp_path / "empty.xlsx").values()] == [5, 1, 1, 1, 1]


@pytest.mark.parametrize("path", ["audit.xls", "audit", "none/audit.xlsx"])
def test_a_file_that_cannot_be_is_refused(made: wa.Audit, tmp_path: Path, path: str) -> None:
    with pytest.raises(wa.ParameterError, match="The `path` parameter must be a file"):
        made.to_excel(tmp_path / path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_written_whole_or_not_at_all(
    made: wa.Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "audit.xlsx"
    made.to_excel(path)
    before = path.read_bytes()

    def broken(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("xlsxwriter.workbook.Workbook._store_workbook", broken)
    with pytest.raises(wa.ParameterError, match="full"):
        made.to_excel(path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["audit.xlsx"]


def test_without_xlsxwriter_it_says_what_to_install(
    made: wa.Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[excel\]"'):
        made.to_excel(tmp_path / "audit.xlsx")


def test_numbers_have_no_more_places_than_they_are_read_with(tmp_path: Path) -> None:
    rows = pd.DataFrame(
        {
            "position": [7.123456789012345],
            "similarity": [2 / 3],
            "link_score": [9.637132214173915],
            "clicks": [12],
        }
    )
    sheet = openpyxl.load_workbook(excel.write_workbook(tmp_path / "a.xlsx", {"Pages": rows}))["Pages"]
    assert [cell.number_format for cell in sheet[2]] == ["0.0", "0.00", "0.0", "General"]
    assert sheet["B2"].value == 2 / 3, "the cell holds all of it"
    assert max(sheet.column_dimensions[name].width for name in "ABCD") < 15
