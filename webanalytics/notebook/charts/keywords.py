"""The most frequent keywords of one page or of a whole site, as bars."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from webanalytics.core.strings import counted
from webanalytics.errors import ParameterError
from webanalytics.notebook.drawing import captions, data, style
from webanalytics.notebook.drawing.labels import clean, shorten
from webanalytics.operations import KEYWORDS


@style.chart
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
    occurs. A page that is in the frame twice counts once. A frame holds only the most frequent keywords of
    each page, 50 unless ``top`` of `webanalytics.keywords` says otherwise: where pages have that many, the
    sums are of these alone, and a note says so. `Audit.keywords` with ``"site"`` counts the rarer ones too.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.keywords` returned (``url``, ``keyword``, ``frequency``), or an audit frame with
        its map of frequencies in ``keywords``; pages that failed are left out and counted.
    top : int
        The most bars to draw.
    url : str, optional
        The one page to draw, as the ``url`` column has it; otherwise the whole frame.
    title : str, optional
        Title of the chart, instead of the page or the number of pages.

    Raises
    ------
    ParameterError
        When `top` is not from 1 to 200, when the frame lacks the columns, or when `url` is not in it.

    Examples
    --------
    >>> frame = pd.DataFrame({"url": "https://a.example/", "keyword": ["lamp", "oil"], "frequency": [7, 3]})
    >>> ax = keywords(frame)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['lamp', 'oil']
    """
    top = data.row_count("top", top, 1)
    pages, counts = tidy(frame)
    if url is not None:
        pages, counts = _one_page(pages, counts, url)
    totals = totals_of(counts).head(top)
    ax = style.start(ax, style.row_height(len(totals), 1.3))
    if totals.empty:
        captions.message(ax, why_none(pages))
    else:
        _bars(ax, totals, several=len(pages) > 1)
    captions.headline(ax, title or captions.title_of("Keywords", pages["url"]), _subtitle(pages, counts))
    return ax


def tidy(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return one row for each page, and one for each page and keyword, with frequency and distinctiveness.

    Raises
    ------
    ParameterError
        For a frame without keyword frequencies.
    """
    makers = ("keywords", "audit")
    frame = data.pages(frame, ["url", "keywords"])
    if isinstance(frame, pd.DataFrame) and "keyword" not in frame and "keywords" in frame:
        maps = data.pick(frame, ["url", "keywords"], makers, ["final_url"])
        pages = _once(_named(maps)).drop_duplicates("url")
        counts = _from_maps(pages)
    else:
        optional = ["distinctiveness", "final_url"]
        picked = _once(_named(data.pick(frame, ["url", "keyword", "frequency"], makers, optional)))
        words = [word and clean(word) for word in data.strings(picked["keyword"])]
        counts = picked.assign(keyword=pd.Series(words, index=picked.index, dtype=object))
        kept = [name for name in ("url", "keyword", "frequency", "distinctiveness") if name in counts]
        counts = counts[counts["keyword"].notna()][kept]
        pages = picked.drop_duplicates("url")
    counts = counts.assign(frequency=data.numbers(counts["frequency"]))
    return pages, counts[counts["frequency"] > 0].drop_duplicates(["url", "keyword"])


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    urls = [url or f"row {row}" for url, row in zip(data.strings(frame["url"]), frame.index, strict=True)]
    return frame.assign(url=pd.Series(urls, index=frame.index, dtype=object))


def _once(frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out addresses that redirect to a page that the frame has already."""
    if "final_url" not in frame:
        return frame
    firsts: dict[str, str] = {}
    kept = [
        not final or firsts.setdefault(final, url) == url
        for url, final in zip(frame["url"].tolist(), data.strings(frame["final_url"]), strict=True)
    ]
    return frame[np.array(kept, dtype=bool)]


def _from_maps(pages: pd.DataFrame) -> pd.DataFrame:
    maps = pages["keywords"].tolist()
    if any(isinstance(found, str) for found in maps):
        raise ParameterError.on(
            "frame",
            "must have maps of frequencies in the column `keywords`, as a frame of webanalytics.audit has; "
            "use webanalytics.keywords for a frame with one row per keyword",
        )
    rows = [
        (page, clean(str(keyword)), frequency)  # pandas' strings refuse half a surrogate pair
        for page, found in zip(pages["url"].tolist(), maps, strict=True)
        if isinstance(found, dict)
        for keyword, frequency in found.items()
    ]
    return pd.DataFrame(rows, columns=["url", "keyword", "frequency"], dtype=object)


def _one_page(pages: pd.DataFrame, counts: pd.DataFrame, url: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    chosen = pages[pages["url"] == url]
    if chosen.empty:
        known = ", ".join(shorten(str(value), 80) for value in pages["url"].head(5))
        more = f" and {len(pages) - 5:,} more" if len(pages) > 5 else ""
        raise ParameterError.must_be("url", f"one of the frame's pages: {known}{more}")
    return chosen, counts[counts["url"] == url]


def totals_of(counts: pd.DataFrame) -> pd.DataFrame:
    """Return keyword, frequency and number of pages, by descending frequency, then first appearance."""
    grouped = counts.groupby("keyword", sort=False).agg(
        frequency=("frequency", "sum"), pages=("url", "nunique")
    )
    return grouped.sort_values("frequency", ascending=False, kind="stable")


def _subtitle(pages: pd.DataFrame, counts: pd.DataFrame) -> str:
    different = counted(counts["keyword"].nunique(), "different keyword") if len(counts) else ""
    return data.joined(different, _cut(counts), data.failures(pages) if len(pages) > 1 else "")


def _cut(counts: pd.DataFrame) -> str:
    """Return a note where frequencies of several pages are added up and rarer words of some are not known.

    Pages are taken as cut where they have as many keywords as there are by default, or two as many as any.
    """
    sizes = counts.groupby("url").size()
    most = int(sizes.max()) if len(sizes) > 1 else 0
    if not most or (most != KEYWORDS.parameter("top").default and (sizes == most).sum() < 2):
        return ""
    return f"of at most {counted(most, 'keyword')} a page, the most frequent"


def why_none(pages: pd.DataFrame) -> str:
    """Return why there are no bars."""
    return data.why_empty(
        pages, "No pages, so no keywords.", "No keywords on this page.", "No keywords on these pages."
    )


def _bars(ax: Axes, totals: pd.DataFrame, several: bool) -> None:
    frequencies: list[float] = totals["frequency"].tolist()
    bars: Any = ax.barh(range(len(totals)), frequencies, height=0.72, color=style.BLUE)
    values = [f"{value:,.12g}" for value in frequencies]
    if several:
        on = [counted(number, "page") for number in totals["pages"].tolist()]
        values = [f"{value}  ({place})" for value, place in zip(values, on, strict=True)]
    captions.row_labels(ax, [str(keyword) for keyword in totals.index])
    captions.label_bars(ax, bars, values, max(frequencies))
    captions.count_axis(ax.xaxis)
    captions.grid(ax, "x")
    captions.finish_value_axis(ax, "frequency")
