"""Small histograms, one per row, on one scale: distributions side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from webanalytics.core.strings import counted
from webanalytics.notebook.drawing import captions, style
from webanalytics.notebook.drawing.labels import BASE_FONT

BASE, TALLEST = 0.42, 0.72
"""Where a row's bars stand, and the height of the tallest, where the rows are 1 apart."""


def ridge(
    ax: Axes,
    row: int,
    values: NDArray[np.float64],
    edges: NDArray[np.float64],
    colour: str,
    within: tuple[float, float] | None = None,
) -> float:
    """Draw how values are distributed, upwards from the base of a row; the end bars hold what lies beyond.

    Bars outside the limits of `within`, which are edges, are hollow. A bar's area stands for its values: what
    is returned is how many of them a unit of the scale has where the bar is the tallest.
    """
    counts, _ = np.histogram(values.clip(edges[0], edges[-1]), bins=edges)
    dense = counts / np.diff(edges)
    most = max(float(np.max(dense)), 1e-9)
    heights = dense / most * TALLEST
    middles = (edges[:-1] + edges[1:]) / 2
    low, high = within or (-math.inf, math.inf)
    filled = (middles > low) & (middles < high)
    base = row + BASE  # the axis points down, so that the first row is at the top
    ax.bar(
        edges[:-1],
        -heights,
        np.diff(edges),
        bottom=base,
        align="edge",
        color=[colour if inside else style.CARD for inside in filled],
        linewidth=[0.6 if inside else 0.9 for inside in filled],
        edgecolor=[style.CARD if inside else colour for inside in filled],
    )
    ax.hlines(base, edges[0], edges[-1], color=style.MUTED, linewidth=0.6)
    return most


def count_axes(ax: Axes, most: Sequence[float], width: float) -> None:
    """Give each row an axis of counts, between its bars and its label: values in a `width` of the scale."""
    places, names = [], []
    for row, dense in enumerate(most):
        tallest = dense * width
        steps = MaxNLocator(nbins=3, integer=True, steps=[1, 2, 5, 10]).tick_values(0, tallest)
        for count in (round(step) for step in steps if 0 <= step <= tallest):
            places.append(row + BASE - count / tallest * TALLEST)
            names.append(f"{count:,}")
    ax.set_yticks(places, labels=names, minor=True, fontfamily=[BASE_FONT])
    look: dict[str, Any] = {"labelcolor": style.muted(ax), "labelsize": 8}
    ax.tick_params(axis="y", which="minor", length=3, color=style.GRID, **look)
    ax.tick_params(axis="y", which="major", pad=max(24, 12 + 6 * max(map(len, names))))


def median_mark(ax: Axes, row: int, value: float, label: str) -> None:
    """Mark the median of a row, with its value next to the mark."""
    ax.vlines(value, row - 0.36, row + 0.42, color=style.ORANGE, linewidth=2)
    left, right = ax.get_xlim()
    inside = value > left + 0.85 * (right - left)
    captions.inner_text(
        ax,
        label,
        (value, row - 0.28),
        (-4 if inside else 4, 0),
        ha="right" if inside else "left",
        color=style.INK,
        bbox={"facecolor": style.CARD, "edgecolor": "none", "pad": 0.8, "alpha": 0.75},
    )


def reach(values: NDArray[np.float64]) -> float:
    """Return where a scale for the values may end, so that a few huge ones do not squeeze the others.

    Examples
    --------
    >>> reach(np.array([1.0, 2.0, 3.0]))
    3.0
    >>> reach(np.array([*range(100), 1_000_000.0])) < 500
    True
    """
    low, high = np.quantile(values, [0.25, 0.75]).tolist()
    return float(min(float(np.max(values)), high + 6 * max(high - low, high / 6, 1e-9)))


def beyond(values: NDArray[np.float64], end: float) -> str:
    """Return how many pages the last bar holds that are beyond the scale.

    >>> beyond(np.array([3.0, 25.2, 41.0]), 22)
    'the last bar holds 2 pages beyond the scale, up to 41'
    """
    count = int((values > end).sum())
    pages = counted(count, "page")
    return f"the last bar holds {pages} beyond the scale, up to {np.max(values):,.0f}" if count else ""


def between(
    low: float, high: float, limits: tuple[float, ...], most: int, whole: bool = False
) -> NDArray[np.float64]:
    """Return edges of about so many bars over a range, with every limit inside it on an edge.

    Examples
    --------
    >>> between(3, 12, (4.9, 6.0, 7.0), 9).round(2).tolist()
    [3.0, 3.95, 4.9, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
    >>> between(-0.5, 90, (29.5, 60.5), 18, whole=True)[[0, 6, 12]].tolist()
    [-0.5, 29.5, 60.5]
    """
    stops = [low, *sorted(limit for limit in limits if low < limit < high), high]
    width = (high - low) / most
    edges = [low]
    for left, right in pairwise(stops):
        pieces = max(1, round((right - left) / width))
        parts = np.linspace(0, right - left, pieces + 1)[1:]
        inner = np.round(parts[:-1]) if whole else parts[:-1]
        edges += [*(left + inner).tolist(), right]
    return np.unique(np.array(edges, dtype=float))


def steps(low: float, high: float, most: int, whole: bool) -> NDArray[np.float64]:
    """Return edges of at most so many bars of a round width that cover the range.

    Examples
    --------
    >>> steps(0, 97, 10, whole=True).tolist()
    [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0]
    >>> steps(0, 0, 10, whole=True).tolist()
    [0.0, 1.0]
    """
    span = max(high - low, 1e-6 if not whole else 1.0)
    raw = span / most
    power = 10.0 ** math.floor(math.log10(raw))
    width = next(power * step for step in (1, 2, 2.5, 5, 10) if power * step >= raw * (1 - 1e-9))
    width = max(1.0, math.ceil(width)) if whole else width
    first = math.floor(low / width)
    last = max(math.ceil(high / width - 1e-9), first + 1)
    return np.arange(first, last + 1, dtype=float) * width
