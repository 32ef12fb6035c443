"""The options that a function takes, of those that a test gives to functions of every kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from webanalytics.core.run_options import RECORDS
from webanalytics.runs.boundary import kind_of_options


def served(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments without the options that do nothing for a function."""
    kind = kind_of_options(function)
    return {key: value for key, value in given.items() if key not in RECORDS or kind in RECORDS[key].serves}
