"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# No test fails because the machine is busy. CI runs the same examples every time; elsewhere new ones are tried, so few
# each time are many in a week.
settings.register_profile("local", deadline=None, max_examples=50)
settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


# What starts hundreds of processes has none compile the modules anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# jsonschema builds 38 grammars for addresses in other scripts when it is loaded, in seconds; no schema here asks for one.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


COLLECTIONS = (20_000, 20, 20)
"""Thresholds of the garbage collector: each full collection goes through all pages that a fixture has parsed."""


def pytest_configure(config: pytest.Config) -> None:
    """Let Ctrl-C arrive: a shell starts background jobs with SIGINT ignored, and children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()  # 17,000 tests come, and none goes


def pytest_collection_finish() -> None:
    """Look for garbage again, and no more among what was collected, which stays to the end."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(*COLLECTIONS)


SLOW = (
    "cli/test_cli.py",
    "audits/moves/test_servers.py",
    "audits/test_cli.py",
    "core/operations/test_toy_operations.py",
    "notebook/charts/test_wide_labels.py",
    "page/test_facts_corpus.py",
    "page/test_independent.py",
    "page/test_main_text.py",
    "page/test_readability.py",
    "page/test_syllables.py",
    "records/hosts/",
    "records/images/test_convert_enormous.py",
    "records/images/test_convert_hostile.py",
    "runs/backends/",
    "runs/hosted/",
    "runs/test_loop_thread.py",
    "runs/test_progress.py",
    "runs/workers/",
    "service/",
    "test_corpus.py",
)
"""What starts servers or processes, reads the whole corpus, or draws by the hundred."""
QUICK = tuple(f"service/test_{name}.py" for name in ("auth", "configuration", "formats", "openapi", "rate"))
"""What of it does so no more than other tests."""


@cache
def _is_slow(path: Path) -> bool:
    here = Path(__file__).parent
    place = path.relative_to(here).as_posix() if path.is_relative_to(here) else ""
    return place.startswith(SLOW) and not place.startswith(QUICK)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave slow files unread in the fast lane, ``-m "not slow and not browser"``."""
    skipped = "not slow" in config.option.markexpr and collection_path.suffix == ".py"
    return True if skipped and _is_slow(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow files, and spread these over the first three quarters of all.

    Most of them wait for servers and processes, while others compute; and what comes last keeps one worker busy
    while others are done.
    """
    files: dict[bool, dict[Path, list[pytest.Item]]] = {True: {}, False: {}}
    for item in items:
        slow = _is_slow(item.path)
        if slow:
            item.add_marker("slow")
        files[slow].setdefault(item.path, []).append(item)
    placed = [
        ((number + 0.5) / len(several) * (0.75 if slow else 1.0), of_file)
        for slow, several in files.items()
        for number, of_file in enumerate(several.values())
    ]
    items[:] = [item for _, of_file in sorted(placed, key=lambda one: one[0]) for item in of_file]


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name bytes by their number: compressed ones hold the time, and parallel runs must agree on ids."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None


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
