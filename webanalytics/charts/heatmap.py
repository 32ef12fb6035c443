"""`charts.keyword_heatmap`: which keywords are on which pages."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from numpy.typing import NDArray

from webanalytics.charts import data, style, writing
from webanalytics.charts.keywords import tidy, totals_of, why_none
from webanalytics.charts.labels import BASE_FONT, counted, lettering, path_labels, shortened


def keyword_heatmap(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    top: int = 15,
    max_pages: int = 15,
    title: str | None = None,
) -> Axes:
    """Draw how often the most frequent keywords occur on each page; empty cells are gaps.

    Each cell shows its number, unless there are so many pages that it does not fit.

    Rows are the `top` keywords of the whole frame. Columns are pages in the frame's order; of more than
    `max_pages`, those that use these keywords most. A page that is in the frame twice counts once, and
    pages that failed are left out and counted.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.keywords` returned (``url``, ``keyword``, ``frequency``), or an audit frame with
        its map of frequencies in ``keywords``.
    ax : Axes, optional
        Where to draw; a new figure otherwise.
    top : int
        The most keywords to draw.
    max_pages : int
        The most pages to draw.
    title : str, optional
        Title of the chart.

    Returns
    -------
    Axes
        ``ax.figure.savefig(path)`` writes the chart to a file.

    Raises
    ------
    ParameterError
        When `top` is not from 1 to 100 or `max_pages` not from 1 to 40, or when the frame lacks the columns.

    Examples
    --------
    >>> frame = pd.DataFrame({"url": ["/a", "/a", "/b"], "keyword": ["lamp", "oil", "lamp"],
    ...                       "frequency": [2, 1, 4]})
    >>> keyword_heatmap(frame).images[0].get_array().tolist()
    [[2.0, 4.0], [1.0, 0.0]]
    """
    top = data.whole_number(top, "top", 1, 100)
    max_pages = data.whole_number(max_pages, "max_pages", 1, 40)
    pages, counts = tidy(frame)
    chosen = totals_of(counts).head(top).index.tolist()
    counts = counts[counts["keyword"].isin(chosen)]
    shown = _shown(counts, max_pages)
    notes = [_note(pages, shown)]
    with style.context():
        ax = style.start(ax, style.row_height(len(chosen), 2.4))
        if not chosen:
            writing.message(ax, why_none(pages))
        else:
            table = counts.pivot(index="keyword", columns="url", values="frequency")
            cells = table.reindex(index=chosen, columns=shown).fillna(0).to_numpy(dtype=float)
            _name(ax, chosen, shown)
            numbered = _cells(ax, cells)
            notes += [] if numbered else [f"darker is more often, up to {np.max(cells):,g} times"]
        writing.headline(ax, title or _title(chosen, shown), data.joined(*notes))
    return ax


def _shown(counts: pd.DataFrame, most: int) -> list[str]:
    """Return the pages to draw, in the order of the frame."""
    totals = counts.groupby("url", sort=False)["frequency"].sum()
    busiest = set(totals.sort_values(ascending=False, kind="stable").head(most).index)
    return [url for url in totals.index if url in busiest]


def _title(chosen: list[str], shown: list[str]) -> str:
    if not chosen:
        return "Keywords by page"
    return f"{counted(len(chosen), 'keyword')} by page, on {counted(len(shown), 'page')}"


def _note(pages: pd.DataFrame, shown: list[str]) -> str:
    good = len(pages) - int(data.has_failed(pages).sum())
    hidden = f"the {len(shown):,} of {good:,} pages that use them most" if 0 < len(shown) < good else ""
    return data.joined(hidden, data.failures(pages) if len(pages) > 1 else "")


def _cells(ax: Axes, cells: NDArray[np.float64]) -> bool:
    """Draw the cells, write the number into each non-empty one if it fits, and return whether it does."""
    colours = LinearSegmentedColormap.from_list("webanalytics", style.HEAT)
    # a square root keeps one high value from washing out all others
    scale = PowerNorm(0.5, 0, max(float(np.max(cells)), 1.0))
    painted = ax.imshow(cells, cmap=colours, norm=scale, aspect="auto", interpolation="nearest")
    painted.set_zorder(0)
    rows, columns = cells.shape
    ax.set(ylim=(rows - 0.5, -0.5), xlim=(-0.5, max(columns, 4) - 0.5))
    ax.hlines(np.arange(rows + 1) - 0.5, -0.5, columns - 0.5, color=style.CARD, linewidth=1.4)
    ax.vlines(np.arange(columns + 1) - 0.5, -0.5, rows - 0.5, color=style.CARD, linewidth=1.4)
    longest = max(len(_short(value)) for value in np.unique(cells).tolist())
    if columns > writing.most_ticks(ax, 3 + 6 * longest):
        return False
    for row, column in zip(*np.nonzero(cells), strict=True):
        value = cells[row, column]
        writing.inner_text(
            ax,
            _short(value),
            (column, row),
            (0, 0),
            ha="center",
            fontsize=8.5,
            color=style.text_on(colours(scale(value))),
        )
    return True


def _short(value: float) -> str:
    """Return a count short enough for a cell.

    >>> _short(7.0), _short(12_345.0)
    ('7', '12k')
    """
    return f"{value:g}" if value < 1000 else f"{value / 1000:.0f}k"


WIDEST_COLUMN = 170
"""Most points that the name of a column may take."""


def _name(ax: Axes, keywords: list[str], urls: list[str]) -> None:
    columns = len(urls)
    writing.row_labels(ax, keywords, width=30)
    names, families = lettering(shortened(path_labels(pd.Series(urls, dtype=object)), 24))
    names = writing.fitted_labels(ax, names, WIDEST_COLUMN, 9, families)
    slant = 0 if columns == 1 else 40
    ax.set_xticks(
        range(columns),
        labels=names,
        fontfamily=families,
        parse_math=False,
        rotation=slant,
        ha="center" if not slant else "right",
        rotation_mode="anchor",
    )
    ax.tick_params(axis="x", length=0, labelcolor=style.ink(ax))
    ax.spines["bottom"].set_visible(False)
    ax.set_xlabel("", fontfamily=[BASE_FONT])
