"""What is generated from the declarations is up to date, and what is written by hand agrees with them."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import webanalytics as wa
from webanalytics import generate
from webanalytics.notebook import charts
from webanalytics.operations import DECLARED, OPERATIONS, Operation
from webanalytics.runs.workers.worker import analysis_function

NAMES = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)


def test_the_committed_files_are_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--check"]) == 0, capsys.readouterr().out


def test_a_stale_file_is_shown_and_then_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stale = tmp_path / "aio.py"
    stale.write_text("old\n")
    monkeypatch.setattr(generate, "PACKAGE", tmp_path)
    monkeypatch.setattr(generate, "files", lambda: {stale: "new\n"})
    assert generate.main(["--check"]) == 1
    assert {"-old\n", "+new\n"} <= set(capsys.readouterr().out.splitlines(keepends=True))
    assert stale.read_text() == "old\n"
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0


@NAMES
def test_signatures_agree_with_the_declaration(operation: Operation) -> None:
    parameters = inspect.signature(getattr(wa, operation.function)).parameters
    assert next(iter(parameters)) == operation.inputs
    for item in operation.settings:
        default = inspect.Parameter.empty if item.required else item.default_here
        assert parameters[item.keyword].default == default, item.keyword


@NAMES
def test_what_a_declaration_names_is_there(operation: Operation) -> None:
    assert operation.function in wa.__all__
    assert operation.function in wa.aio.__all__
    assert not operation.chart or operation.chart in charts.__all__
    assert operation.example is not None
    assert operation.table
    columns = {operation.input_column, *(item.column_name for item in operation.fields)}
    made = {
        "rank",
        "keyword",
        "frequency",
        "distinctiveness",
        "matches_certificate",
    }  # by the function, of what is answered
    assert {name for name, _ in operation.table} <= columns | made


@pytest.mark.parametrize("operation", DECLARED.values(), ids=DECLARED)
def test_an_analysis_takes_the_declared_settings(operation: Operation) -> None:
    subject, *settings = inspect.signature(analysis_function(operation.analysis)).parameters.values()
    assert subject.kind is not inspect.Parameter.KEYWORD_ONLY
    assert {item.keyword for item in operation.settings} <= {item.name for item in settings}
