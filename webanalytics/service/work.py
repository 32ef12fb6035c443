"""An operation as the engine does it: what its declaration says, looked up once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from webanalytics.analysis.registry import analysis_function
from webanalytics.operations import Operation
from webanalytics.operations.secret import Secret
from webanalytics.service.results import Result

QUICK_BYTES = 256_000
"""Texts up to this size are handled on the event loop; larger ones in a thread."""


@dataclass(frozen=True)
class Work:
    """One operation as the engine does it: the names of its declaration, looked up once."""

    operation: Operation

    @cached_property
    def function(self) -> Callable[..., dict[str, Any]]:
        """The analysis."""
        return analysis_function(self.operation.name)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The fields of an answer, in order."""
        return tuple(item.name for item in self.operation.fields if not item.extra)

    @cached_property
    def constants(self) -> dict[str, Any]:
        """The parameters that only local calls have, with the values they have here."""
        return {item.keyword: item.service_value for item in self.operation.settings if item.local}

    @cached_property
    def given(self) -> tuple[tuple[str, str], ...]:
        """Name and Python keyword of the parameters that a call has beside its subject."""
        return tuple((item.name, item.keyword) for item in self.operation.settings if not item.local)

    @cached_property
    def premium(self) -> dict[str, Any]:
        """Python keyword to default of the parameters that only take effect on plans that include them."""
        settings = self.operation.settings
        return {item.keyword: item.default for item in settings if item.premium and not item.local}

    def settings(self, parameters: Mapping[str, Any], *, premium: bool = True) -> dict[str, Any]:
        """Return the keyword arguments of the analysis."""
        settings = {**self.constants, **{keyword: parameters[name] for name, keyword in self.given}}
        return settings if premium else {**settings, **self.premium}

    def result(self, answer: Mapping[str, Any]) -> Result:
        """Return a success."""
        return Result(200, {name: answer[name] for name in self.fields})


def is_quick(parameters: Mapping[str, Any]) -> bool:
    """Return whether the values are short enough to be handled on the event loop."""
    size = 0
    for value in parameters.values():
        if isinstance(value, str | bytes):
            size += len(value)
        elif isinstance(value, Secret):
            size += len(value.reveal())
    return size <= QUICK_BYTES
