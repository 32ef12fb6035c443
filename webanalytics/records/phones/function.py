"""`webanalytics.phones`: phone numbers, disposable or not, with details."""

from __future__ import annotations

from functools import partial
from typing import Unpack

import pandas as pd

from webanalytics.core.option_types import RecordOptions
from webanalytics.core.run_options import resolve
from webanalytics.operations import PHONE
from webanalytics.records.phones.columns import (
    DETAIL_COLUMNS,
    in_e164,
    look_up,
    own_regions,
    read_numbers,
    with_details,
    with_regions,
)
from webanalytics.records.phones.phone import check_region
from webanalytics.runs.frames.foreign import as_pandas
from webanalytics.runs.frames.inputs import Inputs
from webanalytics.runs.run import Hooks, collect

__all__ = ["phones"]


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
        Add ``country``, ``carrier``, ``line_type`` and ``valid``. A million numbers take some
        seconds, without details about one.
    **options
        Options of this call: those of `webanalytics.core.option_types.RecordOptions`.

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
    numbers = as_pandas(numbers, "numbers")
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
