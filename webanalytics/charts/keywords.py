"""The most frequent keywords of one page or of a whole site, as bars."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from webanalytics.charts import style
from webanalytics.errors import ParameterError


def keywords(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    top: int = 15,
    url: str | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the most frequent keywords, the first at the top.

    Over several pages the frequencies are added up, and each bar also says on how many pages its keyword
    stands. A page that is in the frame twice counts once.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.keywords` returned (``url``, ``keyword``, ``frequency``), or an audit frame with
        its map of frequencies in ``keywords``.
    ax : Axes, optional
        Where to draw; a new figure otherwise.
    top : int
        The most bars to draw.
    url : str, optional
        The one page to draw, as the ``url`` column has it; otherwise the whole frame.
    title : str, optional
        Title of the chart, in place of the page or the number of pages.

    Returns
    -------
    Axes
        ``ax.figure.savefig(path)`` writes the chart to a file.

    Raises
    ------
    ParameterError
        When `top` is below 1, when the frame lacks the columns, or when `url` is not in it.

    Examples
    --------
    >>> frame = pd.DataFrame({"url": "https://a.example/", "keyword": ["lamp", "oil"], "frequency": [7, 3]})
    >>> ax = keywords(frame)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['lamp', 'oil']
    """
    if top < 1:
        raise ParameterError("The `top` parameter must be an integer from 1.", parameter="top")
    pages, counts = _tidy(frame)
    if url is not None:
        pages, counts = _one_page(pages, counts, url)
    totals = _totals(counts).head(top)
    with style.context():
        if ax is None:
            ax = style.new_axes(height=1.3 + 0.28 * max(len(totals), style.FEWEST_ROWS))
        style.headline(ax, title or _title(pages), _subtitle(pages, counts))
        if totals.empty:
            style.message(ax, _reason(pages))
        else:
            _bars(ax, totals, several=len(pages) > 1)
    return ax


def _tidy(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return one row for each page, and one for each page and keyword."""
    style.require_columns(frame, ["url"])
    pages = frame.drop_duplicates("url")
    if "keyword" in frame.columns:
        style.require_columns(frame, ["frequency"])
        counts = frame[["url", "keyword", "frequency"]].drop_duplicates(["url", "keyword"])
        counts = counts[counts["keyword"].notna() & (counts["keyword"] != "")]
    else:
        style.require_columns(frame, ["keywords"])
        maps = zip(pages["url"].tolist(), pages["keywords"].tolist(), strict=True)
        rows = [
            (page, style.clean(str(keyword)), frequency)  # pandas' strings refuse half a surrogate pair
            for page, found in maps
            if isinstance(found, dict)
            for keyword, frequency in found.items()
        ]
        counts = pd.DataFrame(rows, columns=["url", "keyword", "frequency"])
    frequency = pd.to_numeric(counts["frequency"], errors="coerce").astype("Float64")
    counts = counts.assign(frequency=frequency)
    return pages, counts[counts["frequency"].gt(0).fillna(False).astype(bool)]


def _one_page(pages: pd.DataFrame, counts: pd.DataFrame, url: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return only what belongs to one page."""
    chosen = pages[pages["url"] == url]
    if chosen.empty:
        known = ", ".join(style.shorten(str(value), 80) for value in pages["url"].head(5))
        more = f" and {len(pages) - 5:,} more" if len(pages) > 5 else ""
        raise ParameterError(
            f"The `url` parameter must be one of the frame's pages: {known}{more}.", parameter="url"
        )
    return chosen, counts[counts["url"] == url]


def _totals(counts: pd.DataFrame) -> pd.DataFrame:
    """Return keyword, frequency and number of pages: by falling frequency, then first appearance."""
    grouped = counts.groupby("keyword", sort=False).agg(
        frequency=("frequency", "sum"), pages=("url", "nunique")
    )
    return grouped.sort_values("frequency", ascending=False, kind="stable")


def _title(pages: pd.DataFrame) -> str:
    if len(pages) == 1:
        (label,) = style.path_labels(pages["url"])
        return f"Keywords of {style.shorten(label, 40)}"
    return f"Keywords of {style.counted(len(pages), 'page')}" if len(pages) else "Keywords"


def _subtitle(pages: pd.DataFrame, counts: pd.DataFrame) -> str:
    different = style.counted(counts["keyword"].nunique(), "different keyword")
    failed = style.failures(pages) if len(pages) > 1 else ""
    return " · ".join(part for part in (different if len(counts) else "", failed) if part)


def _reason(pages: pd.DataFrame) -> str:
    """Say why there are no bars."""
    if pages.empty:
        return "No pages, so no keywords."
    if len(pages) == 1:
        error = pages["error"].iloc[0] if "error" in pages.columns else None
        return style.shorten(error, 90) if isinstance(error, str) and error else "No keywords on this page."
    return "No keywords on these pages."


def _bars(ax: Axes, totals: pd.DataFrame, several: bool) -> None:
    frequencies: list[float] = totals["frequency"].astype(float).tolist()
    bars: Any = ax.barh(range(len(totals)), frequencies, height=0.72, color=style.BLUE)
    values = [f"{value:,g}" for value in frequencies]
    if several:
        on = [style.counted(number, "page") for number in totals["pages"].tolist()]
        values = [f"{value}  ({place})" for value, place in zip(values, on, strict=True)]
    ax.bar_label(bars, values, padding=4, fontsize=9, color=style.MUTED)
    style.row_labels(ax, [str(keyword) for keyword in totals.index])
    ax.set_xlim(0, max(frequencies) * (1.22 if several else 1.1))
    style.count_axis(ax.xaxis)
    ax.grid(axis="x")
    style.finish_value_axis(ax, "frequency")
