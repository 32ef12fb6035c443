"""The envelope that every answer is in."""

from __future__ import annotations

from typing import Any

from webanalytics.operations import Operation
from webanalytics.service.results import Result

CODE_FIELD = "code"

_visible: dict[tuple[str, bool], tuple[str, ...]] = {}


def visible_fields(operation: Operation, premium: bool) -> tuple[str, ...]:
    """Return the fields that a plan sees of an operation, in order.

    Examples
    --------
    >>> from webanalytics.operations import OPERATIONS
    >>> visible_fields(OPERATIONS["dane"], premium=False)
    ('raw_record', 'parsed', 'validation')
    """
    names = _visible.get((operation.name, premium))
    if names is None:
        fields = (field for field in operation.fields if not field.extra and (premium or not field.premium))
        names = tuple(field.name for field in fields if not field.path)
        _visible[operation.name, premium] = names
    return names


def failure(sentence: str) -> dict[str, Any]:
    """Return the envelope of a failure."""
    return {"status": "error", "error": sentence, "data": None}


def refusal(operation: Operation | None, status: int, sentence: str) -> dict[str, Any]:
    """Return the envelope of a call, if it is one, that ended before any work."""
    answer = failure(sentence)
    if operation is not None and operation.kind == "image":
        answer[CODE_FIELD] = status
    return answer


def success(data: Any) -> dict[str, Any]:
    """Return the envelope of a success."""
    return {"status": "ok", "error": None, "data": data}


def envelope(operation: Operation, result: Result, *, premium: bool) -> dict[str, Any]:
    """Return the envelope of one result, with the fields that the plan includes and no others."""
    if not result.ok or result.data is None:
        return refusal(operation, result.status, result.error or "The service failed.")
    data = result.data
    answer = success({name: data[name] for name in visible_fields(operation, premium) if name in data})
    if operation.kind == "image":
        answer[CODE_FIELD] = result.status
    return answer
