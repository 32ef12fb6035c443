"""Pages in several languages on one axis of audiences, each placed by the scale of its own language."""

from __future__ import annotations

from collections import Counter

import numpy as np
from matplotlib.axes import Axes

from webanalytics.notebook.charts import readability_scale, ridges
from webanalytics.notebook.charts.readability_scale import Judged
from webanalytics.notebook.drawing import captions, style
from webanalytics.notebook.drawing.labels import path_labels
from webanalytics.thresholds import AUDIENCES, Scale

MOST_SCALES = 12
"""Most scales that have a row of their own, those of the most pages."""

_EDGES = np.arange(len(AUDIENCES) + 1, dtype=float)


def scales_shown(judged: Judged) -> list[Scale]:
    """Return the scales that have a row, the one of the most pages first."""
    return [scale for scale, _ in Counter(judged.scales).most_common(MOST_SCALES)]


def rows(ax: Axes, judged: Judged) -> None:
    """Draw a dot for each page, with its value, and the scale that it is on where most are on another."""
    _bands(ax, judged)
    places = judged.places.tolist()
    ax.hlines(range(len(places)), 0, places, color=style.BLUE, linewidth=1.2, alpha=0.45)
    ax.plot(places, range(len(places)), "o", color=style.BLUE, ms=6.5, clip_on=False)
    alone = len(set(judged.scales)) == 1
    most, times = Counter(judged.scales).most_common(1)[0]
    common = most if 2 * times > len(places) else None
    for row, (place, value, scale) in enumerate(zip(places, judged.values, judged.scales, strict=True)):
        inside = place > len(AUDIENCES) - (0.5 if alone else 1.4)
        captions.inner_text(
            ax,
            f"{value:,.1f}" if scale == common else f"{value:,.1f} {named(scale)}",
            (place, row),
            (-7 if inside else 7, 0),
            ha="right" if inside else "left",
            color=style.INK,
            bbox={"facecolor": style.CARD, "edgecolor": "none", "pad": 0.5, "alpha": 0.75}
            if inside
            else None,
        )
    captions.row_labels(ax, path_labels(judged.pages["url"]))
    _axis(ax, judged, "" if alone or common is None else f"; without a name: {named(common)}")


def distributions(ax: Axes, judged: Judged) -> None:
    """Draw one small histogram for each scale, with its median and the number of pages."""
    _bands(ax, judged)
    shown = scales_shown(judged)
    of_each = [[row for row, scale in enumerate(judged.scales) if scale == wanted] for wanted in shown]
    edges = np.linspace(0, len(AUDIENCES), 5 * len(AUDIENCES) + 1)
    for number, (scale, found) in enumerate(zip(shown, of_each, strict=True)):
        ridges.ridge(ax, number, judged.places[found], edges, style.BLUE)
        median = float(np.median([judged.values[row] for row in found]))
        ridges.median_mark(ax, number, scale.place(median), f"{median:,.1f}")
    captions.row_labels(ax, [named(scale) for scale in shown])
    captions.side_column(ax, "pages", [f"{len(found):,}" for found in of_each])
    _axis(ax, judged, "; the orange mark is the median")


def named(scale: Scale) -> str:
    """Return what a scale is called beside other ones, such as ``German, Flesch ease``."""
    return f"{scale.language}, {scale.short}" if scale.language else scale.short


def _bands(ax: Axes, judged: Judged) -> None:
    # counted by audience: a value at a limit is the easier one's on one scale, the harder one's on another
    middles = np.repeat(_EDGES[:-1] + 0.5, judged.audiences)
    readability_scale.paint(ax, _EDGES.tolist(), AUDIENCES, style.SEQUENCE, middles)


def _axis(ax: Axes, judged: Judged, said: str = "") -> None:
    """Name the axis: by the limits of the one scale, or by the audiences where there are several."""
    scales = list(dict.fromkeys(judged.scales))
    names = [""] * len(_EDGES)
    label = "audience, by the scale of each page's language"
    if len(scales) == 1:
        (scale,) = scales
        names = [f"{limit:g}" for limit in (scale.ends[0], *scale.limits, scale.ends[1])]
        label = scale.name
    captions.finish_value_axis(ax, f"{label}{said}", _EDGES.tolist(), names)
