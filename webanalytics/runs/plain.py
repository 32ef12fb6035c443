"""The plain functions, for cells and scripts: imported when they are called, after a worker has begun."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping
from importlib import import_module
from types import MethodType
from typing import Any, Generic, ParamSpec, TypeVar

from webanalytics.core.operations.secret import Secret
from webanalytics.core.run_options import RECORDS, resolve
from webanalytics.errors import ParameterError, WebAnalyticsError
from webanalytics.operations import AUDIT_PAGES, CRAWL_PAGES, OPERATIONS
from webanalytics.runs.boundary import (
    Run,
    Source,
    check_call,
    current_run,
    keeps_frames,
    run_plain,
    signature_of,
)
from webanalytics.runs.workers.pool import begin_workers

P = ParamSpec("P")
T = TypeVar("T")


class Plain(Generic[P, T]):
    """The plain form of an async function, which is imported when it is called, or asked how it is called.

    To Python's help, editors and notebooks it is a function with the signature and documentation of the
    other. A worker process begins before the import, which takes as long as its own.
    """

    def __init__(
        self, name: str, home: str, function: Callable[P, Coroutine[Any, Any, T]] | None = None
    ) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = home
        self._function = function

    @property
    def function(self) -> Callable[P, Coroutine[Any, Any, T]]:
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
        return signature_of(self.function)

    @property
    def __annotations__(self) -> dict[str, Any]:  # type: ignore[override]
        return self.function.__annotations__

    def __repr__(self) -> str:
        return f"<function webanalytics.{self.__name__}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what the function returns, run on an event loop in a thread."""
        run = Run()
        token = current_run.set(run)
        try:
            if kwargs.get("secret"):  # this frame may be printed with its variables when the call fails
                kwargs["secret"] = Secret(kwargs["secret"])  # type: ignore[arg-type]
            if self._function is None:
                _begin_workers(self.__name__, args, kwargs)
            function = self.function
            check_call(function, args, kwargs)
            source = Source.of(function, args, kwargs)
            made = run_plain(lambda: source.answer(function, args, kwargs), run)
        except KeyboardInterrupt as interrupt:
            raise run.interrupted() or interrupt from None
        except WebAnalyticsError as error:
            if keeps_frames():
                raise
            raise error.with_traceback(None) from None
        else:
            run.finished()
            return made  # type: ignore[no-any-return]
        finally:
            current_run.reset(token)


def plain(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return the plain form of an async function: same signature, same documentation."""
    return Plain(function.__name__, function.__module__, function)


def _begin_workers(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Begin the first worker process of a call whose contents this machine will analyse."""
    alone = tuple(item for item in OPERATIONS.own.values() if item.function == name and item.kind != "record")
    operations = {"audit": AUDIT_PAGES, "crawl": CRAWL_PAGES}.get(name, alone)
    if not operations:
        return
    try:
        backend = resolve({key: value for key, value in kwargs.items() if key in RECORDS})["backend"]
    except ParameterError:  # the call will say so
        return
    lazy = (type(value).__module__.startswith("dask.") for value in (*args, *kwargs.values()))
    if backend is None and not any(lazy):
        begin_workers(tuple(item.analysis for item in operations))
