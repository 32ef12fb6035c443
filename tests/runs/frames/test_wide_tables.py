"""Tables of very many columns, and of columns whose names stand twice."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import pandas as pd
import pytest

from tests.effort import effort_since
from webanalytics.errors import ParameterError
from webanalytics.notebook.desk.form import read_upload, urls_in_table
from webanalytics.operations import METADATA
from webanalytics.runs.frames.input_files import MOST_COLUMNS, read_csv, read_frame
from webanalytics.runs.frames.inputs import read_values
from webanalytics.runs.frames.output_files import write_frame

TWICE = pd.DataFrame([[1, "a", 2], [3, "b", 4]], columns=["n", "url", "n"])


def csv_of(columns: int) -> str:
    return "," * (columns - 1) + "\n" + ",".join(["x"] * columns) + "\n"


def test_columns_have_a_limit(tmp_path: Path) -> None:
    assert read_csv(io.StringIO(csv_of(MOST_COLUMNS))).shape == (1, MOST_COLUMNS)
    with pytest.raises(ParameterError, match=r"^The `input` parameter must have at most 1,000 columns\.$"):
        read_csv(io.StringIO(csv_of(MOST_COLUMNS + 1)))
    (tmp_path / "wide.csv").write_text(csv_of(MOST_COLUMNS + 1))
    with pytest.raises(ParameterError, match=r"at most 1,000 columns"):
        read_frame(tmp_path / "wide.csv")
    with pytest.raises(ParameterError, match=r"^The `upload` parameter must have at most 1,000 columns\.$"):
        read_upload("wide.csv", csv_of(MOST_COLUMNS + 1).encode())


def test_a_separator_within_quotes_makes_no_column() -> None:
    text = 'url,note\nhttps://a.example/,"' + "," * 3000 + '"\n'
    assert read_upload("a.csv", text.encode()).shape == (1, 2)
    first = '"https://a.example/?' + "," * 3000 + '",b\n'
    assert read_upload("a.csv", first.encode()).shape == (1, 2)


@pytest.mark.parametrize("columns", [MOST_COLUMNS, 200_000])
def test_a_wide_upload_takes_no_time(columns: int) -> None:
    start = time.process_time()
    with pytest.raises(ParameterError):
        urls_in_table(read_upload("wide.csv", csv_of(columns).encode()))
    assert effort_since(start) < 5


def test_many_candidates_are_not_all_named() -> None:
    frame = pd.DataFrame([["x"] * 900], columns=[f"c{number}" for number in range(900)])
    with pytest.raises(ParameterError, match=r"`c0`, .*`c19`, 880 more\.$"):
        read_values(frame, METADATA, "urls")


def test_a_name_that_stands_twice_is_no_column_of_urls() -> None:
    frame = pd.DataFrame([["https://a.example/"] * 3], columns=["x", "x", "y"])
    assert read_values(frame, METADATA, "urls").name == "y"


def test_names_that_stand_twice_are_written(tmp_path: Path) -> None:
    assert write_frame(TWICE, tmp_path / "t.csv").read_text() == "n,url,n\n1,a,2\n3,b,4\n"
    rows = json.loads(write_frame(TWICE, tmp_path / "t.json").read_text())
    assert rows[0] == {"n": 1, "url": "a", "n.2": 2}
    stored = pd.read_parquet(write_frame(TWICE, tmp_path / "t.parquet"))
    assert list(stored.columns) == ["n", "url", "n.2"]
    sheet = pd.read_excel(write_frame(TWICE, tmp_path / "t.xlsx"), header=None)
    assert sheet.iloc[0].tolist() == ["n", "url", "n"]
