"""Dask DataFrames and Series as inputs: a Dask DataFrame with the declared columns comes back, not computed.

`plain` and `awaited` ask here first. Records are answered in one call for each partition; pages and images
are first sorted by host, so that each host is asked from one partition, at the pace of one machine. With
`save_to` the inputs are computed, and the call is that of a list of them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from typing import Any

import pandas as pd

from webanalytics.backends.dask import Dask
from webanalytics.errors import ParameterError
from webanalytics.fetching.guard import check_url, host_key
from webanalytics.fetching.response import Problem
from webanalytics.frames.inputs import Wanted, values_of
from webanalytics.frames.remote_store import place_of
from webanalytics.operations import AUDIT_PAGES, OPERATIONS, Operation
from webanalytics.run_options import options_for, resolve
from webanalytics.runs.saving import check_save_to
from webanalytics.urls import lacks_scheme

HOST = "__host__"
"""Column by which partitions are sorted."""
REFUSED = ("secret", "checkpoint")
"""Arguments that must not, or cannot, go to every worker of a cluster."""

Function = Callable[..., Coroutine[Any, Any, Any]]


def inputs_of(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Return the inputs of a call if they are Dask's, else None."""
    first = next(iter(signature(function).parameters), "")
    given = args[0] if args else kwargs.get(first)
    is_dask = type(given).__module__.partition(".")[0] == "dask" and hasattr(given, "map_partitions")
    return given if is_dask else None


async def lazily(function: Function, inputs: Any, kwargs: Mapping[str, Any]) -> Any:
    """Return the call as a Dask DataFrame; with `save_to` do it, and return what it returns for a Series.

    Parameters
    ----------
    function : coroutine function
        One of `webanalytics.api`.
    inputs : dask.dataframe.DataFrame or Series
        Its inputs.
    kwargs : Mapping
        The other arguments.

    Raises
    ------
    ParameterError
        For a function that does not answer row by row, and for arguments that cannot go to other machines.
    """
    parameter, *_ = signature(function).parameters
    operation = _operation(function, parameter)
    given = {key: value for key, value in kwargs.items() if key != parameter}
    _refuse(given, REFUSED)
    table = inputs.to_frame(inputs.name or parameter) if inputs.ndim == 1 else inputs
    if operation.kind != "image" and given.get("save_to", resolve({})["save_to"]) is not None:
        return await _kept(function, table, operation, parameter, given)
    _refuse(given, ("save_to",))
    arguments = _travelling(given, operation)
    column = arguments.pop("column", None)
    if _has_pages(table, operation):
        column = column or ("url" if "url" in table.columns else None)
    else:
        column = values_of(table._meta, Wanted.of(operation, parameter), column).name
        table = table[[column]]
        if operation.kind != "record":
            table = _by_host(table, column, arguments)
    meta = pd.DataFrame(await function(table._meta, column=column, **arguments))
    return table.map_partitions(_answered, function, column, arguments, meta=meta)


async def _kept(
    function: Function, table: Any, operation: Operation, parameter: str, given: Mapping[str, Any]
) -> Any:
    """Answer inputs, which travel, with rows in the folder of `save_to`; on their own cluster by default."""
    options = resolve({name: given[name] for name in ("save_to", "backend") if name in given})
    check_save_to(options, (operation,))
    place_of(options["save_to"], "save_to", "keeping rows")
    if _has_pages(table, operation):
        raise ParameterError(
            f"The `{parameter}` parameter must be without a column `html` where `save_to` is given, since "
            "pages do not leave their partitions: to keep it, leave out `save_to` and write what comes back.",
            parameter,
        )
    column = values_of(table._meta, Wanted.of(operation, parameter), given.get("column")).name
    said = {**given, "column": column}
    without = {"save_to": None, "backend": None, "progress": False}
    await function(table._meta, **{**said, **without})  # what is wrong is said before anything is computed
    values = await asyncio.to_thread(table[[column]].compute)
    return await function(values, **{**said, "backend": options["backend"] or _backend()})


def _has_pages(table: Any, operation: Operation) -> bool:
    return operation.kind == "page" and "html" in table.columns


def _backend() -> Dask | None:
    """Return the cluster that computes Dask DataFrames here; None where no client says which."""
    module = sys.modules.get("distributed")  # nobody has a client without it
    try:
        client = None if module is None else module.default_client()
    except ValueError:
        return None
    return None if client is None else Dask(client)


def _operation(function: Function, parameter: str) -> Operation:
    by_name = {operation.function: operation for operation in OPERATIONS.values()}
    found = AUDIT_PAGES[0] if function.__name__ == "audit" else by_name.get(function.__name__)
    if found is None:
        raise ParameterError(
            f"The `{parameter}` parameter must be on this machine, not a Dask DataFrame: call its "
            "`compute()` first.",
            parameter,
        )
    return found


def _refuse(given: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for key in names:
        if given.get(key) is not None:
            raise ParameterError(
                f"The `{key}` parameter must be left out with a Dask DataFrame, whose partitions are "
                "answered on other machines: call its `compute()` first.",
                key,
            )


def _travelling(given: dict[str, Any], operation: Operation) -> dict[str, Any]:
    """Return the arguments for each partition, the options of this session included."""
    options = resolve({})
    backend = given.pop("backend", options["backend"])
    if backend is not None and backend.name not in ("local", "dask"):
        raise ParameterError(
            "The `backend` parameter must be None with a Dask DataFrame: its partitions are answered where "
            "they are computed.",
            "backend",
        )
    here = {"backend": None, "checkpoint": None, "progress": False}
    own = {key: options[key] for key in options_for(operation.kind)}
    return {**own, **given, **here}


def _by_host(table: Any, column: Any, options: Mapping[str, Any]) -> Any:
    """Return a table whose partitions have each host in one of them; the order of rows is lost."""
    allow, ports = options["allow_private"], options["ports"]
    hosts = table[column].map_partitions(_hosts, allow, ports, meta=(HOST, "object"))
    return table.assign(**{HOST: hosts}).shuffle(on=HOST)[[column]]


def _hosts(values: pd.Series, allow_private: bool, ports: Any) -> pd.Series:
    """Return the host of each address; of what has none, its place, to spread it."""
    found = [
        _host(value, allow_private, ports) if isinstance(value, str) else str(place)
        for place, value in enumerate(values.tolist())
    ]
    return pd.Series(found, index=values.index, name=HOST, dtype=object)


def _host(value: str, allow_private: bool, ports: Any) -> str:
    url = f"https://{value.strip()}" if lacks_scheme(value) else value
    try:
        return host_key(check_url(url, allow_private=allow_private, ports=ports))
    except Problem:
        return value


def _answered(
    part: pd.DataFrame, function: Function, column: Any, arguments: Mapping[str, Any]
) -> pd.DataFrame:
    """Answer a partition, on the machine that computes it."""

    def answer() -> Any:
        return asyncio.run(function(part, column=column, **arguments))

    with ThreadPoolExecutor(1) as thread:  # the caller's thread may have an event loop
        return pd.DataFrame(thread.submit(answer).result())
