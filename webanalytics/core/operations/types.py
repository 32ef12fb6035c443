"""The types of declarations: the only reader of annotations.

Everything else that depends on a type asks this module: dtypes of columns, values of query strings, flags of
the command line, GraphQL and Arrow types, and checks of values that come from elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

DEEPEST = 250
"""Most levels of lists and objects in an answer; pages are never read as deep."""

Kind = Literal["string", "integer", "number", "boolean", "bytes", "list", "map", "object", "json"]
Test = Callable[[Any], bool]

_SCALARS: dict[Any, Kind] = {str: "string", int: "integer", float: "number", bool: "boolean", bytes: "bytes"}


@dataclass(frozen=True)
class Shape:
    """A parsed type: its kind of value and its parts."""

    kind: Kind  # ``json`` is any value; ``map`` has keys of its own, ``object`` those of `members`
    nullable: bool = False  # whether the value may be None
    choices: tuple[Any, ...] = ()  # the values of a closed set, in order
    items: Shape | None = None  # elements of a list, or values of a map
    # members of an object by name, with whether each is required
    members: Mapping[str, tuple[Shape, bool]] | None = None
    # more than one where values of several kinds are allowed; `kind` is then ``json``
    alternatives: tuple[Shape, ...] = ()
    name: str = ""  # name of an object's type
    meaning: str = ""  # first line of its docstring

    def __hash__(self) -> int:
        return hash((self.kind, self.nullable, self.choices, self.name))


@cache
def shape_of(annotation: Any) -> Shape:
    """Return the shape of an annotation."""
    origin: Any = get_origin(annotation)
    inner = get_args(annotation)
    if origin in (UnionType, Union):
        return _union(inner)
    if origin in (Required, NotRequired, Annotated):
        return shape_of(inner[0])
    if origin is Literal:
        return Shape(_SCALARS[type(inner[0])], choices=inner)
    if origin is list:
        return Shape("list", items=shape_of(inner[0]))
    if origin is dict:
        return Shape("map" if inner[1] is not Any else "json", items=shape_of(inner[1]))
    if hasattr(annotation, "__required_keys__"):  # a TypedDict of typing or of typing_extensions
        return _object(annotation)
    return Shape(_SCALARS.get(annotation, "json"))


def _union(parts: tuple[Any, ...]) -> Shape:
    found = [shape_of(part) for part in parts if part is not type(None)]
    nullable = len(found) < len(parts)
    if len(found) > 1:
        return Shape("json", nullable, alternatives=tuple(found))
    (only,) = found
    return Shape(**{**only.__dict__, "nullable": nullable})


def _object(annotation: Any) -> Shape:
    hints = get_type_hints(annotation, include_extras=True)
    members = {
        name: (shape_of(hint), name in annotation.__required_keys__ and not _is_left_out(hint))
        for name, hint in hints.items()
    }
    meaning = (annotation.__doc__ or "").partition("\n")[0]
    return Shape("object", members=members, name=annotation.__name__, meaning=meaning)


def _is_left_out(hint: Any) -> bool:
    origin: Any = get_origin(hint)
    return origin is NotRequired


def is_deep(value: Any, levels: int = DEEPEST) -> bool:
    """Return whether lists and objects are nested more than so many levels below a value.

    >>> is_deep({"a": [[1]]}), is_deep({"a": [[1]]}, 1)
    (False, True)
    """
    level, depth = [value], 0
    while level and depth <= levels:
        inner = (item.values() if isinstance(item, dict) else item for item in level)
        level = [found for items in inner for found in items if isinstance(found, (dict, list))]
        depth += 1
    return bool(level)


@cache
def holder(annotation: Any) -> Test:
    """Return a check for values of a type; None and missing keys always pass.

    >>> holder(list[dict[str, str]])([{"a": "b"}]), holder(int)("7"), holder(int)(2**70)
    (True, False, False)
    """
    return _test(shape_of(annotation))


@cache
def strict(annotation: Any, low: float | None = None, high: float | None = None) -> Test:
    """Return a check for what a call gives: None only where the type says so, numbers within bounds."""
    return _strict(shape_of(annotation), low, high)


def _strict(shape: Shape, low: float | None = None, high: float | None = None) -> Test:
    tests = [_strict(part, low, high) for part in shape.alternatives] or [_one(shape, low, high)]
    return lambda value: shape.nullable if value is None else any(test(value) for test in tests)


def _one(shape: Shape, low: float | None, high: float | None) -> Test:
    if shape.choices:
        return lambda value: any(isinstance(value, type(item)) and value == item for item in shape.choices)
    if shape.kind == "list" and shape.items is not None:
        test = _strict(shape.items)
        return lambda value: isinstance(value, list) and all(map(test, value))
    exact = _exact(shape)
    if low is None or high is None or shape.kind not in ("integer", "number"):
        return exact
    return lambda value: exact(value) and low <= value <= high


def _test(shape: Shape) -> Test:
    exact = _exact(shape)
    return lambda value: value is None or exact(value)


def _exact(shape: Shape) -> Test:
    if shape.alternatives:
        tests = [_exact(part) for part in shape.alternatives]
        return lambda value: any(test(value) for test in tests)
    if shape.kind == "object" and shape.members is not None:
        members = {name: _test(member) for name, (member, _) in shape.members.items()}
        return lambda value: (
            isinstance(value, dict) and all(test(value.get(name)) for name, test in members.items())
        )
    if shape.items is not None:
        test = _test(shape.items)
        if shape.kind == "list":
            return lambda value: isinstance(value, (list, tuple)) and all(map(test, value))
        return lambda value: isinstance(value, dict) and all(map(test, value.values()))
    return _SCALAR_TESTS.get(shape.kind, lambda value: True)  # noqa: ARG005 - the same form as the others


def _is_integer(value: Any) -> bool:
    return type(value) is int and -(2**63) <= value < 2**63


_SCALAR_TESTS: dict[Kind, Test] = {
    "integer": _is_integer,
    "number": lambda value: type(value) is float or _is_integer(value),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "bytes": lambda value: isinstance(value, bytes),
}
