"""Where a user's call enters the package, and its errors leave it: with the caller's line, not with ours.

`webanalytics.aio` is made with `awaited`, the plain functions with `runs.blocking.plain`.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, ParamSpec, TypeVar

from webanalytics.errors import ParameterError, WebAnalyticsError
from webanalytics.frames.kinds import as_kind, kind_of_call
from webanalytics.operations.secret import Secret
from webanalytics.run_options import CALL_OPTIONS
from webanalytics.runs.dask_frames import inputs_of, lazily
from webanalytics.strings import did_you_mean

P = ParamSpec("P")
T = TypeVar("T")

VARIABLE = "WEBANALYTICS_TRACEBACK"
"""Environment variable: ``full`` keeps the frames of this package in the tracebacks of its own errors."""


def keeps_frames() -> bool:
    """Return whether tracebacks keep the frames of this package, for debugging it."""
    return os.environ.get(VARIABLE, "").strip().lower() == "full"


def check_call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise the error about arguments that a function does not take, before any work.

    Raises
    ------
    ParameterError
        For a keyword that is neither a parameter nor an option, naming the nearest one that is.
    TypeError
        For arguments that are missing or too many, in Python's words.
    """
    signature = _signature(function)
    options = any(item.kind is inspect.Parameter.VAR_KEYWORD for item in signature.parameters.values())
    for key in kwargs if options else ():
        if key not in CALL_OPTIONS and key not in signature.parameters:
            known = [name for name in signature.parameters if name != "options"] + list(CALL_OPTIONS)
            hint = did_you_mean(key, known) or f"; the options are: {', '.join(sorted(CALL_OPTIONS))}."
            raise ParameterError(f"The `{key}` parameter does not exist{hint}", key)
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        pass  # raised below, in Python's words and not chained to this one
    else:
        return
    function(*args, **kwargs)


_signature = functools.lru_cache(maxsize=64)(inspect.signature)


def awaited(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return a coroutine function whose errors leave without the frames of this package."""

    @functools.wraps(function)
    async def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            if kwargs.get("secret"):  # this frame may be printed with its variables when the call fails
                kwargs["secret"] = Secret(kwargs["secret"])  # type: ignore[arg-type]
            check_call(function, args, kwargs)
            lazy = inputs_of(function, args, kwargs)
            if lazy is not None:
                return await lazily(function, lazy, kwargs)  # type: ignore[no-any-return]
            kind = kind_of_call(function, args, kwargs)
            return as_kind(await function(*args, **kwargs), kind)
        except WebAnalyticsError as error:
            if keeps_frames():
                raise
            raise error.with_traceback(None) from None

    return wrapper
