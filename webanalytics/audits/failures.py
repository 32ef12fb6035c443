"""The pages of an audit that could not be read: why, how many, and the option that changes it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from webanalytics.frames.schema import as_frame, make_series
from webanalytics.messages import ADVICE, MESSAGES, recognise
from webanalytics.messages.table import MEANINGS
from webanalytics.operations.model import Dtype

COLUMNS: dict[str, Dtype] = {
    "reason": "string",
    "error_type": "string",
    "pages": "integer",
    "option": "string",
    "advice": "string",
    "url": "string",
    "error_key": "string",
}
"""Columns of a frame of failures."""


def failures(pages: pd.DataFrame) -> pd.DataFrame:
    """Return why pages could not be read: one row for each reason, the most frequent first.

    Parameters
    ----------
    pages : pandas.DataFrame
        The pages of an audit, one per row.

    Returns
    -------
    pandas.DataFrame
        ``reason`` (one sentence), ``error_type``, ``pages`` (rows), ``option`` (the option that changes it,
        such as ``allow_private=True``; missing where there is none), ``advice`` (what the option does),
        ``url`` (the first of the pages) and ``error_key`` (the name of the failure, which does not change;
        missing where a foreign service did not name it).

    Examples
    --------
    >>> rows = {"url": ["http://10.0.0.1/"], "status": ["error"], "error_type": ["blocked"]}
    >>> said = "The host is not public; `allow_private=True` lets it through."
    >>> found = failures(pd.DataFrame({**rows, "error": [said], "error_key": ["private"]}))
    >>> found[["reason", "pages", "option"]].values.tolist()
    [['The host is not public.', 1, 'allow_private=True']]
    """
    failed = pages[(pages["status"] != "ok").to_numpy(dtype=bool)] if "status" in pages else pages.head(0)
    groups: dict[tuple[str, str | None, str | None], list[Any]] = {}
    columns = (_texts(failed, name) for name in ("error", "error_type", "error_key", "url"))
    for error, kind, key, url in zip(*columns, strict=True):
        if error is not None and key not in MESSAGES:  # a frame that another version, or a file, gave
            known = recognise(error)
            key = None if known is None else known.key
        groups.setdefault((_reason(error, kind, key), kind, key), []).append(url)
    found = sorted(groups.items(), key=lambda item: -len(item[1]))
    advice = [ADVICE.get(key or "") for (_, _, key), _ in found]
    cells: dict[str, list[Any]] = {
        "reason": [reason for (reason, _, _), _ in found],
        "error_type": [kind for (_, kind, _), _ in found],
        "pages": [len(urls) for _, urls in found],
        "option": [None if item is None else item.option for item in advice],
        "advice": [None if item is None else item.effect for item in advice],
        "url": [next((url for url in urls if url is not None), None) for _, urls in found],
        "error_key": [key for (_, _, key), _ in found],
    }
    index = pd.RangeIndex(len(found))
    made = {name: make_series(cells[name], dtype, index) for name, dtype in COLUMNS.items()}
    return as_frame(made, index, "failures")


def _reason(error: str | None, kind: str | None, key: str | None) -> str:
    """Return the sentence of a row without the option that it names."""
    if not error:
        meaning: str | None = MEANINGS.get(kind)  # type: ignore[call-overload]
        return meaning or "The page was not read, and no reason is known."
    advice = ADVICE.get(key or "")
    cut = error if advice is None else error.removesuffix(f"; {advice.effect}.")
    return error if cut == error else f"{cut}."


def _texts(frame: pd.DataFrame, name: str) -> list[str | None]:
    if name not in frame:
        return [None] * len(frame)
    return [value if isinstance(value, str) else None for value in frame[name].tolist()]
