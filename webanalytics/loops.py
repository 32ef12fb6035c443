"""The one place that makes event loops: uvloop's where it is installed, else those of asyncio."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from importlib import import_module, util
from typing import Any, TypeVar

T = TypeVar("T")
VARIABLE = "WEBANALYTICS_LOOP"  # environment variable: "asyncio" keeps to Python's own loop


def factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return what makes a loop."""
    asked = os.environ.get(VARIABLE) != "asyncio" and util.find_spec("uvloop")
    return import_module("uvloop").new_event_loop if asked else asyncio.new_event_loop


def run(main: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns on a new loop; see `asyncio.run`."""
    with asyncio.Runner(loop_factory=factory()) as runner:
        return runner.run(main)
