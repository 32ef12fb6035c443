"""Interrupted calls on a priced backend: the same call, made again in this process, is not paid for twice.

A hosted API keeps answers under the Idempotency-Keys of requests, and those are made from a run's identity.
`runs.run` gives a call the identity of an equal one that was interrupted, so that what was answered or under
way then is answered again for nothing. With a checkpoint, the folder holds the identity.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from typing import Any

from webanalytics.core.operations.secret import Secret
from webanalytics.core.outcomes import Job, digest
from webanalytics.runs.backends.base import RunSpec

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
        settings = spec.settings.get(name, {})
        made.update(repr((name, [(key, _plain(value)) for key, value in settings.items()])).encode())
    for job in jobs:
        made.update(digest(job.subject).encode())
    return made.digest()


def _plain(value: Any) -> Any:
    return value.reveal() if isinstance(value, Secret) else value


def remember(spec: RunSpec, backend: str, jobs: Sequence[Job]) -> None:
    """Remember an interrupted call."""
    while len(_interrupted) >= MOST:
        del _interrupted[next(iter(_interrupted))]
    _interrupted[_fingerprint(spec, backend, jobs)] = (spec.identity, time.monotonic())


def any_interrupted() -> bool:
    """Return whether a call is remembered."""
    return bool(_interrupted)


def identity_of(spec: RunSpec, backend: str, jobs: Sequence[Job]) -> str:
    """Return the identity for a call: that of an equal interrupted one, else its own."""
    if not _interrupted:
        return spec.identity
    identity, since = _interrupted.pop(_fingerprint(spec, backend, jobs), (spec.identity, 0.0))
    return identity if time.monotonic() - since < REMEMBERED_SECONDS else spec.identity
