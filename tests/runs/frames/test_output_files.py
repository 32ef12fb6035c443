"""Frames to files and back."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.core.strings import display_width as width
from webanalytics.runs.frames.input_files import read_frame
from webanalytics.runs.frames.output_files import write_frame, write_text
from webanalytics.runs.frames.terminal import table

NASTY = 'a "quoted", comma;\nnew line\ttab \x07 bell \u202e emoji 🦊 =1+1'


@pytest.fixture
def frame() -> pd.DataFrame:
    html = f"<title>{NASTY.replace(chr(10), ' ')}</title><h1>One</h1><h2>Two</h2>"
    pages = pd.DataFrame({"url": ["https://a.example/", "nonsense"], "html": [html, None]})
    return wa.metadata(pages)


def test_csv_reads_back(frame: pd.DataFrame, tmp_path: Path) -> None:
    back = pd.read_csv(write_frame(frame, tmp_path / "x.csv"), keep_default_na=False)
    assert back["title"].tolist()[0] == frame["title"].tolist()[0]
    assert json.loads(back["headings"].tolist()[0]) == [
        {"level": "h1", "text": "One"},
        {"level": "h2", "text": "Two"},
    ]
    assert back["error_type"].tolist() == ["", "invalid"]


def test_json_keeps_objects_and_nulls(frame: pd.DataFrame, tmp_path: Path) -> None:
    rows = json.loads(write_frame(frame, tmp_path / "x.json").read_text("utf-8"))
    assert rows[0]["headings"][0] == {"level": "h1", "text": "One"}
    assert rows[1]["title"] is None
    lines = write_frame(frame, tmp_path / "x.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == rows


def test_parquet_reads_back(frame: pd.DataFrame, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet needs the extra 'parquet'")
    back = pd.read_parquet(write_frame(frame, tmp_path / "x.parquet"))
    assert back["title"].tolist()[0] == frame["title"].tolist()[0]
    assert back["http_status"].dtype == "Int64"


def test_excel_holds_text_never_formulas(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="Excel needs the extra 'excel'")
    frame = pd.DataFrame({"title": ["=HYPERLINK(1)", NASTY, "x" * 40_000], "n": [1, 2, 3]})
    sheet = openpyxl.load_workbook(write_frame(frame, tmp_path / "x.xlsx")).active
    assert sheet["A2"].data_type == "s"
    assert sheet["A2"].value == "=HYPERLINK(1)"
    assert "\x07" not in sheet["A3"].value
    assert "🦊" in sheet["A3"].value
    assert len(sheet["A4"].value) == 32_767
    assert sheet["B4"].value == 3


def test_lone_surrogates_do_not_stop_a_file(tmp_path: Path) -> None:
    frame = pd.DataFrame({"jsonld": [[{"a": "\ud800"}]]}, dtype=object)
    for name in ("x.csv", "x.json"):
        assert write_frame(frame, tmp_path / name).read_text("utf-8")


@pytest.mark.parametrize("name", ["x.doc", "x", "none/x.csv"])
def test_a_wrong_file_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(wa.ParameterError, match="`output` parameter"):
        write_frame(pd.DataFrame({"a": [1]}), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("old")
    with pytest.raises(TypeError):
        write_frame(pd.DataFrame({"a": [{(1, 2): 3}]}), path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.parametrize(
    "name", ["urls.csv", "urls.tsv", "urls.json", "urls.jsonl", "urls.xlsx", "urls.parquet"]
)
def test_what_is_written_can_be_input(name: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"url": ["https://a.example/1,2", "https://b.example/"], "note": ["007", "NA"]})
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl", reason="Excel needs the extra 'excel'")
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="Parquet needs the extra 'parquet'")
    back = read_frame(write_frame(frame, tmp_path / name))
    assert back.astype(str).values.tolist() == frame.values.tolist()


def test_a_text_file_has_one_input_a_line(tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_text("\ufeffhttps://a.example/\r\n\n https://b.example/ \n", "utf-8")
    assert read_frame(tmp_path / "urls.txt")["input"].tolist() == [
        "https://a.example/",
        " https://b.example/ ",
    ]


def test_a_table_without_headings_loses_no_row(tmp_path: Path) -> None:
    (tmp_path / "urls.csv").write_text("https://a.example/,x\nhttps://b.example/,y\n")
    assert read_frame(tmp_path / "urls.csv").iloc[:, 0].tolist() == [
        "https://a.example/",
        "https://b.example/",
    ]


@pytest.mark.parametrize("name", ["none.csv", "broken.json", "x.doc"])
def test_a_wrong_input_file_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(wa.ParameterError, match="`input` parameter must be a"):
        read_frame(tmp_path / name)


def test_the_table_fits_the_terminal(frame: pd.DataFrame) -> None:
    for room in (60, 100, 200):
        lines = table(frame, room).splitlines()
        assert all(width(line) <= room for line in lines)
    assert "2 rows, 1 failed" in table(frame, 100)


def test_the_table_shows_no_control_characters(frame: pd.DataFrame) -> None:
    shown = table(frame, 150)
    assert "\x07" not in shown
    assert "\u202e" not in shown
    assert "\x1b" not in table(pd.DataFrame({"url": ["\x1b[31mred"]}), 80)


def test_wide_letters_take_two_cells() -> None:
    assert [width(text) for text in ("abc", "日本語", "e\u0301")] == [3, 6, 1]
    lines = table(pd.DataFrame({"url": ["日本語" * 20], "status": ["ok"]}), 60).splitlines()
    assert {width(line.split("  ok")[0]) <= 60 for line in lines} == {True}


def test_a_long_frame_is_cut_in_the_middle() -> None:
    shown = table(pd.DataFrame({"url": [f"u{n}" for n in range(500)]}), 80)
    assert "... 440 more rows ..." in shown
    assert "u0\n" in shown
    assert "u499" in shown


def test_text_formats_go_to_open_files(frame: pd.DataFrame) -> None:
    file = io.StringIO()
    write_text(frame, file, "tsv")
    assert file.getvalue().startswith("url\tstatus\t")
    with pytest.raises(wa.ParameterError, match="csv, tsv, json, jsonl"):
        write_text(frame, file, "parquet")
