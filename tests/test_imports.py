"""What the service and its workers load: nothing that only notebooks need."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.fresh import printed

HEAVY = {"pandas", "matplotlib", "ipywidgets", "IPython", "pyarrow", "polars"}

SERVICE = """
import importlib, pkgutil
import webanalytics.service.app
for name in ("webanalytics.service", "webanalytics.runs.workers"):
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, f"{name}."):
        importlib.import_module(module.name)
"""

WORKER = """
from webanalytics.operations import OPERATIONS
from webanalytics.runs.workers.worker import prepare
prepare(tuple(operation.analysis for operation in OPERATIONS.values()))
"""

FIRST = "import webanalytics"

COMMAND = """
from webanalytics.cli import main
try:
    main(["serve", "--help"])
except SystemExit:
    pass
"""


@pytest.mark.parametrize("code", [FIRST, COMMAND, SERVICE, WORKER])
def test_no_frames_charts_or_widgets_are_loaded(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules, file=sys.stderr)"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    loaded = done.stderr.split()
    assert "webanalytics" in loaded
    assert HEAVY & set(loaded) == set()


def test_workers_load_no_way_to_download() -> None:
    """The package with the model of languages has one, which takes longer to import than all analyses."""
    loaded = printed(f"{WORKER}\nimport sys\nprint(*sys.modules)").split()
    assert "fasttext" in loaded
    assert {"requests", "robust_downloader", "tqdm"} & set(loaded) == set()


LATER = {
    "aiohttp", "anywidget", "dateparser", "fasttext", "htmldate", "icu4py", "ipywidgets", "matplotlib",
    "phonenumbers", "PIL", "polars", "pyphen", "rensa", "rjieba", "selectolax",
}  # fmt: skip


@pytest.mark.parametrize(
    "code",
    [
        "import webanalytics",
        "import webanalytics as wa; wa.audit, wa.Audit, wa.compare",
        "import webanalytics as wa; wa.hmac(['a'], secret='b')",
    ],
)
def test_nothing_is_loaded_before_it_is_needed(code: str) -> None:
    code += f"; import sys; print(*sorted({LATER!r} & set(sys.modules)))"
    assert printed(code).split() == []
