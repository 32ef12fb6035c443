"""Bands behind a chart: a scale divided into named parts, with the number of values in each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from webanalytics.notebook.drawing import captions, style

HEIGHT = 38
"""Height in points of the names above the axes."""


def paint(
    ax: Axes,
    limits: Sequence[float],
    names: Sequence[str],
    tints: Sequence[str],
    values: NDArray[np.float64] | None,
) -> None:
    """Paint the bands between the limits, name each, and scale the horizontal axis to them.

    Values beyond the outer limits count as inside; without `values` the bands are only named.
    """
    low, high = limits[0], limits[-1]
    counts: Sequence[int | None] = [None] * len(names)
    if values is not None:
        counts = np.histogram(values, bins=[-math.inf, *limits[1:-1], math.inf])[0].tolist()
    for (left, right), name, count, tint in zip(pairwise(limits), names, counts, tints, strict=True):
        ax.axvspan(left, right, facecolor=tint, edgecolor=style.CARD, linewidth=1, zorder=0)
        centre = ((left + right) / 2 - low) / (high - low)
        two_lines = "\n".join(name.replace("post-graduate", "post- graduate").split(" ", 1))
        up = 4 if count is None else 18
        captions.outer_text(ax, two_lines, (centre, 1), (0, up), ha="center", va="bottom", fontsize=8.5)
        if count is not None and values is not None:
            share = (
                f"{count:,}" if count == 0 or len(values) < 100 else f"{count:,} ({count / len(values):.0%})"
            )
            captions.outer_text(ax, share, (centre, 1), (0, 4), ha="center", va="bottom", fontsize=8.5)
    ax.set_xlim(low, high)


def tints(number: int, *, darkest_first: bool = False) -> list[str]:
    """Return the given number of tints from the style's sequence.

    >>> tints(3) == [*style.SEQUENCE[::2]]
    True
    """
    places = np.linspace(0, len(style.SEQUENCE) - 1, number).round().astype(int).tolist()
    chosen = [style.SEQUENCE[place] for place in places]
    return chosen[::-1] if darkest_first else chosen
