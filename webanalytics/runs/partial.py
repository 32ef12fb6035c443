"""The finished rows of calls that did not come to their end: kept at once, made into a frame when asked for.

A call's rows are known here from its beginning, so that nothing has to be done, and nothing can fail, in the
moment in which it is interrupted.

An interrupted call on a priced backend is not paid for twice when it is made again in this process: a
hosted API keeps answers under the Idempotency-Keys of requests, and those are made from a run's identity,
which `runs.run` takes from an equal call that was interrupted. With a checkpoint, the folder holds the
identity.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from webanalytics.core.operations.secret import Secret
from webanalytics.core.outcomes import Job, digest

if TYPE_CHECKING:
    from webanalytics.runs.backends.base import RunSpec


class Partial:
    """The rows that a call has finished; calling it returns their frame."""

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


def forget(partial: Partial | None, *, refused: bool = False) -> None:
    """Forget the rows of a call that came to its end, and let go of what made them, which knows them too."""
    with _changing:
        if partial in _known:
            _known.remove(partial)
    if partial is not None and not refused:  # else somebody may ask for them yet
        partial._make = partial._count = None


def keep(partial: Partial) -> None:
    """Keep the rows of a call that did not come to its end, in the place of earlier ones."""
    partial.is_over = lambda: True
    with _changing:
        going = [other for other in _known if other is not partial and not other.is_over()]
        _known[:] = [partial, *going]


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


REMEMBERED_SECONDS = 3600.0
"""How long an interrupted call is remembered; after that, pages may have changed."""
MOST = 20
"""How many of them are remembered."""

_SALT = os.urandom(32)
_interrupted: dict[bytes, tuple[str, float]] = {}


def _fingerprint(spec: RunSpec, backend: str, jobs: Sequence[Job]) -> bytes:
    """Return what distinguishes a call from others, without any of its content."""
    made = hashlib.blake2b(key=_SALT)
    made.update(backend.encode())
    for name in spec.operations:
        settings = spec.settings.get(name, {}).items()
        plain = [(key, value.reveal() if isinstance(value, Secret) else value) for key, value in settings]
        made.update(repr((name, plain)).encode())
    for job in jobs:
        made.update(digest(job.subject).encode())
    return made.digest()


def remember(spec: RunSpec, backend: str, jobs: Sequence[Job]) -> None:
    """Remember an interrupted call."""
    while len(_interrupted) >= MOST:
        del _interrupted[next(iter(_interrupted))]
    _interrupted[_fingerprint(spec, backend, jobs)] = (spec.identity, time.monotonic())


def identity_of(spec: RunSpec, backend: str, jobs: Sequence[Job]) -> str:
    """Return the identity for a call: that of an equal interrupted one, else its own."""
    if not _interrupted:
        return spec.identity
    identity, since = _interrupted.pop(_fingerprint(spec, backend, jobs), (spec.identity, 0.0))
    return identity if time.monotonic() - since < REMEMBERED_SECONDS else spec.identity
