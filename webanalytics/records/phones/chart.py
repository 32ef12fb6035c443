"""Disposable phone numbers by country and by the month they were first seen."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from webanalytics.core.strings import counted
from webanalytics.notebook.drawing import captions, data, style

_MONTH = re.compile(r"(\d{4})-(\d{2})(?!\d)")
_LONGEST_BY_MONTH = 120


@style.chart
def disposable_by_country(
    frame: pd.DataFrame, *, ax: Axes | None = None, top: int = 20, title: str | None = None
) -> Axes:
    """Draw what share of each country's numbers is disposable.

    The country with the most numbers is at the top, because a share of few numbers says little; the
    counts are next to each bar. Countries beyond `top` share the last row, and so do those of one number
    where others have more. Rows without a phone number are left out and counted.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.phones` returned: ``isDisposable``, ``country``.
    top : int
        The most countries to draw.

    Raises
    ------
    ParameterError
        When `top` is not from 1 to 200, or when the frame lacks the columns.

    Examples
    --------
    >>> frame = pd.DataFrame({"isDisposable": [True, False, False], "country": ["SE", "SE", "US"]})
    >>> ax = disposable_by_country(frame)
    >>> [(label.get_text(), float(bar.get_width())) for label, bar in zip(ax.get_yticklabels(), ax.patches)]
    [('SE', 50.0), ('US', 0.0)]
    """
    top = data.row_count("top", top, 1)
    numbers = data.pick(frame, ["isDisposable", "country"], ("phones",))
    flags = _flags(numbers)
    usable = ~np.isnan(flags)
    countries = [name or "unknown" for name in data.strings(numbers["country"])]
    found = pd.DataFrame({"country": countries, "flag": flags})[usable]
    table = _by_country(found, top)
    ax = style.start(ax, style.row_height(len(table), 1.3))
    if table.empty:
        captions.message(ax, _reason(numbers))
    else:
        _shares(ax, table)
    captions.headline(ax, title or _title(found), _note(numbers, usable))
    return ax


@style.chart
def disposable_by_month(frame: pd.DataFrame, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw in which month the disposable numbers were first seen.

    More than ten years are drawn by year. Numbers that are not disposable, or have no date, are not drawn;
    the latter and rows without a phone number are counted.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.phones` returned: ``isDisposable``, ``firstSeen``.

    Examples
    --------
    >>> frame = pd.DataFrame({"isDisposable": True, "firstSeen": ["2024-01-30", "2024-01-02", "2024-03-01"]})
    >>> [int(bar.get_height()) for bar in disposable_by_month(frame).patches]
    [2, 0, 1]
    """
    numbers = data.pick(frame, ["isDisposable", "firstSeen"], ("phones",))
    flags = _flags(numbers)
    months = np.array([_month(text) for text in data.strings(numbers["firstSeen"])], dtype=float)
    dated = (flags == 1) & ~np.isnan(months)
    undated = int((flags == 1).sum() - dated.sum())
    ax = style.start(ax, 3.8)
    if not dated.any():
        captions.message(ax, _no_dates(numbers, flags))
    else:
        _timeline(ax, months[dated].astype(int))
    heading = title or _when(int(dated.sum()))
    missing = f"{undated:,} without a date" if undated and dated.any() else ""
    captions.headline(ax, heading, data.joined(missing, _note(numbers, ~np.isnan(flags))))
    return ax


def _when(number: int) -> str:
    verb = "was" if number == 1 else "were"
    return f"When {counted(number, 'disposable number')} {verb} first seen"


def _flags(numbers: pd.DataFrame) -> NDArray[np.float64]:
    """Return 1 for a disposable number, 0 for another, NaN for a row without an answer."""
    known = {"true": 1.0, "1": 1.0, "1.0": 1.0, "false": 0.0, "0": 0.0, "0.0": 0.0}
    texts = data.strings(numbers["isDisposable"])
    flags = np.array([known.get((text or "").lower(), np.nan) for text in texts], dtype=float)
    flags[data.has_failed(numbers)] = np.nan
    return flags


def _note(numbers: pd.DataFrame, usable: NDArray[np.bool_]) -> str:
    return data.left_out(numbers, usable, "without an answer") if len(numbers) > 1 else ""


def _reason(numbers: pd.DataFrame) -> str:
    return data.why_empty(
        numbers, "No numbers.", "This is no phone number.", "None of these is a phone number."
    )


def _no_dates(numbers: pd.DataFrame, flags: NDArray[np.float64]) -> str:
    if np.isnan(flags).all():
        return _reason(numbers)
    if (flags == 1).any():
        return "No date is known for the disposable numbers."
    return "No disposable numbers."


def _title(found: pd.DataFrame) -> str:
    if found.empty:
        return "Disposable numbers by country"
    return f"{int(found['flag'].sum()):,} of {counted(len(found), 'number')} {_is(found)} disposable"


def _is(found: pd.DataFrame) -> str:
    return "is" if int(found["flag"].sum()) == 1 else "are"


def _by_country(found: pd.DataFrame, top: int) -> pd.DataFrame:
    """Return name, disposable and all numbers of the countries, by descending count, then share."""
    table = found.groupby("country", sort=True)["flag"].agg(disposable="sum", numbers="count").reset_index()
    table = table.sort_values("numbers", ascending=False, kind="stable")
    several = int((table["numbers"] > 1).sum()) or top  # a share of one number is no share
    shown, rest = table.head(min(top, several)), table.iloc[min(top, several) :]
    share = shown["disposable"] / shown["numbers"]
    order = np.lexsort((shown["country"], -share, -shown["numbers"]))
    shown = shown.iloc[order]
    if rest.empty:
        return shown
    others: dict[str, list[Any]] = {
        "country": [f"{len(rest):,} other" if len(rest) > 1 else rest["country"].iloc[0]],
        "disposable": [rest["disposable"].sum()],
        "numbers": [rest["numbers"].sum()],
    }
    return pd.concat([shown, pd.DataFrame(others)])


def _shares(ax: Axes, table: pd.DataFrame) -> None:
    disposable, numbers = table["disposable"].to_numpy(), table["numbers"].to_numpy()
    shares = disposable / numbers * 100
    rows = range(len(table))
    bars: Any = ax.barh(rows, shares, height=0.72, color=style.ORANGE, zorder=2)
    values = [
        f"{share:.0f}%  ({bad:,.0f} of {of:,})"
        for share, bad, of in zip(shares.tolist(), disposable.tolist(), numbers.tolist(), strict=True)
    ]
    captions.row_labels(ax, table["country"].tolist())
    captions.label_bars(ax, bars, values, 100)
    captions.grid(ax, "x")
    ticks = range(0, 101, 20)
    captions.finish_value_axis(ax, "disposable share of the numbers", ticks, [f"{tick}%" for tick in ticks])


def _month(text: str | None) -> float:
    """Return the months since year 0, NaN for anything but a date.

    >>> _month("2024-01-30") - _month("2023-12-31"), _month("2024-13-01"), _month(None)
    (1.0, nan, nan)
    """
    found = _MONTH.match(text or "")
    if found is None or not 1 <= int(found[2]) <= 12:
        return float("nan")
    return float(int(found[1]) * 12 + int(found[2]) - 1)


def _timeline(ax: Axes, months: NDArray[np.int64]) -> None:
    """Draw a bar for each month from the first to the last, or for each year of a long period."""
    by_year = int(np.max(months) - np.min(months)) >= _LONGEST_BY_MONTH
    periods = months // 12 if by_year else months
    first, last = int(np.min(periods)), int(np.max(periods))
    places = np.arange(first, last + 1)
    counts = np.bincount(periods - first, minlength=len(places))
    ax.bar(places, counts, width=0.86, color=style.ORANGE, zorder=2)
    around = max(0.6, (6 - len(places)) / 2)
    ax.set_xlim(first - around, last + around)
    captions.grid(ax, "y")
    captions.finish_count_axis(ax, "numbers", int(np.max(counts)))
    ticks = _ticks(places.tolist(), by_year, captions.most_ticks(ax, 44))
    names = [str(tick) if by_year else f"{tick // 12}-{tick % 12 + 1:02}" for tick in ticks]
    captions.finish_value_axis(ax, "first seen (year)" if by_year else "first seen (month)", ticks, names)


def _ticks(places: list[int], by_year: bool, most: int) -> list[int]:
    """Return at most so many periods to label: every second, third, ... and whole years where they fit."""
    steps = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if by_year else (1, 2, 3, 6, 12, 24, 60)
    step = next((step for step in steps if len(places) / step <= most), steps[-1])
    return [place for place in places if place % step == 0] or places[:1]
