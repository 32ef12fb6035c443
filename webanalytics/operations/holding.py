"""Whether a value is one that a field is declared to hold: answers and checkpoints may come from anybody."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, get_args, get_origin

from typing_extensions import get_type_hints, is_typeddict

DEEPEST = 250
"""Levels of lists and objects in an answer; pages are never read as deep."""

Test = Callable[[Any], bool]


def is_deep(value: Any) -> bool:
    """Tell whether lists and objects lie more than `DEEPEST` levels deep in a value.

    Examples
    --------
    >>> is_deep({"a": [[1]]})
    False
    """
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        inner = (item.values() if isinstance(item, dict) else item for item in level)
        level = [found for items in inner for found in items if isinstance(found, (dict, list))]
        depth += 1
    return bool(level)


@cache
def holder(annotation: Any) -> Test:
    """Return what tells of a value whether it is of a type; None and left-out keys always are.

    Examples
    --------
    >>> holder(list[dict[str, str]])([{"a": "b"}]), holder(int)("7"), holder(int)(2**70)
    (True, False, False)
    """
    exact = _exact(annotation)
    return lambda value: value is None or exact(value)


def _exact(annotation: Any) -> Test:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is UnionType:
        tests = [_exact(part) for part in inner if part is not type(None)]
        return lambda value: any(test(value) for test in tests)
    if origin is Literal:
        return _exact(type(inner[0]))
    if origin is list:
        test = holder(inner[0])
        return lambda value: isinstance(value, (list, tuple)) and all(map(test, value))
    if origin is dict:
        test = holder(inner[1])
        return lambda value: isinstance(value, dict) and all(map(test, value.values()))
    if is_typeddict(annotation):
        return _object({name: holder(part) for name, part in get_type_hints(annotation).items()})
    if annotation is int:
        return _is_integer
    if annotation is float:
        return lambda value: type(value) is float or _is_integer(value)
    if annotation in (str, bool, bytes):
        return lambda value: isinstance(value, annotation)
    return lambda value: True  # noqa: ARG005 - the same form as the others


def _object(tests: Mapping[str, Test]) -> Test:
    return lambda value: (
        isinstance(value, dict) and all(test(value.get(name)) for name, test in tests.items())
    )


def _is_integer(value: Any) -> bool:
    return type(value) is int and -(2**63) <= value < 2**63
