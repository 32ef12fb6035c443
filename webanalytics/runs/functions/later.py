"""Shared by generated functions, and the functions of operations that are registered at run time."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any

from webanalytics.core.strings import did_you_mean
from webanalytics.errors import ParameterError
from webanalytics.operations import OPERATIONS, Operation
from webanalytics.runs.boundary import awaited
from webanalytics.runs.loop_thread import plain


def secret_setting(operation: Operation, keyword: str, value: Any) -> Any:
    """Return a checked secret, which no traceback shows."""
    if not value:
        raise ParameterError(f"The `{keyword}` parameter is required.", keyword)
    return operation.parameter(keyword).check(value, keyword)


def later_names(known: Collection[str]) -> list[str]:
    """Return the names of the functions of operations that were registered after the known ones."""
    return [item.function for item in OPERATIONS.values() if item.function not in known]


def later_function(module: str, name: str, *, blocking: bool = False) -> Callable[..., Any]:
    """Return the function of an operation that was registered at run time, for a module's `__getattr__`."""
    operation = next((item for item in OPERATIONS.values() if item.function == name), None)
    if operation is None:
        known = [item.function for item in OPERATIONS.values()]
        hint = "" if name.startswith("_") else did_you_mean(name, known)
        raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}")
    from webanalytics.runs.functions.source import module_source

    function = _compiled(module_source([operation]), name)
    return plain(function) if blocking else awaited(function)


@lru_cache(maxsize=64)
def _compiled(source: str, name: str) -> Callable[..., Any]:
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(source, f"<function {name}>", "exec"), namespace)  # noqa: S102 - made from our own declaration
    function: Callable[..., Any] = namespace[name]
    return function
