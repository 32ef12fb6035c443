"""Inputs of the command line: standard input, and columns of tables."""

from __future__ import annotations

import errno
import hashlib
import hmac
import io
import json
import os
import sys
from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.cli import main


def piped(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), "utf-8"))


@pytest.mark.parametrize("content", [b"", b"\n\n", b'phone,name\n+12085813945,"a\n', b"a,b\n1,2\n1,2,3\n"])
def test_what_is_no_table_in_a_pipe_is_a_sentence(
    content: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    piped(content, monkeypatch)
    assert main(["phones", "--input", "-"]) == 2
    assert capsys.readouterr().err == "webanalytics: The `input` parameter must be a well-formed CSV file.\n"


def test_several_records_in_one_argument_are_rows_as_in_a_string(capsys: pytest.CaptureFixture[str]) -> None:
    printed = f"3 1 1 {'AB' * 28} {'AB' * 4}\n2 0 1 {'cd' * 32}\n"  # "$(dig +short ...)"
    assert main(["dane", printed, "--name", "_25._tcp.mx.example", "-f", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [row["raw_record"] for row in shown] == wa.dane(printed)["raw_record"].tolist()
    assert [row["usage"] for row in shown] == [3, 2]


def test_lines_of_a_pipe_are_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    piped(b"\xff\n", monkeypatch)
    assert main(["phones"]) == 2
    assert capsys.readouterr().err == "webanalytics: The `input` parameter must be text in UTF-8.\n"
    piped(b"\xef\xbb\xbf\t+12085813945 \r\n", monkeypatch)
    assert main(["phones", "--format", "jsonl"]) == 0
    assert json.loads(capsys.readouterr().out)["input"] == "+12085813945"


def test_a_message_keeps_its_spaces(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WEBANALYTICS_SECRET", "k")
    piped("\n a\u2028b \n".encode(), monkeypatch)
    assert main(["hmac", "--format", "jsonl"]) == 0
    expected = hmac.new(b"k", " a\u2028b ".encode(), hashlib.sha256).hexdigest()
    assert json.loads(capsys.readouterr().out)["hmac"] == expected


def test_a_secret_is_what_an_editor_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "key.txt").write_bytes(b"\xef\xbb\xbfk\r\n")  # as Notepad saves it
    assert main(["hmac", "a", "--secret-file", str(tmp_path / "key.txt"), "--format", "jsonl"]) == 0
    assert json.loads(capsys.readouterr().out)["hmac"] == hmac.new(b"k", b"a", hashlib.sha256).hexdigest()


@pytest.mark.parametrize(("command", "file"), [("hmac", False), ("phones", True), ("text", True)])
def test_help_offers_a_file_where_one_is_read(
    command: str, file: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """A message may be named like a file: it is none."""
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert ("one file with a table of them" in " ".join(capsys.readouterr().out.split())) is file


@pytest.mark.parametrize("arguments", [["phones"], ["phones", "-i", "-"]])
def test_standard_input_may_be_closed(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(arguments) == 2
    assert "The `input` parameter " in capsys.readouterr().err


def test_a_table_among_other_inputs_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As `audit *.csv` gives them: none of them is an address."""
    table = tmp_path / "a.csv"
    table.write_text("url\nhttps://a.example/\n")
    for others in ([str(table)], ["https://a.example/"]):
        assert main(["metadata", str(table), *others]) == 2
        said = f"The `input` parameter must be one file where it is a table, as {table} is."
        assert capsys.readouterr().err == f"webanalytics: {said}\n"


def test_a_name_that_is_given_twice_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "a.html"
    page.write_text("<title>A</title>")
    assert main(["audit", str(page), "--extract", "x=h1", "--extract", "x=h2"]) == 2
    assert "The `extract` parameter must give each name once." in capsys.readouterr().err
    wa.audit(pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>A</title>"]})).save(
        tmp_path / "kept"
    )
    assert main(["segments", str(tmp_path / "kept"), "shop=/a/*", "shop=/b/*"]) == 2
    assert "The `patterns` parameter must give each name once." in capsys.readouterr().err


def test_rules_that_fail_are_a_wrong_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Status 1 says that rows failed."""
    (tmp_path / "rules.py").write_text("1 / 0\n")
    assert main(["audit", "https://a.example/", "--rules", str(tmp_path / "rules.py")]) == 2
    said = capsys.readouterr().err
    assert "ZeroDivisionError: division by zero" in said
    assert said.endswith(f"The `rules` parameter names a file that fails: {tmp_path / 'rules.py'}.\n")


def test_a_column_that_a_workbook_cannot_have_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "a.html"
    page.write_text("<title>A</title>")
    command = ["audit", str(page), "-o", str(tmp_path / "a.xlsx"), "--no-progress", "--columns"]
    for name, end in (
        ("zzz", "no 'zzz'. The 1 rows"),
        ("titel", "no 'titel'; did you mean `title`? The 1 rows"),
    ):
        assert main([*command, name]) == 4
        assert f"columns of the pages; there is {end}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["metadata", "{}.csv"],
        ["metadata", "x.invalid", "-o", "{}.csv"],
        ["metadata", "x.invalid", "--archive", "{}.warc"],
        ["check-redirects", "{}"],
        ["redirect-map", "{}", "x"],
        ["logs", "{}"],
        ["mcp", "{}"],
        ["demo", "{}"],
    ],
)
def test_a_name_that_no_file_can_have_is_a_sentence(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = "a" * 300
    assert main([argument.format(name) for argument in arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"webanalytics: {os.strerror(errno.ENAMETOOLONG)}: ")
    assert name in said


@pytest.mark.parametrize("command", ["sitemap", "crawl", "certificates", "live-tlsa"])
@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("[]", None, "must name the column that holds the inputs; candidates are: none"),
        ('[{"a": "x"}]', "b", "names no column of the DataFrame with `b`; candidates are: `a`."),
    ],
)
def test_columns_that_are_not_there(
    command: str, text: str, column: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.json").write_text(text)
    flags = [] if column is None else ["--column", column]
    assert main([command, str(tmp_path / "a.json"), *flags]) == 2
    assert f"webanalytics: The `column` parameter {said}" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["sitemap", "crawl", "certificates"])
def test_a_column_that_is_there_twice(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text("a,a\nx,y\n")
    assert main([command, str(tmp_path / "a.csv")]) == 2
    assert "the DataFrame has 2 called `a`" in capsys.readouterr().err
