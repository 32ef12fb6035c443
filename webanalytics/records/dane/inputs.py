"""TLSA records as inputs: several in one text, and names for those that have none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.core.outcomes import Job, Particular
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import ParameterError, RowError
from webanalytics.operations import DANE
from webanalytics.records.dane.record import is_bare, named, read_owner, split_records
from webanalytics.runs.frames.foreign import as_pandas
from webanalytics.runs.frames.inputs import Inputs, is_missing, read_values

_NO_NAME = "the name is not a domain name"


def read_records(records: Inputs, column: str | None, name: str | None) -> tuple[pd.Series, str | None]:
    """Return records as a Series, and the name that all of those without one have.

    A string with several records, as ``dig +short`` prints them, is several rows. Where ``name`` is a column,
    each record without a name takes it from there.

    Raises
    ------
    ParameterError
        For a name that is neither a domain name nor a column.
    """
    if isinstance(records, str):
        records = split_records(records)
    table = as_pandas(records, "records")
    if isinstance(table, pd.DataFrame) and isinstance(name, str) and list(table.columns).count(name) == 1:
        values = read_values(table.drop(columns=name), DANE, "records", column)
        return _with_names(values, table[name].tolist()), None
    if name is not None:
        _check_name(name, table)
    return read_values(table, DANE, "records", column), name


def _check_name(name: object, table: Any) -> None:
    if (
        isinstance(name, str)
        and ("." in name or name.startswith("_"))
        and not any(map(str.isspace, name))
        and read_owner(name).problem != _NO_NAME
    ):
        return
    columns = [str(item) for item in table.columns] if isinstance(table, pd.DataFrame) else []
    parameter = DANE.parameter("name")
    hint = did_you_mean(name, columns) or "."
    raise ParameterError(f"The `name` parameter must be {parameter.expectation}{hint}", "name")


def _with_names(values: pd.Series, names: list[Any]) -> pd.Series:
    own = np.empty(len(values), dtype=object)
    for row, (record, name) in enumerate(zip(values.tolist(), names, strict=True)):
        needed = not is_missing(name) and str(name).strip() and is_bare(record)
        own[row] = Particular(record, (("name", str(name).strip()),)) if needed else record
    return pd.Series(own, index=values.index, dtype=object)


def with_name(job: Job, name: str | None) -> Job:
    """Return a job with its record as a whole line, which is what a service reads.

    Raises
    ------
    RowError
        For a record without a name where none is given.
    """
    record = job.subject
    if isinstance(record, Particular):
        name, record = dict(record.settings)["name"], record.subject
    if not is_bare(record):
        return job
    if not name:
        raise RowError("tlsa_name", parameter="record")
    return replace(job, subject=named(record, name))
