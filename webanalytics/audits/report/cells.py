"""Cells of frames -> JSON values, each distinct one once, for the script of the report."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.runs.storage.lazy_columns import values_of_column

Scalar = str | int | float | bool | None

LONGEST = 1000
"""Most characters of a text that the report shows; a cut is marked."""

MOST_PARTS = 20
"""Most items of a list that the report shows."""


def scalar(value: Any, longest: int = LONGEST) -> Scalar:
    """Return a cell of a frame as a JSON value; a missing one, NaN and infinity are None.

    Examples
    --------
    >>> scalar(float("nan")), scalar(60.0), scalar(["Article", "Person"]), scalar("abcdef", 4)
    (None, 60, 'Article, Person', 'abc…')
    """
    if isinstance(value, str):
        return _cut(value, longest)
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value) if abs(int(value)) < 2**53 else str(value)
    if isinstance(value, (float, np.floating)):
        return _number(float(value))
    if isinstance(value, date):
        return value.isoformat()
    return _cut(_composed(value), longest)


def _number(value: float) -> int | float | None:
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < 2**53 else round(value, 4)


def _composed(value: Any) -> str:
    if isinstance(value, Mapping):
        return json.dumps(_bounded(value), ensure_ascii=False, default=str)
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        parts = list(value)
        texts = [str(scalar(part)) for part in parts[:MOST_PARTS]]
        return ", ".join([*texts, f"and {len(parts) - MOST_PARTS} more"] if parts[MOST_PARTS:] else texts)
    return str(value)


def _bounded(value: Mapping[Any, Any]) -> dict[str, Scalar]:
    return {str(key): scalar(part, 200) for key, part in list(value.items())[:MOST_PARTS]}


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def column(frame: pd.DataFrame, name: str, longest: int = LONGEST) -> list[Scalar]:
    """Return a column as JSON values; all None if the frame lacks the column.

    Of several columns of one name, the first is used.
    """
    if name not in frame.columns:
        return [None] * len(frame)
    series = frame[name]
    if isinstance(series, pd.DataFrame):
        series = series.iloc[:, 0]
    if isinstance(series.dtype, pd.CategoricalDtype) or pd.api.types.is_numeric_dtype(series.dtype):
        places, values = pd.factorize(series)
        known = [*(scalar(value, longest) for value in values.tolist()), None]
        return [known[place] for place in places.tolist()]
    return [
        value if type(value) is str and len(value) <= longest else scalar(value, longest)
        for value in values_of_column(series)
    ]


class Cells:
    """Distinct values in the order of their first use; None is always the first.

    Examples
    --------
    >>> cells = Cells()
    >>> cells.places(["a", None, "a", 1, True])
    [1, 0, 1, 2, 3]
    >>> cells.values
    [None, 'a', 1, True]
    """

    def __init__(self) -> None:
        self.values: list[Scalar] = [None]
        self._places: dict[tuple[type, Scalar], int] = {(type(None), None): 0}

    def places(self, values: Iterable[Scalar]) -> list[int]:
        """Return the position of each value."""
        keys = [(type(value), value) for value in values]
        new = [key for key in dict.fromkeys(keys) if key not in self._places]
        self._places.update(zip(new, range(len(self.values), len(self.values) + len(new)), strict=True))
        self.values += [value for _, value in new]
        return [self._places[key] for key in keys]


def table(cells: Cells, frame: pd.DataFrame, names: Sequence[str]) -> dict[str, list[int]]:
    """Return columns of a frame as positions among the cells."""
    return {str(name): cells.places(column(frame, name)) for name in names}
