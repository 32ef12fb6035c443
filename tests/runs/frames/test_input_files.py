"""Tables that spreadsheets and other programs write, as the command line and the desk read them."""

from __future__ import annotations

import codecs
import csv
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from webanalytics.errors import ParameterError
from webanalytics.notebook.desk.form import read_upload
from webanalytics.runs.frames.input_files import MOST_COLUMNS, lines_of, read_frame
from webanalytics.runs.frames.output_files import write_frame

ROWS = [["Téléphone", "Name"], ["+12085813945", 'Müller; "Söhne", 1'], ["+4915112345678", "two\nlines"]]


def as_csv(rows: Sequence[Sequence[str]], delimiter: str, encoding: str) -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter).writerows(rows)
    return stream.getvalue().encode(encoding)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_csv_as_spreadsheets_save_it(delimiter: str, encoding: str, tmp_path: Path) -> None:
    content = as_csv(ROWS, delimiter, encoding)
    (tmp_path / "a.csv").write_bytes(content)
    read = [read_frame(tmp_path / "a.csv")]
    if encoding != "utf-16":  # the desk takes it for no text
        read.append(read_upload("a.csv", content))
    for frame in read:
        assert [[*frame.columns], *frame.to_numpy().tolist()] == ROWS


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("line", ["sep={}\r\n", '"sep={}"\n'])
def test_a_line_that_names_the_separator_is_no_row(delimiter: str, line: str, tmp_path: Path) -> None:
    content = line.format(delimiter).encode() + as_csv(ROWS, delimiter, "utf-8")
    (tmp_path / "a.csv").write_bytes(content)
    frame = read_frame(tmp_path / "a.csv")
    assert [[*frame.columns], *frame.to_numpy().tolist()] == ROWS


@pytest.mark.parametrize(
    "text",
    [
        "https://a.example/x;jsessionid=1;v=2\nhttps://a.example/y;v=3\n",
        "'one; two',x\r\n1,2\r\n",
        "a,b\n\n1;1;1;1,2\n",
    ],
)
def test_semicolons_that_separate_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text, newline="")
    frame = read_frame(tmp_path / "a.csv")
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    headed = [] if text.startswith("https") else [[*frame.columns]]
    assert [*headed, *frame.to_numpy().tolist()] == rows


@pytest.mark.parametrize(
    "first",
    [
        "+1 208 581 3945",
        "+1 (208) 581-3945",
        "12085813945",
        "(208) 581-3945",
        "_443._tcp.a.example. IN TLSA 3 1 1 " + "ab" * 32,
        "3 1 1 " + "AB" * 32,
        " HTTPS://a.example/",
    ],
)
def test_a_first_row_that_is_an_input_is_none_of_names(first: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"{first}\nsecond\n")
    book = openpyxl.Workbook()
    assert book.active is not None
    for text in (first, "second"):
        book.active.append([text])
    book.save(tmp_path / "a.xlsx")
    for name in ("a.csv", "a.xlsx"):
        assert read_frame(tmp_path / name).iloc[:, 0].tolist() == [first, "second"]


@pytest.mark.parametrize(
    "names", [["url", "2026-01-01"], ["TLSA record"], ["+/-"], ["HTTP status"], ["3 1 1"]]
)
def test_names_that_resemble_inputs_are_names(names: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("\n".join([",".join(names), ",".join("x" for _ in names)]))
    assert [*read_frame(tmp_path / "a.csv").columns] == names


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_only_line_feeds_and_carriage_returns_end_a_line(mark: str, tmp_path: Path) -> None:
    text = f"one{mark}two"
    path = write_frame(pd.DataFrame({"text": [text, "b"]}), tmp_path / "a.jsonl")
    assert [json.loads(line)["text"] for line in path.read_text("utf-8").split("\n")[:2]] == [text, "b"]
    path.write_text(path.read_text("utf-8") + " \t\r\n\r\n", "utf-8")
    assert read_frame(path)["text"].tolist() == [text, "b"]
    (tmp_path / "a.txt").write_text(f" {text} \r\n\r\nb", "utf-8", newline="")
    assert read_frame(tmp_path / "a.txt")["input"].tolist() == [f" {text} ", "b"]


def test_lines_are_of_one_encoding() -> None:
    assert lines_of(codecs.BOM_UTF8 + b"a\rb\r\n") == ["a", "b"]
    assert lines_of("ü\n".encode("utf-16")) == ["ü"]
    with pytest.raises(ParameterError, match=r"^The `input` parameter must be text in UTF-8\.$"):
        lines_of(b"\xfc\n")


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_values_of_json_are_as_written(suffix: str, tmp_path: Path) -> None:
    rows = [{"a": "cut \ud83d", "n": 2**53 + 1}, {"a": None, "n": None}, {"a": "b", "n": 0.5}]
    text = json.dumps(rows) if suffix == ".json" else "\n".join(map(json.dumps, rows))
    (tmp_path / f"a{suffix}").write_text(text)
    assert read_frame(tmp_path / f"a{suffix}").to_dict("records") == rows


def test_a_sheet_that_begins_with_nothing(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.create_sheet("second")
    for row in ([], [None, "phone"], [None, 12085813945], [], [None, 0], [None, "x"]):
        sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    assert read_frame(tmp_path / "a.xlsx")["phone"].tolist() == ["12085813945", "0", "x"]


def test_whole_numbers_of_a_sheet_have_no_point(tmp_path: Path) -> None:
    """Some programs write 1.2085813945E10 into the file where a sheet shows 12085813945."""
    book = openpyxl.Workbook()
    assert book.active is not None
    for value in ("phone", 12085813945, 0.5):
        book.active.append([value])
    book.save(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as made, zipfile.ZipFile(tmp_path / "b.xlsx", "w") as changed:
        for name in made.namelist():
            changed.writestr(name, made.read(name).replace(b"<v>12085813945<", b"<v>1.2085813945E10<"))
    assert read_frame(tmp_path / "b.xlsx")["phone"].tolist() == ["12085813945", "0.5"]


def test_control_characters_of_a_sheet_are_read(tmp_path: Path) -> None:
    """ECMA-376, part 1, 22.4.2.4: _xHHHH_ stands for a character, and _x005F_ for the line before such a text."""
    book = openpyxl.Workbook()
    assert book.active is not None
    for value in ("text", "https://a.example/_x000D_", "a_x000D_\nb", "_x005F_x000D_"):
        book.active.append([value])
    book.save(tmp_path / "a.xlsx")
    texts = ["https://a.example/\r", "a\r\nb", "_x000D_"]
    assert read_frame(tmp_path / "a.xlsx")["text"].tolist() == texts
    path = write_frame(pd.DataFrame({"text": ["a\rb", "a\r\nb", "_x000D_"]}), tmp_path / "b.xlsx")
    assert read_frame(path)["text"].tolist() == ["a\nb", "a\nb", "_x000D_"]


def test_a_wide_first_line_is_refused_before_it_is_read(tmp_path: Path) -> None:
    for ending in ("\n", "\r"):
        (tmp_path / "a.csv").write_text(f"a;b{ending}" + f"1;2{ending}" * (2 * MOST_COLUMNS), newline="")
        assert read_frame(tmp_path / "a.csv").shape == (2 * MOST_COLUMNS, 2)
    (tmp_path / "a.csv").write_text(";" * MOST_COLUMNS + "\n")
    with pytest.raises(ParameterError, match=r"must have at most 1,000 columns"):
        read_frame(tmp_path / "a.csv")
