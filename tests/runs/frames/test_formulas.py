"""No CSV file that the package writes holds a formula of a page, unless it is asked for texts as they are."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.notebook.widgets.previews import file_bytes
from webanalytics.runs.frames.output_files import harmless, write_frame, write_text

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd()", "@SUM(A1)", "\t=1", "\u200b=1", "＝1", "\r\n=1"]
TEXTS = ["Tea", "-5.2", "+1 208 581-3945", "3 = 3", "'quoted'"]
FRAME = pd.DataFrame({"title": [*FORMULAS, *TEXTS], "n": range(13)})


def cells(text: str, separator: str = ",") -> list[str]:
    return [row[0] for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator)][1:]


@pytest.mark.parametrize(("kind", "separator"), [("csv", ","), ("tsv", "\t")])
def test_a_formula_is_marked_and_other_text_is_not(kind: str, separator: str) -> None:
    made = io.StringIO(newline="")
    write_text(FRAME, made, kind)
    found = cells(made.getvalue(), separator)
    assert all(cell.startswith("'") for cell in found[: len(FORMULAS)])
    assert found[len(FORMULAS) :] == TEXTS


def test_every_way_to_a_csv_has_the_same_cells(tmp_path: Path) -> None:
    written = write_frame(FRAME, tmp_path / "a.csv").read_bytes().decode()
    assert cells(written) == cells(file_bytes(FRAME, "csv").decode("utf-8-sig"))


def test_where_a_semicolon_could_begin_a_formula_all_texts_are_quoted() -> None:
    made = io.StringIO(newline="")
    write_text(pd.DataFrame({"a": ["tea;=1+1"], "b": ["x"]}), made, "csv")
    assert made.getvalue() == '"a","b"\n"tea;=1+1","x"\n'


def test_raw_is_as_it_is(tmp_path: Path) -> None:
    plain = pd.DataFrame({"a": ["=1+1", "tea;=1"]})
    assert write_frame(plain, tmp_path / "a.csv", raw=True).read_text("utf-8") == "a\n=1+1\ntea;=1\n"
    assert write_frame(plain, tmp_path / "a.tsv", raw=True).read_text("utf-8") == "a\n=1+1\ntea;=1\n"
    assert "=1+1" in write_frame(plain, tmp_path / "a.json", raw=True).read_text("utf-8")


@pytest.mark.parametrize(("flags", "title"), [([], "'=1+1"), (["--raw"], "=1+1")])
@pytest.mark.parametrize("output", ["-", "pages.csv"])
def test_the_command_line_marks_them_too(tmp_path: Path, flags: list[str], title: str, output: str) -> None:
    (tmp_path / "page.html").write_text("<title>=1+1</title>", "utf-8")
    where = ["-f", "csv"] if output == "-" else ["-o", output]
    command = [sys.executable, "-m", "webanalytics", "metadata", "page.html", *where, *flags]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, check=True)
    text = done.stdout.decode() if output == "-" else (tmp_path / output).read_text("utf-8")
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["title"] == title


def test_signatures_are_not_changed(tmp_path: Path) -> None:
    """The digest of a message in base64 begins with a plus sign once in 64."""
    signed = wa.hmac([f"message {number}" for number in range(400)], secret="k", encoding="base64")
    digests = signed["hmac"].tolist()
    assert any(digest.startswith("+") for digest in digests)
    (written,) = pd.read_csv(write_frame(signed[["hmac"]], tmp_path / "a.csv"), dtype=str).T.values.tolist()
    assert written == digests
    assert harmless("+" + "A" * 30 + "(1)").startswith("'")
    assert harmless('+cmd|" /C calc"!A0').startswith("'")
