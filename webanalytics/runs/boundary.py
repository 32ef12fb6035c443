"""Where a user's call enters the package, and its errors leave it: with the caller's line, not with ours.

`webanalytics.aio` is made with `awaited`, the plain functions with `runs.loop_thread.plain`.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec, TypeVar

from webanalytics.core.operations.secret import Secret
from webanalytics.core.run_options import RECORDS, check_served, options_for
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import ParameterError, WebAnalyticsError
from webanalytics.runs.frames.foreign import is_plain

P = ParamSpec("P")
T = TypeVar("T")
Function = Callable[..., Coroutine[Any, Any, Any]]

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


@dataclass(frozen=True)
class Source:
    """What a call is given: the one place that asks. Plain inputs are known at a glance.

    Attributes
    ----------
    kind : {"plain", "table", "dask"}
        Inputs of Python and pandas; a table or column of another library; a Dask DataFrame or Series.
    inputs : object
        The first argument of the call.
    """

    kind: Literal["plain", "table", "dask"]
    inputs: Any

    @classmethod
    def of(cls, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Source:
        """Return what a call of a function with these arguments is given."""
        inputs = args[0] if args else kwargs.get(next(iter(_signature(function).parameters), ""))
        if is_plain(inputs) and is_plain(kwargs.get("texts")):
            return cls("plain", inputs)
        dask = type(inputs).__module__.partition(".")[0] == "dask" and hasattr(inputs, "map_partitions")
        return cls("dask" if dask else "table", inputs)

    async def answer(self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what the function answers, in the kind of table that it was given."""
        if self.kind == "plain":
            return await function(*args, **kwargs)
        if self.kind == "dask":
            from webanalytics.runs.dask_frames import lazily

            return await lazily(function, self.inputs, kwargs)
        from webanalytics.runs.frames.kinds import as_kind, kind_of_call

        kind = kind_of_call(function, args, kwargs)
        return as_kind(await function(*args, **kwargs), kind)


def awaited(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return a coroutine function whose errors leave without the frames of this package."""

    @functools.wraps(function)
    async def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            if kwargs.get("secret"):  # this frame may be printed with its variables when the call fails
                kwargs["secret"] = Secret(kwargs["secret"])  # type: ignore[arg-type]
            check_call(function, args, kwargs)
            source = Source.of(function, args, kwargs)
            return await source.answer(function, args, kwargs)  # type: ignore[no-any-return]
        except WebAnalyticsError as error:
            if keeps_frames():
                raise
            raise error.with_traceback(None) from None

    return wrapper
