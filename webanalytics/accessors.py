"""``frame.web`` and ``series.web``: the functions of webanalytics as methods of what they work on.

Every function that takes a list, a Series or a DataFrame is a method, and ``frame.web.plot`` has every chart.
The methods are made from the functions themselves, so signatures and documentation are always theirs.

Examples
--------
>>> import pandas as pd
>>> import webanalytics.accessors
>>> numbers = pd.Series(["+12085813945", "+12125550123"])
>>> numbers.web.phones(details=False)["isDisposable"].tolist()
[True, False]
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection
from typing import Any

import pandas as pd

from webanalytics import face
from webanalytics.errors import ParameterError
from webanalytics.operations.secret import Secret

__all__ = ["NAME", "WebFrame", "WebSeries", "register"]

NAME = "web"
"""Name of the accessor."""

_SECTION = re.compile(r"(?m)^(?=\S[^\n]*\n-{3,}\n)")
_PARAMETER = re.compile(r"(?m)^(?=\S)")


class _Accessor:
    """What both accessors have in common: they hold the data, and tell what they can do."""

    def __init__(self, data: pd.DataFrame | pd.Series) -> None:
        self._data = data

    def __repr__(self) -> str:
        methods = ", ".join(name for name in dir(type(self)) if not name.startswith("_"))
        kind = type(self._data).__name__
        return f"<{NAME} accessor of a {kind} of length {len(self._data):,}: {methods}>"


class WebSeries(_Accessor):
    """``series.web``: the functions of webanalytics over the values of a Series.

    Examples
    --------
    >>> import pandas as pd
    >>> pd.Series(["Hi There"]).web.hmac(secret=chr(11) * 20)["hmac"].str[:8].tolist()
    ['b0344c61']
    """


class WebFrame(_Accessor):
    """``frame.web``: the functions of webanalytics over a column of a DataFrame, and the charts of a result.

    Where there is doubt which column holds the inputs, name it with ``column=``.

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
    """Return the class with a method for each chart; matplotlib is imported when it is first used."""
    from webanalytics import charts

    methods: dict[str, Any] = {
        name: _method(getattr(charts, name), f"webanalytics.charts.{name}") for name in charts.__all__
    }
    methods["__doc__"] = "The charts of `webanalytics.charts` as methods of the frame they draw."
    methods["__module__"] = __name__
    return type("WebPlots", (_Accessor,), methods)


def _method(function: Callable[..., Any], name: str, without: Collection[str] = ()) -> Callable[..., Any]:
    """Return a method that gives the accessor's data to a function as its first argument.

    Parameters
    ----------
    function : callable
        Takes the data first.
    name : str
        Where the function is found, for the documentation.
    without : collection of str
        Further parameters that the method does not have.
    """
    first, *others = inspect.signature(function).parameters.values()
    left_out = {first.name, *without}

    def method(self: _Accessor, /, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("secret"):  # this frame may be printed with its variables when the call fails
            kwargs["secret"] = Secret(kwargs["secret"])
        for parameter in left_out & kwargs.keys():
            raise ParameterError(
                f"The `{parameter}` parameter must be left out: the method has it.", parameter
            )
        return function(self._data, *args, **kwargs)

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
    """Return a function's documentation as that of a method: without what the method fills in."""
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
    """Give both accessors a method for every function that works on a column."""
    for name in face.__all__:
        function = getattr(face, name)
        if inspect.isfunction(function) and "column" in inspect.signature(function).parameters:
            setattr(WebFrame, name, _method(function, f"webanalytics.{name}"))
            setattr(WebSeries, name, _method(function, f"webanalytics.{name}", without=["column"]))


def register() -> None:
    """Register the accessors with pandas; again after this module was loaded again.

    Another package's accessor of the same name is replaced with pandas' own warning.
    """
    for kind, accessor, give in (
        (pd.DataFrame, WebFrame, pd.api.extensions.register_dataframe_accessor),
        (pd.Series, WebSeries, pd.api.extensions.register_series_accessor),
    ):
        known = getattr(kind, NAME, None)
        if known is accessor:
            continue
        if getattr(known, "__module__", None) == __name__:
            delattr(kind, NAME)
        give(NAME)(accessor)


_give_methods()
register()
