"""The parameters of a call: from a body or a query to checked values, by the operation's declaration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from webanalytics.errors import ParameterError
from webanalytics.operations import Operation, Parameter
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
    for parameter in operation.parameters:
        if parameter.local:
            continue
        name = parameter.name
        value = given.get(name)
        if operation.kind == "image" and name == operation.subject:
            value = given.get(IN_PLACE_OF_IMAGE) if value is None else value
            if isinstance(value, bytes):  # a file of a form: there is nothing to check before it is read
                checked[name] = value
                continue
        if value is None and (parameter.required or name not in given):
            if parameter.required:
                raise Problem(400, f"The `{name}` parameter is required.")
            checked[name] = parameter.default
            continue
        try:
            checked[name] = parameter.check(value)
        except ParameterError as error:
            raise Problem(400, str(error)) from None
    return checked
