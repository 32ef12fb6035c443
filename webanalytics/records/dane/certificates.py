"""Certificates given with TLSA records: whether each record matches its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics.errors import ParameterError
from webanalytics.runs.frames.foreign import as_pandas
from webanalytics.runs.frames.schema import make_series


def matcher(certificates: Any, count: int) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return a function that adds the column ``matches_certificate`` to a frame of so many records.

    `certificates` is None, one certificate or chain for all records, or a list or Series with one for each.

    Returns
    -------
    callable
        Frame in, frame out; the column is boolean, missing where there is nothing to compare.

    Raises
    ------
    ParameterError
        For a list of another length, or a certificate that cannot be read.
    """
    if certificates is None:
        return lambda frame: frame
    certificates = as_pandas(certificates, "certificates")
    given = (
        list(certificates) if isinstance(certificates, (list, tuple, pd.Series)) else [certificates] * count
    )
    if len(given) != count:
        raise ParameterError(
            f"The `certificates` parameter must have one entry for each of the {count} records, "
            f"or be one certificate for all; it has {len(given)}.",
            "certificates",
        )

    from webanalytics.records.dane.tlsa import load_chain, matches

    known: dict[int, Any] = {}  # one certificate for many records is read once
    for one in given:
        if id(one) not in known:
            known[id(one)] = load_chain(one) if _given(one) else None
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


def _given(certificate: Any) -> bool:
    return isinstance(certificate, (str, bytes, Path)) or not (
        certificate is None or certificate != certificate
    )
