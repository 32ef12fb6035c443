"""Certificates beside TLSA records: whether each record matches its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics.errors import ParameterError
from webanalytics.frames.schema import make_series


def matcher(certificates: Any, count: int) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return a function that adds the column ``matches_certificate`` to a frame of records.

    Parameters
    ----------
    certificates : object
        None, one certificate or chain for all records, or a list or Series with one for each.
    count : int
        How many records there are.

    Returns
    -------
    callable
        Frame in, frame out; the column is boolean, missing where there is nothing to compare.

    Raises
    ------
    ParameterError
        For a list of another length.
    """
    if certificates is None:
        return lambda frame: frame
    given = (
        list(certificates) if isinstance(certificates, (list, tuple, pd.Series)) else [certificates] * count
    )
    if len(given) != count:
        raise ParameterError(
            f"The `certificates` parameter must have one entry for each of the {count} records, "
            f"or be one certificate for all; it has {len(given)}.",
            "certificates",
        )

    def add(frame: pd.DataFrame) -> pd.DataFrame:
        from webanalytics.analysis.tlsa import matches

        records = frame["raw_record"].where(frame["status"] == "ok").tolist()
        found = [
            matches(record, one) if isinstance(record, str) and _given(one) else None
            for record, one in zip(records, given, strict=True)
        ]
        frame.insert(
            len(frame.columns) - 2, "matches_certificate", make_series(found, "boolean", frame.index)
        )
        return frame

    return add


def _given(certificate: Any) -> bool:
    return isinstance(certificate, (str, bytes, Path)) or not (
        certificate is None or certificate != certificate
    )
