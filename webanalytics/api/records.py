"""The functions over records that do more than their declarations say: TLSA records, phone numbers."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

import pandas as pd

from webanalytics.analysis.phones.phone import check_region
from webanalytics.frames.certificates import matcher
from webanalytics.frames.inputs import Inputs
from webanalytics.frames.lookup import (
    DETAIL_COLUMNS,
    in_e164,
    own_regions,
    read_numbers,
    with_details,
    with_regions,
)
from webanalytics.frames.tlsa import read_records, with_name
from webanalytics.operations import DANE, PHONE
from webanalytics.option_types import RecordOptions
from webanalytics.run_options import resolve
from webanalytics.runs.lookup import look_up
from webanalytics.runs.run import Hooks, collect

__all__ = ["dane", "phones"]


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
        Options of this call: those of `webanalytics.option_types.RecordOptions`.

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


async def phones(
    numbers: Inputs,
    *,
    column: str | None = None,
    region: str | None = None,
    details: bool = True,
    **options: Unpack[RecordOptions],
) -> pd.DataFrame:
    """Find out which phone numbers belong to disposable-number services.

    Parameters
    ----------
    numbers : str, iterable, Series, Index or DataFrame
        Phone numbers in E.164 format (``+12085813945``), or national ones with ``region``.
    column : str, optional
        Column of a DataFrame that holds the numbers.
    region : str, optional
        ISO 3166 code of the country whose national format the numbers may have, or the name of the column
        of a DataFrame that holds the region of each number.
    details : bool, default True
        Add ``country``, ``carrier``, ``line_type`` and ``valid``. A million numbers take a few
        seconds, without details less than one.
    **options
        Options of this call: those of `webanalytics.option_types.RecordOptions`.

    Returns
    -------
    pandas.DataFrame
        ``input``, ``status``, ``phone`` (E.164), ``isDisposable`` (boolean), ``firstSeen``
        (``YYYY-MM-DD``), the details, ``error``, ``error_type``.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work. A string that is not a number is a row.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

    Notes
    -----
    The list is that of the npm package ``@ip1sms/disposable-phone-numbers`` (MIT); countries,
    carriers and line types come from the phonenumbers package.

    Examples
    --------
    >>> import webanalytics as wa
    >>> frame = wa.phones(["+12085813945", "+12125550123"], details=False)
    >>> frame[["isDisposable", "firstSeen"]].values.tolist()
    [[True, '2024-01-30'], [False, nan]]
    """
    own = own_regions(numbers, column, region) if isinstance(region, str) else None
    if own is not None:
        numbers, column, region = own[0], None, None
    settings = PHONE.check_settings({"region": check_region(region), "details": details})
    chosen = resolve(options)
    if all(chosen[name] is None for name in ("backend", "store", "archive")):
        values = read_numbers(numbers, column)
        regions = None if own is None else own[1]
        return await look_up(values, region, regions, details=details, progress=chosen["progress"])
    if own is not None:
        numbers = with_regions(*own)
    frame = await collect(
        (PHONE,),
        numbers,
        "numbers",
        column=column,
        settings={"phone": settings},
        options=options,
        hooks=Hooks(
            on_answer=with_details if details else None, prepare=partial(in_e164, region=settings["region"])
        ),
    )
    return frame if details else frame[[name for name in frame.columns if name not in DETAIL_COLUMNS]]
