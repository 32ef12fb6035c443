"""Dask DataFrames and Series as inputs: a Dask DataFrame with the declared columns comes back, not computed.

`runs.boundary.Source` sends them here. Records are answered in one call for each partition; pages and images
are first sorted by host, so that each host is asked from one partition, at the pace of one machine.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from typing import Any

import pandas as pd

from webanalytics import loops
from webanalytics.core.run_options import options_for, resolve
from webanalytics.errors import ParameterError
from webanalytics.operations import AUDIT_PAGES, OPERATIONS, Field, Operation
from webanalytics.runs.backends.dask_groups import host_of, site_of
from webanalytics.runs.frames.arrow import as_json, declared
from webanalytics.runs.frames.inputs import Wanted, values_of
from webanalytics.runs.frames.schema import make_series

HOST = "__host__"
"""Column by which partitions are sorted."""
REFUSED = ("secret", "store")
"""Arguments that must not, or cannot, go to every worker of a cluster."""

Function = Callable[..., Coroutine[Any, Any, Any]]


async def lazily(function: Function, inputs: Any, kwargs: Mapping[str, Any]) -> Any:
    """Return the call as a Dask DataFrame."""
    parameter, *_ = signature(function).parameters
    operation = _operation(function, parameter)
    given = {key: value for key, value in kwargs.items() if key != parameter}
    _refuse(given, REFUSED)
    table = inputs.to_frame(inputs.name or parameter) if inputs.ndim == 1 else inputs
    arguments = _travelling(given, operation)
    column = arguments.pop("column", None)
    if operation.kind == "page" and "html" in table.columns:
        column = column or ("url" if "url" in table.columns else None)
    else:
        column = values_of(table._meta, Wanted.of(operation, parameter), column).name
        table = table[[column]]
        if operation.kind != "record":
            table = _by_host(table, column, arguments)
    fields = declared("audit" if function.__name__ == "audit" else operation.name)
    meta = _with_types(_frame(await function(table._meta, column=column, **arguments)), fields)
    return table.map_partitions(_answered, function, column, arguments, fields, meta=meta)


def _operation(function: Function, parameter: str) -> Operation:
    by_name = {operation.function: operation for operation in OPERATIONS.values()}
    found = AUDIT_PAGES[0] if function.__name__ == "audit" else by_name.get(function.__name__)
    if found is None:
        raise ParameterError.must_be(
            parameter, "on this machine, not a Dask DataFrame: call its `compute()` first"
        )
    return found


def _refuse(given: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for key in names:
        if given.get(key) is not None:
            raise ParameterError.must_be(
                key,
                "left out with a Dask DataFrame, whose partitions are answered on other machines: call its "
                "`compute()` first",
            )


def _travelling(given: dict[str, Any], operation: Operation) -> dict[str, Any]:
    """Return the arguments for each partition, the options of this session included."""
    options = resolve({})
    _refuse({**options, **given}, ("access", "bot_key", "proxy"))
    backend = resolve({"backend": given.pop("backend", options["backend"])})["backend"]
    if backend is not None and backend.name not in ("local", "dask"):
        raise ParameterError.must_be(
            "backend", "None with a Dask DataFrame: its partitions are answered where they are computed"
        )
    here = {"backend": None, "store": None, "progress": False}
    own = {key: options[key] for key in options_for(operation.kind)}
    return {**own, **given, **here}


def _by_host(table: Any, column: Any, options: Mapping[str, Any]) -> Any:
    """Return a table whose partitions have each host in one of them; the order of rows is lost."""
    how = {name: options[name] for name in ("allow_private", "ports")}
    hosts = table[column].map_partitions(_hosts, how, meta=(HOST, "object"))
    return table.assign(**{HOST: hosts}).shuffle(on=HOST)[[column]]


def _hosts(values: pd.Series, how: Mapping[str, Any]) -> pd.Series:
    """Return the host of each address; of what has none, its place, to spread it."""
    found = [site_of(host_of(value, how)) or str(place) for place, value in enumerate(values.tolist())]
    return pd.Series(found, index=values.index, name=HOST, dtype=object)


def _answered(
    part: pd.DataFrame,
    function: Function,
    column: Any,
    arguments: Mapping[str, Any],
    fields: Mapping[str, Field],
) -> pd.DataFrame:
    """Answer a partition, on the machine that computes it."""

    def answer() -> Any:
        return loops.run(function(part, column=column, **arguments))

    with ThreadPoolExecutor(1) as thread:  # the caller's thread may have an event loop
        return _with_types(_frame(thread.submit(answer).result()), fields)


def _with_types(frame: pd.DataFrame, fields: Mapping[str, Field]) -> pd.DataFrame:
    """Return rows whose lists and dicts are JSON text: Dask writes Parquet by the dtypes of columns.

    It would compute partitions to guess the types of objects, so pages would be asked for again. Columns of
    Arrow's lists it writes, but pandas cannot read such files.
    """
    return frame.assign(
        **{
            name: make_series(
                [None if cell is None else as_json(cell) for cell in frame[name].tolist()],
                "string",
                frame.index,
            )
            for name, field in fields.items()
            if name in frame.columns and field.dtype == "object"
        }
    )


def _frame(answer: Any) -> pd.DataFrame:
    """Return the rows of an answer, those of an audit as they were read."""
    frame: pd.DataFrame = answer if isinstance(answer, pd.DataFrame) else answer.raw
    return frame
