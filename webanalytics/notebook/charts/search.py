"""Charts of search data beside an audit: clicks by cause, and one number of the pages against another."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from webanalytics.core.strings import counted
from webanalytics.notebook.charts.issues import EDGES, FILLS
from webanalytics.notebook.drawing import captions, data, style
from webanalytics.notebook.drawing.labels import BASE_FONT

AXES = {
    "clicks": "clicks from search",
    "crawl_depth": "clicks from the start",
    "impressions": "impressions",
    "position": "position in search results",
    "content_words": "words of content",
}
_MAKERS = ("audit(urls).with_search_data(file)",)


@style.chart
def clicks_by_cause(
    frame: pd.DataFrame, *, ax: Axes | None = None, top: int = 12, title: str | None = None
) -> Axes:
    """Draw how many clicks from search the pages have that each cause of issues touches, the most at the top.

    Parameters
    ----------
    frame : DataFrame
        An audit with search data, or its ``causes()``: ``cause``, ``priority`` and ``clicks``.
    top : int
        The most causes to draw.

    Examples
    --------
    >>> causes = {"cause": ["No titles.", "No h1."], "priority": ["high", "low"], "clicks": [7, 90]}
    >>> [int(bar.get_width()) for bar in clicks_by_cause(pd.DataFrame(causes)).patches]
    [90, 7]
    """
    top = data.row_count("top", top, 1)
    given = frame.causes() if data.is_audit(frame) else frame  # type: ignore[operator]
    causes = data.pick(given, ["cause", "priority", "clicks"], _MAKERS)
    causes = causes.assign(clicks=data.numbers(causes["clicks"]))
    usable = (causes["clicks"] > 0).to_numpy() & np.isfinite(causes["clicks"]) & ~data.has_failed(causes)
    found = causes[usable].sort_values("clicks", ascending=False, kind="stable")
    shown = found.head(top)
    ax = style.start(ax, style.row_height(len(shown), 1.7))
    if shown.empty:
        captions.message(ax, _reason(causes))
    else:
        levels = [name if name in FILLS else "low" for name in data.strings(shown["priority"])]
        fills, edges = [FILLS[name] for name in levels], [EDGES[name] for name in levels]
        captions.row_labels(ax, [name or "" for name in data.strings(shown["cause"])], width=70)
        bars = ax.barh(range(len(shown)), shown["clicks"], height=0.72, color=fills, edgecolor=edges)
        captions.label_bars(ax, bars, [f"{value:,.0f}" for value in shown["clicks"]], shown["clicks"].iloc[0])
        captions.grid(ax, "x")
        captions.count_axis(ax.xaxis)
        captions.finish_value_axis(ax, "clicks from search on the pages it touches")
        keys = [
            Patch(facecolor=FILLS[name], edgecolor=EDGES[name], label=name)
            for name in FILLS
            if name in levels
        ]
        captions.legend_below(ax, keys)
    hidden = f"the first {len(shown):,} of {counted(len(found), 'cause')}" * (len(shown) < len(found))
    left = data.left_out(causes, usable, "without clicks") if len(causes) > 1 else ""
    captions.headline(ax, title or "Clicks by cause", data.joined(hidden, left))
    return ax


@style.chart
def pages_against(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    x: str = "crawl_depth",
    y: str = "clicks",
    title: str | None = None,
) -> Axes:
    """Draw two numbers of each page against each other, a dot for each page.

    Parameters
    ----------
    frame : DataFrame
        An audit with search data, or its ``pages``.
    x, y : str
        Columns of numbers: how deep pages are and their clicks, or ``content_words`` and ``position``, whose
        axis has the first place at the top. Clicks and impressions rise by tens.

    Examples
    --------
    >>> pages = pd.DataFrame({"crawl_depth": [0, 1, 1], "clicks": [90, 7, None]})
    >>> pages_against(pages).collections[0].get_offsets().tolist()
    [[0.0, 90.0], [1.0, 7.0]]
    """
    pages = data.pick(frame, [x, y], _MAKERS, optional=["url"])
    pages = data.distinct(pages) if "url" in pages else pages
    across, up = data.numbers(pages[x]), data.numbers(pages[y])
    usable = np.isfinite(across) & np.isfinite(up) & ~data.has_failed(pages)
    ax = style.start(ax, 4.2)
    if usable.any():
        ax.scatter(across[usable], up[usable], s=26, color=style.BLUE, alpha=0.55, linewidths=0, zorder=3)
        _upright(ax, y, up[usable])
        ax.margins(x=0.04)
        if np.equal(across[usable], across[usable].round()).all():
            ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))
        captions.grid(ax, "both")
        captions.finish_value_axis(ax, AXES.get(x, x))
    else:
        captions.message(ax, _reason(pages))
    left = data.left_out(pages, usable, "without both") if len(pages) > 1 else ""
    heading = f"{AXES.get(y, y)} and {AXES.get(x, x)} of {counted(int(usable.sum()), 'page')}"
    captions.headline(ax, title or heading[:1].upper() + heading[1:], left)
    return ax


def _upright(ax: Axes, name: str, values: NDArray[np.float64]) -> None:
    most = float(values.max())
    if name in ("clicks", "impressions"):
        ax.set_yscale("symlog", linthresh=1)
        ticks = [0.0, *(10.0**power for power in range(len(f"{max(most, 0):.0f}") + 1))]
        ax.set_ylim(-0.3, max(most, 1) * 2)
    else:
        ax.yaxis.set_major_locator(MaxNLocator(nbins=6))
        ticks = [float(tick) for tick in ax.get_yticks()]
    low, high = ax.get_ylim()
    ticks = [tick for tick in ticks if low <= tick <= high]
    ax.set_yticks(ticks, labels=[f"{tick:,.12g}" for tick in ticks], fontfamily=[BASE_FONT])
    ax.minorticks_off()
    ax.set_ylim((high, low) if name == "position" else (low, high))
    ax.tick_params(axis="y", labelcolor=style.muted(ax), labelsize=9)
    ax.set_ylabel(AXES.get(name, name), fontfamily=[BASE_FONT], color=style.muted(ax), fontsize=9.5)


def _reason(rows: pd.DataFrame) -> str:
    return data.why_empty(rows, "No pages.", "This one has no clicks.", "None of these has both numbers.")
