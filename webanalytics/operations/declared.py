"""The register of operations: anything that lists operations reads it on use, never at import."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from webanalytics.operations.model import Operation

OPERATIONS: dict[str, Operation] = {}
"""The operations that users and services have, by name."""

DECLARED: dict[str, Operation] = {}
"""All operations by name, including those that no service offers."""


def declare(*operations: Operation) -> None:
    """Add operations permanently; those without a path are for the package itself."""
    for operation in operations:
        DECLARED[operation.name] = operation
        if operation.path:
            OPERATIONS[operation.name] = operation


@contextmanager
def register(operation: Operation) -> Iterator[Operation]:
    """Add an operation for the duration of the context, with its function, command, route and documentation.

    Raises
    ------
    ValueError
        Where its name, its path or the name of its function is taken.
    """
    for known in DECLARED.values():
        taken = {known.name, known.function} & {operation.name, operation.function}
        if taken or known.path == operation.path:
            raise ValueError(f"there is an operation {known.name} already")
    declare(operation)
    try:
        yield operation
    finally:
        DECLARED.pop(operation.name, None)
        OPERATIONS.pop(operation.name, None)


def by_function(name: str) -> Operation | None:
    """Return the operation whose Python function, or which itself, has a name.

    Examples
    --------
    >>> from webanalytics.operations import by_function
    >>> by_function("phones").name, by_function("phone").name, by_function("nonsense")
    ('phone', 'phone', None)
    """
    return OPERATIONS.get(name) or next((item for item in OPERATIONS.values() if item.function == name), None)
