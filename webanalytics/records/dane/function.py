"""`webanalytics.dane`: TLSA records, names for those that have none, and whether certificates match them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np
import pandas as pd

from webanalytics.core.option_types import RecordOptions
from webanalytics.core.outcomes import Job, Particular
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import ParameterError, RowError
from webanalytics.operations import DANE
from webanalytics.records.dane.record import is_bare, named, read_owner, split_records
from webanalytics.runs.frames.foreign import as_pandas
from webanalytics.runs.frames.inputs import Inputs, read_values
from webanalytics.runs.frames.schema import is_missing, make_series
from webanalytics.runs.run import Hooks, collect

__all__ = ["dane"]

_NO_NAME = "the name is not a domain name"


def read_records(records: Inputs, column: str | None, name: str | None) -> tuple[pd.Series, str | None]:
    """Return records as a Series, and the name that all of those without one have.

    A string with several records, as ``dig +short`` prints them, is several rows. Where ``name`` is a column,
    each record without a name takes it from there.
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
    """Return a job with its record as a whole line, which is what a service reads, or refuse it."""
    record = job.subject
    if isinstance(record, Particular):
        name, record = dict(record.settings)["name"], record.subject
    if not is_bare(record):
        return job
    if not name:
        raise RowError("tlsa_name", parameter="record")
    return replace(job, subject=named(record, name))


def matcher(certificates: Any, count: int) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return a function that adds the column ``matches_certificate`` to a frame of so many records."""
    if certificates is None:
        return lambda frame: frame
    certificates = as_pandas(certificates, "certificates")
    given = (
        list(certificates) if isinstance(certificates, (list, tuple, pd.Series)) else [certificates] * count
    )
    if len(given) != count:
        raise ParameterError.on(
            "certificates",
            f"must have one entry for each of the {count} records, or be one certificate for all; it has "
            f"{len(given)}",
        )

    from webanalytics.records.dane.tlsa import load_chain, matches

    known: dict[int, Any] = {}  # one certificate for many records is read once
    for one in given:
        if id(one) not in known:
            known[id(one)] = None if is_missing(one) else load_chain(one)
    chains = [known[id(one)] for one in given]

    def add(frame: pd.DataFrame) -> pd.DataFrame:
        records = frame["raw_record"].where(frame["status"] == "ok").tolist()
        found = [
            matches(record, chain) if isinstance(record, str) and chain is not None else None
            for record, chain in zip(records, chains, strict=True)
        ]
        frame.insert(
            len(frame.columns) - 2, "matches_certificate", make_series(found, "boolean", frame.index)
        )
        return frame

    return add


async def dane(
    records: Inputs,
    *,
    column: str | None = None,
    name: str | None = None,
    certificates: Any = None,
    **options: Unpack[RecordOptions],
) -> pd.DataFrame:
    """Parse, explain and validate DANE/TLSA records.

    Parameters
    ----------
    records : str, iterable, Series, Index or DataFrame
        TLSA records as zone files have them, such as
        ``_443._tcp.example.org. 3600 IN TLSA 3 1 1 <hex>``, or without their names, as ``dig +short``
        prints them: ``3 1 1 <hex>``. A string of several records is several rows.
    column : str, optional
        Column of a DataFrame that holds the records.
    name : str, optional
        Name of the records that have none, such as ``_25._tcp.mail.example.org``, or the column of a
        DataFrame that holds their names. Without it, only the codes and data of such records are
        checked: host, port and protocol are missing, and ``is_valid`` does not depend on them.
    certificates : certificate, list or Series, optional
        One certificate or chain for all records, or one for each: PEM or DER bytes, PEM text, a
        path, or `cryptography.x509.Certificate`; adds the column ``matches_certificate``.
    **options
        Options of this call: those of `webanalytics.core.option_types.RecordOptions`.

    Returns
    -------
    pandas.DataFrame
        One row per record: ``raw_record``, the dicts ``parsed``, ``interpretation`` and
        ``validation``, and their main parts as separate columns.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work. A line that is not a TLSA record is a row.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

    Notes
    -----
    RFC 6698, RFC 7218 (names of the codes), RFC 7671 (operational guidance).

    Examples
    --------
    >>> import webanalytics as wa
    >>> frame = wa.dane("_25._tcp.mail.example.org. 3600 IN TLSA 3 1 1 " + "ab" * 32)
    >>> frame[["hostname", "port", "security_level"]].values.tolist()
    [['mail.example.org', 25, 'Recommended']]
    >>> short = wa.dane("3 1 1 " + "AB" * 28 + " " + "AB" * 4, name="_25._tcp.mail.example.org")
    >>> short[["hostname", "port", "is_valid"]].values.tolist()
    [['mail.example.org', 25, True]]
    """
    rows, shared = read_records(records, column, name)
    match = matcher(certificates, len(rows))
    frame = await collect(
        (DANE,),
        rows,
        "records",
        settings={"dane": {"name": shared}},
        options=options,
        hooks=Hooks(prepare=partial(with_name, name=shared)),
    )
    return match(frame)
