"""Find the pure function of an operation by name, importing it when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


@cache
def analysis_function(name: str) -> Callable[..., dict[str, Any]]:
    """Return ``webanalytics.analysis.<name>.analyse``.

    Examples
    --------
    The second test case of RFC 2202:

    >>> analysis_function("hmac")("what do ya want for nothing?", "Jefe", "md5")["hmac"]
    '750c783e6ab0b503eaa86e310a5db738'
    """
    function: Callable[..., dict[str, Any]] = import_module(f"webanalytics.analysis.{name}").analyse
    return function
