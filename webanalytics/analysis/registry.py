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
    >>> analysis_function("hmac")("what", "Jefe", "md5")["hmac"]
    'd0a1...'
    """
    function: Callable[..., dict[str, Any]] = import_module(f"webanalytics.analysis.{name}").analyse
    return function
