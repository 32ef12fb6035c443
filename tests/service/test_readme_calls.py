"""The guide's calls, run as they are written."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.service.live import Server
from webanalytics.fetching.testing import SampleSite
from webanalytics.operations import OPERATIONS

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "service.md"
(BLOCK,) = re.findall(r"# call each operation\n(.*?)```", GUIDE.read_text("utf-8"), re.S)
CALLS = BLOCK.splitlines()


def test_the_calls_are_of_different_operations() -> None:
    called = [re.findall(r"/v1/(\w+)", call)[0] for call in CALLS]
    assert len(set(called)) == len(called) >= 8
    assert set(called) <= {operation.path for operation in OPERATIONS.values()}


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("command", CALLS, ids=lambda call: re.findall(r"/v1/(\w+)", call)[0])
def test_each_call_succeeds(server: Server, pro: str, site: SampleSite, command: str) -> None:
    command = command.replace("http://127.0.0.1:8080", server.base).replace("http://127.0.0.1:8000", site.url)
    done = subprocess.run(
        ["bash", "-c", command],
        env={"KEY": pro, "PATH": "/usr/bin:/bin"},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if "format=csv" in command:
        assert done.stdout.startswith("key,value\nstatus,ok\n"), done.stdout
    else:
        assert json.loads(done.stdout)["status"] == "ok", done.stdout
