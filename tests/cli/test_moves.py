"""Moving a site on the command line."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.cli import main
from webanalytics.errors import AuditInterrupted

Reply = wa.testing.Reply


def test_a_map_is_made_written_and_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replies = {"/red-roses.html": Reply(301, {"Location": "/red-roses"}), "/red-roses": b"<title>R</title>R"}
    with wa.testing.SiteServer(replies) as server:
        old, new = tmp_path / "old.txt", tmp_path / "new.txt"
        old.write_text(f"{server.url}/red-roses.html\n{server.url}/jobs\n")
        new.write_text(f"{server.url}/red-roses\n{server.url}/about-us\n")
        table, rules = tmp_path / "plan.csv", tmp_path / "_redirects"
        command = ["redirect-map", str(old), str(new), "-o", str(table), "-o", str(rules), "--with-look"]
        assert main(command) == 0
        assert capsys.readouterr().out.startswith("Redirects of 2 old pages: ")
        assert rules.read_text() == f"/red-roses.html {server.url}/red-roses 301!\n"
        assert main(["check-redirects", str(table), "--allow-private"]) == 0
        out, said = capsys.readouterr()
        assert out.splitlines()[0].startswith("old,planned,verdict")
        assert "1 as planned" in said
        replies_changed = table.read_text().replace("/red-roses,", "/about-us,")
        table.write_text(replies_changed)
        assert main(["check-redirects", str(table), "--allow-private"]) == 1


def test_addresses_of_tables_are_those_of_a_column(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, table = tmp_path / "side.txt", tmp_path / "side.csv"
    lines.write_text("https://a.example/tea\r\nhttps://a.example/mugs\r\n")
    table.write_text("title;url\r\nTea;https://a.example/tea\r\n;\r\nMugs;https://a.example/mugs\r\n")
    assert main(["redirect-map", str(lines), str(lines)]) == 0
    expected = capsys.readouterr().out
    assert expected.count("same address") == 2
    assert main(["redirect-map", str(table), str(table)]) == 0
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    "arguments",
    [
        ["redirect-map", "none", "none", "-o", "{}/plan.csv"],
        ["redirect-map", "none", "none", "-o", "{}/.htaccess"],
        ["check-redirects", "none", "--report", "{}/check.html"],
    ],
)
def test_a_folder_that_is_not_there_is_said_before_work(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([argument.format(tmp_path / "none") for argument in arguments]) == 2
    assert "parameter must be in an existing folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [("redirect-map {0} {1}", "old"), ("redirect-map {1} {0}", "new"), ("check-redirects {0}", "plan")],
)
def test_a_table_that_cannot_be_read_is_told_of_its_argument(
    arguments: str, named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty, good = tmp_path / "empty.csv", tmp_path / "good.txt"
    empty.touch()
    good.write_text("https://a.example/\n")
    assert main(arguments.format(empty, good).split()) == 2
    assert f"The `{named}` parameter must be a well-formed CSV file." in capsys.readouterr().err


def test_an_interrupted_check_says_that_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise AuditInterrupted(pd.DataFrame({"url": ["https://a.example/"]}), 2)

    monkeypatch.setattr("webanalytics.cli.moves.sync.check_redirects", interrupted)
    (tmp_path / "plan.csv").write_text("old,new\nhttps://a.example/,https://b.example/\n")
    assert main(["check-redirects", str(tmp_path / "plan.csv"), "-o", str(tmp_path / "a.csv")]) == 130
    said = "webanalytics: interrupted after 1 of 2 rows; nothing is written\n"
    assert capsys.readouterr().err == said
    assert not (tmp_path / "a.csv").exists()


def test_without_a_file_the_table_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    side = tmp_path / "side.txt"
    side.write_text("https://a.example/tea\n")
    assert main(["redirect-map", str(side), str(side)]) == 0
    assert (
        capsys.readouterr().out.splitlines()[1].startswith("https://a.example/tea,https://a.example/tea,sure")
    )
    assert main(["redirect-map", str(side), str(tmp_path / "none")]) == 2
