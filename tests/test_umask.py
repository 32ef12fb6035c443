"""What is written is no wider than the process, or the file that was there, says."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image

import webanalytics as wa
from webanalytics.files import written_whole
from webanalytics.runs.frames.output_files import FORMATS, write_frame

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
PAGES = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Tea</title>"]})


@pytest.fixture(params=[0o022, 0o077])
def allowed(request: pytest.FixtureRequest) -> Iterator[int]:
    """Set a umask; the value is what a file may have under it."""
    before = os.umask(request.param)
    yield 0o666 & ~request.param
    os.umask(before)


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}


def converted(folder: Path) -> None:
    Image.new("RGB", (4, 4)).save(folder / "tea.png")
    (folder / "tea.png").chmod(0o600)
    wa.convert([folder / "tea.png"], output_format="webp", save_to=folder / "made", progress=False)
    (folder / "tea.png").unlink()


WRITERS: dict[str, Callable[[Path], Any]] = {
    "report": lambda folder: wa.audit(PAGES).report(folder / "report.html"),
    "saved audit": lambda folder: wa.audit(PAGES).save(folder / "kept"),
    "workbook": lambda folder: wa.audit(PAGES).to_excel(folder / "audit.xlsx"),
    "images": converted,
    **{kind: lambda folder, kind=kind: write_frame(PAGES, folder / f"a.{kind}") for kind in FORMATS},
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_file_obeys_the_umask(tmp_path: Path, allowed: int, name: str) -> None:
    WRITERS[name](tmp_path)
    assert modes(tmp_path) == {allowed}


@pytest.mark.parametrize("name", ["report", "workbook", "csv", "parquet"])
def test_a_private_file_stays_private_when_it_is_written_again(tmp_path: Path, name: str) -> None:
    WRITERS[name](tmp_path)
    (path,) = tmp_path.iterdir()
    path.chmod(0o600)
    WRITERS[name](tmp_path)
    assert modes(tmp_path) == {0o600}


def test_what_was_there_never_makes_it_wider(tmp_path: Path, allowed: int) -> None:
    path = tmp_path / "wide"
    path.touch()
    path.chmod(0o777)
    with written_whole(path) as temporary:
        temporary.write_text("new")
    assert modes(tmp_path) == {allowed}
    assert path.read_text() == "new"


def test_a_link_that_was_there_says_nothing(tmp_path: Path, allowed: int) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with written_whole(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert modes(tmp_path) == {allowed}
