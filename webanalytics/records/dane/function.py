"""`webanalytics.dane`: TLSA records, and whether certificates match them."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

import pandas as pd

from webanalytics.core.option_types import RecordOptions
from webanalytics.operations import DANE
from webanalytics.records.dane.certificates import matcher
from webanalytics.records.dane.inputs import read_records, with_name
from webanalytics.runs.frames.inputs import Inputs
from webanalytics.runs.run import Hooks, collect

__all__ = ["dane"]


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
