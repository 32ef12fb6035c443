"""``frame.web`` and ``series.web`` of polars, whichever of polars and webanalytics is imported first.

Neither is imported for the other: where polars is not there yet, its import is waited for.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

NAME = "web"
"""Name of the accessors, those of pandas too."""


class WebFrame:
    """The functions of webanalytics over a column of a polars DataFrame, and the charts of a result."""

    def __new__(cls, data: Any) -> Any:
        """Return the accessor, which is that of pandas."""
        return _accessors().WebFrame(data)


class WebSeries:
    """The functions of webanalytics over the values of a polars Series."""

    def __new__(cls, data: Any) -> Any:
        """Return the accessor, which is that of pandas."""
        return _accessors().WebSeries(data)


def _accessors() -> Any:
    return import_module("webanalytics.notebook.accessors")  # which imports pandas, and the name from here


def register() -> None:
    """Register the accessors with polars, once."""
    import polars as pl

    if getattr(pl.DataFrame, NAME, None) is not WebFrame:
        pl.api.register_dataframe_namespace(NAME)(WebFrame)
        pl.api.register_series_namespace(NAME)(WebSeries)


class _Waiting(MetaPathFinder):
    """Lets Python find polars as ever, and registers the accessors when it has been imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "polars":
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            with suppress(ValueError):
                sys.meta_path.remove(self)
            register()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def register_when_there() -> None:
    """Register the accessors now, or as soon as polars is imported."""
    if "polars" not in sys.modules:
        sys.meta_path.insert(0, _Waiting())
    elif sys.modules["polars"] is not None:  # None forbids the import
        register()
