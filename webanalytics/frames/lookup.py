"""Phone look-up without details: whole columns at once, and no job for each row."""

from __future__ import annotations

import numpy as np
import pandas as pd

from webanalytics.frames.inputs import Inputs, read_values
from webanalytics.frames.phones import phones_frame
from webanalytics.frames.schema import STATUS, as_frame, make_series
from webanalytics.operations import PHONE


def lookup_frame(numbers: Inputs, column: str | None = None, region: str | None = None) -> pd.DataFrame:
    """Return the frame of `webanalytics.phones` with the specification's three fields alone.

    Parameters
    ----------
    numbers : list, Series, DataFrame, ...
        Phone numbers.
    column : str, optional
        Column of a DataFrame that holds them.
    region : str, optional
        ISO 3166 code of the country whose national format the numbers may have.

    Returns
    -------
    pandas.DataFrame
        ``input``, ``status``, ``phone``, ``isDisposable``, ``firstSeen``, ``error``, ``error_type``.
    """
    values = read_values(numbers, PHONE, "numbers", column)
    found = phones_frame(values, region)
    good = found["ok"].to_numpy()
    index = values.index
    kinds = np.full(len(values), "invalid", dtype=object)
    kinds[good] = None
    columns = {
        PHONE.input_column: _shown(values),
        STATUS.name: make_series(np.where(good, "ok", "error"), "string", index),
        "phone": found["phone"],
        "isDisposable": found["isDisposable"],
        "firstSeen": found["firstSeen"],
        "error": found["error"],
        "error_type": make_series(kinds, "string", index),
    }
    return as_frame(columns, index, PHONE.name)


def _shown(values: pd.Series) -> pd.Series:
    """Return the inputs as text."""
    if pd.api.types.infer_dtype(values, skipna=False) == "string":
        return make_series(values.array, "string", values.index)
    texts = [None if np.ndim(v) == 0 and pd.isna(v) else str(v)[:200] for v in values.tolist()]
    return make_series(texts, "string", values.index)
