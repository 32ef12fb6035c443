"""Bounds on one piece of work in tests: so many steps of Python and so many bytes, on any machine."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class TooManySteps(AssertionError):  # noqa: N818 - a finding of a test
    """The work goes on beyond its limit, and is ended."""


class TooMuchMemory(AssertionError):  # noqa: N818 - a finding of a test
    """The work held more memory than it may."""


@contextmanager
def limited(steps: int = 2_000_000, memory: int = 50_000_000) -> Iterator[None]:
    """End a block that calls more functions than ``steps``; fail one that holds more bytes than ``memory``."""
    left = steps

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal left
        left -= event in ("call", "c_call")
        if left < 0:
            raise TooManySteps(f"more than {steps:,} calls")

    started = not tracemalloc.is_tracing()
    if started:
        tracemalloc.start()
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)
        _, peak = tracemalloc.get_traced_memory()
        if started:
            tracemalloc.stop()
    if peak - before > memory:
        raise TooMuchMemory(f"{peak - before:,} bytes")
