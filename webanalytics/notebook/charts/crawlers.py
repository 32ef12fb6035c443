"""`charts.crawler_access`: which crawlers may read which sections of a site."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgba

from webanalytics.core.strings import counted, percent
from webanalytics.notebook.drawing import captions, data, style

PURPOSES = {"search": "Search", "user": "On request of users", "training": "Training of models"}
"""Headings of the groups of crawlers, in their order."""

_NEEDED = ("section", "crawler", "purpose", "pages", "share")
_CLOSED = "#f6e0d3"
"""What is closed altogether; it differs from an open cell in lightness and in hue."""
_UNKNOWN = "#eceff1"
_WIDEST_NAME = 110


@style.chart
def crawler_access(
    frame: pd.DataFrame, *, ax: Axes | None = None, max_sections: int = 20, title: str | None = None
) -> Axes:
    """Draw which crawlers may read which sections of a site: the share of the pages that are open to each.

    Rows are sections, the largest ones first after the top of the site; columns are crawlers, grouped by what
    they read pages for. A dark cell is open, a light one with "0" closed, one in between in part. Where
    nothing is closed, one sentence says so.

    Parameters
    ----------
    frame : DataFrame
        An audit, or what its `Audit.ai_sections` returned.
    max_sections : int
        The most sections to draw, those with the most pages.

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
    audit: Any = frame
    given = audit.ai_sections() if data.is_audit(frame) else frame
    picked = data.pick(given, _NEEDED, ("audit().ai_sections",))
    rows = picked.copy()
    for name in ("section", "crawler", "purpose"):
        rows[name] = pd.Series(data.strings(picked[name]), index=picked.index, dtype=object)
    for name in ("pages", "share"):
        rows[name] = data.numbers(picked[name])
    usable = rows[["crawler", "pages", "share"]].notna().all(axis=1).to_numpy() & ~data.has_failed(picked)
    good = rows[usable]
    good = good.assign(section=good["section"].fillna(""), purpose=good["purpose"].fillna(""))
    crawlers = _crawlers(good)
    sections, hidden = _sections(good, max_sections)
    notes = [data.left_out(picked, usable, "without a share") if len(picked) > 1 else ""]
    ax = style.start(ax, style.row_height(len(sections), 3.2, 0.28))
    if not sections:
        none = "No page whose robots.txt is known."
        captions.message(ax, data.why_empty(picked, none, none, none))
    elif (good["share"] >= 1).all():
        captions.message(ax, f"robots.txt leaves every page open to {counted(len(crawlers), 'crawler')}.")
    else:
        shares = good.pivot_table(index="section", columns="crawler", values="share", aggfunc="mean")
        cells = shares.reindex(index=sections, columns=[name for name, _ in crawlers]).to_numpy(float)
        _draw(ax, np.clip(cells, 0, 1))
        _name(ax, sections, crawlers)
        notes = [f"{hidden:,} smaller sections left out" if hidden else "", *notes, _LEGEND]
    captions.headline(ax, title or _title(crawlers, sections), data.joined(*notes))
    return ax


_LEGEND = "numbers: % of pages that robots.txt leaves open"


def _crawlers(rows: pd.DataFrame) -> list[tuple[str, str]]:
    pairs = rows[["crawler", "purpose"]].drop_duplicates("crawler").itertuples(index=False, name=None)
    order = list(PURPOSES)
    known = [(str(name), str(purpose)) for name, purpose in pairs]
    return sorted(known, key=lambda pair: order.index(pair[1]) if pair[1] in order else len(order))


def _sections(rows: pd.DataFrame, most: int) -> tuple[list[str], int]:
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
        colours[row, column] = to_rgba(colour)
    ax.imshow(colours, aspect="auto", interpolation="nearest").set_zorder(0)
    ax.set(ylim=(max(height, style.FEWEST_ROWS) - 0.5, -1.2), xlim=(-0.5, max(width, 4) - 0.5))
    ax.hlines(np.arange(height + 1) - 0.5, -0.5, width - 0.5, color=style.CARD, linewidth=1.4)
    ax.vlines(np.arange(width + 1) - 0.5, -0.5, height - 0.5, color=style.CARD, linewidth=1.4)
    if width > captions.most_ticks(ax, 18):
        return
    for row, column in np.ndindex(height, width):
        share = cells[row, column]
        if not np.isnan(share):
            captions.inner_text(
                ax,
                percent(share).removesuffix("%").strip(),
                (column, row),
                (0, 0),
                ha="center",
                fontsize=8,
                color=style.text_on(colours[row, column][:3]),
            )


def _name(ax: Axes, sections: list[str], crawlers: list[tuple[str, str]]) -> None:
    rows = [f"/{name}" for name in sections]
    captions.cell_labels(ax, rows, [name for name, _ in crawlers], _WIDEST_NAME)
    ax.set_ylim(max(len(sections), style.FEWEST_ROWS) - 0.5, -1.2)  # room for the headings of the groups
    purposes = [purpose for _, purpose in crawlers]
    for purpose, name in PURPOSES.items():
        places = [place for place, other in enumerate(purposes) if other == purpose]
        if not places:
            continue
        if places[0]:
            ax.axvline(places[0] - 0.5, color=style.MUTED, linewidth=1.2)
        captions.inner_text(
            ax,
            name if len(places) > 3 else name.split()[0],
            (places[0] - 0.42, -0.85),
            (0, 0),
            ha="left",
            fontsize=8.5,
            color=style.MUTED,
        )
