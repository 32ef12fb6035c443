"""A chart of a crawl: its pages by clicks from the start and by what their server answered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from numpy.typing import NDArray

from webanalytics.core.strings import counted, percent
from webanalytics.notebook.drawing import captions, data, style

CLASSES: dict[str, str] = {
    "read": style.BLUE,
    "redirected": style.HEAT[1],
    "client error (4xx)": style.LEVELS[3],
    "server error (5xx)": style.LEVELS[4],
}
"""What became of a page, and its colour."""

NOWHERE = "not linked"
DEEPEST = 15
"""Clicks from which pages share one bar."""


@style.chart
def crawl_depth(frame: pd.DataFrame, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw how many pages of a site are how many clicks from the start, by what became of them.

    Pages that no way leads to, which a sitemap or a canonical link named, have a bar of their own. A page
    that is in the frame twice counts once; pages that gave no answer are left out and counted.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.crawl` returned, or its ``pages``: ``crawl_depth``; ``url``, ``http_status`` and
        ``redirects`` if there are any.

    Examples
    --------
    >>> ax = crawl_depth(pd.DataFrame({"crawl_depth": [0, 1, 1, 2], "http_status": [200, 200, 404, 200]}))
    >>> [label.get_text() for label in ax.get_yticklabels()], [int(bar.get_width()) for bar in ax.patches]
    (['start', '1 click', '2 clicks'], [1, 1, 1, 1])
    """
    pages = pages_of(frame, ["crawl_depth"], ["url", "http_status", "redirects"])
    classes = _classes(pages)
    usable = np.array([name is not None for name in classes], dtype=bool)
    depths = data.numbers(pages["crawl_depth"])
    rows, names = _rows(depths[usable])
    ax = style.start(ax, style.row_height(len(names), 1.9, each=0.34))
    if not usable.any():
        captions.message(ax, why_none(pages))
    else:
        _bars(ax, rows, names, [name for name in classes if name])
    note = data.failures(pages[~usable]) if len(pages) > 1 else ""
    heading = f"Depth of {counted(int(usable.sum()), 'page')}" if usable.any() else "Depth of pages"
    captions.headline(ax, title or heading, note)
    return ax


def pages_of(frame: Any, columns: list[str], optional: list[str]) -> pd.DataFrame:
    """Return columns of the pages of a crawl, each page once, those that failed last of the equal ones."""
    given = data.pages(frame, [*columns, *optional])
    picked = data.pick(given, columns, ("crawl(url)",), optional=optional)
    if "url" not in picked.columns:
        return picked
    order = np.argsort(data.has_failed(picked), kind="stable")
    kept = data.distinct(picked.iloc[order].assign(place=order))
    found: pd.DataFrame = kept.sort_values("place", kind="stable").drop(columns="place")
    return found


def _classes(pages: pd.DataFrame) -> list[str | None]:
    size = len(pages)
    codes = data.numbers(pages["http_status"]) if "http_status" in pages.columns else np.full(size, np.nan)
    hops = pages["redirects"].tolist() if "redirects" in pages.columns else [()] * size
    found: list[str | None] = []
    for failed, code, way in zip(data.has_failed(pages), codes.tolist(), hops, strict=True):
        if code >= 400:
            found.append("server error (5xx)" if code >= 500 else "client error (4xx)")
        elif failed:
            found.append(None)
        else:
            found.append("redirected" if isinstance(way, (list, tuple)) and way else "read")
    return found


def _rows(depths: NDArray[np.float64]) -> tuple[list[int], list[str]]:
    known = np.isfinite(depths)
    deepest = int(min(depths[known].max(), DEEPEST)) if known.any() else -1
    rows = [
        int(min(max(depth, 0), DEEPEST)) if is_known else deepest + 1
        for depth, is_known in zip(depths.tolist(), known.tolist(), strict=True)
    ]
    names = ["start", *(counted(depth, "click") for depth in range(1, deepest + 1))][: deepest + 1]
    if deepest == DEEPEST:
        names[-1] = f"{DEEPEST} or more"
    return rows, names + [NOWHERE] * (not known.all())


def _bars(ax: Axes, rows: list[int], names: list[str], classes: list[str]) -> None:
    left = np.zeros(len(names))
    used = [name for name in CLASSES if name in classes]
    for name in used:
        here = [row for row, known in zip(rows, classes, strict=True) if known == name]
        counts = np.bincount(here, minlength=len(names)).astype(float)
        shown = np.flatnonzero(counts)
        ax.barh(
            shown, counts[shown], left=left[shown], height=0.72, color=CLASSES[name],
            edgecolor=style.CARD, linewidth=0.6,
        )  # fmt: skip
        left += counts
    captions.row_labels(ax, names)
    totals: Any = ax.barh(range(len(names)), left, height=0.72, color="none", visible=False)
    share = left / left.sum()
    texts = [
        f"{int(count):,}  ({percent(part)})" if count else "0"
        for count, part in zip(left, share, strict=True)
    ]
    captions.label_bars(ax, totals, texts, float(left.max()))
    for bar in totals.patches:
        bar.remove()
    captions.count_axis(ax.xaxis)
    captions.grid(ax, "x")
    captions.finish_value_axis(ax, "pages")
    captions.legend_below(ax, [Patch(facecolor=CLASSES[name], label=name) for name in used])


def why_none(pages: pd.DataFrame) -> str:
    """Return why nothing is drawn of the pages of a crawl."""
    return data.why_empty(pages, "No pages.", "This page was not read.", "None of these pages was read.")
