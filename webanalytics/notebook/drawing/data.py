"""Frames -> the data a chart draws: the columns needed, each page once, and a note on what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from webanalytics.core.strings import encodable
from webanalytics.errors import ParameterError, whole_number
from webanalytics.notebook.drawing.labels import shorten
from webanalytics.runs.frames.schema import is_missing

STATE = ("status", "error", "error_type")
"""Columns with the outcome of a row; a frame may lack them."""

MOST_ROWS = 200
"""Most rows of one chart: a taller picture could be neither drawn nor read."""


def pick(
    frame: Any, columns: Collection[str], makers: Collection[str], optional: Collection[str] = ()
) -> pd.DataFrame:
    """Return the columns a chart needs, those of the row's state included, with the index of the frame.

    Raises `ParameterError` if it is not a DataFrame; or naming the columns that are missing or duplicated.

    Examples
    --------
    >>> pick(pd.DataFrame({"url": []}), ["url", "wordCount"], ["readability"])
    Traceback (most recent call last):
    webanalytics.errors.ParameterError: The `frame` parameter must have the column `wordCount`, as a frame of webanalytics.readability has.
    """  # noqa: E501
    made = " or ".join(f"webanalytics.{maker}" for maker in makers)
    frame = pages(frame, columns)
    if not isinstance(frame, pd.DataFrame):
        raise ParameterError.must_be("frame", f"a DataFrame of {made}, not {type(frame).__name__}")
    frame = _of_texts(frame)
    names = list(frame.columns)
    missing = [name for name in columns if name not in names]
    if missing:
        noun = "column" if len(missing) == 1 else "columns"
        listed = ", ".join(f"`{name}`" for name in missing)
        raise ParameterError.on("frame", f"must have the {noun} {listed}, as a frame of {made} has")
    wanted = [*columns, *(name for name in (*optional, *STATE) if name in names and name not in columns)]
    for name in wanted:
        if names.count(name) > 1:
            raise ParameterError.on("frame", f"must have the column `{name}` only once")
    picked: pd.DataFrame = frame[wanted]
    return picked


def is_audit(frame: Any) -> bool:
    """Return whether this is an audit: `webanalytics.Audit` is above this room."""
    return not isinstance(frame, pd.DataFrame) and hasattr(type(frame), "issues")


def pages(frame: Any, columns: Collection[str]) -> Any:
    """Return the pages of an audit, as they were read if that has the columns; anything else unchanged."""
    if not is_audit(frame):
        return frame
    return frame.raw if set(columns) <= set(frame.raw.columns) else frame.pages


def _of_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame about texts with the labels of its index as ``url``; any other unchanged."""
    names = list(frame.columns)
    if "url" in names or names.count("text") != 1 or names[0] != "text":
        return frame
    numbered = isinstance(frame.index, pd.RangeIndex)
    labels = frame["text"] if numbered else pd.Series(frame.index.map(str), index=frame.index, dtype=object)
    return frame.assign(url=labels)


def distinct(frame: pd.DataFrame, by: str = "url") -> pd.DataFrame:
    """Return each page once; pages without a URL are all different.

    >>> distinct(pd.DataFrame({"url": ["a", "a", "", "", None]})).index.tolist()
    [0, 2, 3, 4]
    """
    keys = [_key(value) for value in frame[by].tolist()]
    repeated = pd.Series(keys, index=frame.index, dtype=object).duplicated().to_numpy()
    nameless = np.array([key == "" for key in keys], dtype=bool)
    kept: pd.DataFrame = frame[~repeated | nameless]
    return kept


def is_of_several_hosts(urls: Collection[str | None]) -> bool:
    """Return whether fewer than nine in ten addresses are of one host: then they are cut by hosts.

    Examples
    --------
    >>> is_of_several_hosts(["https://a.example/x", "https://b.example/x"]), is_of_several_hosts(["/a", "/b"])
    (True, False)
    """
    counts = Counter(filter(None, map(host_of, urls)))
    return bool(counts) and max(counts.values()) < 0.9 * counts.total()


