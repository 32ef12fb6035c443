"""A browser that dies takes one test with it, not those after it."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.notebook.browser.conftest import Browsers


def test_a_dead_browser_is_replaced(browsers: Browsers) -> None:
    before = browsers.working()
    assert browsers.working() is before, "one that works is kept"
    children = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True)
    listed = [line.split(None, 2) for line in children.stdout.splitlines()]
    parents = {int(pid): int(parent) for pid, parent, *_ in listed}
    mine = []
    for pid, _, arguments in listed:
        place = int(pid)
        while place in parents and place != os.getpid():
            place = parents[place]
        if place == os.getpid() and "chrom" in arguments and "--type=" not in arguments:
            mine.append(int(pid))
    assert mine
    for pid in mine:
        with suppress(ProcessLookupError):  # one may have gone with another
            os.kill(pid, signal.SIGKILL)
    after = browsers.working()
    assert after is not before
    page = after.new_page()
    page.set_content("<title>Tea</title>")
    assert page.title() == "Tea"
    with pytest.raises(Exception, match="closed"):
        before.new_page()
