"""``frame.web`` and ``series.web``: the functions of webanalytics as methods of what they work on.

Every function that takes a list, a Series or a DataFrame is a method, and ``frame.web.plot`` has every chart.
The methods are made from the functions themselves, so signatures and documentation are always theirs.

Examples
--------
>>> import pandas as pd
>>> import webanalytics.notebook.accessors
>>> numbers = pd.Series(["+12085813945", "+12125550123"])
>>> numbers.web.phones(details=False)["isDisposable"].tolist()
[True, False]
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Collection
from typing import Any

import pandas as pd

from webanalytics import sync
from webanalytics.core.operations.secret import Secret
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import ParameterError, WebAnalyticsError
from webanalytics.runs.boundary import keeps_frames
from webanalytics.runs.functions.source import later_names

__all__ = ["NAME", "WebFrame", "WebSeries", "register"]

NAME = "web"
"""Name of the accessors."""

_TEXTS = ("texts", "language")
"""Parameters of functions that stand in place of the first one, which is the accessor's data."""

_SECTION = re.compile(r"(?m)^(?=\S[^\n]*\n-{3,}\n)")
_PARAMETER = re.compile(r"(?m)^(?=\S)")


class _Accessor:
    """Base of the accessors: holds the data, and lists the methods."""

    def __init__(self, data: pd.DataFrame | pd.Series) -> None:
        self._data = data

    def __getattr__(self, name: str) -> Any:
        hint = "" if name.startswith("_") else did_you_mean(name, dir(self))
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    def __repr__(self) -> str:
        methods = ", ".join(name for name in dir(self) if not name.startswith("_"))
        kind = type(self._data).__name__
        return f"<{NAME} accessor of a {kind} of length {len(self._data):,}: {methods}>"


class _Functions(_Accessor):
    """An accessor that also has the functions of operations registered at run time."""

    _without: Collection[str] = ()

    def __getattr__(self, name: str) -> Any:
        if name not in later_names(sync.__all__):
            return super().__getattr__(name)
        return _method(getattr(sync, name), f"webanalytics.{name}", self._without).__get__(self)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *later_names(sync.__all__)})


class WebSeries(_Functions):
    """``series.web``: the functions of webanalytics over the values of a Series.

    Examples
    --------
    >>> import pandas as pd
    >>> pd.Series(["Hi There"]).web.hmac(secret=chr(11) * 20)["hmac"].str[:8].tolist()
    ['b0344c61']
    """

    _without = ("column",)


class WebFrame(_Functions):
    """``frame.web``: the functions of webanalytics over a column of a DataFrame, and the charts of a result.

    If it is ambiguous which column holds the inputs, name it with ``column=``.

    Examples
    --------
    >>> import pandas as pd
    >>> page = pd.DataFrame({"url": ["https://cat.example/"], "html": ["<title>Cats</title>"]})
    >>> page.web.metadata().loc[0, "title"]
    'Cats'
    """

    @property
    def plot(self) -> Any:
        """The charts of `webanalytics.charts`, such as ``frame.web.plot.readability()``."""
        return _charts()(self._data)


@functools.cache
def _charts() -> type[_Accessor]:
    from webanalytics.notebook import charts

    methods: dict[str, Any] = {
        name: _method(getattr(charts, name), f"webanalytics.notebook.charts.{name}")
        for name in charts.__all__
    }
    methods["__doc__"] = "The charts of `webanalytics.charts` as methods of the frame they draw."
    methods["__module__"] = __name__
    return type("WebPlots", (_Accessor,), methods)


def _method(function: Callable[..., Any], name: str, without: Collection[str] = ()) -> Callable[..., Any]:
    first, *others = inspect.signature(function).parameters.values()
    texts = _TEXTS if any(parameter.name == _TEXTS[0] for parameter in others) else ()
    left_out = {first.name, *without, *texts}

    def method(self: _Accessor, /, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("secret"):  # this frame may be printed with its variables when the call fails
            kwargs["secret"] = Secret(kwargs["secret"])
        for parameter in left_out & kwargs.keys():
            raise ParameterError.must_be(parameter, "left out: the method has it")
        try:
            return function(self._data, *args, **kwargs)
        except WebAnalyticsError as error:
            if keeps_frames():
                raise
            raise error.with_traceback(None) from None

    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    kept = [parameter for parameter in others if parameter.name not in left_out]
    method.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [itself, *kept], return_annotation=inspect.signature(function).return_annotation
    )
    method.__name__ = function.__name__
    method.__qualname__ = f"{NAME}.{function.__name__}"
    method.__doc__ = _documentation(inspect.getdoc(function) or "", left_out, name)
    return method


def _documentation(text: str, left_out: Collection[str], name: str) -> str:
    """Return a function's documentation as that of a method: without the arguments the method supplies."""
    opening, *sections = _SECTION.split(text)
    summary, _, more = opening.strip().partition("\n\n")
    parts = [summary, f"The method form of `{name}`.", more]
    for section in sections:
        heading, rule, body = section.split("\n", 2)
        if heading == "Examples":
            continue
        if heading == "Parameters":
            entries = [entry for entry in _PARAMETER.split(body) if entry.strip()]
            body = "".join(entry for entry in entries if entry.split(" : ")[0].strip() not in left_out)
        parts.append(f"{heading}\n{rule}\n{body}".rstrip())
    return "\n\n".join(part for part in parts if part)


def _give_methods() -> None:
    for name in sync.__all__:
        function = getattr(sync, name)
        if "column" in inspect.signature(function).parameters:
            setattr(WebFrame, name, _method(function, f"webanalytics.{name}"))
            setattr(WebSeries, name, _method(function, f"webanalytics.{name}", WebSeries._without))


def register() -> None:
    """Register the accessors with pandas, again if this module is reloaded, and with polars if imported.

    Another package's accessor of the same name is replaced with the library's own warning.
    """
    kinds: list[tuple[Any, type, Callable[..., Any]]] = [
        (pd.DataFrame, WebFrame, pd.api.extensions.register_dataframe_accessor),
        (pd.Series, WebSeries, pd.api.extensions.register_series_accessor),
    ]
    if polars := sys.modules.get("polars"):
        kinds.append((polars.DataFrame, WebFrame, polars.api.register_dataframe_namespace))
        kinds.append((polars.Series, WebSeries, polars.api.register_series_namespace))
    for kind, accessor, give in kinds:
        known = getattr(kind, NAME, None)
        if known is accessor:
            continue
        if getattr(known, "__module__", None) == __name__:
            delattr(kind, NAME)
        give(NAME)(accessor)


_give_methods()
register()
