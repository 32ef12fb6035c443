"""The call that a checkpoint belongs to: described in its manifest, and compared when it is reopened."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from webanalytics.core.operations.secret import Secret
from webanalytics.errors import ParameterError
from webanalytics.runs.backends.base import RunSpec
from webanalytics.runs.storage.store import refusal

_SCRYPT = {"n": 2**14, "r": 8, "p": 1}


def wrong(what: str) -> ParameterError:
    """Return the error about a folder that cannot be this call's checkpoint."""
    return refusal("store", what)


def _fingerprint(secret: Secret, salt: str) -> str:
    """Return what distinguishes a secret from others, and is slow to guess it from (RFC 7914)."""
    made = hashlib.scrypt(secret.reveal(), salt=bytes.fromhex(salt), **_SCRYPT)
    return str(made.hex())


def _value(value: Any, salt: str) -> Any:
    return {"scrypt": _fingerprint(value, salt)} if isinstance(value, Secret) else value


def described(spec: RunSpec, family: str, extra: Mapping[str, Any], salt: str) -> dict[str, Any]:
    """Return a call in JSON values; a secret is in it only as its fingerprint."""
    return {
        "operation": "audit" if len(spec.operations) > 1 else spec.operations[0],
        "backend": family,
        "parameters": {
            operation: {name: _value(value, salt) for name, value in spec.settings.get(operation, {}).items()}
            for operation in spec.operations
        },
        "extra": dict(extra),
    }


def compare(known: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Raise `ParameterError` if a checkpoint was made by another call, naming what differs."""
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
