"""Score and issues of a site over time: the chart of a history."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib import dates
from matplotlib.axes import Axes

from webanalytics.core.strings import counted
from webanalytics.notebook.charts.issues import FILLS
from webanalytics.notebook.drawing import captions, data, style


@style.chart
def timeline(frame: pd.DataFrame, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the score of each audit as a line, and its issues of high and medium priority as bars."""
    rows = data.pick(frame, ["date", "score", "high", "medium"], ("history(folder).scores()",))
    ax = style.start(ax, 3.2)
    days: Any = dates.date2num(pd.to_datetime(rows["date"]))  # type: ignore[no-untyped-call]
    bars, bottom = ax.twinx(), data.numbers(rows["high"]) * 0
    apart = np.diff(days, prepend=-np.inf, append=np.inf)  # an audit soon after another makes two bars narrow
    width = np.clip(np.minimum(apart[:-1], apart[1:]), (days[-1:] - days[:1]) / 300, 30) * 0.7
    for name in ("high", "medium"):
        counts = data.numbers(rows[name])
        bars.bar(days, counts, width, bottom, color=FILLS[name], alpha=0.45, label=f"{name} issues (right)")
        bottom = bottom + counts
    ax.plot(days, data.numbers(rows["score"]), color=style.BLUE, marker="o", markersize=4, label="score")
    ax.set(ylim=(0, 102), zorder=bars.get_zorder() + 1)
    ax.patch.set_visible(False)
    bars.set_ylim(0, max(*bottom.tolist(), 1, 1) * 2.5)
    locator = dates.AutoDateLocator(maxticks=7)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    captions.count_axis(bars.yaxis)
    captions.legend_below(ax, [*ax.get_lines(), *bars.containers])
    captions.headline(ax, title or f"{counted(len(rows), 'audit')} of a site")
    return ax
