"""The plain functions, for cells and scripts: imported when they are called, after a worker has begun.

What this module imports itself, a first call waits for before its worker begins: it is little.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Coroutine, Mapping
from importlib import import_module
from types import MethodType
from typing import Any, Generic, ParamSpec, TypeVar

from webanalytics.runs.functions.analyses import ANALYSES
from webanalytics.runs.workers.template import TEMPLATE

P = ParamSpec("P")
T = TypeVar("T")
Function = Callable[P, Coroutine[Any, Any, T]]


class PlainFunction(Generic[P, T]):
    """The plain form of an async function, which is imported when it is called, or asked how it is called.

    Python's help, editors and notebooks show the signature and documentation of that function.
    """

    def __init__(self, name: str, home: str, function: Function[P, T] | None = None) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = home
        self._function = function

    @property
    def function(self) -> Function[P, T]:
        """The async function."""
        if self._function is None:
            self._function = getattr(import_module(self.__module__), self.__name__)
            import_module("webanalytics")._offer_accessors()  # pandas is there now
        return self._function

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        return self.function.__doc__

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.function)

    @property
    def __annotations__(self) -> dict[str, Any]:  # type: ignore[override]
        return self.function.__annotations__

    def __repr__(self) -> str:
        return f"<function webanalytics.{self.__name__}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:  # noqa: D102 - notebooks would show it
        if analyses := ANALYSES.get(self.__name__):
            _begin_worker(analyses, args, kwargs)
        from webanalytics.core.operations.secret import Secret
        from webanalytics.errors import WebAnalyticsError
        from webanalytics.runs import boundary

        run = boundary.Run()
        token = boundary.current_run.set(run)
        try:
            if kwargs.get("secret"):  # this frame may be printed with its variables when the call fails
                kwargs["secret"] = Secret(kwargs["secret"])  # type: ignore[arg-type]
            function = self.function
            boundary.check_call(function, args, kwargs)
            source = boundary.Source.of(function, args, kwargs)
            made = boundary.run_plain(lambda: source.answer(function, args, kwargs), run)
        except KeyboardInterrupt as interrupt:
            raise run.interrupted() or interrupt from None
        except WebAnalyticsError as error:
            if boundary.keeps_frames():
                raise
            raise error.with_traceback(None) from None
        else:
            run.finished()
            return made  # type: ignore[no-any-return]
        finally:
            boundary.current_run.reset(token)


def plain(function: Function[P, T]) -> Callable[P, T]:
    """Return the plain form of an async function: same signature, same documentation."""
    return PlainFunction(function.__name__, function.__module__, function)


def _begin_worker(analyses: tuple[str, ...], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Begin the first worker process, of a call whose pages or images this machine is to analyse."""
    options = "webanalytics.core.run_options"  # where it was never imported, nobody has set any
    session = import_module(options).options.backend if options in sys.modules else None
    lazy = any(type(value).__module__.startswith("dask.") for value in (*args, *kwargs.values()))
    if kwargs.get("backend", session) is None and not lazy:
        TEMPLATE.begin(analyses)
