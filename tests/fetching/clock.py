"""An event loop whose clock jumps to the next timer: hours of waiting pass at once, and in order."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Jumping(selectors.SelectSelector):
    """Waits for nothing: it lets the clock jump by the time it should have waited."""

    loop: JumpingLoop

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if not found and timeout:
            self.loop.now += timeout
        return found


class JumpingLoop(asyncio.SelectorEventLoop):
    """A loop for coroutines that only wait; sockets and threads would be given no time."""

    def __init__(self) -> None:
        self.now = 1000.0
        selector = _Jumping()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine by a clock that jumps."""
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(main)
