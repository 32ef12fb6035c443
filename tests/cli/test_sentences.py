"""What the command line says where something is missing or went wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.effort import PROCESS_SECONDS
from webanalytics import sync as face
from webanalytics.cli import main, tables
from webanalytics.cli.names import SUMMARIES
from webanalytics.errors import AuditInterrupted, HostedError
from webanalytics.fetching.testing import sample_site


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
    assert (
        capsys.readouterr().err
        == "webanalytics: interrupted after 1 of 3 rows; what was finished is written\n"
    )


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


def test_why_rows_failed_is_said_beside_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.csv"
    told = []
    for inputs in (["http://127.0.0.1:9/"], ["http://127.0.0.1:9/", "http://127.0.0.2:9/"]):
        assert main(["text", *inputs, "-o", str(file)]) == 1
        told.append(capsys.readouterr().err.splitlines()[-1])
    why = "The host is not public; --allow-private lets it through."
    assert told == [f"1 row in {file}; 1 failed: {why}", f"2 rows in {file}; 2 failed, the first: {why}"]


def test_an_unknown_option_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["text", "https://a.example/", "--timout", "3"])
    assert ended.value.code == 2
    assert "--timout 3; did you mean `--timeout`?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("none/x.csv", "an existing folder, and there is no `"),
        ("x.docx", "not `.docx`."),
        ("x", "`x` has none."),
    ],
)
def test_what_is_wrong_of_a_file_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str, said: str
) -> None:
    assert main(["phones", "+12085813945", "-o", str(tmp_path / file)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", SUMMARIES)
def test_every_command_says_what_it_does_and_shows_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([name, "--help"])
    told = " ".join(capsys.readouterr().out.replace("-\n", "-").split())
    assert SUMMARIES[name] in told or name in tables.SERVICE_COMMANDS
    assert f"Example: webanalytics {name}" in told
    assert "None" not in told, "a word of Python"


@pytest.mark.parametrize("name", ["hmac", "dane", "phones"])
def test_what_only_a_hosted_api_uses_is_offered_there(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([name, "--help"])
    here, there = capsys.readouterr().out.split("hosted API, or another backend:")
    for flag in ("--concurrency", "--retries", "--budget"):
        assert flag not in here
        assert flag in there
    assert "Fetches" not in here + there


@pytest.mark.filterwarnings("default::webanalytics.errors.IncompleteRunWarning")
def test_errors_and_warnings_name_flags(capsys: pytest.CaptureFixture[str]) -> None:
    with sample_site() as site:
        assert main(["audit", "--sitemap", site.sitemap]) == 2
        assert "--allow-private lets it through" in capsys.readouterr().err
        assert main(["crawl", f"{site.url}/", "--max-pages", "2", "--allow-private"]) == 0
        told = capsys.readouterr()
    assert "--max-pages sets the limit" in told.err
    assert ".skipped" not in told.err
    assert main(["phones", "0301234567"]) == 1
    assert "in national format with --region" in capsys.readouterr().out
