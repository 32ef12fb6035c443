"""The parameters of a call: from a body or a query to checked values, by the operation's declaration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from webanalytics.errors import ParameterError
from webanalytics.operations import Operation, Parameter
from webanalytics.operations.base import REQUIRED
from webanalytics.service.results import Problem

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_BOOLEANS = {"true": True, "false": False}

IN_PLACE_OF_IMAGE = "url"
"""The parameter that an image may be given by instead of its own."""


def from_text(parameter: Parameter, text: str) -> Any:
    """Return a query's or a form's text as the kind of value that the parameter takes.

    Examples
    --------
    >>> from webanalytics.operations import OPERATIONS
    >>> from_text(OPERATIONS["convert"].parameter("quality"), "80")
    80
    """
    if parameter.expectation.startswith("an integer") and _INTEGER.fullmatch(text):
        return int(text)
    if parameter.type is bool:
        return _BOOLEANS.get(text.lower(), text)
    return text


def texts(operation: Operation, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the declared parameters of a query, each as the kind of value it takes."""
    return {
        parameter.name: from_text(parameter, given[parameter.name])
        for parameter in operation.parameters
        if parameter.name in given
    }


def check_parameters(operation: Operation, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of one call by request name, defaults filled in; undeclared ones are dropped.

    Parameters
    ----------
    operation : Operation
        The declaration.
    given : Mapping
        What the caller sent.

    Raises
    ------
    Problem
        400 with one sentence about the first wrong parameter in the order of declaration.
    """
    checked: dict[str, Any] = {}
    for name, parameter, is_image in _served(operation):
        value = given.get(name)
        if is_image:
            value = given.get(IN_PLACE_OF_IMAGE) if value is None else value
            if isinstance(value, bytes):  # a file of a form: there is nothing to check before it is read
                checked[name] = value
                continue
        if value is None and (parameter.default is REQUIRED or name not in given):
            if parameter.default is REQUIRED:
                raise Problem(400, f"The `{name}` parameter is required.")
            checked[name] = parameter.default
            continue
        try:
            checked[name] = parameter.check(value)
        except ParameterError as error:
            raise Problem(400, str(error)) from None
    return checked


_served_parameters: dict[str, tuple[tuple[str, Parameter, bool], ...]] = {}


def _served(operation: Operation) -> tuple[tuple[str, Parameter, bool], ...]:
    """Return the service's parameters of an operation, and whether each is the image; looked up once."""
    found = _served_parameters.get(operation.name)
    if found is None:
        found = _served_parameters[operation.name] = tuple(
            (item.name, item, operation.kind == "image" and item.name == operation.subject)
            for item in operation.parameters
            if not item.local
        )
    return found
