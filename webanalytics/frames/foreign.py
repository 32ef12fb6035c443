"""Tables and columns of other libraries, and dicts -> pandas, without importing those libraries."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.errors import ParameterError

_FAR_AWAY = ("compute", "collect", "toPandas")
"""Methods of tables that are on a cluster or not computed yet: whoever has one should know what it costs."""


def as_pandas(inputs: Any, parameter: str) -> Any:
    """Return a table as a DataFrame, a column or a dict of label to input as a Series, all else unchanged.

    pyarrow, polars and whatever speaks the Arrow protocol are recognised by their methods.

    Raises
    ------
    ParameterError
        For a table that is computed elsewhere, or cannot be read here.

    Examples
    --------
    >>> as_pandas({"home": "https://a.example/"}, "urls").to_dict()
    {'home': 'https://a.example/'}
    """
    if isinstance(inputs, (pd.DataFrame, pd.Series, pd.Index, str, bytes, list, tuple)):
        return inputs
    if isinstance(inputs, Mapping):
        return labelled(inputs)
    if isinstance(inputs, np.ndarray) and inputs.ndim != 1:
        raise ParameterError(
            f"The `{parameter}` parameter must be an array of one dimension, not of {inputs.ndim}.", parameter
        )
    if _is_column(inputs):
        return pd.Series(_objects(_listed(inputs)), dtype=object)
    if _is_table(inputs):
        return _as_frame(inputs, parameter)
    return inputs


def labelled(inputs: Mapping[Any, Any]) -> pd.Series:
    """Return a dict of label to input as a Series."""
    return pd.Series(_objects(inputs.values()), index=pd.Index(list(inputs)), dtype=object)


def plain_value(value: Any) -> Any:
    """Return a value as Python has it: scalars of pyarrow and parsed URLs unpacked."""
    for unpack in ("as_py", "geturl"):
        method = getattr(value, unpack, None)
        if callable(method):
            return method()
    return value


def _objects(values: Iterable[Any]) -> np.ndarray[Any, Any]:
    listed = list(values)
    column = np.empty(len(listed), dtype=object)
    for row, value in enumerate(listed):  # numpy would make a matrix of a list of lists
        column[row] = value
    return column


def _is_table(inputs: Any) -> bool:
    names = ("columns", "column_names", "__dataframe__", "__arrow_c_stream__")
    return not isinstance(inputs, type) and any(_has(inputs, name) for name in names)


def _has(value: Any, name: str) -> bool:
    """Return whether a value has an attribute, without computing a property, which may take long."""
    return inspect.getattr_static(value, name, None) is not None


def _is_column(inputs: Any) -> bool:
    """Return whether it is a column of Arrow or polars: those have a list of their values, and no columns."""
    if _has(inputs, "columns") or _has(inputs, "column_names") or isinstance(inputs, type):
        return False
    return _has(inputs, "to_pylist") or (_has(inputs, "to_list") and _has(inputs, "dtype"))


def _listed(column: Any) -> list[Any]:
    method = getattr(column, "to_pylist", None) or column.to_list
    return list(method())


def _as_frame(table: Any, parameter: str) -> pd.DataFrame | pd.Series:
    kind = f"{type(table).__module__.partition('.')[0]}'s {type(table).__name__}"
    far = next((name for name in _FAR_AWAY if _has(table, name)), None)
    if far is not None:
        raise ParameterError(
            f"The `{parameter}` parameter must be a table on this machine, not {kind}: "
            f"call its `{far}()` first.",
            parameter,
        )
    for convert in (_by_method, _by_columns, _by_arrow, _by_interchange):
        with suppress(Exception):  # another library's code: the next way may work
            found = convert(table)
            if isinstance(found, (pd.DataFrame, pd.Series)):
                return found
    raise ParameterError(
        f"The `{parameter}` parameter must be a pandas DataFrame where it is a table: {kind} cannot be "
        "converted here.",
        parameter,
    )


def _by_method(table: Any) -> Any:
    name = next(name for name in ("to_pandas", "read_pandas", "df") if _has(table, name))
    return getattr(table, name)()


def _by_columns(table: Any) -> Any:
    """Return a frame of a polars table, which needs pyarrow for its own way."""
    columns = table.to_dict(as_series=False)
    return pd.DataFrame({name: _objects(values) for name, values in columns.items()})


def _by_arrow(table: Any) -> Any:
    import pyarrow

    try:
        return pyarrow.table(table).to_pandas()
    except (TypeError, ValueError):  # not the columns of a table but one column
        return pd.Series(_objects(pyarrow.chunked_array(table).to_pylist()), dtype=object)


def _by_interchange(table: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pd.api.interchange.from_dataframe(table)