def host_of(url: str | None) -> str:
    """Return the host of an address without ``www.``, '' where there is none."""
    _, slashes, rest = (url or "").partition("://")
    return rest.partition("/")[0].lower().removeprefix("www.") if slashes else ""


def _key(value: Any) -> str:
    if isinstance(value, str):
        # pandas' strings refuse half a surrogate pair
        return encodable(value).strip()
    return "" if is_missing(value) else encodable(str(value))


def numbers(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Return a column as floats, NaN for anything but a finite number.

    >>> numbers(pd.Series([1, "2", None, "x", float("inf")], dtype=object)).tolist()
    [1.0, 2.0, nan, nan, nan]
    """
    values = pd.to_numeric(column.astype(object), errors="coerce").astype("Float64")
    found: NDArray[np.float64] = np.array(values.to_numpy(dtype=float, na_value=np.nan))
    found[~np.isfinite(found)] = np.nan
    return found


def strings(column: pd.Series[Any]) -> list[str | None]:
    """Return a column as strings on one line, None for what is missing or blank.

    >>> strings(pd.Series([" two  words ", "", None, 3], dtype=object))
    ['two words', None, None, '3']
    """
    known: dict[str, str | None] = {}  # most columns repeat few values
    found = []
    for value in column.tolist():
        if type(value) is str and value in known:
            found.append(known[value])
            continue
        text = " ".join(_key(value).split()) or None
        if type(value) is str:
            known[value] = text
        found.append(text)
    return found


def has_failed(frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which rows failed."""
    if "status" not in frame.columns:
        return np.zeros(len(frame), dtype=bool)
    return np.array([value == "error" for value in strings(frame["status"])], dtype=bool)


def failures(frame: pd.DataFrame) -> str:
    """Return the number of failed rows by kind of failure, or an empty string.

    >>> failures(pd.DataFrame({"status": ["ok", "error", "error"], "error_type": [None, "dns", "dns"]}))
    '2 failed (2 dns)'
    """
    failed = frame[has_failed(frame)]
    if failed.empty:
        return ""
    kinds = failed["error_type"].dropna().value_counts() if "error_type" in failed.columns else pd.Series()
    named = [f"{count:,} {shorten(str(kind), 20)}" for kind, count in kinds.items()]
    if len(named) > 4:
        named = [*named[:3], f"{sum(kinds.iloc[3:]):,} other"]
    names = ", ".join(named)
    return f"{len(failed):,} failed ({names})" if names else f"{len(failed):,} failed"


def left_out(frame: pd.DataFrame, usable: NDArray[np.bool_], lacking: str) -> str:
    """Return how many rows are not in a chart, and why.

    >>> frame = pd.DataFrame({"status": ["ok", "ok", "error"], "error_type": [None, None, "dns"]})
    >>> left_out(frame, np.array([True, False, False]), "without a grade")
    '1 without a grade · 1 failed (1 dns)'
    """
    short = int((~usable & ~has_failed(frame)).sum())
    return joined(f"{short:,} {lacking}" if short else "", failures(frame))


def joined(*parts: str) -> str:
    """Return the parts that are not empty, with a dot between them."""
    return " · ".join(part for part in parts if part)


def why_empty(frame: pd.DataFrame, none: str, one: str, several: str) -> str:
    """Return why there is nothing to draw: the error of a single row, or the message for this many rows."""
    if frame.empty:
        return none
    if len(frame) > 1:
        return several
    error = strings(frame["error"])[0] if "error" in frame.columns else None
    return shorten(error, 90) if error else one


def row_count(parameter: str, value: Any, low: int, high: int = MOST_ROWS) -> int:
    """Return how many rows or columns a chart is to have, or raise `ParameterError` for none or too many."""
    return whole_number(parameter, value, low, high)


def real_number(value: Any, parameter: str, above: float) -> float:
    """Return the number, or raise `ParameterError` if it is not a finite number above the given one."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float, np.integer, np.floating))
        or not above < value < np.inf
    ):
        raise ParameterError.must_be(parameter, f"a number above {above:g}")
    return float(value)
