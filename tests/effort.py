"""Time in tests that must not fail because the machine is busy.

Effort is processor time, corrected for how slow this machine is right now: other processes share caches and
cores, so a fixed piece of work is timed beside the measured one. Waits are bounded by `BUSY_SECONDS`: what is
right takes a fraction of it anywhere, and what is wrong would wait for a minute or for ever.
"""

from __future__ import annotations

import sys
import time
from typing import Any

BUSY_SECONDS = 25.0
PROCESS_SECONDS = 300.0
"""The same for a process that starts Python and does its work: seconds of a processor, of which it may get few."""
NOTEBOOK_SECONDS = {name: int(PROCESS_SECONDS) for name in ("timeout", "startup_timeout")}
"""The same for a cell of a notebook, and for its kernel until it answers."""
QUIET_REFERENCE_SECONDS = 0.01
"""Processor time of `_reference` on a quiet machine."""


class Steps:
    """Counts the function calls of a block: a measure of work that a busy machine does not change."""

    count = 0

    def __enter__(self) -> Steps:
        sys.setprofile(self._add)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _add(self, _frame: Any, event: str, _argument: Any) -> None:
        self.count += event in ("call", "c_call")


def effort_since(start: float) -> float:
    """Seconds of a quiet machine's processor since ``start``, a value of `time.process_time`."""
    return (time.process_time() - start) / slowdown()


def slowdown() -> float:
    """How many times longer this machine's processor takes now than on a quiet day; at least 1."""
    return max(1.0, _reference() / QUIET_REFERENCE_SECONDS)


def _reference() -> float:
    best = 0.0
    for _ in range(3):
        start = time.process_time()
        sum(number * number % 7 for number in range(250_000))
        best = max(best, time.process_time() - start)
    return best
