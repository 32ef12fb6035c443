"""`charts.crawler_access`: which crawlers may read which sections of a site."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from webanalytics.charts import data, style, writing
from webanalytics.charts.labels import BASE_FONT, counted, lettering, shortened
from webanalytics.errors import ParameterError
from webanalytics.strings import percent

PURPOSES = {"search": "Search", "user": "On request of users", "training": "Training of models"}
"""Headings of the groups of crawlers, in their order."""

_NEEDED = ("section", "crawler", "purpose", "pages", "share")
_CLOSED = "#f6e0d3"
"""What is closed altogether; it differs from an open cell in lightness and in hue."""
_UNKNOWN = "#eceff1"
_WIDEST_NAME = 110


def crawler_access(
    frame: pd.DataFrame, *, ax: Axes | None = None, max_sections: int = 20, title: str | None = None
) -> Axes:
    """Draw which crawlers may read which sections of a site: the share of the pages that are open to each.

    Rows are sections, the largest ones first after the top of the site; columns are crawlers, grouped by what
    they read pages for. A dark cell is open, a light one with "0" closed, one in between in part.

    Parameters
    ----------
    frame : DataFrame
        What `Audit.ai_sections` returned.
    ax : Axes, optional
        Where to draw; a new figure otherwise.
    max_sections : int
        The most sections to draw, those with the most pages.
    title : str, optional
        Title of the chart.

    Returns
    -------
    Axes
        ``ax.figure.savefig(path)`` writes the chart to a file.

    Raises
    ------
    ParameterError
        When `max_sections` is not from 1 to 60, or when the frame lacks the columns.

    Examples
    --------
    >>> frame = pd.DataFrame({"section": ["", "blog"], "crawler": ["GPTBot"] * 2, "purpose": ["training"] * 2,
    ...                       "pages": [3, 5], "share": [1.0, 0.0]})
    >>> ax = crawler_access(frame)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['/', '/blog']
    """
    max_sections = data.whole_number(max_sections, "max_sections", 1, 60)
    if not isinstance(frame, pd.DataFrame) or not set(_NEEDED) <= set(frame.columns):
        raise ParameterError(
            "The `frame` parameter must be a DataFrame that Audit.ai_sections() returned.", "frame"
        )
    rows = frame[[isinstance(name, str) for name in frame["crawler"]]]
    rows = rows.assign(share=data.numbers(rows["share"]), pages=data.numbers(rows["pages"]))
    rows = rows[rows["share"].notna() & rows["pages"].notna()]
    rows = rows.assign(section=rows["section"].where(rows["section"].notna(), "").astype(str))
    crawlers = _crawlers(rows)
    sections, hidden = _sections(rows, max_sections)
    with style.context():
        ax = style.start(ax, style.row_height(len(sections), 3.0, 0.3))
        if not crawlers or not sections:
            writing.message(ax, "No page whose robots.txt is known.")
        else:
            shares = rows.pivot_table(index="section", columns="crawler", values="share", aggfunc="mean")
            cells = shares.reindex(index=sections, columns=[name for name, _ in crawlers]).to_numpy(float)
            _draw(ax, cells)
            _name(ax, sections, crawlers)
        note = data.joined(
            f"{hidden:,} smaller sections left out" if hidden else "", _LEGEND if sections else ""
        )
        writing.headline(ax, title or _title(crawlers, sections), note)
    return ax


_LEGEND = "per cent of the section's pages that robots.txt leaves open"


def _crawlers(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the crawlers with their purposes, in the order of these."""
    pairs = rows[["crawler", "purpose"]].drop_duplicates("crawler").itertuples(index=False, name=None)
    order = list(PURPOSES)
    known = [(str(name), str(purpose)) for name, purpose in pairs]
    return sorted(known, key=lambda pair: order.index(pair[1]) if pair[1] in order else len(order))


def _sections(rows: pd.DataFrame, most: int) -> tuple[list[str], int]:
    """Return the sections to draw, the top of the site first, and how many are left out."""
    sizes = rows.groupby("section", sort=False)["pages"].max().sort_values(ascending=False, kind="stable")
    names = [str(name) for name in sizes.index]
    shown = names[:most]
    return sorted(shown, key=lambda name: name != ""), len(names) - len(shown)


def _title(crawlers: list[tuple[str, str]], sections: list[str]) -> str:
    if not crawlers or not sections:
        return "Crawlers by section"
    return f"What {counted(len(crawlers), 'crawler')} may read, by section"


def _draw(ax: Axes, cells: Any) -> None:
    tints = LinearSegmentedColormap.from_list("webanalytics-open", (style.HEAT[1], style.HEAT[3]))
    height, width = cells.shape
    colours = np.empty((height, width, 4))
    for row, column in np.ndindex(height, width):
        share = cells[row, column]
        colour: Any = _UNKNOWN if np.isnan(share) else _CLOSED if share <= 0 else tints(share)
        colours[row, column] = _rgba(colour)
    ax.imshow(colours, aspect="auto", interpolation="nearest").set_zorder(0)
    ax.set(ylim=(max(height, style.FEWEST_ROWS) - 0.5, -0.5), xlim=(-0.5, max(width, 4) - 0.5))
    ax.hlines(np.arange(height + 1) - 0.5, -0.5, width - 0.5, color=style.CARD, linewidth=1.4)
    ax.vlines(np.arange(width + 1) - 0.5, -0.5, height - 0.5, color=style.CARD, linewidth=1.4)
    if width > writing.most_ticks(ax, 18):
        return
    for row, column in np.ndindex(height, width):
        share = cells[row, column]
        if not np.isnan(share):
            writing.inner_text(
                ax,
                percent(share).removesuffix("%").strip(),
                (column, row),
                (0, 0),
                ha="center",
                fontsize=8,
                color=style.text_on(colours[row, column][:3]),
            )


def _rgba(colour: Any) -> Any:
    from matplotlib.colors import to_rgba

    return to_rgba(colour)


def _name(ax: Axes, sections: list[str], crawlers: list[tuple[str, str]]) -> None:
    writing.row_labels(ax, [f"/{name}" for name in sections], width=30)
    names, families = lettering(shortened([name for name, _ in crawlers], 24))
    names = writing.fitted_labels(ax, names, _WIDEST_NAME, 9, families)
    ax.set_xticks(
        range(len(names)),
        labels=names,
        fontfamily=families,
        parse_math=False,
        rotation=40,
        ha="right",
        rotation_mode="anchor",
    )
    ax.tick_params(axis="x", length=0, labelcolor=style.ink(ax))
    ax.spines["bottom"].set_visible(False)
    ax.set_xlabel("", fontfamily=[BASE_FONT])
    purposes = [purpose for _, purpose in crawlers]
    for purpose, name in PURPOSES.items():
        places = [place for place, other in enumerate(purposes) if other == purpose]
        if not places:
            continue
        if places[0]:
            ax.axvline(places[0] - 0.5, color=style.MUTED, linewidth=1.2)
        ax.annotate(
            name if len(places) > 3 else name.split()[0],
            (places[0] - 0.4, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 4),
            textcoords="offset points",
            fontsize=8.5,
            color=style.muted(ax),
            annotation_clip=False,
        )
