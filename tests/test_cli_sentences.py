"""What the command line says where something is missing or went wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.effort import PROCESS_SECONDS
from webanalytics.api import sync as face
from webanalytics.cli import main, tables
from webanalytics.errors import AuditInterrupted, HostedError


def test_a_secret_is_asked_for_where_nobody_can_answer(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != tables.SECRET_VARIABLE}
    done = subprocess.run(
        [sys.executable, "-m", "webanalytics", "hmac", "hello"],
        capture_output=True,
        text=True,
        timeout=PROCESS_SECONDS,
        stdin=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,  # without a terminal
    )
    assert done.returncode == 2
    assert done.stderr == (
        "webanalytics: The `secret` parameter is required: "
        "name a file with --secret-file, or set WEBANALYTICS_SECRET.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["hmac", "x", "--secret-file", "none"],
            "The `secret-file` parameter must be a file that can be read: No such file or directory.",
        ),
        (
            ["text", "https://a.example/", "--base-url", "http://127.0.0.1:9", "--api-key-file", "none"],
            "The `api-key-file` parameter must be a file that can be read: No such file or directory.",
        ),
        (
            ["text", "none.csv"],
            "The `input` parameter must be a file that is there: no such file: none.csv.",
        ),
        (
            ["text", "https://a.example/", "none.TXT"],
            "The `input` parameter must be a file that is there: no such file: none.TXT.",
        ),
    ],
)
def test_a_file_that_is_not_there(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"webanalytics: {said}\n"


def test_a_run_that_ends_early_speaks_of_what_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    partial = pd.DataFrame({"url": ["a"], "status": ["ok"]})
    hosted = HostedError("The `api_key` parameter must be another.", 401, "r1")
    hosted.keep(partial, 3)

    def fail(error: BaseException) -> None:
        def function(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(face, "metadata", function)

    fail(hosted)
    assert main(["metadata", "https://a.example/"]) == 2
    assert capsys.readouterr().err == (
        "webanalytics: The `api_key` parameter must be another. (HTTP 401, request r1) "
        "1 of 3 rows are written.\n"
    )
    fail(AuditInterrupted(partial, 3))
    assert main(["metadata", "https://a.example/"]) == 130
    assert capsys.readouterr().err == "webanalytics: interrupted after 1 of 3 rows; they are written\n"


def test_a_table_ends_with_the_most_frequent_errors(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    errors = [None, *["It is\x1b[2J broken."] * 3, *(f"Error {number}." for number in range(6))]
    frame = pd.DataFrame({"url": "a", "status": "error", "error": pd.Series(errors, dtype=object)})
    monkeypatch.setattr(face, "metadata", lambda *_, **__: frame)
    assert main(["metadata", "https://a.example/", "-f", "table"]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[-6:-4] == ["3 x It is [2J broken.", "1 x Error 0."]
    assert shown[-1] == "... 2 more errors ..."
    assert main(["metadata", "https://a.example/", "-f", "csv"]) == 1
    assert " x " not in capsys.readouterr().out


def test_concurrency_is_explained_for_a_hosted_api(capsys: pytest.CaptureFixture[str]) -> None:
    for name, told in (("text", True), ("audit", True), ("sitemap", False)):
        with pytest.raises(SystemExit):
            main([name, "--help"])
        shown = "".join(capsys.readouterr().out.split())  # lines break after hyphens
        assert ("with--base-url,requestsunderwayatonce,atmost8bydefault" in shown) is told
