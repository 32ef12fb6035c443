"""Phone numbers at the speed of arrays: a million of them in a second, with details in a few."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from webanalytics.errors import ParameterError
from webanalytics.records.phones.lookup import Lookup, lookup_many
from webanalytics.runs.frames.schema import PANDAS_3


def phones_frame(
    values: pd.Series,
    region: str | None = None,
    regions: NDArray[np.object_] | None = None,
    *,
    details: bool = False,
) -> pd.DataFrame:
    """Look up a column of phone numbers, all of one region or each of its own.

    Returns
    -------
    pandas.DataFrame
        With the index of the input: ``phone`` (E.164), ``isDisposable``, ``firstSeen``, ``ok`` (whether there
        is a number) and ``error`` (the sentence of a row without one); with details also ``country``,
        ``carrier``, ``line_type`` and ``valid``.

    Raises
    ------
    ParameterError
        When the region is unknown.

    Examples
    --------
    >>> phones_frame(pd.Series(["+12085813945", "n/a"]))[["isDisposable", "firstSeen", "ok"]].values.tolist()
    [[True, '2024-01-30', True], [<NA>, nan, False]]
    """
    found = lookup_many(values.to_numpy(dtype=object), region)
    if regions is not None:
        _read_by_region(found, values.to_numpy(dtype=object), regions)
    same = found.as_given and values.dtype == _string_dtype()
    phone = values.array if same else _strings(found.phone)
    columns = {
        "phone": phone,
        "isDisposable": pd.arrays.BooleanArray(found.disposable, ~found.ok),
        "firstSeen": _strings(found.first_seen),
        "ok": found.ok,
        "error": _strings(found.error),
    }
    if details:
        columns |= _details(found)
    return pd.DataFrame(columns, index=values.index)


def _details(found: Lookup) -> dict[str, Any]:
    """Return the columns of details; rows without a number have none."""
    from webanalytics.records.phones.plans import many_details  # its library takes time to load

    country, carrier, line_type = (np.full(len(found.ok), None, dtype=object) for _ in range(3))
    valid = np.zeros(len(found.ok), dtype=bool)
    known = many_details(found.digits[found.ok])
    for whole, part in zip((country, carrier, line_type, valid), known, strict=True):
        whole[found.ok] = part
    texts = {"country": country, "carrier": carrier, "line_type": line_type}
    return {name: _strings(column) for name, column in texts.items()} | {
        "valid": pd.arrays.BooleanArray(valid, ~found.ok)
    }


def _read_by_region(found: Lookup, given: NDArray[np.object_], regions: NDArray[np.object_]) -> None:
    """Read the numbers that have no international format again, region by region."""
    for region in dict.fromkeys(regions[~found.ok].tolist()):
        rows = np.flatnonzero(~found.ok & (regions == region)) if region is not None else ()
        if not len(rows):
            continue
        try:
            part = lookup_many(given[rows], region)
        except ParameterError as error:
            found.error[rows] = str(error)
            continue
        for whole, new in zip(found[:-1], part[:-1], strict=True):
            whole[rows] = new


def _string_dtype() -> Any:
    return pd.array([], dtype="str").dtype if PANDAS_3 else np.dtype(object)


def _strings(values: NDArray[np.object_]) -> Any:
    """Return a string column with NaN for None."""
    if PANDAS_3:
        return pd.array(values, dtype="str")
    return np.where(pd.isna(values), np.nan, values)
