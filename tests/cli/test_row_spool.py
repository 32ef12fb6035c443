"""Long tables of the command line: kept on the disk until they are in their file, which is that of a short one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import webanalytics as wa
from tests.answers import rows_of
from webanalytics.cli import main
from webanalytics.cli import row_safety as row_spool
from webanalytics.runs.frames import output_files
from webanalytics.runs.frames.input_files import read_frame
from webanalytics.runs.storage.lazy_columns import parts_of

HTML = (
    "<html lang=en><title>Page {0}</title><h1>Tea {0}</h1><p>Green tea, black tea and leaves of number {0}."
)


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of pages that counts as long, whose rows are written in threes."""
    monkeypatch.setattr(row_spool, "MANY", 5)
    monkeypatch.setattr(output_files, "FRAME_ROWS", 3)
    html: list[Any] = [HTML.format(number) for number in range(10)]
    html[0] = html[1] = html[2] = ""  # the first rows lack what later ones have
    urls = [f"https://a{number % 3}.example/{number}" for number in range(10)]
    path = tmp_path / "pages.parquet"
    pl.DataFrame({"url": urls, "html": html}).write_parquet(path)
    return path


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each table written whether its rows were on the disk."""
    found: list[bool] = []
    write = output_files._in_parts

    def spy(frame: pd.DataFrame, *others: Any) -> None:
        found.append(parts_of(pd.DataFrame(frame)) is not None)
        write(frame, *others)

    monkeypatch.setattr(output_files, "_in_parts", spy)
    return found


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("function", ["metadata", "text", "readability", "audit"])
def test_the_file_is_that_of_a_frame_in_memory(
    pages: Path, seen: list[bool], function: str, suffix: str, tmp_path: Path
) -> None:
    out = tmp_path / f"out.{suffix}"
    assert main([function, "-i", str(pages), "-o", str(out), "--no-progress"]) in (0, 1)
    assert seen == [True]
    expected = rows_of(getattr(wa, function)(read_frame(pages), progress=False))
    output_files.write_frame(expected, tmp_path / f"whole.{suffix}")
    found, whole = read_frame(out), read_frame(tmp_path / f"whole.{suffix}")
    changing = [name for name in ("fetched_at", "elapsed") if name in whole]
    pd.testing.assert_frame_equal(found.drop(columns=changing), whole.drop(columns=changing))
    if suffix == "parquet":
        assert parquet.ParquetFile(out).num_row_groups == 4
        assert parquet.read_schema(out).equals(parquet.read_schema(tmp_path / "whole.parquet"))
    else:
        assert pa.ipc.open_file(str(out)).num_record_batches == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["pages.parquet", out.name, f"whole.{suffix}"]
    )


@pytest.mark.parametrize(
    "more", [["-o", "out.csv"], ["-o", "out.parquet", "-f", "csv"], ["-o", "out.parquet", "--store", "own"]]
)
def test_other_calls_are_as_before(
    pages: Path, more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(row_spool.tempfile, "mkdtemp", lambda **_: pytest.fail("a folder was made"))
    assert main(["metadata", "-i", str(pages), *more, "--no-progress"]) in (0, 1)


def test_keywords_and_records_are_made_at_once(pages: Path, seen: list[bool], tmp_path: Path) -> None:
    assert main(["keywords", "-i", str(pages), "-o", str(tmp_path / "out.parquet"), "--no-progress"]) in (
        0,
        1,
    )
    assert seen == [False]


def test_an_audit_is_judged_from_the_disk(
    pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, report = tmp_path / "out.parquet", tmp_path / "report.html"
    main(["audit", "-i", str(pages), "-o", str(out), "--report", str(report), "--no-progress"])
    assert report.stat().st_size > 10_000
    assert len(read_frame(out)) == 10


def test_a_file_that_cannot_be_written_loses_no_row(
    pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output_files, "_in_parts", full)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    assert main(["metadata", "-i", str(pages), "-o", str(tmp_path / "out.parquet"), "--no-progress"]) == 4


def test_values_of_other_types_are_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = iter([pa.table({"a": [1]})])

    def failing(_: pd.DataFrame) -> Any:
        yield next(parts)
        raise pa.ArrowInvalid("of another type")

    monkeypatch.setattr(output_files, "arrow_parts", failing)
    path = output_files.write_frame(pd.DataFrame({"a": [1, 2]}), tmp_path / "x.arrow")
    assert read_frame(path)["a"].tolist() == [1, 2]


def test_it_is_so_in_a_process_of_its_own(tmp_path: Path) -> None:
    count = row_spool.MANY
    pl.DataFrame(
        {"url": [f"https://a.example/{n}" for n in range(count)], "html": ["<title>Tea</title>"] * count}
    ).write_ipc(tmp_path / "in.arrow")
    command = [
        sys.executable,
        "-m",
        "webanalytics",
        "metadata",
        "-i",
        str(tmp_path / "in.arrow"),
        "-o",
        str(tmp_path / "out.arrow"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    assert pl.read_ipc(tmp_path / "out.arrow")["title"].to_list() == ["Tea"] * count
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.arrow", "out.arrow"]
