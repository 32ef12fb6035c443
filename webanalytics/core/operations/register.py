"""The register of operations: anything that lists operations reads it on use, never at import.

Those of other packages are then there too: see `webanalytics.core.plugins`.
"""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from webanalytics.core import plugins
from webanalytics.core.operations.model import Operation

TAKEN = frozenset(("demo", "docs", "downloads", "graphql", "keys", "plot", "serve", "site"))
"""Names of commands, paths and accessors that are no operations."""


def _take(name: str, operation: Any) -> None:
    """Add the operation that another package declares under a name."""
    if not isinstance(operation, Operation):
        raise ValueError(f"it is no Operation but a {type(operation).__name__}.")
    for what, text in (("entry point", name), ("function", operation.function), ("path", operation.path)):
        if not re.fullmatch("[a-z][a-z0-9_]*", text) or keyword.iskeyword(text):
            raise ValueError(f"its {what} must be a word of small letters, digits and underscores.")
    if operation.name != name:
        raise ValueError(f"its operation is called {operation.name!r}, and both names must be the same.")
    if operation.audited:
        raise ValueError("its operation must not be `audited`: the columns of audits are this package's.")
    _refuse_taken(operation)
    declare(operation)


_PLUGINS = plugins.Plugins(plugins.OPERATIONS, _take)

OPERATIONS: plugins.Register[Operation] = plugins.Register(_PLUGINS)
"""The operations that users and services have, by name."""

DECLARED: plugins.Register[Operation] = plugins.Register(_PLUGINS)
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
    _refuse_taken(operation)
    declare(operation)
    try:
        yield operation
    finally:
        DECLARED.pop(operation.name, None)
        OPERATIONS.pop(operation.name, None)


def _refuse_taken(operation: Operation) -> None:
    for known in DECLARED.values():
        taken = {known.name, known.function} & {operation.name, operation.function}
        if taken or known.path == operation.path:
            raise ValueError(f"there is an operation {known.name} already.")
    others = {*TAKEN, *sys.modules["webanalytics"].__all__}
    for name in (operation.name, operation.function, operation.path):
        if name in others or find_spec(f"webanalytics.{name}"):
            raise ValueError(f"the name {name} is taken.")


def by_function(name: str) -> Operation | None:
    """Return the operation whose Python function, or which itself, has a name.

    Examples
    --------
    >>> from webanalytics.operations import by_function
    >>> by_function("phones").name, by_function("phone").name, by_function("nonsense")
    ('phone', 'phone', None)
    """
    return OPERATIONS.get(name) or next((item for item in OPERATIONS.values() if item.function == name), None)
