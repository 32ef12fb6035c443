"""What call a checkpoint belongs to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from webanalytics.backends.base import Task
from webanalytics.checkpoints.files import wrong
from webanalytics.operations.secret import Secret

_SCRYPT = {"n": 2**14, "r": 8, "p": 1}


def _fingerprint(secret: Secret, salt: str) -> str:
    """Return what tells a secret from another, and is slow to guess it from (RFC 7914)."""
    made = hashlib.scrypt(secret.reveal(), salt=bytes.fromhex(salt), **_SCRYPT)
    return str(made.hex())


def _value(value: Any, salt: str) -> Any:
    return {"scrypt": _fingerprint(value, salt)} if isinstance(value, Secret) else value


def described(task: Task, backend: str, extra: Mapping[str, Any], salt: str) -> dict[str, Any]:
    """Return a call in JSON values; a secret is in it only as what tells it from another."""
    return {
        "operation": "audit" if len(task.operations) > 1 else task.operations[0].name,
        "backend": backend,
        "parameters": {
            operation.name: {
                name: _value(value, salt) for name, value in task.settings.get(operation.name, {}).items()
            }
            for operation in task.operations
        },
        "extra": dict(extra),
    }


def compare(known: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Raise `ParameterError` where a checkpoint was made by another call, naming what differs."""
    for what in ("operation", "backend"):
        if known.get(what) != asked[what]:
            raise wrong(f"of this same call: it was made with the {what} {str(known.get(what))[:200]!r}, "
                         f"and this call has {asked[what]!r}")  # fmt: skip
    for part in ("parameters", "extra"):
        if known.get(part) != asked[part]:
            raise wrong(f"of this same call: {', '.join(_differing(known.get(part), asked[part]))} had "
                         "another value")  # fmt: skip


def _differing(known: Any, asked: Mapping[str, Any]) -> list[str]:
    """Return the names of the parameters that differ, never their values: one may be secret."""
    if not isinstance(known, Mapping):
        return ["every parameter"]
    names = []
    for name, value in asked.items():
        inner = isinstance(value, Mapping) and "scrypt" not in value
        if known.get(name) != value:
            names.extend(_differing(known.get(name), value) if inner else [f"`{name}`"])
    return names or ["a parameter"]
