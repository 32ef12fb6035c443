"""Calls that did not come to their end, so that the same call again is known to the server as the same.

A hosted API keeps answers under the Idempotency-Keys of requests, and those are made from a run's identity.
The same call, made again in the same process, takes the identity of the one that was broken off: what was
answered or under way then is answered once more, and not paid for twice.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from typing import Any

from webanalytics.backends.base import Job, Task, digest
from webanalytics.operations.secret import Secret

REMEMBERED_SECONDS = 3600.0
"""How long a broken-off call is remembered; pages may have changed after that."""
MOST = 20
"""How many of them are remembered."""

_SALT = os.urandom(32)
_broken_off: dict[bytes, tuple[str, float]] = {}


def _print(task: Task, backend: str, jobs: Sequence[Job]) -> bytes:
    """Return what tells a call from another one, and nothing of what was in it."""
    made = hashlib.blake2b(key=_SALT)
    made.update(backend.encode())
    for operation in task.operations:
        settings = task.settings.get(operation.name, {})
        made.update(
            repr((operation.name, [(key, _plain(value)) for key, value in settings.items()])).encode()
        )
    for job in jobs:
        made.update(digest(job.subject).encode())
    return made.digest()


def _plain(value: Any) -> Any:
    return value.reveal() if isinstance(value, Secret) else value


def remember(task: Task, backend: str, jobs: Sequence[Job]) -> None:
    """Remember a call that was broken off."""
    while len(_broken_off) >= MOST:
        del _broken_off[next(iter(_broken_off))]
    _broken_off[_print(task, backend, jobs)] = (task.identity, time.monotonic())


def identity_of(task: Task, backend: str, jobs: Sequence[Job]) -> str:
    """Return the identity for a call: that of the same call where one was broken off, else its own."""
    if not _broken_off:
        return task.identity
    identity, since = _broken_off.pop(_print(task, backend, jobs), (task.identity, 0.0))
    return identity if time.monotonic() - since < REMEMBERED_SECONDS else task.identity
