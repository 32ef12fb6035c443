"""The finished rows of calls that did not come to their end: kept at once, made into a frame when asked for.

A call's rows are known here from its beginning, so that nothing has to be done, and nothing can fail, in the
moment in which it is interrupted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class Partial:
    """The rows that a call has finished; calling it returns their frame.

    Parameters
    ----------
    make : callable
        Makes the frame, which may take seconds.
    count : callable
        Returns how many rows it will have from how many inputs are finished.
    """

    def __init__(self, make: Callable[[], Any], count: Callable[[], int]) -> None:
        self._make: Callable[[], Any] | None = make
        self._count: Callable[[], int] | None = count
        self._rows = 0
        self._frame: Any = None
        self._making = threading.RLock()
        self.is_over: Callable[[], bool] = lambda: False

    @property
    def rows(self) -> int:
        """How many inputs are finished, without making the frame."""
        count = self._count
        return self._rows if count is None else count()

    def __call__(self) -> Any:
        """Return the frame or audit; an interrupt while it is made leaves everything as it was."""
        with self._making:
            if self._frame is None:
                assert self._make is not None  # noqa: S101
                frame, rows = self._make(), self.rows
                self._frame, self._rows = frame, rows
                self._make = self._count = None  # the answers are in the frame now
            return self._frame


_known: list[Partial] = []
_changing = threading.Lock()


def begin(partial: Partial) -> None:
    """Know the rows of a call that begins."""
    with _changing:
        _known.append(partial)


def forget(partial: Partial | None) -> None:
    """Forget the rows of a call that came to its end."""
    with _changing:
        if partial in _known:
            _known.remove(partial)


def keep(partial: Partial) -> None:
    """Keep the rows of a call that did not come to its end, in the place of earlier ones."""
    partial.is_over = _yes
    with _changing:
        going = [other for other in _known if other is not partial and not other.is_over()]
        _known[:] = [partial, *going]


def _yes() -> bool:
    return True


def last_partial() -> Any:
    """Return the finished rows of the last interrupted run, None before the first.

    Returns
    -------
    pandas.DataFrame, Audit or None
        What the run would have returned, without the rows that were not finished. It is made when it is first
        asked for.
    """
    found = next((partial for partial in reversed(_known) if partial.is_over()), None)
    return None if found is None else found()
