"""What a running call shows and leaves: its progress, and the finished rows of an interrupted one."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pandas as pd

from webanalytics.errors import AuditInterrupted

REDRAW_SECONDS = 0.05
"""Shortest time between two changes of a progress bar."""

_last_partial: pd.DataFrame | None = None


def last_partial() -> pd.DataFrame | None:
    """Return the finished rows of the last interrupted run, None where there was none.

    Returns
    -------
    pandas.DataFrame or None
        The frame the run would have returned, without the rows that were not finished.
    """
    return _last_partial


def keep_partial(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the finished rows of a call that did not come to its end, and return them."""
    global _last_partial
    _last_partial = frame
    return frame


class Run:
    """What a running call shares with whoever waits for it."""

    def __init__(self) -> None:
        self.emit: Callable[[Callable[[], None]], None] = lambda event: event()
        self.partial: Callable[[], pd.DataFrame] | None = None
        self.total: int | None = None
        self._showing = False
        self._unseen = 0
        self._seen_at = 0.0
        self._bar: Any = None

    def start(
        self, total: int, partial: Callable[[], pd.DataFrame], name: str, wanted: bool | None, done: int = 0
    ) -> None:
        """Say how much there is to do, how much of it is done, and where the finished rows are."""
        self.total, self.partial = total, partial
        self._showing = total > 1 and bar_wanted(wanted)
        if self._showing:
            self.emit(lambda: self._open(total, name, done))

    def note(self, text: str) -> None:
        """Show a few words beside the bar."""
        if self._showing:
            self.emit(lambda: self._note(text))

    def step(self, count: int = 1) -> None:
        """Say that more inputs have their answers."""
        if not self._showing:
            return
        self._unseen += count
        now = time.monotonic()
        if now - self._seen_at >= REDRAW_SECONDS:
            count, self._unseen, self._seen_at = self._unseen, 0, now
            self.emit(lambda: self._update(count))

    def _open(self, total: int, name: str, done: int) -> None:
        self._bar = progress_bar(total, name, done)

    def _note(self, text: str) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(text)

    def _update(self, count: int) -> None:
        if self._bar is not None:
            self._bar.update(count)

    def close(self) -> None:
        """Take the progress bar away."""
        if self._bar is not None:
            self._bar.update(self._unseen)
            self._bar.close()
            self._bar = None

    def interrupted(self) -> AuditInterrupted | None:
        """Return the exception that carries the finished rows, None before there were any inputs."""
        return None if self.partial is None else AuditInterrupted(keep_partial(self.partial()), self.total)


current_run: ContextVar[Run | None] = ContextVar("webanalytics_run", default=None)


def in_notebook() -> bool:
    """Tell whether a notebook kernel runs this process."""
    shell = sys.modules.get("IPython")
    ipython = shell.get_ipython() if shell is not None else None
    return ipython is not None and hasattr(ipython, "kernel")


def bar_wanted(wanted: bool | None) -> bool:
    """Tell whether to draw a bar; left open, only where somebody would see it."""
    return wanted if wanted is not None else in_notebook() or sys.stderr.isatty()


def progress_bar(total: int, name: str, done: int = 0) -> Any:
    """Return a bar: a widget in notebooks, text on standard error elsewhere."""
    if in_notebook():
        from tqdm.auto import tqdm
    else:
        from tqdm import tqdm
    return tqdm(
        total=total, initial=done, desc=name, leave=False, unit="row", mininterval=0.1, dynamic_ncols=True
    )
