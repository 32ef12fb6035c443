"""Fixtures shared by all tests."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The same examples in every run of CI; elsewhere new ones are looked for.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture(scope="session")
def corpus_folder() -> Path:
    """Folder of the saved pages with their reference answers."""
    folder = os.environ.get("WEBANALYTICS_CORPUS")
    if not folder:
        pytest.skip("WEBANALYTICS_CORPUS names no folder: the corpus of saved pages is not here")
    return Path(folder)


@pytest.fixture(scope="session")
def corpus_pages(corpus_folder: Path) -> dict[str, bytes]:
    """Saved pages, name to bytes, in the order of the archive."""
    with zipfile.ZipFile(corpus_folder / "pages.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="session")
def corpus_segments(corpus_folder: Path) -> dict[str, dict[str, Any]]:
    """For each page the strings its main text must and must not hold."""
    return json.loads((corpus_folder / "text_segments.json").read_text("utf-8"))


@pytest.fixture(scope="session")
def corpus_metadata(corpus_folder: Path) -> dict[str, dict[str, Any]]:
    """For each page what another extractor read from it."""
    lines = (corpus_folder / "metadata_reference.jsonl").read_text("utf-8").splitlines()
    return {row["name"]: row["metadata"] for row in map(json.loads, lines)}
