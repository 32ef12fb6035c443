"""Where a user's call enters the package, and its errors leave it: with the caller's line, not with ours.

`webanalytics.aio` is made with `awaited`, the plain functions with `runs.blocking.plain`.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, ParamSpec, TypeVar

from webanalytics.core.operations.secret import Secret
from webanalytics.core.run_options import RECORDS, check_served, options_for
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import ParameterError, WebAnalyticsError
from webanalytics.runs.dask_frames import inputs_of, lazily
from webanalytics.runs.frames.kinds import as_kind, kind_of_call

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
    kind = kind_of_options(function)
    for key in kwargs if kind else ():
        if key in signature.parameters:
            continue
        if key not in RECORDS:
            own = options_for(kind)
            known = [*(name for name in signature.parameters if name != "options"), *own]
            hint = did_you_mean(key, known) or f"; the options are: {', '.join(sorted(own))}."
            raise ParameterError(f"The `{key}` parameter does not exist{hint}", key)
        check_served(function.__name__, kind, key)
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        pass  # raised below, in Python's words and not chained to this one
    else:
        return
    function(*args, **kwargs)


_signature = functools.lru_cache(maxsize=64)(inspect.signature)


def kind_of_options(function: Callable[..., Any]) -> str:
    """Return the kind of functions whose options a function takes, or "" if it takes none.

    Examples
    --------
    >>> import webanalytics as wa
    >>> kind_of_options(wa.hmac), kind_of_options(wa.tlsa_record)
    ('record', '')
    """
    options = _signature(function).parameters.get("options")
    found = _OPTIONS.search("" if options is None else str(options.annotation))
    return "" if found is None else found[1].lower()


_OPTIONS = re.compile(r"(Page|Image|Record|Site)Options")


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
